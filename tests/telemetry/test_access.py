"""The access log: one line per request, with the fields that operators need."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import httpx
import orjson
import pytest

from proxy.settings.sections import TelemetrySettings
from proxy.telemetry.access import AccessLog, open_access_log
from tests.fakes import replies
from tests.fakes.provider import FakeProvider
from tests.running import Running

MESSAGES = [{"role": "user", "content": "I use Shram as a productivity tool"}]
ASKED = {"model": "gpt-4o", "messages": MESSAGES}


def lines(captured: str) -> list[dict[str, Any]]:
    found = [orjson.loads(line) for line in captured.splitlines() if line.startswith("{")]
    return [line for line in found if line["event"] == "request"]


@pytest.fixture
def json_lines(tmp_path: Path, provider: FakeProvider) -> Running:
    telemetry = {"log_level": "info", "log_format": "json"}
    return Running(tmp_path, upstream=provider.base_url, telemetry=telemetry)


def test_a_line_says_what_was_served(json_lines: Running, capfd: pytest.CaptureFixture[str]) -> None:
    with json_lines as server, server.http() as http:
        first = http.post("/chat/completions", json=ASKED)
        streamed = http.post("/chat/completions", json={**ASKED, "stream": True})
        http.post("/embeddings", json={"model": "text-embedding-3-small", "input": "x"})
        http.get("/memories/mem_0")
        httpx.get(f"{server.origin}/healthz")
    whole, stream, embeddings, memory = lines(capfd.readouterr().err)
    assert (whole["method"], whole["route"], whole["status"]) == ("POST", "/v1/chat/completions", 200)
    assert (whole["model"], whole["memory"], whole["n"]) == ("gpt-4o", "none", 0)
    assert whole["request_id"] == first.headers["x-request-id"]
    assert whole["bytes_out"] == len(first.content)
    assert whole["bytes_in"] == len(first.request.content)
    assert 0 < whole["first_byte_ms"] <= whole["ms"]
    assert {whole["input_tokens"], whole["output_tokens"]} <= set(first.json()["usage"].values())
    assert stream["stream"] is True
    assert stream["request_id"] == streamed.headers["x-request-id"]
    assert re.fullmatch(r"[0-9a-f]{12}", whole["user"])
    assert stream["user"] == memory["user"] == whole["user"]
    assert (embeddings["route"], embeddings["model"]) == ("/v1/embeddings", "text-embedding-3-small")
    assert (memory["route"], memory["status"], memory["error"]) == ("/v1/memories/{id}", 404, "not_found")
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", whole["timestamp"])


def test_ephemeral_conversation_leaves_no_trace_of_its_owner(
    json_lines: Running, capfd: pytest.CaptureFixture[str]
) -> None:
    with json_lines as server, server.http(x_memory_mode="ephemeral") as http:
        http.post("/chat/completions", json=ASKED)
    (line,) = lines(capfd.readouterr().err)
    assert "user" not in line


def test_a_client_that_leaves_is_told_apart(
    json_lines: Running, provider: FakeProvider, capfd: pytest.CaptureFixture[str]
) -> None:
    with json_lines as server, server.http(x_memory_mode="off") as http:
        provider.then(replies.Hang())
        with pytest.raises(httpx.ReadTimeout):
            http.post("/chat/completions", json=ASKED, timeout=0.5)
        provider.wait(lambda: provider.last.hung_up_at is not None)
    (line,) = lines(capfd.readouterr().err)
    assert (line["status"], line["whole"], line["bytes_out"]) == (499, False, 0)


def test_a_client_that_leaves_behind_the_last_event(
    json_lines: Running, provider: FakeProvider, capfd: pytest.CaptureFixture[str]
) -> None:
    streamed = replies.stream()
    provider.then(replies.gated(streamed, replies.Gate(), after=len(streamed.chunks)))
    with json_lines as server, server.http() as http:
        with http.stream("POST", "/chat/completions", json={**ASKED, "stream": True}) as reply:
            assert next(line for line in reply.iter_lines() if line == "data: [DONE]")
        provider.wait(lambda: provider.last.hung_up_at is not None)
    (line,) = lines(capfd.readouterr().err)
    assert (line["status"], line.get("whole", True)) == (200, True)


def test_words_on_a_terminal(tmp_path: Path, provider: FakeProvider, capfd: pytest.CaptureFixture[str]) -> None:
    running = Running(tmp_path, upstream=provider.base_url, telemetry={"log_level": "info"})
    with running as server, server.http() as http:
        http.post("/chat/completions", json=ASKED)
    (line,) = [line for line in capfd.readouterr().err.splitlines() if " request POST " in line]
    assert " request POST /v1/chat/completions 200 ms=" in line
    assert " model=gpt-4o " in line


def test_it_can_be_switched_off() -> None:
    assert open_access_log(TelemetrySettings(access_log=False)) is None
    assert open_access_log(TelemetrySettings(log_level="warning")) is None
    log = open_access_log(TelemetrySettings())
    assert log is not None
    log.close()


def test_what_was_written_before_the_end_is_there(capfd: pytest.CaptureFixture[str]) -> None:
    log = AccessLog(is_json=True)
    for number in range(1000):
        log.write({"status": number})
    log.close()
    assert [line["status"] for line in lines(capfd.readouterr().err)] == list(range(1000))

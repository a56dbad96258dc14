"""Logs, metrics and traces hold no content, no keys and no users' names, for any requests."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.fakes import replies
from tests.fakes.collector import Collector
from tests.fakes.provider import FakeProvider, Reply, Seen
from tests.running import Running

KEY = "sk-secret-0123456789"
SECRETS = [KEY, "Xylograph", "Umbrella7", "Wolfgang", "Brontosaurus", "Quetzal"]
SAID = "My hobby is Xylograph"


def answering(seen: Seen) -> Reply:
    """Reply with user text in the places of names."""
    body = replies.completion("Umbrella7")
    body |= {"id": "the Umbrella7 id", "model": "a model of Umbrella7"}
    body["choices"][0]["finish_reason"] = "because of Umbrella7"
    hidden = (("x-request-id", "Umbrella7 said so"), ("x-memory", "used; n=1; Umbrella7"))
    return replies.json_reply(body, headers=(*replies.JSON_HEADERS, *hidden))


@pytest.mark.parametrize("log_format", ["json", "console"])
def test_nothing_that_was_said_is_seen(
    tmp_path: Path, provider: FakeProvider, capfd: pytest.CaptureFixture[str], log_format: str
) -> None:
    provider.script(answering)
    telemetry: dict[str, Any] = {"log_level": "debug", "log_format": log_format}
    named = {
        "x_memory_user": "Wolfgang",
        "x_memory_session": "Brontosaurus",
        "x_memory_agent": "Wolfgang",
        "traceparent": "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
        "tracestate": "vendor=Quetzal",
        "baggage": "user=Wolfgang",
    }
    with Collector() as collector:
        telemetry["otlp_endpoint"] = collector.url
        with Running(tmp_path, upstream=provider.base_url, telemetry=telemetry) as server:
            with server.http(KEY, **named) as http:
                message = {"role": "user", "content": SAID}
                for body in (
                    {"model": "m", "messages": [message], "user": "Wolfgang"},
                    {"model": SAID, "messages": [message]},
                    {"model": KEY + " ", "messages": [message], "stream": True},
                    {"model": "m", "messages": SAID},
                    [SAID],
                ):
                    http.post(f"/chat/completions?q={KEY}", json=body)
                http.post("/embeddings", json={"model": SAID, "input": SAID})
                http.post("/responses", json={"model": "m", "input": SAID})
                http.post("/messages", json={"model": "m", "max_tokens": 9, "messages": [message]})
                http.get(f"/files/Xylograph/Umbrella7/{KEY}?key={KEY}")
                http.get("/memories/Xylograph")
                http.get("/memories?query=Xylograph")
                http.request("QUETZAL", "/Xylograph")
                provider.then(replies.error(500, SAID))
                http.post("/chat/completions", json={"model": "m", "messages": [message]})
            server.wait_learned(KEY, x_memory_user="Wolfgang")
            metrics = httpx.get(f"{server.origin}/metrics").text
    assert len(collector.spans) > 20
    sent = b"".join(collector.raw).decode("latin-1")
    out, err = capfd.readouterr()
    assert err.count("/v1/chat/completions") >= 6
    for text in (sent, out, err, metrics):
        assert [secret for secret in SECRETS if secret.lower() in text.lower()] == []

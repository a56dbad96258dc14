"""Laws with memory on: no addition twice, no delay, only blocks change the request, no leak."""

from __future__ import annotations

import re
import sqlite3
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from http.client import IncompleteRead
from itertools import pairwise
from pathlib import Path
from typing import Any

import httpx
import openai
import orjson
import pytest
import structlog

from proxy.memory.vectors.embed import EmbeddingFailed
from proxy.settings.sections import TelemetrySettings
from proxy.telemetry import configure_logging
from tests.fakes import replies
from tests.fakes.provider import FakeProvider
from tests.fakes.replies import Reply
from tests.running import Running
from tests.wire.conftest import FACT, KEY, QUESTION, Wire, ask, without_memory
from tests.wire.rawhttp import Answer

CALL = {"id": "call_1", "type": "function", "function": {"name": "look", "arguments": "{}"}}


def state(wire: Wire) -> dict[str, Any]:
    wire.server.wait_learned(KEY, x_memory_user=wire.user)
    with wire.api as api:
        sessions = api.get("/sessions").json()["data"]
        episodes = [one for each in sessions for one in api.get(f"/sessions/{each['id']}").json()["messages"]]
        memories = api.get("/memories").json()["data"]
    return {"turns": [one["turns"] for one in sessions], "episodes": len(episodes), "memories": len(memories)}


@pytest.fixture
def learning(plain: Wire) -> Wire:
    plain.memory = "full"
    return plain


@pytest.mark.parametrize("status", [408, 409, 429, 500, 503])
def test_row_70_sdk_retry_adds_nothing(learning: Wire, status: int) -> None:
    learning.provider.then(replies.error(status, retry_after_ms="1"))
    client = learning.openai.with_options(max_retries=2)
    client.chat.completions.create(**ask(FACT))
    assert len(learning.provider.seen) == 2
    assert state(learning) == {"turns": [1], "episodes": 2, "memories": 2}


def test_row_70_retry_after_a_disconnect_adds_nothing(learning: Wire) -> None:
    learning.provider.then(replies.Raw(abort=True), replies.Raw(abort=True))  # one may be retried on a new connection
    learning.openai.with_options(max_retries=2).chat.completions.create(**ask(FACT))
    assert state(learning) == {"turns": [1], "episodes": 2, "memories": 2}


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "stream"])
def test_row_70_same_request_again_adds_nothing(learning: Wire, stream: bool) -> None:
    for _ in range(3):
        learning.send(ask(FACT, stream=stream))
    assert state(learning) == {"turns": [1], "episodes": 2, "memories": 2}


def test_row_70_provider_error_is_no_turn(learning: Wire) -> None:
    learning.provider.then(replies.error(400))
    assert learning.send(ask(FACT)).status == 400
    assert state(learning) == {"turns": [], "episodes": 0, "memories": 0}


class Stuck:
    """An embedder that fails, or never returns."""

    model, dimension = "stuck", 384

    def __init__(self, *, hangs: bool) -> None:
        self._hangs = hangs

    async def warm(self) -> None:
        return

    async def embed(self, texts: Any, *, purpose: str) -> Any:
        import anyio

        if self._hangs:
            await anyio.sleep_forever()
        raise EmbeddingFailed("no")

    async def close(self) -> None:
        return


@pytest.fixture
def fragile(tmp_path: Path, provider: FakeProvider) -> Iterator[Wire]:
    """Return a separate server, to be broken."""
    with Running(tmp_path, upstream=provider.base_url, memory={"deadline_ms": 3000}) as server:
        wire = Wire(server, provider, memory="full")
        wire.learn()
        yield wire


@pytest.mark.parametrize("hangs", [True, False], ids=["slow", "down"])
def test_row_71_embedder_is_slow_or_down(fragile: Wire, hangs: bool) -> None:
    fragile.server.services.embedder = Stuck(hangs=hangs)
    started = time.monotonic()
    answer = fragile.send(ask())
    assert time.monotonic() - started < 20
    assert (answer.status, answer.header("x-memory") or "") == (200, answer.header("x-memory") or "")
    assert (answer.header("x-memory") or "").startswith("degraded; n=")
    assert (answer.header("x-memory") or "").endswith("reason=embedder")


def test_row_71_store_is_down(fragile: Wire) -> None:
    fragile.server.services._heavy = None
    answer = fragile.send(ask())
    assert (answer.status, answer.header("x-memory")) == (200, "degraded; n=0; tokens=0; reason=store")
    assert fragile.seen.json == ask()


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "stream"])
def test_row_71_journal_is_locked(fragile: Wire, stream: bool) -> None:
    """A whole reply's header says that it is not stored; the pending turn is written once the lock is released."""
    with closing(sqlite3.connect(fragile.server.settings.server.data_dir / "throughline.db")) as other:
        other.execute("BEGIN IMMEDIATE")
        answer = fragile.send(ask("I live in Lisbon", stream=stream))
        other.rollback()
    assert answer.status == 200
    assert answer.body.endswith(b"data: [DONE]\n\n" if stream else b"}")
    if not stream:
        assert (answer.header("x-memory") or "").endswith("reason=journal")
    deadline = time.monotonic() + 60
    with fragile.api as api:
        while not api.get("/sessions").json()["data"]:
            assert time.monotonic() < deadline


def test_row_71_locked_journal_holds_up_one_reply(fragile: Wire) -> None:
    """Later replies are marked at once; after the lock is released each turn is durable before its reply ends."""
    with closing(sqlite3.connect(fragile.server.settings.server.data_dir / "throughline.db")) as other:
        other.execute("BEGIN IMMEDIATE")
        answers = [fragile.send(ask(f"I live in house number {number}")) for number in range(3)]
        other.rollback()
    assert all((answer.header("x-memory") or "").endswith("reason=journal") for answer in answers)
    waits_ms = [journal_ms(answer) for answer in answers]
    assert waits_ms[0] > 1500 > max(waits_ms[1:])
    deadline = time.monotonic() + 60
    while "journal" in (fragile.send(ask("I live in Lisbon")).header("x-memory") or ""):
        assert time.monotonic() < deadline
    assert fragile.server.services.database.failed_write is None


def journal_ms(answer: Answer) -> float:
    told = re.search(r"journal;dur=([\d.]+)", answer.header("server-timing") or "")
    return float(told[1]) if told else 0.0


def test_row_71_chat_works_before_memory_is_ready(tmp_path: Path, provider: FakeProvider) -> None:
    with Running(tmp_path, upstream=provider.base_url, wait=False) as server:
        answer = Wire(server, provider, memory="full").send(ask())
    assert answer.status == 200
    assert (answer.header("x-memory") or "").startswith(("degraded", "none"))


def test_row_72_mode_off_sends_identical_bytes(remembering: Wire) -> None:
    raw = b'{"model" : "gpt-4o","messages":[ {"role":"user","content":"' + QUESTION.encode() + b'"} ],"x":1.0}'
    answer = remembering.send(raw, x_memory_mode="off")
    assert remembering.seen.body == raw
    assert answer.header("x-memory") == "off; n=0; tokens=0"
    assert answer.header("x-memory-receipt") is None


@pytest.mark.parametrize("mode", ["observe", "write"])
def test_row_72_modes_without_injection_send_identical_bytes(remembering: Wire, mode: str) -> None:
    raw = orjson.dumps(ask())
    assert remembering.send(raw, x_memory_mode=mode).status == 200
    assert remembering.seen.body == raw


def test_row_73_system_and_earlier_turns_are_identical(remembering: Wire) -> None:
    """In a conversation each request begins with the previous request's bytes, up to its last user message."""
    system = {"role": "system", "content": "Be brief. \u00e9"}
    messages: list[dict[str, Any]] = [system]
    sent: list[list[Any]] = []
    for text in (QUESTION, "And which of them for windows?", "I also use Obsidian", QUESTION):
        messages.append({"role": "user", "content": text})
        answer = orjson.loads(remembering.send({"model": "gpt-4o", "messages": messages}).body)
        sent.append(remembering.seen.json["messages"])
        messages.append(answer["choices"][0]["message"])
    assert any("<memory>" in str(one) for one in sent)
    for before, after in pairwise(sent):
        assert after[: len(before)] == before
        assert after[0] == system


def test_row_74_no_text_between_call_and_result(remembering: Wire) -> None:
    messages = [
        {"role": "user", "content": QUESTION},
        {"role": "assistant", "content": None, "tool_calls": [CALL]},
        {"role": "tool", "tool_call_id": "call_1", "content": QUESTION},
    ]
    assert remembering.send({"model": "gpt-4o", "messages": messages}).status == 200
    sent = remembering.seen.json["messages"]
    assert [one["role"] for one in sent] == ["user", "assistant", "tool"]
    assert sent[1:] == messages[1:]
    assert sent[0]["content"].startswith(QUESTION)


def test_row_74_tool_round_keeps_the_questions_block(remembering: Wire) -> None:
    first = {"role": "user", "content": QUESTION}
    remembering.provider.then(replies.json_reply(replies.completion()))
    remembering.send({"model": "gpt-4o", "messages": [first]})
    carried = remembering.seen.json["messages"][0]
    messages = [first, {"role": "assistant", "content": None, "tool_calls": [CALL]},
                {"role": "tool", "tool_call_id": "call_1", "content": "seen"}]  # fmt: skip
    remembering.send({"model": "gpt-4o", "messages": messages})
    assert remembering.seen.json["messages"][0] == carried
    assert carried["content"] != QUESTION


def test_row_75_structured_output_stays_valid(remembering: Wire) -> None:
    import pydantic

    class Tools(pydantic.BaseModel):
        names: list[str]

    remembering.provider.then(replies.json_reply(replies.completion('{"names":["Shram","Magnet"]}')))
    parsed = remembering.openai.chat.completions.parse(**ask(), response_format=Tools)
    assert parsed.choices[0].message.parsed == Tools(names=["Shram", "Magnet"])
    assert "response_format" in remembering.seen.json
    assert without_memory(remembering.seen.body) != remembering.seen.body


@pytest.fixture(params=["console", "json"])
def logging_everything(request: pytest.FixtureRequest, capfd: pytest.CaptureFixture[str]) -> Iterator[None]:
    del capfd  # first, as the log goes to the current standard error
    configure_logging(TelemetrySettings(log_level="debug", log_format=request.param))
    yield
    structlog.reset_defaults()


@pytest.mark.usefixtures("logging_everything")
@pytest.mark.parametrize("stream", [False, True], ids=["whole", "stream"])
def test_row_80_no_content_in_logs_metrics_errors(
    tmp_path: Path,
    provider: FakeProvider,
    capfd: pytest.CaptureFixture[str],
    caplog: pytest.LogCaptureFixture,
    stream: bool,
) -> None:
    """This holds for faults too: a provider that cuts, refuses or sends garbage; a bad body; a broken store."""
    secrets = ["sk-secret-0123456789", "Xylograph", "Umbrella7", "user-Wolfgang", "Brontosaurus"]
    key, said, answered, user, session = secrets
    named = {"authorization": f"Bearer {key}", "x_memory_session": session}
    body = ask(f"My hobby is {said}", stream=stream)
    cut = Reply([answered.encode()], headers=replies.SSE_HEADERS, framing="chunked", cut=True)
    whole = replies.chat(answered, body)
    with Running(tmp_path, upstream=provider.base_url) as server:
        wire = Wire(server, provider, memory="full", user=user)
        for reply in (whole, cut, replies.error(500, answered), replies.html(502), Reply([b"no"]), replies.Raw()):
            provider.script(lambda _, reply=reply: reply)
            with suppress(IncompleteRead):
                wire.send(body, **named)
        provider.script(None)
        mine = [wire.send(b'{"model": "m", "messages": [' + said.encode(), **named).body]
        mine.append(wire.send(body, x_memory_budget="lots", **named).body)
        for break_it in (lambda: _replace(server, "embedder", Stuck(hangs=False)),
                         lambda: _replace(server, "routes", None), lambda: _replace(server, "_heavy", None)):  # fmt: skip
            with break_it():
                wire.send(body, **named)
        with _replace(server, "receipts", None), wire.api as api:
            mine.append(api.get(f"/receipts/{said}").content)
        metrics = httpx.get(f"{server.origin}/metrics").text
    out, err = capfd.readouterr()
    assert "unexpected error" in err
    for text in (out, err, caplog.text, metrics, *(one.decode() for one in mine)):
        assert [secret for secret in secrets if secret in text] == []


@contextmanager
def _replace(server: Running, part: str, value: object) -> Iterator[None]:
    """Replace a part of the running server by a broken one."""
    whole = getattr(server.services, part)
    setattr(server.services, part, value)
    yield
    setattr(server.services, part, whole)


def test_sdk_reads_a_stream_with_memory_on(remembering: Wire) -> None:
    stream = remembering.openai.chat.completions.create(**ask(), stream=True)
    text = "".join(chunk.choices[0].delta.content or "" for chunk in stream if chunk.choices)
    assert text.startswith(f"echo: {QUESTION}")
    assert "Shram" in text


def test_sdk_raises_the_providers_errors_with_memory_on(remembering: Wire) -> None:
    remembering.provider.then(replies.error(429, "slow down", "rate_limit_exceeded"))
    with pytest.raises(openai.RateLimitError) as caught:
        remembering.openai.chat.completions.create(**ask(), stream=True)
    assert (caught.value.code, caught.value.request_id) == ("rate_limit_exceeded", "req_fake")

"""Client disconnects: the upstream is closed at once, the turn is stored as partial, and a retry completes it."""

from __future__ import annotations

import signal
import time
from pathlib import Path
from typing import Any

import orjson
import pytest

from tests.fakes import replies
from tests.fakes.provider import FakeProvider, Seen
from tests.fakes.replies import DONE, Gate, Hang, Raw, Reply
from tests.launch import is_ready, process, wait_until
from tests.running import WAIT_S, Running
from tests.serving import alice, lasting_provider, server, upstream
from tests.talking import BOTH, FACT, Speaker, conversation
from tests.wire.rawhttp import Wiretap, ended_whole

__all__ = ["alice", "lasting_provider", "server", "upstream"]

_SOON_S = 20.0  # on a busy machine; without the disconnect it would never end


def tap(speaker: Speaker, *texts: str, stream: bool = True, **headers: str) -> Wiretap:
    body = orjson.dumps({"model": "gpt-4o", "messages": conversation(*texts), "stream": stream})
    named = [("Authorization", f"Bearer {speaker.key}"), *headers.items()]
    return Wiretap(speaker.server.origin, "POST", "/v1/chat/completions", named, body)


def let_go(provider: FakeProvider, seen: Seen, closed_at: float) -> float:
    provider.wait(lambda: seen.hung_up_at is not None)
    assert seen.hung_up_at is not None
    return seen.hung_up_at - closed_at


def arrived(provider: FakeProvider) -> Seen:
    provider.wait(lambda: bool(provider.seen))
    return provider.last


def kept(speaker: Speaker) -> list[tuple[str, str]]:
    """Wait until the turn of a disconnected client is learned, and return its stored messages."""
    deadline = time.monotonic() + WAIT_S
    while not speaker.sessions():
        assert time.monotonic() < deadline, "the turn was not kept"
        time.sleep(0.02)
    speaker.wait()
    return [(episode["role"], episode["text"]) for episode in speaker.all_episodes()]


def finish_of(speaker: Speaker, received: bytes) -> str:
    head = received.partition(b"\r\n\r\n")[0].decode().lower()
    receipt = next(line.partition(": ")[2] for line in head.split("\r\n") if line.startswith("x-memory-receipt"))
    return str(speaker.get(f"/receipts/{receipt}")["finish"])


def test_in_the_middle_of_a_stream(alice: Speaker, upstream: FakeProvider) -> None:
    upstream.then(replies.gated(replies.stream(), Gate(), after=3))
    connection = tap(alice, FACT)
    received = connection.until(b"ere, nic")
    connection.close()
    assert let_go(upstream, upstream.last, time.monotonic()) < _SOON_S
    assert kept(alice) == [("user", FACT), ("assistant", "Hello there, nic")]
    assert finish_of(alice, received) == "client_closed"
    assert alice.texts() == BOTH


@pytest.mark.parametrize("stream", [True, False], ids=["stream", "whole"])
def test_before_the_first_byte(alice: Speaker, upstream: FakeProvider, stream: bool) -> None:
    upstream.then(Hang())
    connection = tap(alice, FACT, stream=stream)
    seen = arrived(upstream)
    connection.close()
    assert let_go(upstream, seen, time.monotonic()) < _SOON_S
    assert kept(alice) == [("user", FACT)]
    assert alice.texts() == BOTH


def test_in_the_middle_of_a_whole_reply(alice: Speaker, upstream: FakeProvider) -> None:
    upstream.then(Reply([b'{"choices":', b'[{"index":0,', Gate()], framing="chunked"))
    connection = tap(alice, FACT, stream=False)
    seen = arrived(upstream)
    connection.close()
    assert let_go(upstream, seen, time.monotonic()) < _SOON_S
    assert kept(alice) == [("user", FACT)]


@pytest.mark.parametrize("stream", [True, False], ids=["stream", "whole"])
def test_retry_completes_what_broke_off(alice: Speaker, upstream: FakeProvider, stream: bool) -> None:
    upstream.then(replies.gated(replies.stream(), Gate(), after=3))
    connection = tap(alice, FACT)
    connection.until(b"ere, nic")
    connection.close()
    let_go(upstream, upstream.last, time.monotonic())
    kept(alice)
    upstream.script(lambda seen: replies.chat("All of it noted.", seen.json))
    alice.tell(FACT, body={"stream": stream})
    assert [(one["role"], one["text"]) for one in alice.all_episodes()] == [
        ("user", FACT),
        ("assistant", "All of it noted."),
    ]
    assert [session["turns"] for session in alice.sessions()] == [1]
    assert len(alice.memories()) == 2


def test_hang_up_on_regeneration_keeps_the_whole_reply(alice: Speaker, upstream: FakeProvider) -> None:
    alice.tell(FACT)
    before = alice.all_episodes()
    upstream.then(replies.gated(replies.stream(), Gate(), after=3))
    connection = tap(alice, FACT)
    connection.until(b"ere, nic")
    connection.close()
    let_go(upstream, upstream.last, time.monotonic())
    alice.tell("What else is there?")
    assert [one for one in alice.all_episodes() if one["id"] in {row["id"] for row in before}] == before


@pytest.mark.parametrize(
    "cut", [Reply([b"data: {}\n\n"], headers=replies.SSE_HEADERS, framing="chunked", cut=True), Raw()]
)
def test_provider_that_breaks_off_is_no_complete_turn(alice: Speaker, upstream: FakeProvider, cut: Any) -> None:
    upstream.script(lambda _: cut)  # each time, as a used connection is retried once
    with tap(alice, FACT) as connection:
        received = connection.rest() if isinstance(cut, Reply) else connection.until(b"}}")
    assert finish_of(alice, received) == "upstream_error"
    assert not ended_whole(received)


def test_memory_off_keeps_nothing(alice: Speaker, upstream: FakeProvider) -> None:
    upstream.then(Hang())
    connection = tap(alice, FACT, **{"X-Memory-Mode": "off"})
    seen = arrived(upstream)
    connection.close()
    assert let_go(upstream, seen, time.monotonic()) < _SOON_S
    assert alice.sessions() == []


def test_many_hang_ups_leave_no_connection_behind(alice: Speaker, upstream: FakeProvider) -> None:
    upstream.script(lambda _: replies.gated(replies.stream(), Gate(), after=2))
    connections = [tap(alice, f"number {number}") for number in range(30)]
    for connection in connections:
        connection.until(b"Hello")
        connection.close()
    upstream.wait(lambda: all(seen.hung_up_at is not None for seen in upstream.seen))
    upstream.script(None)
    alice.wait()
    assert {text for role, text in kept(alice) if role == "user"} == {f"number {number}" for number in range(30)}


def test_sigterm_finishes_streams_and_takes_no_more(tmp_path: Path, provider: FakeProvider) -> None:
    gate = Gate()
    provider.then(replies.gated(replies.stream(), gate, after=2))
    with process(tmp_path, provider) as (running, origin):
        body = orjson.dumps({"model": "gpt-4o", "messages": conversation(FACT), "stream": True})
        with Wiretap(origin, "POST", "/v1/chat/completions", [("Authorization", "Bearer sk-a")], body) as connection:
            connection.until(b"Hello")
            running.send_signal(signal.SIGTERM)
            wait_until(lambda: not is_ready(origin))
            gate.open()
            received = connection.rest()
        assert DONE in received
        assert ended_whole(received)
        assert running.wait(WAIT_S) in (0, -signal.SIGTERM)
    with Running(tmp_path, upstream=provider.base_url) as again:
        again.wait_learned("sk-a")
        with again.http("sk-a") as http:
            assert {one["text"] for one in http.get("/memories").json()["data"]} == BOTH

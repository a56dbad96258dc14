"""The proxy cuts no reply for silence, nor when its process ends."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import orjson
import pytest

from tests.fakes import replies
from tests.fakes.provider import FakeProvider
from tests.fakes.replies import DONE, JSON_HEADERS, SSE_HEADERS, Gate, Hang, Reply
from tests.launch import is_ready, process, wait_until
from tests.running import WAIT_S, Running
from tests.wire.conftest import QUESTION, Wire, ask, learned_or_not
from tests.wire.rawhttp import Wiretap, ended_whole, send, unframed

_SCALED = "0.2"  # scaled from the 600 s of openai-python and from all of Throughline's time limits
_EVENTS = [replies.event(chunk) for chunk in replies.chunks("Hello there")[1:-1]]


@pytest.fixture(scope="module")
def hasty(tmp_path_factory: pytest.TempPathFactory, shared_provider: FakeProvider) -> Iterator[Running]:
    """Return a server whose connect timeout is shorter than the tested silence."""
    upstream = {"url": shared_provider.base_url, "connect_timeout_s": float(_SCALED)}
    with Running(tmp_path_factory.mktemp("hasty"), upstream=upstream) as server:
        yield server


@pytest.fixture(params=["off", "empty", "full"])
def waiting(request: pytest.FixtureRequest, hasty: Running, shared_provider: FakeProvider) -> Wire:
    shared_provider.clear()
    return learned_or_not(Wire(hasty, shared_provider), request.param)


def outwait(waiting: Wire) -> None:
    """Wait until a client with this read timeout gets a 504."""
    waiting.provider.then(Hang())
    answer = waiting.send(ask(), x_stainless_read_timeout=_SCALED, x_memory_mode="off")
    assert (answer.status, orjson.loads(answer.body)["error"]["code"]) == (504, "upstream_timeout")


@pytest.mark.parametrize("path", ["/v1/chat/completions", "/v1/completions", "/v1/responses"])
@pytest.mark.parametrize("asked", [{}, {"x_stainless_read_timeout": "600"}], ids=["unasked", "600 s"])
@pytest.mark.parametrize("where", ["before the head", "before the first event", "between events", "whole"])
def test_row_68_silence_is_not_cut_by_us(waiting: Wire, path: str, asked: dict[str, str], where: str) -> None:
    gate = Gate()
    pieces, headers = [_EVENTS[0], *_EVENTS[1:], DONE], SSE_HEADERS
    scripted = {
        "before the head": replies.Raw([gate, _head(b"text/event-stream"), *pieces]),
        "before the first event": Reply([gate, *pieces], headers=headers, framing="chunked"),
        "between events": Reply([pieces[0], gate, *pieces[1:]], headers=headers, framing="chunked"),
        "whole": Reply([b"{", gate, b"}"], headers=JSON_HEADERS, framing="chunked"),
    }[where]
    waiting.provider.then(scripted)
    body = {**ask(stream=where != "whole"), "prompt": QUESTION, "input": QUESTION}
    with waiting.tap(body, path, connection="close", **asked) as tap:
        waiting.provider.wait(lambda: bool(waiting.provider.seen))
        outwait(waiting)
        gate.open()
        received = tap.rest()
    assert received.startswith(b"HTTP/1.1 200")
    assert unframed(tap.body) == (b"{}" if where == "whole" else b"".join(pieces))


def _head(content_type: bytes) -> bytes:
    return b"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Type: " + content_type + b"\r\n\r\n"


def test_row_77_sigterm_finishes_replies_and_ends_readiness(tmp_path: Path, provider: FakeProvider) -> None:
    """Streams and a whole reply, with memory off, on, and injecting; all turns are stored."""
    gate, whole = Gate(), replies.completion("Noted.")
    raw = orjson.dumps(whole)
    with process(tmp_path, provider) as (running, origin), ExitStack() as stack:
        users = {memory: f"user-{memory}" for memory in ("off", "empty", "full")}
        learned = [
            ("Authorization", "Bearer sk-a"),
            ("X-Memory-User", users["full"]),
            ("Content-Type", "application/json"),
        ]
        text = orjson.dumps({"text": "I use Shram and Magnet as productivity tools"})
        assert send(origin, "POST", "/v1/memories", learned, text).status == 200
        provider.script(
            lambda seen: (
                replies.gated(replies.stream(), gate, after=2)
                if seen.json.get("stream")
                else Reply([raw[:9], gate, raw[9:]], framing="chunked")
            )
        )
        taps = {}
        for memory, user in users.items():
            for stream in (True, False):
                headers = {"Authorization": "Bearer sk-a", "X-Memory-User": user,
                           "X-Memory-Mode": "off" if memory == "off" else "full"}  # fmt: skip
                body = orjson.dumps(ask(stream=stream))
                tap = Wiretap(origin, "POST", "/v1/chat/completions", headers.items(), body)
                taps[memory, stream] = stack.enter_context(tap)
        provider.wait(lambda: len(provider.seen) == len(taps))
        assert is_ready(origin)
        running.send_signal(signal.SIGTERM)
        wait_until(lambda: not is_ready(origin))
        gate.open()
        for (_, stream), tap in taps.items():
            received = tap.rest()
            assert (DONE if stream else raw[-9:]) in received
            assert ended_whole(received)
        assert running.wait(WAIT_S) in (0, -signal.SIGTERM)
    with Running(tmp_path, upstream=provider.base_url) as again:
        for memory, user in users.items():
            again.wait_learned("sk-a", x_memory_user=user)
            with again.http("sk-a", x_memory_user=user) as http:
                assert bool(http.get("/sessions").json()["data"]) == (memory != "off")

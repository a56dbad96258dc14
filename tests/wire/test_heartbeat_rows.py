"""A silent provider: comments only if switched on and between events, and the proxy cuts nothing."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest

from proxy.api.heartbeat import COMMENT
from tests.fakes import replies
from tests.fakes.provider import FakeProvider
from tests.fakes.replies import DONE, SSE_HEADERS, Gate, Reply
from tests.running import Running
from tests.wire.conftest import QUESTION, Wire, ask, learned_or_not
from tests.wire.rawhttp import Wiretap, unframed

STREAM = ask(stream=True)
PATHS = ["/v1/chat/completions", "/v1/responses", "/v1/messages", "/v1/completions"]
ENDS = {
    "/v1/responses": b'event: response.completed\ndata: {"type":"response.completed","response":{}}\n\n',
    "/v1/messages": b'event: message_stop\ndata: {"type":"message_stop"}\n\n',
}
EVENTS = [replies.event(chunk) for chunk in replies.chunks("Hello there")[1:-1]]


@pytest.fixture(scope="module")
def beating(tmp_path_factory: pytest.TempPathFactory, shared_provider: FakeProvider) -> Iterator[Running]:
    """Return a server with heartbeats at a scale where 0.01 s of silence is long."""
    data_dir = tmp_path_factory.mktemp("beating")
    with Running(data_dir, upstream=shared_provider.base_url, server={"heartbeat_s": 0.01}) as server:
        yield server


@pytest.fixture(params=["off", "empty", "full"])
def pulse(request: pytest.FixtureRequest, beating: Running, shared_provider: FakeProvider) -> Wire:
    shared_provider.clear()
    return learned_or_not(Wire(beating, shared_provider), request.param)


def tap(wire: Wire, path: str) -> Wiretap:
    return wire.tap({**STREAM, "prompt": "x", "input": QUESTION, "max_tokens": 9}, path)


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize("coding", ["chunked", "close"])
def test_row_36_comments_come_before_and_between_events(pulse: Wire, path: str, coding: str) -> None:
    gates = [Gate(), Gate()]
    pulse.provider.then(Reply([gates[0], EVENTS[0], gates[1], EVENTS[1], DONE], headers=SSE_HEADERS, framing=coding))
    with tap(pulse, path) as connection:
        connection.until(COMMENT)
        gates[0].open()
        connection.until(EVENTS[0])
        connection.received = b""
        connection.until(COMMENT)
        connection.until(COMMENT)
        gates[1].open()
        connection.until(DONE)


@pytest.mark.parametrize("path", PATHS)
def test_row_36_no_comment_inside_events_or_after_the_end(pulse: Wire, path: str) -> None:
    """While an event is incomplete, the next comment is delayed; another, later connection times the silence."""
    half, rest, end = EVENTS[0][:20], EVENTS[0][20:], ENDS.get(path, DONE)
    gates = [Gate() for _ in range(4)]
    pieces = [half, gates[0], rest[:-1], gates[1], rest[-1:], end[:-3], gates[2], end[-3:], gates[3]]
    pulse.provider.then(Reply(pieces, headers=SSE_HEADERS, framing="chunked"))
    with tap(pulse, path) as connection:
        connection.until(half)
        for gate in gates:
            pass_some_heartbeats(pulse)
            gate.open()
        received = unframed(connection.ended())
    comments = b"(?:" + re.escape(COMMENT) + b")*"
    assert re.fullmatch(comments + re.escape(EVENTS[0]) + comments + re.escape(end), received)


def pass_some_heartbeats(pulse: Wire) -> None:
    """Wait until another stream got three comments, so that the first had time for one."""
    gate = Gate()
    pulse.provider.wait(lambda: bool(pulse.provider.seen))
    pulse.provider.then(Reply([gate, DONE], headers=SSE_HEADERS, framing="chunked"))
    with tap(pulse, "/v1/completions") as other:
        for _ in range(3):
            other.received = b""
            other.until(COMMENT)
        gate.open()


@pytest.mark.parametrize(
    "first",
    [b"id: 7\ndata: {}\n\n", b"data: {}\nid: 7\n\n", b"event: x\r\nid:7\r\ndata: {}\r\n\r\n"],
    ids=["first line", "second line", "crlf"],
)
def test_row_36_no_comment_once_an_id_came(pulse: Wire, first: bytes) -> None:
    """openai-python parses the empty line after a comment as an event, and fails."""
    gate = Gate()
    pulse.provider.then(Reply([first, gate, *EVENTS, DONE], headers=SSE_HEADERS, framing="chunked"))
    with tap(pulse, PATHS[0]) as connection:
        connection.until(first)
        pass_some_heartbeats(pulse)
        gate.open()
        received = unframed(connection.ended())
    assert received[received.index(first) :] == first + b"".join(EVENTS) + DONE


def test_row_36_byte_order_mark_follows_no_comment(pulse: Wire) -> None:
    gate = Gate()
    pulse.provider.then(Reply([gate, b"\xef\xbb\xbf" + EVENTS[0], DONE], headers=SSE_HEADERS, framing="chunked"))
    with tap(pulse, PATHS[0]) as connection:
        connection.until(COMMENT)
        gate.open()
        received = unframed(connection.ended())
    assert received.replace(COMMENT, b"") == EVENTS[0] + DONE


@pytest.mark.parametrize(
    "header", [("Content-Encoding", "gzip"), ("Content-Length", "4"), ("Content-Type", "application/json")]
)
@pytest.mark.parametrize("path", PATHS)
def test_row_36_nothing_is_added_where_comments_are_impossible(pulse: Wire, path: str, header: tuple[str, str]) -> None:
    gate = Gate()
    headers = (*([] if header[0] == "Content-Type" else SSE_HEADERS), header)
    framing = "given" if header[0] == "Content-Length" else "chunked"
    pulse.provider.then(Reply([b"\n\n", gate, b"\n\n"], headers=headers, framing=framing))
    with tap(pulse, path) as connection:
        pass_some_heartbeats(pulse)
        gate.open()
        body = connection.ended()
    assert (unframed(body) if framing == "chunked" else body) == b"\n\n\n\n"


@pytest.mark.parametrize("path", PATHS)
def test_row_36_and_42_early_error_keeps_its_status(pulse: Wire, path: str) -> None:
    gate = Gate()
    pulse.provider.then(Reply([gate, b"{}"], 429, framing="chunked"))
    with tap(pulse, path) as connection:
        pass_some_heartbeats(pulse)
        gate.open()
        assert connection.until(b"{}").startswith(b"HTTP/1.1 429")


def test_row_36_sdk_reads_a_stream_with_comments(pulse: Wire) -> None:
    gate = Gate()
    reply = replies.stream("Hello there")
    pulse.provider.then(replies.gated(reply, gate, after=2))
    stream = pulse.openai.chat.completions.create(**STREAM)
    first = next(stream)
    pass_some_heartbeats(pulse)
    gate.open()
    assert "".join(one.choices[0].delta.content or "" for one in (first, *stream)) == "Hello there"


@pytest.mark.parametrize("path", PATHS)
def test_row_36_and_37_nothing_is_added_by_default(wire: Wire, path: str) -> None:
    gate = Gate()
    wire.provider.then(Reply([EVENTS[0], gate, *EVENTS[1:], DONE], headers=SSE_HEADERS, framing="chunked"))
    with tap(wire, path) as connection:
        connection.until(EVENTS[0])
        gate.open()
        assert unframed(connection.ended()) == b"".join(EVENTS) + DONE


def test_row_37_no_line_of_ours_is_a_field(pulse: Wire) -> None:
    """Of the lines that are not the provider's, each is empty or a comment."""
    gate = Gate()
    pulse.provider.then(Reply([EVENTS[0], gate, *EVENTS[1:], DONE], headers=SSE_HEADERS, framing="chunked"))
    with tap(pulse, PATHS[0]) as connection:
        connection.until(COMMENT)
        gate.open()
        received = unframed(connection.ended())
    assert not re.search(rb"^(?:id|retry|event)", received, re.MULTILINE)
    assert [line for line in received.splitlines() if line and not line.startswith((b"data: ", b": heartbeat"))] == []

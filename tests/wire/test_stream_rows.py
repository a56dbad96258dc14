"""What the client gets of a stream: the provider's bytes as they come, and an end that is the provider's end."""

from __future__ import annotations

import gzip
import json
import time
from pathlib import Path
from typing import Any

import orjson
import pytest

from proxy.events import split
from tests.fakes import replies
from tests.fakes.provider import FakeProvider
from tests.fakes.replies import DONE, SSE_HEADERS, Gate, Raw, Reply
from tests.running import Running
from tests.wire.conftest import WIRES, Wire, ask, asked_anywhere
from tests.wire.rawhttp import ended_whole, unframed

STREAM = ask(stream=True)
_CLOSED_S = 0.05


def events(*texts: str) -> list[bytes]:
    return [replies.event(chunk) for text in texts for chunk in replies.chunks(text)[1:-1]]


def sse(*pieces: bytes | Gate, **more: Any) -> Reply:
    return Reply(pieces, headers=SSE_HEADERS, framing="chunked", **more)


def assert_unchanged(wire: Wire, *pieces: bytes) -> None:
    answer = wire.through(sse(*pieces), STREAM)
    assert (answer.status, answer.body) == (200, b"".join(pieces))


def test_row_29_null_finish_reasons_are_kept(wire: Wire) -> None:
    pieces = [replies.event(chunk) for chunk in replies.chunks()]
    assert all(b'"finish_reason":null' in piece for piece in pieces[:-1])
    assert_unchanged(wire, *pieces, DONE)


def test_row_30_requested_usage_chunk_comes_last(wire: Wire) -> None:
    options = {"include_usage": True}
    answer = wire.send(ask(stream=True, stream_options=options))
    chunks = [orjson.loads(line[6:]) for line in answer.body.splitlines() if line.startswith(b"data: {")]
    assert wire.seen.json["stream_options"] == options
    assert (chunks[-1]["choices"], chunks[-1]["usage"]["total_tokens"]) == ([], 16)
    assert all(chunk["usage"] is None for chunk in chunks[:-1])


def test_row_31_no_usage_chunk_unless_requested(wire: Wire) -> None:
    answer = wire.send(STREAM)
    assert b'"usage"' not in answer.body
    assert "stream_options" not in wire.seen.json


def test_row_32_done_is_last_while_work_is_pending(tmp_path: Path, provider: FakeProvider) -> None:
    with Running(tmp_path, upstream=provider.base_url, worker={"enabled": False}) as server:
        wire = Wire(server, provider, memory="full")
        with wire.tap(STREAM, connection="close") as tap:
            received = tap.rest()
        with wire.api as api:
            state = api.get("/state").json()
    assert state["pending_turns"] == 1
    assert ended_whole(received)
    assert received.count(b"[DONE]") == 1
    assert received.replace(b"\r\n0\r\n\r\n", b"").endswith(DONE)


def test_row_32_body_closes_within_50_ms(tmp_path: Path, provider: FakeProvider) -> None:
    """Of several streams the quickest counts: a busy machine is no fault of ours."""
    gaps_s = []
    with Running(tmp_path, upstream=provider.base_url, worker={"enabled": False}) as server:
        wire = Wire(server, provider, memory="full")
        for number in range(5):
            with wire.tap(ask(f"This is turn number {number}.", stream=True)) as tap:
                tap.until(DONE)
                done_at = time.monotonic()
                tap.until(b"\r\n0\r\n\r\n")
                gaps_s.append(time.monotonic() - done_at)
        with wire.api as api:
            assert api.get("/state").json()["pending_turns"] == len(gaps_s)
    assert min(gaps_s) < _CLOSED_S


def test_row_32_done_waits_for_the_journal(remembering: Wire) -> None:
    """The provider keeps its connection open after ``[DONE]``: what was sent stands, and the turn is durable."""
    gate = Gate()
    remembering.provider.then(sse(*events("Noted."), DONE, gate))
    with remembering.tap(STREAM) as tap:
        tap.until(DONE)
        with remembering.api as api:
            assert api.get("/sessions").json()["data"][0]["turns"] == 1
        gate.open()
        tap.until(b"\r\n0\r\n\r\n")


def test_row_33_no_done_is_invented(wire: Wire) -> None:
    assert_unchanged(wire, *events("Azure and others", "end so"))


@pytest.mark.parametrize(
    "pieces",
    [
        [b"data: {}\r\n\r\n", b"data: [DONE]\r\n\r\n"],
        [b'data: {"a":\ndata: 1}\n\n', DONE],
        [b": comment\n\n", b":\n\n", b"data: {}\n\n: between\ndata: [DONE]\n\n"],
        [b"\xef\xbb\xbfdata: {}\n\n", DONE],
        [b"data:{}\r\rdata:[DONE]\r\r"],
        [b"\n\n\n", b"data: [DONE]"],
        [b"data: [DONE] \n\n"],
    ],
    ids=["crlf", "multi-line", "comments", "bom", "cr", "no last line end", "space after done"],
)
def test_row_34_every_form_of_events_is_kept(wire: Wire, pieces: list[bytes]) -> None:
    assert_unchanged(wire, *pieces)


def test_row_35_heartbeats_of_the_provider_are_forwarded(wire: Wire) -> None:
    gate = Gate()
    wire.provider.then(sse(b": OPENROUTER PROCESSING\n\n", gate, *events("Hi"), DONE))
    with wire.tap(STREAM) as tap:
        tap.until(b": OPENROUTER PROCESSING\n\n")
        gate.open()
        tap.until(DONE)


@pytest.mark.parametrize("path", WIRES)
def test_row_35_and_39_recall_tool_delays_no_event(remembering: Wire, path: str) -> None:
    gates = [Gate(), Gate()]
    event = {
        "/v1/chat/completions": events("Hello")[0],
        "/v1/responses": b'event: response.in_progress\ndata: {"type":"response.in_progress"}\n\n',
        "/v1/messages": b'event: ping\ndata: {"type":"ping"}\n\n',
    }[path]
    pieces = [b": OPENROUTER PROCESSING\n\n", gates[0], event, gates[1], b": a second\r\n\r\n", DONE]
    remembering.provider.then(sse(*pieces))
    body = {name: value for name, value in asked_anywhere(stream=True).items() if name != "prompt"}
    with remembering.tap(body, path, x_memory_tools="on") as tap:
        tap.until(b": OPENROUTER PROCESSING\n\n")
        gates[0].open()
        tap.until(event)
        gates[1].open()
        tap.until(b": a second\n\n")
        tap.ended()
    assert '"recall"' in remembering.seen.body.decode()


ODD = b'{"type":"response.output_text.delta","choices":[{"index":0,"delta":{"role":"assistant","content":"\\ud83d"}}]'


@pytest.mark.parametrize("path", WIRES)
def test_recall_tool_survives_numbers_and_surrogates(remembering: Wire, path: str) -> None:
    event = b"data: " + ODD + b',"seed":123456789012345678901234567890}\n\n'
    remembering.provider.then(sse(event, event, DONE))
    body = {name: value for name, value in asked_anywhere(stream=True).items() if name != "prompt"}
    with remembering.tap(body, path, x_memory_tools="on") as tap:
        shown = unframed(tap.ended())
    assert [json.loads(one.data) for one in split(shown)[:2]] == [json.loads(event[6:])] * 2


def test_recall_tool_leaves_a_first_chat_reply_alone(remembering: Wire) -> None:
    usage = b'data: {"choices": [], "usage": {"total_tokens": 3}}\n\n'
    pieces = [
        *events("Hello"),
        b'data: {"choices":[{"index":0,"delta":{"role":"assistant","content":"!"}}]}\n\n',
        usage,
    ]
    pieces.insert(0, b'data: {"id":"c","created":1,"choices":[{"index":0,"delta":{"role":"assistant"}}]}\n\n')
    remembering.provider.then(sse(*pieces, DONE))
    answer = remembering.send(STREAM, x_memory_tools="on")
    assert answer.body == b"".join([*pieces, DONE])


@pytest.mark.parametrize("path", WIRES)
def test_recall_tool_passes_a_compressed_stream(remembering: Wire, path: str) -> None:
    packed = gzip.compress(b"".join([*events("Hello"), DONE]))
    headers = (*SSE_HEADERS, ("content-encoding", "gzip"))
    remembering.provider.then(Reply([packed], headers=headers, framing="chunked"))
    body = {name: value for name, value in asked_anywhere(stream=True).items() if name != "prompt"}
    answer = remembering.send(body, path, x_memory_tools="on")
    assert (answer.body, answer.header("content-encoding")) == (packed, "gzip")


@pytest.mark.parametrize("cut", range(1, 12))
def test_row_38_characters_split_over_chunks_survive(wire: Wire, cut: int) -> None:
    event = replies.event(replies.chunks("é漢😀")[1])
    at = event.index("é".encode()) + cut - 2
    assert_unchanged(wire, event[:at], event[at:], DONE)


def test_row_39_events_leave_before_the_next_arrives(wire: Wire) -> None:
    gates = [Gate() for _ in range(4)]
    pieces = [*events("A reply of some words"), DONE]
    scripted: list[bytes | Gate] = []
    for piece, gate in zip(pieces, [*gates, Gate()], strict=True):
        scripted += [piece, gate]
    wire.provider.then(sse(*scripted[:-1]))
    with wire.tap(STREAM) as tap:
        for piece, gate in zip(pieces, gates, strict=False):
            tap.until(piece)
            assert not [later for later in pieces[pieces.index(piece) + 1 :] if later in tap.received]
            gate.open()
        tap.until(DONE)


def test_row_39_head_leaves_before_the_first_event(wire: Wire) -> None:
    gate = Gate()
    wire.provider.then(sse(gate, *events("Hi"), DONE))
    with wire.tap(STREAM) as tap:
        assert tap.until(b"\r\n\r\n").startswith(b"HTTP/1.1 200")
        gate.open()
        tap.until(DONE)


def test_row_40_error_in_the_middle_is_verbatim(wire: Wire) -> None:
    error = b'data: {"error":{"message":"overloaded","type":"server_error","code":null}}\n\n'
    assert_unchanged(wire, *events("Half a"), error)


@pytest.mark.parametrize("framing", ["chunked", "given"])
def test_row_41_cut_stream_never_looks_like_success(wire: Wire, framing: str) -> None:
    length = (("Content-Length", "9999"),) if framing == "given" else ()
    wire.provider.then(Reply(events("Half a reply"), headers=(*SSE_HEADERS, *length), framing=framing, cut=True))
    with wire.tap(STREAM) as tap:
        received = tap.rest()
    assert events("Half a reply")[0] in received
    assert not ended_whole(received)
    assert b"[DONE]" not in received


@pytest.mark.parametrize("path", [*WIRES, "/v1/completions"])
def test_row_41_broken_chunk_never_looks_like_success(wire: Wire, path: str) -> None:
    gate, head = Gate(), b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"
    wire.provider.then(Raw([head + b"a\r\ndata: {}\n\n\r\n", gate, b"<html>502</html>\r\n\r\n"]))
    with wire.tap(asked_anywhere(stream=True), path) as tap:
        tap.until(b"data: {}\n\n")
        gate.open()
        received = tap.rest()
    assert not ended_whole(received)


def test_row_41_cut_body_never_looks_like_success(wire: Wire) -> None:
    headers = (("Content-Type", "application/json"), ("Content-Length", "999"))
    wire.provider.then(Reply([b'{"id":"x","choices":[', b'{"index":0'], headers=headers, framing="given", cut=True))
    with wire.tap(ask(), connection="close") as tap:
        received = tap.rest()
    if not received.startswith(b"HTTP/1.1 502"):
        assert b"\r\ncontent-length: 999\r\n" in tap.sent_head().lower() + b"\r\n"
        assert len(tap.body) < 999


def test_row_42_early_error_keeps_its_status(wire: Wire) -> None:
    answer = wire.through(replies.error(429, "slow", "rate_limit_exceeded", retry_after="1"), STREAM)
    assert (answer.status, answer.header("content-type")) == (429, "application/json")


def test_row_42_provider_closing_early_is_502(wire: Wire) -> None:
    wire.provider.script(lambda _: Raw())  # each time: on a used connection it is asked once more
    answer = wire.send(STREAM)
    assert (answer.status, orjson.loads(answer.body)["error"]["code"]) == (502, "upstream_unreachable")

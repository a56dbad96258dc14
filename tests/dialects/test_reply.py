"""Replies parsed in steps: the same result as at once, in little memory."""

from __future__ import annotations

import tracemalloc
from collections.abc import Iterator
from itertools import pairwise

import orjson
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from proxy.dialects import chat, messages, responses
from proxy.dialects.base import Dialect
from proxy.dialects.reply import _MAX_TEXT_CHARS, _STEP_BYTES, Text
from tests.fakes import replies

EVENTS = {"content_type": "text/event-stream"}
WORD = "word " * 40
MIB = 2**20


def event(body: object) -> bytes:
    return b"data: " + orjson.dumps(body) + b"\n\n"


def piece_of(dialect: Dialect, text: str) -> bytes:
    """Return an event that carries a text in this dialect."""
    if dialect is chat:
        return event({"choices": [{"index": 0, "delta": {"content": text}}]})
    if dialect is messages:
        return event({"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": text}})
    return event({"type": "response.output_text.delta", "output_index": 0, "content_index": 0, "delta": text})


def start_of(dialect: Dialect) -> bytes:
    if dialect is not messages:
        return b""
    return event({"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}})


WIRES = pytest.mark.parametrize("dialect", [chat, messages, responses], ids=["chat", "messages", "responses"])


@WIRES
@settings(max_examples=25, deadline=None)
@given(cuts=st.lists(st.integers(0, 300_000), max_size=12).map(sorted))
def test_cuts_do_not_matter(dialect, cuts):
    stream = start_of(dialect) + b"".join(piece_of(dialect, f"{number} {WORD}") for number in range(900))
    assert len(stream) > 3 * _STEP_BYTES
    whole, cut = dialect.accumulator(), dialect.accumulator()
    whole.feed(stream)
    for start, end in pairwise([0, *cuts, len(stream)]):
        cut.feed(stream[start:end])
    expected = "".join(f"{number} {WORD}" for number in range(900))[:_MAX_TEXT_CHARS]
    assert cut.result(**EVENTS) == whole.result(**EVENTS)
    assert cut.result(**EVENTS).text == expected


@WIRES
def test_a_long_stream_needs_little_room(dialect):
    def pieces() -> Iterator[bytes]:
        yield start_of(dialect)
        for number in range(100_000):
            yield piece_of(dialect, f"{number}-")

    accumulator = dialect.accumulator()
    tracemalloc.start()
    try:
        for piece in pieces():
            accumulator.feed(piece)
        assert tracemalloc.get_traced_memory()[1] < 2 * MIB
    finally:
        tracemalloc.stop()
    said = accumulator.result(**EVENTS).text
    assert len(said) == _MAX_TEXT_CHARS
    assert said.startswith("0-1-2-")


@WIRES
def test_the_end_of_a_long_stream_is_seen(dialect):
    accumulator = dialect.accumulator()
    accumulator.feed(start_of(dialect))
    for number in range(3000):
        accumulator.feed(piece_of(dialect, f"{number} {WORD}"))
    for piece in end_of(dialect):
        accumulator.feed(piece)
    reply = accumulator.result(**EVENTS)
    assert reply.complete
    assert reply.usage
    assert len(reply.text) == _MAX_TEXT_CHARS


def end_of(dialect: Dialect) -> list[bytes]:
    usage = {"input_tokens": 3, "output_tokens": 4}
    if dialect is chat:
        done = event({"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]})
        return [done, event({"choices": [], "usage": usage}), b"data: [DONE]\n\n"]
    if dialect is messages:
        end = event({"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": usage})
        return [event({"type": "content_block_stop", "index": 0}), end, event({"type": "message_stop"})]
    text = {"type": "output_text", "text": "x" * 300_000}
    whole = {"status": "completed", "usage": usage, "output": [{"type": "message", "content": [text]}]}
    return [event({"type": "response.completed", "response": whole})]


@pytest.mark.parametrize("seam", [b"\n", b"\r\n", b"\r"], ids=["lf", "crlf", "cr"])
def test_line_ends_do_not_matter(seam):
    pieces = [piece_of(chat, f"{number} {WORD}") for number in range(3000)]
    accumulator = chat.accumulator()
    for piece in [*pieces, *end_of(chat)]:
        accumulator.feed(piece.replace(b"\n", seam))
    reply = accumulator.result(**EVENTS)
    assert (reply.complete, len(reply.text)) == (True, _MAX_TEXT_CHARS)


def test_one_event_may_be_larger_than_a_step():
    image = "x" * (5 * _STEP_BYTES)
    stream = event({"choices": [{"index": 0, "delta": {"content": "a", "image": image}}]}) + b"data: [DONE]\n\n"
    accumulator = chat.accumulator()
    for at in range(0, len(stream), 1000):
        accumulator.feed(stream[at : at + 1000])
    reply = accumulator.result(**EVENTS)
    assert (reply.text, reply.complete) == ("a", True)


def test_arguments_in_many_pieces_come_together():
    accumulator = chat.accumulator()
    for number in range(2000):
        call = {"index": 0, "function": {"arguments": f"{number},"}, **({"id": "c1"} if number == 0 else {})}
        accumulator.feed(event({"choices": [{"index": 0, "delta": {"tool_calls": [call]}}]}))
    (call,) = accumulator.result(**EVENTS).tool_calls
    assert call["id"] == "c1"
    assert call["function"]["arguments"] == "".join(f"{number}," for number in range(2000))


@given(st.lists(st.text(max_size=5), max_size=30))
def test_text_is_what_was_added(pieces):
    text = Text()
    for piece in pieces:
        text.add(piece)
    assert str(text) == "".join(pieces)
    text.become("z")
    assert str(text) == "z"


def test_a_large_json_body_is_read_whole():
    body = orjson.dumps(replies.completion("a" * (2 * _STEP_BYTES)))
    accumulator = chat.accumulator()
    for at in range(0, len(body), 4096):
        accumulator.feed(body[at : at + 4096])
    assert len(accumulator.result(content_type="application/json").text) == 2 * _STEP_BYTES

"""Anthropic replies parsed from the relayed bytes."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proxy.dialects import messages
from proxy.dialects.reply import Reply
from proxy.settings.load import environment
from tests.fakes import replies

EVENTS = {"content_type": "text/event-stream; charset=utf-8"}
JSON = {"content_type": "application/json"}
DATA = Path(environment().get("THROUGHLINE_DATA") or Path(__file__).parents[3] / "shared" / "data")


def accumulated(*pieces: bytes, **response: str) -> Reply:
    accumulator = messages.accumulator()
    for piece in pieces:
        accumulator.feed(piece)
    return accumulator.result(**response)


def streamed(*events: dict[str, Any]) -> bytes:
    return b"".join(replies.anthropic_event(event) for event in events)


def test_stream_and_json_give_the_same_reply():
    stream = b"".join(replies.anthropic("Grüße 😀 from here", stream_asked=True).chunks)
    whole = b"".join(replies.anthropic("Grüße 😀 from here", stream_asked=False).chunks)
    from_stream, from_json = accumulated(stream, **EVENTS), accumulated(whole, **JSON)
    assert from_stream == from_json
    assert (from_json.text, from_json.finish_reason, from_json.complete) == ("Grüße 😀 from here", "end_turn", True)
    assert (from_json.usage, from_json.model) == ({"input_tokens": 11, "output_tokens": 5}, "claude-fake")


@given(places=st.lists(st.integers(0, 1200), max_size=12))
def test_cutting_never_matters(places):
    stream = b"".join(replies.anthropic("Grüße 😀", stream_asked=True).chunks)
    ends = sorted({min(place, len(stream)) for place in places} | {len(stream)})
    pieces = [stream[start:end] for start, end in zip([0, *ends], ends, strict=False)]
    assert accumulated(*pieces, **EVENTS) == accumulated(stream, **EVENTS)


def test_thoughts_are_no_answer_and_calls_are_joined():
    stream = streamed(
        {"type": "message_start", "message": {"model": "m", "content": [], "usage": {"input_tokens": 3}}},
        {"type": "content_block_start", "index": 0, "content_block": {"type": "thinking", "thinking": ""}},
        {"type": "content_block_delta", "index": 0, "delta": {"type": "thinking_delta", "thinking": "hm"}},
        {"type": "ping"},
        {"type": "content_block_start", "index": 1, "content_block": {"type": "text", "text": "Let me "}},
        {"type": "content_block_delta", "index": 1, "delta": {"type": "text_delta", "text": "look."}},
        {"type": "content_block_start", "index": 2, "content_block": {"type": "tool_use", "id": "t1", "name": "w"}},
        {"type": "content_block_delta", "index": 2, "delta": {"type": "input_json_delta", "partial_json": '{"a"'}},
        {"type": "content_block_delta", "index": 2, "delta": {"type": "input_json_delta", "partial_json": ":1}"}},
        {"type": "message_delta", "delta": {"stop_reason": "tool_use"}, "usage": {"output_tokens": 4}},
        {"type": "message_stop"},
    )
    reply = accumulated(stream, **EVENTS)
    assert (reply.text, reply.finish_reason, reply.complete) == ("Let me look.", "tool_use", True)
    assert reply.tool_calls == ({"id": "t1", "type": "function", "function": {"name": "w", "arguments": '{"a":1}'}},)
    assert reply.usage == {"input_tokens": 3, "output_tokens": 4}


def test_calls_of_a_whole_message_are_read():
    block = {"type": "tool_use", "id": "t1", "name": "w", "input": {"a": 1}}
    reply = accumulated(json.dumps({"type": "message", "content": [block]}).encode(), **JSON)
    assert reply.tool_calls[0]["function"] == {"name": "w", "arguments": '{"a":1}'}


def test_searches_split_a_sentence_and_citations_not():
    kinds = [("text", "Ber"), ("text", "lin."), ("server_tool_use", ""), ("text", "Done.")]
    content = [{"type": kind, "text": text} for kind, text in kinds]
    assert accumulated(json.dumps({"content": content}).encode(), **JSON).text == "Berlin.\n\nDone."


def test_an_error_in_the_stream_leaves_it_incomplete():
    start = {"type": "message_start", "message": {"content": [{"type": "text", "text": "Hal"}]}}
    reply = accumulated(streamed(start, {"type": "error", "error": {"type": "overloaded_error"}}), **EVENTS)
    assert (reply.text, reply.complete, reply.error) == ("Hal", False, {"type": "overloaded_error"})


def test_a_stream_cut_short_is_incomplete():
    events = replies.anthropic("one two three", stream_asked=True).chunks
    reply = accumulated(*events[:4], **EVENTS)
    assert (reply.text, reply.complete) == ("one two", False)


def test_an_error_body_is_incomplete():
    reply = accumulated(b'{"type":"error","error":{"type":"not_found_error"}}', **JSON)
    assert (reply.text, reply.complete, reply.error["type"]) == ("", False, "not_found_error")


def test_compressed_replies_are_read():
    packed = gzip.compress(b"".join(replies.anthropic("hi", stream_asked=False).chunks))
    assert accumulated(packed[:9], packed[9:], content_encoding="gzip", **JSON).text == "hi"


anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
)
kinds = st.sampled_from(
    ["message_start", "content_block_start", "content_block_delta", "message_delta", "message_stop", "error", "ping"]
)
fields = {"index": anything, "delta": anything, "content_block": anything, "message": anything, "usage": anything}
typed = st.fixed_dictionaries({"type": st.sampled_from(["text", "tool_use", "text_delta", "input_json_delta"])})
events = st.fixed_dictionaries({"type": kinds}, optional=fields) | st.fixed_dictionaries(
    {"type": kinds, "index": st.integers(0, 2), "delta": typed, "content_block": typed}
)


@given(events=st.lists(events | anything, max_size=8), stream=st.booleans())
def test_an_accumulator_never_raises(events, stream):
    if stream:
        reply = accumulated(*(b"data: " + json.dumps(one).encode() + b"\n\n" for one in events), **EVENTS)
    else:
        reply = accumulated(json.dumps(events[0] if events else None).encode(), **JSON)
    assert isinstance(reply.text, str)


@given(raw=st.binary(max_size=300), stream=st.booleans())
def test_any_bytes_are_a_reply_of_some_sort(raw, stream):
    assert isinstance(accumulated(raw, **(EVENTS if stream else JSON)).text, str)


@pytest.mark.parametrize("number", range(15))
def test_recorded_streams_are_read(number):
    recorded = sorted((DATA / "wire" / "other-wire" / "anthropic").glob("*.chunks.txt"))
    if number >= len(recorded):
        return  # the recordings are not in the repository
    lines = recorded[number].read_bytes().splitlines()
    stream = b"".join(b"event: x\ndata: " + line + b"\n\n" for line in lines if line.strip())
    reply = accumulated(stream, **EVENTS)
    assert reply.complete
    assert reply.model
    assert reply.text or reply.tool_calls or b"advisor" in stream

"""Replies parsed from the relayed bytes."""

from __future__ import annotations

import gzip
import json
import zlib
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proxy.dialects import chat
from proxy.dialects.reply import Reply
from proxy.settings.load import environment
from tests.fakes import replies

EVENTS = {"content_type": "text/event-stream; charset=utf-8"}
JSON = {"content_type": "application/json"}
DATA = Path(environment().get("THROUGHLINE_DATA") or Path(__file__).parents[3] / "shared" / "data")


def accumulated(*pieces: bytes, **response: str) -> Reply:
    accumulator = chat.accumulator()
    for piece in pieces:
        accumulator.feed(piece)
    return accumulator.result(**response)


def streamed(*deltas: dict[str, Any], finish: str | None = "stop", done: bool = True) -> bytes:
    chunks = [{"choices": [{"index": 0, "delta": delta, "finish_reason": None}]} for delta in deltas]
    if finish:
        chunks.append({"choices": [{"index": 0, "delta": {}, "finish_reason": finish}]})
    return b"".join(map(replies.event, chunks)) + (replies.DONE if done else b"")


def test_stream_and_json_give_the_same_reply():
    stream = b"".join(replies.stream("Grüße 😀 from here", include_usage=True).chunks)
    whole = json.dumps(replies.completion("Grüße 😀 from here")).encode()
    from_stream, from_json = accumulated(stream, **EVENTS), accumulated(whole, **JSON)
    assert from_stream == from_json
    assert (from_json.text, from_json.finish_reason, from_json.complete) == ("Grüße 😀 from here", "stop", True)
    assert from_json.usage["total_tokens"] == 16


@given(places=st.lists(st.integers(0, 900), max_size=12))
def test_cutting_never_matters(places):
    stream = b"".join(replies.stream("Grüße 😀").chunks)
    ends = sorted({min(place, len(stream)) for place in places} | {len(stream)})
    pieces = [stream[start:end] for start, end in zip([0, *ends], ends, strict=False)]
    assert accumulated(*pieces, **EVENTS) == accumulated(stream, **EVENTS)


@pytest.mark.parametrize("coding", ["gzip", "deflate", "GZIP"])
def test_compressed_replies_are_read(coding):
    plain = json.dumps(replies.completion("hi")).encode()
    packed = gzip.compress(plain) if coding.lower() == "gzip" else zlib.compress(plain)
    assert accumulated(packed[:9], packed[9:], content_encoding=coding, **JSON).text == "hi"


def test_raw_deflate_is_read():
    packer = zlib.compressobj(wbits=-15)
    packed = packer.compress(json.dumps(replies.completion("hi")).encode()) + packer.flush()
    assert accumulated(packed, content_encoding="deflate", **JSON).text == "hi"


def test_a_cut_compressed_stream_gives_what_there_is():
    packed = gzip.compress(streamed({"content": "a" * 50}, {"content": "b"}))[:-12]
    reply = accumulated(packed, content_encoding="gzip", **EVENTS)
    assert reply.text.startswith("a")


def test_unreadable_coding_gives_an_incomplete_reply():
    assert accumulated(b"\x1b\x00", content_encoding="br", **JSON) == Reply()


def test_rows_17_18_refusals_are_kept():
    reply = accumulated(streamed({"refusal": "I "}, {"refusal": "cannot"}), **EVENTS)
    assert (reply.refusal, reply.text) == ("I cannot", "")


def test_row_20_only_the_first_choice_counts():
    chunk = {"choices": [{"index": 1, "delta": {"content": "b"}}, {"index": 0, "delta": {"content": "a"}}]}
    assert accumulated(replies.event(chunk), **EVENTS).text == "a"


def test_row_22_interleaved_parallel_tool_calls():
    def call(index: int, **function: str) -> dict[str, Any]:
        return {"tool_calls": [{"index": index, "function": function}]}

    first = {"tool_calls": [{"index": 0, "id": "a", "type": "function", "function": {"name": "f", "arguments": ""}}]}
    second = {"tool_calls": [{"index": 1, "id": "b", "type": "function", "function": {"name": "g", "arguments": ""}}]}
    stream = streamed(
        first,
        second,
        call(0, arguments='{"x"'),
        call(1, arguments="{"),
        call(0, arguments=":1}"),
        call(1, arguments="}"),
    )
    reply = accumulated(stream, **EVENTS)
    assert [(one["id"], one["function"]) for one in reply.tool_calls] == [
        ("a", {"name": "f", "arguments": '{"x":1}'}),
        ("b", {"name": "g", "arguments": "{}"}),
    ]


def test_row_23_legacy_function_calls():
    stream = streamed({"function_call": {"name": "f", "arguments": ""}}, {"function_call": {"arguments": "{}"}})
    assert accumulated(stream, **EVENTS).tool_calls[0]["function"] == {"name": "f", "arguments": "{}"}


def test_thoughts_are_no_part_of_the_text():
    parts = [{"type": "thinking", "thinking": [{"type": "text", "text": "hmm"}]}, {"type": "text", "text": "yes"}]
    stream = streamed({"content": parts, "reasoning_content": "hmm"})
    assert accumulated(stream, **EVENTS).text == "yes"


def test_row_40_error_midway_makes_it_incomplete():
    error = replies.event({"error": {"message": "overloaded"}})
    reply = accumulated(streamed({"content": "a"}, finish=None, done=False), error, replies.DONE, **EVENTS)
    assert (reply.text, reply.complete, reply.error) == ("a", False, {"message": "overloaded"})


def test_row_41_a_cut_stream_is_incomplete():
    assert not accumulated(streamed({"content": "a"}, finish=None, done=False), **EVENTS).complete


def test_finish_reason_completes_a_stream_without_done():
    assert accumulated(streamed({"content": "a"}, done=False), **EVENTS).complete


def test_an_error_body_is_incomplete():
    reply = accumulated(b'{"error": {"message": "no"}}', **JSON)
    assert (reply.complete, reply.error) == (False, {"message": "no"})


def test_what_is_beyond_the_limit_is_not_copied():
    accumulator = chat.accumulator(max_bytes=100)
    accumulator.feed(streamed({"content": "a"}))
    accumulator.feed(b"x" * 1000)
    assert not accumulator.result(**EVENTS).complete


def test_a_bomb_stays_within_the_limit():
    packed = gzip.compress(b'{"x":"' + b"0" * 10_000_000)
    accumulator = chat.accumulator(max_bytes=100_000)
    accumulator.feed(packed)
    assert accumulator.result(content_encoding="gzip", **JSON).text == ""


def test_without_a_content_type_the_bytes_tell():
    assert accumulated(streamed({"content": "a"})).text == "a"
    assert accumulated(json.dumps(replies.completion("b")).encode()).text == "b"


scalars = st.none() | st.booleans() | st.integers(-9, 9) | st.text(max_size=4)
KEYS = (
    "choices delta message index content tool_calls function name arguments id function_call finish_reason usage "
    "model error refusal type text"
)
keys = st.sampled_from(KEYS.split())
anything = st.recursive(scalars, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(keys, inner, max_size=6))


@given(values=st.lists(anything, max_size=4), encoding=st.sampled_from(["", "gzip", "br"]))
def test_anything_accumulates_without_raising(values, encoding):
    events = b"".join(replies.event(value) for value in values)
    accumulated(events, content_encoding=encoding, **EVENTS)
    accumulated(json.dumps(values[0] if values else None).encode(), content_encoding=encoding, **JSON)


@given(raw=st.binary(max_size=80), encoding=st.sampled_from(["", "gzip", "deflate"]))
def test_any_bytes_accumulate_without_raising(raw, encoding):
    accumulated(raw, content_encoding=encoding)


def test_recorded_streams_accumulate():
    for path in sorted(DATA.glob("wire/chunks/*/*.chunks.txt")):
        lines = path.read_bytes().splitlines()
        reply = accumulated(*(b"data: " + line + b"\n\n" for line in lines), replies.DONE, **EVENTS)
        assert reply.complete or reply.error is not None, path.name
        assert reply.text == "".join(part for line in lines for part in _contents(json.loads(line))), path.name


def _contents(chunk: dict[str, Any]) -> list[str]:
    choices = [choice for choice in chunk.get("choices") or [] if choice.get("index", 0) == 0]
    contents = [choice["delta"].get("content") for choice in choices if choice.get("delta")]
    parts = [content if isinstance(content, list) else [{"text": content}] for content in contents]
    return [one.get("text") or "" for part in parts for one in part]

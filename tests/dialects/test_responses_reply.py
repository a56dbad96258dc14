"""Replies of the Responses API parsed from a stream, and detection of the stream's end."""

from __future__ import annotations

import gzip
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proxy.dialects import responses
from proxy.dialects.reply import Reply
from tests.dialects.test_chat import anything
from tests.fakes.responses import Said, response, stream_events

EVENT_STREAM = "text/event-stream; charset=utf-8"
CALL = {"type": "function_call", "id": "fc_1", "call_id": "call_1", "name": "look", "arguments": '{"at": "sky"}'}


def fold(*chunks: bytes, **how: str) -> Reply:
    accumulator = responses.accumulator()
    for chunk in chunks:
        accumulator.feed(chunk)
    return accumulator.result(**how)


def whole(said: Said) -> bytes:
    return json.dumps(response(said)).encode()


@pytest.mark.parametrize(
    "said", [Said("Hello there, you."), Said("", calls=(CALL,)), Said("One moment.", calls=(CALL,))]
)
def test_a_stream_says_what_the_whole_reply_says(said):
    stream = b"".join(stream_events(said))
    streamed, plain = fold(stream, content_type=EVENT_STREAM), fold(whole(said), content_type="application/json")
    assert streamed == plain
    assert (plain.text, plain.complete, plain.model) == (said.text, True, said.model)
    assert plain.id == said.id
    assert [call["function"]["name"] for call in plain.tool_calls] == [call["name"] for call in said.calls]
    assert all(call["function"]["arguments"] == CALL["arguments"] for call in plain.tool_calls)
    assert plain.usage == response(said)["usage"]


def test_cut_stream_keeps_what_came():
    events = stream_events(Said("Hello there, my friend."))
    reply = fold(*events[:6], content_type=EVENT_STREAM)
    assert reply.text
    assert "Hello there, my friend.".startswith(reply.text)
    assert (reply.complete, reply.id) == (False, Said().id)


@pytest.mark.parametrize(("status", "complete"), [("incomplete", True), ("failed", False), ("cancelled", False)])
def test_how_it_ended_counts(status, complete):
    said = Said("Half of", status=status)
    for raw, kind in ((whole(said), "application/json"), (b"".join(stream_events(said)), EVENT_STREAM)):
        reply = fold(raw, content_type=kind)
        assert (reply.text, reply.complete) == ("Half of", complete)


def test_background_response_counts_as_answered():
    assert fold(whole(Said("", status="queued")), content_type="application/json").complete


def test_an_error_in_the_middle_is_seen():
    error = b'event: error\ndata: {"type":"error","code":"server_error","message":"no","param":null}\n\n'
    reply = fold(*stream_events(Said("Hello there"))[:5], error, content_type=EVENT_STREAM)
    assert reply.error == {"code": "server_error", "message": "no", "param": None}
    assert not reply.complete


def test_an_error_body_is_no_reply():
    reply = fold(b'{"error":{"message":"no","code":null}}', content_type="application/json")
    assert (reply.complete, reply.error["message"], reply.text) == (False, "no", "")


def test_terminal_event_without_output_keeps_streamed_text():
    *before, last = stream_events(Said("Hello"))
    body = json.loads(last.partition(b"data: ")[2])
    body["response"]["output"] = []
    reply = fold(*before, b"data: " + json.dumps(body).encode() + b"\n\n", content_type=EVENT_STREAM)
    assert (reply.text, reply.complete) == ("Hello", True)


def test_packed_replies_are_read():
    reply = fold(gzip.compress(whole(Said("Hi"))), content_type="application/json", content_encoding="gzip")
    assert (reply.text, reply.complete) == ("Hi", True)
    assert fold(b"\x00", content_type="application/json", content_encoding="br") == Reply()


def test_reasoning_is_no_answer():
    said: dict[str, Any] = response(Said("Yes."))
    said["output"].insert(0, {"type": "reasoning", "summary": [{"type": "summary_text", "text": "Hmm."}]})
    assert fold(json.dumps(said).encode(), content_type="application/json").text == "Yes."


ENDINGS = [
    *(stream_events(Said("Hi", status=status))[-1] for status in ("completed", "incomplete", "failed")),
    b'event: error\ndata: {"type":"error","message":"no"}\n\n',
    b'data: {"type":"error","message":"no"}\n\n',
    b'data: {"sequence_number": 9, "type": "response.completed", "response": {}}\r\n\r\n',
    b'event: response.completed\rdata: {"type":"response.completed"}\r\r',
]


@pytest.mark.parametrize("ending", ENDINGS)
@given(data=st.data())
def test_end_is_seen_at_its_last_byte(ending, data):
    """This holds for any cut of the stream into pieces."""
    stream = b"".join(stream_events(Said("Say response.completed and event: error, please."))[:-1]) + ending
    cuts = sorted(data.draw(st.lists(st.integers(0, len(stream)), max_size=8)))
    watch = responses.end_watch()
    pieces = [stream[start:end] for start, end in zip([0, *cuts], [*cuts, len(stream)], strict=True)]
    seen = 0
    for piece in pieces:
        seen += len(piece)
        if watch.feed(piece):
            # The client sees the event at the last byte of CR LF CR LF, or of LF LF.
            assert seen > len(stream) - 2
            break
    assert watch.has_ended


def test_what_only_looks_like_an_end_is_none():
    said = {"type": "response.output_text.delta", "delta": '"type":"response.completed"\n\nevent: error\n\n'}
    watch = responses.end_watch()
    assert not watch.feed(b"event: response.output_text.delta\ndata: " + json.dumps(said).encode() + b"\n\n")
    assert not watch.feed(b"event: response.created\ndata: {}\n\n: event: error\n\n")


@given(events=st.lists(anything, max_size=4), kinds=st.lists(st.sampled_from([
    "response.output_text.delta", "response.output_item.done", "response.completed", "error", "response.created",
    "response.function_call_arguments.done", "response.refusal.done", "response.", "response.output_text.done",
]), min_size=4, max_size=4), keys=st.dictionaries(
    st.sampled_from(["response", "item", "delta", "output_index", "content_index", "text", "output", "status", "error"]),
    anything | st.dictionaries(st.sampled_from(["type", "content", "output", "id", "error", "usage"]), anything),
))  # fmt: skip
def test_accumulating_never_raises(events, kinds, keys):
    raw = b"".join(
        b"data: " + json.dumps({"type": kind, **keys, "also": event}).encode("utf-8", "replace") + b"\n\n"
        for kind, event in zip(kinds, [*events, *[None] * 4], strict=False)
    )
    fold(raw, content_type=EVENT_STREAM)
    fold(json.dumps({**keys, "output": events}).encode("utf-8", "replace"), content_type="application/json")


@given(raw=st.binary(max_size=80), kind=st.sampled_from([EVENT_STREAM, "application/json", ""]))
def test_accumulating_garbage_never_raises(raw, kind):
    fold(raw, content_type=kind)
    watch = responses.end_watch()
    watch.feed(raw)

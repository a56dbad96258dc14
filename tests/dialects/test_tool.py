"""Throughline's tool removed from replies: for any pieces, the client sees one well-formed reply without it."""

from __future__ import annotations

from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from proxy.dialects import chat, messages, responses
from proxy.dialects.responses_tool import resumed
from proxy.dialects.tool import ReplyFilter
from proxy.events import split
from tests.fakes.messages import Said as Message
from tests.fakes.messages import reply as message
from tests.fakes.responses import Said, event, stream_events

THOUGHT: dict[str, Any] = {"type": "reasoning", "id": "rs_1", "summary": []}
OURS: dict[str, Any] = {
    "type": "function_call", "id": "fc_1", "call_id": "call_1", "name": "recall", "arguments": '{"query":"key"}'
}  # fmt: skip
THEIRS = {**OURS, "id": "fc_2", "call_id": "call_2", "name": "weather"}


def responded(*items: dict[str, Any]) -> bytes:
    """Return the stream of a response with these items."""
    begun = {"id": "resp_1", "output": [], "status": "in_progress", "tools": [{"type": "function", "name": "recall"}]}
    events: list[dict[str, Any]] = [{"type": "response.created", "response": begun}]
    for at, item in enumerate(items):
        events += [
            {"type": f"response.output_item.{what}", "output_index": at, "item": item} for what in ("added", "done")
        ]
    events.append({"type": "response.completed", "response": {**begun, "output": list(items), "status": "completed"}})
    return b"".join(event({**one, "sequence_number": at}) for at, one in enumerate(events))


def messaged() -> bytes:
    """Return the stream of a message that calls the recall tool."""
    said = Message("Hm.", [{"id": "t", "name": "recall", "input": {"query": "k"}}])
    return b"".join(one for one in message(said, {"stream": True}).chunks if isinstance(one, bytes))


def shown(stream: bytes) -> tuple[ReplyFilter, list[Any]]:
    one = responses.tool.reply_filter("recall")
    one.begin()
    passed = one.feed(stream) + one.close()
    return one, [orjson.loads(each.data) for each in split(passed)]


def test_thought_before_a_look_up_returns_to_provider() -> None:
    one, events = shown(responded(THOUGHT, OURS))
    assert [each["type"] for each in events] == ["response.created"]
    assert events[0]["response"]["tools"] == []
    assert one.wants_more
    went_on = orjson.loads(one.going_on(b'{"input": "hi"}', ["there"]))["input"]
    assert [each["type"] for each in went_on] == ["message", "reasoning", "function_call", "function_call_output"]


def test_unkept_replies_send_only_revocable_parts() -> None:
    one, _ = shown(responded(THOUGHT, OURS))
    went_on = orjson.loads(one.going_on(b'{"input": [], "store": false}', ["there"]))["input"]
    assert [each["type"] for each in went_on] == ["function_call", "function_call_output"]
    assert "id" not in went_on[0]


def test_what_a_conversation_keeps_is_not_sent_again() -> None:
    one, _ = shown(responded(THOUGHT, OURS))
    went_on = orjson.loads(one.going_on(b'{"input": "hi", "conversation": "conv_1"}', ["there"]))["input"]
    assert [each["type"] for each in went_on] == ["function_call_output"]


@pytest.mark.parametrize("items", [(THOUGHT, OURS, THEIRS), (THOUGHT, THEIRS, OURS), (THOUGHT, THEIRS)])
def test_thought_before_the_clients_call_is_shown(items: tuple[dict[str, Any], ...]) -> None:
    one, events = shown(responded(*items))
    assert not one.wants_more
    assert [each["type"] for each in events[-1]["response"]["output"]] == ["reasoning", "function_call"]
    assert [each["output_index"] for each in events[1:-1]] == [0, 0, 1, 1]
    assert [each["sequence_number"] for each in events] == list(range(len(events)))


def test_continued_reply_has_the_providers_name() -> None:
    body = b'{"model": "m", "previous_response_id": "resp_1", "input": "x \\" y"}'
    went_up = orjson.loads(resumed(body, "resp_2", ["call_1"]))
    assert went_up["previous_response_id"] == "resp_2"
    assert went_up["input"][0] == {"type": "message", "role": "user", "content": 'x " y'}
    assert went_up["input"][1]["call_id"] == "call_1"
    assert resumed(body, "", ()) is body


STREAMS = [
    (responses, b"".join(stream_events(Said("It is there.", calls=[THEIRS])))),
    (responses, responded(THOUGHT, OURS)),
    (messages, messaged()),
    (chat, b'data: {"id":"c","choices":[{"index":0,"delta":{"role":"assistant","content":"a"}}]}\r\n\r\ndata: [DONE]\n\n'),
]  # fmt: skip


@given(which=st.integers(0, len(STREAMS) - 1), cuts=st.lists(st.integers(1, 40), max_size=60))
def test_where_the_bytes_are_cut_changes_nothing(which: int, cuts: list[int]) -> None:
    dialect, stream = STREAMS[which]
    at_once = dialect.tool.reply_filter("recall")
    at_once.begin()
    whole = at_once.feed(stream) + at_once.close()
    cut = dialect.tool.reply_filter("recall")
    cut.begin()
    pieces, at = [], 0
    for size in cuts:
        pieces.append(cut.feed(stream[at : at + size]))
        at += size
    assert b"".join([*pieces, cut.feed(stream[at:]), cut.close()]) == whole
    assert cut.wants_more == at_once.wants_more

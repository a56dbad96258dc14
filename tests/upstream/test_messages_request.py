"""Translation of chat completions to messages and back, without a server."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proxy.dialects import chat, messages
from proxy.errors import InvalidRequest
from proxy.settings.load import environment
from proxy.upstream.messages_reply import MessageWriter
from proxy.upstream.messages_request import Side, completion_of
from tests.fakes import replies
from tests.upstream.message_bodies import TOOL, TURNS, anything, blocks, events_of

pytestmark = [
    pytest.mark.anyio,
    pytest.mark.filterwarnings(
        "ignore:Item '.*' on TypedDict class '.*' is using the `ReadOnly` qualifier:UserWarning"
    ),
]

SIDE = Side("m")


def written(*chunks: dict[str, Any], thinks: bool = False, done: bool = True) -> list[dict[str, Any]]:
    writer = MessageWriter(thinks=thinks)
    stream = b"".join(writer.feed(replies.event({"id": "c1", "model": "m", **chunk})) for chunk in chunks)
    return events_of(stream + (writer.feed(replies.DONE) if done else b"") + writer.close())


def delta(finish: str | None = None, **said: Any) -> dict[str, Any]:
    return {"choices": [{"index": 0, "delta": said, "finish_reason": finish}]}


def call(index: int, arguments: str, name: str | None = None) -> dict[str, Any]:
    named = {"id": f"call_{index}"} if name else {}
    return delta(tool_calls=[{"index": index, **named, "function": {"name": name, "arguments": arguments}}])


def test_parallel_calls_are_blocks_one_after_the_other():
    events = written(
        delta(content="Hm"), call(0, "{", "a"), call(0, "}"), call(1, "", "b"), call(1, "{}"), delta("tool_calls")
    )
    assert [(one["type"], one.get("index")) for one in events if "block" in one["type"]] == [
        ("content_block_start", 0),
        ("content_block_delta", 0),
        ("content_block_stop", 0),
        ("content_block_start", 1),
        ("content_block_delta", 1),
        ("content_block_delta", 1),
        ("content_block_stop", 1),
        ("content_block_start", 2),
        ("content_block_delta", 2),
        ("content_block_stop", 2),
    ]
    assert events[-2]["delta"]["stop_reason"] == "tool_use"


def test_calls_whose_arguments_come_in_turns_stay_open():
    events = written(call(0, "{", "a"), call(1, "{", "b"), call(0, "}"), call(1, "}"), delta("stop"))
    stops = [place for place, one in enumerate(events) if one["type"] == "content_block_stop"]
    last_delta = max(place for place, one in enumerate(events) if one["type"] == "content_block_delta")
    assert min(stops) > last_delta


def test_thoughts_come_only_to_those_who_asked():
    chunks = [delta(reasoning_content="hm"), delta(content="yes"), delta("stop")]
    assert [one["content_block"]["type"] for one in written(*chunks) if "content_block" in one] == ["text"]
    asked = [one["content_block"]["type"] for one in written(*chunks, thinks=True) if "content_block" in one]
    assert asked == ["thinking", "text"]


def test_error_in_the_stream_ends_it():
    events = written(delta(content="Hal"), {"error": {"message": "overloaded"}}, delta("stop"))
    assert (events[-1]["type"], events[-1]["error"]["message"]) == ("error", "overloaded")


@pytest.mark.parametrize(
    ("body", "names"),
    [
        ({"tools": [{"type": "web_search_20250305", "name": "web_search"}]}, "web_search_20250305"),
        ({"mcp_servers": [{"type": "url", "url": "https://x.example"}]}, "mcp_servers"),
        ({"messages": [{"role": "user", "content": [{"type": "image", "source": {"type": "file"}}]}]}, "image"),
        ({"messages": [{"role": "user", "content": [{"type": "document", "source": {"type": "url"}}]}]}, "document"),
        ({"messages": [{"role": "user", "content": [{"type": "container_upload"}]}]}, "container_upload"),
        ({"messages": [{"role": "user", "content": None}]}, "content"),
        ({"messages": [7]}, "messages.0"),
        ({"messages": []}, "messages"),
    ],
)
def test_what_cannot_be_asked_there_is_refused(body, names):
    with pytest.raises(InvalidRequest, match=names):
        completion_of({"messages": [{"role": "user", "content": "hi"}], **body}, SIDE)


def test_documents_in_the_request_are_carried():
    blocks = [
        {"type": "document", "title": "T", "source": {"type": "text", "media_type": "text/plain", "data": "words"}},
        {"type": "document", "source": {"type": "base64", "media_type": "application/pdf", "data": "QUJD"}},
        {"type": "search_result", "title": "S", "source": "u", "content": [{"type": "text", "text": "found"}]},
    ]
    (message,) = completion_of({"messages": [{"role": "user", "content": blocks}]}, SIDE)["messages"]
    text, file, found = message["content"]
    assert (text["text"], found["text"]) == ("T\nwords", "S\nu\nfound")
    assert file["file"]["file_data"] == "data:application/pdf;base64,QUJD"


def test_a_claude_elsewhere_keeps_marks_and_signed_thoughts():
    made = completion_of({"messages": TURNS, "tools": [TOOL]}, Side("bedrock/claude-x", knows_claude=True))
    assert made["messages"][0]["content"][0]["cache_control"] == {"type": "ephemeral"}
    assert made["messages"][1]["thinking_blocks"][0]["signature"] == "sig"
    assert made["tools"][0]["cache_control"] == {"type": "x"}


@pytest.mark.parametrize(
    ("model", "thinking", "asked", "effort"),
    [
        ("gpt-4o", {"type": "enabled", "budget_tokens": 9000}, None, None),
        ("gpt-4o", None, "low", None),
        ("gpt-5-mini", {"type": "enabled", "budget_tokens": 9000}, None, "high"),
        ("o3", {"type": "enabled", "budget_tokens": 1024}, None, "low"),
        ("o3", {"type": "disabled"}, "max", None),
        ("o3", {"type": "adaptive"}, "max", "high"),
        ("o3", None, "low", "low"),
        ("o3", None, None, None),
    ],
)
def test_reasoning_models_are_told_the_effort(model, thinking, asked, effort):
    made = completion_of({"messages": TURNS, "thinking": thinking, "output_config": {"effort": asked}}, Side(model))
    assert made.get("reasoning_effort") == effort


names = st.sampled_from(["delta", "message", "content", "tool_calls", "function", "arguments", "index", "usage", "id"])

pieces = st.recursive(
    anything, lambda inner: st.lists(inner, max_size=2) | st.dictionaries(names, inner, max_size=4), max_leaves=12
)

chunks = st.fixed_dictionaries({"choices": st.lists(pieces, max_size=2)}, optional={"usage": pieces, "id": anything})


@given(chunks=st.lists(chunks | pieces, max_size=5), thinks=st.booleans())
def test_any_stream_is_written_to_an_end(chunks, thinks):
    writer = MessageWriter(thinks=thinks)
    events = (b"data: " + json.dumps(chunk).encode() + b"\n\n" for chunk in chunks)
    stream = b"".join(writer.feed(event) for event in events) + writer.close()
    assert events_of(stream)[-1]["type"] in ("message_stop", "error")


turns = st.fixed_dictionaries(
    {"role": st.sampled_from(["user", "assistant", "system"]), "content": st.lists(blocks, max_size=3) | anything}
)


@given(turns=st.lists(turns | anything, max_size=3), tools=st.lists(anything, max_size=2), system=anything)
def test_any_request_is_carried_or_refused(turns, tools, system):
    try:
        made = completion_of({"messages": turns, "tools": tools, "system": system}, SIDE)
    except InvalidRequest:
        return
    assert json.dumps(made)


def test_recorded_streams_say_the_same_on_both_wires():
    data = Path(environment().get("THROUGHLINE_DATA") or Path(__file__).parents[3] / "shared" / "data")
    for recorded in sorted((data / "wire" / "chunks").glob("*/*.chunks.txt")):
        chunks = [json.loads(line) for line in recorded.read_bytes().splitlines() if line.strip()]
        # Some recordings hold several replies in sequence.
        stream = b"".join(replies.event(chunk) for chunk in chunks if chunk.get("id") == chunks[0].get("id"))
        of_chat, of_messages = chat.accumulator(), messages.accumulator()
        of_chat.feed(stream)
        before = of_chat.result(content_type="text/event-stream")
        if before.finish_reason is None:
            continue  # recorded on another wire
        writer = MessageWriter(thinks=False)
        of_messages.feed(
            b"".join(writer.feed(stream[at : at + 61]) for at in range(0, len(stream), 61)) + writer.close()
        )
        after = of_messages.result(content_type="text/event-stream")
        assert (after.text, after.complete, after.model) == (before.text + before.refusal, True, before.model), recorded
        assert after.tool_calls == before.tool_calls, recorded


def test_thoughts_in_parts_of_the_content_are_thoughts():
    part = {"type": "thinking", "thinking": [{"type": "text", "text": "hm"}]}
    events = written(delta(content=[part]), delta(content="yes"), delta("stop"), thinks=True)
    assert [one["content_block"]["type"] for one in events if "content_block" in one] == ["thinking", "text"]

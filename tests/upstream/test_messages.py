"""Anthropic's wire to any provider: bytes to its own, a chat completion that asks the same to the others."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proxy.config import environment
from proxy.dialects.chat import ReplyAccumulator as ChatAccumulator
from proxy.dialects.messages import ReplyAccumulator
from proxy.errors import InvalidRequest, NotFound, UpstreamUnreachable
from proxy.upstream.base import Target, UpstreamCut, UpstreamRequest
from proxy.upstream.demo import DemoUpstream
from proxy.upstream.litellm import LiteLLMUpstream
from proxy.upstream.messages import native_base, over_messages
from proxy.upstream.messages_request import Side, completion_of
from proxy.upstream.messages_stream import MessageWriter
from proxy.upstream.wire import WireUpstream
from tests.fakes import replies
from tests.fakes.provider import FakeProvider
from tests.fakes.replies import Reply

pytestmark = [
    pytest.mark.anyio,
    pytest.mark.filterwarnings(
        "ignore:Item '.*' on TypedDict class '.*' is using the `ReadOnly` qualifier:UserWarning"
    ),
]

SIDE = Side("m")
PNG = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "QUJD"}}
TOOL = {"name": "weather", "description": "d", "input_schema": {"type": "object"}, "cache_control": {"type": "x"}}
TURNS = [
    {"role": "user", "content": [{"type": "text", "text": "hi", "cache_control": {"type": "ephemeral"}}, PNG]},
    {
        "role": "assistant",
        "content": [
            {"type": "thinking", "thinking": "hm", "signature": "sig"},
            {"type": "text", "text": "Let me look."},
            {"type": "tool_use", "id": "toolu_1", "name": "weather", "input": {"city": "Oslo"}},
        ],
    },
    {
        "role": "user",
        "content": [
            {"type": "tool_result", "tool_use_id": "toolu_1", "content": [{"type": "text", "text": "21"}, PNG]},
            {"type": "text", "text": "So?"},
        ],
    },
]


@pytest.fixture
async def wire() -> AsyncIterator[WireUpstream]:
    made = WireUpstream()
    yield made
    await made.aclose()


def to(wire: WireUpstream, fake: FakeProvider, **more: Any) -> Target:
    given: dict[str, Any] = {"provider": "hosted_vllm", "base_url": fake.base_url, "api_key": "sk-route", **more}
    return over_messages(Target(upstream=wire, **given), wire)


def asking(*headers: tuple[str, str], **body: Any) -> UpstreamRequest:
    raw = json.dumps({"model": "m", "max_tokens": 9, "messages": [{"role": "user", "content": "hi"}], **body}).encode()
    sent = [("Content-Type", "application/json"), ("Accept-Encoding", "gzip"), *headers]
    return UpstreamRequest("POST", "/messages", headers=sent, body=raw, stream=bool(body.get("stream")))


async def ask(request: UpstreamRequest, target: Target) -> tuple[int, dict[str, str], bytes]:
    response = await target.upstream.send(request, target)
    try:
        body = b"".join([chunk async for chunk in response.chunks()])
    finally:
        await response.aclose()
    return response.status, dict(response.headers), body


def events_of(stream: bytes) -> list[dict[str, Any]]:
    blocks = [block.splitlines() for block in stream.split(b"\n\n") if block]
    made = [json.loads(data.removeprefix(b"data: ")) for _, data in blocks]
    assert [name for name, _ in blocks] == [b"event: " + one["type"].encode() for one in made]
    return made


def written(*chunks: dict[str, Any], thinks: bool = False, done: bool = True) -> list[dict[str, Any]]:
    writer = MessageWriter(thinks=thinks)
    stream = b"".join(writer.feed(replies.event({"id": "c1", "model": "m", **chunk})) for chunk in chunks)
    return events_of(stream + (writer.feed(replies.DONE) if done else b"") + writer.close())


def delta(finish: str | None = None, **said: Any) -> dict[str, Any]:
    return {"choices": [{"index": 0, "delta": said, "finish_reason": finish}]}


def call(index: int, arguments: str, name: str | None = None) -> dict[str, Any]:
    named = {"id": f"call_{index}"} if name else {}
    return delta(tool_calls=[{"index": index, **named, "function": {"name": name, "arguments": arguments}}])


@pytest.mark.parametrize(
    "given",
    [
        "",
        "https://api.anthropic.com",
        "https://api.anthropic.com/",
        "https://api.anthropic.com/v1",
        "https://api.anthropic.com/v1/messages",
    ],
)
def test_anthropics_address_is_known_in_every_form(given):
    assert native_base(given) == "https://api.anthropic.com/v1"


async def test_anthropic_gets_the_bytes_and_its_key_where_it_looks_for_it(wire, provider):
    target = to(wire, provider, provider="anthropic", base_url=provider.url, model="anthropic/claude-x")
    assert target.model == "claude-x"
    request = asking(("Authorization", "Bearer none"), ("anthropic-version", "2023-06-01"), ("anthropic-beta", "b"))
    status, headers, body = await ask(request, target)
    assert provider.last.body == request.body
    assert provider.last.path == "/v1/messages"
    assert (provider.last.header("x-api-key"), provider.last.header("authorization")) == ("sk-route", None)
    assert (provider.last.header("anthropic-version"), provider.last.header("anthropic-beta")) == ("2023-06-01", "b")
    assert (status, json.loads(body)["content"][0]["text"], headers["x-request-id"]) == (200, "echo: hi", "req_fake")


async def test_a_key_of_the_clients_own_goes_up_as_it_came(wire, provider):
    target = to(wire, provider, provider="anthropic", base_url=provider.url, api_key=None)
    await ask(asking(("Authorization", "Bearer sk-ant-oat01-x")), target)
    assert (provider.last.header("authorization"), provider.last.header("x-api-key")) == (
        "Bearer sk-ant-oat01-x",
        None,
    )


async def test_another_provider_is_asked_the_same_as_a_chat_completion(wire, provider):
    body = {
        "system": [{"type": "text", "text": "be"}, {"type": "text", "text": "kind"}],
        "messages": TURNS,
        "tools": [TOOL],
        "tool_choice": {"type": "any", "disable_parallel_tool_use": True},
        "stop_sequences": ["X"],
        "temperature": 0.5,
        "top_k": 3,
        "metadata": {"user_id": "u"},
    }
    await ask(asking(("x-api-key", "none"), ("anthropic-version", "2023-06-01"), **body), to(wire, provider))
    image = {"type": "image_url", "image_url": {"url": "data:image/png;base64,QUJD"}}
    function = {"name": "weather", "arguments": '{"city": "Oslo"}'}
    assert provider.last.path == "/v1/chat/completions"
    assert provider.last.json == {
        "model": "m",
        "messages": [
            {"role": "system", "content": "be\n\nkind"},
            {"role": "user", "content": [{"type": "text", "text": "hi"}, image]},
            {
                "role": "assistant",
                "content": "Let me look.",
                "tool_calls": [{"id": "toolu_1", "type": "function", "function": function}],
            },
            {"role": "tool", "tool_call_id": "toolu_1", "content": "21"},
            {
                "role": "user",
                "content": [
                    {"type": "text", "text": "What the tool call toolu_1 returned:"},
                    image,
                    {"type": "text", "text": "So?"},
                ],
            },
        ],
        "max_tokens": 9,
        "temperature": 0.5,
        "stop": ["X"],
        "top_k": 3,
        "tools": [
            {"type": "function", "function": {"name": "weather", "description": "d", "parameters": {"type": "object"}}}
        ],
        "tool_choice": "required",
        "parallel_tool_calls": False,
    }
    assert (provider.last.header("authorization"), provider.last.header("x-api-key")) == ("Bearer sk-route", None)
    assert (provider.last.header("anthropic-version"), provider.last.header("accept-encoding")) == (None, "identity")


async def test_a_key_in_anthropics_header_goes_up_in_openais(wire, provider):
    await ask(asking(("x-api-key", "gsk_mine")), to(wire, provider, api_key=None))
    assert (provider.last.header("authorization"), provider.last.header("x-api-key")) == ("Bearer gsk_mine", None)


async def test_replies_come_back_as_messages(wire, provider):
    status, headers, raw = await ask(asking(), to(wire, provider))
    body = json.loads(raw)
    assert (status, headers["content-type"], headers["request-id"]) == (200, "application/json", "req_fake")
    assert body == {
        "id": "msg_chatcmpl-fake",
        "type": "message",
        "role": "assistant",
        "model": "m",
        "content": [{"type": "text", "text": "echo: hi"}],
        "stop_reason": "end_turn",
        "stop_sequence": None,
        "usage": {
            "input_tokens": 9,
            "cache_creation_input_tokens": 0,
            "cache_read_input_tokens": 0,
            "output_tokens": 7,
        },
    }


async def test_streams_come_back_as_the_events_of_a_message(wire, provider):
    _, headers, raw = await ask(asking(stream=True), to(wire, provider))
    assert provider.last.json["stream_options"] == {"include_usage": True}
    events = events_of(raw)
    assert headers["content-type"].startswith("text/event-stream")
    assert [one["type"] for one in events if one["type"] != "content_block_delta"] == [
        "message_start",
        "content_block_start",
        "content_block_stop",
        "message_delta",
        "message_stop",
    ]
    assert events[-2]["delta"]["stop_reason"] == "end_turn"
    assert (events[-2]["usage"]["input_tokens"], events[-2]["usage"]["output_tokens"]) == (9, 7)
    accumulator = ReplyAccumulator()
    accumulator.feed(raw)
    assert (accumulator.result().text, accumulator.result().complete) == ("echo: hi", True)


@pytest.mark.parametrize(
    ("status", "kind"), [(400, "invalid_request_error"), (429, "rate_limit_error"), (503, "overloaded_error")]
)
@pytest.mark.parametrize("stream", [False, True])
async def test_errors_keep_status_headers_and_words(wire, provider, status, kind, stream):
    provider.then(replies.error(status, "so it is", "its_code", retry_after="2"))
    got, headers, raw = await ask(asking(stream=stream), to(wire, provider))
    assert (got, headers["retry-after"]) == (status, "2")
    error = {"type": kind, "message": "so it is", "details": {"error_code": "its_code"}}
    assert json.loads(raw) == {"type": "error", "error": error, "request_id": "req_fake"}


async def test_a_stream_that_breaks_off_breaks_off(wire, provider):
    full = replies.stream("one two three")
    provider.then(Reply(full.chunks[:3], headers=full.headers, cut=True, framing="chunked"))
    with pytest.raises(UpstreamCut):
        await ask(asking(stream=True), to(wire, provider))


async def test_a_stream_that_ends_early_never_looks_like_success(wire, provider):
    full = replies.stream("one two three")
    provider.then(Reply(full.chunks[:3], headers=full.headers))
    _, _, raw = await ask(asking(stream=True), to(wire, provider))
    events = events_of(raw)
    assert events[-1]["type"] == "error"
    assert "message_stop" not in {one["type"] for one in events}


async def test_something_else_than_a_completion_is_no_message(wire, provider):
    provider.then(replies.json_reply({"hello": 1}))
    with pytest.raises(UpstreamUnreachable):
        await ask(asking(), to(wire, provider))


async def test_only_messages_themselves_are_carried_across(wire, provider):
    target = to(wire, provider)
    with pytest.raises(NotFound):
        await target.upstream.send(UpstreamRequest("POST", "/messages/count_tokens", body=b"{}"), target)


async def test_the_demo_answers(wire):
    demo = over_messages(Target(upstream=DemoUpstream(), provider="demo", forwards_auth=False), wire)
    _, _, raw = await ask(asking(model="demo"), demo)
    assert json.loads(raw)["content"][0]["text"].startswith("[demo, no model]")
    _, _, raw = await ask(asking(model="demo", stream=True), demo)
    assert events_of(raw)[-1]["type"] == "message_stop"


async def test_other_wires_are_asked_by_way_of_litellm(wire, provider):
    litellm = LiteLLMUpstream()
    target = Target(
        upstream=litellm, model="gemini/gemini-2.5-flash", provider="gemini", base_url=provider.url, api_key="k"
    )
    _, _, raw = await ask(asking(system="be kind"), over_messages(target, wire))
    assert json.loads(raw)["content"] == [{"type": "text", "text": "echo: hi"}]
    _, _, raw = await ask(asking(stream=True), over_messages(target, wire))
    assert events_of(raw)[-1]["type"] == "message_stop"
    await litellm.aclose()


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


def test_an_error_in_the_stream_is_told_and_ends_it():
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
    ("model", "thinking", "effort"),
    [
        ("gpt-4o", {"type": "enabled", "budget_tokens": 9000}, None),
        ("gpt-5-mini", {"type": "enabled", "budget_tokens": 9000}, "high"),
        ("o3", {"type": "enabled", "budget_tokens": 1024}, "low"),
        ("o3", {"type": "disabled"}, None),
        ("o3", {"type": "adaptive"}, "high"),
    ],
)
def test_how_hard_to_think_is_told_to_models_that_reason(model, thinking, effort):
    output = {"effort": "max"} if thinking["type"] == "adaptive" else {}
    made = completion_of({"messages": TURNS, "thinking": thinking, "output_config": output}, Side(model))
    assert made.get("reasoning_effort") == effort


anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
)
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


blocks = st.fixed_dictionaries(
    {"type": st.sampled_from(["text", "image", "tool_use", "tool_result", "document", "thinking", "search_result"])},
    optional={"text": anything, "content": anything, "source": anything, "input": anything, "id": anything},
)
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
        # Some recordings hold several replies, one after the other.
        stream = b"".join(replies.event(chunk) for chunk in chunks if chunk.get("id") == chunks[0].get("id"))
        chat, message = ChatAccumulator(), ReplyAccumulator()
        chat.feed(stream)
        before = chat.result(content_type="text/event-stream")
        if before.finish_reason is None:
            continue  # of another wire
        writer = MessageWriter(thinks=False)
        message.feed(b"".join(writer.feed(stream[at : at + 61]) for at in range(0, len(stream), 61)) + writer.close())
        after = message.result(content_type="text/event-stream")
        assert (after.text, after.complete, after.model) == (before.text + before.refusal, True, before.model), recorded
        assert after.tool_calls == before.tool_calls, recorded


def test_thoughts_in_parts_of_the_content_are_thoughts():
    part = {"type": "thinking", "thinking": [{"type": "text", "text": "hm"}]}
    events = written(delta(content=[part]), delta(content="yes"), delta("stop"), thinks=True)
    assert [one["content_block"]["type"] for one in events if "content_block" in one] == ["thinking", "text"]

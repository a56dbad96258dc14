"""Anthropic's wire to any provider: unchanged bytes to Anthropic, an equivalent chat completion to the others."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from typing import Any

import pytest

from proxy.dialects import messages
from proxy.errors import NotFound, UpstreamUnreachable
from proxy.upstream.base import Target, UpstreamCut, UpstreamRequest
from proxy.upstream.demo import DemoUpstream
from proxy.upstream.litellm import LiteLLMUpstream
from proxy.upstream.messages import native_base, over_messages
from proxy.upstream.wire import WireUpstream
from tests.fakes import replies
from tests.fakes.provider import FakeProvider
from tests.fakes.replies import Reply
from tests.upstream.message_bodies import TOOL, TURNS, events_of

pytestmark = [
    pytest.mark.anyio,
    pytest.mark.filterwarnings(
        "ignore:Item '.*' on TypedDict class '.*' is using the `ReadOnly` qualifier:UserWarning"
    ),
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


async def test_anthropic_gets_the_bytes_and_its_key_header(wire, provider):
    target = to(wire, provider, provider="anthropic", base_url=provider.url, model="anthropic/claude-x")
    assert target.model == "claude-x"
    request = asking(("Authorization", "Bearer none"), ("anthropic-version", "2023-06-01"), ("anthropic-beta", "b"))
    status, headers, body = await ask(request, target)
    assert provider.last.body == request.body
    assert provider.last.path == "/v1/messages"
    assert (provider.last.header("x-api-key"), provider.last.header("authorization")) == ("sk-route", None)
    assert (provider.last.header("anthropic-version"), provider.last.header("anthropic-beta")) == ("2023-06-01", "b")
    assert (status, json.loads(body)["content"][0]["text"], headers["x-request-id"]) == (200, "echo: hi", "req_fake")


async def test_clients_own_key_goes_up_as_it_came(wire, provider):
    target = to(wire, provider, provider="anthropic", base_url=provider.url, api_key=None)
    await ask(asking(("Authorization", "Bearer sk-ant-oat01-x")), target)
    assert (provider.last.header("authorization"), provider.last.header("x-api-key")) == (
        "Bearer sk-ant-oat01-x",
        None,
    )


async def test_other_providers_are_asked_by_chat_completion(wire, provider):
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


async def test_key_in_anthropics_header_goes_up_in_openais(wire, provider):
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


async def test_streams_return_as_events_of_a_message(wire, provider):
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
    accumulator = messages.accumulator()
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


async def test_cut_stream_never_looks_like_success(wire, provider):
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

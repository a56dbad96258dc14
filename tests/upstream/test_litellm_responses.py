"""The Responses API over other providers, through LiteLLM, against Anthropic- and Gemini-shaped fakes."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from datetime import timedelta
from typing import Any

import orjson
import pytest

from proxy.clock import ManualClock
from proxy.dialects import responses
from proxy.errors import InvalidRequest, PreviousReplyNotFound, Unauthorized
from proxy.events import split
from proxy.upstream.base import Target, UpstreamRequest
from proxy.upstream.litellm import LiteLLMUpstream
from tests.fakes import replies
from tests.fakes.provider import FakeProvider
from tests.fakes.replies import SSE_HEADERS, Gate, Reply, anthropic_event

pytestmark = [
    pytest.mark.anyio,
    # LiteLLM's types; LiteLLM filters this warning itself, which pytest undoes.
    pytest.mark.filterwarnings(
        "ignore:Item '.*' on TypedDict class '.*' is using the `ReadOnly` qualifier:UserWarning",
        "ignore:Accessing the 'model_.*' attribute on the instance is deprecated:DeprecationWarning",
    ),
]

CLAUDE, GEMINI = "anthropic/claude-sonnet-4-5", "gemini/gemini-2.5-flash"
TOOL = {
    "type": "function",
    "name": "lookup",
    "parameters": {"type": "object", "properties": {"a": {"type": "integer"}}},
}
USAGE = {"input_tokens": 11, "output_tokens": 5}


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


@pytest.fixture
async def upstream(clock: ManualClock) -> AsyncIterator[LiteLLMUpstream]:
    made = LiteLLMUpstream(clock)
    yield made
    await made.aclose()


def to(upstream: LiteLLMUpstream, fake: FakeProvider, model: str = CLAUDE, **more: Any) -> Target:
    given = {"api_key": "sk-ant-route", "provider": model.partition("/")[0], "base_url": fake.url, **more}
    return Target(upstream=upstream, model=model, **given)


def request(given: Any = "hi", *, key: str = "sk-client", **body: Any) -> UpstreamRequest:
    raw = json.dumps({"model": "claude", "input": given, **body}).encode()
    sent = [("authorization", f"Bearer {key}")]
    return UpstreamRequest("POST", "/responses", headers=sent, body=raw, stream=bool(body.get("stream")))


async def ask(upstream: LiteLLMUpstream, asked: UpstreamRequest, target: Target) -> tuple[int, dict[str, str], bytes]:
    response = await upstream.send(asked, target)
    body = b"".join([chunk async for chunk in response.chunks()])
    await response.aclose()
    return response.status, dict(response.headers), body


def events(raw: bytes) -> list[dict[str, Any]]:
    found = split(raw)
    made = [orjson.loads(event.data) for event in found]
    assert [event.name.decode() for event in found] == [one["type"] for one in made]
    assert [one["sequence_number"] for one in made] == list(range(len(made)))
    return made


def folded(raw: bytes) -> Any:
    accumulator = responses.accumulator()
    accumulator.feed(raw)
    return accumulator.result(content_type="text/event-stream")


@pytest.mark.parametrize("model", [CLAUDE, GEMINI])
async def test_a_whole_reply_has_openais_shape(upstream, provider, model):
    asked = request(instructions="be terse", metadata={"a": "b"}, max_output_tokens=50)
    status, headers, raw = await ask(upstream, asked, to(upstream, provider, model))
    body = orjson.loads(raw)
    assert (status, headers["content-type"], body["object"], body["status"]) == (
        *(200, "application/json", "response", "completed"),
    )
    (item,) = body["output"]
    assert (item["type"], item["role"], item["status"]) == ("message", "assistant", "completed")
    assert item["content"] == [{"type": "output_text", "text": "echo: hi", "annotations": [], "logprobs": []}]
    assert (body["instructions"], body["metadata"], body["max_output_tokens"]) == ("be terse", {"a": "b"}, 50)
    assert (body["error"], body["incomplete_details"], body["store"]) == (None, None, True)
    assert {name: body["usage"][name] for name in USAGE} == USAGE
    assert body["usage"]["input_tokens_details"]["cached_tokens"] == 0
    assert "cost" not in body["usage"]
    assert body["id"].startswith("resp_")


@pytest.mark.parametrize("model", [CLAUDE, GEMINI])
async def test_stream_is_numbered_and_ends_with_the_reply(upstream, provider, model):
    status, headers, raw = await ask(upstream, request(stream=True), to(upstream, provider, model))
    made = events(raw)
    assert (status, headers["content-type"]) == (200, "text/event-stream; charset=utf-8")
    assert [made[0]["type"], made[1]["type"], made[-1]["type"]] == [
        *("response.created", "response.in_progress", "response.completed"),
    ]
    assert len({one["response"]["id"] for one in made if "response" in one}) == 1
    assert "".join(one["delta"] for one in made if one["type"] == "response.output_text.delta") == "echo: hi"
    reply = folded(raw)
    assert (reply.text, reply.complete) == ("echo: hi", True)
    assert reply.usage["output_tokens"] == 5


async def test_route_decides_address_and_key(upstream, provider):
    trap = {"api_base": "http://127.0.0.1:1", "api_key": "sk-mine", "base_url": "http://127.0.0.1:1",
            "custom_llm_provider": "openai", "mock_response": "no", "litellm_metadata": {}, "prompt_id": "x"}  # fmt: skip
    status, _, _ = await ask(upstream, request(**trap), to(upstream, provider))
    assert status == 200
    assert provider.last.header("x-api-key") == "sk-ant-route"
    assert provider.last.path == "/v1/messages"
    keyless = UpstreamRequest("POST", "/responses", body=b'{"model":"m","input":"hi"}')
    with pytest.raises(Unauthorized):
        await upstream.send(keyless, to(upstream, provider, api_key=None))


async def test_items_and_tools_are_carried_across(upstream, provider):
    items = [
        {"role": "developer", "content": "be kind"},
        {"role": "user", "content": [{"type": "input_text", "text": "look it up"}]},
        {"type": "function_call", "call_id": "call_1", "name": "lookup", "arguments": '{"a": 1}'},
        {"type": "function_call_output", "call_id": "call_1", "output": "42"},
    ]
    await ask(upstream, request(items, tools=[TOOL], instructions="be terse"), to(upstream, provider))
    sent = provider.last.json
    assert [message["role"] for message in sent["messages"]] == ["user", "assistant", "user"]
    assert sent["messages"][1]["content"][0]["name"] == "lookup"
    assert sent["messages"][2]["content"][0]["tool_use_id"] == "call_1"
    assert "be terse" in json.dumps(sent["system"])
    assert sent["tools"][0]["name"] == "lookup"


def thinking_and_calling() -> Reply:
    message = {"id": "msg_1", "type": "message", "role": "assistant", "model": "claude", "content": [], "usage": USAGE}
    return Reply([anthropic_event(one) for one in [
        {"type": "message_start", "message": {**message, "stop_reason": None}},
        {"type": "content_block_start", "index": 0, "content_block": {"type": "thinking", "thinking": ""}},
        {"type": "content_block_delta", "index": 0, "delta": {"type": "thinking_delta", "thinking": "Hmm."}},
        {"type": "content_block_delta", "index": 0, "delta": {"type": "signature_delta", "signature": "abc="}},
        {"type": "content_block_stop", "index": 0},
        {"type": "content_block_start", "index": 1, "content_block": {"type": "text", "text": ""}},
        {"type": "content_block_delta", "index": 1, "delta": {"type": "text_delta", "text": "Looking."}},
        {"type": "content_block_stop", "index": 1},
        {"type": "content_block_start", "index": 2,
         "content_block": {"type": "tool_use", "id": "toolu_1", "name": "lookup", "input": {}}},
        {"type": "content_block_delta", "index": 2, "delta": {"type": "input_json_delta", "partial_json": '{"a":'}},
        {"type": "content_block_delta", "index": 2, "delta": {"type": "input_json_delta", "partial_json": "1}"}},
        {"type": "content_block_stop", "index": 2},
        {"type": "message_delta", "delta": {"stop_reason": "tool_use", "stop_sequence": None}, "usage": USAGE},
        {"type": "message_stop"},
    ]], headers=SSE_HEADERS)  # fmt: skip


async def test_thoughts_text_and_calls_are_items_in_order(upstream, provider):
    provider.then(thinking_and_calling())
    _, _, raw = await ask(upstream, request(stream=True, tools=[TOOL]), to(upstream, provider))
    made = events(raw)
    added = [one for one in made if one["type"] == "response.output_item.added"]
    assert [one["item"]["type"] for one in added] == ["reasoning", "message", "function_call"]
    assert added[0]["item"]["summary"] == []
    final = made[-1]["response"]
    assert [item["type"] for item in final["output"]] == ["reasoning", "message", "function_call"]
    assert [item["id"] for item in final["output"]] == [one["item"]["id"] for one in added]
    assert final["tools"] == [TOOL]
    reply = folded(raw)
    assert (reply.text, reply.tool_calls[0]["function"]) == ("Looking.", {"name": "lookup", "arguments": '{"a":1}'})


@pytest.mark.parametrize("stream", [False, True])
async def test_reply_out_of_tokens_is_incomplete(upstream, provider, stream):
    provider.then(replies.anthropic("one two", stream_asked=stream, stop_reason="max_tokens"))
    _, _, raw = await ask(upstream, request(stream=stream), to(upstream, provider))
    body = events(raw)[-1]["response"] if stream else orjson.loads(raw)
    assert (body["status"], body["incomplete_details"]) == ("incomplete", {"reason": "max_output_tokens"})


@pytest.mark.parametrize("stream", [False, True])
async def test_a_providers_error_keeps_status_headers_and_words(upstream, provider, stream):
    refused = {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}
    provider.then(
        Reply([json.dumps(refused).encode()], 529, (("Content-Type", "application/json"), ("retry-after", "7")))
    )
    status, headers, raw = await ask(upstream, request(stream=stream), to(upstream, provider))
    assert (status, headers["retry-after"]) == (529, "7")
    assert orjson.loads(raw)["error"]["message"] == "Overloaded"
    assert len(provider.seen) == 1


FULL, HALF = (
    replies.anthropic("one two three four", stream_asked=True),
    replies.gemini("one two three", stream_asked=True),
)
OVERLOADED = anthropic_event({"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}})


@pytest.mark.parametrize(
    ("model", "reply"),
    [
        (CLAUDE, Reply(FULL.chunks[:4], headers=SSE_HEADERS, cut=True)),
        (CLAUDE, Reply(FULL.chunks[:4], headers=SSE_HEADERS)),
        (CLAUDE, Reply([*FULL.chunks[:4], OVERLOADED], headers=SSE_HEADERS)),
        (GEMINI, Reply(HALF.chunks[:1], headers=SSE_HEADERS)),
    ],
)
async def test_a_cut_stream_never_looks_like_success(upstream, provider, model, reply):
    provider.then(reply)
    _, _, raw = await ask(upstream, request(stream=True), to(upstream, provider, model))
    made = events(raw)
    assert made[-1]["type"] == "error"
    assert made[-1]["message"]
    assert not any(one["type"] == "response.completed" for one in made)
    assert not folded(raw).complete
    await _is_not_kept(upstream, provider, made[0]["response"]["id"], model)


async def _is_not_kept(upstream: LiteLLMUpstream, provider: FakeProvider, id_: str, model: str) -> None:
    with pytest.raises(PreviousReplyNotFound):
        await upstream.send(request(previous_response_id=id_), to(upstream, provider, model))


async def test_hanging_up_reaches_the_provider(upstream, provider):
    gate = Gate()
    provider.then(replies.gated(FULL, gate, 4))
    response = await upstream.send(request(stream=True), to(upstream, provider))
    async for _ in response.chunks():
        break
    await response.aclose()
    await provider.hung_up(provider.last)
    gate.open()


# Continuation by a reply's id


@pytest.mark.parametrize("stream", [False, True])
async def test_a_reply_is_continued_by_its_id(upstream, provider, stream):
    async def turn(given: Any, **more: Any) -> dict[str, Any]:
        _, _, raw = await ask(upstream, request(given, stream=stream, **more), to(upstream, provider))
        found: dict[str, Any] = events(raw)[-1]["response"] if stream else orjson.loads(raw)
        return found

    first = await turn("My dog is called Bronko")
    second = await turn("What is it called?", previous_response_id=first["id"])
    assert second["previous_response_id"] == first["id"]
    third = [{"type": "item_reference", "id": first["output"][0]["id"]}, {"role": "user", "content": "again"}]
    await turn(third, previous_response_id=second["id"])
    sent = [message["content"] for message in provider.last.json["messages"]]
    said = [part["text"] for content in sent for part in content]
    assert said[:4] == ["My dog is called Bronko", "echo: My dog is called Bronko", "What is it called?", said[3]]
    assert said[-1] == "again"


@pytest.mark.parametrize("key", ["sk-client", "sk-other"])
async def test_reply_is_continued_by_its_receiver_until_expiry(upstream, provider, clock, key):
    _, _, raw = await ask(upstream, request(), to(upstream, provider))
    if key == "sk-client":
        clock.advance(timedelta(hours=2))
    with pytest.raises(PreviousReplyNotFound) as caught:
        await upstream.send(request(key=key, previous_response_id=orjson.loads(raw)["id"]), to(upstream, provider))
    assert (caught.value.status, caught.value.param) == (400, "previous_response_id")


async def test_reply_not_to_be_stored_is_not_kept(upstream, provider):
    _, _, raw = await ask(upstream, request(store=False), to(upstream, provider))
    await _is_not_kept(upstream, provider, orjson.loads(raw)["id"], CLAUDE)


@pytest.mark.parametrize(
    "more",
    [
        {"tools": [{"type": "file_search", "vector_store_ids": ["vs_1"]}]},
        {"conversation": "conv_1"},
        {"prompt": {"id": "pmpt_1"}},
        {"background": True},
        {"given": []},
        {"given": [{"type": "item_reference", "id": "msg_unknown"}]},
        {"given": 3},
    ],
)
async def test_what_cannot_be_carried_across_is_refused(upstream, provider, more):
    with pytest.raises(InvalidRequest):
        await upstream.send(request(**more), to(upstream, provider))
    assert not provider.seen


@pytest.mark.parametrize("stream", [False, True])
async def test_chat_only_server_is_asked_by_chat_completions(upstream, provider, stream):
    target = Target(
        upstream=upstream, model=None, base_url=provider.base_url, provider="openai_like",
        params={"use_chat_completions_api": True},
    )  # fmt: skip
    named = {"user": "u", "safety_identifier": "s", "service_tier": "flex"}
    more = {**named, "text": {"verbosity": "low"}, "chat_template_kwargs": {"x": 1}, "top_k": 3}
    _, _, raw = await ask(upstream, request(stream=stream, **more), target)
    assert provider.last.path == "/v1/chat/completions"
    assert provider.last.header("authorization") == "Bearer sk-client"
    sent = provider.last.json
    assert (sent["model"], sent["messages"]) == ("claude", [{"role": "user", "content": "hi"}])
    assert (sent["chat_template_kwargs"], sent["top_k"]) == ({"x": 1}, 3)
    assert {name: sent[name] for name in (*named, "verbosity")} == {**named, "verbosity": "low"}
    body = events(raw)[-1]["response"] if stream else orjson.loads(raw)
    assert body["output"][0]["content"][0]["text"] == "echo: hi"


@pytest.mark.parametrize("stream", [False, True])
async def test_provider_with_the_wire_is_asked_on_it(upstream, provider, stream):
    version = {"api_version": "2025-04-01-preview"}
    target = to(upstream, provider, "azure/gpt-4o", base_url=provider.url, params=version)
    more = {"store": True, "metadata": {"a": "b"}, "tools": [{"type": "file_search", "vector_store_ids": ["vs_1"]}]}
    asked = request(previous_response_id="resp_of_azure", stream=stream, **more)
    _, _, raw = await ask(upstream, asked, target)
    assert provider.last.path.endswith("/responses")
    sent = provider.last.json
    assert sent["previous_response_id"] == "resp_of_azure"
    assert {name: sent[name] for name in more} == more
    body = events(raw)[-1]["response"] if stream else orjson.loads(raw)
    assert body["output"][0]["content"][0]["text"] == "echo: hi"
    assert body["status"] == "completed"


async def test_numbers_beyond_64_bits_survive(upstream, provider):
    raw = b'{"model":"claude","input":"hi","metadata":{"n":' + b"9" * 40 + b"}}"
    asked = UpstreamRequest("POST", "/responses", headers=[("authorization", "Bearer k")], body=raw)
    _, _, body = await ask(upstream, asked, to(upstream, provider))
    assert json.loads(body)["metadata"]["n"] == int("9" * 40)

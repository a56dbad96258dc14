"""Other providers' wires through LiteLLM, over real sockets against Anthropic- and Gemini-shaped fakes."""

from __future__ import annotations

import json
import time
from collections.abc import AsyncIterator
from contextlib import suppress
from typing import Any

import orjson
import pytest
from openai.lib.streaming.chat import ChatCompletionStreamState
from openai.types.chat import ChatCompletionChunk

from proxy.dialects.chat import ReplyAccumulator
from proxy.errors import (
    CallRefused,
    InvalidRequest,
    NotFound,
    ProxyError,
    Unauthorized,
    UpstreamTimeout,
    UpstreamUnreachable,
)
from proxy.upstream import litellm
from proxy.upstream.base import Target, UpstreamRequest
from proxy.upstream.litellm import LiteLLMUpstream
from tests.fakes import replies
from tests.fakes.provider import FakeProvider
from tests.fakes.replies import Gate, Hang, Reply

pytestmark = [
    pytest.mark.anyio,
    # LiteLLM's types; it filters this one itself, which pytest undoes.
    pytest.mark.filterwarnings(
        "ignore:Item '.*' on TypedDict class '.*' is using the `ReadOnly` qualifier:UserWarning"
    ),
]

MESSAGES = [{"role": "user", "content": "hi"}]
CLAUDE, GEMINI = "anthropic/claude-sonnet-4-5", "gemini/gemini-2.5-flash"


@pytest.fixture
async def upstream() -> AsyncIterator[LiteLLMUpstream]:
    made = LiteLLMUpstream()
    yield made
    await made.aclose()


def to(upstream: LiteLLMUpstream, fake: FakeProvider, model: str = CLAUDE, **more: Any) -> Target:
    given = {"api_key": "sk-ant-route", "provider": model.partition("/")[0], "base_url": fake.url, **more}
    return Target(upstream=upstream, model=model, **given)


def chat(*sent: tuple[str, str], **body: Any) -> UpstreamRequest:
    raw = json.dumps({"model": "claude", "messages": MESSAGES, **body}).encode()
    return UpstreamRequest("POST", "/chat/completions", headers=sent, body=raw, stream=bool(body.get("stream")))


async def ask(upstream: LiteLLMUpstream, request: UpstreamRequest, target: Target) -> tuple[int, dict[str, str], bytes]:
    response = await upstream.send(request, target)
    body = b"".join([chunk async for chunk in response.chunks()])
    await response.aclose()
    return response.status, dict(response.headers), body


def events(body: bytes) -> list[Any]:
    lines = [one.removeprefix(b"data: ") for one in body.split(b"\n\n") if one]
    return [orjson.loads(line) if line != b"[DONE]" else "[DONE]" for line in lines]


@pytest.mark.parametrize("model", [CLAUDE, GEMINI])
async def test_whole_reply_has_openais_shape_with_its_nulls(upstream, provider, model):
    status, headers, raw = await ask(upstream, chat(), to(upstream, provider, model))
    body = orjson.loads(raw)
    assert (status, headers["content-type"]) == (200, "application/json")
    assert headers["x-request-id"].startswith("req_")
    assert set(body) == {"id", "object", "created", "model", "system_fingerprint", "choices", "usage"}
    assert body["choices"] == [
        {
            "index": 0,
            "message": {"role": "assistant", "content": "echo: hi", "refusal": None},
            "logprobs": None,
            "finish_reason": "stop",
        }
    ]
    assert [body["usage"][name] for name in ("prompt_tokens", "completion_tokens", "total_tokens")] == [11, 5, 16]
    assert None not in body["usage"].values()


@pytest.mark.parametrize("model", [CLAUDE, GEMINI])
@pytest.mark.parametrize("include_usage", [True, False])
async def test_stream_has_openais_shape(upstream, provider, model, include_usage):
    options = {"stream_options": {"include_usage": True}} if include_usage else {}
    status, headers, raw = await ask(upstream, chat(stream=True, **options), to(upstream, provider, model))
    *chunks, done = events(raw)
    assert (status, headers["content-type"]) == (200, "text/event-stream; charset=utf-8")
    assert (done, raw.count(b"[DONE]")) == ("[DONE]", 1)
    counted = chunks.pop() if include_usage else None
    assert [chunk["choices"][0]["finish_reason"] for chunk in chunks] == [None] * (len(chunks) - 1) + ["stop"]
    assert [chunk["choices"][0]["delta"].get("role") for chunk in chunks] == ["assistant"] + [None] * (len(chunks) - 1)
    assert all("logprobs" in chunk["choices"][0] for chunk in chunks)
    assert all(("usage" in chunk) == include_usage and chunk.get("usage") is None for chunk in chunks)
    if counted is not None:
        assert (counted["choices"], counted["usage"]["total_tokens"]) == ([], 16)
    accumulator = ReplyAccumulator()
    accumulator.feed(raw)
    reply = accumulator.result(content_type=headers["content-type"])
    assert (reply.text, reply.complete, reply.finish_reason) == ("echo: hi", True, "stop")


@pytest.mark.parametrize(("model", "held_after", "text"), [(CLAUDE, 4, "one"), (GEMINI, 1, "one two")])
async def test_events_leave_at_once_and_a_hang_up_reaches_the_provider(upstream, provider, model, held_after, text):
    made = replies.anthropic if model == CLAUDE else replies.gemini
    provider.then(replies.gated(made("one two three four", stream_asked=True), Gate(), after=held_after))
    response = await upstream.send(chat(stream=True), to(upstream, provider, model))
    first = await anext(response.chunks())
    assert events(first)[0]["choices"][0]["delta"]["content"].startswith(text)
    closed_at = time.monotonic()
    await response.aclose()
    assert await provider.hung_up(provider.last) - closed_at < 1.0


async def test_row_80_neither_keys_nor_prompts_are_written_anywhere(upstream, provider, capfd, caplog):
    secret_prompt = [{"role": "user", "content": "my diary"}]
    provider.then(replies.json_reply({"error": {"type": "x", "message": "no"}}, 400), Hang())
    for sent in ([], [("x-stainless-read-timeout", "0.2")], []):
        with suppress(UpstreamTimeout):
            await ask(upstream, chat(*sent, messages=secret_prompt), to(upstream, provider, api_key="sk-ant-secret"))
    written = "".join(capfd.readouterr()) + caplog.text
    assert "sk-ant-secret" not in written
    assert "my diary" not in written


async def test_clients_own_key_goes_up_where_the_route_has_none(upstream, provider):
    target = to(upstream, provider, api_key=None)
    await ask(upstream, chat(("Authorization", "Bearer sk-ant-client")), target)
    assert provider.last.header("x-api-key") == "sk-ant-client"


async def test_without_any_key_nothing_is_sent(upstream, provider):
    with pytest.raises(Unauthorized):
        await upstream.send(chat(), to(upstream, provider, api_key=None))
    target = to(upstream, provider, api_key=None, forwards_auth=False)
    with pytest.raises(Unauthorized):
        await upstream.send(chat(("Authorization", "Bearer ours")), target)
    assert provider.seen == []


async def test_a_body_cannot_redirect_the_request_or_the_key(upstream, provider):
    with FakeProvider() as thief:
        stolen = {
            "api_base": thief.url,
            "base_url": thief.url,
            "api_key": "sk-other",
            "custom_llm_provider": "openai",
            "extra_headers": {"x-api-key": "sk-other"},
            "headers": {"x-api-key": "sk-other"},
            "mock_response": "made up",
            "model_list": [],
            "fallbacks": [{"model": "openai/x", "api_base": thief.url}],
            "litellm_params": {"api_base": thief.url},
            "extra_body": {"system": "stolen"},
            "timeout": 0.001,
            "num_retries": 5,
        }
        status, _, body = await ask(upstream, chat(**stolen), to(upstream, provider))
        assert (status, orjson.loads(body)["choices"][0]["message"]["content"]) == (200, "echo: hi")
        assert thief.seen == []
        assert provider.last.header("x-api-key") == "sk-ant-route"
        assert set(provider.last.json) <= {"model", "messages", "max_tokens"}


async def test_providers_own_fields_go_up(upstream, provider):
    thinking = {"type": "enabled", "budget_tokens": 1024}
    request = chat(top_k=5, thinking=thinking, temperature=1.0, max_tokens=2000, user="u1", logit_bias={"1": 2})
    await ask(upstream, request, to(upstream, provider, "anthropic/claude-brand-new"))
    sent = provider.last.json
    assert (sent["top_k"], sent["thinking"], sent["max_tokens"]) == (5, thinking, 2000)
    assert sent["model"] == "claude-brand-new"
    assert "logit_bias" not in sent


async def test_system_cache_control_and_tools_go_up(upstream, provider):
    messages = [
        {"role": "system", "content": [{"type": "text", "text": "be kind", "cache_control": {"type": "ephemeral"}}]},
        *MESSAGES,
    ]
    tool = {"type": "function", "function": {"name": "f", "description": "d", "parameters": {"type": "object"}}}
    await ask(upstream, chat(messages=messages, tools=[tool]), to(upstream, provider))
    sent = provider.last.json
    assert sent["system"] == [{"type": "text", "text": "be kind", "cache_control": {"type": "ephemeral"}}]
    assert sent["tools"][0]["name"] == "f"


async def test_defaults_of_the_deployment_give_way_to_the_client(upstream, provider):
    params = {"temperature": 0.5, "max_tokens": 7, "rpm": 3}
    await ask(upstream, chat(temperature=0.1), to(upstream, provider, params=params))
    assert (provider.last.json["temperature"], provider.last.json["max_tokens"]) == (0.1, 7)


def tool_stream() -> Reply:
    start = replies.anthropic("", stream_asked=True).chunks[0]
    blocks: list[dict[str, Any]] = []
    for index, name in enumerate(["f", "g"]):
        block = {"type": "tool_use", "id": f"toolu_{name}", "name": name, "input": {}}
        blocks += [
            {"type": "content_block_start", "index": index, "content_block": block},
            {
                "type": "content_block_delta",
                "index": index,
                "delta": {"type": "input_json_delta", "partial_json": '{"x"'},
            },
            {
                "type": "content_block_delta",
                "index": index,
                "delta": {"type": "input_json_delta", "partial_json": ":1}"},
            },
            {"type": "content_block_stop", "index": index},
        ]
    end: list[dict[str, Any]] = [
        {"type": "message_delta", "delta": {"stop_reason": "tool_use"}, "usage": {"output_tokens": 9}},
        {"type": "message_stop"},
    ]
    made = [replies.anthropic_event(one) for one in blocks + end]
    return Reply([start, *made], headers=replies.SSE_HEADERS)


async def test_tool_calls_stream_with_each_id_and_name_once(upstream, provider):
    provider.then(tool_stream())
    _, _, raw = await ask(upstream, chat(stream=True), to(upstream, provider))
    deltas = [chunk["choices"][0]["delta"] for chunk in events(raw)[:-1]]
    calls = [call for delta in deltas for call in delta.get("tool_calls", [])]
    assert all(isinstance(call["index"], int) for call in calls)
    assert [call["id"] for call in calls if "id" in call] == ["toolu_f", "toolu_g"]
    assert [call["function"]["name"] for call in calls if "name" in call["function"]] == ["f", "g"]
    accumulator = ReplyAccumulator()
    accumulator.feed(raw)
    reply = accumulator.result(content_type="text/event-stream")
    assert [call["function"]["arguments"] for call in reply.tool_calls] == ['{"x":1}', '{"x":1}']
    assert reply.finish_reason == "tool_calls"


def thinking_stream() -> Reply:
    start, *_ = replies.anthropic("", stream_asked=True).chunks
    made: list[dict[str, Any]] = [
        {"type": "content_block_start", "index": 0, "content_block": {"type": "thinking", "thinking": ""}},
        {"type": "content_block_delta", "index": 0, "delta": {"type": "thinking_delta", "thinking": "hmm"}},
        {"type": "content_block_delta", "index": 0, "delta": {"type": "signature_delta", "signature": "sig"}},
        {"type": "content_block_stop", "index": 0},
        {"type": "content_block_start", "index": 1, "content_block": {"type": "text", "text": ""}},
        {"type": "content_block_delta", "index": 1, "delta": {"type": "text_delta", "text": "yes"}},
        {"type": "content_block_stop", "index": 1},
        {"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {"output_tokens": 9}},
        {"type": "message_stop"},
    ]
    return Reply([start, *map(replies.anthropic_event, made)], headers=replies.SSE_HEADERS)


async def test_streamed_thoughts_have_an_index(upstream, provider):
    provider.then(thinking_stream())
    _, _, raw = await ask(upstream, chat(stream=True), to(upstream, provider))
    deltas = [chunk["choices"][0]["delta"] for chunk in events(raw)[:-1]]
    blocks = [block for delta in deltas for block in delta.get("thinking_blocks", [])]
    assert blocks
    assert {block["index"] for block in blocks} == {0}
    assert "".join(delta.get("reasoning_content", "") for delta in deltas) == "hmm"
    assert "".join(delta.get("content") or "" for delta in deltas) == "yes"


@pytest.mark.parametrize("scripted", [tool_stream, thinking_stream])
async def test_openais_own_sdk_accumulates_the_stream(upstream, provider, scripted):
    provider.then(scripted())
    options = {"include_usage": True}
    _, _, raw = await ask(upstream, chat(stream=True, stream_options=options), to(upstream, provider))
    state = ChatCompletionStreamState()
    for chunk in events(raw)[:-1]:
        state.handle_chunk(ChatCompletionChunk.model_validate(chunk))
    whole = state.get_final_completion()
    assert whole.choices[0].finish_reason in ("stop", "tool_calls")
    assert whole.usage is not None


@pytest.mark.parametrize(
    ("status", "kind"),
    [
        (400, "invalid_request_error"),
        (401, "authentication_error"),
        (403, "permission_error"),
        (404, "not_found_error"),
        (413, "request_too_large"),
        (429, "rate_limit_error"),
        (500, "api_error"),
        (529, "overloaded_error"),
    ],
)
@pytest.mark.parametrize("stream", [False, True])
async def test_errors_keep_status_type_headers_and_message(upstream, provider, status, kind, stream):
    body = {"type": "error", "error": {"type": kind, "message": "said the provider"}}
    headers = (*replies.JSON_HEADERS[:1], ("retry-after", "7"), ("request-id", "req_abc"), ("x-should-retry", "true"))
    provider.then(replies.json_reply(body, status, headers))
    got, found, raw = await ask(upstream, chat(stream=stream), to(upstream, provider))
    assert got == status
    assert (found["retry-after"], found["x-request-id"], found["x-should-retry"]) == ("7", "req_abc", "true")
    error = orjson.loads(raw)["error"]
    assert error == {"message": "said the provider", "type": kind, "param": None, "code": kind}
    assert len(provider.seen) == 1


async def test_geminis_errors_keep_their_status_word(upstream, provider):
    body = {"error": {"code": 429, "message": "quota", "status": "RESOURCE_EXHAUSTED"}}
    provider.then(replies.json_reply(body, 429))
    status, _, raw = await ask(upstream, chat(), to(upstream, provider, GEMINI))
    error = orjson.loads(raw)["error"]
    assert (status, error["message"], error["code"]) == (429, "quota", "RESOURCE_EXHAUSTED")


async def test_a_window_that_overflowed_has_openais_code(upstream, provider):
    message = "prompt is too long: 300000 tokens > 200000 maximum"
    body = {"type": "error", "error": {"type": "invalid_request_error", "message": message}}
    provider.then(replies.json_reply(body, 400))
    _, _, raw = await ask(upstream, chat(), to(upstream, provider))
    assert orjson.loads(raw)["error"]["code"] == "context_length_exceeded"


async def test_an_error_in_the_middle_ends_the_stream_without_done(upstream, provider):
    scripted = replies.anthropic("one two", stream_asked=True).chunks[:4]
    error = {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}
    provider.then(Reply([*scripted, replies.anthropic_event(error)], headers=replies.SSE_HEADERS))
    _, _, raw = await ask(upstream, chat(stream=True), to(upstream, provider))
    *_, last = events(raw)
    assert "Overloaded" in last["error"]["message"]
    assert b"[DONE]" not in raw


@pytest.mark.parametrize("model", [CLAUDE, GEMINI])
@pytest.mark.parametrize("cut", [True, False])
async def test_row_41_a_cut_stream_never_looks_like_success(upstream, provider, model, cut):
    made = replies.anthropic if model == CLAUDE else replies.gemini
    chunks = made("one two three", stream_asked=True).chunks
    provider.then(Reply(chunks[: 4 if model == CLAUDE else 1], headers=replies.SSE_HEADERS, cut=cut, framing="chunked"))
    _, _, raw = await ask(upstream, chat(stream=True), to(upstream, provider, model))
    *said, last = events(raw)
    assert "error" in last
    assert b"[DONE]" not in raw
    assert all(chunk["choices"][0]["finish_reason"] is None for chunk in said)


async def test_row_49_an_html_error_page_is_a_502_in_shape(upstream, provider):
    provider.then(replies.html(503))
    with pytest.raises(UpstreamUnreachable, match="503 with an HTML page"):
        await upstream.send(chat(), to(upstream, provider))


async def test_row_47_there_is_always_a_request_id(upstream, provider):
    provider.then(replies.json_reply({"type": "error", "error": {"type": "x", "message": "no"}}, 400, ()))
    _, headers, _ = await ask(upstream, chat(), to(upstream, provider))
    assert headers["x-request-id"].startswith("req_")


async def test_a_provider_out_of_reach_is_a_502(upstream, provider):
    with pytest.raises(UpstreamUnreachable, match="anthropic"):
        await upstream.send(chat(), to(upstream, provider, base_url="http://127.0.0.1:9"))


async def test_silence_is_a_504(upstream, provider):
    provider.then(Hang())
    with pytest.raises(UpstreamTimeout):
        await upstream.send(chat(("x-stainless-read-timeout", "0.2")), to(upstream, provider))
    assert len(provider.seen) == 1


async def test_other_paths_and_broken_bodies_are_ours_to_refuse(upstream, provider):
    target = to(upstream, provider)
    with pytest.raises(NotFound):
        await upstream.send(UpstreamRequest("POST", "/embeddings"), target)
    for raw in (b"{", b"[]", b'{"model":"m"}', b'{"model":"m","messages":[]}'):
        with pytest.raises(InvalidRequest):
            await upstream.send(UpstreamRequest("POST", "/chat/completions", body=raw), target)


async def test_background_call_gets_text_usage_and_cost(upstream, provider):
    provider.then(replies.anthropic('{"facts": []}', stream_asked=False))
    schema = {"type": "object", "properties": {"facts": {"type": "array", "items": {"type": "string"}}}}
    got = await litellm.complete(
        model=CLAUDE, messages=MESSAGES, schema=schema, api_key="sk-ant-operator", base_url=provider.url, timeout_s=5
    )
    assert (got.text, got.usage["total_tokens"]) == ('{"facts": []}', 16)
    assert got.cost_usd > 0
    assert provider.last.header("x-api-key") == "sk-ant-operator"


@pytest.mark.parametrize(
    ("status", "said", "kind"),
    [
        (400, "no credit", UpstreamUnreachable),
        (401, "unknown key", UpstreamUnreachable),
        (500, "oops", UpstreamUnreachable),
        (400, "the prompt is odd", CallRefused),
        (413, "too long", CallRefused),
    ],
)
async def test_background_call_that_fails_says_how_and_whose_fault_it_is(upstream, provider, status, said, kind):
    provider.then(replies.json_reply({"type": "error", "error": {"type": "x", "message": said}}, status))
    with pytest.raises(ProxyError, match=f"answered {status}: {said}") as raised:
        await litellm.complete(model=CLAUDE, messages=MESSAGES, api_key="k", base_url=provider.url)
    assert type(raised.value) is kind

"""Other providers' wires through LiteLLM, over real sockets against Anthropic- and Gemini-shaped fakes."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import time
from contextlib import suppress
from typing import Any

import orjson
import pytest
from openai.lib.streaming.chat import ChatCompletionStreamState
from openai.types.chat import ChatCompletionChunk

from proxy.dialects import chat as chat_wire
from proxy.errors import InvalidRequest, Unauthorized, UpstreamTimeout, UpstreamUnreachable
from proxy.process.threads import spawn
from proxy.upstream import litellm
from tests.fakes import replies
from tests.fakes.provider import FakeProvider
from tests.fakes.replies import Gate, Hang, Raw, Reply
from tests.upstream.through_litellm import CLAUDE, GEMINI, MESSAGES, ask, chat, events, to, upstream

__all__ = ["upstream"]

pytestmark = [
    pytest.mark.anyio,
    # LiteLLM's types; it filters this one itself, which pytest undoes.
    pytest.mark.filterwarnings(
        "ignore:Item '.*' on TypedDict class '.*' is using the `ReadOnly` qualifier:UserWarning"
    ),
]

IMPORTED_BEFORE = """
import asyncio, sys, warnings
with warnings.catch_warnings():
    import litellm
from proxy.upstream.litellm import complete
said = [{"role": "user", "content": "hi"}]
reply = asyncio.run(complete(model="openai/any", messages=said, api_key="sk-test", base_url=sys.argv[1]))
print(reply.text)
"""


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
    accumulator = chat_wire.accumulator()
    accumulator.feed(raw)
    reply = accumulator.result(content_type=headers["content-type"])
    assert (reply.text, reply.complete, reply.finish_reason) == ("echo: hi", True, "stop")


@pytest.mark.parametrize(("model", "held_after", "text"), [(CLAUDE, 4, "one"), (GEMINI, 1, "one two")])
async def test_events_leave_at_once_and_hang_up_arrives(upstream, provider, model, held_after, text):
    made = replies.anthropic if model == CLAUDE else replies.gemini
    provider.then(replies.gated(made("one two three four", stream_asked=True), Gate(), after=held_after))
    response = await upstream.send(chat(stream=True), to(upstream, provider, model))
    first = await anext(response.chunks())
    assert events(first)[0]["choices"][0]["delta"]["content"].startswith(text)
    closed_at = time.monotonic()
    await response.aclose()
    assert await provider.hung_up(provider.last) - closed_at < 20


def broken(kind: bytes, start: bytes, gate: Gate, held: Gate) -> Raw:
    """A reply that ends in a broken chunk while the provider keeps its connection open."""
    head = b"HTTP/1.1 200 OK\r\nContent-Type: " + kind + b"\r\nTransfer-Encoding: chunked\r\n\r\n"
    return Raw([head + b"%x\r\n%b\r\n" % (len(start), start), gate, b"zz\r\nboo", held])


async def test_row_41_broken_chunk_ends_a_stream(upstream, provider):
    gate, held = Gate(), Gate()
    start = b"".join(replies.anthropic("one two", stream_asked=True).chunks[:4])
    provider.then(broken(b"text/event-stream", start, gate, held))
    response = await upstream.send(chat(stream=True), to(upstream, provider))
    gate.open()
    try:
        async with asyncio.timeout(20):
            body = b"".join([chunk async for chunk in response.chunks()])
    finally:
        held.open()
        await response.aclose()
    assert b"[DONE]" not in body


async def test_row_41_broken_chunk_ends_a_whole_reply(upstream, provider):
    gate, held = Gate(), Gate()
    provider.then(broken(b"application/json", b'{"id":"msg",', gate, held))

    async def go_on() -> None:
        await provider.requests()
        gate.open()

    spawn(go_on(), "let the reply go on")
    try:
        with pytest.raises(UpstreamUnreachable):
            async with asyncio.timeout(20):
                await ask(upstream, chat(), to(upstream, provider))
    finally:
        held.open()


async def test_row_80_no_keys_or_prompts_are_written(upstream, provider, capfd, caplog):
    secret_prompt = [{"role": "user", "content": "my diary"}]
    provider.then(replies.json_reply({"error": {"type": "x", "message": "no"}}, 400), Hang())
    for sent in ([], [("x-stainless-read-timeout", "0.2")], []):
        with suppress(UpstreamTimeout):
            await ask(upstream, chat(*sent, messages=secret_prompt), to(upstream, provider, api_key="sk-ant-secret"))
    written = "".join(capfd.readouterr()) + caplog.text
    assert "sk-ant-secret" not in written
    assert "my diary" not in written


async def test_clients_key_goes_up_on_a_keyless_route(upstream, provider):
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


async def test_body_cannot_redirect_request_or_key(upstream, provider):
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


@pytest.mark.parametrize(
    ("model", "refused", "more"),
    [
        (CLAUDE, "tools", {"tools": [{"type": "custom", "custom": {"name": "sql"}}]}),
        (GEMINI, "tools", {"tools": [{"type": "custom", "custom": {"name": "sql"}}]}),
        (CLAUDE, "functions", {"functions": [{"name": "f", "parameters": {"type": "object"}}]}),
        (CLAUDE, "functions", {"messages": [*MESSAGES, {"role": "function", "name": "f", "content": "1"}]}),
        (CLAUDE, "messages", {"messages": [{"role": "user", "content": [{"type": "input_audio", "input_audio": {}}]}]}),
        (CLAUDE, "messages", {"messages": [{"role": "user", "content": [{"type": "something_new"}]}]}),
        (GEMINI, "messages", {"messages": [{"role": "user", "content": [{"type": "something_new"}]}]}),
    ],
)
async def test_what_the_model_would_not_see_is_refused(upstream, provider, model, refused, more):
    with pytest.raises(InvalidRequest) as caught:
        await upstream.send(chat(**more), to(upstream, provider, model))
    assert caught.value.param == refused
    assert not provider.seen


async def test_allowed_tools_are_the_tools_that_go_up(upstream, provider):
    tools = [{"type": "function", "function": {"name": name, "parameters": {"type": "object"}}} for name in "fg"]
    allowed = {"mode": "required", "tools": [{"type": "function", "function": {"name": "g"}}]}
    choice = {"type": "allowed_tools", "allowed_tools": allowed}
    await ask(upstream, chat(tools=tools, tool_choice=choice), to(upstream, provider))
    assert [one["name"] for one in provider.last.json["tools"]] == ["g"]
    assert provider.last.json["tool_choice"] == {"type": "any"}


async def test_clients_values_override_the_deployments_defaults(upstream, provider):
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


async def test_tool_calls_stream_each_id_once(upstream, provider):
    provider.then(tool_stream())
    _, _, raw = await ask(upstream, chat(stream=True), to(upstream, provider))
    deltas = [chunk["choices"][0]["delta"] for chunk in events(raw)[:-1]]
    calls = [call for delta in deltas for call in delta.get("tool_calls", [])]
    assert all(isinstance(call["index"], int) for call in calls)
    assert [call["id"] for call in calls if "id" in call] == ["toolu_f", "toolu_g"]
    assert [call["function"]["name"] for call in calls if "name" in call["function"]] == ["f", "g"]
    accumulator = chat_wire.accumulator()
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


async def test_background_call_gets_text_usage_and_cost(upstream, provider):
    provider.then(replies.anthropic('{"facts": []}', stream_asked=False))
    schema = {"type": "object", "properties": {"facts": {"type": "array", "items": {"type": "string"}}}}
    got = await litellm.complete(
        model=CLAUDE, messages=MESSAGES, schema=schema, api_key="sk-ant-operator", base_url=provider.url, timeout_s=5
    )
    assert (got.text, got.usage["total_tokens"]) == ('{"facts": []}', 16)
    assert got.cost_usd > 0
    assert provider.last.header("x-api-key") == "sk-ant-operator"


def test_import_by_others_and_strict_warnings_are_survived(provider: FakeProvider):
    command = [sys.executable, "-W", "error::UserWarning", "-c", IMPORTED_BEFORE, provider.base_url]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    assert done.stdout.strip()

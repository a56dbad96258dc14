"""Failures of other providers, in OpenAI's shape."""

from __future__ import annotations

import orjson
import pytest

from proxy.errors import (
    CallRefused,
    InvalidRequest,
    NotFound,
    ProxyError,
    UpstreamTimeout,
    UpstreamUnreachable,
)
from proxy.upstream import litellm
from proxy.upstream.base import UpstreamRequest
from tests.fakes import replies
from tests.fakes.replies import Hang, Reply
from tests.upstream.through_litellm import CLAUDE, GEMINI, MESSAGES, ask, chat, events, to, upstream

__all__ = ["upstream"]

pytestmark = [
    pytest.mark.anyio,
    # LiteLLM's types; LiteLLM filters this warning itself, which pytest undoes.
    pytest.mark.filterwarnings(
        "ignore:Item '.*' on TypedDict class '.*' is using the `ReadOnly` qualifier:UserWarning"
    ),
]


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


async def test_error_midway_ends_the_stream_without_done(upstream, provider):
    scripted = replies.anthropic("one two", stream_asked=True).chunks[:4]
    error = {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}
    provider.then(Reply([*scripted, replies.anthropic_event(error)], headers=replies.SSE_HEADERS))
    _, _, raw = await ask(upstream, chat(stream=True), to(upstream, provider))
    *_, last = events(raw)
    assert "Overloaded" in last["error"]["message"]
    assert b"[DONE]" not in raw


@pytest.mark.parametrize("model", [CLAUDE, GEMINI])
@pytest.mark.parametrize("cut", [True, False])
async def test_row_41_cut_stream_never_looks_like_success(upstream, provider, model, cut):
    made = replies.anthropic if model == CLAUDE else replies.gemini
    chunks = made("one two three", stream_asked=True).chunks
    provider.then(Reply(chunks[: 4 if model == CLAUDE else 1], headers=replies.SSE_HEADERS, cut=cut, framing="chunked"))
    _, _, raw = await ask(upstream, chat(stream=True), to(upstream, provider, model))
    *said, last = events(raw)
    assert "error" in last
    assert b"[DONE]" not in raw
    assert all(chunk["choices"][0]["finish_reason"] is None for chunk in said)


async def test_row_49_html_error_page_is_502_in_shape(upstream, provider):
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


async def test_other_paths_and_broken_bodies_are_refused_here(upstream, provider):
    target = to(upstream, provider)
    with pytest.raises(NotFound):
        await upstream.send(UpstreamRequest("POST", "/embeddings"), target)
    for raw in (b"{", b"[]", b'{"model":"m"}', b'{"model":"m","messages":[]}'):
        with pytest.raises(InvalidRequest):
            await upstream.send(UpstreamRequest("POST", "/chat/completions", body=raw), target)


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
async def test_failed_background_call_names_cause_and_side(upstream, provider, status, said, kind):
    provider.then(replies.json_reply({"type": "error", "error": {"type": "x", "message": said}}, status))
    with pytest.raises(ProxyError, match=f"answered {status}: {said}") as raised:
        await litellm.complete(model=CLAUDE, messages=MESSAGES, api_key="k", base_url=provider.url)
    assert type(raised.value) is kind

"""Requests forwarded through LiteLLM."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from typing import Any

import orjson
import pytest

from proxy.upstream.base import Target, UpstreamRequest
from proxy.upstream.litellm import LiteLLMUpstream
from tests.fakes.provider import FakeProvider

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

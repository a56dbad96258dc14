"""Calls to the operator's model over a real socket."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from proxy.errors import CallRefused
from proxy.memory.model.call import Complete, ModelAccess, connect
from proxy.upstream.litellm import LiteLLMUpstream
from tests.fakes import replies
from tests.fakes.provider import FakeProvider

pytestmark = [
    pytest.mark.anyio,
    pytest.mark.filterwarnings(
        "ignore:Item '.*' on TypedDict class '.*' is using the `ReadOnly` qualifier:UserWarning"
    ),
]

SCHEMA = {"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"], "additionalProperties": False}
MESSAGES = [{"role": "user", "content": "Answer."}]


@pytest.fixture
async def complete(provider: FakeProvider) -> AsyncIterator[Complete]:
    yield connect(ModelAccess("openai/small", "sk-operator", provider.base_url))
    await LiteLLMUpstream().aclose()


async def ask(complete: Complete, max_tokens: int | None = 120) -> str | None:
    reply = await complete(model="openai/small", messages=MESSAGES, schema=SCHEMA, timeout_s=5.0, max_tokens=max_tokens)
    return reply.text


async def test_temperature_limit_and_schema_are_sent(complete: Complete, provider: FakeProvider) -> None:
    provider.then(replies.json_reply(replies.completion('{"a": "b"}')))
    assert await ask(complete) == '{"a": "b"}'
    sent = provider.last.json
    assert (sent["temperature"], sent["max_tokens"]) == (0.0, 120)
    assert sent["response_format"]["json_schema"]["schema"] == SCHEMA
    assert provider.last.header("authorization") == "Bearer sk-operator"


async def test_no_limit_sends_no_max_tokens(complete: Complete, provider: FakeProvider) -> None:
    provider.then(replies.json_reply(replies.completion("{}")))
    await ask(complete, max_tokens=None)
    assert "max_tokens" not in provider.last.json


async def test_finish_reason_and_refusal_are_returned(complete: Complete, provider: FakeProvider) -> None:
    body = replies.completion("")
    body["choices"][0]["finish_reason"] = "length"
    body["choices"][0]["message"]["refusal"] = "I can't help with that."
    provider.then(replies.json_reply(body))
    reply = await complete(model="openai/small", messages=MESSAGES, schema=SCHEMA, timeout_s=5.0)
    assert (reply.finish_reason, reply.refusal) == ("length", "I can't help with that.")
    assert reply.prompt_tokens > 0


@pytest.mark.parametrize(
    "said",
    [
        "This response_format type is unavailable now",
        "'response_format.type' must be 'text'",
        "Failed to initialize samplers: failed to parse grammar",
        "Invalid schema for response_format 'answer': 'maxItems' is not permitted.",
    ],
)
async def test_refused_schema_is_left_out_from_then_on(complete: Complete, provider: FakeProvider, said: str) -> None:
    provider.then(replies.error(400, said))
    for text in ("first", "second"):
        provider.then(replies.json_reply(replies.completion(text)))
        assert await ask(complete) == text
    assert ["response_format" in seen.json for seen in provider.seen] == [True, False, False]
    assert provider.last.json["max_tokens"] == 120


async def test_other_refusals_are_raised(complete: Complete, provider: FakeProvider) -> None:
    provider.then(replies.error(400, "messages is too long"))
    with pytest.raises(CallRefused, match="too long"):
        await ask(complete)
    assert len(provider.seen) == 1

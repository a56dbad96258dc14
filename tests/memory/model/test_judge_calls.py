"""Calls of the judge: one per pause, with a schema, retried once, metered."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

import pytest
from prometheus_client import REGISTRY

from proxy.errors import UpstreamUnreachable
from proxy.memory.model.call import Completion, ModelAccess, connect
from proxy.memory.model.judge import (
    JUDGE_SCHEMA,
    JudgementFailed,
    ModelJudge,
    messages_for,
)
from proxy.upstream.litellm import LiteLLMUpstream
from tests.fakes import replies
from tests.fakes.complete import ScriptedComplete
from tests.fakes.provider import FakeProvider
from tests.memory.model.test_judge import DROPPED, OLDER, reply

pytestmark = [
    pytest.mark.anyio,
    pytest.mark.filterwarnings(
        "ignore:Item '.*' on TypedDict class '.*' is using the `ReadOnly` qualifier:UserWarning"
    ),
]


async def test_one_call_with_schema_limit_and_temperature() -> None:
    complete = ScriptedComplete(Completion(reply("Tandem"), 855, 16, 0.0002))
    found = await ModelJudge(complete, "m").judge(DROPPED, OLDER)
    assert (found.targets, found.words, found.model, found.note) == ((0,), ("Tandem",), "m", "")
    assert (found.cost_usd, found.usage) == (0.0002, {"prompt_tokens": 855, "completion_tokens": 16})
    assert complete.asked == [messages_for(DROPPED, OLDER)]
    assert (complete.schemas, complete.limits) == ([JUDGE_SCHEMA], [(120, 0.0)])


@pytest.mark.parametrize(("message", "older"), [(DROPPED, []), ("Should I stop using Tandem?", OLDER)])
async def test_no_call_without_statements_or_for_a_question(message: str, older: list[str]) -> None:
    assert (await ModelJudge(ScriptedComplete(), "m").judge(message, older)).targets == ()


async def test_unreadable_reply_is_asked_again_with_more_tokens() -> None:
    complete = ScriptedComplete(Completion("<think>Tandem was", 800, 120, None), Completion(reply("Tandem"), 900, 16))
    found = await ModelJudge(complete, "m").judge(DROPPED, OLDER)
    assert (found.targets, found.usage) == ((0,), {"prompt_tokens": 1700, "completion_tokens": 136})
    first, second = complete.asked
    assert second[: len(first)] == first
    assert second[-2] == {"role": "assistant", "content": "<think>Tandem was"}
    assert "no JSON object" in second[-1]["content"]
    assert [limit for limit, _ in complete.limits] == [120, 1500]


@pytest.mark.parametrize("text", ["", "Tandem", "[[[[", "\ud800"])
async def test_second_unreadable_reply_fails(text: str) -> None:
    complete = ScriptedComplete(text, text)
    with pytest.raises(JudgementFailed, match="asked twice"):
        await ModelJudge(complete, "m").judge(DROPPED, OLDER)
    assert len(complete.asked) == 2


@pytest.mark.parametrize(
    "refusal",
    [
        Completion(None, refusal="I can't help with that."),
        Completion("", finish_reason="content_filter"),
        Completion("I'm sorry, but I can't assist with that."),
        Completion("Es tut mir leid, das kann ich nicht beurteilen."),
    ],
)
async def test_refusal_is_noted_and_not_asked_again(refusal: Completion) -> None:
    complete = ScriptedComplete(refusal)
    found = await ModelJudge(complete, "m").judge(DROPPED, OLDER)
    assert (found.targets, found.note, len(complete.asked)) == ((), "refused", 1)


async def test_provider_error_is_raised() -> None:
    with pytest.raises(UpstreamUnreachable):
        await ModelJudge(ScriptedComplete(UpstreamUnreachable("down")), "m").judge(DROPPED, OLDER)


async def test_late_reply_fails_with_the_setting() -> None:
    class Silent:
        async def __call__(
            self,
            *,
            model: str,
            messages: Any,
            schema: Mapping[str, Any],
            timeout_s: float,
            max_tokens: int | None = None,
            temperature: float = 0.0,
        ) -> Completion:
            await asyncio.Event().wait()
            raise AssertionError

    with pytest.raises(JudgementFailed, match=r"memory\.extraction_timeout_s"):
        await ModelJudge(Silent(), "m", timeout_s=0.01).judge(DROPPED, OLDER)


async def test_both_calls_are_metered() -> None:
    def spent() -> list[float]:
        names = ("tokens", {"direction": "prompt"}), ("tokens", {"direction": "completion"}), ("cost_usd", {})
        return [
            REGISTRY.get_sample_value(f"throughline_extraction_{name}_total", {"model": "metered", **more}) or 0.0
            for name, more in names
        ]

    before = spent()
    complete = ScriptedComplete(Completion("?", 100, 20, 0.002), Completion(reply(), 130, 10, None))
    assert (await ModelJudge(complete, "metered").judge(DROPPED, OLDER)).cost_usd == 0.002
    assert [now - was for now, was in zip(spent(), before, strict=True)] == pytest.approx([230, 30, 0.002])


async def test_call_over_a_socket(provider: FakeProvider) -> None:
    """A server that refuses schemas is asked again without one, and its prose is parsed."""
    provider.then(replies.error(400, "This response_format type is unavailable now"))
    provider.then(replies.json_reply(replies.completion(f"Here you are:\n```json\n{reply('Tandem')}\n```")))
    access = ModelAccess("openai/small", "sk-operator", provider.base_url, 60.0)
    judge = ModelJudge(connect(access), access.model, timeout_s=access.timeout_s)
    try:
        found = await judge.judge(DROPPED, OLDER)
    finally:
        await LiteLLMUpstream().aclose()
    assert found.targets == (0,)
    assert found.usage["prompt_tokens"] > 0
    first, second = (seen.json for seen in provider.seen)
    assert first["response_format"]["json_schema"]["schema"] == JUDGE_SCHEMA
    assert "response_format" not in second
    assert second["messages"] == messages_for(DROPPED, OLDER)
    assert (second["temperature"], second["max_tokens"]) == (0.0, 120)

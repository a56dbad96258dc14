"""Replies of the model that cannot be used, refuse, cost or never come."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from prometheus_client import REGISTRY

from proxy.errors import UpstreamUnreachable
from proxy.memory.learn.extract_model import ModelExtractor
from proxy.memory.learn.model_output import ExtractionFailed
from proxy.memory.model.extraction import Completion, ScriptedComplete
from tests.memory.extracting import fact, memory, reply, turn

pytestmark = pytest.mark.anyio


async def test_an_unusable_reply_is_asked_again_once_with_what_is_wrong() -> None:
    complete = ScriptedComplete("The user keeps bees.", reply(fact("I keep bees", "bees")))
    found = await ModelExtractor(complete, "m").extract([turn("I keep bees")], [], [])
    assert [row.object for row in found.candidates["turn-a"]] == ["bees"]
    first, second = complete.asked
    assert second[: len(first)] == first
    assert [message["role"] for message in second[len(first) :]] == ["assistant", "user"]
    assert "no JSON object" in second[-1]["content"]


@pytest.mark.parametrize("text", ["", "no", "[[[[[[[", reply(fact("", "x")), "<think>hm", "\ud800"])
async def test_a_second_unusable_reply_is_a_failure(text: str) -> None:
    complete = ScriptedComplete(text, text)
    with pytest.raises(ExtractionFailed, match="asked twice"):
        await ModelExtractor(complete, "m").extract([turn("I keep bees")], [], [])
    assert len(complete.asked) == 2


@pytest.mark.parametrize(
    "refusal",
    [
        Completion(None, refusal="I can't help with that.", finish_reason="stop"),
        Completion("", finish_reason="content_filter"),
        Completion("I'm sorry, but I can't assist with that."),
        Completion("Es tut mir leid, das kann ich nicht verarbeiten."),
    ],
)
async def test_a_refusal_is_not_asked_again_and_leaves_a_note(refusal: Completion) -> None:
    complete = ScriptedComplete(refusal)
    found = await ModelExtractor(complete, "m").extract([turn("I keep bees")], [], [])
    assert (found.candidates, found.note) == ({}, "refused: 1 messages")
    assert len(complete.asked) == 1


async def test_the_note_counts_what_was_dropped() -> None:
    complete = ScriptedComplete(reply(fact("I keep bees", "bees"), fact(""), fact("never said", message_id="x")))
    assert (await ModelExtractor(complete, "m").extract([turn("I keep bees")], [], [])).note == "dropped: 2 facts"


async def test_both_calls_are_counted() -> None:
    def spent() -> tuple[float, float, float]:
        names = ("tokens", {"direction": "prompt"}), ("tokens", {"direction": "completion"}), ("cost_usd", {})
        values = (
            REGISTRY.get_sample_value(f"throughline_extraction_{n}_total", {"model": "counted", **more})
            for n, more in names
        )
        prompt, completion, cost = (value or 0.0 for value in values)
        return prompt, completion, cost

    before = spent()
    complete = ScriptedComplete(Completion("?", 100, 20, 0.002), Completion(reply(), 130, 10, None))
    found = await ModelExtractor(complete, "counted").extract([turn("I keep bees")], [], [])
    assert found.usage == {"prompt_tokens": 230, "completion_tokens": 30}
    assert (found.cost_usd, found.model) == (0.002, "counted")
    assert [now - was for now, was in zip(spent(), before, strict=True)] == pytest.approx([230, 30, 0.002])


async def test_errors_of_the_provider_come_through() -> None:
    with pytest.raises(UpstreamUnreachable):
        await ModelExtractor(ScriptedComplete(UpstreamUnreachable("down")), "m").extract([turn("I keep bees")], [], [])


class Silent:
    """A model that never answers."""

    async def __call__(self, *, model: str, messages: Any, schema: Mapping[str, Any], timeout_s: float) -> Completion:
        await asyncio.Event().wait()
        raise AssertionError


async def test_a_silent_model_is_given_up() -> None:
    with pytest.raises(ExtractionFailed, match="extraction_timeout_s"):
        await ModelExtractor(Silent(), "m", timeout_s=0.01).extract([turn("I keep bees")], [], [])


@settings(max_examples=40, deadline=None)
@given(st.text(max_size=200) | st.sampled_from(["{", '{"facts": [', reply(fact("I keep bees", "bees"))]))
def test_whatever_the_model_says_only_a_failure_is_raised(text: str) -> None:
    async def run() -> None:
        extractor = ModelExtractor(ScriptedComplete(text, text), "m")
        try:
            await extractor.extract([turn("I keep bees")], [memory("1", "bees")], [])
        except ExtractionFailed:
            return

    asyncio.run(run())

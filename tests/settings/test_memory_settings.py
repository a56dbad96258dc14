"""Settings of memory, each changed and observed over HTTP."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from proxy.worker.endings import end_idle
from tests.fakes.provider import FakeProvider
from tests.fakes.replies import chat
from tests.running import Ahead, Running
from tests.serving import agreeing
from tests.talking import FACT, Speaker, assistant, outcome, speaking, user

MINUTE = timedelta(minutes=1)
DAY = timedelta(days=1)
STORY = (
    "The boat shed stands north of the mill. " + "Its planks are of larch. " * 20 + "The key hangs behind the clock."
)


@pytest.fixture
def served(tmp_path: Path, provider: FakeProvider) -> Callable[..., Running]:
    """Return a maker of servers with memory settings, whose provider replies without a word of the question."""
    provider.script(agreeing)

    def make(clock: Ahead | None = None, **memory: Any) -> Running:
        upstream = {"url": provider.base_url, "context_windows": {"tiny": 4000}}
        return Running(tmp_path, upstream=upstream, clock=clock, memory=memory)

    return make


def sent(provider: FakeProvider) -> str:
    return str(provider.last.json["messages"])


@pytest.mark.parametrize("mode", ["read", "write", "off"])
def test_default_mode_is_of_requests_without_one(served: Callable[..., Running], mode: str) -> None:
    with served(default_mode=mode) as server, speaking(server) as anna:
        assert (outcome(anna.say(FACT))["outcome"] == "off") == (mode == "off")
        anna.wait()
        assert bool(anna.texts()) == (mode == "write")
        assert outcome(anna.say("Hello", x_memory_mode="full"))["outcome"] != "off"


def test_budget_is_the_settings_or_the_headers_capped(served: Callable[..., Running]) -> None:
    with served(budget_tokens=500, max_budget_tokens=6000) as server, speaking(server) as anna:
        for asked, granted in (("", 500), ("100", 100), ("5000", 5000), ("9000", 6000)):
            assert anna.receipt(anna.say("Hello", x_memory_budget=asked))["budget"] == granted


def test_repeated_first_message_is_a_replay_while_fresh(served: Callable[..., Running]) -> None:
    clock = Ahead()
    with served(clock, conversation_fresh_s=120) as server, speaking(server) as anna:
        anna.tell("I keep bees")
        for minutes, conversations in ((1, 1), (3, 2)):
            clock.advance(minutes * MINUTE)
            anna.tell("I keep bees")
            assert len(anna.sessions()) == conversations


@pytest.mark.parametrize(("share", "is_compacted"), [(0, False), (0.25, True), (0.9, False)])
def test_compact_at_is_a_share_of_the_window(served: Callable[..., Running], share: float, is_compacted: bool) -> None:
    said = [one for turn in range(80) for one in (user(f"{turn}. We moved the beds near the wall."), assistant())]
    with served(compact_at=share) as server, speaking(server) as anna:
        response = anna.post([*said, user("What is next?")], model="tiny", x_memory_mode="read")
        assert (anna.receipt(response).get("compaction") is not None) == is_compacted


def test_idle_conversation_ends_after_its_minutes(served: Callable[..., Running]) -> None:
    clock = Ahead()
    with served(clock, session_idle_minutes=10) as server, speaking(server) as anna:
        anna.tell("I keep bees")
        for minutes, is_ended in ((9, False), (2, True)):
            clock.advance(minutes * MINUTE)
            server.call(end_idle, server.services)
            assert (anna.sessions()[0]["ended_at"] is not None) == is_ended


@pytest.mark.parametrize("most", [0, 1])
def test_opening_holds_so_many_summaries(served: Callable[..., Running], provider: FakeProvider, most: int) -> None:
    with served(opening_summaries=most) as server, speaking(server) as anna:
        for name, thing in (("one", "bees"), ("two", "goats")):
            anna.tell(f"I keep {thing}", "They need a fence", "It is of larch", x_memory_session=name)
            assert anna.http.post(f"/sessions/{name}/end").status_code == 200
        anna.say("Good morning", x_memory_session="three")
        assert ('kind="opening"' in sent(provider)) == (most > 0)
        assert [thing in sent(provider) for thing in ("bees", "goats")] == [False, most > 0]


@pytest.mark.parametrize(("days", "is_short"), [(0, False), (3, True)])
def test_long_memory_is_short_after_its_days(
    served: Callable[..., Running], provider: FakeProvider, days: float, is_short: bool
) -> None:
    clock = Ahead()
    with served(clock, compress_days=days) as server, speaking(server) as anna:
        assert anna.http.post("/memories", json={"text": STORY}).status_code == 200
        clock.advance(4 * DAY)
        anna.say("Where does the key of the boat shed hang?", x_memory_mode="read")
        assert "behind the clock" in sent(provider)
        assert ("planks" not in sent(provider)) == is_short


def test_archive_and_expire_days_say_what_is_due(served: Callable[..., Running]) -> None:
    clock = Ahead()
    with served(clock, archive_days=5, expire_days={"event": 2, "preference": 0}) as server, speaking(server) as anna:
        made = {kind: _made(anna, kind) for kind in ("fact", "event", "preference")}
        for day, due in ((1, set()), (2, {"event"}), (2, {"fact", "event"}), (300, {"fact", "event"})):
            clock.advance(day * DAY + MINUTE)
            assert set(anna.get("/state")["hygiene"]["ids"]) == {made[kind] for kind in due}


def _made(speaker: Speaker, kind: str) -> str:
    response = speaker.http.post("/memories", json={"text": f"A {kind} of mine", "kind": kind})
    return str(response.json()["id"])


def test_judge_waits_for_its_pause(tmp_path: Path, provider: FakeProvider) -> None:
    """With a pause of an hour the judge is not called; the turn is counted as pending for it."""
    provider.script(agreeing)
    with FakeProvider() as judge:
        judge.script(lambda seen: chat('{"ended": []}', seen.json))
        memory = {
            "extraction_model": "openai/judge",
            "extraction_base_url": judge.base_url,
            "extraction_api_key": "sk-judge",
            "model_debounce_s": 3600.0,
        }
        with Running(tmp_path, upstream=provider.base_url, memory=memory) as server, speaking(server) as anna:
            anna.tell(FACT)
            anna.tell("I don't use Magnet anymore")
            assert anna.get("/state")["pending_judgements"] > 0
            assert judge.seen == []

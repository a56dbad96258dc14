"""A clock that ran ahead and was corrected, or a time from the future: statements made now still count."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest

from proxy.clock import Clock
from proxy.worker import schedule as schedule_module
from tests.fakes.provider import FakeProvider
from tests.running import Ahead, Running
from tests.serving import agreeing
from tests.talking import BOTH, FACT, MAGNET, SHRAM, Speaker, new_key, speaking

ENDS, FORGETS, AGAIN = "I don't use Magnet anymore.", "Forget that I use Magnet.", "I started using Magnet again."
ASKED = "Which productivity tools do I use?"
YEAR = timedelta(days=365)


@pytest.fixture(autouse=True)
def agreed(provider: FakeProvider) -> None:
    provider.script(agreeing)


def injected(speaker: Speaker, provider: FakeProvider, **headers: str) -> str:
    speaker.say(ASKED, **headers)
    return str(provider.last.json["messages"])


def test_turns_of_a_clock_ahead_are_learned(
    tmp_path: Path, provider: FakeProvider, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(schedule_module, "_TICK_S", 0.2)
    key = new_key()
    waiting = {"upstream": provider.base_url, "clock": Ahead(timedelta(days=1)), "worker": {"enabled": False}}
    with Running(tmp_path, **waiting) as server, speaking(server, key) as anne:
        anne.say(FACT)
    with Running(tmp_path, upstream=provider.base_url) as server, speaking(server, key) as anne:
        anne.wait()
        assert anne.texts() == BOTH


@pytest.mark.parametrize("words", [ENDS, FORGETS])
@pytest.mark.parametrize("ahead", ["clock", "header"])
def test_later_word_ends_what_came_from_the_future(
    tmp_path: Path, provider: FakeProvider, words: str, ahead: str
) -> None:
    key, clock = new_key(), Ahead(YEAR) if ahead == "clock" else Clock()
    told = {"x_memory_time": (Clock().now() + YEAR).isoformat()} if ahead == "header" else {}
    with Running(tmp_path, upstream=provider.base_url, clock=clock) as server, speaking(server, key) as anne:
        anne.tell(FACT, **told)
        assert anne.texts() == BOTH
    with Running(tmp_path, upstream=provider.base_url) as server, speaking(server, key) as anne:
        anne.tell(words)
        assert anne.texts() == {SHRAM}
        assert "Magnet" not in injected(anne, provider)
        for moment in (Clock().now(), Clock().now() + 2 * YEAR):
            assert MAGNET not in anne.texts(as_of=moment.isoformat())
        anne.tell(AGAIN)
        assert AGAIN in anne.texts()
        assert "Magnet" in injected(anne, provider)


def test_present_outdoes_an_end_from_the_future(tmp_path: Path, provider: FakeProvider) -> None:
    with Running(tmp_path, upstream=provider.base_url) as server, speaking(server) as anne:
        anne.tell(FACT)
        anne.tell(ENDS, x_memory_time=(Clock().now() + YEAR).isoformat())
        assert anne.texts() == {SHRAM}
        anne.tell(AGAIN)
        assert {MAGNET, AGAIN} <= anne.texts()


@pytest.mark.parametrize("fact_at", [timedelta(), YEAR])
def test_replay_of_the_past_ends_nothing_later(tmp_path: Path, provider: FakeProvider, fact_at: timedelta) -> None:
    with Running(tmp_path, upstream=provider.base_url) as server, speaking(server) as anne:
        anne.tell(FACT, x_memory_time=(Clock().now() + fact_at).isoformat())
        anne.tell(ENDS, x_memory_time="2020-01-01T10:00:00Z")
        assert anne.texts() >= BOTH


def test_future_times_are_compared_with_each_other(tmp_path: Path, provider: FakeProvider) -> None:
    later, earlier = (Clock().now() + days * timedelta(days=1) for days in (60, 30))
    with Running(tmp_path, upstream=provider.base_url) as server, speaking(server) as anne:
        anne.tell(FACT, x_memory_time=later.isoformat())
        anne.tell(ENDS, x_memory_time=earlier.isoformat())
        assert anne.texts() >= BOTH

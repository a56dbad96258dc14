"""Ended conversations: summaries lead back to their turns, open the next conversation, and lose forgotten text."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from proxy.clock import ManualClock
from proxy.memory.inject.blocks import OPENING_OPEN
from proxy.worker.endings import end_idle
from tests.fakes.provider import FakeProvider
from tests.running import Running
from tests.serving import agreeing
from tests.talking import Message, Speaker, speaking

MOVING = (
    "I am planning to move from Leipzig to Lisbon in March with my dog Bruno.",
    "The moving company Transmar asks 2,400 euros for the lorry.",
    "I use Magnet to arrange the windows of the planning sheet.",
    "My landlord in Lisbon is called Duarte and wants two months of rent.",
)


@pytest.fixture
def agreeable(provider: FakeProvider) -> FakeProvider:
    provider.script(agreeing)
    return provider


@pytest.fixture
def running(tmp_path: Path, agreeable: FakeProvider) -> Iterator[Running]:
    with Running(tmp_path, upstream=agreeable.base_url) as server:
        yield server


def summaries(speaker: Speaker, level: str = "conversation") -> list[Message]:
    return [one for one in speaker.memories(kind="summary") if one["metadata"]["level"] == level]


def test_summary_of_an_ended_conversation_opens_the_next(running: Running, agreeable: FakeProvider) -> None:
    with speaking(running) as speaker:
        response = speaker.tell(*MOVING)
        session = response.headers["x-memory-session"]
        ended = speaker.http.post(f"/sessions/{session}/end")
        assert ended.status_code == 200
        assert ended.json()["ended_at"]
        [summary] = summaries(speaker)
        assert summary["session"] == session
        assert summary["metadata"]["sources"] == [session]
        turns = {one["turn"] for one in speaker.episodes(session)}
        assert set(summary["metadata"]["turns"]) == turns
        assert "Lisbon" in summary["text"]
        assert 2 <= len(summary["text"].splitlines()) <= 9
        speaker.say("Good morning! Please write a haiku.")
        sent = agreeable.last.json["messages"]
        assert sent[-1]["content"].count("<memory") == 1
        assert OPENING_OPEN in sent[-1]["content"]
        assert "Lisbon" in sent[-1]["content"]
        speaker.post([*sent, {"role": "assistant", "content": "Done."}, {"role": "user", "content": "And another"}])
        later = agreeable.last.json["messages"]
        assert OPENING_OPEN in later[-3]["content"]
        assert OPENING_OPEN not in later[-1]["content"]
        speaker.http.post(f"/sessions/{session}/end")
        assert len(summaries(speaker)) == 1


def test_what_is_taken_back_leaves_every_summary(running: Running) -> None:
    with speaking(running) as speaker:
        session = speaker.tell(*MOVING).headers["x-memory-session"]
        speaker.http.post(f"/sessions/{session}/end")
        assert any("Magnet" in one["text"] for one in summaries(speaker))
        speaker.tell("I don't use Magnet anymore.")
        assert summaries(speaker)
        assert not any("Magnet" in one["text"] for one in summaries(speaker))
        assert any("Lisbon" in one["text"] for one in summaries(speaker))


def test_a_deleted_conversation_takes_its_summaries_along(running: Running, tmp_path: Path) -> None:
    with speaking(running) as speaker:
        session = speaker.tell(*MOVING).headers["x-memory-session"]
        speaker.http.post(f"/sessions/{session}/end")
        assert summaries(speaker)
        assert speaker.http.delete(f"/sessions/{session}").status_code == 200
        assert summaries(speaker) == []
        assert speaker.http.post(f"/sessions/{session}/end").status_code == 404


def test_idle_conversations_end_and_many_are_rolled_up(tmp_path: Path, agreeable: FakeProvider) -> None:
    clock = ManualClock(datetime(2026, 3, 2, 8, tzinfo=UTC))
    with Running(tmp_path, upstream=agreeable.base_url, clock=clock) as server, speaking(server) as speaker:
        for day in range(2):
            for number in range(4):
                texts = [f"{text} Note {day}{number}." for text in MOVING]
                speaker.say(*texts, X_Memory_Session=f"chat {day}{number}")
            assert server.call(end_idle, server.services) == 0
            clock.advance(timedelta(hours=24))
            assert server.call(end_idle, server.services) == 4
        assert len(summaries(speaker)) == 8
        days = summaries(speaker, "day")
        assert len(days) == 2
        ids = {one["id"] for one in summaries(speaker)}
        assert {source for one in days for source in one["metadata"]["sources"]} == ids
        assert summaries(speaker, "week") == []
        clock.advance(timedelta(days=8))
        speaker.say(*MOVING, X_Memory_Session="later")
        clock.advance(timedelta(hours=24))
        assert server.call(end_idle, server.services) == 1
        [week] = summaries(speaker, "week")
        assert set(week["metadata"]["sources"]) == ids

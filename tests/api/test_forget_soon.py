"""Forgetting before all turns are learned: the turns it waits for, and its report of the rest."""

from __future__ import annotations

import time
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest

from proxy.api import forgetting
from proxy.memory.changes.book import TURNS_AT_ONCE
from proxy.store.stamps import owners
from proxy.types import Scope
from tests.fakes.provider import FakeProvider
from tests.running import Running
from tests.talking import Message, Speaker, speaking

LONG_S = 60.0


@pytest.fixture
def idle(tmp_path: Path, lasting_provider: FakeProvider) -> Iterator[Speaker]:
    """Return a client of a server that learns nothing: its worker is a separate process, which is down."""
    sections = {"worker": {"enabled": False}, "memory": {"commands": True}}
    with Running(tmp_path, upstream=lasting_provider.base_url, **sections) as server, speaking(server) as speaker:
        yield speaker


def forget(speaker: Speaker, **body: object) -> Message:
    started = time.monotonic()
    response = speaker.http.post("/memories/forget", json=body)
    assert response.status_code == 200, response.text
    assert time.monotonic() - started < LONG_S / 2
    return dict(response.json())


def test_turns_out_of_reach_are_counted(idle: Speaker, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(forgetting, "SETTLE_S", 0.3)
    idle.say("I live in Oslo")
    assert forget(idle, text="Oslo")["pending_turns"] == 1
    answer = idle.say("/memory forget Oslo").json()["choices"][0]["message"]["content"]
    assert "Messages not learned yet: 1." in answer


def test_what_is_named_by_id_waits_for_nothing(idle: Speaker, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(forgetting, "SETTLE_S", LONG_S)
    made = idle.http.post("/memories", json={"text": "I keep bees"}).json()
    idle.say("I live in Oslo")
    assert len(forget(idle, ids=[made["id"]])["closed"]) == 1


def test_an_import_is_not_waited_for(idle: Speaker, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(forgetting, "SETTLE_S", LONG_S)
    for number in range(TURNS_AT_ONCE + 1):
        idle.say(f"I have been to town number {number}", x_memory_session=f"s{number}")
    assert forget(idle, text="Oslo", dry_run=True)["pending_turns"] == TURNS_AT_ONCE + 1


def test_a_turn_put_off_is_not_waited_for(idle: Speaker, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(forgetting, "SETTLE_S", LONG_S)
    idle.say("I live in Oslo")
    services = idle.server.services
    (owner,) = idle.server.call(owners, services.database)
    items = idle.server.call(services.journal.items, Scope("", owner))
    due = services.clock.now() + timedelta(hours=1)

    async def put_off() -> None:
        await services.journal.retry(Scope("", owner), [item.seq for item in items], due=due, error="away")

    idle.server.call(put_off)
    assert forget(idle, text="Oslo")["pending_turns"] == 1

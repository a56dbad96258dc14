"""Hygiene over real sockets: items unused for long are shortened, then archived; they return complete."""

from __future__ import annotations

from datetime import timedelta
from functools import partial
from pathlib import Path

import pytest
from typer.testing import CliRunner

from proxy.cli.upkeep import tidying
from proxy.clock import Clock
from proxy.memory.lifecycle.hygiene import Rules, archive_changes, report
from proxy.worker.hygiene import tidy_all
from tests.fakes.provider import FakeProvider
from tests.memory.rows import fact
from tests.running import Ahead, Running
from tests.talking import new_key, speaking

NOW = Clock().now()
STORY = (
    "The boat shed stands north of the mill. " + "Its planks are of larch. " * 20 + "The key hangs behind the clock."
)


def sent(upstream: FakeProvider) -> str:
    return str(upstream.last.json["messages"])


def tidy(server: Running) -> None:
    server.call(partial(tidy_all, applies=True), server.services)


def test_unused_memories_are_told_of_archived_and_restored(tmp_path: Path, upstream: FakeProvider) -> None:
    clock = Ahead()
    options = {"archive_unused": True}
    with (
        Running(tmp_path, upstream=upstream.base_url, clock=clock, memory=options) as server,
        speaking(server) as anna,
    ):
        anna.tell("I collect tin soldiers")
        pinned = anna.http.post("/memories", json={"text": "I keep bees", "pinned": True}).json()
        anna.tell("I am allergic to hazelnuts", x_memory_session="two")
        assert anna.get("/state")["hygiene"]["due"] == 0
        clock.advance(timedelta(days=31))
        due = anna.get("/state")["hygiene"]
        (soldiers,) = [row for row in anna.memories() if "soldiers" in row["text"]]
        assert (due["due"], due["ids"], due["archives"]) == (1, [soldiers["id"]], True)
        tidy(server)
        assert anna.texts() == {"I keep bees", "I am allergic to hazelnuts"}
        assert anna.texts(status="archived") == {"I collect tin soldiers"}
        assert anna.get("/state")["hygiene"]["due"] == 0
        restored = anna.http.post(f"/memories/{soldiers['id']}/restore").json()
        assert restored["status"] == "active"
        tidy(server)
        assert "I collect tin soldiers" in anna.texts()
        assert anna.get(f"/memories/{pinned['id']}")["status"] == "active"


def test_use_keeps_a_memory(tmp_path: Path, upstream: FakeProvider) -> None:
    clock = Ahead()
    with Running(tmp_path, upstream=upstream.base_url, clock=clock) as server, speaking(server) as anna:
        made = anna.http.post("/memories", json={"text": "I collect tin soldiers"}).json()
        clock.advance(timedelta(days=20))
        anna.tell("Which soldiers do I collect?")
        assert "tin soldiers" in sent(upstream)
        clock.advance(timedelta(days=20))
        assert made["id"] not in anna.get("/state")["hygiene"]["ids"]
        clock.advance(timedelta(days=20))
        assert made["id"] in anna.get("/state")["hygiene"]["ids"]


def test_time_that_a_turn_names_does_not_count(tmp_path: Path, upstream: FakeProvider) -> None:
    with Running(tmp_path, upstream=upstream.base_url) as server, speaking(server) as anna:
        anna.tell("I collect tin soldiers", x_memory_time="2020-01-01T00:00:00Z")
        assert anna.get("/state")["hygiene"]["due"] == 0


def test_unused_long_memory_is_told_in_short(tmp_path: Path, upstream: FakeProvider) -> None:
    clock = Ahead()
    with Running(tmp_path, upstream=upstream.base_url, clock=clock) as server, speaking(server) as anna:
        made = anna.http.post("/memories", json={"text": STORY}).json()
        anna.say("Where does the key of the boat shed hang?", x_memory_mode="read")
        assert "planks" in sent(upstream)
        clock.advance(timedelta(days=8))
        anna.tell("Where does the key of the boat shed hang?")
        assert "behind the clock" in sent(upstream)
        assert made["id"] in sent(upstream)
        assert "planks" not in sent(upstream)
        assert anna.get(f"/memories/{made['id']}")["text"] == STORY
        anna.say("Tell me, where does the key of the boat shed hang?", x_memory_mode="read", x_memory_session="new")
        assert "planks" in sent(upstream)  # it was just used


def test_the_command_counts_and_archives(tmp_path: Path, upstream: FakeProvider) -> None:
    key = new_key()
    then = Ahead(timedelta(days=-60))
    with Running(tmp_path, upstream=upstream.base_url, clock=then) as server, speaking(server, key) as anna:
        anna.http.post("/memories", json={"text": "I collect tin soldiers"})
    told = CliRunner().invoke(tidying, ["--data-dir", str(tmp_path)])
    assert "1 users, 1 memories would be archived" in told.output, told.output
    assert "soldiers" not in told.output
    applied = CliRunner().invoke(tidying, ["--data-dir", str(tmp_path), "--apply"])
    assert "1 memories archived" in applied.output
    with Running(tmp_path, upstream=upstream.base_url) as server, speaking(server, key) as anna:
        assert anna.texts() == set()
        assert anna.texts(status="archived") == {"I collect tin soldiers"}


@pytest.mark.parametrize(
    ("rules", "due"), [(Rules(), 1), (Rules(archive_days=0), 0), (Rules(kind_days={"fact": 90}), 0)]
)
def test_rules_by_kind(rules: Rules, due: int) -> None:
    row = fact(1, "I collect tin soldiers", at=NOW)
    later = NOW + timedelta(days=40)
    assert len(report([row], {}, later, rules).due) == due
    changes = archive_changes([row], {}, later, rules)
    assert [change.memory.status for change in changes] == ["archived"] * due
    assert archive_changes([change.memory for change in changes], {}, later, rules) == []

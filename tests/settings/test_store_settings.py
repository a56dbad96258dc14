"""Settings of the stores, each changed and observed over HTTP or in the files."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest
import sqlalchemy as sa

from proxy.worker.schedule import prune
from tests.fakes.provider import FakeProvider
from tests.running import Ahead, Running
from tests.serving import agreeing
from tests.talking import speaking

DAY = timedelta(days=1)
_TEXTS = sa.text("SELECT count(*) FROM journal WHERE payload IS NOT NULL")


@pytest.mark.parametrize(("setting", "level"), [("normal", 1), ("full", 2)])
def test_synchronous_is_sqlites_own(tmp_path: Path, setting: str, level: int) -> None:
    with Running(tmp_path, store={"synchronous": setting}, wait=False) as server:
        pragma = sa.text("PRAGMA synchronous")
        assert server.call(server.services.database.query, lambda db: db.execute(pragma).scalar()) == level


@pytest.mark.parametrize(("size", "grows"), [(0, False), (2**26, True)])
def test_indexes_beyond_the_cache_are_let_go(tmp_path: Path, provider: FakeProvider, size: int, grows: bool) -> None:
    provider.script(agreeing)
    sizes = []
    with Running(tmp_path, upstream=provider.base_url, store={"index_cache_bytes": size}) as server:
        for key in ("sk-1", "sk-2", "sk-3", "sk-1"):
            with speaking(server, key) as one:
                one.http.post("/memories", json={"text": "I keep bees"})
                one.say("Which animals do I keep?", x_memory_mode="read")
                assert "I keep bees" in str(provider.last.json["messages"])
                sizes.append(server.services.index.size_bytes)
    assert (sizes[-1] > 2 * sizes[0]) == grows


def test_receipts_and_learned_turns_go_after_their_days(tmp_path: Path, provider: FakeProvider) -> None:
    clock = Ahead()
    store = {"receipts_days": 2, "journal_days": 4}
    with (
        Running(tmp_path, upstream=provider.base_url, clock=clock, store=store) as server,
        speaking(server) as anna,
    ):
        receipt = anna.tell("I keep bees").headers["x-memory-receipt"]
        for status, journalled in ((200, 1), (404, 1), (404, 0)):
            clock.advance(1.5 * DAY)
            server.call(prune, server.services)
            assert anna.http.get(f"/receipts/{receipt}").status_code == status
            assert server.call(server.services.database.query, lambda db: db.execute(_TEXTS).scalar()) == journalled


def test_conversation_goes_on_within_its_days(tmp_path: Path, provider: FakeProvider) -> None:
    """If it continues, its first message gets its block again."""
    provider.script(agreeing)
    clock = Ahead()
    store = {"conversations_days": 2}
    with (
        Running(tmp_path, upstream=provider.base_url, clock=clock, store=store) as server,
        speaking(server) as anna,
    ):
        anna.http.post("/memories", json={"text": "I keep bees"})
        anna.tell("Which animals do I keep?")
        for days, goes_on in ((1, True), (3, False)):
            clock.advance(days * DAY)
            server.call(prune, server.services)
            anna.say("Which animals do I keep?", "Thank you", x_memory_mode="read")
            assert ("I keep bees" in provider.last.json["messages"][0]["content"]) == goes_on

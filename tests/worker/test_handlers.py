from __future__ import annotations

from dataclasses import replace
from datetime import datetime

import pytest

from proxy.memory.plan.changes import Change, changes_to_json, restore_memory
from proxy.services import Services
from proxy.store.journal_rows import TO_LEARN
from proxy.types import Episode, Memory
from proxy.worker.endings import end_idle
from proxy.worker.handlers import work_off
from tests.store.sql_rows import NOW, make_record, make_scope
from tests.worker.test_loop import pass_by

pytestmark = pytest.mark.anyio

ANNA = make_scope("anna")
SHRAM = Memory("mem_shram", "fact", "I use Shram.", created_at=NOW, updated_at=NOW, valid_from=NOW)
ADDED = Change("add", SHRAM, None, "turn_1", "stated")


def closing(now: datetime) -> Change:
    closed = replace(SHRAM, status="closed", valid_to=now, updated_at=now)
    return Change("close", closed, SHRAM, "", "request")


async def work(services: Services) -> None:
    pass_by(services, 1)
    claim = await services.journal.claim("w", now=services.clock.now(), lease_s=30)
    assert claim is not None
    await work_off(services, claim)
    await services.leases.release(claim.scope, claim.holder)
    assert not await services.journal.items(ANNA)


async def plan(services: Services, kind: str, *changes: Change) -> None:
    """Leave changes in the journal, as a process does that dies before they are applied."""
    values, now = changes_to_json(changes), services.clock.now()
    if kind == "change":
        await services.journal.change(ANNA, "change_1", values, now=now, due=now)
        return
    await services.journal.record(ANNA, make_record(ANNA, "1"))
    (item,) = await services.journal.items(ANNA)
    await services.journal.plan(ANNA, [item.seq], values)
    await services.journal.advance(ANNA, [item.seq], stage=TO_LEARN, due=now)


async def status(services: Services) -> str | None:
    row = await services.store.memory(ANNA, SHRAM.id)
    return None if row is None else row.status


@pytest.mark.parametrize("kind", ["change", "turn"])
async def test_what_was_planned_and_not_begun_is_done(services: Services, kind: str) -> None:
    await plan(services, kind, ADDED)
    await work(services)
    assert await status(services) == "active"


@pytest.mark.parametrize("kind", ["change", "turn"])
async def test_finished_plan_leaves_its_history_once(services: Services, kind: str) -> None:
    closed = closing(NOW)
    await services.book.apply(ANNA, [ADDED])
    await plan(services, kind, ADDED, closed)
    await work(services)
    assert await status(services) == "closed"
    assert [step.action for step in await services.history.of(ANNA, SHRAM.id)] == ["add", "close"]


@pytest.mark.parametrize("kind", ["change", "turn"])
async def test_a_later_delete_wins_over_a_stored_plan(services: Services, kind: str) -> None:
    await plan(services, kind, ADDED)
    pass_by(services, 1)
    await services.book.apply(ANNA, [ADDED, closing(services.clock.now())])
    await work(services)
    assert await status(services) == "closed"


@pytest.mark.parametrize("kind", ["change", "turn"])
async def test_a_later_restore_wins_over_a_stored_plan(services: Services, kind: str) -> None:
    pass_by(services, 1)
    closed = closing(services.clock.now())
    await plan(services, kind, closed)
    pass_by(services, 1)
    await services.book.apply(ANNA, [ADDED, closed, restore_memory(closed.memory, services.clock.now())])
    await work(services)
    assert await status(services) == "active"


@pytest.mark.parametrize("kind", ["change", "turn"])
async def test_removed_memory_does_not_come_back(services: Services, kind: str) -> None:
    pass_by(services, 1)
    await plan(services, kind, closing(services.clock.now()))
    await work(services)
    assert await status(services) is None


async def test_only_long_histories_wait_for_their_vectors(services: Services) -> None:
    """So do many turns at once."""

    def said(seq: int, turn: str) -> Episode:
        return Episode(f"msg_{turn}_{seq}", ANNA.session, turn, seq, "user", f"tea number {seq}", NOW)

    async def waiting() -> int:
        return len(await services.store.unembedded(ANNA, "episodes", services.embedder.model))

    await services.book.keep(ANNA, [said(seq, f"turn_{seq}") for seq in range(30)])
    assert await waiting() == 0
    await services.book.keep(ANNA, [said(seq, "long") for seq in range(100, 170)])
    assert await waiting() == 6
    await services.book.fill_in(ANNA)
    assert await waiting() == 0
    await services.book.keep(ANNA, [said(seq, f"imported_{seq}") for seq in range(200, 240)])  # words are indexed first
    assert await waiting() == 40
    await services.book.fill_in(ANNA)
    assert await waiting() == 0


async def test_words_come_first_while_many_turns_wait(services: Services) -> None:
    """The same holds if few of them are stored at a time."""
    waiting: list[object] = []
    for numbers in (range(40), range(40, 41)):
        for number in numbers:
            await services.journal.record(ANNA, make_record(ANNA, str(number)))
        claim = await services.journal.claim("w", now=services.clock.now(), lease_s=30)
        assert claim is not None
        await work_off(services, claim)  # stores them; learning begins after a pause
        await services.leases.release(claim.scope, claim.holder)
        waiting = await services.store.unembedded(ANNA, "episodes", services.embedder.model)
        await services.book.fill_in(ANNA)
    assert waiting != []


async def test_idle_session_ends_once_its_queue_is_short(services: Services) -> None:
    """Its summary quotes what was learned from it; and an import has no time for thousands of summaries."""
    for number in range(40):
        await services.journal.record(ANNA, make_record(ANNA, str(number)))
    pass_by(services, 3600 * 24)
    assert await end_idle(services) == 0
    items = await services.journal.items(ANNA)
    await services.journal.finish(ANNA, [item.seq for item in items[10:]], now=services.clock.now())
    assert await end_idle(services) == 1


async def test_rows_stored_during_upkeep_get_it_later(services: Services) -> None:
    """Turns of a long backlog may be stored only after the upkeep that their requests asked for."""
    await services.journal.record(ANNA, make_record(ANNA, "1"))
    services.note_written(ANNA)
    services.take_written()
    await work(services)
    assert [owner.user for owner in services.take_written()] == [ANNA.user]

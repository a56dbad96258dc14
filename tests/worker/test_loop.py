from __future__ import annotations

import asyncio
import errno
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from proxy.clock import ManualClock
from proxy.errors import StoreUnavailable
from proxy.process.threads import spawn
from proxy.services import Services
from proxy.store.journal_rows import TO_LEARN, Claim
from proxy.types import Scope
from proxy.worker.loop import Worker
from tests.store.sql_rows import NOW, make_record, make_scope

pytestmark = [pytest.mark.anyio, pytest.mark.usefixtures("log_lines")]

ANNA, BEN = make_scope("anna"), make_scope("ben")
OUTAGES = [StoreUnavailable("away"), TimeoutError(), OSError(errno.ENOSPC, "No space left on device")]
UNREADABLE = [{"action": "add"}]  # a plan that no version writes


class Disk:
    """The store's writes of memories, with a fault: an error, or a write that blocks until released."""

    def __init__(self, services: Services, monkeypatch: pytest.MonkeyPatch) -> None:
        self.error: Exception | None = None
        self.gate, self.entered, self.left = asyncio.Event(), asyncio.Event(), asyncio.Event()
        self.writes = 0
        self._put = services.store.put_memories
        self.gate.set()
        monkeypatch.setattr(services.store, "put_memories", self.put_memories)

    async def put_memories(self, *args: Any, **named: Any) -> Any:
        self.writes += 1
        self.entered.set()
        if self.error is not None:
            raise self.error
        try:
            await self.gate.wait()
        except asyncio.CancelledError:
            self.left.set()
            raise
        return await self._put(*args, **named)


@pytest.fixture
def disk(services: Services, monkeypatch: pytest.MonkeyPatch) -> Disk:
    return Disk(services, monkeypatch)


@asynccontextmanager
async def working(services: Services) -> AsyncIterator[Worker]:
    worker = Worker(services)
    worker.start()
    try:
        yield worker
    finally:
        await worker.stop(5)


async def until(is_so: Callable[[], Coroutine[Any, Any, bool]]) -> None:
    async with asyncio.timeout(10):
        while not await is_so():
            await asyncio.sleep(0.005)


async def say(services: Services, scope: Scope, turn: str, text: str = "I use Shram.") -> None:
    await services.journal.record(scope, make_record(scope, turn, text=text, now=services.clock.now()))


def pass_by(services: Services, seconds: float) -> None:
    assert isinstance(services.clock, ManualClock)
    services.clock.advance(timedelta(seconds=seconds))


async def test_worker_of_a_closed_store_stops_at_once(services: Services) -> None:
    """A store that opens slowly does not delay the server's stop."""
    services.warmed.clear()
    worker = Worker(services)
    worker.start()
    async with asyncio.timeout(10):
        await worker.stop(60)


async def test_unreadable_row_delays_nobody(services: Services) -> None:
    await say(services, ANNA, "1")
    await services.database.submit(
        lambda connection: connection.exec_driver_sql("UPDATE journal SET payload = x'7b'").close()
    )
    await say(services, ANNA, "2")
    await say(services, BEN, "1")

    async def is_done() -> bool:
        pass_by(services, 1)
        return await services.journal.depth() == {"index": 0, "learn": 0, "dead": 1}

    async with working(services):
        await until(is_done)


async def test_a_line_outlives_whatever_the_journal_raises(services: Services, monkeypatch: pytest.MonkeyPatch) -> None:
    claim, failures = services.journal.claim, iter([KeyError("x"), RuntimeError("y")])

    async def hostile(*args: Any, **named: Any) -> Claim | None:
        for failure in failures:
            raise failure
        return await claim(*args, **named)

    monkeypatch.setattr(services.journal, "claim", hostile)
    await say(services, ANNA, "1")

    async def is_done() -> bool:
        pass_by(services, 1)
        return not await services.journal.items(ANNA)

    async with working(services):
        await until(is_done)


@pytest.mark.parametrize("error", OUTAGES, ids=["store", "timeout", "full"])
async def test_an_outage_of_any_length_buries_nothing(services: Services, disk: Disk, error: Exception) -> None:
    disk.error = error
    await say(services, ANNA, "1")
    await say(services, ANNA, "2")

    async def has_tried() -> bool:
        pass_by(services, 61)
        return disk.writes > 10

    async def is_done() -> bool:
        pass_by(services, 61)
        return not await services.journal.items(ANNA)

    async with working(services):
        await until(has_tried)
        assert [item.attempts for item in await services.journal.items(ANNA)] == [0, 0]
        disk.error = None
        await until(is_done)
    assert await services.journal.depth() == {"index": 0, "learn": 0, "dead": 0}
    (memory,) = await services.store.memories(ANNA)
    assert memory.turns == ("turn_1", "turn_2")


async def spoil(services: Services, turn: str) -> None:
    """Write an unreadable plan for a turn."""
    seqs = [item.seq for item in await services.journal.items(ANNA) if item.id == turn]
    await services.journal.plan(ANNA, seqs, UNREADABLE)


async def test_unlearnable_turn_is_buried_alone(services: Services) -> None:
    for number, text in enumerate(["I use Shram.", "My tea is green.", "We keep two cats."]):
        await say(services, ANNA, str(number), text)
    await spoil(services, "turn_1")

    async def is_done() -> bool:
        pass_by(services, 30)
        return not await services.journal.items(ANNA)

    async with working(services):
        await until(is_done)
    assert [item.id for item in await services.journal.dead(ANNA)] == ["turn_1"]
    assert {row.text for row in await services.store.memories(ANNA)} == {"I use Shram.", "We keep two cats."}


async def test_new_messages_use_no_attempts_of_waiting_turns(services: Services) -> None:
    await say(services, ANNA, "first")
    await spoil(services, "turn_first")

    async def has_failed() -> bool:
        return bool((await services.journal.items(ANNA))[0].error)

    async def is_indexed() -> bool:
        return (await services.journal.depth())["index"] == 0

    async with working(services):
        await until(has_failed)
        for number in range(5):
            await say(services, ANNA, str(number))
            await until(is_indexed)
    assert [item.attempts for item in await services.journal.items(ANNA)] == [1, 0, 0, 0, 0, 0]


async def test_a_new_start_gives_the_dead_another_chance(services: Services) -> None:
    await say(services, ANNA, "1")
    await services.journal.bury(ANNA, [item.seq for item in await services.journal.items(ANNA)], "x")

    async def is_done() -> bool:
        pass_by(services, 1)
        return await services.journal.depth() == {"index": 0, "learn": 0, "dead": 0}

    async with working(services):
        await until(is_done)


async def test_nothing_is_written_under_a_lost_lease(services: Services, disk: Disk) -> None:
    disk.gate.clear()
    services.settings.worker.concurrency = 2
    services.pace = replace(services.pace, lease_s=0.06)
    await say(services, ANNA, "1")
    pass_by(services, 60)
    async with asyncio.timeout(10), working(services):
        await disk.entered.wait()
        later = NOW + timedelta(days=1)
        assert await services.leases.acquire(ANNA, "other", 3600, later)
        await disk.left.wait()
    (item,) = await services.journal.items(ANNA)
    assert (item.stage, item.attempts, item.error) == (TO_LEARN, 0, "")
    assert await services.store.memories(ANNA) == []
    assert await services.leases.renew(ANNA, "other", 60, later)


async def test_slow_work_of_one_owner_delays_no_other(services: Services, disk: Disk) -> None:
    disk.gate.clear()
    services.settings.worker.concurrency = 2
    await say(services, ANNA, "1")

    async def is_indexed() -> bool:
        services.wake.set()
        return len(await services.store.episodes(BEN)) > 0

    async with working(services):
        pass_by(services, 1)
        async with asyncio.timeout(10):
            await disk.entered.wait()
        await say(services, BEN, "1")
        pass_by(services, 1)
        await until(is_indexed)
        disk.gate.set()


async def test_api_write_does_not_wait_for_many_turns(services: Services, disk: Disk) -> None:
    disk.gate.clear()
    for turn in range(20):
        await say(services, ANNA, str(turn), f"I use the tool number {turn}.")
    pass_by(services, 1)
    async with working(services):
        async with asyncio.timeout(10):
            await disk.entered.wait()
        asked = spawn(_hold(services, ANNA), "hold")
        while not services.leases.is_wanted(ANNA):
            await asyncio.sleep(0)
        disk.gate.set()
        left = await asked
    assert left >= 18  # of 20 turns: the current one finished first, the others waited


async def _hold(services: Services, scope: Scope) -> int:
    """Hold the lease of a scope once, and return the number of turns not learned by then."""
    async with services.leases.held(scope):
        return len(await services.journal.items(scope))


async def test_new_turn_is_found_before_others_are_learned(services: Services) -> None:
    for turn in range(3):
        await say(services, ANNA, str(turn))
    pass_by(services, 1)
    first = await services.journal.claim("w", now=services.clock.now(), lease_s=30)
    assert first is not None
    for item in first.items:
        await services.journal.advance(ANNA, [item.seq], stage=TO_LEARN, due=services.clock.now())
    await services.leases.release(ANNA, "w")
    pass_by(services, 1)
    await say(services, BEN, "1")
    pass_by(services, 1)
    claim = await services.journal.claim("w", now=services.clock.now(), lease_s=30)
    assert claim is not None
    assert claim.scope.user == BEN.user


async def test_an_attempt_is_counted_before_it_begins(services: Services) -> None:
    """A process that is killed while it learns cannot count the attempt, so the journal does so before."""
    await say(services, ANNA, "1")
    await say(services, ANNA, "2")
    first, _ = await services.journal.items(ANNA)
    for _ in range(services.pace.max_attempts):
        await services.journal.begin(ANNA, [first.seq])

    async def is_done() -> bool:
        pass_by(services, 1)
        return await services.journal.depth() == {"index": 0, "learn": 0, "dead": 1}

    for _ in range(2):  # a restart does not try it again
        async with working(services):
            await until(is_done)
    (dead,) = await services.journal.dead(ANNA)
    assert (dead.id, dead.error) == ("turn_1", "stalled")


async def test_finished_attempt_is_not_counted(services: Services) -> None:
    await say(services, ANNA, "1")
    (item,) = await services.journal.items(ANNA)
    await services.journal.begin(ANNA, [item.seq])

    async def is_done() -> bool:
        pass_by(services, 1)
        return not await services.journal.items(ANNA)

    async with working(services):
        await until(is_done)
    assert await services.journal.depth() == {"index": 0, "learn": 0, "dead": 0}
    assert len(await services.store.memories(ANNA)) == 1


async def test_too_slow_turn_is_kept_unlearned(services: Services, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("proxy.process.threads.MAX_CPU_S", -1.0)
    await say(services, ANNA, "1")

    async def is_done() -> bool:
        pass_by(services, 1)
        return await services.journal.depth() == {"index": 0, "learn": 0, "dead": 1}

    async with working(services):
        await until(is_done)
    assert await services.store.memories(ANNA) == []
    assert len(await services.store.episodes(ANNA)) > 0

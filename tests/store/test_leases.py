from __future__ import annotations

import asyncio
from datetime import timedelta

import pytest
import sqlalchemy as sa

from proxy.clock import ManualClock, to_ms
from proxy.errors import StoreUnavailable
from proxy.process.threads import spawn
from proxy.store.leases import LeaseLost, Leases
from proxy.store.sql import Database
from proxy.store.tables import leases as leases_table
from tests.store.sql_rows import NOW, ON_BOTH, make_scope

pytestmark = [pytest.mark.anyio, ON_BOTH]

ANNA, BEN = make_scope("anna"), make_scope("ben")
LATER = NOW + timedelta(seconds=10)


async def test_a_lease_has_one_holder(db: Database, elsewhere: Database) -> None:
    here, there = Leases(db), Leases(elsewhere)
    assert await here.acquire(ANNA, "a", 10, NOW)
    assert not await there.acquire(ANNA, "b", 10, NOW)
    assert await there.acquire(BEN, "b", 10, NOW)


async def test_its_holder_may_take_it_again(db: Database) -> None:
    leases = Leases(db)
    assert await leases.acquire(ANNA, "a", 10, NOW)
    assert await leases.acquire(ANNA, "a", 20, NOW)
    assert not await leases.acquire(ANNA, "b", 10, LATER)


async def test_a_lease_that_ran_out_is_taken_over(db: Database) -> None:
    leases = Leases(db)
    assert await leases.acquire(ANNA, "a", 10, NOW)
    assert await leases.acquire(ANNA, "b", 10, LATER)
    assert not await leases.renew(ANNA, "a", 10, LATER)
    await leases.release(ANNA, "a")
    assert not await leases.acquire(ANNA, "c", 10, LATER)


async def test_renewing_holds_it_longer(db: Database) -> None:
    leases = Leases(db)
    assert await leases.acquire(ANNA, "a", 10, NOW)
    assert await leases.renew(ANNA, "a", 10, LATER)
    assert not await leases.acquire(ANNA, "b", 10, LATER)


async def test_many_contenders_get_one_lease(db: Database, elsewhere: Database) -> None:
    sides = Leases(db), Leases(elsewhere)
    won = await asyncio.gather(*(sides[n % 2].acquire(ANNA, f"h{n}", 10, NOW) for n in range(20)))
    assert won.count(True) == 1


async def test_blocks_of_one_owner_run_one_after_another(db: Database, elsewhere: Database) -> None:
    sides = Leases(db), Leases(elsewhere)
    inside: list[int] = []

    async def write(n: int) -> None:
        async with sides[n % 2].held(ANNA):
            inside.append(n)
            await asyncio.sleep(0)
            assert inside == [n]
            inside.remove(n)

    await asyncio.gather(*(write(n) for n in range(12)))
    assert await sides[0].acquire(ANNA, "after", 10, NOW)


async def test_blocks_of_two_owners_run_side_by_side(db: Database) -> None:
    leases = Leases(db)
    async with leases.held(ANNA, wait_s=0.5), leases.held(BEN, wait_s=0.5):
        pass


async def test_waiting_ends_with_an_error_without_residue(db: Database) -> None:
    leases = Leases(db, ManualClock(NOW))
    assert await leases.acquire(ANNA, "worker", 10, NOW)
    for _ in range(2):
        with pytest.raises(StoreUnavailable):
            async with leases.held(ANNA, wait_s=0.02):
                pytest.fail("entered")
    await leases.release(ANNA, "worker")
    async with leases.held(ANNA, wait_s=1):
        pass


async def test_waiting_behind_the_same_process_ends_too(db: Database) -> None:
    leases = Leases(db)
    async with leases.held(ANNA):
        with pytest.raises(StoreUnavailable):
            async with leases.held(ANNA, wait_s=0.02):
                pytest.fail("entered")


async def test_lease_goes_to_a_waiter_before_its_holder(db: Database) -> None:
    leases = Leases(db)
    assert await leases.acquire(ANNA, "worker", 60, NOW)
    entered, leave = asyncio.Event(), asyncio.Event()

    async def wait() -> None:
        async with leases.held(ANNA, wait_s=30):
            entered.set()
            await leave.wait()

    assert not leases.is_wanted(ANNA)
    async with asyncio.TaskGroup() as group:
        group.create_task(wait())
        while not leases.is_wanted(ANNA):
            await asyncio.sleep(0)
        assert not leases.is_wanted(BEN)
        await leases.release(ANNA, "worker")
        assert not await leases.acquire(ANNA, "worker", 60, NOW)
        async with asyncio.timeout(10):
            await entered.wait()
        assert not leases.is_wanted(ANNA)
        leave.set()
    assert await leases.acquire(ANNA, "worker", 60, NOW)


@pytest.mark.parametrize("steps", range(12))
async def test_cancelled_waiter_leaves_no_lease_behind(db: Database, steps: int) -> None:
    """This holds at every step before it would get the lease."""
    leases = Leases(db)
    assert await leases.acquire(ANNA, "worker", 60, NOW)

    async def wait() -> None:
        async with leases.held(ANNA, wait_s=30):
            pass

    waiting = spawn(wait(), "wait")
    while not leases.is_wanted(ANNA):
        await asyncio.sleep(0)
    giving = spawn(leases.release(ANNA, "worker"), "release")
    for _ in range(steps):
        await asyncio.sleep(0)
    waiting.cancel()
    await asyncio.gather(waiting, giving, return_exceptions=True)
    async with asyncio.timeout(10):
        while not await leases.acquire(ANNA, "other", 60, NOW):
            await asyncio.sleep(0.005)


async def test_a_dead_holder_is_waited_out(db: Database) -> None:
    clock = ManualClock(NOW)
    leases = Leases(db, clock)
    assert await leases.acquire(ANNA, "dead", 10, NOW)
    clock.advance(timedelta(seconds=10))
    async with leases.held(ANNA, wait_s=1):
        pass


async def test_failing_or_cancelled_block_returns_the_lease(db: Database) -> None:
    leases = Leases(db)
    entered = asyncio.Event()

    async def hang() -> None:
        async with leases.held(ANNA):
            entered.set()
            await asyncio.Event().wait()

    async def fail() -> None:
        async with leases.held(ANNA):
            raise KeyError

    with pytest.raises(KeyError):
        await fail()
    task = asyncio.ensure_future(hang())
    await entered.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    async with leases.held(ANNA, wait_s=1):
        pass


async def test_a_long_block_keeps_its_lease(db: Database) -> None:
    clock = ManualClock(NOW)
    until = sa.select(leases_table.c.until_ms)
    async with Leases(db, clock, lease_s=0.1).held(ANNA):
        clock.advance(timedelta(seconds=5))
        async with asyncio.timeout(10):
            while await db.query(lambda connection: connection.execute(until).scalar_one()) < to_ms(clock.now()):
                await asyncio.sleep(0.01)


async def test_a_block_ends_with_its_lease(db: Database, elsewhere: Database) -> None:
    clock = ManualClock(NOW)
    leases = Leases(db, clock, lease_s=0.06)
    other = Leases(elsewhere)

    async def lose() -> None:
        async with leases.held(ANNA):
            assert await other.acquire(ANNA, "other", 60, NOW + timedelta(hours=1))
            await asyncio.Event().wait()

    async with asyncio.timeout(10):
        with pytest.raises(LeaseLost):
            await lose()
    assert await other.renew(ANNA, "other", 60, NOW)


async def test_database_hiccup_does_not_end_the_lease(db: Database, database_url: str, log_lines: list) -> None:
    if not database_url.startswith("sqlite"):
        pytest.skip("to Postgres a missing table is no outage")
    clock = ManualClock(NOW)
    until = sa.select(leases_table.c.until_ms)
    rename = "ALTER TABLE {} RENAME TO {}"
    async with Leases(db, clock, lease_s=0.06).held(ANNA):
        await db.submit(lambda connection: connection.exec_driver_sql(rename.format("leases", "elsewhere")).close())
        async with asyncio.timeout(10):
            while not any("could not be renewed" in line["event"] for line in log_lines):
                await asyncio.sleep(0.01)
        await db.submit(lambda connection: connection.exec_driver_sql(rename.format("elsewhere", "leases")).close())
        clock.advance(timedelta(seconds=5))
        async with asyncio.timeout(10):
            while await db.query(lambda connection: connection.execute(until).scalar_one()) < to_ms(clock.now()):
                await asyncio.sleep(0.01)

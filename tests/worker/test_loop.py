from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Coroutine, Sequence
from contextlib import asynccontextmanager
from datetime import timedelta
from typing import Any

import pytest

from proxy.clock import ManualClock
from proxy.errors import UpstreamUnreachable
from proxy.memory.learn.model_output import ExtractionFailed
from proxy.memory.model.extraction import Extraction
from proxy.services import Services
from proxy.store.journal_rows import Claim
from proxy.types import Episode, Memory, Scope, Turn
from proxy.worker.loop import Worker
from tests.store.sql_rows import NOW, make_record, make_scope

pytestmark = pytest.mark.anyio

ANNA, BEN = make_scope("anna"), make_scope("ben")
OUTAGES = [UpstreamUnreachable("away"), ExtractionFailed("silent")]
OUTAGES[1].__cause__ = TimeoutError()


class Failing:
    """An extractor that fails for turns that say a word, with a given error; ``batches`` as asked."""

    def __init__(self, error: Exception | None, *, word: str = "", batches: bool = False) -> None:
        self.error, self.batches, self._word = error, batches, word
        self.calls = 0

    async def extract(self, turns: Sequence[Turn], known: Sequence[Memory], heard: Sequence[Episode]) -> Extraction:
        self.calls += 1
        if self.error is not None and any(self._word in said.text for turn in turns for said in turn.messages):
            raise self.error
        return Extraction({})


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


async def test_a_row_that_cannot_be_read_holds_up_nobody(services: Services) -> None:
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


@pytest.mark.parametrize("batches", [True, False])
@pytest.mark.parametrize("error", OUTAGES, ids=["unreachable", "silent"])
async def test_an_outage_of_any_length_buries_nothing(services: Services, error: Exception, batches: bool) -> None:
    extractor = services.extractor = Failing(error, batches=batches)
    await say(services, ANNA, "1")
    await say(services, ANNA, "2")

    async def has_tried() -> bool:
        pass_by(services, 61)
        return extractor.calls > 10

    async def is_done() -> bool:
        pass_by(services, 61)
        return not await services.journal.items(ANNA)

    async with working(services):
        await until(has_tried)
        assert [item.attempts for item in await services.journal.items(ANNA)] == [0, 0]
        extractor.error = None
        await until(is_done)
    assert await services.journal.depth() == {"index": 0, "learn": 0, "dead": 0}


@pytest.mark.parametrize("batches", [True, False])
async def test_a_turn_that_cannot_be_learned_is_buried_without_its_neighbours(
    services: Services, batches: bool
) -> None:
    services.extractor = Failing(ExtractionFailed("no JSON"), word="poison", batches=batches)
    for number, text in enumerate(["I use Shram.", "poison", "I use Magnet."]):
        await say(services, ANNA, str(number), text)

    async def is_done() -> bool:
        pass_by(services, 30)
        return not await services.journal.items(ANNA)

    async with working(services):
        await until(is_done)
    assert [item.id for item in await services.journal.dead(ANNA)] == ["turn_1"]


async def test_new_messages_burn_no_attempts_of_a_turn_that_waits(services: Services) -> None:
    extractor = services.extractor = Failing(ExtractionFailed("no JSON"))
    await say(services, ANNA, "first")
    pass_by(services, services.settings.memory.max_wait_s + 1)

    async def has_failed() -> bool:
        return bool((await services.journal.items(ANNA))[0].error)

    async def is_indexed() -> bool:
        return (await services.journal.depth())["index"] == 0

    async with working(services):
        await until(has_failed)
        for number in range(5):
            await say(services, ANNA, str(number))
            await until(is_indexed)
    assert extractor.calls == 1
    assert [item.attempts for item in await services.journal.items(ANNA)] == [1, 0, 0, 0, 0, 0]


async def test_a_new_start_gives_the_dead_another_chance(services: Services) -> None:
    await say(services, ANNA, "1")
    await services.journal.bury(ANNA, [item.seq for item in await services.journal.items(ANNA)], "x")

    async def is_done() -> bool:
        pass_by(services, 1)
        return await services.journal.depth() == {"index": 0, "learn": 0, "dead": 0}

    async with working(services):
        await until(is_done)


async def test_nothing_is_written_under_a_lost_lease(services: Services) -> None:
    entered, lost = asyncio.Event(), asyncio.Event()

    class Slow(Failing):
        async def extract(self, turns: Sequence[Turn], known: Sequence[Memory], heard: Sequence[Episode]) -> Extraction:
            entered.set()
            try:
                await asyncio.Event().wait()
            except asyncio.CancelledError:
                lost.set()
                raise
            return Extraction({})

    services.extractor = Slow(None)
    services.settings.worker.concurrency = 2
    services.settings.worker.lease_s = 0.06
    await say(services, ANNA, "1")
    pass_by(services, 60)
    async with asyncio.timeout(10), working(services):
        while not entered.is_set():
            pass_by(services, 1)
            await asyncio.sleep(0.005)
        later = NOW + timedelta(days=1)
        assert await services.leases.acquire(ANNA, "other", 3600, later)
        await lost.wait()
    (item,) = await services.journal.items(ANNA)
    assert (item.attempts, item.error) == (0, "")
    assert await services.leases.renew(ANNA, "other", 60, later)


async def test_work_of_one_owner_that_takes_long_holds_up_no_other(services: Services) -> None:
    gate = asyncio.Event()

    class Slow(Failing):
        async def extract(self, turns: Sequence[Turn], known: Sequence[Memory], heard: Sequence[Episode]) -> Extraction:
            await gate.wait()
            return Extraction({})

    services.extractor = Slow(None)
    services.settings.worker.concurrency = 2
    await say(services, ANNA, "1")

    async def is_learning() -> bool:
        return (await services.journal.depth())["learn"] == 1

    async def is_indexed() -> bool:
        services.wake.set()
        return len(await services.store.episodes(BEN)) > 0

    async with working(services):
        pass_by(services, 1)
        await until(is_learning)
        pass_by(services, 1)
        await say(services, BEN, "1")
        pass_by(services, 1)
        await until(is_indexed)
        gate.set()

from __future__ import annotations

import asyncio
from datetime import timedelta
from pathlib import Path

import pytest

from proxy.clock import ManualClock
from proxy.services import Services
from proxy.services.opening import open_services
from proxy.settings.load import load_settings
from proxy.types import Episode
from proxy.worker import schedule as schedule_module
from proxy.worker.schedule import Schedule
from tests.store.lance_rows import fact
from tests.store.sql_rows import make_record, make_scope

pytestmark = pytest.mark.anyio


@pytest.fixture(autouse=True)
def hasty(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(schedule_module, "_TICK_S", 0.01)


async def noted_as_done(services: Services) -> None:
    for note in (services.destructions.begin, services.destructions.done):
        await note(make_scope("anna"), "memory", "mem_1", now=services.clock.now())


async def test_files_are_scrubbed_at_the_next_tick(services: Services) -> None:
    schedule = Schedule(services)
    schedule.start()
    await noted_as_done(services)
    async with asyncio.timeout(10):
        while await services.destructions.awaits_scrub():
            await asyncio.sleep(0.005)
    await schedule.stop()


async def test_files_are_scrubbed_at_shutdown_at_the_latest(
    services: Services, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(schedule_module, "_TICK_S", 3600.0)
    schedule = Schedule(services)
    schedule.start()
    await noted_as_done(services)
    await schedule.stop()
    assert not await services.destructions.awaits_scrub()


async def test_failed_destruction_is_ended_by_later_tick(services: Services) -> None:
    assert isinstance(services.clock, ManualClock)
    anna, memory, schedule = make_scope("anna"), fact(1, "I play the zither"), Schedule(services)
    schedule.start()
    await services.book.rewrite(anna, [memory])
    await services.destructions.begin(anna, "memory", memory.id, now=services.clock.now())
    services.clock.advance(timedelta(minutes=3))
    async with asyncio.timeout(10):
        while await services.store.memory(anna, memory.id) is not None:
            await asyncio.sleep(0.005)
    await schedule.stop()


async def test_upkeep_outlives_whatever_a_step_raises(services: Services, monkeypatch: pytest.MonkeyPatch) -> None:
    measured = asyncio.Event()
    failures = iter([KeyError("x")])

    async def depth() -> dict[str, int]:
        for failure in failures:
            raise failure
        measured.set()
        return {}

    monkeypatch.setattr(services.journal, "depth", depth)
    schedule = Schedule(services)
    schedule.start()
    async with asyncio.timeout(10):
        await measured.wait()
    await schedule.stop()


async def test_others_write_during_a_long_filling_in(services: Services, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(schedule_module, "MAX_FILLED", 8)
    services.is_embedder_warm = True
    anna, now = make_scope("anna"), services.clock.now()
    said = [Episode(f"msg_{at}", anna.session, f"turn_{at}", at, "user", f"tea number {at}", now) for at in range(60)]
    await services.book.keep(anna, said)
    services.written.add(anna)
    schedule = Schedule(services)
    schedule.start()
    seen = len(said)
    async with asyncio.timeout(20):
        while seen == len(said):
            async with services.leases.held(anna):
                seen = len(await services.store.unembedded(anna, "episodes", services.embedder.model))
    assert 0 < seen < len(said)
    await schedule.stop()


async def test_what_waits_to_be_learned_goes_first(services: Services) -> None:
    services.is_embedder_warm = True
    anna, now = make_scope("anna"), services.clock.now()
    said = [Episode(f"msg_{at}", anna.session, f"turn_{at}", at, "user", f"tea number {at}", now) for at in range(60)]
    await services.book.keep(anna, said)
    for number in range(40):
        await services.journal.record(anna, make_record(anna, str(number)))
    filling = schedule_module._Filling(services)
    await filling.tick([anna])
    assert len(await services.store.unembedded(anna, "episodes", services.embedder.model)) == len(said)
    await services.journal.finish(anna, [item.seq for item in await services.journal.items(anna)], now=now)
    await filling.tick([])
    assert await services.store.unembedded(anna, "episodes", services.embedder.model) == []


async def test_rows_of_another_process_get_their_vectors(services: Services) -> None:
    services.is_embedder_warm = True
    anna = make_scope("anna")
    await services.journal.record(anna, make_record(anna, "1"))  # the process learns of users by their records
    filling = schedule_module._Filling(services)
    await filling.tick([])
    await services.store.put_memories(anna, [fact(1, "I play the zither")], {}, "")
    await filling.tick([])
    assert await services.store.has_unembedded(anna)
    filling.look_again()
    await filling.tick([])
    assert not await services.store.has_unembedded(anna)


async def test_conversations_unused_for_long_are_pruned(services: Services) -> None:
    anna = make_scope("anna")
    assert isinstance(services.clock, ManualClock)
    await services.journal.record(anna, make_record(anna, "1"))
    services.clock.advance(timedelta(days=91))
    schedule = Schedule(services)
    schedule.start()
    async with asyncio.timeout(10):
        while await services.sessions.locate(anna, ["hash_1"]):
            await asyncio.sleep(0.005)
    await schedule.stop()


async def test_data_folder_that_we_make_is_private(tmp_path: Path) -> None:
    folder = tmp_path / "data"
    services = await open_services(load_settings(flags={"server": {"data_dir": folder}}))
    await services.close()
    assert folder.stat().st_mode & 0o777 == 0o700

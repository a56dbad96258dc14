"""An import that is stopped repeatedly: its progress counts, not the number of attempts."""

from __future__ import annotations

import asyncio
import gc
import json
from collections.abc import AsyncIterator
from datetime import timedelta
from pathlib import Path

import pytest

from proxy.clock import ManualClock
from proxy.services import Services
from proxy.services.opening import open_services
from proxy.settings.load import load_settings
from proxy.store.jobs import Job
from proxy.worker.importer import AT_ONCE, LEASE_S, MAX_ATTEMPTS, Importer
from tests.e2e.test_import_killed import conversation
from tests.store.sql_rows import NOW
from tests.worker.test_loop import ANNA

pytestmark = pytest.mark.anyio

STOPS = MAX_ATTEMPTS + 2


@pytest.fixture
async def lasting(tmp_path: Path) -> AsyncIterator[Services]:
    services = await open_services(load_settings(flags={"server": {"data_dir": tmp_path}}), clock=ManualClock(NOW))
    await services.open_store()
    yield services
    await services.close()


async def queued(services: Services, content: bytes) -> Job:
    async def chunks() -> AsyncIterator[bytes]:
        yield content

    job = Job("job_" + "0" * 24, ANNA, NOW)
    await services.spool.put(ANNA, job.id, chunks())
    await services.jobs.add(ANNA, job)
    return job


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")  # the file of a stopped import
async def test_import_that_gets_on_may_stop_often(lasting: Services) -> None:
    """More restarts than the limit of attempts do not end an import that makes progress each time."""
    file = json.dumps([conversation(number) for number in range((STOPS + 1) * AT_ONCE)]).encode()
    job = await queued(lasting, file)
    for stop in range(1, STOPS + 1):
        importer = Importer(lasting)
        importer.start()
        async with asyncio.timeout(30):
            while (job := await lasting.jobs.get(ANNA, job.id)).done < stop * AT_ONCE:
                assert (job.status, job.error) in (("queued", ""), ("running", ""))
                await asyncio.sleep(0.01)
        await importer.stop(5)
        assert isinstance(lasting.clock, ManualClock)
        lasting.clock.advance(timedelta(seconds=LEASE_S + 1))
    gc.collect()


async def test_waiting_for_the_store_is_no_try(lasting: Services) -> None:
    """A disk that is full for an hour does not end an import."""
    job = await queued(lasting, b"[]")
    for _ in range(STOPS):
        claimed = await lasting.jobs.claim("holder", now=NOW, lease_s=LEASE_S)
        assert claimed is not None
        await lasting.jobs.put_off(claimed, "holder", until=NOW)
    claimed = await lasting.jobs.claim("holder", now=NOW, lease_s=LEASE_S)
    assert claimed is not None
    assert (claimed.id, claimed.attempts) == (job.id, 1)

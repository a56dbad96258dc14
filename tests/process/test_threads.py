"""Failures of background tasks: which are logged as errors."""

from __future__ import annotations

import asyncio

import pytest
from structlog.typing import EventDict

from proxy.errors import NotFound, StoreUnavailable
from proxy.process.threads import drain, shielded

pytestmark = pytest.mark.anyio


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


async def fail(gate: asyncio.Event, error: Exception) -> None:
    await gate.wait()
    raise error


@pytest.mark.parametrize("error", [NotFound("no memory"), StoreUnavailable("away"), ValueError()])
async def test_failure_that_the_caller_gets_is_not_logged(log_lines: list[EventDict], error: Exception) -> None:
    gate = asyncio.Event()
    gate.set()
    with pytest.raises(type(error)):
        await shielded(fail(gate, error), "write")
    await drain(1)
    assert log_lines == []


@pytest.mark.parametrize(
    ("error", "is_logged"), [(NotFound("no memory"), False), (StoreUnavailable("away"), True), (ValueError(), True)]
)
async def test_failure_behind_a_cancelled_caller_is_logged(
    log_lines: list[EventDict], error: Exception, is_logged: bool
) -> None:
    gate = asyncio.Event()
    caller = asyncio.ensure_future(shielded(fail(gate, error), "write"))
    await asyncio.sleep(0)
    caller.cancel()
    with pytest.raises(asyncio.CancelledError):
        await caller
    gate.set()
    await drain(1)
    assert [line["event"] for line in log_lines] == ["background task failed"] * is_logged


async def test_work_outlives_its_cancelled_caller() -> None:
    gate, done = asyncio.Event(), asyncio.Event()

    async def work() -> None:
        await gate.wait()
        done.set()

    caller = asyncio.ensure_future(shielded(work(), "work"))
    await asyncio.sleep(0)
    caller.cancel()
    gate.set()
    await drain(1)
    assert done.is_set()

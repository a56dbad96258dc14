from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any

import pytest

from proxy.errors import NotFound
from proxy.process.threads import drain, shielded

pytestmark = pytest.mark.anyio


async def fail_after(gate: asyncio.Event) -> None:
    await gate.wait()
    raise KeyError("x")


async def refuse_after(gate: asyncio.Event) -> None:
    await gate.wait()
    raise NotFound("no memory")


async def test_failure_that_the_caller_gets_is_not_logged(log_lines: list[dict[str, Any]]) -> None:
    gate = asyncio.Event()
    gate.set()
    with pytest.raises(KeyError):
        await shielded(fail_after(gate), "work")
    await drain(1)
    assert log_lines == []


@pytest.mark.parametrize(("work", "is_logged"), [(fail_after, True), (refuse_after, False)])
async def test_failure_behind_a_cancelled_caller_is_logged(
    log_lines: list[dict[str, Any]], work: Callable[[asyncio.Event], Coroutine[Any, Any, None]], is_logged: bool
) -> None:
    gate = asyncio.Event()
    caller = asyncio.ensure_future(shielded(work(gate), "work"))
    await asyncio.sleep(0)
    caller.cancel()
    with pytest.raises(asyncio.CancelledError):
        await caller
    gate.set()
    await drain(1)
    assert [(line["event"], line["task"], line["error"]) for line in log_lines] == [
        ("background task failed", "work", "KeyError")
    ] * is_logged


async def test_work_outlives_its_cancelled_caller(log_lines: list[dict[str, Any]]) -> None:
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
    assert log_lines == []

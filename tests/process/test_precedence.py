"""Background work yields to requests, and always runs in the end."""

from __future__ import annotations

import asyncio

import anyio
import pytest

from proxy.process.precedence import Precedence

pytestmark = pytest.mark.anyio
_FOREVER_S = 60.0


async def test_work_waits_for_the_last_request() -> None:
    precedence, order = Precedence(cores=1), list[str]()

    async with anyio.create_task_group() as group:
        with precedence.ahead():
            with precedence.ahead():
                group.start_soon(_behind, precedence, order)
                await asyncio.sleep(0)
                order.append("first")
            await asyncio.sleep(0)
            order.append("second")
    assert order == ["first", "second", "behind"]


async def test_nothing_waits_where_nobody_goes_first() -> None:
    with anyio.fail_after(1):
        await Precedence(cores=1).give_way(_FOREVER_S)


async def test_a_load_without_pauses_holds_no_work_up() -> None:
    precedence = Precedence(cores=1)
    with precedence.ahead():
        await precedence.give_way(0.001)


async def test_old_work_waits_less() -> None:
    precedence = Precedence(cores=1)
    fresh = precedence.patience_s
    precedence.behind_s = 1.0
    assert precedence.patience_s == fresh
    precedence.behind_s = 3600.0
    with precedence.ahead(), anyio.fail_after(10):
        for _ in range(1000):
            await precedence.give_way()
    assert precedence.patience_s < fresh / 100


async def test_a_request_that_fails_no_longer_goes_first() -> None:
    precedence = Precedence(cores=1)
    with pytest.raises(ValueError, match="refused"), precedence.ahead():
        raise ValueError("refused")
    with anyio.fail_after(1):
        await precedence.give_way(_FOREVER_S)


async def test_nothing_waits_where_cores_are_left_over() -> None:
    precedence = Precedence(cores=4)
    with precedence.ahead(), precedence.ahead(), anyio.fail_after(1):
        await precedence.give_way(_FOREVER_S)


async def test_a_short_pause_between_two_requests_is_none() -> None:
    precedence, order = Precedence(cores=1), list[str]()

    async with anyio.create_task_group() as group:
        with precedence.ahead():
            group.start_soon(_behind, precedence, order)
            await asyncio.sleep(0)
        await asyncio.sleep(0)
        with precedence.ahead():
            order.append("second")
    assert order == ["second", "behind"]


async def _behind(precedence: Precedence, order: list[str]) -> None:
    await precedence.give_way(_FOREVER_S)
    order.append("behind")

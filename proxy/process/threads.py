"""Thread pools by kind of work, background tasks that cannot be lost, and the CPU limit of one piece of work."""

from __future__ import annotations

import asyncio
import contextlib
import os
import sys
import threading
import time
from collections.abc import Callable, Coroutine, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any, ParamSpec, TypeVar

import structlog

from proxy.errors import ProxyError

P = ParamSpec("P")
T = TypeVar("T")

_log = structlog.get_logger(__name__)
_tasks: set[asyncio.Task[Any]] = set()
_pools: dict[str, ThreadPoolExecutor] = {}
_SIZES = {"cpu": 2, "load": 2, "parse": 2, "ocr": 1, "learn": 1}
_SERVER_ERROR = 500
_BEHIND = 5  # behind what answers, yet not starved by other programs of the machine
MAX_CPU_S = 5.0  # of each half: reading, deciding


async def in_thread(kind: str, function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """Run a blocking or CPU-heavy function in the pool of its kind: ``cpu``, ``load``, ``parse``, ``ocr`` or ``learn``.

    What a request waits for stands in no line behind what is learned in the background.
    """
    pool = _pools.get(kind)
    if pool is None:
        start = give_way if kind == "learn" else None
        pool = _pools.setdefault(kind, ThreadPoolExecutor(_SIZES[kind], thread_name_prefix=kind, initializer=start))
    return await asyncio.get_running_loop().run_in_executor(pool, partial(function, *args, **kwargs))


def spawn(work: Coroutine[Any, Any, Any], name: str) -> asyncio.Task[Any]:
    """Start a task that is kept until it ends and whose failure is logged."""
    task = asyncio.get_running_loop().create_task(work, name=name)
    _tasks.add(task)
    task.add_done_callback(_ended)
    return task


async def shielded(work: Coroutine[Any, Any, T], name: str) -> T:
    """Await work that must run to its end even when the caller is cancelled (a client hung up).

    A failure is the caller's to handle; it is logged only where the caller was cancelled.
    """
    task = asyncio.get_running_loop().create_task(work, name=name)
    _tasks.add(task)
    task.add_done_callback(_tasks.discard)
    try:
        return await asyncio.shield(task)
    except asyncio.CancelledError:
        task.add_done_callback(_ended)
        raise


def give_way() -> None:
    """Let the calling thread run behind all others, where threads have priorities of their own; for a pool's start."""
    if sys.platform == "linux":  # elsewhere this is the process's
        with contextlib.suppress(OSError):
            own = os.getpriority(os.PRIO_PROCESS, threading.get_native_id())
            os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), own + _BEHIND)


async def drain(timeout_s: float) -> None:
    """Wait for the tasks spawned on this loop to end, at most so long."""
    loop = asyncio.get_running_loop()
    if mine := {task for task in _tasks if task.get_loop() is loop}:
        await asyncio.wait(mine, timeout=timeout_s)


class TookTooLong(Exception):
    """Learning from a turn takes more time than it may."""


class Patience:
    """The CPU time that one piece of work has left, such as learning from a turn; waiting for others costs nothing.

    Every pattern is linear and every length has a cap, so that no single step stands still for long: a limit that is
    asked between steps is enough. A process of its own would need the user's index as well, and could be ended no
    sooner.
    """

    def __init__(self, cpu_s: float | None = None) -> None:
        self._until_s = time.thread_time() + (MAX_CPU_S if cpu_s is None else cpu_s)

    def each(self, items: Iterable[T]) -> Iterator[T]:
        """Yield items, one by one as long as there is time.

        Raises:
            TookTooLong: Before the first one for which there is none.
        """
        for item in items:
            if time.thread_time() > self._until_s:
                raise TookTooLong
            yield item


def _ended(task: asyncio.Task[Any]) -> None:
    _tasks.discard(task)
    error = None if task.cancelled() else task.exception()
    is_refusal = isinstance(error, ProxyError) and error.status < _SERVER_ERROR  # its client is told
    if error is not None and not is_refusal:
        _log.error("background task failed", task=task.get_name(), error=type(error).__name__)

"""Thread pools by kind of work, background tasks with strong references, and a CPU limit per work item."""

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
_BEHIND = 5  # niceness: after the answering threads, but not starved by other programs
MAX_CPU_S = 5.0  # for each of extraction and planning


async def in_thread(kind: str, function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """Run a blocking or CPU-heavy function in the pool of its kind: ``cpu``, ``load``, ``parse``, ``ocr`` or ``learn``.

    Work of a request never queues behind background learning.
    """
    pool = _pools.get(kind)
    if pool is None:
        start = give_way if kind == "learn" else None
        pool = _pools.setdefault(kind, ThreadPoolExecutor(_SIZES[kind], thread_name_prefix=kind, initializer=start))
    return await asyncio.get_running_loop().run_in_executor(pool, partial(function, *args, **kwargs))


def spawn(work: Coroutine[Any, Any, Any], name: str) -> asyncio.Task[Any]:
    """Start a task with a strong reference until it ends; log its failure."""
    task = asyncio.get_running_loop().create_task(work, name=name)
    _tasks.add(task)
    task.add_done_callback(_ended)
    return task


async def shielded(work: Coroutine[Any, Any, T], name: str) -> T:
    """Await work that must complete even if the caller is cancelled (client disconnect).

    The caller handles a failure; it is logged only if the caller was cancelled.
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
    """Lower the calling thread's priority below all others, if the system has thread priorities; pool initializer."""
    if sys.platform == "linux":  # elsewhere it would change the whole process
        with contextlib.suppress(OSError):
            own = os.getpriority(os.PRIO_PROCESS, threading.get_native_id())
            os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), own + _BEHIND)


async def drain(timeout_s: float) -> None:
    """Wait for the tasks spawned on this loop to end, at most ``timeout_s``."""
    loop = asyncio.get_running_loop()
    if mine := {task for task in _tasks if task.get_loop() is loop}:
        await asyncio.wait(mine, timeout=timeout_s)


class TookTooLong(Exception):
    """Learning from a turn exceeded its CPU limit."""


class Patience:
    """CPU time limit of one work item, such as learning from a turn; waiting does not count.

    Every pattern is linear and every length is capped, so no single step takes long, and a check between steps is
    enough. A separate process would need the user's index as well, and could not be ended sooner.
    """

    def __init__(self, cpu_s: float | None = None) -> None:
        self._until_s = time.thread_time() + (MAX_CPU_S if cpu_s is None else cpu_s)

    def each(self, items: Iterable[T]) -> Iterator[T]:
        """Yield items one by one while CPU time is left.

        Raises:
            TookTooLong: Before the next item, once the time is used up.
        """
        for item in items:
            if time.thread_time() > self._until_s:
                raise TookTooLong
            yield item


def _ended(task: asyncio.Task[Any]) -> None:
    _tasks.discard(task)
    error = None if task.cancelled() else task.exception()
    is_refusal = isinstance(error, ProxyError) and error.status < _SERVER_ERROR  # its client gets the error
    if error is not None and not is_refusal:
        _log.error("background task failed", task=task.get_name(), error=type(error).__name__)

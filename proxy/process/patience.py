"""CPU limit of one piece of work in a thread, such as learning from a turn.

Every pattern is linear and every length has a cap, so that no single step stands still for long; a limit that is asked
between steps is enough. A process of its own would need the user's index as well, and could be ended no sooner.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from typing import TypeVar

T = TypeVar("T")
MAX_CPU_S = 5.0  # of each half: reading, deciding


class TookTooLong(Exception):
    """Learning from a turn takes more time than it may."""


class Patience:
    """The CPU time of the thread that makes it; waiting for others costs nothing."""

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

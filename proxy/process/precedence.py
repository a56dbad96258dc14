"""Request priority: background work yields to requests that have not reached the provider yet."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress

_PATIENCE_S = 0.1  # of one step; learning from a turn is some six of them
_LATE_S = 5.0  # old work waits less and less: a load that never ends must not keep people from being remembered
_QUIET_S = 0.015  # a client that sends one request after the other leaves shorter pauses


class Precedence:
    """Keeps work that nobody waits for from running beside requests that somebody waits for.

    It is a courtesy, not a lock: under a load without pauses the work goes on, a little later, and the older it is,
    the less it waits.

    Args:
        cores: Of the machine; as long as requests leave some of them over, nothing has to wait.

    Attributes:
        behind_s: Age of the work that was begun last.
    """

    def __init__(self, cores: int | None = None) -> None:
        self._most = max(0, (cores or os.cpu_count() or 1) - 2)
        self.behind_s = 0.0
        self._ahead = 0
        self._left_at = 0.0
        self._clear = asyncio.Event()
        self._clear.set()

    @contextmanager
    def ahead(self) -> Iterator[None]:
        """Mark the caller as one who goes first."""
        self._ahead += 1
        if self._ahead > self._most:
            self._clear.clear()
        try:
            yield
        finally:
            self._ahead -= 1
            if self._ahead <= self._most and not self._clear.is_set():
                self._left_at = asyncio.get_running_loop().time()
                self._clear.set()

    @property
    def patience_s(self) -> float:
        """Longest wait of a step, in seconds.

        >>> precedence = Precedence()
        >>> precedence.behind_s = 50.0
        >>> precedence.patience_s
        0.01
        """
        return _PATIENCE_S * _LATE_S / max(self.behind_s, _LATE_S)

    async def give_way(self, patience_s: float | None = None) -> None:
        """Wait until those who go first have gone, at most so long; for use between steps of some milliseconds."""
        loop = asyncio.get_running_loop()
        with suppress(TimeoutError):
            async with asyncio.timeout(self.patience_s if patience_s is None else patience_s):
                while not self._clear.is_set() or loop.time() - self._left_at < _QUIET_S:
                    await self._clear.wait()
                    await asyncio.sleep(_QUIET_S)

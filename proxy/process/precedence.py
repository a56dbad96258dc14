"""Request priority: background work yields to requests that have not reached the provider yet."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress

_PATIENCE_S = 0.1  # of one step; learning from a turn has about six
_LATE_S = 5.0  # older work waits less, so that a constant load cannot prevent learning
_QUIET_S = 0.015  # longer than the pauses of a client that sends request after request


class Precedence:
    """Priority of requests over background work.

    It is not a lock: under a load without pauses background work runs with a small delay, which shrinks as the work
    gets older.

    Args:
        cores: CPU cores of the machine; while requests leave some of them free, background work does not wait.

    Attributes:
        behind_s: Age of the background work that was started last, in seconds.
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
        """Give the block priority over background work."""
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
        """Maximum wait of a step, in seconds.

        >>> precedence = Precedence()
        >>> precedence.behind_s = 50.0
        >>> precedence.patience_s
        0.01
        """
        return _PATIENCE_S * _LATE_S / max(self.behind_s, _LATE_S)

    async def give_way(self, patience_s: float | None = None) -> None:
        """Wait for requests with priority, at most ``patience_s``; call it between steps of a few milliseconds."""
        loop = asyncio.get_running_loop()
        with suppress(TimeoutError):
            async with asyncio.timeout(self.patience_s if patience_s is None else patience_s):
                while not self._clear.is_set() or loop.time() - self._left_at < _QUIET_S:
                    await self._clear.wait()
                    await asyncio.sleep(_QUIET_S)

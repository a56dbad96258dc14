"""Who goes first: a request on its way to the provider, before what is learned behind it."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager, suppress

_PATIENCE_S = 0.02


class Precedence:
    """Keeps work that nobody waits for from running beside requests that somebody waits for.

    It is a courtesy, not a lock: under a load without pauses the work goes on, a little later.
    """

    def __init__(self) -> None:
        self._ahead = 0
        self._clear = asyncio.Event()
        self._clear.set()

    @contextmanager
    def ahead(self) -> Iterator[None]:
        """Mark the caller as one who goes first."""
        self._ahead += 1
        self._clear.clear()
        try:
            yield
        finally:
            self._ahead -= 1
            if not self._ahead:
                self._clear.set()

    async def give_way(self, patience_s: float = _PATIENCE_S) -> None:
        """Wait until nobody goes first, at most so long; to be called between steps of a few milliseconds."""
        if self._ahead:
            with suppress(TimeoutError):
                async with asyncio.timeout(patience_s):
                    await self._clear.wait()

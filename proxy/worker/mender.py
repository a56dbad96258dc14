"""Looks for damaged tables at the start, and mends those that turn out to be damaged while the server runs."""

from __future__ import annotations

import asyncio

import structlog

from proxy.errors import ProxyError
from proxy.process.threads import spawn
from proxy.services import Services
from proxy.store.lance import LanceStore
from proxy.store.stamps import expected_tables
from proxy.types import Scope
from proxy.worker.mend import mend, restore_sessions

_log = structlog.get_logger(__name__)
_LOOK_S = 1.5  # of reading, before the server says that it is ready
_PAUSE_S = 5.0  # after an owner was looked at in vain
_MAX_PAUSE_S = 300.0


class Mender:
    """One per process: any process may meet damage; the owner's lease keeps two from mending the same."""

    def __init__(self, services: Services) -> None:
        self._services = services
        self._suspects: dict[str, None] = {}
        self._pauses: dict[str, float] = {}  # by owner: until when not to look again, and growing
        self._spans: dict[str, float] = {}
        self._news = asyncio.Event()
        self._task: asyncio.Task[None] | None = None

    def start(self) -> None:
        """Start looking."""
        self._task = spawn(self._run(), "mender")

    async def stop(self, timeout_s: float) -> None:
        """Stop; what is left is found again at the next start."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.wait([self._task], timeout=timeout_s)

    def suspect(self, owner: str) -> None:
        """Have an owner's tables looked at: they could not be read or written."""
        if self._pauses.get(owner, 0.0) <= self._services.clock.monotonic():
            self._suspects[owner] = None
            self._services.is_whole.clear()
            self._news.set()

    async def _run(self) -> None:
        await self._services.warmed.wait()
        store = self._services.store
        if not isinstance(store, LanceStore):
            self._services.looked_over.set()
            return
        try:
            found = await store.damage.suspects(budget_s=_LOOK_S)
            expected = await expected_tables(self._services.database)
            erased = await self._services.destructions.erased()  # their tables may be gone already, and rightly
            missing = sorted({owner for _, owner in expected - await store.damage.names()} - erased)
            for owner in dict.fromkeys((*found, *missing)):
                await self._mend(owner)
        except Exception as error:  # noqa: BLE001 - a mender that ends would leave everybody's damage as it is
            _log.error("the tables could not be looked over", error=type(error).__name__)
        self._services.looked_over.set()
        store.damage.tell(self.suspect)
        try:  # takes minutes for hundreds of thousands of conversations, which nobody waits for
            if any(incident.part == "database" for incident in await self._services.incidents.unseen()):
                await self._relist(sorted({owner for _, owner in await store.damage.names()}))
        except Exception as error:  # noqa: BLE001 - likewise
            _log.error("conversations could not be listed again", error=type(error).__name__)
        while True:
            await self._news.wait()
            self._news.clear()
            while self._suspects:
                owner = next(iter(self._suspects))
                del self._suspects[owner]
                await self._mend(owner)
            self._services.is_whole.set()

    async def _relist(self, owners: list[str]) -> None:
        """List conversations again whose rows were lost with the database."""
        count = 0
        for owner in owners:
            async with self._services.leases.held(Scope("", owner)):
                count += await restore_sessions(self._services, Scope("", owner))
        if count:
            _log.info("conversations were listed again", count=count)

    async def _mend(self, owner: str) -> None:
        scope = Scope("", owner)
        try:
            async with self._services.leases.held(scope):
                done = await mend(self._services, scope)
        except ProxyError as error:
            _log.warning("a table cannot be mended now", error=error.code, why=str(error))
            done = []
        except Exception as error:  # noqa: BLE001 - the next owner's tables are to be mended all the same
            _log.error("a table cannot be mended", error=type(error).__name__, exc_info=True)
            done = []
        self._suspects.pop(owner, None)  # what was read meanwhile was read before it was mended
        span = 0.0 if done else min(max(_PAUSE_S, self._spans.get(owner, 0.0) * 2), _MAX_PAUSE_S)
        self._spans[owner] = span
        self._pauses[owner] = self._services.clock.monotonic() + span

"""Periodic work: compaction of users' tables, retention, use counts, gauges."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from datetime import timedelta
from functools import partial
from itertools import islice

import structlog

from proxy.errors import ProxyError
from proxy.memory.changes.book import TURNS_AT_ONCE
from proxy.memory.lifecycle.review import expired_changes
from proxy.process import heap
from proxy.process.threads import in_thread, spawn
from proxy.services import Services
from proxy.store.stamps import owners
from proxy.store.waits import shorten
from proxy.types import Scope
from proxy.worker.destroy import resume, scrub
from proxy.worker.endings import end_idle
from proxy.worker.hygiene import tidy_all
from proxy.worker.sweep import sweep

_log = structlog.get_logger(__name__)
_TICK_S = 15.0
_HEAP_S = 5.0
_RETRY_S = 5.0
_PRUNE_EVERY = 40  # ticks, about ten minutes
_TIDY_EVERY = 1440  # ticks, about six hours
_DEAD = timedelta(minutes=2)  # after which the process of a destruction counts as dead
_MAX_PRUNED = 500  # sessions at a time, as pruning blocks all writers

MAX_FILLED, MAX_FILLS = 128, 4  # vectors per write, and writes per tick
MAX_OWNERS = 100  # users checked per tick, besides those just written for


class Schedule:
    """Runner of periodic upkeep; a failed step is retried at the next tick."""

    def __init__(self, services: Services, *, keeps_store: bool = True) -> None:
        self._services = services
        self._keeps_store = keeps_store
        self._filling = _Filling(services)
        self._task: asyncio.Task[None] | None = None
        self._resuming: asyncio.Task[None] | None = None

    def start(self) -> None:
        """Start ticking."""
        self._task = spawn(self._run(), "schedule")
        if self._keeps_store:
            self._resuming = spawn(self._begin(), "resume")

    async def stop(self) -> None:
        """Stop before the next tick; scrub and write buffered uses now."""
        tasks = [task for task in (self._task, self._resuming) if task is not None]
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks)
            await self._attempt("scrub", self._scrub())
            await self._attempt("uses", self._note_uses())

    async def _run(self) -> None:
        tick = 0
        while True:
            await self._attempt("waits", self._shorten_waits())
            await self._attempt("measure", self._services.measure())
            await self._wait()
            tick += 1
            if self._services.ephemeral is not None:
                await self._attempt("sweep", sweep(self._services.ephemeral))
            await self._attempt("destroy", self._end_destructions())
            await self._attempt("uses", self._note_uses())
            if self._services.is_ready:
                await self._attempt("sketches", self._services.index.sketches.refresh())
            if not self._keeps_store:
                continue
            if self._services.settings.memory.session_idle_minutes:
                await self._attempt("end", end_idle(self._services))
            written = self._services.take_written()
            await self._attempt("vectors", self._filling.tick(written))
            for owner in written:
                await self._attempt("maintain", self._maintain(owner))
            if tick % _TIDY_EVERY == 0:
                self._filling.look_again()
            if tick % _TIDY_EVERY == 1 and self._services.settings.memory.archive_unused and self._services.is_ready:
                await self._attempt("tidy", tidy_all(self._services, applies=True))
            if tick % _PRUNE_EVERY == 0:
                await self._attempt("prune", prune(self._services))

    async def _wait(self) -> None:
        """Wait for the next tick; return freed memory to the system meanwhile."""
        left = _TICK_S
        while left > 0:
            pause = min(left, _HEAP_S)
            await asyncio.sleep(pause)
            await self._attempt("heap", in_thread("load", heap.give_back))
            left -= pause

    async def _attempt(self, name: str, work: object) -> None:
        try:
            await work  # type: ignore[misc]
        except ProxyError as error:
            _log.warning("upkeep failed, it is tried again", step=name, error=error.code)
        except Exception as error:  # noqa: BLE001 - one broken step must not end upkeep for all users
            _log.error("upkeep failed, it is tried again", step=name, error=type(error).__name__)

    async def _end_destructions(self) -> None:
        """Complete destructions that were abandoned here or by a dead process."""
        if self._keeps_store and self._services.warmed.is_set():
            for part in self._services.both():
                await resume(part, until=part.clock.now() - _DEAD)
        await self._scrub()

    async def _scrub(self) -> None:
        """Remove deleted rows from the files, once for all requests since the last scrub, as it blocks all writers."""
        for part in self._services.both():
            await scrub(part)

    async def _begin(self) -> None:
        await self._attempt("resume", self._resume())

    async def _resume(self) -> None:
        """Complete the destructions that were in progress when the previous process died."""
        await self._services.warmed.wait()
        started = self._services.clock.now()
        while True:
            if await resume(self._services, until=started):
                break
            await asyncio.sleep(_RETRY_S)
        await self._scrub()

    async def _shorten_waits(self) -> None:
        services = self._services
        if ended := await shorten(services.database, now=services.clock.now(), lease_s=services.pace.lease_s):
            _log.warning("the clock was set back: what waited for a time far ahead goes on now", rows=ended)
            services.wake.set()
            services.arrived.set()

    async def _note_uses(self) -> None:
        for part in self._services.both():
            await part.uses.flush()

    async def _maintain(self, scope: Scope) -> None:
        async with self._services.leases.held(scope):
            await self._expire_reviews(scope)
            await self._services.store.maintain(scope)
            await self._services.store.flush(scope)

    async def _expire_reviews(self, scope: Scope) -> None:
        days, now = self._services.settings.memory.review_days, self._services.clock.now()
        rows = await self._services.store.marked(scope)
        await self._services.book.apply(scope, expired_changes(rows, now, days))


async def prune(services: Services) -> None:
    """Delete data older than the retention periods in the settings of the store."""
    now, days = services.clock.now(), services.settings.store
    await services.journal.prune(before=now - timedelta(days=days.journal_days))
    await services.receipts.prune(before=now - timedelta(days=days.receipts_days))
    unused = now - timedelta(days=days.conversations_days)
    await services.sessions.prune(before=unused, limit=_MAX_PRUNED)
    await services.handed.prune(before=unused)


class _Filling:
    """The owners whose rows may wait for vectors: everybody now and then, and those whom this process wrote for."""

    def __init__(self, services: Services) -> None:
        self._services = services
        self._known: dict[str, Scope] | None = None

    def look_again(self) -> None:
        """Look at everybody again: another process may have written rows while the embedder was away."""
        self._known = None

    async def tick(self, written: Iterable[Scope]) -> None:
        """Embed rows without vectors, first of the users just written for.

        Raises:
            EmbeddingFailed: If the embedder is unavailable; the next tick retries.
            StoreUnavailable: If a user's rows cannot be read or written now.
        """
        if self._known is None:
            self._known = {owner: Scope("", owner) for owner in await owners(self._services.database)}
        latest = {scope.user: scope for scope in written}
        self._known = {**latest, **{owner: one for owner, one in self._known.items() if owner not in latest}}
        if not self._services.is_embedder_warm:
            return
        for owner, scope in list(islice(self._known.items(), len(latest) + MAX_OWNERS)):
            self._known[owner] = self._known.pop(owner)  # move to the end, so that a failing user does not block others
            if not await self._services.store.has_unembedded(scope):
                del self._known[owner]
                continue
            if (await self._services.journal.tally(scope))[0] > TURNS_AT_ONCE:
                continue  # pending turns would have to wait for these vectors
            await self._services.embedder.warm()  # without a lease, so that a hanging embedder blocks no user
            for _ in range(MAX_FILLS):
                if not await self._filled(scope):
                    break

    async def _filled(self, scope: Scope) -> int:
        """Embed one batch of rows; the lease is only held to write it."""
        writing = partial(self._services.leases.held, scope)
        return await self._services.book.fill_in(scope, MAX_FILLED, writing=writing)

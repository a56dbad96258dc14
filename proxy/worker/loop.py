"""Worker loop: claim a user's work, run it, finish or retry it; drain at shutdown."""

from __future__ import annotations

import asyncio
import secrets
from datetime import datetime, timedelta
from functools import partial

import structlog

from proxy.errors import ProxyError, StoreUnavailable
from proxy.process import heap
from proxy.process.threads import in_thread, spawn
from proxy.services import Services
from proxy.store.journal_rows import Claim, Item
from proxy.store.leases import LeaseLost
from proxy.telemetry import JOBS
from proxy.types import Scope
from proxy.worker.handlers import WorkFailed, work_off
from proxy.worker.mend import mend

_log = structlog.get_logger(__name__)
_MAX_OUTAGE_PAUSE_S = 60.0
_MAX_RETRY_PAUSE_S = 600.0
_MAX_DOUBLINGS = 16
_CONCURRENCY = 2  # users at a time, unless `worker.concurrency` is set


class Worker:
    """Processor of the journal: several users at a time, each user's items in order."""

    def __init__(self, services: Services) -> None:
        self._services = services
        self._settings = services.settings.worker
        self._stopping = asyncio.Event()
        self._seeking: asyncio.Task[None] | None = None
        self._running: set[asyncio.Task[None]] = set()
        self._outages: dict[str, int] = {}  # consecutive outages by user

    def start(self) -> None:
        """Start polling for work."""
        self._seeking = spawn(self._seek(), "worker")

    async def stop(self, timeout_s: float) -> None:
        """Finish running work within ``timeout_s``; the rest stays in the journal."""
        self._stopping.set()
        self._services.wake.set()
        if self._seeking is not None and not self._services.warmed.is_set():
            self._seeking.cancel()  # it waits for a store that will not be opened any more
        tasks = {*self._running, *([self._seeking] if self._seeking else ())}
        if tasks:
            _, running = await asyncio.wait(tasks, timeout=timeout_s)
            for task in running:
                task.cancel()

    async def _seek(self) -> None:
        await self._services.warmed.wait()
        many = self._settings.concurrency or _CONCURRENCY
        free = [f"{secrets.token_hex(8)}.{number}" for number in range(many)]
        must_revive, has_worked = True, False
        while not self._stopping.is_set():
            claim, holder = None, free.pop() if free else None
            now = self._services.clock.now()
            try:
                if must_revive:
                    await self._revive()
                    must_revive = False
                if holder is not None:
                    claim = await self._services.journal.claim(holder, now=now, lease_s=self._services.pace.lease_s)
            except Exception as error:  # noqa: BLE001 - a worker that ends would end learning for all users
                _log.error("looking for work failed, going on", error=_name(error))
            if claim is None:
                free += [holder] if holder is not None else []
                if has_worked and not self._running:
                    has_worked = False
                    await in_thread("load", heap.give_back)
                await self._pause()
                continue
            has_worked = True
            self._services.precedence.behind_s = _age_s(claim, now)
            task = spawn(self._run(claim), f"work {claim.holder}")
            self._running.add(task)
            task.add_done_callback(partial(self._ended, free, claim.holder))

    def _ended(self, free: list[str], holder: str, task: asyncio.Task[None]) -> None:
        free.append(holder)
        self._running.discard(task)
        self._services.wake.set()  # the user's new turns can be claimed now

    async def _revive(self) -> None:
        """Restart dead letters: the cause may be fixed since the last start."""
        if turns := await self._services.journal.revive_all(now=self._services.clock.now()):
            _log.info("work that had been set aside is tried again", turns=turns)

    async def _pause(self) -> None:
        """Wait for a new turn, at most ``poll_s``, to find delayed turns and those of other processes."""
        wake = self._services.wake
        try:
            async with asyncio.timeout(self._services.pace.poll_s):
                await wake.wait()
        except TimeoutError:
            return
        wake.clear()
        await asyncio.sleep(self._services.pace.gather_s)

    async def _run(self, claim: Claim) -> None:
        try:
            async with self._services.leases.kept(claim.scope, claim.holder, self._services.pace.lease_s):
                await self._attempt(claim)
        except LeaseLost:
            _log.warning("work under way was left to the new holder of its lease", turns=len(claim.items))
        finally:
            await self._release(claim)

    async def _attempt(self, claim: Claim) -> None:
        try:
            await work_off(self._services, claim)
        except Exception as error:  # noqa: BLE001 - a job that fails in whatever way is retried, then set aside
            if isinstance(error, StoreUnavailable):
                await self._mend(claim)
            await self._put_off(claim, error)
        else:
            self._outages.pop(claim.scope.user, None)

    async def _release(self, claim: Claim) -> None:
        try:
            await self._services.leases.release(claim.scope, claim.holder)
        except ProxyError as error:
            _log.warning("a lease could not be released, it will run out", error=error.code)

    async def _mend(self, claim: Claim) -> None:
        """Mend the user's tables, in case damage is the cause of the failure."""
        try:
            await mend(self._services, claim.scope)
        except ProxyError as error:
            _log.warning("a table cannot be mended now", error=error.code)

    async def _put_off(self, claim: Claim, error: Exception) -> None:
        failed = error.seqs if isinstance(error, WorkFailed) else None
        cause = error.__cause__ or error if failed is not None else error
        name = _name(cause)
        _log.warning("work failed", error=name, turns=len(claim.items), exc_info=not isinstance(cause, ProxyError))
        JOBS.labels("turn", "failed").inc()
        now = self._services.clock.now()
        try:
            open_ = await self._services.journal.items(claim.scope)
            if failed is None:
                await self._wait(claim.scope, [item for item in open_ if item.due <= now], name)
            else:
                await self._count(claim.scope, [item for item in open_ if item.seq in failed], name)
        except ProxyError as broken:
            _log.warning("failed work could not be put off", error=broken.code)
            await asyncio.sleep(self._services.pace.poll_s)

    async def _count(self, scope: Scope, items: list[Item], name: str) -> None:
        """Count an attempt of the failed items; delay them, or make them dead letters after too many."""
        pace, journal = self._services.pace, self._services.journal
        for item in items:
            if item.attempts + 1 >= pace.max_attempts:
                _log.error("a turn was set aside after too many tries", error=name)
                await journal.bury(scope, [item.seq], name)
            else:
                pause = min(pace.retry_s * 2.0**item.attempts, _MAX_RETRY_PAUSE_S)
                due = self._services.clock.now() + timedelta(seconds=pause)
                await journal.retry(scope, [item.seq], due=due, error=name)

    async def _wait(self, scope: Scope, items: list[Item], name: str) -> None:
        """Delay the items because of an outage; they never become dead letters, however long it lasts."""
        outages = self._outages[scope.user] = self._outages.get(scope.user, 0) + 1
        pause = min(self._services.pace.retry_s * 2.0 ** min(outages - 1, _MAX_DOUBLINGS), _MAX_OUTAGE_PAUSE_S)
        due = self._services.clock.now() + timedelta(seconds=pause)
        await self._services.journal.retry(scope, [item.seq for item in items], due=due, error=name, is_counted=False)


def _age_s(claim: Claim, now: datetime) -> float:
    """Return the age of a claim's oldest turn in seconds, 0 if no row is readable."""
    return max(((now - item.created).total_seconds() for item in claim.items if not item.waits(now)), default=0.0)


def _name(error: BaseException) -> str:
    return error.code if isinstance(error, ProxyError) else type(error).__name__

"""Claim one owner's work, run it, finish or retry it; drain at shutdown."""

from __future__ import annotations

import asyncio
import secrets
from datetime import timedelta

import structlog

from proxy.errors import ProxyError, StoreUnavailable
from proxy.services import Services
from proxy.store.journal import Claim, Item
from proxy.telemetry import JOBS
from proxy.threads import spawn
from proxy.worker.handlers import work_off

_log = structlog.get_logger(__name__)


class Worker:
    """Works through the journal, several owners at a time, each in order."""

    def __init__(self, services: Services) -> None:
        self._services = services
        self._settings = services.settings.worker
        self._stopping = asyncio.Event()
        self._lines: list[asyncio.Task[None]] = []

    def start(self) -> None:
        """Start as many lines of work as ``worker.concurrency``."""
        for number in range(self._settings.concurrency):
            holder = f"{secrets.token_hex(8)}.{number}"
            self._lines.append(spawn(self._line(holder), f"worker {number}"))

    async def stop(self, timeout_s: float) -> None:
        """Finish what is under way, at most so long; the rest stays in the journal."""
        self._stopping.set()
        self._services.wake.set()
        if self._lines:
            _, running = await asyncio.wait(self._lines, timeout=timeout_s)
            for line in running:
                line.cancel()

    async def _line(self, holder: str) -> None:
        await self._services.warmed.wait()
        while not self._stopping.is_set():
            try:
                claim = await self._services.journal.claim(
                    holder, now=self._services.clock.now(), lease_s=self._settings.lease_s
                )
            except ProxyError as error:
                _log.warning("the journal cannot be read, trying again", error=error.code)
                claim = None
            if claim is None:
                await self._pause()
            else:
                await self._run(claim)

    async def _pause(self) -> None:
        """Wait for a new turn; poll as well, for turns that are put off and those of other processes."""
        wake = self._services.wake
        try:
            async with asyncio.timeout(self._settings.poll_s):
                await wake.wait()
        except TimeoutError:
            return
        wake.clear()
        await asyncio.sleep(self._settings.gather_s)

    async def _run(self, claim: Claim) -> None:
        keeper = spawn(self._keep_lease(claim), "lease")
        try:
            await work_off(self._services, claim)
        except Exception as error:  # noqa: BLE001 - a job that fails in whatever way is retried, then set aside
            if isinstance(error, StoreUnavailable):
                await self._heal(claim)
            await self._put_off(claim, error)
        finally:
            keeper.cancel()
            await self._release(claim)

    async def _keep_lease(self, claim: Claim) -> None:
        while True:
            await asyncio.sleep(self._settings.lease_s / 3)
            now = self._services.clock.now()
            await self._services.leases.renew(claim.scope, claim.holder, self._settings.lease_s, now)

    async def _release(self, claim: Claim) -> None:
        try:
            await self._services.leases.release(claim.scope, claim.holder)
        except ProxyError as error:
            _log.warning("a lease could not be released, it will run out", error=error.code)

    async def _heal(self, claim: Claim) -> None:
        """Set aside what a power loss broke in the owner's tables, and do again what the journal still holds."""
        try:
            broken = await self._services.store.heal(claim.scope)
            if broken:
                turns = await self._services.journal.replay(claim.scope, now=self._services.clock.now())
                _log.warning("broken table versions were set aside", versions=len(broken), replayed=turns)
        except ProxyError as error:
            _log.warning("a table cannot be healed", error=error.code)

    async def _put_off(self, claim: Claim, error: Exception) -> None:
        name = error.code if isinstance(error, ProxyError) else type(error).__name__
        _log.warning("work failed", error=name, turns=len(claim.items), exc_info=not isinstance(error, ProxyError))
        JOBS.labels("turn", "failed").inc()
        journal, now = self._services.journal, self._services.clock.now()
        try:
            open_ = [item.seq for item in await journal.items(claim.scope)]
            mine = [item for item in claim.items if item.seq in set(open_)]
            given_up, again = _sort(mine, self._settings.max_attempts)
            if given_up:
                _log.error("turns set aside after too many tries", turns=len(given_up), error=name)
                await journal.bury(claim.scope, given_up, name)
            if again:
                tries = max(item.attempts for item in mine)
                pause = timedelta(seconds=min(self._settings.retry_base_s * 2**tries, 600))
                await journal.retry(claim.scope, again, due=now + pause, error=name)
        except ProxyError as broken:
            _log.warning("a failed turn could not be put off, its lease will run out", error=broken.code)


def _sort(items: list[Item], max_attempts: int) -> tuple[list[int], list[int]]:
    given_up = [item.seq for item in items if item.attempts + 1 >= max_attempts]
    return given_up, [item.seq for item in items if item.seq not in given_up]

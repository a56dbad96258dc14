"""Leases: only one holder at a time, across tasks and processes, writes a user's memory."""

from __future__ import annotations

import asyncio
import itertools
import secrets
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from weakref import WeakValueDictionary

import sqlalchemy as sa
import structlog

from proxy.clock import Clock, to_ms
from proxy.errors import ProxyError, StoreUnavailable
from proxy.process.threads import shielded, spawn
from proxy.store.sql import Database
from proxy.store.tables import leases
from proxy.types import Scope

_log = structlog.get_logger(__name__)
_FIRST_PAUSE_S = 0.005
_MAX_PAUSE_S = 0.05


@dataclass(slots=True)
class _Waiting:
    """A task of this process that waits for a user's lease.

    Attributes:
        holder: Holder name of the task.
        given: Set once the lease is handed over to the task.
        has_left: True if the task gave up waiting.
    """

    holder: str
    given: asyncio.Event = field(default_factory=asyncio.Event)
    has_left: bool = False


class LeaseLost(StoreUnavailable):
    """Another holder took the lease over, because it was not renewed in time."""


class Leases:
    """Leases of every user.

    Args:
        db: The database, shared by all processes.
        clock: Clock of ``held``.
        lease_s: Lifetime of a lease of ``held``, after which it may be taken from a dead process.
        wait_s: Maximum time that ``held`` waits for another holder.
    """

    def __init__(
        self, db: Database, clock: Clock | None = None, *, lease_s: float = 30.0, wait_s: float = 20.0
    ) -> None:
        self._db = db
        self._clock = clock or Clock()
        self._lease_s, self._wait_s = lease_s, wait_s
        self._process = secrets.token_hex(8)
        self._numbers = itertools.count()
        self._lines: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()
        self._waiting: dict[str, _Waiting] = {}
        insert = db.insert(leases)
        acquire = insert.on_conflict_do_update(
            index_elements=["owner"],
            set_={"holder": insert.excluded.holder, "until_ms": insert.excluded.until_ms},
            where=(leases.c.until_ms <= sa.bindparam("now")) | (leases.c.holder == insert.excluded.holder),
        ).returning(leases.c.owner)
        self._acquire = db.prepare(acquire, columns=leases.c.keys())

    async def acquire(self, scope: Scope, holder: str, lease_s: float, now: datetime) -> bool:
        """Take the user's lease if it is free, expired or already the holder's; return whether the holder has it."""
        values = {"owner": scope.user, "holder": holder, "until_ms": _until_ms(now, lease_s), "now": to_ms(now)}
        return bool(await self._db.submit(lambda connection: self._acquire.fetch(connection, values)))

    async def renew(self, scope: Scope, holder: str, lease_s: float, now: datetime) -> bool:
        """Extend the lease; return False if another holder took it over."""
        update = leases.update().where(*_held_by(scope, holder)).values(until_ms=_until_ms(now, lease_s))
        return await self._db.submit(lambda connection: connection.execute(update).rowcount) == 1

    async def release(self, scope: Scope, holder: str) -> None:
        """Release the lease if the holder has it; hand it over directly to a waiting task of this process."""
        waiting = self._waiting.get(scope.user)
        which = _held_by(scope, holder)
        change: sa.Update | sa.Delete = leases.delete().where(*which)
        if waiting is not None:
            change = leases.update().where(*which).values(holder=waiting.holder)
        await self._db.submit(lambda connection: connection.execute(change).rowcount)
        if waiting is None:
            return
        waiting.given.set()
        if waiting.has_left:
            await self.release(scope, waiting.holder)

    def is_wanted(self, scope: Scope) -> bool:
        """Return whether a task of this process waits for the user's lease; long holders release it between steps."""
        return scope.user in self._waiting

    @asynccontextmanager
    async def held(self, scope: Scope, *, wait_s: float | None = None) -> AsyncIterator[None]:
        """Hold the user's lease for a block of code and renew it while the block runs; not reentrant.

        Args:
            scope: The user.
            wait_s: Maximum wait for another holder; None for the default.

        Raises:
            StoreUnavailable: If another holder does not release it in time.
            LeaseLost: As ``kept`` does.
        """
        holder = f"{self._process}.{next(self._numbers)}"
        line = self._lines.setdefault(scope.user, asyncio.Lock())
        try:
            async with asyncio.timeout(self._wait_s if wait_s is None else wait_s):
                await line.acquire()
                try:
                    await self._wait(scope, holder)
                except BaseException:
                    line.release()
                    raise
        except TimeoutError:
            raise StoreUnavailable("this memory is busy being written; try again") from None
        try:
            async with self.kept(scope, holder, self._lease_s):
                yield
        finally:
            line.release()
            await shielded(self._give_back(scope, holder), "lease")

    @asynccontextmanager
    async def kept(self, scope: Scope, holder: str, lease_s: float) -> AsyncIterator[None]:
        """Renew the holder's lease while a block of code runs; cancel the block if the lease is lost.

        Raises:
            LeaseLost: If another holder took it over; the block was cancelled.
        """
        try:
            async with asyncio.timeout(None) as limit:
                keeper = spawn(self._keep(scope, holder, lease_s, limit.reschedule), "lease")
                try:
                    yield
                finally:
                    keeper.cancel()
        except TimeoutError:
            if limit.expired():
                raise LeaseLost("this memory was taken over by another process; try again") from None
            raise

    async def _wait(self, scope: Scope, holder: str) -> None:
        pause_s = _FIRST_PAUSE_S
        waiting = self._waiting[scope.user] = _Waiting(holder)
        try:
            while not await self.acquire(scope, holder, self._lease_s, self._clock.now()):
                with suppress(TimeoutError):
                    async with asyncio.timeout(pause_s):
                        await waiting.given.wait()
                pause_s = min(pause_s * 2, _MAX_PAUSE_S)
        except BaseException:
            waiting.has_left = True
            raise
        finally:
            del self._waiting[scope.user]
            if waiting.has_left:  # the lease may have been handed over or acquired at that moment
                await shielded(self._give_back(scope, holder), "lease")

    async def _keep(self, scope: Scope, holder: str, lease_s: float, end: Callable[[float], None]) -> None:
        while True:
            await asyncio.sleep(lease_s / 3)
            try:
                is_held = await self.renew(scope, holder, lease_s, self._clock.now())
            except ProxyError as error:
                _log.warning("a lease could not be renewed, trying again", error=error.code)
                continue
            if not is_held:
                _log.error("a lease was lost while it was in use")
                end(asyncio.get_running_loop().time())
                return

    async def _give_back(self, scope: Scope, holder: str) -> None:
        try:
            await self.release(scope, holder)
        except ProxyError as error:
            _log.warning("a lease could not be released, it will run out", error=error.code)


def _held_by(scope: Scope, holder: str) -> tuple[sa.ColumnElement[bool], ...]:
    return leases.c.owner == scope.user, leases.c.holder == holder


def _until_ms(now: datetime, lease_s: float) -> int:
    return to_ms(now + timedelta(seconds=lease_s))

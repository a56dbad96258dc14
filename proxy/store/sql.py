"""The SQL database: read transactions, write transactions and group commit."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import sqlalchemy as sa
from sqlalchemy.dialects import sqlite

from proxy.errors import ProxyError, StoreUnavailable
from proxy.process.threads import spawn
from proxy.store import migrations
from proxy.store.engine import Engine, Synchronous, open_engine
from proxy.store.prepared import Prepared

T = TypeVar("T")
Work = Callable[[sa.Connection], Any]

_BATCH = 256
_OUTAGES = (sa.exc.OperationalError, sa.exc.InterfaceError, sa.exc.TimeoutError, OSError)


class Database:
    """One SQL database, opened and migrated; made by ``Database.open``."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._queue: list[tuple[Work, asyncio.Future[Any]]] = []
        self._drainer: asyncio.Task[None] | None = None
        self._is_closed = False

    @classmethod
    async def open(cls, url: str, *, synchronous: Synchronous = "normal") -> Database:
        """Open, create where missing, and migrate the database.

        Args:
            url: ``sqlite:///path``, ``sqlite://`` (in memory, gone with the process) or ``postgresql://…``.
            synchronous: SQLite only: ``normal`` survives the death of the process, ``full`` also a power cut.

        Raises:
            ConfigError: If the URL names no database of ours, or one that a newer version of ours made.
            StoreUnavailable: If it cannot be opened.
        """
        engine = open_engine(url, synchronous=synchronous)
        database = cls(engine)
        try:
            await engine.prepare()
            await engine.commit(lambda connection: migrations.migrate(connection, engine.exclude))
        except ProxyError:
            await engine.close()
            raise
        except (sa.exc.SQLAlchemyError, sqlite3.Error, OSError) as error:
            await engine.close()
            raise StoreUnavailable(f"the database cannot be opened: {type(error).__name__}") from error
        return database

    async def query(self, work: Callable[[sa.Connection], T]) -> T:
        """Run ``work`` in one read transaction and return its result.

        Args:
            work: May run on another thread; it only uses the connection and what nobody else changes.

        Raises:
            StoreUnavailable: If the database cannot be read.
        """
        try:
            return await self._engine.run(work)
        except _OUTAGES as error:
            raise _unavailable(error) from error

    async def submit(self, work: Callable[[sa.Connection], T]) -> T:
        """Run ``work`` in a transaction that concurrent callers share; return its result after COMMIT.

        Each callback has its own savepoint: when it raises, its caller gets the exception and the others commit.
        A cancelled caller does not undo what it submitted.

        Args:
            work: May run on another thread; it only uses the connection and what nobody else changes.

        Raises:
            StoreUnavailable: If the transaction could not be committed.
        """
        if self._is_closed:
            raise StoreUnavailable("the database is closed")
        future: asyncio.Future[T] = asyncio.get_running_loop().create_future()
        self._queue.append((work, future))
        if self._drainer is None:
            self._drainer = spawn(self._drain(), "sql commit")
        return await future

    def insert(self, table: sa.Table) -> sqlite.Insert:
        """Return an INSERT that knows ON CONFLICT, whichever engine it is."""
        return self._engine.insert(table)

    def prepare(self, statement: sa.Executable, *, columns: Sequence[str] | None = None) -> Prepared:
        """Compile a statement of the hot path once; for an INSERT name its columns."""
        return Prepared(statement, self._engine.dialect, columns=columns)

    async def scrub(self) -> bool:
        """Make the bytes of deleted rows leave the disk; False if a reader elsewhere kept some of them."""
        return await self._engine.scrub()

    async def close(self) -> None:
        """Commit what is queued, then close every connection."""
        self._is_closed = True
        if self._drainer is not None:
            await asyncio.shield(self._drainer)
        await self._engine.close()

    async def _drain(self) -> None:
        try:
            while self._queue:
                batch, self._queue = self._queue[:_BATCH], self._queue[_BATCH:]
                await self._commit(batch)
        finally:
            self._drainer = None

    async def _commit(self, batch: list[tuple[Work, asyncio.Future[Any]]]) -> None:
        try:
            outcomes = await self._engine.commit(lambda connection: _run_all(connection, [work for work, _ in batch]))
        except Exception as error:  # noqa: BLE001  # not swallowed: every caller of the batch gets it
            outcomes = [(None, _unavailable(error)) for _ in batch]
        for (_, future), (result, failure) in zip(batch, outcomes, strict=True):
            if future.done():  # its caller was cancelled
                continue
            if failure is None:
                future.set_result(result)
            else:
                future.set_exception(failure)


def _run_all(connection: sa.Connection, works: list[Work]) -> list[tuple[Any, Exception | None]]:
    if len(works) == 1:
        return [(works[0](connection), None)]
    return [_run_one(connection, work) for work in works]


def _run_one(connection: sa.Connection, work: Work) -> tuple[Any, Exception | None]:
    savepoint = connection.begin_nested()
    try:
        result = work(connection)
    except Exception as error:  # noqa: BLE001  # not swallowed: the caller of this callback gets it
        savepoint.rollback()
        return None, _unavailable(error)
    savepoint.commit()
    return result, None


def _unavailable(error: Exception) -> Exception:
    if not isinstance(error, _OUTAGES):
        return error
    failure = StoreUnavailable(f"the database cannot be used right now: {type(error).__name__}")
    failure.__cause__ = error
    return failure

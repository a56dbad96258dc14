"""SQL database: read and write transactions, group commit, and SQL statements compiled once."""

from __future__ import annotations

import asyncio
import secrets
import sqlite3
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from typing import Any, NamedTuple, TypeVar

import sqlalchemy as sa
from sqlalchemy.dialects import sqlite

from proxy.clock import Clock
from proxy.errors import ProxyError, StoreDamaged, StoreUnavailable
from proxy.process.threads import spawn
from proxy.store import migrations
from proxy.store.engine import Engine, Synchronous, is_damage, open_engine
from proxy.store.tables import stamps

T = TypeVar("T")
Work = Callable[[sa.Connection], Any]

_BATCH = 256
_OUTAGES = (sa.exc.OperationalError, sa.exc.InterfaceError, sa.exc.TimeoutError, OSError)
PROBE_EVERY_S, _PROBE_S = 5.0, 1.0
PROBE_BYTES = 16_384  # the size of a turn: a nearly full disk may take a few bytes but no turn


@dataclass(frozen=True, slots=True)
class FailedWrite:
    """The last write, which failed."""

    at: datetime
    error: str


class Database:
    """An opened and migrated SQL database; create it with ``Database.open``."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._queue: list[tuple[Work, asyncio.Future[Any]]] = []
        self._drainer: asyncio.Task[None] | None = None
        self._is_closed = False
        self._probed_s = 0.0
        self.failed_write: FailedWrite | None = None

    @classmethod
    async def open(cls, url: str, *, synchronous: Synchronous = "normal") -> Database:
        """Open the database, create it if missing, and migrate it.

        Args:
            url: ``sqlite:///path``, ``sqlite://`` (in memory, gone with the process) or ``postgresql://…``.
            synchronous: SQLite only: commits survive a killed process with ``normal``, also a power cut with ``full``.

        Raises:
            ConfigError: If the URL names no supported database, or one that a newer version of Throughline migrated.
            StoreDamaged: If the file is not a database, or is corrupt.
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
            cause = getattr(error, "orig", None) or error
            if is_damage(cause):
                raise _damaged(str(cause)) from error
            raise StoreUnavailable(
                f"the database cannot be opened ({cause}). Mend what keeps it from being read and written: its "
                "permissions, the disk, or store.database_url."
            ) from error
        return database

    async def examine(self, *, budget_s: float | None = None) -> None:
        """Check the database for damage, for at most ``budget_s`` seconds if given.

        Raises:
            StoreDamaged: If damage is found.
        """
        if found := await self._engine.examine(budget_s):
            raise _damaged(found[0])

    async def probe(self) -> None:
        """Try a write, ``PROBE_EVERY_S`` after a failed one, to detect when the disk has space again."""
        if self.failed_write is None or Clock().monotonic() - self._probed_s < PROBE_EVERY_S:
            return
        self._probed_s = Clock().monotonic()
        insert = self.insert(stamps)
        put = insert.on_conflict_do_update(index_elements=["name"], set_={"value": insert.excluded.value})
        row = {"name": "probe", "value": secrets.token_hex(PROBE_BYTES // 2)}
        try:
            async with asyncio.timeout(_PROBE_S):
                await self.submit(lambda connection: connection.execute(put, row).close())
        except (StoreUnavailable, TimeoutError):
            return
        self.failed_write = None

    async def query(self, work: Callable[[sa.Connection], T]) -> T:
        """Run ``work`` in one read transaction and return its result.

        Args:
            work: May run on another thread, so it must use only the connection and unshared data.

        Raises:
            StoreUnavailable: If the database cannot be read.
        """
        try:
            return await self._engine.run(work)
        except (*_OUTAGES, sa.exc.DatabaseError) as error:
            raise _unavailable(error) from error

    async def submit(self, work: Callable[[sa.Connection], T]) -> T:
        """Run ``work`` in a transaction that concurrent callers share; return its result after COMMIT.

        Each callback has its own savepoint: if it raises, its caller gets the exception and the others commit.
        Cancelling a caller does not undo its work.

        Args:
            work: May run on another thread, so it must use only the connection and unshared data.

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

    async def submit_said(self, work: Callable[[sa.Connection], T]) -> T:
        """Submit a write of user messages; as ``submit``, but ``failed_write`` records whether the last one failed."""
        try:
            result = await self.submit(work)
        except (StoreUnavailable, asyncio.CancelledError) as error:
            why = str(error) or "the database did not take it in time"
            self.failed_write, self._probed_s = FailedWrite(Clock().now(), why), Clock().monotonic()
            raise
        self.failed_write = None
        return result

    def insert(self, table: sa.Table) -> sqlite.Insert:
        """Return an INSERT that supports ON CONFLICT, for the current engine."""
        return self._engine.insert(table)

    def prepare(self, statement: sa.Executable, *, columns: Sequence[str] | None = None) -> Prepared:
        """Compile a SQL statement of the hot path once; an INSERT needs ``columns``."""
        return Prepared(statement, self._engine.dialect, columns=columns)

    async def scrub(self) -> bool:
        """Remove the bytes of deleted rows from the disk; return False if another process's reader prevented it."""
        return await self._engine.scrub()

    async def close(self) -> None:
        """Commit the queued work, then close every connection."""
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
                self.failed_write = self.failed_write if failure else None
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
    cause = getattr(error, "orig", None) or error
    if is_damage(cause):
        failure = StoreUnavailable("the database is damaged; `throughline check` tells more and how to mend it")
    elif isinstance(error, _OUTAGES):
        why = cause if isinstance(cause, sqlite3.Error) else type(error).__name__  # such as "database or disk is full"
        failure = StoreUnavailable(f"the database cannot be used right now: {why}")
    else:
        return error
    failure.__cause__ = error
    return failure


def _damaged(found: str) -> StoreDamaged:
    return StoreDamaged(
        f"the database throughline.db is damaged ({found}). Put a backup in its place, or run `throughline check "
        "--repair`: it sets the file aside, takes over what can still be read, and says what was lost."
    )


class Prepared:
    """A compiled Core statement, run on the driver's cursor; takes half the CPU of ``Connection.execute``.

    Args:
        statement: A statement with ``bindparam``s as parameters; for an INSERT the ``columns`` are the parameters.
        dialect: Dialect of the engine that runs it.
        columns: The columns of an INSERT.
    """

    def __init__(self, statement: Any, dialect: sa.Dialect, *, columns: Sequence[str] | None = None) -> None:
        self._statement, self._dialect, self._columns = statement, dialect, columns
        self._failures = dialect.loaded_dbapi.Error

    def execute(self, connection: sa.Connection, values: Mapping[str, Any]) -> None:
        """Run the statement once, without a result."""
        self._run(connection, "execute", self._bind(values))

    def execute_all(self, connection: sa.Connection, rows: Sequence[Mapping[str, Any]]) -> None:
        """Run the statement for each row; do nothing without rows."""
        if rows:
            self._run(connection, "executemany", [self._bind(row) for row in rows])

    def fetch(self, connection: sa.Connection, values: Mapping[str, Any]) -> Sequence[Sequence[Any]]:
        """Run the statement and return its rows."""
        rows = self._run(connection, "execute", self._bind(values), is_query=True)
        decoders = self._compiled.decoders
        if not decoders:
            return rows
        return [tuple(decode(value) for decode, value in zip(decoders, row, strict=True)) for row in rows]

    @cached_property
    def _compiled(self) -> _Compiled:
        # Compile on first use: a long statement takes milliseconds, and most processes never need some of them.
        dialect = self._dialect
        compiled = self._statement.compile(dialect=dialect, column_keys=self._columns)
        parameters = [
            (name, compiled.params[name], compiled.binds[name].type.dialect_impl(dialect).bind_processor(dialect))
            for name in compiled.positiontup
        ]
        columns = getattr(self._statement, "selected_columns", ())
        decoders = [column.type.dialect_impl(dialect).result_processor(dialect, None) for column in columns]
        return _Compiled(str(compiled), parameters, [decode or _as_is for decode in decoders] if any(decoders) else [])

    def _run(self, connection: sa.Connection, method: str, parameters: Any, *, is_query: bool = False) -> Sequence[Any]:
        cursor = connection.connection.cursor()
        try:
            getattr(cursor, method)(self._compiled.sql, parameters)
            return cursor.fetchall() if is_query else ()
        except self._failures as error:
            raise StoreUnavailable(f"the database refused a statement: {type(error).__name__}") from error
        finally:
            cursor.close()

    def _bind(self, values: Mapping[str, Any]) -> tuple[Any, ...]:
        return tuple(
            values.get(name, default) if encode is None else encode(values.get(name, default))
            for name, default, encode in self._compiled.parameters
        )


class _Compiled(NamedTuple):
    sql: str
    parameters: list[tuple[str, Any, Callable[[Any], Any] | None]]
    decoders: list[Callable[[Any], Any]]


def _as_is(value: Any) -> Any:
    return value

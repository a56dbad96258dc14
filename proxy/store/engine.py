"""Protocol of SQL engines, and the default engine, SQLite."""

from __future__ import annotations

import asyncio
import contextlib
import os
import sqlite3
import time
import uuid
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, Literal, Protocol, TypeVar

import sqlalchemy as sa
from sqlalchemy.dialects import sqlite

from proxy.errors import ConfigError

T = TypeVar("T")
Synchronous = Literal["normal", "full"]

_BUSY_S = 30.0
_STEPS = 20_000  # SQLite VM instructions between two checks of the time limit
_MAX_FOUND = 5
_READERS = 4


class Engine(Protocol):
    """A SQL engine that runs whole transactions, each a function of a connection."""

    dialect: sa.Dialect

    async def prepare(self) -> None:
        """Prepare the database for its first transaction."""

    async def run(self, work: Callable[[sa.Connection], T]) -> T:
        """Run ``work`` in a read transaction."""

    async def commit(self, work: Callable[[sa.Connection], T]) -> T:
        """Run ``work`` in a write transaction; return its result after COMMIT."""

    def exclude(self, connection: sa.Connection) -> None:
        """Lock migrations for every other process until the transaction ends."""

    def insert(self, table: sa.Table) -> sqlite.Insert:
        """Return an INSERT that supports ON CONFLICT."""

    async def scrub(self) -> bool:
        """Remove deleted bytes from the disk; return False if readers prevented it."""

    async def examine(self, budget_s: float | None) -> list[str]:
        """Check the database for at most ``budget_s`` seconds; return the damage found."""

    async def close(self) -> None:
        """Close every connection."""


def open_engine(url: str, *, synchronous: Synchronous) -> Engine:
    """Return the engine for a URL: ``sqlite:///path``, ``sqlite://`` (in memory) or ``postgresql://…``.

    Raises:
        ConfigError: If the URL is malformed, names another database, or the extra for Postgres is missing.
    """
    try:
        parsed = sa.make_url(url)
    except sa.exc.ArgumentError as error:
        raise ConfigError("the database URL cannot be read; use sqlite:///path or postgresql://…") from error
    if parsed.get_backend_name() == "sqlite":
        return SqliteEngine(parsed.database or ":memory:", synchronous=synchronous)
    if parsed.drivername.split("+")[0] in ("postgres", "postgresql"):
        try:
            from proxy.store.postgres import PostgresEngine  # noqa: PLC0415 - costs 8 MB, and few need it

            return PostgresEngine(parsed)
        except ImportError as error:
            raise ConfigError("Postgres needs the extra: pip install 'throughline[postgres]'") from error
    raise ConfigError(f"{parsed.drivername!r} is no database of ours; use sqlite:///path or postgresql://…")


class SqliteEngine:
    """SQLite in WAL mode.

    Each transaction runs in a thread as a whole, in one hop: 0.5 ms of CPU for six SQL statements. An asynchronous
    driver's two hops per SQL statement cost 2.0 ms.
    """

    def __init__(self, database: str, *, synchronous: Synchronous) -> None:
        self._path = None if database == ":memory:" else Path(database)
        name = f"file:/{uuid.uuid4().hex}?vfs=memdb&uri=true" if self._path is None else database
        self._synchronous = synchronous
        self._write_lock = asyncio.Lock()
        self._write_pool = ThreadPoolExecutor(1, thread_name_prefix="sql-write")
        self._read_pool = ThreadPoolExecutor(_READERS, thread_name_prefix="sql-read")
        arguments = {"timeout": _BUSY_S, "check_same_thread": False}
        self._writer = sa.create_engine(
            f"sqlite:///{name}", connect_args=arguments, pool_size=1, pool_reset_on_return=None
        )
        self._reader = sa.create_engine(f"sqlite:///{name}", connect_args=arguments, pool_size=_READERS)
        self.dialect = self._writer.dialect
        self._writer_connection: sa.Connection | None = None
        for engine in (self._writer, self._reader):
            sa.event.listen(engine, "connect", self._on_connect)
        sa.event.listen(self._writer, "begin", _begin_immediate)
        sa.event.listen(self._reader, "begin", _begin_deferred)

    async def prepare(self) -> None:
        """Create the file with mode 0600, and switch it to WAL."""
        await asyncio.get_running_loop().run_in_executor(self._write_pool, self._prepare)

    async def run(self, work: Callable[[sa.Connection], T]) -> T:
        """Run ``work`` in a read transaction on a reader thread."""

        def read() -> T:
            with self._reader.connect() as connection:
                return work(connection)

        return await asyncio.get_running_loop().run_in_executor(self._read_pool, read)

    async def commit(self, work: Callable[[sa.Connection], T]) -> T:
        """Run ``work`` in a write transaction on the writer thread."""
        async with self._write_lock:
            return await asyncio.get_running_loop().run_in_executor(self._write_pool, self._commit, work)

    def exclude(self, connection: sa.Connection) -> None:
        """Do nothing: BEGIN IMMEDIATE locks already."""

    def insert(self, table: sa.Table) -> sqlite.Insert:
        """Return an INSERT that supports ON CONFLICT."""
        return sqlite.insert(table)

    async def scrub(self) -> bool:
        """Rewrite the file and empty the write-ahead log.

        ``secure_delete`` zeroes deleted rows but not the copies that page splits leave in free space (found in 3 of
        12 trials), so VACUUM is needed. It blocks other writers.
        """
        async with self._write_lock:
            return await asyncio.get_running_loop().run_in_executor(self._write_pool, self._scrub)

    async def examine(self, budget_s: float | None) -> list[str]:
        """Check every page and, without a budget, every index; a check that exceeds the budget reports no damage."""
        if self._path is None:
            return []
        return await asyncio.get_running_loop().run_in_executor(self._read_pool, check_file, self._path, budget_s)

    async def close(self) -> None:
        """Close the connections in their own threads and end the threads."""
        async with self._write_lock:
            await asyncio.get_running_loop().run_in_executor(self._write_pool, self._dispose)
            await asyncio.get_running_loop().run_in_executor(self._read_pool, self._reader.dispose)
            self._read_pool.shutdown()
            self._write_pool.shutdown()

    def _commit(self, work: Callable[[sa.Connection], T]) -> T:
        if self._writer_connection is None:
            self._writer_connection = self._writer.connect()
        try:
            with self._writer_connection.begin():
                return work(self._writer_connection)
        except BaseException:
            # A failed COMMIT leaves SQLite's transaction open, but SQLAlchemy considers it closed.
            self._writer_connection.connection.rollback()
            raise

    def _dispose(self) -> None:
        if self._writer_connection is not None:
            self._writer_connection.close()
        self._writer.dispose()

    def _prepare(self) -> None:
        if self._path is None:  # the in-memory database lives as long as the writer's connection
            return
        self._path.parent.mkdir(parents=True, exist_ok=True)
        with contextlib.suppress(FileExistsError):  # closing an existing one drops this process's locks
            os.close(os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600))
        connection = sqlite3.connect(self._path, timeout=_BUSY_S, isolation_level=None)
        try:
            _switch_to_wal(connection)
        finally:
            connection.close()

    def _on_connect(self, connection: Any, _record: object) -> None:
        connection.isolation_level = None  # the driver's own BEGIN is neither immediate nor before a SELECT
        cursor = connection.cursor()
        for pragma in (f"synchronous={self._synchronous}", "secure_delete=ON", "temp_store=MEMORY"):
            cursor.execute(f"PRAGMA {pragma}")
        cursor.close()

    def _scrub(self) -> bool:
        if self._path is None:
            return True
        connection = sqlite3.connect(self._path, timeout=_BUSY_S, isolation_level=None)
        try:
            connection.execute("PRAGMA secure_delete=ON")
            connection.execute("VACUUM")
            busy, _, _ = connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
            return not busy
        finally:
            connection.close()


def check_file(path: Path, budget_s: float | None) -> list[str]:
    """Return SQLite's reports of damage in a file, at most ``_MAX_FOUND`` lines; none if the budget runs out first.

    A missing or empty file is not damaged.
    """
    if not path.is_file() or not path.stat().st_size:
        return []
    until = time.monotonic() + budget_s if budget_s is not None else None
    try:
        with contextlib.closing(sqlite3.connect(path, timeout=_BUSY_S)) as connection:
            if until is not None:
                connection.set_progress_handler(lambda: time.monotonic() > until, _STEPS)
            check = "integrity_check" if until is None else "quick_check"
            rows = connection.execute(f"PRAGMA {check}({_MAX_FOUND})").fetchall()
    except sqlite3.DatabaseError as error:
        return [str(error)] if is_damage(error) else []
    return [] if rows == [("ok",)] else [str(row[0]).splitlines()[0] for row in rows]


def is_damage(error: BaseException | None) -> bool:
    """Return whether SQLite raised this because the file is not a database, or a corrupt one."""
    code = getattr(error, "sqlite_errorcode", None)
    return code is not None and code & 0xFF in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)


def _switch_to_wal(connection: sqlite3.Connection) -> None:
    # SQLite's busy handler does not cover a change of journal mode that another process makes at the same time.
    for attempt in range(100):
        try:
            connection.execute("PRAGMA journal_mode=WAL")
        except sqlite3.OperationalError:
            if attempt == 99:
                raise
            connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
        else:
            return


def _begin_immediate(connection: sa.Connection) -> None:
    connection.exec_driver_sql("BEGIN IMMEDIATE")


def _begin_deferred(connection: sa.Connection) -> None:
    connection.exec_driver_sql("BEGIN")

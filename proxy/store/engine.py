"""Protocol of database engines, and SQLite, the default."""

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
_STEPS = 20_000  # of SQLite's machine between two looks at the clock
_MAX_FOUND = 5
_READERS = 4


class Engine(Protocol):
    """One SQL engine: whole transactions as functions of a connection."""

    dialect: sa.Dialect

    async def prepare(self) -> None:
        """Make the database ready for its first transaction."""

    async def run(self, work: Callable[[sa.Connection], T]) -> T:
        """Run ``work`` in a read transaction."""

    async def commit(self, work: Callable[[sa.Connection], T]) -> T:
        """Run ``work`` in a write transaction; the result comes after COMMIT."""

    def exclude(self, connection: sa.Connection) -> None:
        """Keep every other process out of migrations until the transaction ends."""

    def insert(self, table: sa.Table) -> sqlite.Insert:
        """Return an INSERT that knows ON CONFLICT."""

    async def scrub(self) -> bool:
        """Make deleted bytes leave the disk; False if readers stood in the way."""

    async def examine(self, budget_s: float | None) -> list[str]:
        """Read through the database, for so long at most; return what is damaged."""

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

    Each transaction goes to a thread whole, in one hop: 0.5 ms of CPU for six statements, where the two hops a
    statement of an asynchronous driver cost 2.0 ms.
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
        """Create the file, readable by its owner only, and switch it to WAL."""
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
        """Do nothing: BEGIN IMMEDIATE excludes already."""

    def insert(self, table: sa.Table) -> sqlite.Insert:
        """Return an INSERT that knows ON CONFLICT."""
        return sqlite.insert(table)

    async def scrub(self) -> bool:
        """Write the file anew and empty the write-ahead log.

        ``secure_delete`` zeroes deleted rows but not the copies that splitting pages leaves in their gaps (found in 3
        of 12 trials), so nothing less than VACUUM will do. Other writers wait meanwhile.
        """
        async with self._write_lock:
            return await asyncio.get_running_loop().run_in_executor(self._write_pool, self._scrub)

    async def examine(self, budget_s: float | None) -> list[str]:
        """Check every page, and without a budget every index as well; what takes longer counts as whole."""
        if self._path is None:
            return []
        return await asyncio.get_running_loop().run_in_executor(self._read_pool, check_file, self._path, budget_s)

    async def close(self) -> None:
        """Close the connections where they live and end the threads."""
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
            # A COMMIT that fails leaves SQLite's transaction open, and SQLAlchemy takes it for over.
            self._writer_connection.connection.rollback()
            raise

    def _dispose(self) -> None:
        if self._writer_connection is not None:
            self._writer_connection.close()
        self._writer.dispose()

    def _prepare(self) -> None:
        if self._path is None:  # lives as long as the writer's connection
            return
        self._path.parent.mkdir(parents=True, exist_ok=True)
        with contextlib.suppress(FileExistsError):  # closing one drops this process's locks on it
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
    """Return what SQLite finds damaged in a file, a few lines at most; nothing where the time is over before.

    A file that is missing or empty is no damaged one.
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
    """Return whether SQLite raised this because the file is no database, or not a whole one."""
    code = getattr(error, "sqlite_errorcode", None)
    return code is not None and code & 0xFF in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)


def _switch_to_wal(connection: sqlite3.Connection) -> None:
    # The busy handler does not cover a change of journal mode while another process makes the same change.
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

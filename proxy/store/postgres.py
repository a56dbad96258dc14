"""Postgres engine, through asyncpg."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.ext.asyncio import AsyncEngine, create_async_engine

T = TypeVar("T")

_MIGRATION_LOCK = 0x7468726F  # arbitrary, but the same in every Throughline process


class PostgresEngine:
    """Postgres engine; its transactions run on the event loop."""

    def __init__(self, url: sa.URL) -> None:
        self._engine: AsyncEngine = create_async_engine(url.set(drivername="postgresql+asyncpg"), pool_pre_ping=True)
        self._snapshots = self._engine.execution_options(isolation_level="REPEATABLE READ")
        self.dialect = self._engine.dialect

    async def prepare(self) -> None:
        """Do nothing: the operator creates the database."""

    async def run(self, work: Callable[[sa.Connection], T]) -> T:
        """Run ``work`` in a read transaction."""
        async with self._snapshots.connect() as connection:
            return await connection.run_sync(work)

    async def commit(self, work: Callable[[sa.Connection], T]) -> T:
        """Run ``work`` in a write transaction."""
        async with self._engine.begin() as connection:
            return await connection.run_sync(work)

    def exclude(self, connection: sa.Connection) -> None:
        """Take an advisory lock until the transaction ends."""
        connection.execute(sa.select(sa.func.pg_advisory_xact_lock(_MIGRATION_LOCK)))

    def insert(self, table: sa.Table) -> sqlite.Insert:
        """Return an INSERT that supports ON CONFLICT."""
        return postgresql.insert(table)  # type: ignore[return-value]  # the same methods under another name

    async def scrub(self) -> bool:
        """Do nothing: the server's autovacuum reuses the space, and the operator handles backups."""
        return True

    async def examine(self, budget_s: float | None) -> list[str]:
        """Report no damage: checks are the server's task."""
        del budget_s
        return []

    async def close(self) -> None:
        """Close the pool."""
        await self._engine.dispose()

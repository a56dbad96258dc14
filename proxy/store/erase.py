"""Removing an owner from every SQL table, and the bytes from the disk."""

from __future__ import annotations

from dataclasses import dataclass

import sqlalchemy as sa

from proxy.store.sql import Database
from proxy.store.tables import leases, metadata
from proxy.types import Scope

# Every table with an owner, whoever adds one. Only the lease stays: the eraser holds it, and its release deletes it.
OWNED = tuple(table for table in metadata.sorted_tables if "owner" in table.c and table is not leases)


@dataclass(frozen=True, slots=True)
class Erased:
    """The proof of an erasure: rows deleted by table, and whether their bytes have left the files as well."""

    rows: dict[str, int]
    is_scrubbed: bool


class Erasure:
    """Erases owners; the caller holds the owner's lease."""

    def __init__(self, db: Database) -> None:
        self._db = db

    async def count(self, scope: Scope) -> dict[str, int]:
        """Return how many rows of the owner each table has."""

        def count(connection: sa.Connection) -> dict[str, int]:
            query = {table.name: sa.select(sa.func.count()).where(table.c.owner == scope.user) for table in OWNED}
            return {name: connection.execute(select).scalar_one() for name, select in query.items()}

        return await self._db.query(count)

    async def erase(self, scope: Scope) -> Erased:
        """Delete every row of the owner, of all agents and conversations, and scrub the files."""

        def delete(connection: sa.Connection) -> dict[str, int]:
            return {
                table.name: connection.execute(table.delete().where(table.c.owner == scope.user)).rowcount
                for table in OWNED
            }

        rows = await self._db.submit(delete)
        return Erased(rows, await self._db.scrub())

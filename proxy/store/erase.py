"""Erasure of a user from every SQL table and from the disk."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import sqlalchemy as sa

from proxy.store.codec import Json, Text
from proxy.store.partitions import covered
from proxy.store.sql import Database
from proxy.store.tables import destructions, leases, media, metadata, sessions
from proxy.types import Scope

# Every table with an `owner` column, also those added later, except the lease: the eraser holds it until its release.
OWNED = tuple(table for table in metadata.sorted_tables if "owner" in table.c and table is not leases)


@dataclass(frozen=True, slots=True)
class Erased:
    """Result of an erasure: deleted rows by table, and whether their bytes were scrubbed from the files."""

    rows: dict[str, int]
    is_scrubbed: bool


class Erasure:
    """Erasure of users; the caller holds the user's lease."""

    def __init__(self, db: Database) -> None:
        self._db = db

    async def count(self, scope: Scope) -> dict[str, int]:
        """Return the number of the user's rows by table."""

        def count(connection: sa.Connection) -> dict[str, int]:
            query = {table.name: sa.select(sa.func.count()).where(table.c.owner == scope.user) for table in OWNED}
            return {name: connection.execute(select).scalar_one() for name, select in query.items()}

        return await self._db.query(count)

    async def erase(self, scope: Scope) -> Erased:
        """Delete every row of the user, of all agents and sessions, and scrub the files."""
        return Erased(await self.delete(scope), await self._db.scrub())

    async def delete(self, scope: Scope) -> dict[str, int]:
        """Delete every row of the user and return their number by table; a scrub removes their bytes from the files.

        The record of the erasure itself stays until the erasure is complete.
        """

        def delete(connection: sa.Connection) -> dict[str, int]:
            return {
                table.name: connection.execute(table.delete().where(table.c.owner == scope.user, _goes(table))).rowcount
                for table in OWNED
            }

        return await self._db.submit(delete)

    async def delete_agent(self, scope: Scope) -> dict[str, int]:
        """Delete every row of one agent or project of the user and return their number by table.

        Rows of ``uses`` stay, as they do not name an agent; so does the record of the erasure itself.
        """

        def delete(connection: sa.Connection) -> dict[str, int]:
            own = sessions.c.owner == scope.user, covered(scope, sessions.c.agent)
            talks = list(connection.execute(sa.select(sessions.c.id).where(*own)).scalars())
            counts = {}
            for table in OWNED:
                its = table.c.owner == scope.user, _of_agent(table, scope, talks), _goes(table)
                counts[table.name] = connection.execute(table.delete().where(*its)).rowcount
            return counts

        return await self._db.submit(delete)

    async def agent_blobs(self, scope: Scope) -> list[str]:
        """Return the names of blobs that no other agent of the user has."""
        mine = media.c.owner == scope.user
        others = sa.select(media.c.sha256).where(mine, sa.not_(covered(scope, media.c.agent)))
        query = sa.select(media.c.sha256).where(mine, covered(scope, media.c.agent), media.c.sha256.not_in(others))
        return await self._db.query(lambda connection: list(connection.execute(query).scalars()))

    async def texts(self, scope: Scope) -> list[str | bytes]:
        """Return every text and record of the user's rows, as stored."""
        columns = [(table, _texts_of(table)) for table in OWNED]

        def select(connection: sa.Connection) -> list[str | bytes]:
            found: list[str | bytes] = []
            for table, own in columns:
                rows = connection.execute(sa.select(*own).where(table.c.owner == scope.user))
                found += [value for row in rows for value in row if value]
            return found

        return await self._db.query(select)

    async def holds(self, fragment: bytes) -> bool:
        """Return whether any row of any user holds these bytes; reads every table."""
        columns = [(table, _texts_of(table)) for table in OWNED]

        def search(connection: sa.Connection) -> bool:
            if connection.dialect.name != "sqlite":  # the server's files are not in the data folder
                return False
            for table, own in columns:
                for column in own:
                    is_in = sa.func.instr(sa.cast(column, sa.LargeBinary), fragment) > 0
                    if connection.execute(sa.select(sa.literal(1)).select_from(table).where(is_in).limit(1)).first():
                        return True
            return False

        return await self._db.query(search)


def _texts_of(table: sa.Table) -> list[sa.ColumnElement[Any]]:
    """Return the columns that may hold user texts, each as raw bytes or text."""
    return [
        sa.type_coerce(column, sa.LargeBinary if isinstance(column.type, Json | sa.LargeBinary) else sa.Text)
        for column in table.c
        if isinstance(column.type, Json | Text | sa.Text | sa.LargeBinary) and column.name not in _NO_CONTENT
    ]


_NO_CONTENT = frozenset({"owner", "tenant", "agent", "kind", "status", "action", "holder"})


def _of_agent(table: sa.Table, scope: Scope, talks: Sequence[str]) -> sa.ColumnElement[bool]:
    """Return the condition for rows of one agent: by its name or its sessions."""
    if "agent" in table.c:
        return covered(scope, table.c.agent)
    return table.c.session.in_(talks) if "session" in table.c else sa.false()  # shared by the user's agents


def _goes(table: sa.Table) -> sa.ColumnElement[bool]:
    """Return the condition for rows that an erasure deletes: all except its own record."""
    return destructions.c.noun != "scope" if table is destructions else sa.true()

"""Quarantined sessions, documents and memories, with reasons."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal

import sqlalchemy as sa

from proxy.clock import from_ms, to_ms
from proxy.errors import unknown
from proxy.store.partitions import owned
from proxy.store.sql import Database
from proxy.store.tables import quarantine
from proxy.types import Scope

ApartKind = Literal["session", "document", "memory"]
FoundBy = Literal["user", "detector"]


@dataclass(frozen=True, slots=True)
class Apart:
    """A quarantine entry.

    Args:
        id: ``qua_`` and 24 hex digits.
        kind: Kind of the quarantined object.
        target: Id of the quarantined object.
        reason: Reason in words.
        by: Origin of the entry: the user or a detector.
        created_at: Time of the quarantine.
        agent: Partition of the object, without the quarantine mark.
    """

    id: str
    kind: ApartKind
    target: str
    reason: str
    by: FoundBy
    created_at: datetime
    agent: str = ""

    @property
    def is_released(self) -> bool:
        """True for a released entry, which only serves as a position in the list."""
        return self.target == self.id


class Quarantine:
    """Store of every user's quarantine entries."""

    def __init__(self, db: Database) -> None:
        self._db = db
        self._put = db.insert(quarantine).on_conflict_do_nothing(index_elements=["owner", "target"])

    async def add(self, scope: Scope, one: Apart) -> Apart:
        """Insert an entry; return it, or the existing entry of the same object."""
        row = {
            "owner": scope.user,
            "id": one.id,
            "agent": one.agent,
            "session": one.target if one.kind == "session" else "",
            "kind": one.kind,
            "target": one.target,
            "reason": one.reason,
            "found_by": one.by,
            "created_ms": to_ms(one.created_at),
        }
        query = sa.select(quarantine).where(quarantine.c.owner == scope.user, quarantine.c.target == one.target)

        def put(connection: sa.Connection) -> Any:
            connection.execute(self._put, row).close()
            return connection.execute(query).one()

        return _apart(await self._db.submit(put))

    async def all(self, scope: Scope) -> list[Apart]:
        """Return the visible entries, newest first, without released ones."""
        return [one for one in await self.ever(scope) if not one.is_released]

    async def ever(self, scope: Scope) -> list[Apart]:
        """Return the visible entries, including released ones, newest first."""
        mine = quarantine.c.owner == scope.user, owned(scope, quarantine.c.agent)
        query = sa.select(quarantine).where(*mine).order_by(quarantine.c.created_ms.desc(), quarantine.c.id.desc())
        return [_apart(row) for row in await self._db.query(lambda connection: connection.execute(query).all())]

    async def get(self, scope: Scope, id_: str) -> Apart:
        """Return an entry by its id or by the id of the quarantined object.

        Raises:
            NotFound: If there is no such visible entry.
        """
        for one in await self.all(scope):
            if id_ in (one.id, one.target):
                return one
        raise unknown("entry of the quarantine", id_)

    async def targets(self, scope: Scope) -> frozenset[str]:
        """Return the ids of all the user's quarantined objects, visible or not."""
        held = quarantine.c.target != quarantine.c.id
        query = sa.select(quarantine.c.target).where(quarantine.c.owner == scope.user, held)
        found = await self._db.query(lambda connection: connection.execute(query).scalars().all())
        return frozenset(found)

    async def release(self, scope: Scope, id_: str) -> None:
        """Remove the object from an entry; the entry stays as a position in the list."""
        mine = quarantine.c.owner == scope.user, quarantine.c.id == id_
        freed = quarantine.update().where(*mine).values(target=id_, session="", reason="")
        await self._db.submit(lambda connection: connection.execute(freed).close())

    async def remove(self, scope: Scope, id_: str) -> None:
        """Delete an entry."""
        gone = quarantine.delete().where(quarantine.c.owner == scope.user, quarantine.c.id == id_)
        await self._db.submit(lambda connection: connection.execute(gone).close())


def _apart(row: Any) -> Apart:
    return Apart(row.id, row.kind, row.target, row.reason, row.found_by, from_ms(row.created_ms), row.agent)

"""Conversations, documents and memories that are set apart, and why."""

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
    """Something in quarantine.

    Args:
        id: ``qua_`` and 24 hex digits.
        kind: What it is.
        target: Its id.
        reason: In words.
        by: Who set it apart.
        created_at: When.
        agent: Its partition, without what sets it apart.
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
        """True for an entry that only keeps its place in the list."""
        return self.target == self.id


class Quarantine:
    """Quarantine of every owner."""

    def __init__(self, db: Database) -> None:
        self._db = db
        self._put = db.insert(quarantine).on_conflict_do_nothing(index_elements=["owner", "target"])

    async def add(self, scope: Scope, one: Apart) -> Apart:
        """Keep an entry; return it, or the one that there was for the same thing."""
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
        """Return the entries in view, newest first."""
        return [one for one in await self.ever(scope) if not one.is_released]

    async def ever(self, scope: Scope) -> list[Apart]:
        """Return the entries in view with the released ones, newest first."""
        mine = quarantine.c.owner == scope.user, owned(scope, quarantine.c.agent)
        query = sa.select(quarantine).where(*mine).order_by(quarantine.c.created_ms.desc(), quarantine.c.id.desc())
        return [_apart(row) for row in await self._db.query(lambda connection: connection.execute(query).all())]

    async def get(self, scope: Scope, id_: str) -> Apart:
        """Return an entry by its id or that of what is set apart.

        Raises:
            NotFound: If there is none in view.
        """
        for one in await self.all(scope):
            if id_ in (one.id, one.target):
                return one
        raise unknown("entry of the quarantine", id_)

    async def targets(self, scope: Scope) -> frozenset[str]:
        """Return the ids of all that the user has in quarantine, in view or not."""
        held = quarantine.c.target != quarantine.c.id
        query = sa.select(quarantine.c.target).where(quarantine.c.owner == scope.user, held)
        found = await self._db.query(lambda connection: connection.execute(query).scalars().all())
        return frozenset(found)

    async def release(self, scope: Scope, id_: str) -> None:
        """Let an entry name nothing any more; its place in the list stays."""
        mine = quarantine.c.owner == scope.user, quarantine.c.id == id_
        freed = quarantine.update().where(*mine).values(target=id_, session="", reason="")
        await self._db.submit(lambda connection: connection.execute(freed).close())

    async def remove(self, scope: Scope, id_: str) -> None:
        """Drop an entry."""
        gone = quarantine.delete().where(quarantine.c.owner == scope.user, quarantine.c.id == id_)
        await self._db.submit(lambda connection: connection.execute(gone).close())


def _apart(row: Any) -> Apart:
    return Apart(row.id, row.kind, row.target, row.reason, row.found_by, from_ms(row.created_ms), row.agent)

"""Pending destructions: requested, but with bytes still on the disk; they survive ``kill -9``."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Literal

import sqlalchemy as sa

from proxy.clock import to_ms
from proxy.store.sql import Database
from proxy.store.tables import destructions
from proxy.types import Scope

Doomed = Literal["memory", "media", "session", "apart", "scope"]


@dataclass(frozen=True, slots=True)
class Destruction:
    """A pending destruction of one object.

    Args:
        scope: Scope of the object.
        noun: Kind of object; ``apart`` is a quarantine entry, ``scope`` everything of a user, agent or project.
        id: Its id; for a scope its partition, "" for the whole user.
    """

    scope: Scope
    noun: Doomed
    id: str


class Destructions:
    """Store of every user's destructions that are in progress, or done but not scrubbed from the file yet."""

    def __init__(self, db: Database) -> None:
        self._db = db
        insert = db.insert(destructions)
        self._put = insert.on_conflict_do_update(
            index_elements=["owner", "noun", "id"], set_={name: insert.excluded[name] for name in ("is_done", "at_ms")}
        )

    async def begin(self, scope: Scope, noun: Doomed, id_: str, *, now: datetime) -> None:
        """Record that an object is about to be destroyed; a record of an earlier destruction is reopened."""
        row = {
            "owner": scope.user, "noun": noun, "id": id_, "tenant": scope.tenant, "agent": scope.agent,
            "is_done": 0, "at_ms": to_ms(now),
        }  # fmt: skip
        await self._db.submit(lambda connection: connection.execute(self._put, row).close())

    async def done(self, scope: Scope, noun: Doomed, id_: str, *, now: datetime) -> None:
        """Record that the rows and files are deleted; their bytes may remain in the database file."""
        update = destructions.update().where(*_is(scope, noun, id_)).values(is_done=1, at_ms=to_ms(now))
        await self._db.submit(lambda connection: connection.execute(update).close())

    async def is_open(self, scope: Scope, noun: Doomed, id_: str) -> bool:
        """Return whether an object's destruction is not done yet."""
        query = sa.select(sa.literal(1)).where(*_is(scope, noun, id_), destructions.c.is_done == 0)
        return await self._db.query(lambda connection: connection.execute(query).first()) is not None

    async def unfinished(self, *, until: datetime) -> list[Destruction]:
        """Return all users' destructions that began by ``until`` and are not done."""
        query = sa.select(destructions).where(destructions.c.is_done == 0, destructions.c.at_ms <= to_ms(until))
        rows = await self._db.query(lambda connection: connection.execute(query).all())
        return [Destruction(Scope(row.tenant, row.owner, row.agent), row.noun, row.id) for row in rows]

    async def erased(self) -> set[str]:
        """Return the users whose whole memory is being erased."""
        query = sa.select(destructions.c.owner).where(
            destructions.c.noun == "scope", destructions.c.id == "", destructions.c.is_done == 0
        )
        return set(await self._db.query(lambda connection: connection.execute(query).scalars().all()))

    async def awaits_scrub(self) -> bool:
        """Return whether deleted bytes may remain in the database file."""
        query = sa.select(sa.literal(1)).where(destructions.c.is_done == 1).limit(1)
        return await self._db.query(lambda connection: connection.execute(query).first()) is not None

    async def over(self, *, until: datetime) -> None:
        """Delete the records of destructions done by ``until``: the database file was rewritten since."""
        gone = destructions.delete().where(destructions.c.is_done == 1, destructions.c.at_ms <= to_ms(until))
        await self._db.submit(lambda connection: connection.execute(gone).close())


def _is(scope: Scope, noun: Doomed, id_: str) -> tuple[sa.ColumnElement[bool], ...]:
    return destructions.c.owner == scope.user, destructions.c.noun == noun, destructions.c.id == id_

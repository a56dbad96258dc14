"""Destructions that were asked for and whose bytes have not left the disk yet; they survive ``kill -9``."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Literal

import sqlalchemy as sa

from proxy.clock import to_ms
from proxy.store.sql import Database
from proxy.store.tables import destructions
from proxy.types import Scope

Doomed = Literal["memory", "media", "session"]


@dataclass(frozen=True, slots=True)
class Destruction:
    """One thing to be destroyed.

    Args:
        scope: Whose.
        noun: Kind of thing.
        id: Of it.
        is_done: Rows and files are gone; deleted bytes may still stand in the database's file.
    """

    scope: Scope
    noun: Doomed
    id: str
    is_done: bool = False


class Destructions:
    """The destructions of every owner that are not over."""

    def __init__(self, db: Database) -> None:
        self._db = db
        self._put = db.insert(destructions).on_conflict_do_nothing(index_elements=["owner", "noun", "id"])

    async def begin(self, scope: Scope, noun: Doomed, id_: str, *, now: datetime) -> None:
        """Note that something is about to be destroyed."""
        row = {
            "owner": scope.user, "noun": noun, "id": id_, "tenant": scope.tenant, "agent": scope.agent,
            "is_done": 0, "at_ms": to_ms(now),
        }  # fmt: skip
        await self._db.submit(lambda connection: connection.execute(self._put, row).close())

    async def done(self, scope: Scope, noun: Doomed, id_: str, *, now: datetime) -> None:
        """Note that its rows and files are gone by now."""
        where = (destructions.c.owner == scope.user, destructions.c.noun == noun, destructions.c.id == id_)
        update = destructions.update().where(*where).values(is_done=1, at_ms=to_ms(now))
        await self._db.submit(lambda connection: connection.execute(update).close())

    async def unfinished(self, *, until: datetime) -> list[Destruction]:
        """Return those of all owners that began, or were done, until a moment and are not over; by their keys."""
        query = sa.select(destructions).where(destructions.c.at_ms <= to_ms(until))
        rows = await self._db.query(lambda connection: connection.execute(query).all())
        return [
            Destruction(Scope(row.tenant, row.owner, row.agent), row.noun, row.id, bool(row.is_done)) for row in rows
        ]

    async def over(self, *, until: datetime) -> None:
        """Forget those that were done until a moment: the database's file was written anew since."""
        gone = destructions.delete().where(destructions.c.is_done == 1, destructions.c.at_ms <= to_ms(until))
        await self._db.submit(lambda connection: connection.execute(gone).close())

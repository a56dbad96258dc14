"""Incidents of damage, their outcome and losses: kept until the operator has seen them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import sqlalchemy as sa

from proxy.clock import from_ms, iso, to_ms
from proxy.store.sql import Database
from proxy.store.tables import incidents
from proxy.types import Scope

FOLDER = Scope("", "")
_MAX = 50


@dataclass(frozen=True, slots=True)
class Incident:
    """One damage.

    Args:
        part: What was damaged: ``database``, ``memories``, ``episodes``, ``chunks``, ``blobs``.
        text: What was found and done; nothing of what users said.
        at: When it was found.
        place: Where what was set aside lies, "" where nothing was.
        restored: Rows that are there again.
        lost: Rows that are gone; None: cannot be counted.
    """

    part: str
    text: str
    at: datetime
    place: str = ""
    restored: int = 0
    lost: int | None = 0

    def shown(self) -> dict[str, Any]:
        """Return it as an answer shows it; where it lies on the disk is for the log and ``throughline check``."""
        body = {"part": self.part, "text": self.text, "restored": self.restored, "lost": self.lost}
        return {**body, "set_aside": bool(self.place), "at": iso(self.at)}


class Incidents:
    """The incidents of a data folder and of every owner's tables."""

    def __init__(self, db: Database) -> None:
        self._db = db

    async def note(self, scope: Scope, incident: Incident) -> None:
        """Keep an incident of an owner, or of the whole ``FOLDER``."""
        row = {
            "owner": scope.user,
            "part": incident.part,
            "text": incident.text,
            "place": incident.place,
            "restored": incident.restored,
            "lost": incident.lost,
            "at_ms": to_ms(incident.at),
            "seen_ms": None,
        }
        await self._db.submit(lambda connection: connection.execute(incidents.insert(), row).close())

    async def of(self, scope: Scope) -> list[Incident]:
        """Return what the operator has not seen yet of this owner and of the whole folder, the newest first."""
        return await self._unseen(incidents.c.owner.in_(["", scope.user]))

    async def unseen(self) -> list[Incident]:
        """Return what the operator has not seen yet, the newest first."""
        return await self._unseen(sa.true())

    async def happened(self, part: str) -> bool:
        """Return whether a part of the whole folder was ever damaged, seen or not."""
        query = sa.select(incidents.c.seq).where(incidents.c.owner == FOLDER.user, incidents.c.part == part).limit(1)
        return await self._db.query(lambda connection: connection.execute(query).first()) is not None

    async def see(self, *, now: datetime) -> int:
        """Note that the operator has seen everything; return how many incidents were news."""
        update = incidents.update().where(incidents.c.seen_ms.is_(None)).values(seen_ms=to_ms(now))
        return await self._db.submit(lambda connection: connection.execute(update).rowcount)

    async def _unseen(self, which: sa.ColumnElement[bool]) -> list[Incident]:
        query = sa.select(incidents).where(incidents.c.seen_ms.is_(None), which).order_by(incidents.c.seq.desc())
        rows = await self._db.query(lambda connection: connection.execute(query.limit(_MAX)).mappings().all())
        return [_incident(row) for row in rows]


def _incident(row: Mapping[Any, Any]) -> Incident:
    at = from_ms(row["at_ms"])
    return Incident(row["part"], row["text"], at, row["place"], row["restored"], row["lost"])

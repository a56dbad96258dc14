"""Incidents of damage with their outcome and losses, shown until the operator has seen them."""

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
    """One case of damage.

    Args:
        part: Damaged part: ``database``, ``memories``, ``episodes``, ``chunks``, ``blobs``.
        text: Description of the damage and the repair, without user texts.
        at: Time of detection.
        place: Path of the quarantined files, "" if there are none.
        restored: Number of restored rows.
        lost: Number of lost rows; None if they cannot be counted.
    """

    part: str
    text: str
    at: datetime
    place: str = ""
    restored: int = 0
    lost: int | None = 0

    def shown(self) -> dict[str, Any]:
        """Return the incident as JSON for the API; only the log and ``throughline check`` show its path."""
        body = {"part": self.part, "text": self.text, "restored": self.restored, "lost": self.lost}
        return {**body, "set_aside": bool(self.place), "at": iso(self.at)}


class Incidents:
    """Store of the incidents of the data folder and of every user's tables."""

    def __init__(self, db: Database) -> None:
        self._db = db

    async def note(self, scope: Scope, incident: Incident) -> None:
        """Record an incident of a user, or of the whole ``FOLDER``."""
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
        """Return the unseen incidents of this user and of the whole folder, newest first."""
        return await self._unseen(incidents.c.owner.in_(["", scope.user]))

    async def unseen(self) -> list[Incident]:
        """Return the incidents that the operator has not seen yet, newest first."""
        return await self._unseen(sa.true())

    async def happened(self, part: str) -> bool:
        """Return whether a part of the whole folder was ever damaged, by seen and unseen incidents."""
        query = sa.select(incidents.c.seq).where(incidents.c.owner == FOLDER.user, incidents.c.part == part).limit(1)
        return await self._db.query(lambda connection: connection.execute(query).first()) is not None

    async def see(self, *, now: datetime) -> int:
        """Mark all incidents as seen by the operator; return the number of unseen ones."""
        update = incidents.update().where(incidents.c.seen_ms.is_(None)).values(seen_ms=to_ms(now))
        return await self._db.submit(lambda connection: connection.execute(update).rowcount)

    async def _unseen(self, which: sa.ColumnElement[bool]) -> list[Incident]:
        query = sa.select(incidents).where(incidents.c.seen_ms.is_(None), which).order_by(incidents.c.seq.desc())
        rows = await self._db.query(lambda connection: connection.execute(query.limit(_MAX)).mappings().all())
        return [_incident(row) for row in rows]


def _incident(row: Mapping[Any, Any]) -> Incident:
    at = from_ms(row["at_ms"])
    return Incident(row["part"], row["text"], at, row["place"], row["restored"], row["lost"])

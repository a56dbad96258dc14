"""Use of each memory: number and time of injections; buffered and written periodically."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime

import sqlalchemy as sa

from proxy.clock import from_ms, to_ms
from proxy.store.sql import Database
from proxy.store.tables import uses
from proxy.types import Scope


@dataclass(frozen=True, slots=True)
class Use:
    """Use of one memory.

    Args:
        count: Number of injections into requests with learning; repeated requests do not count.
        last_at: Time of the last injection, by the server's clock.
    """

    count: int
    last_at: datetime

    def __add__(self, other: Use) -> Use:
        """Return the sum of both."""
        return Use(self.count + other.count, max(self.last_at, other.last_at))


class Uses:
    """Store of the uses of every user's memories.

    Requests only buffer them: a killed process loses those of the last seconds.
    """

    def __init__(self, db: Database) -> None:
        self._db = db
        insert = db.insert(uses)
        put = insert.on_conflict_do_update(
            index_elements=["owner", "memory"],
            set_={
                "uses": uses.c.uses + insert.excluded.uses,
                "last_ms": sa.case(
                    (insert.excluded.last_ms > uses.c.last_ms, insert.excluded.last_ms), else_=uses.c.last_ms
                ),
            },
        )
        self._put = db.prepare(put, columns=uses.c.keys())
        self._noted: dict[tuple[str, str], Use] = {}

    def note(self, scope: Scope, ids: Collection[str], *, now: datetime) -> None:
        """Buffer the injection of memories into a request."""
        for id_ in ids:
            self._add((scope.user, id_), Use(1, now))

    async def of(self, scope: Scope, ids: Collection[str]) -> dict[str, Use]:
        """Return the uses of these memories by id, without unused ones."""
        wanted = sorted(set(ids))
        query = _ROWS.where(uses.c.owner == scope.user, uses.c.memory.in_(wanted))
        rows = await self._db.query(lambda connection: connection.execute(query).all()) if wanted else []
        found = {row.memory: Use(row.uses, from_ms(row.last_ms)) for row in rows}
        for id_ in wanted:
            if (noted := self._noted.get((scope.user, id_))) is not None:
                found[id_] = found[id_] + noted if id_ in found else noted
        return found

    async def flush(self) -> int:
        """Write the buffered uses of all users in one transaction; return the number of memories."""
        noted, self._noted = self._noted, {}
        rows = [
            {"owner": owner, "memory": id_, "uses": use.count, "last_ms": to_ms(use.last_at)}
            for (owner, id_), use in sorted(noted.items())
        ]
        if not rows:
            return 0
        try:
            await self._db.submit(lambda connection: self._put.execute_all(connection, rows))
        except BaseException:
            for key, use in noted.items():
                self._add(key, use)
            raise
        return len(rows)

    async def remove(self, scope: Scope, ids: Collection[str]) -> None:
        """Delete the uses of deleted memories."""
        for id_ in ids:
            self._noted.pop((scope.user, id_), None)
        gone = uses.delete().where(uses.c.owner == scope.user, uses.c.memory.in_(sorted(set(ids))))
        if ids:
            await self._db.submit(lambda connection: connection.execute(gone).close())

    def forget(self, scope: Scope) -> None:
        """Drop the buffered uses of a user whose rows are deleted."""
        self._noted = {key: use for key, use in self._noted.items() if key[0] != scope.user}

    def _add(self, key: tuple[str, str], use: Use) -> None:
        self._noted[key] = self._noted[key] + use if key in self._noted else use


_ROWS = sa.select(uses.c.memory, uses.c.uses, uses.c.last_ms)

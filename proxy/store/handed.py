"""Ids of provider objects that were returned to a scope; requests of the scope may name only these."""

from __future__ import annotations

import hashlib
from collections.abc import Collection
from datetime import datetime, timedelta

import sqlalchemy as sa

from proxy.clock import to_ms
from proxy.store.sql import Database
from proxy.store.tables import handed
from proxy.types import Scope

_AT_ONCE = 500
_FRESH = timedelta(days=1)  # an id used after that gets a new timestamp, so that `prune` spares ids in use


class Handed:
    """Store of the ids returned to every user; only their hashes are stored."""

    def __init__(self, db: Database) -> None:
        self._db = db
        insert = db.insert(handed)
        keys = ["owner", "agent", "id_hash"]
        put = insert.on_conflict_do_update(index_elements=keys, set_={"at_ms": insert.excluded.at_ms})
        self._put = db.prepare(put, columns=handed.c.keys())

    async def note(self, scope: Scope, ids: Collection[str], *, now: datetime) -> None:
        """Record ids that were returned to a scope."""
        hashes = sorted({_hash(one) for one in ids})
        rows = [{"owner": scope.user, "agent": scope.agent, "id_hash": one, "at_ms": to_ms(now)} for one in hashes]
        if rows:
            await self._db.submit(lambda connection: self._put.execute_all(connection, rows))

    async def missing(self, scope: Scope, ids: Collection[str], *, now: datetime) -> list[str]:
        """Return the ids that were returned neither to the scope nor to its user without an agent."""
        by_hash = {_hash(one): one for one in ids}
        hashes = list(by_hash)
        mine = handed.c.owner == scope.user, handed.c.agent.in_(scope.partitions)

        def known(connection: sa.Connection) -> dict[str, int]:
            found: dict[str, int] = {}
            for at in range(0, len(hashes), _AT_ONCE):
                some = handed.c.id_hash.in_(hashes[at : at + _AT_ONCE])
                for row in connection.execute(sa.select(handed.c.id_hash, handed.c.at_ms).where(*mine, some)):
                    found[row.id_hash] = max(row.at_ms, found.get(row.id_hash, 0))
            return found

        seen = await self._db.query(known) if hashes else {}
        stale = [by_hash[hashed] for hashed, at_ms in seen.items() if at_ms < to_ms(now - _FRESH)]
        if stale:
            await self.note(scope, stale, now=now)
        return [one for hashed, one in by_hash.items() if hashed not in seen]

    async def prune(self, *, before: datetime) -> int:
        """Delete ids of all users that were last returned before a time; return their number."""
        old = handed.delete().where(handed.c.at_ms < to_ms(before))
        return await self._db.submit(lambda connection: connection.execute(old).rowcount)


def _hash(id_: str) -> str:
    return hashlib.blake2b(id_.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()

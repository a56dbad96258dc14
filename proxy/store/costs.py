"""Costs and savings of memory in tokens and USD, by user and by session."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import sqlalchemy as sa

from proxy.store.partitions import reached
from proxy.store.sql import Database
from proxy.store.tables import costs, sessions
from proxy.types import Scope

CostKind = Literal["injected", "saved", "extraction", "captions", "summaries"]
_WHOLE = ""  # session of the user's total, deleted sessions included


@dataclass(frozen=True, slots=True)
class Cost:
    """Tokens of one kind and their price in USD.

    Args:
        kind: ``injected`` into requests, ``saved`` by dropping old turns, or spent in the background on
            ``extraction``, ``captions`` and ``summaries``.
        tokens: Number of tokens.
        usd: Price by the model map; 0 if the map has none.
    """

    kind: CostKind
    tokens: int
    usd: float = 0.0


def shown(costs: Sequence[Cost]) -> dict[str, dict[str, Any]]:
    """Return costs in the JSON form of receipts."""
    return {one.kind: {"tokens": one.tokens, "usd": round(one.usd, 9)} for one in costs}


class Costs:
    """Store of every user's cost meters."""

    def __init__(self, db: Database) -> None:
        self._db = db
        insert = db.insert(costs)
        put = insert.on_conflict_do_update(
            index_elements=["owner", "session", "kind"],
            set_={
                "tokens": costs.c.tokens + insert.excluded.tokens,
                "nano_usd": costs.c.nano_usd + insert.excluded.nano_usd,
            },
        )
        self._put = db.prepare(put, columns=costs.c.keys())

    def put(self, scope: Scope, connection: sa.Connection, found: Sequence[Cost]) -> None:
        """Add costs to the meters of the session and of its user inside the caller's transaction."""
        rows = [
            {
                "owner": scope.user,
                "session": session,
                "kind": one.kind,
                "tokens": one.tokens,
                "nano_usd": round(one.usd * 1e9),
            }
            for one in found
            if one.tokens
            for session in sorted({_WHOLE, scope.session})
        ]
        self._put.execute_all(connection, rows)

    async def add(self, scope: Scope, found: Sequence[Cost]) -> None:
        """Add the costs of background work to the meters, in its own transaction."""
        if any(one.tokens for one in found):
            await self._db.submit(lambda connection: self.put(scope, connection, found))

    async def read(self, scope: Scope, session: str = _WHOLE) -> list[Cost]:
        """Return the meters of a session or, by default, of the user; in a project, the sum over visible sessions."""
        values = {"owner": scope.user, "session": session}
        query = _READ
        if session == _WHOLE and scope.project:
            talks = sa.select(sessions.c.id).where(sessions.c.owner == scope.user, reached(scope, sessions.c.agent))
            total = (sa.func.sum(costs.c.tokens).label("tokens"), sa.func.sum(costs.c.nano_usd).label("nano_usd"))
            mine = costs.c.owner == scope.user, costs.c.session.in_(talks)
            query = sa.select(costs.c.kind, *total).where(*mine).group_by(costs.c.kind).order_by(costs.c.kind)
            values = {}
        rows = await self._db.query(lambda connection: connection.execute(query, values).all())
        return [Cost(row.kind, row.tokens, row.nano_usd / 1e9) for row in rows]


_READ: sa.Select[Any] = (
    sa.select(costs.c.kind, costs.c.tokens, costs.c.nano_usd)
    .where(costs.c.owner == sa.bindparam("owner"), costs.c.session == sa.bindparam("session"))
    .order_by(costs.c.kind)
)

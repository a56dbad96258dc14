"""Row counts over all users, for the operator; contains no user texts."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any

import sqlalchemy as sa

from proxy.clock import from_ms, to_ms
from proxy.store.sql import Database
from proxy.store.tables import receipts, sessions

MAX_USERS = 150


@dataclass(frozen=True, slots=True)
class Census:
    """Row counts of one user.

    Args:
        owner: Hash of the user.
        last_at: Time of the user's last request.
    """

    owner: str
    sessions: int
    turns: int
    requests: int
    last_at: datetime


async def census(db: Database, *, since: datetime) -> tuple[int, list[Census]]:
    """Return the number of users, and the counts of the most recently active ones (at most ``MAX_USERS``).

    Args:
        db: The database.
        since: Start of the period in which requests are counted.
    """
    last = sa.func.max(sa.func.coalesce(sessions.c.arrived_ms, sessions.c.last_ms)).label("last")
    query = sa.select(sessions.c.owner, sa.func.count(), sa.func.sum(sessions.c.turns), last).group_by(sessions.c.owner)
    asked = sa.select(receipts.c.owner, sa.func.count()).where(receipts.c.created_ms >= to_ms(since))
    total = sa.select(sa.func.count(sa.distinct(sessions.c.owner)))

    def select(connection: sa.Connection) -> tuple[int, list[Census]]:
        requests = {row[0]: row[1] for row in connection.execute(asked.group_by(receipts.c.owner))}
        rows = connection.execute(query.order_by(last.desc()).limit(MAX_USERS)).all()
        found = [Census(row[0], row[1], int(row[2] or 0), requests.get(row[0], 0), from_ms(row[3])) for row in rows]
        return connection.execute(total).scalar_one(), found

    return await db.query(select)


async def newest_receipts(db: Database, *, since: datetime, limit: int) -> list[tuple[str, dict[str, Any]]]:
    """Return user and body of the newest receipts of all users since a time; the caller must not show their texts."""
    query = sa.select(receipts.c.owner, receipts.c.body).where(receipts.c.created_ms >= to_ms(since))
    query = query.order_by(receipts.c.created_ms.desc()).limit(limit)
    rows = await db.query(lambda connection: connection.execute(query).all())
    return [(row.owner, row.body) for row in rows]

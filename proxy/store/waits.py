"""Repair of due times and leases that a clock ahead or a killed process left behind."""

from __future__ import annotations

from datetime import datetime, timedelta

import sqlalchemy as sa

from proxy.clock import to_ms
from proxy.store.journal_rows import OPEN, UNJUDGED
from proxy.store.sql import Database
from proxy.store.tables import destructions, jobs, journal, leases, media

MAX_WAIT = timedelta(hours=1)  # above every pause in Throughline; the longest is 10 minutes
_PAUSES = ((journal.c.due_ms, OPEN), (journal.c.due_ms, UNJUDGED), (media.c.due_ms, None), (destructions.c.at_ms, None))
_LEASES = ((leases.c.until_ms, None), (media.c.until_ms, None), (jobs.c.until_ms, None))


async def shorten(db: Database, *, now: datetime, lease_s: float) -> int:
    """End waits longer than any regular one, which come from a clock that was ahead; return their number.

    A lease gets its usual length, as its holder may be alive.
    """
    lease = timedelta(seconds=lease_s)
    beyond_ms = to_ms(now + max(MAX_WAIT, 2 * lease))
    wrong = [
        (column, value_ms, sa.and_(column > beyond_ms, sa.true() if rows is None else rows))
        for columns, value_ms in ((_PAUSES, to_ms(now)), (_LEASES, to_ms(now + lease)))
        for column, rows in columns
    ]

    def any_of(connection: sa.Connection) -> bool:
        return any(connection.execute(sa.select(column).where(which).limit(1)).first() for column, _, which in wrong)

    def mend(connection: sa.Connection) -> int:
        changes = [
            sa.update(column.table).where(which).values({column.name: value_ms}) for column, value_ms, which in wrong
        ]
        return sum(connection.execute(change).rowcount for change in changes)

    return await db.submit(mend) if await db.query(any_of) else 0


async def end_leases(db: Database) -> int:
    """End all leases; return their number. The caller knows that every process that took one is dead."""
    over = [(column.table, column > 0) for column, _ in _LEASES]

    def end(connection: sa.Connection) -> int:
        return sum(connection.execute(sa.update(table).where(held).values(until_ms=0)).rowcount for table, held in over)

    return await db.submit(end)

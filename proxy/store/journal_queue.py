"""The journal as a queue: which rows are due, and which wait for which."""

from __future__ import annotations

import sqlalchemy as sa

from proxy.store.journal_rows import OPEN, TO_INDEX, TO_LEARN
from proxy.store.sql import Database
from proxy.store.tables import journal, leases

# Facts are learned in order and a pause at a time: the owner's rows at this stage are due together, nothing overtakes
# a turn that waits for its next attempt, and no row waits for later ones beyond its own longest wait.
_LEARNING = (journal.c.owner == sa.bindparam("o")) & OPEN & (journal.c.stage == TO_LEARN)
LAST_DUE = sa.select(
    sa.func.max(sa.case((journal.c.error != sa.literal_column("''"), journal.c.due_ms))), sa.func.max(journal.c.due_ms)
).where(_LEARNING)
QUEUE_UP = (
    journal.update().where(_LEARNING, journal.c.due_ms < sa.bindparam("until")).values(due_ms=sa.bindparam("until"))
)
_LATEST_MS = journal.c.created_ms + sa.bindparam("wait")
PUT_OFF = (
    journal.update()
    .where(_LEARNING, journal.c.due_ms < sa.bindparam("until"), journal.c.due_ms < _LATEST_MS)
    .values(due_ms=sa.case((sa.bindparam("until") > _LATEST_MS, _LATEST_MS), else_=sa.bindparam("until")))
)
_IS_DUE = (
    OPEN
    & (journal.c.due_ms <= sa.bindparam("now"))
    & (
        leases.c.owner.is_(None)
        | (leases.c.until_ms <= sa.bindparam("now"))
        | (leases.c.holder == sa.bindparam("holder"))
    )
)
_WITH_LEASE = journal.outerjoin(leases, leases.c.owner == journal.c.owner)
ANY_DUE = sa.select(journal.c.seq).select_from(_WITH_LEASE).where(_IS_DUE).limit(1)


def lease_statement(db: Database) -> sa.Executable:
    """Return the statement that takes the lease of one owner with due work: who has something to be indexed first."""
    # Postgres: two claims at once skip each other's row; where both still meet at one owner, the second finds the
    # fresh lease in the WHERE of the upsert and takes nothing. SQLite has one writer and ignores FOR UPDATE.
    due = (
        sa.select(
            journal.c.owner,
            sa.bindparam("holder", type_=sa.Text),
            sa.bindparam("until", type_=sa.BigInteger),
        )
        .select_from(_WITH_LEASE)
        .where(_IS_DUE)
        .order_by(journal.c.stage != TO_INDEX, journal.c.due_ms, journal.c.seq)
        .limit(1)
        .with_for_update(of=journal, skip_locked=True)
    )
    insert = db.insert(leases)
    return (
        insert.from_select(["owner", "holder", "until_ms"], due)
        .on_conflict_do_update(
            index_elements=["owner"],
            set_={"holder": insert.excluded.holder, "until_ms": insert.excluded.until_ms},
            where=(leases.c.until_ms <= sa.bindparam("now")) | (leases.c.holder == insert.excluded.holder),
        )
        .returning(leases.c.owner)
    )

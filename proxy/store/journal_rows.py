"""Rows of the journal: what stands in them, how they are read and written, which are due, and which wait for which."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, Literal

import sqlalchemy as sa
import structlog

from proxy.clock import from_ms, to_ms
from proxy.store import codec
from proxy.store.bindings import Binding
from proxy.store.compactions import Compaction
from proxy.store.costs import Cost
from proxy.store.ledger import LedgerEntry
from proxy.store.replies import Kept
from proxy.store.sessions import Link
from proxy.store.sql import Database
from proxy.store.tables import journal, leases
from proxy.types import Scope, Turn

Stage = Literal[0, 1, 2, 3, 9]
TO_INDEX: Stage = 0
TO_LEARN: Stage = 1
DONE: Stage = 2
TO_JUDGE: Stage = 3  # learned; waits for the model's second look
DEAD: Stage = 9

_UNREADABLE = "unreadable"
BEGUN = "begun"  # an attempt is under way, or the process ended in the middle of it
STALLED, TOO_SLOW = "stalled", "too_slow"  # given up for good: a new start would stand still as well

_log = structlog.get_logger(__name__)

WHOLE, PARTIAL = "turn", "partial"  # kinds of rows, beside "change"

NEW_COLUMNS = (
    *("owner", "tenant", "agent", "session"),
    *("turn", "kind", "stage", "payload", "due_ms", "created_ms", "attempts", "error"),
)

# Literals, not parameters: the planner takes a partial index only for a condition that it can see.
OPEN = journal.c.stage < sa.literal_column("2")
BURIED = journal.c.stage == sa.literal_column("9")
UNJUDGED = journal.c.stage == sa.literal_column("3")

_READ_COLUMNS: tuple[sa.ColumnElement[Any], ...] = (
    *(column for column in journal.c if column.name not in ("owner", "done_ms", "plan")),
    sa.type_coerce(journal.c.plan, sa.LargeBinary).label("raw_plan"),  # each plan is read on its own
)
_ITEMS = sa.select(*_READ_COLUMNS).where(journal.c.owner == sa.bindparam("owner")).order_by(journal.c.seq)

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


@dataclass(frozen=True, slots=True)
class Record:
    """Everything that one exchange leaves behind.

    Args:
        turn: What is to be learned from; None where the mode says not to.
        links: The points of the hash chain that the conversation now has.
        ledger: What was injected.
        receipt: JSON with an ``id``.
        holder: Key that asked, as it is counted; "" where no key did.
        session_name: The client's own id of the conversation, or "".
        now: When.
        due: When the worker may start on the turn.
        said_at: Time of the conversation, where it is not ``now``.
        is_repeat: Whether the turn's last message is known already: then it may complete a reply that broke off.
        reply: Of a provider that keeps it, so that a later request may continue it.
        compaction: What it leaves out of its conversation from now on.
        costs: What memory put into the request, and what it saved.
        bindings: Signed thoughts, and what they are bound to.
        is_visit: Whether the conversation is to be known from now on; else only the receipt is kept.
    """

    turn: Turn | None
    links: Sequence[Link]
    ledger: Sequence[LedgerEntry]
    receipt: Mapping[str, Any] | None
    session_name: str
    now: datetime
    due: datetime
    said_at: datetime | None = None
    is_visit: bool = True
    is_repeat: bool = False
    reply: Kept | None = None
    compaction: Compaction | None = None
    costs: Sequence[Cost] = ()
    bindings: Sequence[Binding] = ()
    holder: str = ""


@dataclass(frozen=True, slots=True)
class Item:
    """One row of work: a turn, or a change that was asked for by API (then ``change`` holds its JSON).

    A dead row may have neither: then its payload cannot be read.
    """

    seq: int
    scope: Scope
    id: str
    kind: Literal["turn", "change"]
    stage: Stage
    turn: Turn | None
    change: Any
    plan: Any
    attempts: int
    due: datetime
    created: datetime
    error: str

    @property
    def is_readable(self) -> bool:
        """Return whether the row's payload makes sense to this version."""
        return self.turn is not None or self.change is not None

    def waits(self, now: datetime) -> bool:
        """Return whether it failed and is put off."""
        return bool(self.error) and self.due > now


@dataclass(frozen=True, slots=True)
class Claim:
    """The lease of one owner, and all of the owner's unfinished work in order."""

    scope: Scope
    holder: str
    until: datetime
    items: tuple[Item, ...]


def row_of(scope: Scope, turn: str, kind: str, payload: bytes, *, now: datetime, due: datetime) -> dict[str, Any]:
    """Return a new row, to be indexed when it is due."""
    where = (scope.user, scope.tenant, scope.agent, scope.session)
    what = (turn, kind, TO_INDEX, payload, to_ms(due), to_ms(now), 0, "")
    return dict(zip(NEW_COLUMNS, where + what, strict=True))


def items_of(connection: sa.Connection, owner: str, *, which: sa.ColumnElement[bool] = OPEN) -> tuple[Item, ...]:
    """Return an owner's rows in order: unfinished work, or those that ``which`` selects."""
    rows = connection.execute(_ITEMS.where(which), {"owner": owner})
    return tuple(_item(owner, row) for row in rows)


def claim_of(connection: sa.Connection, owner: str, holder: str, until: datetime) -> Claim | None:
    """Return all unfinished work of an owner whose lease was taken; what cannot be read is set aside as dead."""
    items = items_of(connection, owner)
    if not items:
        return None
    if unreadable := [item.seq for item in items if not item.is_readable]:
        _log.error("work that cannot be read was set aside", rows=len(unreadable))
        rows = journal.c.owner == owner, journal.c.seq.in_(unreadable)
        connection.execute(journal.update().where(*rows).values(stage=DEAD, error=_UNREADABLE))
    readable = tuple(item for item in items if item.is_readable)
    return Claim(Scope(items[0].scope.tenant, owner), holder, until, readable)


def completed(connection: sa.Connection, scope: Scope, turn: Turn) -> bytes:
    """Return a turn with the messages that were journalled with its first, broken reply, where that is still there."""
    same = sa.select(journal.c.payload).where(
        journal.c.owner == scope.user, journal.c.session == scope.session, journal.c.turn == turn.id
    )
    stored = connection.execute(same.where(journal.c.kind == PARTIAL)).scalar()
    if stored is None:
        return codec.turn_to_json(turn)
    return codec.turn_to_json(replace(turn, messages=codec.turn_from_json(stored).messages))


def _item(owner: str, row: sa.Row[Any]) -> Item:
    kind: Literal["turn", "change"] = "change" if row.kind == "change" else "turn"
    turn, change, plan = _contents(row)
    return Item(
        seq=row.seq,
        scope=Scope(row.tenant, owner, row.agent, row.session),
        id=row.turn,
        kind=kind,
        stage=row.stage,
        turn=turn,
        change=change,
        plan=plan,
        attempts=row.attempts,
        due=from_ms(row.due_ms),
        created=from_ms(row.created_ms),
        error=row.error,
    )


def _contents(row: sa.Row[Any]) -> tuple[Turn | None, Any, Any]:
    """Return turn, change and plan of a row; nothing of what another version or a broken disk left unreadable."""
    try:
        plan = None if row.raw_plan is None else codec.loads(row.raw_plan)
        if row.kind == "change":
            return None, codec.loads(row.payload), plan
        return codec.turn_from_json(row.payload), None, plan
    except (ValueError, TypeError, LookupError, AttributeError):
        return None, None, None


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

"""Rows of the journal: columns, encoding, due times and order."""

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
TO_JUDGE: Stage = 3  # learned; waits for the judge, a model
DEAD: Stage = 9

_UNREADABLE = "unreadable"
# an attempt is running, or its process has died
BEGUN = "begun"
STALLED, TOO_SLOW = "stalled", "too_slow"  # never revived: they would stall a new process too

_log = structlog.get_logger(__name__)

WHOLE, PARTIAL = "turn", "partial"  # kinds of rows besides "change"

NEW_COLUMNS = (
    *("owner", "tenant", "agent", "session"),
    *("turn", "kind", "stage", "payload", "due_ms", "created_ms", "attempts", "error"),
)

# Literals, not parameters: the planner uses a partial index only for a condition with constants.
OPEN = journal.c.stage < sa.literal_column("2")
BURIED = journal.c.stage == sa.literal_column("9")
UNJUDGED = journal.c.stage == sa.literal_column("3")

_READ_COLUMNS: tuple[sa.ColumnElement[Any], ...] = (
    *(column for column in journal.c if column.name not in ("owner", "done_ms", "plan")),
    sa.type_coerce(journal.c.plan, sa.LargeBinary).label("raw_plan"),  # raw: decoded row by row, as one may be broken
)
_ITEMS = sa.select(*_READ_COLUMNS).where(journal.c.owner == sa.bindparam("owner")).order_by(journal.c.seq)

# Turns are learned in order, in batches after a pause: a user's rows at this stage are due together, no row overtakes
# a turn that waits for its next attempt, and later rows delay a row by at most its maximum wait.
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
    """Everything that one exchange writes to the store.

    Args:
        turn: Turn to learn from; None if the memory mode forbids learning.
        links: New points of the session's hash chain.
        ledger: Entries that were injected.
        receipt: JSON with an ``id``.
        holder: Identity of the key for usage counts; "" for a request without a key.
        session_name: The client's own id of the session, or "".
        now: Time of the request.
        due: Earliest time at which the worker may process the turn.
        said_at: Time of the session, if it is not ``now``.
        is_repeat: True if the turn's last message is already stored; the turn may then complete an aborted reply.
        reply: Reply that the provider stores, so that a later request may continue it.
        compaction: New compaction of the session.
        costs: Tokens that memory added to the request and saved.
        bindings: Signed thoughts with their prefixes.
        is_visit: True if the session is to be stored; otherwise only the receipt is.
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
    """One queued row: a turn, or a change requested through the API (``change`` holds its JSON).

    A dead letter with an unreadable payload has neither.
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
        """Return whether this version can read the row's payload."""
        return self.turn is not None or self.change is not None

    def waits(self, now: datetime) -> bool:
        """Return whether the item failed and waits for its next attempt."""
        return bool(self.error) and self.due > now


@dataclass(frozen=True, slots=True)
class Claim:
    """Lease of one user, with all of the user's unfinished items in order."""

    scope: Scope
    holder: str
    until: datetime
    items: tuple[Item, ...]


def row_of(scope: Scope, turn: str, kind: str, payload: bytes, *, now: datetime, due: datetime) -> dict[str, Any]:
    """Return a new row at the ``TO_INDEX`` stage."""
    where = (scope.user, scope.tenant, scope.agent, scope.session)
    what = (turn, kind, TO_INDEX, payload, to_ms(due), to_ms(now), 0, "")
    return dict(zip(NEW_COLUMNS, where + what, strict=True))


def items_of(connection: sa.Connection, owner: str, *, which: sa.ColumnElement[bool] = OPEN) -> tuple[Item, ...]:
    """Return a user's rows in order: the unfinished ones, or those that ``which`` selects."""
    rows = connection.execute(_ITEMS.where(which), {"owner": owner})
    return tuple(_item(owner, row) for row in rows)


def claim_of(connection: sa.Connection, owner: str, holder: str, until: datetime) -> Claim | None:
    """Return all unfinished items of a user whose lease was taken; make unreadable rows dead letters."""
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
    """Return a turn as JSON, with the messages journalled with its first, aborted reply if that row still exists."""
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
    """Return turn, change and plan of a row; all None if another version or a broken disk left it unreadable."""
    try:
        plan = None if row.raw_plan is None else codec.loads(row.raw_plan)
        if row.kind == "change":
            return None, codec.loads(row.payload), plan
        return codec.turn_from_json(row.payload), None, plan
    except (ValueError, TypeError, LookupError, AttributeError):
        return None, None, None


def lease_statement(db: Database) -> sa.Executable:
    """Return the SQL statement that leases one user with due work; users with turns to index come first."""
    # Postgres: concurrent claims skip each other's locked row; if both reach the same user, the second one's upsert
    # fails its WHERE on the fresh lease and claims nothing. SQLite has one writer and ignores FOR UPDATE.
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

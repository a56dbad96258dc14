"""The journal: every turn durable before its reply ends, and the queue of what is still to be indexed and learned."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any, Literal

import sqlalchemy as sa
import structlog

from proxy.clock import from_ms, to_ms
from proxy.store import codec
from proxy.store.compactions import Compaction, Compactions
from proxy.store.costs import Cost, Costs
from proxy.store.ledger import Ledger, LedgerEntry
from proxy.store.receipts import Receipts
from proxy.store.replies import Kept, Replies
from proxy.store.sessions import Link, Sessions
from proxy.store.sql import Database
from proxy.store.tables import journal, leases
from proxy.types import Scope, Turn

Stage = Literal[0, 1, 2, 9]
TO_INDEX: Stage = 0
TO_LEARN: Stage = 1
DONE: Stage = 2
DEAD: Stage = 9

_NEW_COLUMNS = (
    *("owner", "tenant", "agent", "session"),
    *("turn", "kind", "stage", "payload", "due_ms", "created_ms", "attempts", "error"),
)
_WHOLE, _PARTIAL = "turn", "partial"  # kinds of rows, beside "change"
_CLAIM_TRIES = 3
_MAX_ERROR_CHARS = 1000
_UNREADABLE = "unreadable"

_log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class Record:
    """Everything that one exchange leaves behind.

    Args:
        turn: What is to be learned from; None where the mode says not to.
        links: The points of the hash chain that the conversation now has.
        ledger: What was injected.
        receipt: JSON with an ``id``.
        session_name: The client's own id of the conversation, or "".
        now: When.
        due: When the worker may start on the turn.
        said_at: Time of the conversation, where it is not ``now``.
        is_repeat: Whether the turn's last message is known already: then it may complete a reply that broke off.
        reply: Of a provider that keeps it, so that a later request may continue it.
        compaction: What it leaves out of its conversation from now on.
        costs: What memory put into the request, and what it saved.
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
        """Whether the row's payload makes sense to this version."""
        return self.turn is not None or self.change is not None

    def waits(self, now: datetime) -> bool:
        """Whether it failed and is put off."""
        return bool(self.error) and self.due > now


@dataclass(frozen=True, slots=True)
class Claim:
    """The lease of one owner, and all of the owner's unfinished work in order."""

    scope: Scope
    holder: str
    until: datetime
    items: tuple[Item, ...]


class Journal:
    """The journal of every owner.

    Args:
        db: Where it is kept.
        debounce_s: A new turn puts off learning from the owner's earlier ones until this pause has passed …
        max_wait_s: … but not beyond this time after they were journalled.
    """

    def __init__(self, db: Database, *, debounce_s: float = 0.5, max_wait_s: float = 30.0) -> None:
        self._db = db
        self._debounce = timedelta(seconds=debounce_s)
        self._max_wait_ms = round(max_wait_s * 1000)
        self._sessions = Sessions(db)
        self._ledger = Ledger(db)
        self._receipts = Receipts(db)
        self._replies = Replies(db)
        self._compactions = Compactions(db)
        self._costs = Costs(db)
        insert = db.insert(journal)
        # A reply that broke off is completed by the client's retry; anything else that is known already adds nothing.
        completed = insert.on_conflict_do_update(
            index_elements=["owner", "session", "turn"],
            set_={
                "kind": insert.excluded.kind,
                "payload": insert.excluded.payload,
                "plan": None,
                "stage": insert.excluded.stage,
                "due_ms": insert.excluded.due_ms,
                "done_ms": None,
                "attempts": 0,
                "error": "",
            },
            where=(journal.c.kind == _PARTIAL) & (insert.excluded.kind == _WHOLE),
        )
        self._insert = db.prepare(completed.returning(journal.c.created_ms), columns=_NEW_COLUMNS)
        self._put_off = db.prepare(_PUT_OFF)
        self._lease = _lease_statement(db)

    async def record(self, scope: Scope, record: Record) -> bool:
        """Write all of an exchange in one transaction; durable when this returns.

        Returns:
            True if the turn was new, or completes one that broke off; False for a replay, or where there is no turn.

        Raises:
            ValueError: If the turn belongs to another owner.
            StoreUnavailable: If it could not be written.
        """
        turn = record.turn
        if turn is not None and turn.scope.user != scope.user:
            raise ValueError("the turn belongs to another owner")
        row = None
        if turn is not None:
            kind = _WHOLE if turn.finish == "complete" else _PARTIAL
            row = _row(scope, turn.id, kind, codec.turn_to_json(turn), now=record.now, due=record.due)

        def write(connection: sa.Connection) -> bool:
            if turn is not None and row is not None and record.is_repeat:
                row["payload"] = _completed(connection, scope, turn)
            is_news, is_new = (False, False) if row is None else self._add(connection, row)
            if scope.session and record.is_visit:
                said_at = record.said_at or record.now
                name, turns = record.session_name, int(is_new)
                self._sessions.touch(scope, connection, name=name, turns=turns, now=said_at, arrived=record.now)
                self._sessions.link(scope, connection, record.links, now=said_at)
                self._ledger.put(scope, connection, record.ledger)
                if record.reply is not None:
                    self._replies.put(scope, connection, record.reply, now=record.now)
                self._costs.put(scope, connection, record.costs)
                if record.compaction is not None:
                    self._compactions.put(scope, connection, record.compaction, now=record.now)
            if record.receipt is not None:
                self._receipts.put(scope, connection, record.receipt, now=record.now)
            if is_news:
                until_ms = to_ms(record.now + self._debounce)
                values = {"o": scope.user, "until": until_ms, "wait": self._max_wait_ms}
                self._put_off.execute(connection, values)
            return is_news

        return await self._db.submit(write)

    async def change(self, scope: Scope, change: str, payload: Any, *, now: datetime, due: datetime) -> bool:
        """Journal a change asked for by API under an id of its own; False if that id is known already."""
        row = _row(scope, change, "change", codec.dumps(payload), now=now, due=due)
        return await self._db.submit(lambda connection: self._add(connection, row)[0])

    async def claim(self, holder: str, *, now: datetime, lease_s: float) -> Claim | None:
        """Take the lease of one owner who has due work that nobody else holds; None if there is none.

        Rows whose payload cannot be read are set aside as dead, each on its own.

        Args:
            holder: One line of work; tasks that run side by side need different ones.
            now: Work that is due by now counts.
            lease_s: How long the lease holds without ``renew``.
        """
        until = now + timedelta(seconds=lease_s)
        values = {"holder": holder, "now": to_ms(now), "until": to_ms(until)}

        def take(connection: sa.Connection) -> Claim | None:
            for _ in range(_CLAIM_TRIES):
                owner = connection.execute(self._lease, values).scalar()
                if owner is not None:
                    return _claim(connection, owner, holder, until)
                if connection.execute(_ANY_DUE, values).first() is None:
                    return None
            return None

        if await self._db.query(lambda connection: connection.execute(_ANY_DUE, values).first()) is None:
            return None
        return await self._db.submit(take)

    async def items(self, scope: Scope) -> tuple[Item, ...]:
        """Return all unfinished work of the owner in order."""
        items = await self._db.query(lambda connection: _items(connection, scope.user))
        return tuple(item for item in items if item.is_readable)

    async def plan(self, scope: Scope, seqs: Sequence[int], plan: Any) -> None:
        """Keep with the rows what is about to be done (any JSON), so that a crash in the middle repeats the same."""
        await self._update(scope, seqs, {"plan": plan})

    async def advance(self, scope: Scope, seqs: Sequence[int], *, stage: Stage, due: datetime) -> None:
        """Move rows to their next stage, with their attempts counted anew."""
        await self._update(
            scope, seqs, {"stage": stage, "due_ms": to_ms(due), "attempts": 0, "error": ""}, in_line=True
        )

    async def finish(self, scope: Scope, seqs: Sequence[int], *, now: datetime) -> None:
        """Mark rows as done; their payload stays until ``prune``."""
        await self._update(scope, seqs, {"stage": DONE, "done_ms": to_ms(now), "error": ""})

    async def retry(
        self, scope: Scope, seqs: Sequence[int], *, due: datetime, error: str, is_counted: bool = True
    ) -> None:
        """Put rows off until ``due`` after a failure; learning from later ones waits as well.

        Args:
            scope: Whose.
            seqs: The rows that failed.
            due: When to try again.
            error: A constant word or two.
            is_counted: Whether it was an attempt of theirs; not where a part that they need was away.
        """
        attempts = journal.c.attempts + int(is_counted)
        values = {"attempts": attempts, "due_ms": to_ms(due), "error": error[:_MAX_ERROR_CHARS]}
        await self._update(scope, seqs, values, in_line=True)

    async def bury(self, scope: Scope, seqs: Sequence[int], error: str) -> None:
        """Give rows up; they stay readable by ``dead`` and come back by ``revive_all``."""
        await self._update(scope, seqs, {"stage": DEAD, "error": error[:_MAX_ERROR_CHARS]})

    async def dead(self, scope: Scope) -> tuple[Item, ...]:
        """Return the owner's rows that were given up, in order."""
        return await self._db.query(lambda connection: _items(connection, scope.user, is_dead=True))

    async def revive_all(self, *, now: datetime) -> int:
        """Start all owners' dead rows again from the first stage; for a new start, which may have mended the cause.

        Returns:
            How many.
        """
        values = {"stage": TO_INDEX, "attempts": 0, "due_ms": to_ms(now), "error": ""}
        update = journal.update().where(_DEAD).values(values)
        return await self._db.submit(lambda connection: connection.execute(update).rowcount)

    async def replay(self, scope: Scope, *, now: datetime) -> int:
        """Start everything of the owner again that the journal still holds, because the rows lost some of it."""
        is_held = (journal.c.owner == scope.user) & (journal.c.stage == DONE) & journal.c.payload.is_not(None)
        update = journal.update().where(is_held).values(stage=TO_INDEX, attempts=0, due_ms=to_ms(now), done_ms=None)
        return await self._db.submit(lambda connection: connection.execute(update).rowcount)

    async def depth(self) -> dict[str, int]:
        """Return how many rows of all owners wait at ``index`` and at ``learn``, and how many are ``dead``."""
        count = sa.select(journal.c.stage, sa.func.count()).group_by(journal.c.stage)

        def select(connection: sa.Connection) -> dict[str, int]:
            rows = [*connection.execute(count.where(_OPEN)), *connection.execute(count.where(_DEAD))]
            counts = {row[0]: row[1] for row in rows}
            return {name: counts.get(stage, 0) for name, stage in _DEPTH_NAMES}

        return await self._db.query(select)

    async def prune(self, *, before: datetime) -> int:
        """Drop the contents of rows done before then; the rows stay, so that a replay still adds nothing."""
        is_old = (journal.c.stage == sa.literal_column("2")) & journal.c.payload.is_not(None)
        update = journal.update().where(is_old, journal.c.done_ms < to_ms(before)).values(payload=None, plan=None)
        return await self._db.submit(lambda connection: connection.execute(update).rowcount)

    def _add(self, connection: sa.Connection, row: Mapping[str, Any]) -> tuple[bool, bool]:
        """Insert a row; say whether anything changed, and whether the row is a new one."""
        found = self._insert.fetch(connection, row)
        return bool(found), bool(found) and found[0][0] == row["created_ms"]

    def _align(self, scope: Scope, connection: sa.Connection) -> None:
        last_retry_ms, last_ms = connection.execute(_LAST_DUE, {"o": scope.user}).one()
        if last_retry_ms is not None:
            connection.execute(_QUEUE_UP, {"o": scope.user, "until": last_retry_ms})
        if last_ms is not None:
            self._put_off.execute(connection, {"o": scope.user, "until": last_ms, "wait": self._max_wait_ms})

    async def _update(
        self, scope: Scope, seqs: Sequence[int], values: Mapping[str, Any], *, in_line: bool = False
    ) -> None:
        rows = journal.c.owner == scope.user, journal.c.seq.in_(tuple(seqs))
        statement = journal.update().where(*rows).values(**values)

        def update(connection: sa.Connection) -> None:
            connection.execute(statement)
            if in_line:
                self._align(scope, connection)

        await self._db.submit(update)


# Literals, not parameters: the planner takes a partial index only for a condition that it can see.
_OPEN = journal.c.stage < sa.literal_column("2")
_DEAD = journal.c.stage == sa.literal_column("9")
_DEPTH_NAMES = (("index", TO_INDEX), ("learn", TO_LEARN), ("dead", DEAD))

_READ_COLUMNS: tuple[sa.ColumnElement[Any], ...] = (
    *(column for column in journal.c if column.name not in ("owner", "done_ms", "plan")),
    sa.type_coerce(journal.c.plan, sa.LargeBinary).label("raw_plan"),  # each plan is read on its own
)
_ITEMS = sa.select(*_READ_COLUMNS).where(journal.c.owner == sa.bindparam("owner")).order_by(journal.c.seq)
# Facts are learned in order and a pause at a time: the owner's rows at this stage are due together, nothing overtakes
# a turn that waits for its next attempt, and no row waits for later ones beyond its own longest wait.
_LEARNING = (journal.c.owner == sa.bindparam("o")) & _OPEN & (journal.c.stage == TO_LEARN)
_LAST_DUE = sa.select(
    sa.func.max(sa.case((journal.c.error != sa.literal_column("''"), journal.c.due_ms))), sa.func.max(journal.c.due_ms)
).where(_LEARNING)
_QUEUE_UP = (
    journal.update().where(_LEARNING, journal.c.due_ms < sa.bindparam("until")).values(due_ms=sa.bindparam("until"))
)
_LATEST_MS = journal.c.created_ms + sa.bindparam("wait")
_PUT_OFF = (
    journal.update()
    .where(_LEARNING, journal.c.due_ms < sa.bindparam("until"), journal.c.due_ms < _LATEST_MS)
    .values(due_ms=sa.case((sa.bindparam("until") > _LATEST_MS, _LATEST_MS), else_=sa.bindparam("until")))
)
_IS_DUE = (
    _OPEN
    & (journal.c.due_ms <= sa.bindparam("now"))
    & (
        leases.c.owner.is_(None)
        | (leases.c.until_ms <= sa.bindparam("now"))
        | (leases.c.holder == sa.bindparam("holder"))
    )
)
_WITH_LEASE = journal.outerjoin(leases, leases.c.owner == journal.c.owner)
_ANY_DUE = sa.select(journal.c.seq).select_from(_WITH_LEASE).where(_IS_DUE).limit(1)


def _lease_statement(db: Database) -> sa.Executable:
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
        .order_by(journal.c.due_ms, journal.c.seq)
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


def _row(scope: Scope, turn: str, kind: str, payload: bytes, *, now: datetime, due: datetime) -> dict[str, Any]:
    where = (scope.user, scope.tenant, scope.agent, scope.session)
    what = (turn, kind, TO_INDEX, payload, to_ms(due), to_ms(now), 0, "")
    return dict(zip(_NEW_COLUMNS, where + what, strict=True))


def _items(connection: sa.Connection, owner: str, *, is_dead: bool = False) -> tuple[Item, ...]:
    rows = connection.execute(_ITEMS.where(_DEAD if is_dead else _OPEN), {"owner": owner})
    return tuple(_item(owner, row) for row in rows)


def _completed(connection: sa.Connection, scope: Scope, turn: Turn) -> bytes:
    """Return a turn with the messages that were journalled with its first, broken reply, where that is still there."""
    same = sa.select(journal.c.payload).where(
        journal.c.owner == scope.user, journal.c.session == scope.session, journal.c.turn == turn.id
    )
    stored = connection.execute(same.where(journal.c.kind == _PARTIAL)).scalar()
    if stored is None:
        return codec.turn_to_json(turn)
    return codec.turn_to_json(replace(turn, messages=codec.turn_from_json(stored).messages))


def _claim(connection: sa.Connection, owner: str, holder: str, until: datetime) -> Claim | None:
    items = _items(connection, owner)
    if not items:
        return None
    if unreadable := [item.seq for item in items if not item.is_readable]:
        _log.error("work that cannot be read was set aside", rows=len(unreadable))
        rows = journal.c.owner == owner, journal.c.seq.in_(unreadable)
        connection.execute(journal.update().where(*rows).values(stage=DEAD, error=_UNREADABLE))
    readable = tuple(item for item in items if item.is_readable)
    return Claim(Scope(items[0].scope.tenant, owner), holder, until, readable)


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

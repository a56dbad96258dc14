"""Journal: makes every turn durable before its reply ends, and queues turns to be indexed and learned."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

import sqlalchemy as sa

from proxy.clock import to_ms
from proxy.store import codec
from proxy.store.bindings import Bindings
from proxy.store.compactions import Compactions
from proxy.store.costs import Costs
from proxy.store.journal_rows import (
    ANY_DUE,
    BEGUN,
    BURIED,
    DEAD,
    DONE,
    LAST_DUE,
    NEW_COLUMNS,
    OPEN,
    PARTIAL,
    PUT_OFF,
    QUEUE_UP,
    STALLED,
    TO_INDEX,
    TO_JUDGE,
    TO_LEARN,
    TOO_SLOW,
    UNJUDGED,
    WHOLE,
    Claim,
    Item,
    Record,
    Stage,
    claim_of,
    completed,
    items_of,
    lease_statement,
    row_of,
)
from proxy.store.ledger import Ledger
from proxy.store.partitions import owned
from proxy.store.receipts import Receipts
from proxy.store.replies import Replies
from proxy.store.sessions import Sessions
from proxy.store.sql import Database
from proxy.store.tables import journal
from proxy.types import Scope, Turn

_CLAIM_TRIES = 3
_MAX_ERROR_CHARS = 1000

_DEPTH_NAMES = (("index", TO_INDEX), ("learn", TO_LEARN), ("dead", DEAD))


class Journal:
    """Journal of every user's turns and changes.

    Args:
        db: The database.
        debounce_s: A new turn delays learning from the user's earlier turns until this pause has passed.
        max_wait_s: Limit of that delay, counted from when the earlier turn was journalled.
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
        self._bindings = Bindings(db)
        insert = db.insert(journal)
        # A client's retry completes an aborted reply; any other turn that is already stored stays unchanged.
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
            where=(journal.c.kind == PARTIAL) & (insert.excluded.kind == WHOLE),
        )
        self._insert = db.prepare(completed.returning(journal.c.created_ms), columns=NEW_COLUMNS)
        self._put_off = db.prepare(PUT_OFF)
        self._lease = lease_statement(db)

    async def record(self, scope: Scope, record: Record) -> bool:
        """Write all records of an exchange in one transaction; they are durable on return.

        Returns:
            True if the turn is new or completes an aborted one; False for a replay, or without a turn.

        Raises:
            ValueError: If the turn belongs to another user.
            StoreUnavailable: If the transaction failed.
        """
        turn = record.turn
        if turn is not None and turn.scope.user != scope.user:
            raise ValueError("the turn belongs to another owner")
        row = None
        if turn is not None:
            kind = WHOLE if turn.finish == "complete" else PARTIAL
            row = row_of(scope, turn.id, kind, codec.turn_to_json(turn), now=record.now, due=record.due)

        def write(connection: sa.Connection) -> bool:
            if turn is not None and row is not None and record.is_repeat:
                row["payload"] = completed(connection, scope, turn)
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
                self._bindings.put(scope, connection, record.bindings, now=record.now)
                if record.compaction is not None:
                    self._compactions.put(scope, connection, record.compaction, now=record.now)
            if record.receipt is not None:
                self._receipts.put(scope, connection, record.receipt, now=record.now, holder=record.holder)
            if is_news:
                until_ms = to_ms(record.now + self._debounce)
                values = {"o": scope.user, "until": until_ms, "wait": self._max_wait_ms}
                self._put_off.execute(connection, values)
            return is_news

        return await self._db.submit_said(write)

    async def change(self, scope: Scope, change: str, payload: Any, *, now: datetime, due: datetime) -> bool:
        """Journal a change requested through the API under its id; return False if the id is already journalled."""
        row = row_of(scope, change, "change", codec.dumps(payload), now=now, due=due)
        return await self._db.submit(lambda connection: self._add(connection, row)[0])

    async def claim(self, holder: str, *, now: datetime, lease_s: float) -> Claim | None:
        """Take the lease of one user with due work and no other holder; return None if there is none.

        Each row with an unreadable payload becomes a dead letter.

        Args:
            holder: Name of the claiming task; concurrent tasks need different names.
            now: Time by which work must be due.
            lease_s: Lifetime of the lease without ``renew``.
        """
        until = now + timedelta(seconds=lease_s)
        values = {"holder": holder, "now": to_ms(now), "until": to_ms(until)}

        def take(connection: sa.Connection) -> Claim | None:
            for _ in range(_CLAIM_TRIES):
                owner = connection.execute(self._lease, values).scalar()
                if owner is not None:
                    return claim_of(connection, owner, holder, until)
                if connection.execute(ANY_DUE, values).first() is None:
                    return None
            return None

        if await self._db.query(lambda connection: connection.execute(ANY_DUE, values).first()) is None:
            return None
        return await self._db.submit(take)

    async def items(self, scope: Scope) -> tuple[Item, ...]:
        """Return all unfinished items of the user in order."""
        items = await self._db.query(lambda connection: items_of(connection, scope.user))
        return tuple(item for item in items if item.is_readable)

    async def tally(self, scope: Scope) -> tuple[int, int]:
        """Return the numbers of visible turns and changes that are pending, and that are dead letters."""
        rows = journal.c.owner == scope.user, owned(scope, journal.c.agent)
        count = sa.select(sa.func.count()).select_from(journal).where(*rows)

        def select(connection: sa.Connection) -> tuple[int, int]:
            pending, dead = (connection.execute(count.where(which)).scalar_one() for which in (OPEN, BURIED))
            return pending, dead

        return await self._db.query(select)

    async def due_by(self, scope: Scope, moment: datetime) -> int:
        """Return how many turns and changes in view are not done yet, without those that are put off beyond then."""
        rows = journal.c.owner == scope.user, owned(scope, journal.c.agent), OPEN, journal.c.due_ms <= to_ms(moment)
        count = sa.select(sa.func.count()).select_from(journal).where(*rows)
        return await self._db.query(lambda connection: connection.execute(count).scalar_one())

    async def begin(self, scope: Scope, seqs: Sequence[int]) -> None:
        """Record the start of an attempt; an earlier attempt whose process was killed is counted now."""
        was_begun = sa.case((journal.c.error == BEGUN, 1), else_=0)
        await self._update(scope, seqs, {"attempts": journal.c.attempts + was_begun, "error": BEGUN})

    async def plan(self, scope: Scope, seqs: Sequence[int], plan: Any) -> None:
        """Store a plan (any JSON) with the rows before it is applied, so that a retry after a crash repeats it."""
        await self._update(scope, seqs, {"plan": plan, "error": ""})

    async def advance(self, scope: Scope, seqs: Sequence[int], *, stage: Stage, due: datetime) -> None:
        """Move rows to their next stage and reset their attempts."""
        await self._update(
            scope, seqs, {"stage": stage, "due_ms": to_ms(due), "attempts": 0, "error": ""}, in_line=True
        )

    async def finish(self, scope: Scope, seqs: Sequence[int], *, now: datetime) -> None:
        """Mark rows as done; their payload stays until ``prune``."""
        await self._update(scope, seqs, {"stage": DONE, "done_ms": to_ms(now), "error": ""})

    async def hand_over(self, scope: Scope, seqs: Sequence[int], *, due: datetime) -> None:
        """Mark rows as learned, to be judged by a model once ``due``; they block no other row."""
        values = {"stage": TO_JUDGE, "due_ms": to_ms(due), "attempts": 0, "error": "", "plan": None}
        await self._update(scope, seqs, values)

    async def to_judge(self, *, now: datetime, limit: int = 200) -> list[Item]:
        """Return learned turns whose pause is over, oldest first, of users without a turn still in its pause."""
        waiting = sa.select(journal.c.owner).where(UNJUDGED, journal.c.due_ms > to_ms(now), journal.c.attempts == 0)
        due = sa.select(journal.c.owner).where(
            UNJUDGED, journal.c.due_ms <= to_ms(now), journal.c.owner.not_in(waiting)
        )

        def select(connection: sa.Connection) -> list[Item]:
            owners = list(connection.execute(due.distinct().limit(limit)).scalars())
            return [item for owner in owners for item in items_of(connection, owner, which=UNJUDGED)]

        items = await self._db.query(select)
        return [item for item in items if item.turn is not None and item.due <= now]

    async def unjudged(self, scope: Scope) -> int:
        """Return the number of visible turns that wait for the judge."""
        rows = journal.c.owner == scope.user, owned(scope, journal.c.agent), UNJUDGED
        count = sa.select(sa.func.count()).select_from(journal).where(*rows)
        return await self._db.query(lambda connection: connection.execute(count).scalar_one())

    async def retry(
        self, scope: Scope, seqs: Sequence[int], *, due: datetime, error: str, is_counted: bool = True
    ) -> None:
        """Delay rows until ``due`` after a failure; learning from later rows is delayed as well.

        Args:
            scope: The user.
            seqs: The rows that failed.
            due: Time of the next attempt.
            error: Reason as a constant word or two.
            is_counted: Whether the failure counts as an attempt; False if a needed component was unavailable.
        """
        attempts = journal.c.attempts + int(is_counted)
        values = {"attempts": attempts, "due_ms": to_ms(due), "error": error[:_MAX_ERROR_CHARS]}
        await self._update(scope, seqs, values, in_line=True)

    async def bury(self, scope: Scope, seqs: Sequence[int], error: str) -> None:
        """Make rows dead letters; ``dead`` returns them and ``revive_all`` restarts them."""
        await self._update(scope, seqs, {"stage": DEAD, "error": error[:_MAX_ERROR_CHARS]})

    async def dead(self, scope: Scope) -> tuple[Item, ...]:
        """Return the user's dead letters in order."""
        return await self._db.query(lambda connection: items_of(connection, scope.user, which=BURIED))

    async def revive_all(self, *, now: datetime) -> int:
        """Restart all users' dead letters from the first stage, at process start: the cause may be fixed by then.

        Rows that stalled learning stay dead: they would stall the new process too.

        Returns:
            Number of restarted rows.
        """
        values = {"stage": TO_INDEX, "attempts": 0, "due_ms": to_ms(now), "error": ""}
        update = journal.update().where(BURIED, journal.c.error.not_in((STALLED, TOO_SLOW))).values(values)
        return await self._db.submit(lambda connection: connection.execute(update).rowcount)

    async def replay(self, scope: Scope, *, now: datetime) -> int:
        """Restart all of the user's finished rows that still have a payload, because the memory tables lost rows."""
        is_held = (
            (journal.c.owner == scope.user) & journal.c.stage.in_((DONE, TO_JUDGE)) & journal.c.payload.is_not(None)
        )
        update = journal.update().where(is_held).values(stage=TO_INDEX, attempts=0, due_ms=to_ms(now), done_ms=None)
        return await self._db.submit(lambda connection: connection.execute(update).rowcount)

    async def told(self, scope: Scope) -> list[Turn]:
        """Return the user's indexed turns that still have a payload, in order."""
        is_indexed = (journal.c.stage != TO_INDEX) & (journal.c.kind != "change") & journal.c.payload.is_not(None)
        items = await self._db.query(lambda connection: items_of(connection, scope.user, which=is_indexed))
        return [item.turn for item in items if item.turn is not None]

    async def depth(self) -> dict[str, int]:
        """Return the numbers of all users' rows that wait at ``index`` and at ``learn``, and that are ``dead``."""
        count = sa.select(journal.c.stage, sa.func.count()).group_by(journal.c.stage)

        def select(connection: sa.Connection) -> dict[str, int]:
            rows = [*connection.execute(count.where(OPEN)), *connection.execute(count.where(BURIED))]
            counts = {row[0]: row[1] for row in rows}
            return {name: counts.get(stage, 0) for name, stage in _DEPTH_NAMES}

        return await self._db.query(select)

    async def drop_contents(self, scope: Scope) -> int:
        """Drop the payloads of a user's finished rows; the rows stay, so that a replay adds nothing."""
        is_done = (journal.c.owner == scope.user) & (journal.c.stage == sa.literal_column("2"))
        update = journal.update().where(is_done).values(payload=None, plan=None)
        return await self._db.submit(lambda connection: connection.execute(update).rowcount)

    async def prune(self, *, before: datetime) -> int:
        """Drop the payloads of rows done before a time; the rows stay, so that a replay adds nothing."""
        is_old = (journal.c.stage == sa.literal_column("2")) & journal.c.payload.is_not(None)
        update = journal.update().where(is_old, journal.c.done_ms < to_ms(before)).values(payload=None, plan=None)
        return await self._db.submit(lambda connection: connection.execute(update).rowcount)

    def _add(self, connection: sa.Connection, row: Mapping[str, Any]) -> tuple[bool, bool]:
        """Insert a row; return whether anything changed, and whether the row is new."""
        found = self._insert.fetch(connection, row)
        return bool(found), bool(found) and found[0][0] == row["created_ms"]

    def _align(self, scope: Scope, connection: sa.Connection) -> None:
        last_retry_ms, last_ms = connection.execute(LAST_DUE, {"o": scope.user}).one()
        if last_retry_ms is not None:
            connection.execute(QUEUE_UP, {"o": scope.user, "until": last_retry_ms})
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

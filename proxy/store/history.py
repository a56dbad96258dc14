"""History of each memory, one row per step, for explanations and undo."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Protocol

import sqlalchemy as sa

from proxy.clock import from_ms, to_ms
from proxy.process.threads import in_thread
from proxy.store import codec
from proxy.store.partitions import owned
from proxy.store.sql import Database
from proxy.store.tables import history
from proxy.types import Memory, Scope

_COLUMNS = tuple(column.name for column in history.c if column is not history.c.seq)


class Step(Protocol):
    """Fields of a change that the history stores."""

    @property
    def action(self) -> str:
        """Action of the change."""

    @property
    def memory(self) -> Memory:
        """The memory after the step; its ``updated_at`` is the time of the step."""

    @property
    def before(self) -> Memory | None:
        """The memory before the step, None if it is new."""

    @property
    def turn(self) -> str:
        """The turn that caused it, "" for none."""

    @property
    def reason(self) -> str:
        """Reason as a constant word or two."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One step of a memory's history, with the memory before and after it."""

    memory: str
    action: str
    reason: str
    turn: str
    at: datetime
    before: Memory | None
    after: Memory


class History:
    """Store of the histories of every user's memories."""

    def __init__(self, db: Database) -> None:
        self._db = db
        append = db.insert(history).on_conflict_do_nothing()
        self._append = db.prepare(append, columns=_COLUMNS)

    async def append(self, scope: Scope, changes: Sequence[Step]) -> None:
        """Append steps in order; skip steps that are already stored."""
        rows = [_row(scope, change) for change in changes]
        if rows:
            await self._db.submit(lambda connection: self._append.execute_all(connection, rows))

    async def of(self, scope: Scope, memory: str) -> list[Entry]:
        """Return the steps of one memory, oldest first; none if it is unknown or not visible."""
        query = sa.select(history).where(
            history.c.owner == scope.user, history.c.memory == memory, owned(scope, history.c.agent)
        )
        rows = await self._db.query(lambda connection: connection.execute(query.order_by(history.c.seq)).all())
        return [_entry(row) for row in rows]

    async def all(self, scope: Scope) -> dict[str, list[Entry]]:
        """Return the steps of all visible memories, by memory id, oldest first."""
        mine = history.c.owner == scope.user, owned(scope, history.c.agent)
        query = sa.select(history).where(*mine).order_by(history.c.seq)
        rows = await self._db.query(lambda connection: connection.execute(query).all())
        found: dict[str, list[Entry]] = {}
        for row in rows:
            found.setdefault(row.memory, []).append(_entry(row))
        return found

    async def latest(self, scope: Scope) -> list[Memory]:
        """Return every memory of the user, of all agents, as of its last step."""
        last = sa.select(sa.func.max(history.c.seq)).where(history.c.owner == scope.user).group_by(history.c.memory)
        query = sa.select(history.c.after).where(history.c.seq.in_(last)).order_by(history.c.seq)
        rows = await self._db.query(lambda connection: connection.execute(query).scalars().all())
        return [memory for row in rows if (memory := _readable(row)) is not None]

    async def rewrite(self, scope: Scope, edit: Callable[[Memory], Memory]) -> None:
        """Apply ``edit`` to the memories in all steps of the user; repeating it changes nothing more.

        Args:
            scope: The user; the caller holds the lease.
            edit: Called with the memory before and after each step.
        """
        query = sa.select(history.c.seq, history.c.before, history.c.after).where(history.c.owner == scope.user)
        steps = await self._db.query(lambda connection: connection.execute(query).all())
        edited = await in_thread("cpu", lambda: [new for step in steps if (new := _edited(step, edit)) is not None])
        values: dict[str, Any] = {"before": sa.bindparam("new_before"), "after": sa.bindparam("new_after")}
        update = history.update().where(history.c.seq == sa.bindparam("step")).values(values)
        if edited:
            await self._db.submit(lambda connection: connection.execute(update, edited))

    async def purge(self, scope: Scope, memories: Collection[str]) -> int:
        """Delete the whole history of destroyed memories; return the number of steps."""
        delete = history.delete().where(history.c.owner == scope.user, history.c.memory == sa.bindparam("gone"))
        prepared = self._db.prepare(delete)

        def purge(connection: sa.Connection) -> int:
            count = sa.select(sa.func.count()).where(history.c.owner == scope.user)
            before = connection.execute(count).scalar_one()
            prepared.execute_all(connection, [{"gone": memory} for memory in memories])
            return before - connection.execute(count).scalar_one()

        return await self._db.submit(purge)


def _row(scope: Scope, change: Step) -> dict[str, Any]:
    after = codec.memory_to_json(change.memory)
    step = "\0".join((change.action, change.turn, change.reason)).encode("utf-8", "surrogatepass")
    return {
        "owner": scope.user,
        "memory": change.memory.id,
        "digest": hashlib.blake2b(step + b"\0" + after, digest_size=16).hexdigest(),
        "agent": change.memory.agent,
        "action": change.action,
        "reason": change.reason,
        "turn": change.turn,
        "at_ms": to_ms(change.memory.updated_at),
        "before": None if change.before is None else codec.memory_to_json(change.before),
        "after": after,
    }


def _entry(row: sa.Row[Any]) -> Entry:
    before = None if row.before is None else codec.memory_from_json(row.before)
    after = codec.memory_from_json(row.after)
    return Entry(row.memory, row.action, row.reason, row.turn, from_ms(row.at_ms), before, after)


def _edited(step: Any, edit: Callable[[Memory], Memory]) -> dict[str, Any] | None:
    """Return the new values of a step, None if they stay the same or cannot be read."""
    read = [None if side is None else _readable(side) for side in (step.before, step.after)]
    new = [None if one is None else edit(one) for one in read]
    if new == read:
        return None
    before, after = (
        side if one is None else codec.memory_to_json(one)
        for one, side in zip(new, (step.before, step.after), strict=True)
    )
    return {"step": step.seq, "new_before": before, "new_after": after}


def _readable(after: bytes) -> Memory | None:
    try:
        return codec.memory_from_json(after)
    except (ValueError, TypeError, LookupError, AttributeError):
        return None

"""Replies stored by a provider, by its id: they locate the session of a request that continues one."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import sqlalchemy as sa

from proxy.clock import to_ms
from proxy.store.sql import Database
from proxy.store.tables import replies
from proxy.types import Scope


@dataclass(frozen=True, slots=True)
class Kept:
    """A reply that a later request may continue.

    Args:
        id: The provider's id; only a hash of it is stored.
        parent: ``Thread.reply`` of the reply that it continued, "" for the first.
        state: State of the hash chain after the messages that it answers.
        seq: Position of the next message in the session.
        anchors: Names of the messages that its request added.
        deployment: Deployment that generated and stores it.
        goes_on_as: The provider's id of its last part, if it differs from the client's id.
        open_calls: Ids of its ``recall`` tool calls without a result.
    """

    id: str
    parent: str
    state: str
    seq: int
    anchors: tuple[str, ...]
    deployment: str = ""
    goes_on_as: str = ""
    open_calls: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Thread:
    """A session up to one reply, as stored by the provider.

    Args:
        session: Throughline's id of the session.
        reply: The provider's id of that reply, hashed.
        state: State of the hash chain after the last message before it.
        seq: Position of the next message.
        anchors: Names of all the messages up to it, without those of other branches.
        deployment: Deployment that generated and stores that reply.
        goes_on_as, open_calls: As in ``Kept``.
    """

    session: str
    reply: str
    state: str
    seq: int
    anchors: frozenset[str]
    deployment: str = ""
    goes_on_as: str = ""
    open_calls: tuple[str, ...] = ()


class Replies:
    """Store of every user's stored replies."""

    def __init__(self, db: Database) -> None:
        self._db = db
        insert = db.insert(replies)
        put = insert.on_conflict_do_nothing(index_elements=["owner", "agent", "id_hash"])
        self._put = db.prepare(put, columns=replies.c.keys())

    def put(self, scope: Scope, connection: sa.Connection, kept: Kept, *, now: datetime) -> None:
        """Insert a reply inside the caller's transaction; an existing row stays unchanged."""
        row = {
            "owner": scope.user,
            "agent": scope.agent,
            "id_hash": _hash(kept.id),
            "session": scope.session,
            "parent": kept.parent,
            "state": kept.state,
            "seq": kept.seq,
            "anchors": kept.anchors,
            "deployment": kept.deployment,
            "at_ms": to_ms(now),
            "inside": [kept.goes_on_as, *kept.open_calls] if kept.goes_on_as or kept.open_calls else None,
        }
        self._put.execute(connection, row)

    async def thread(self, scope: Scope, id_: str) -> Thread | None:
        """Return the thread up to a reply, None if this scope never got such a reply."""
        values = {"owner": scope.user, "agent": scope.agent, "id_hash": _hash(id_)}
        rows = await self._db.query(lambda connection: connection.execute(_BESIDE, values).all())
        return _thread(rows, _hash(id_))

    async def latest(self, scope: Scope, session: str) -> Thread | None:
        """Return the thread up to the last reply of a session, None if it has none."""
        values = {"owner": scope.user, "agent": scope.agent, "session": session}
        rows = await self._db.query(lambda connection: connection.execute(_OF_SESSION, values).all())
        last = max(rows, key=lambda row: (row.at_ms, row.seq), default=None)
        return None if last is None else _thread(rows, last.id_hash)


_COLUMNS = (
    replies.c.id_hash,
    replies.c.session,
    replies.c.parent,
    replies.c.state,
    replies.c.seq,
    replies.c.anchors,
    replies.c.deployment,
    replies.c.at_ms,
    replies.c.inside,
)
_MINE = (replies.c.owner == sa.bindparam("owner"), replies.c.agent == sa.bindparam("agent"))
_OF_SESSION = sa.select(*_COLUMNS).where(*_MINE, replies.c.session == sa.bindparam("session"))
_one = replies.alias()
_BESIDE = sa.select(*_COLUMNS).where(
    *_MINE,
    replies.c.session
    == sa.select(_one.c.session)
    .where(
        _one.c.owner == sa.bindparam("owner"),
        _one.c.agent == sa.bindparam("agent"),
        _one.c.id_hash == sa.bindparam("id_hash"),
    )
    .scalar_subquery(),
)


def _thread(rows: Sequence[Any], id_hash: str) -> Thread | None:
    by_id: Mapping[str, Any] = {row.id_hash: row for row in rows}
    row = found = by_id.get(id_hash)
    if found is None:
        return None
    anchors: set[str] = set()
    walked: set[str] = set()
    while row is not None and row.id_hash not in walked:
        walked.add(row.id_hash)
        anchors.update(row.anchors)
        row = by_id.get(row.parent)
    goes_on_as, *open_calls = found.inside or ("",)
    named = (found.session, id_hash, found.state, found.seq)
    return Thread(*named, frozenset(anchors), found.deployment, goes_on_as, tuple(open_calls))


def _hash(id_: str) -> str:
    return hashlib.blake2b(id_.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest() if id_ else ""

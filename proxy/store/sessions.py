"""Sessions, and the hash chain that identifies a session by the messages that a client resends."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import sqlalchemy as sa

from proxy.clock import from_ms, to_ms
from proxy.errors import NotFound
from proxy.store.pairs import Pair, find_pairs
from proxy.store.partitions import listed, owned
from proxy.store.sql import Database
from proxy.store.tables import bindings, chain, compactions, journal, ledger, metadata, replies, sessions
from proxy.text.secrets import redact_name
from proxy.types import Scope

_SIZES = (8, 32, 128)  # lengths of IN lists, so few SQL statements to compile; shorter lists repeat their last value
_MAX_PAGE = 1000


@dataclass(frozen=True, slots=True)
class Link:
    """A point of a session's hash chain.

    Args:
        hash: Chain hash of the message and all earlier ones.
        seq: Position in the session.
        learned: True if the message was journalled for learning.
        pair: Hash of the message and the previous one; "" if there is none.
        before: Chain hash of the previous message.
        rest: Part of the chain's state that follows the hash.
    """

    hash: str
    seq: int
    learned: bool
    pair: str = ""
    before: str = ""
    rest: str = ""


@dataclass(frozen=True, slots=True)
class ChainRow:
    """A stored link, with its session and the time of the session's last activity."""

    hash: str
    session: str
    seq: int
    learned: bool
    last_at: datetime


@dataclass(frozen=True, slots=True)
class Session:
    """A session; ``name`` is the client's own id for it, or empty."""

    id: str
    agent: str
    name: str
    created_at: datetime
    last_at: datetime
    ended_at: datetime | None
    turns: int


class Sessions:
    """Store of every user's sessions."""

    def __init__(self, db: Database) -> None:
        self._db = db
        insert = db.insert(sessions)
        touch = insert.on_conflict_do_update(
            index_elements=["owner", "id"],
            set_={
                "last_ms": sa.case(
                    (insert.excluded.last_ms > sessions.c.last_ms, insert.excluded.last_ms), else_=sessions.c.last_ms
                ),
                "turns": sessions.c.turns + insert.excluded.turns,
                "arrived_ms": insert.excluded.arrived_ms,
                "is_pruned": None,
                "ended_ms": sa.case((insert.excluded.turns > 0, None), else_=sessions.c.ended_ms),
                "name": sa.case((insert.excluded.name != "", insert.excluded.name), else_=sessions.c.name),
                "name_hash": sa.case(
                    (insert.excluded.name != "", insert.excluded.name_hash), else_=sessions.c.name_hash
                ),
            },
            where=sessions.c.agent == insert.excluded.agent,
        )
        self._touch = db.prepare(touch, columns=sessions.c.keys())
        point = db.insert(chain)
        link = point.on_conflict_do_update(
            index_elements=["owner", "agent", "hash", "session"],
            set_={"learned": point.excluded.learned},
            where=chain.c.learned < point.excluded.learned,
        )
        self._link = db.prepare(link, columns=chain.c.keys())
        self._locate = [(size, db.prepare(_locate(size))) for size in _SIZES]

    def touch(
        self,
        scope: Scope,
        connection: sa.Connection,
        *,
        name: str,
        turns: int,
        now: datetime,
        arrived: datetime | None = None,
    ) -> None:
        """Create the session or record its use, inside the caller's transaction; a new turn reopens it.

        Args:
            scope: User and session.
            connection: Connection of the transaction.
            name: The client's own id of the session, or "".
            turns: Number of new turns.
            now: Time of the session.
            arrived: Time by the clock, if it differs.
        """
        now_ms = to_ms(now)
        row = {
            "owner": scope.user,
            "id": scope.session,
            "agent": scope.agent,
            "name": redact_name(name),  # sessions are found by the hash of the unredacted name
            "name_hash": _name_hash(name),
            "created_ms": now_ms,
            "last_ms": now_ms,
            "ended_ms": None,
            "turns": turns,
            "arrived_ms": to_ms(arrived or now),
            "is_pruned": None,
        }
        self._touch.execute(connection, row)

    def link(self, scope: Scope, connection: sa.Connection, links: Sequence[Link], *, now: datetime) -> None:
        """Insert chain points inside the caller's transaction; an existing point can only become learned."""
        now_ms = to_ms(now)
        rows = [
            {
                "owner": scope.user,
                "agent": scope.agent,
                "hash": link.hash,
                "session": scope.session,
                "seq": link.seq,
                "learned": int(link.learned),
                "at_ms": now_ms,
                "pair": link.pair or None,
                "before": link.before,
                "rest": link.rest,
            }
            for link in links
        ]
        self._link.execute_all(connection, rows)

    async def locate(self, scope: Scope, hashes: Sequence[str]) -> list[ChainRow]:
        """Return the stored points of this user and agent among ``hashes``, highest position and latest use first."""
        wanted = sorted(set(hashes))

        def select(connection: sa.Connection) -> list[ChainRow]:
            found: list[ChainRow] = []
            for start in range(0, len(wanted), _SIZES[-1]):
                part = wanted[start : start + _SIZES[-1]]
                size, statement = next(pair for pair in self._locate if len(part) <= pair[0])
                values = {f"hash_{i}": part[min(i, len(part) - 1)] for i in range(size)}
                rows = statement.fetch(connection, values | {"owner": scope.user, "agent": scope.agent})
                found += [ChainRow(h, s, seq, bool(learned), from_ms(at)) for h, s, seq, learned, at in rows]
            return found

        found = await self._db.query(select) if wanted else []
        return sorted(found, key=lambda row: (row.seq, row.last_at), reverse=True)

    async def pairs(self, scope: Scope, names: Sequence[str]) -> list[Pair]:
        """Run ``find_pairs`` in a read transaction."""
        return await self._db.query(lambda connection: find_pairs(connection, scope, names))

    async def named(self, scope: Scope, name: str) -> str | None:
        """Return the id of the session that the client calls ``name``, the latest if there are several."""
        values = {"owner": scope.user, "agent": scope.agent, "name": redact_name(name), "name_hash": _name_hash(name)}
        return await self._db.query(lambda connection: connection.execute(_NAMED, values).scalar())

    async def page(
        self, scope: Scope, *, after: str = "", limit: int = 20, project: str = ""
    ) -> tuple[list[Session], bool]:
        """Return a page of the visible sessions, newest first, and whether there are more.

        Args:
            scope: The requesting scope.
            after: Id of the last session of the page before, "" for the first page.
            limit: Page size, 1 to 1000.
            project: Id of a project, for its own sessions; ``*`` for all projects; "" for all that the scope sees.

        Raises:
            NotFound: If ``after`` is not a visible session.
        """
        limit = min(max(limit, 1), _MAX_PAGE)

        def select(connection: sa.Connection) -> tuple[list[Session], bool]:
            in_list = sessions.c.owner == scope.user, listed(scope, sessions.c.agent, project)
            query = sa.select(*_COLUMNS).where(*in_list)
            if after:
                last = _find(scope, connection, after)
                query = query.where(sa.tuple_(sessions.c.created_ms, sessions.c.id) < (to_ms(last.created_at), after))
            query = query.order_by(sessions.c.created_ms.desc(), sessions.c.id.desc()).limit(limit + 1)
            page = [_session(row) for row in connection.execute(query)]
            return page[:limit], len(page) > limit

        return await self._db.query(select)

    async def get(self, scope: Scope, session: str) -> Session:
        """Return one session.

        Raises:
            NotFound: If no visible session has this id.
        """
        return await self._db.query(lambda connection: _find(scope, connection, session))

    async def end(self, scope: Scope, session: str, *, now: datetime) -> Session:
        """Mark a session as ended, once; a new turn reopens it.

        Raises:
            NotFound: If no visible session has this id.
        """

        def update(connection: sa.Connection) -> Session:
            _find(scope, connection, session)
            ended = sessions.update().where(*_one(scope, session), sessions.c.ended_ms.is_(None))
            connection.execute(ended.values(ended_ms=to_ms(now)))
            return _find(scope, connection, session)

        return await self._db.submit(update)

    async def idle(self, *, before: datetime, limit: int, max_pending: int) -> list[Scope]:
        """Return the scopes of open sessions last used before a time, if their user has few pending turns."""
        values = {"before": to_ms(before), "limit": limit, "max_pending": max_pending}
        rows = await self._db.query(lambda connection: connection.execute(_IDLE, values).all())
        return [Scope("", row.owner, row.agent, row.id) for row in rows]

    async def prune(self, *, before: datetime, limit: int) -> int:
        """Delete the data that identifies and continues sessions last used before a time; return their number.

        It covers all users. Episodes stay. If a client continues such a session later, it becomes a new session.
        """
        values = {"before": to_ms(before), "limit": limit}

        def delete(connection: sa.Connection) -> int:
            unused: dict[str, list[str]] = {}
            for owner, session in connection.execute(_UNUSED, values).all():
                unused.setdefault(owner, []).append(session)
            for owner, ids in unused.items():
                for table in _CONTINUED:
                    connection.execute(table.delete().where(table.c.owner == owner, table.c.session.in_(ids)))
                pruned = sessions.update().where(sessions.c.owner == owner, sessions.c.id.in_(ids))
                connection.execute(pruned.values(is_pruned=True))
            return sum(map(len, unused.values()))

        return await self._db.submit(delete)

    async def delete(self, scope: Scope, session: str) -> dict[str, int]:
        """Delete a session and every row of any table that belongs to it; return the number of rows by table.

        Raises:
            NotFound: If no visible session has this id.
        """

        def delete(connection: sa.Connection) -> dict[str, int]:
            _find(scope, connection, session)
            counts = {}
            for table in metadata.sorted_tables:
                if "owner" in table.c and "session" in table.c:
                    gone = table.delete().where(table.c.owner == scope.user, table.c.session == session)
                    counts[table.name] = connection.execute(gone).rowcount
            counts["sessions"] = connection.execute(sessions.delete().where(*_one(scope, session))).rowcount
            return counts

        return await self._db.submit(delete)


_COLUMNS = [sessions.c[name] for name in ("id", "agent", "name", "created_ms", "last_ms", "ended_ms", "turns")]
_NAMED = (
    sa.select(sessions.c.id)
    .where(
        sessions.c.owner == sa.bindparam("owner"),
        sessions.c.agent == sa.bindparam("agent"),
        sessions.c.name_hash == sa.bindparam("name_hash"),
        sessions.c.name == sa.bindparam("name"),
        sessions.c.name != "",
    )
    .order_by(sessions.c.last_ms.desc(), sessions.c.id.desc())
    .limit(1)
)
_LONG_QUEUES = (
    sa.select(journal.c.owner)
    .where(journal.c.stage < sa.literal_column("2"))
    .group_by(journal.c.owner)
    .having(sa.func.count() > sa.bindparam("max_pending"))
)
_IDLE = (
    sa.select(sessions.c.owner, sessions.c.agent, sessions.c.id)
    .where(sessions.c.ended_ms.is_(None), sessions.c.arrived_ms < sa.bindparam("before"))
    .where(sessions.c.owner.not_in(_LONG_QUEUES))
    .order_by(sessions.c.arrived_ms)
    .limit(sa.bindparam("limit"))
)
_CONTINUED = (chain, ledger, bindings, compactions, replies)
_UNUSED = (
    sa.select(sessions.c.owner, sessions.c.id)
    .where(sessions.c.is_pruned.is_(None), sessions.c.arrived_ms < sa.bindparam("before"))
    .order_by(sessions.c.arrived_ms)
    .limit(sa.bindparam("limit"))
)


def _locate(size: int) -> sa.Select[Any]:
    hashes = [sa.bindparam(f"hash_{i}", type_=chain.c.hash.type) for i in range(size)]
    last_ms = sa.func.coalesce(sessions.c.last_ms, chain.c.at_ms)
    is_same = (sessions.c.owner == chain.c.owner) & (sessions.c.id == chain.c.session)
    return (
        sa.select(chain.c.hash, chain.c.session, chain.c.seq, chain.c.learned, last_ms)
        .select_from(chain.outerjoin(sessions, is_same))
        .where(chain.c.owner == sa.bindparam("owner"), chain.c.agent == sa.bindparam("agent"), chain.c.hash.in_(hashes))
    )


def _one(scope: Scope, session: str) -> tuple[sa.ColumnElement[bool], ...]:
    return sessions.c.owner == scope.user, owned(scope, sessions.c.agent), sessions.c.id == session


def _find(scope: Scope, connection: sa.Connection, session: str) -> Session:
    row = connection.execute(sa.select(*_COLUMNS).where(*_one(scope, session))).first()
    if row is None:
        raise NotFound(f"no conversation {session[:80]!r}")
    return _session(row)


def _session(row: Any) -> Session:
    ended = None if row.ended_ms is None else from_ms(row.ended_ms)
    return Session(row.id, row.agent, row.name, from_ms(row.created_ms), from_ms(row.last_ms), ended, row.turns)


def _name_hash(name: str) -> str:
    return hashlib.blake2b(name.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest() if name else ""

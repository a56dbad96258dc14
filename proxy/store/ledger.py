"""Ledger of injected texts by session, so that later requests repeat them byte for byte."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import sqlalchemy as sa

from proxy.process.threads import in_thread
from proxy.store.sql import Database
from proxy.store.tables import ledger
from proxy.types import Scope


@dataclass(frozen=True, slots=True)
class LedgerEntry:
    """An injected text.

    Args:
        anchor: Chain hash of the message that it was injected into; or ``signature_hash`` of the reply that followed,
            if that message had another text before another reply.
        kind: ``profile`` and ``opening`` on the first user message, ``block`` on any.
        text: The injected text, byte for byte.
        memory_ids: Ids of the memories and episodes in it.
        apart: Whether it was a separate content part after those of the message; None if unknown.
    """

    anchor: str
    kind: Literal["profile", "opening", "block"]
    text: str
    memory_ids: tuple[str, ...]
    apart: bool | None = None


class Ledger:
    """Store of the ledgers of every session."""

    def __init__(self, db: Database) -> None:
        self._db = db
        insert = db.insert(ledger)
        put = insert.on_conflict_do_update(
            index_elements=["owner", "session", "anchor", "kind"],
            set_={name: insert.excluded[name] for name in ("text", "memory_ids", "apart")},
        )
        self._put = db.prepare(put, columns=ledger.c.keys())
        self._read = db.prepare(_READ)

    def put(self, scope: Scope, connection: sa.Connection, entries: Sequence[LedgerEntry]) -> None:
        """Write entries inside the caller's transaction; replace those with the same anchor and kind."""
        rows = [
            {
                "owner": scope.user,
                "session": scope.session,
                "anchor": entry.anchor,
                "kind": entry.kind,
                "text": entry.text,
                "memory_ids": entry.memory_ids,
                "apart": None if entry.apart is None else int(entry.apart),
            }
            for entry in entries
        ]
        self._put.execute_all(connection, rows)

    async def read(self, scope: Scope, session: str) -> list[LedgerEntry]:
        """Return all entries of a session, in no particular order."""
        values = {"owner": scope.user, "session": session}
        rows = await self._db.query(lambda connection: self._read.fetch(connection, values))
        return [
            LedgerEntry(anchor, kind, text, tuple(ids), None if apart is None else bool(apart))
            for anchor, kind, text, ids, apart in rows
        ]

    async def drop_memories(self, scope: Scope, ids: Collection[str]) -> int:
        """Delete the entries of all the user's sessions that contain any of these memories; return their number."""
        wanted = frozenset(ids)
        return await self._drop(scope, lambda entry: not wanted.isdisjoint(entry.memory_ids))

    async def drop_shared(self, shares: Collection[str]) -> None:
        """Delete the entries of all users' sessions that contain memories shared under these ids."""

        def drop(connection: sa.Connection) -> None:
            found = sa.func.instr if connection.dialect.name == "sqlite" else sa.func.pg_catalog.position
            ids = sa.type_coerce(ledger.c.memory_ids, sa.LargeBinary)
            for share in shares:
                connection.execute(ledger.delete().where(found(ids, f'"{share}'.encode()) > 0)).close()

        if shares:
            await self._db.submit(drop)

    async def drop_text(self, scope: Scope, predicate: Callable[[str], bool]) -> int:
        """Delete the entries of all the user's sessions whose text satisfies ``predicate``; return their number."""
        return await self._drop(scope, lambda entry: predicate(entry.text))

    async def _drop(self, scope: Scope, matches: Callable[[LedgerEntry], bool]) -> int:
        """Search in a read transaction, so as not to block writers; then delete the found entries by key."""
        rows = await self._db.query(lambda connection: connection.execute(_ALL, {"owner": scope.user}).all())
        keys = await in_thread("cpu", _matching, scope.user, rows, matches)
        if keys:
            await self._db.submit(lambda connection: connection.execute(_DELETE, keys).close())
        return len(keys)


def _matching(
    owner: str, rows: Sequence[tuple[Any, ...]], matches: Callable[[LedgerEntry], bool]
) -> list[dict[str, str]]:
    return [
        {"o": owner, "s": session, "a": anchor, "k": kind}
        for session, anchor, kind, text, ids in rows
        if matches(LedgerEntry(anchor, kind, text, tuple(ids)))
    ]


_READ = sa.select(ledger.c.anchor, ledger.c.kind, ledger.c.text, ledger.c.memory_ids, ledger.c.apart).where(
    ledger.c.owner == sa.bindparam("owner"), ledger.c.session == sa.bindparam("session")
)
_ALL = sa.select(ledger.c.session, ledger.c.anchor, ledger.c.kind, ledger.c.text, ledger.c.memory_ids).where(
    ledger.c.owner == sa.bindparam("owner")
)
_DELETE = ledger.delete().where(
    ledger.c.owner == sa.bindparam("o"),
    ledger.c.session == sa.bindparam("s"),
    ledger.c.anchor == sa.bindparam("a"),
    ledger.c.kind == sa.bindparam("k"),
)

"""Ledger of injected texts by conversation, so that later requests put them back byte for byte."""

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
    """One injected text.

    Args:
        anchor: Chain hash of the message at which it stands, or ``signature_hash`` of the reply that followed it,
            where another text stood there before another reply.
        kind: ``profile`` and ``opening`` on the first user message, ``block`` on any.
        text: What was injected, byte for byte.
        memory_ids: The memories and episodes that it shows.
        apart: Whether it stood as a part of its own behind those of the message; None: not known.
    """

    anchor: str
    kind: Literal["profile", "opening", "block"]
    text: str
    memory_ids: tuple[str, ...]
    apart: bool | None = None


class Ledger:
    """The ledgers of every conversation."""

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
        """Write entries inside the caller's transaction; one at the same place is replaced."""
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
        """Return everything injected in a conversation, in no particular order."""
        values = {"owner": scope.user, "session": session}
        rows = await self._db.query(lambda connection: self._read.fetch(connection, values))
        return [
            LedgerEntry(anchor, kind, text, tuple(ids), None if apart is None else bool(apart))
            for anchor, kind, text, ids, apart in rows
        ]

    async def drop_memories(self, scope: Scope, ids: Collection[str]) -> int:
        """Drop the entries, of all conversations of the owner, that show any of these memories; return how many."""
        wanted = frozenset(ids)
        return await self._drop(scope, lambda entry: not wanted.isdisjoint(entry.memory_ids))

    async def drop_shared(self, shares: Collection[str]) -> None:
        """Drop the entries, of anybody's conversations, that show what was shared under these ids."""

        def drop(connection: sa.Connection) -> None:
            found = sa.func.instr if connection.dialect.name == "sqlite" else sa.func.pg_catalog.position
            ids = sa.type_coerce(ledger.c.memory_ids, sa.LargeBinary)
            for share in shares:
                connection.execute(ledger.delete().where(found(ids, f'"{share}'.encode()) > 0)).close()

        if shares:
            await self._db.submit(drop)

    async def drop_text(self, scope: Scope, predicate: Callable[[str], bool]) -> int:
        """Drop the entries, of all conversations of the owner, whose text satisfies ``predicate``; return how many."""
        return await self._drop(scope, lambda entry: predicate(entry.text))

    async def _drop(self, scope: Scope, matches: Callable[[LedgerEntry], bool]) -> int:
        """Look for entries beside the writers, who must not wait for it; then delete those found by their keys."""
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

"""Compactions: dropped turns of a long session and their running summary, which later requests reuse."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import sqlalchemy as sa

from proxy.clock import to_ms
from proxy.process.threads import in_thread
from proxy.store.sql import Database
from proxy.store.tables import compactions
from proxy.types import Scope


@dataclass(frozen=True, slots=True)
class Compaction:
    """One compaction, valid on the branch that holds its anchor.

    Args:
        anchor: Id of the last dropped message.
        host: Id of the user's message that the summary precedes.
        kept: Ids of the first messages of older turns that are not dropped.
        segments: Running summary, as JSON.
        is_used: False if it was prepared in advance and no request has used it yet.
        window: Context window that it was made for, in tokens.
    """

    anchor: str
    host: str
    kept: tuple[str, ...]
    segments: tuple[Any, ...]
    is_used: bool = True
    window: int = 0


class Compactions:
    """Store of every user's compactions."""

    def __init__(self, db: Database) -> None:
        self._db = db
        insert = db.insert(compactions)
        put = insert.on_conflict_do_update(
            index_elements=["owner", "session", "window_tokens", "anchor"],
            set_={name: insert.excluded[name] for name in ("host", "kept", "segments", "used", "at_ms")},
        )
        self._put = db.prepare(put, columns=compactions.c.keys())
        self._read = db.prepare(_READ)

    def put(self, scope: Scope, connection: sa.Connection, compaction: Compaction, *, now: datetime) -> None:
        """Write a compaction inside the caller's transaction; replace the one with the same anchor."""
        row = {
            "owner": scope.user,
            "session": scope.session,
            "window_tokens": compaction.window,
            "anchor": compaction.anchor,
            "host": compaction.host,
            "kept": compaction.kept,
            "segments": compaction.segments,
            "used": int(compaction.is_used),
            "at_ms": to_ms(now),
        }
        self._put.execute(connection, row)

    async def prepare(self, scope: Scope, compaction: Compaction, *, now: datetime) -> None:
        """Write a compaction in its own transaction, before a request needs it."""
        await self._db.submit(lambda connection: self.put(scope, connection, compaction, now=now))

    async def read(self, scope: Scope, session: str) -> list[Compaction]:
        """Return the compactions of all branches of a session, newest first."""
        values = {"owner": scope.user, "session": session}
        rows = await self._db.query(lambda connection: self._read.fetch(connection, values))
        return [Compaction(row[0], row[1], tuple(row[2]), tuple(row[3]), bool(row[4]), row[5]) for row in rows]

    async def mend(self, scope: Scope, mended: Callable[[Any], Any]) -> int:
        """Apply ``mended`` to each segment of the user's summaries; return the number of changed compactions."""
        rows = await self._db.query(lambda connection: connection.execute(_ALL, {"owner": scope.user}).all())

        def changes() -> list[dict[str, Any]]:
            found = []
            for session, window, anchor, segments in rows:
                new = [mended(segment) for segment in segments]
                if new != list(segments):
                    found.append({"o": scope.user, "s": session, "w": window, "a": anchor, "new": new})
            return found

        changed = await in_thread("cpu", changes) if rows else []
        if changed:
            await self._db.submit(lambda connection: connection.execute(_MEND, changed).close())
        return len(changed)


_READ = (
    sa.select(
        compactions.c.anchor,
        compactions.c.host,
        compactions.c.kept,
        compactions.c.segments,
        compactions.c.used,
        compactions.c.window_tokens,
    )
    .where(compactions.c.owner == sa.bindparam("owner"), compactions.c.session == sa.bindparam("session"))
    .order_by(compactions.c.at_ms.desc())
)
_ALL = sa.select(
    compactions.c.session, compactions.c.window_tokens, compactions.c.anchor, compactions.c.segments
).where(compactions.c.owner == sa.bindparam("owner"))
_MEND = (
    compactions.update()
    .where(
        compactions.c.owner == sa.bindparam("o"),
        compactions.c.session == sa.bindparam("s"),
        compactions.c.window_tokens == sa.bindparam("w"),
        compactions.c.anchor == sa.bindparam("a"),
    )
    .values(segments=sa.bindparam("new"))
)

"""Digests of signed thoughts in replies, each with its prefix as sent by the client and as sent to the provider.

A provider that checks the prefix refuses a thought that follows another prefix. Only digests are stored, no text.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

import sqlalchemy as sa

from proxy.clock import to_ms
from proxy.store.sql import Database
from proxy.store.tables import bindings
from proxy.types import Scope


@dataclass(frozen=True, slots=True)
class Binding:
    """A signed thought and its prefixes.

    Args:
        signature: ``signature_hash`` of the thought.
        client: Digest of the messages that the client sent before it.
        sent: Digest of the messages that were sent to the provider before it.
        is_dropped: True if that request asked the provider to drop earlier thoughts that no longer match their prefix.
    """

    signature: str
    client: str
    sent: str
    is_dropped: bool = False


class Bindings:
    """Store of every user's signed thoughts."""

    def __init__(self, db: Database) -> None:
        self._db = db
        insert = db.insert(bindings)
        changed = ("session", "client", "sent", "is_dropped", "at_ms")
        put = insert.on_conflict_do_update(
            index_elements=["owner", "signature"], set_={name: insert.excluded[name] for name in changed}
        )
        self._put = db.prepare(put, columns=bindings.c.keys())

    def put(self, scope: Scope, connection: sa.Connection, found: Sequence[Binding], *, now: datetime) -> None:
        """Write bindings inside the caller's transaction; replace those with the same signature."""
        rows = [
            {
                "owner": scope.user,
                "signature": one.signature,
                "session": scope.session,
                "client": one.client,
                "sent": one.sent,
                "is_dropped": int(one.is_dropped),
                "at_ms": to_ms(now),
            }
            for one in found
        ]
        self._put.execute_all(connection, rows)

    async def read(self, scope: Scope, signatures: Sequence[str]) -> dict[str, Binding]:
        """Return the bindings of these signatures, by signature hash."""
        query = sa.select(*_COLUMNS).where(bindings.c.owner == scope.user, bindings.c.signature.in_(signatures))
        rows = await self._db.query(lambda connection: connection.execute(query).all())
        return {row.signature: Binding(row.signature, row.client, row.sent, bool(row.is_dropped)) for row in rows}

    async def has_any(self, scope: Scope) -> bool:
        """Return whether the user has any binding."""
        query = sa.select(bindings.c.signature).where(bindings.c.owner == scope.user).limit(1)
        return await self._db.query(lambda connection: connection.execute(query).first()) is not None


_COLUMNS = (bindings.c.signature, bindings.c.client, bindings.c.sent, bindings.c.is_dropped)


def signature_hash(signature: str) -> str:
    """Return the BLAKE2b hash under which a signature is stored: 32 hex digits."""
    return hashlib.blake2b(signature.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()

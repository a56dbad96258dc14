"""Throughline keys, for the ``keys`` mode: shown once at creation, stored as hashes."""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any

import sqlalchemy as sa

from proxy.clock import from_ms, to_ms
from proxy.errors import NotFound
from proxy.store.sql import Database
from proxy.store.tables import keys
from proxy.types import UNSAID, Allowance

PREFIX = "tl-"
_SHOWN_CHARS = 10


@dataclass(frozen=True, slots=True)
class Key:
    """Record of a key.

    Args:
        id: Id for lists and for revoking.
        prefix: The first characters of the key, to recognise it by.
        tenant: 32 hex digits; keys of one tenant share its users.
        user: User that the key is bound to, "" for none.
        may_name_users: True if its requests may name the user whose memory they use.
        created_at: Time of creation.
        revoked_at: Time of revocation, None for a valid key.
        note: The operator's comment.
        allowance: Limits of its requests; the settings apply to unset limits, and 0 means no limit.
        models: Patterns of the models that it may request; empty for all.
        offers_recall: True if its requests get the ``recall`` tool without asking for it.
        is_operator: True if it may read counts and health of the whole server; it reads no other user's texts.
        takes_commands: True if the proxy answers messages that begin with ``/memory``.
        teams: Names of teams in its tenant; its users read and share memories there.
    """

    id: str
    prefix: str
    tenant: str
    user: str
    may_name_users: bool
    created_at: datetime
    revoked_at: datetime | None
    note: str
    allowance: Allowance = UNSAID
    models: tuple[str, ...] = ()
    offers_recall: bool = False
    is_operator: bool = False
    takes_commands: bool = False
    teams: tuple[str, ...] = ()


class Keys:
    """Store of every Throughline key."""

    def __init__(self, db: Database) -> None:
        self._db = db
        self._lookup = sa.select(keys).where(keys.c.hash == sa.bindparam("digest"), keys.c.revoked_ms.is_(None))

    async def create(
        self,
        *,
        now: datetime,
        tenant: str = "",
        user: str = "",
        may_name_users: bool = False,
        note: str = "",
        allowance: Allowance = UNSAID,
        models: Sequence[str] = (),
        offers_recall: bool = False,
        is_operator: bool = False,
        takes_commands: bool = False,
        teams: Sequence[str] = (),
    ) -> tuple[str, Key]:
        """Create a key; return its text, which cannot be read again, and its record.

        Args:
            now: Time of creation.
            tenant: Id of an existing tenant; "" creates a new one.
            user: User to bind the key to.
            may_name_users: Whether its requests may name users.
            note: The operator's comment.
            allowance: Limits of its requests.
            models: Patterns of the models that it may request; empty for all.
            offers_recall: Whether its requests get the ``recall`` tool.
            is_operator: Whether it may read counts and health of the whole server.
            takes_commands: Whether the proxy answers ``/memory`` in a chat.
            teams: Names of its users' teams.
        """
        text = PREFIX + secrets.token_urlsafe(32)
        key = Key(
            id="key_" + secrets.token_hex(8),
            prefix=text[:_SHOWN_CHARS],
            tenant=tenant or secrets.token_hex(16),
            user=user,
            may_name_users=may_name_users,
            created_at=from_ms(to_ms(now)),
            revoked_at=None,
            note=note,
            allowance=allowance,
            models=tuple(models),
            offers_recall=offers_recall,
            is_operator=is_operator,
            takes_commands=takes_commands,
            teams=tuple(teams),
        )
        row = {
            "id": key.id,
            "hash": _hash(text),
            "prefix": key.prefix,
            "tenant": key.tenant,
            "bound_user": user,
            "may_name_users": may_name_users,
            "created_ms": to_ms(now),
            "note": note,
            **asdict(allowance),
            "models": list(models) or None,
            "offers_recall": offers_recall,
            "is_operator": is_operator,
            "takes_commands": takes_commands,
            "teams": list(teams) or None,
        }
        await self._db.submit(lambda connection: connection.execute(keys.insert(), row).rowcount)
        return text, key

    async def lookup(self, text: str) -> Key | None:
        """Return the record of a client's key; None if it is unknown or revoked."""
        digest = _hash(text)
        row = await self._db.query(lambda connection: connection.execute(self._lookup, {"digest": digest}).first())
        return None if row is None else _key(row)

    async def all(self) -> list[Key]:
        """Return every key, oldest first, revoked ones included."""
        query = sa.select(keys).order_by(keys.c.created_ms, keys.c.id)
        return [_key(row) for row in await self._db.query(lambda connection: connection.execute(query).all())]

    async def update(
        self,
        key: str,
        *,
        limits: Mapping[str, int | None] | None = None,
        models: Sequence[str] | None = None,
        offers_recall: bool | None = None,
        takes_commands: bool | None = None,
        teams: Sequence[str] | None = None,
    ) -> Key:
        """Change the permissions of a key, effective from its next request; return the record.

        Args:
            key: Id of the key.
            limits: New limits by field name of ``Allowance``; other limits stay.
            models: New patterns; None keeps them.
            offers_recall: New value; None keeps it.
            takes_commands: New value; None keeps it.
            teams: New teams; None keeps them.

        Raises:
            NotFound: If no key has this id.
        """
        changes: dict[str, Any] = dict(limits or {})
        if models is not None:
            changes["models"] = list(models) or None
        if offers_recall is not None:
            changes["offers_recall"] = offers_recall
        if takes_commands is not None:
            changes["takes_commands"] = takes_commands
        if teams is not None:
            changes["teams"] = list(teams) or None

        def update(connection: sa.Connection) -> Key:
            if changes:
                connection.execute(keys.update().where(keys.c.id == key).values(**changes))
            return _found(connection, key)

        return await self._db.submit(update)

    async def revoke(self, key: str, *, now: datetime) -> Key:
        """Revoke a key immediately and permanently; return the record.

        Raises:
            NotFound: If no key has this id.
        """

        def revoke(connection: sa.Connection) -> Key:
            is_live = (keys.c.id == key) & keys.c.revoked_ms.is_(None)
            connection.execute(keys.update().where(is_live).values(revoked_ms=to_ms(now)))
            return _found(connection, key)

        return await self._db.submit(revoke)


def _found(connection: sa.Connection, key: str) -> Key:
    row = connection.execute(sa.select(keys).where(keys.c.id == key)).first()
    if row is None:
        raise NotFound(f"no key {key!r}")
    return _key(row)


def _hash(text: str) -> str:
    # 256 random bits cannot be guessed, so they need no salt and no slow hash.
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def _key(row: sa.Row[Any]) -> Key:
    revoked_at = None if row.revoked_ms is None else from_ms(row.revoked_ms)
    return Key(
        id=row.id,
        prefix=row.prefix,
        tenant=row.tenant,
        user=row.bound_user,
        may_name_users=row.may_name_users,
        created_at=from_ms(row.created_ms),
        revoked_at=revoked_at,
        note=row.note,
        allowance=Allowance(row.requests_per_minute, row.tokens_per_minute, row.concurrent_streams, row.body_bytes),
        models=tuple(row.models or ()),
        offers_recall=bool(row.offers_recall),
        is_operator=bool(row.is_operator),
        takes_commands=bool(row.takes_commands),
        teams=tuple(row.teams or ()),
    )

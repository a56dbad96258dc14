"""Keys of ours, for the ``keys`` mode: made once, shown once, kept as hashes."""

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
        id: Ours, for lists and for revoking.
        prefix: The first characters of the key, to recognise it by.
        tenant: 32 hex digits; keys of one tenant share its users.
        user: The user it is bound to, "" for none.
        may_name_users: Whether its requests may say whose memory they mean.
        created_at: When it was made.
        revoked_at: Since when it no longer works.
        note: The operator's own words.
        allowance: How much it may ask for; what is not said here is said by the settings, 0 means no limit.
        models: Patterns of the models that it may ask for; empty: all.
        offers_recall: Its requests are offered the ``recall`` tool without asking for it.
        is_operator: It sees counts and health of the whole server, and nobody's texts but its own.
        takes_commands: Messages of its requests that begin with ``/memory`` are answered here.
        teams: Names of teams of its tenant; its users read what is shared there, and may share.
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
    """Every key of ours."""

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
        """Make a key; return it, for the only time, and what is known of it.

        Args:
            now: When.
            tenant: Of an existing tenant; "" makes a new one.
            user: Binds the key to one user.
            may_name_users: Lets its requests name users.
            note: Any text.
            allowance: How much it may ask for.
            models: Patterns of the models that it may ask for; empty: all.
            offers_recall: Whether its requests are offered the ``recall`` tool.
            is_operator: Whether it sees counts and health of the whole server.
            takes_commands: Whether ``/memory`` in a chat is answered here.
            teams: Names of the teams of its users.
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
        """Return what a client's key stands for; None if it is unknown or revoked."""
        digest = _hash(text)
        row = await self._db.query(lambda connection: connection.execute(self._lookup, {"digest": digest}).first())
        return None if row is None else _key(row)

    async def all(self) -> list[Key]:
        """Return every key, the oldest first, the revoked ones too."""
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
        """Change what a key may ask for, from its next request on; return it.

        Args:
            key: Its id.
            limits: By the names of ``Allowance``; the others stay.
            models: None: they stay.
            offers_recall: None: it stays.
            takes_commands: The same.
            teams: None: they stay.

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
        """Make a key stop working, at once and for good; return it.

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
    # 256 random bits need no salt and no slow hash: there is nothing to guess.
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

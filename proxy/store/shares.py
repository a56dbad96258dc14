"""Memories shared with teams, by reference: a team reads the current text of the author's memory."""

from __future__ import annotations

import secrets
from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import sqlalchemy as sa

from proxy.clock import from_ms, to_ms
from proxy.store.sql import Database
from proxy.store.tables import shares
from proxy.types import Scope

PREFIX = "shr_"


@dataclass(frozen=True, slots=True)
class Share:
    """A memory shared with a team.

    Args:
        id: ``shr_`` + 24 hex digits; the only reference to the memory that readers get.
        team: Id of the team.
        scope: Scope of the author.
        memory: Id of the memory in that scope.
        author: Author's name, as the team sees it.
        shared_at: Time of sharing.
    """

    id: str
    team: str
    scope: Scope
    memory: str
    author: str
    shared_at: datetime


class Shares:
    """Store of every team's shares."""

    def __init__(self, db: Database) -> None:
        self._db = db
        self._put = db.insert(shares).on_conflict_do_update(
            index_elements=["team", "owner", "memory"], set_={"author": db.insert(shares).excluded.author}
        )

    async def put(self, scope: Scope, team: str, memory: str, *, agent: str, author: str, now: datetime) -> Share:
        """Share a memory of the user; an existing share only gets the new name of the author.

        Args:
            scope: Scope of the author.
            team: Id of the team.
            memory: Id of the memory.
            agent: Partition of the memory; erasing the partition erases the share.
            author: Author's name.
            now: Time of sharing.
        """
        row = {
            "owner": scope.user,
            "id": PREFIX + secrets.token_hex(12),
            "team": team,
            "tenant": scope.tenant,
            "agent": agent,
            "memory": memory,
            "author": author,
            "at_ms": to_ms(now),
        }
        one = _of(scope) & (shares.c.team == team) & (shares.c.memory == memory)

        def put(connection: sa.Connection) -> Share:
            connection.execute(self._put, row).close()
            return _share(connection.execute(sa.select(shares).where(one)).one())

        return await self._db.submit(put)

    async def of_teams(self, teams: Collection[str]) -> list[Share]:
        """Return the shares of any of these teams, oldest first."""
        query = sa.select(shares).where(shares.c.team.in_(teams)).order_by(shares.c.at_ms, shares.c.id)
        rows = await self._db.query(lambda connection: connection.execute(query).all())
        return [_share(row) for row in rows]

    async def of_owner(self, scope: Scope, memories: Collection[str] | None = None) -> list[Share]:
        """Return the user's shares, oldest first, of these memories if given."""
        wanted = None if memories is None else frozenset(memories)
        query = sa.select(shares).where(_of(scope)).order_by(shares.c.at_ms, shares.c.id)
        rows = await self._db.query(lambda connection: connection.execute(query).all())
        return [_share(row) for row in rows if wanted is None or row.memory in wanted]

    async def remove(self, scope: Scope, ids: Collection[str]) -> None:
        """Delete shares of the user."""
        gone = shares.delete().where(_of(scope), shares.c.id.in_(ids))
        await self._db.submit(lambda connection: connection.execute(gone).close())


def _of(scope: Scope) -> sa.ColumnElement[bool]:
    return shares.c.owner == scope.user


def _share(row: sa.Row[Any]) -> Share:
    return Share(row.id, row.team, Scope(row.tenant, row.owner), row.memory, row.author, from_ms(row.at_ms))

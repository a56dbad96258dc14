"""Registered agents of a user: what each can do, and whether it keeps what it learns to itself."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any

import sqlalchemy as sa

from proxy.clock import from_ms, to_ms
from proxy.errors import unknown
from proxy.store.sql import Database
from proxy.store.tables import agents
from proxy.types import Scope


@dataclass(frozen=True, slots=True)
class Agent:
    """One agent.

    Args:
        id: As in partitions.
        name: By which requests name it in ``X-Memory-Agent``.
        capabilities: Words of the client's.
        is_private: Nobody else sees what it learns; else all of it is common.
        created_at: When it was registered.
        last_at: When it last asked, None if it never did.
    """

    id: str
    name: str
    capabilities: tuple[str, ...]
    is_private: bool
    created_at: datetime
    last_at: datetime | None = None


class Agents:
    """The agents of every owner."""

    def __init__(self, db: Database) -> None:
        self._db = db
        insert = db.insert(agents)
        kept = ("name", "capabilities", "is_private")
        self._put = insert.on_conflict_do_update(
            index_elements=["owner", "id"], set_={name: insert.excluded[name] for name in kept}
        )

    async def put(self, scope: Scope, agent: Agent) -> None:
        """Keep an agent, over the one of the same id."""
        row = {
            "owner": scope.user,
            "id": agent.id,
            "agent": agent.id,
            "name": agent.name,
            "capabilities": list(agent.capabilities),
            "is_private": agent.is_private,
            "created_ms": to_ms(agent.created_at),
        }
        await self._db.submit(lambda connection: connection.execute(self._put, row).close())

    async def note(self, scope: Scope, agent: str, *, now: datetime) -> None:
        """Note that an agent asked just now; one that is not registered is left alone."""
        seen = agents.update().where(agents.c.owner == scope.user, agents.c.id == agent).values(last_ms=to_ms(now))
        await self._db.submit(lambda connection: connection.execute(seen).close())

    async def all(self, scope: Scope) -> list[Agent]:
        """Return the user's agents by name."""
        query = sa.select(agents).where(agents.c.owner == scope.user).order_by(agents.c.name, agents.c.id)
        return [_agent(row) for row in await self._db.query(lambda connection: connection.execute(query).all())]

    async def find(self, scope: Scope, agent: str) -> Agent | None:
        """Return an agent by its id, None where it is not registered."""
        query = sa.select(agents).where(agents.c.owner == scope.user, agents.c.id == agent)
        row = await self._db.query(lambda connection: connection.execute(query).first())
        return None if row is None else _agent(row)

    async def name(self, scope: Scope) -> str:
        """Return the name of the registered agent that asks, "" for none."""
        known = await self.find(scope, scope.asker) if scope.asker else None
        return known.name if known is not None else ""

    async def get(self, scope: Scope, agent: str) -> Agent:
        """Return an agent by its id or its name.

        Raises:
            NotFound: If there is none.
        """
        for one in await self.all(scope):
            if agent in (one.id, one.name):
                return one
        raise unknown("agent", agent)

    async def remove(self, scope: Scope, agent: str) -> None:
        """Take an agent off the list; its memory stays."""
        gone = agents.delete().where(agents.c.owner == scope.user, agents.c.id == agent)
        await self._db.submit(lambda connection: connection.execute(gone).close())


def _agent(row: Any) -> Agent:
    return Agent(
        row.id,
        row.name,
        tuple(row.capabilities),
        row.is_private,
        from_ms(row.created_ms),
        None if row.last_ms is None else from_ms(row.last_ms),
    )

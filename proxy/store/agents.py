"""Registered agents of a user: their capabilities, and whether their memories are private."""

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
    """A registered agent.

    Args:
        id: Id as it appears in partitions.
        name: Name that requests give in ``X-Memory-Agent``.
        capabilities: Free-text words from the client.
        is_private: True if no other agent sees its memories; otherwise they are shared by all agents.
        created_at: Time of registration.
        last_at: Time of its last request, None before the first.
    """

    id: str
    name: str
    capabilities: tuple[str, ...]
    is_private: bool
    created_at: datetime
    last_at: datetime | None = None


class Agents:
    """Store of every user's agents."""

    def __init__(self, db: Database) -> None:
        self._db = db
        insert = db.insert(agents)
        kept = ("name", "capabilities", "is_private")
        self._put = insert.on_conflict_do_update(
            index_elements=["owner", "id"], set_={name: insert.excluded[name] for name in kept}
        )

    async def put(self, scope: Scope, agent: Agent) -> None:
        """Insert an agent, or replace the one with the same id."""
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
        """Record the time of an agent's request; do nothing if the agent is not registered."""
        seen = agents.update().where(agents.c.owner == scope.user, agents.c.id == agent).values(last_ms=to_ms(now))
        await self._db.submit(lambda connection: connection.execute(seen).close())

    async def all(self, scope: Scope) -> list[Agent]:
        """Return the user's agents, sorted by name."""
        query = sa.select(agents).where(agents.c.owner == scope.user).order_by(agents.c.name, agents.c.id)
        return [_agent(row) for row in await self._db.query(lambda connection: connection.execute(query).all())]

    async def find(self, scope: Scope, agent: str) -> Agent | None:
        """Return an agent by its id, None if it is not registered."""
        query = sa.select(agents).where(agents.c.owner == scope.user, agents.c.id == agent)
        row = await self._db.query(lambda connection: connection.execute(query).first())
        return None if row is None else _agent(row)

    async def name(self, scope: Scope) -> str:
        """Return the name of the requesting agent, "" if it is not registered."""
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
        """Delete an agent's registration; its memories stay."""
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

"""Names of a user's projects, by the ids used in partitions."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

import sqlalchemy as sa

from proxy.clock import from_ms, to_ms
from proxy.errors import unknown
from proxy.store.sql import Database
from proxy.store.tables import projects
from proxy.types import Scope
from proxy.types.scope import partition


@dataclass(frozen=True, slots=True)
class Project:
    """A project of a user.

    Args:
        id: Id as it appears in partitions.
        name: Name as the client first wrote it.
        created_at, last_at: Times of the first and last request in it.
    """

    id: str
    name: str
    created_at: datetime
    last_at: datetime


class Projects:
    """Store of every user's projects."""

    def __init__(self, db: Database) -> None:
        self._db = db
        insert = db.insert(projects)
        self._put = insert.on_conflict_do_update(
            index_elements=["owner", "id"], set_={"last_ms": insert.excluded.last_ms}
        )

    async def note(self, scope: Scope, name: str, *, now: datetime) -> None:
        """Store the name of the scope's project and the time of its use."""
        row = {
            "owner": scope.user,
            "id": scope.project,
            "agent": partition(project=scope.project),
            "name": name,
            "created_ms": to_ms(now),
            "last_ms": to_ms(now),
        }
        await self._db.submit(lambda connection: connection.execute(self._put, row).close())

    async def all(self, scope: Scope) -> list[Project]:
        """Return the visible projects, most recently used first: all of the user's, or only the scope's."""
        query = sa.select(projects).where(projects.c.owner == scope.user).order_by(projects.c.last_ms.desc())
        if scope.project:
            query = query.where(projects.c.id == scope.project)
        rows = await self._db.query(lambda connection: connection.execute(query).all())
        return [Project(row.id, row.name, from_ms(row.created_ms), from_ms(row.last_ms)) for row in rows]

    async def names(self, scope: Scope) -> dict[str, str]:
        """Return the names of the visible projects, by id."""
        return {one.id: one.name for one in await self.all(scope)}

    async def get(self, scope: Scope, project: str) -> Project:
        """Return a visible project by its id or its name.

        Raises:
            NotFound: If there is none.
        """
        for one in await self.all(scope):
            if project in (one.id, one.name):
                return one
        raise unknown("project", project)

"""Sessions in which the user switched memory off."""

from __future__ import annotations

from datetime import datetime

import sqlalchemy as sa

from proxy.clock import to_ms
from proxy.store.sql import Database
from proxy.store.tables import silenced
from proxy.types import Scope


class Silenced:
    """Store of every user's sessions without memory."""

    def __init__(self, db: Database) -> None:
        self._db = db
        self._put = db.insert(silenced).on_conflict_do_nothing(index_elements=["owner", "session"])

    async def has(self, scope: Scope) -> bool:
        """Return whether memory is off in the scope's session."""
        query = sa.select(silenced.c.at_ms).where(*_of(scope))
        return await self._db.query(lambda connection: connection.execute(query).first()) is not None

    async def switch(self, scope: Scope, *, is_off: bool, now: datetime) -> None:
        """Switch memory off or on in the scope's session."""
        row = {"owner": scope.user, "session": scope.session, "agent": scope.agent, "at_ms": to_ms(now)}
        gone = silenced.delete().where(*_of(scope))

        def switch(connection: sa.Connection) -> None:
            if is_off:
                connection.execute(self._put, row).close()
            else:
                connection.execute(gone).close()

        await self._db.submit(switch)


def _of(scope: Scope) -> tuple[sa.ColumnElement[bool], ...]:
    return silenced.c.owner == scope.user, silenced.c.session == scope.session

"""Export and import of a user's SQL rows as plain JSON, for a move to another server."""

from __future__ import annotations

import base64
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import suppress
from functools import partial
from typing import Any

import sqlalchemy as sa

from proxy.errors import InvalidRequest
from proxy.store.codec import Json
from proxy.store.erase import OWNED
from proxy.store.media import checked
from proxy.store.partitions import reached
from proxy.store.receipts import refuse_unfit
from proxy.store.sql import Database
from proxy.store.tables import chain, compactions, files, ledger, media, projects, receipts, sessions, uses
from proxy.types import Scope

# Not exported: work in progress, which the export waits for; damage of this machine; and tables through which a forged
# file could open objects in a provider's account (``handed``, ``replies``) or publish to a team (``shares``).
_STAYS = frozenset({"journal", "incidents", "jobs", "handed", "replies", "destructions", "shares"})
MOVED: Mapping[str, sa.Table] = {str(table.name): table for table in OWNED if table.name not in _STAYS}
# Their keys are hashes that are valid only for this user of this server.
AT_HOME = frozenset(map(str, (chain.name, ledger.name, compactions.name)))
_PAGE = 500
_INTEGERS = 2**63  # limit of SQLite and Postgres
_TIMES_MS = 253_402_300_800_000  # until the year 10000
_LISTS = frozenset({"capabilities", "memory_ids"})  # columns that hold lists of texts
_LEFT_OUT = frozenset({"owner", "tenant", "holder", "until_ms"})


class Dump:
    """Reader and writer of raw table rows."""

    def __init__(self, db: Database) -> None:
        self._db = db

    async def count(self, scope: Scope, memories: Sequence[str]) -> dict[str, int]:
        """Return the number of rows that the scope owns, by table; tables without rows are omitted.

        Args:
            scope: A user; or a project or agent, then without the rows of others.
            memories: Ids of the scope's memories.
        """

        def count(connection: sa.Connection) -> dict[str, int]:
            found = {}
            for name, table in MOVED.items():
                query = sa.select(sa.func.count()).select_from(table).where(*_of(table, scope, memories))
                found[name] = connection.execute(query).scalar_one()
            return {name: number for name, number in found.items() if number}

        return await self._db.query(count)

    async def rows(self, scope: Scope, name: str, memories: Sequence[str]) -> AsyncIterator[dict[str, Any]]:
        """Yield the scope's rows of one table, in order of their primary keys."""
        table = MOVED[name]
        left_out = {*_LEFT_OUT, *_given(table)}
        query = sa.select(table).where(*_of(table, scope, memories)).order_by(*table.primary_key)
        at = 0
        while True:
            page = query.limit(_PAGE).offset(at)
            found = await self._db.query(partial(_mappings, page))
            for row in found:
                yield {str(key): _plain(value) for key, value in row.items() if key not in left_out}
            if len(found) < _PAGE:
                return
            at += len(found)

    async def put(self, scope: Scope, rows: Sequence[tuple[str, dict[str, Any]]]) -> int:
        """Insert rows made by ``row_of`` for the user; return the number inserted. Existing keys stay unchanged."""
        owned = {"owner": scope.user, "tenant": scope.tenant}

        def put(connection: sa.Connection) -> int:
            added = 0
            for name, row in rows:
                mine = row | {column: value for column, value in owned.items() if column in MOVED[name].c}
                added += connection.execute(self._db.insert(MOVED[name]).on_conflict_do_nothing(), mine).rowcount
            return added

        return await self._db.submit(put)


def _of(table: sa.Table, scope: Scope, memories: Sequence[str]) -> list[sa.ColumnElement[bool]]:
    """Return the conditions for a scope's rows of a table: by their partition, session or memory."""
    mine = [table.c.owner == scope.user]
    if not scope.agent:
        return mine
    if table is projects and scope.project:
        return [*mine, projects.c.id == scope.project]
    if "agent" in table.c:
        return [*mine, reached(scope, table.c.agent)]
    if table is uses:
        return [*mine, uses.c.memory.in_(memories)]
    talks = sa.select(sessions.c.id).where(sessions.c.owner == scope.user, reached(scope, sessions.c.agent))
    return [*mine, table.c.session.in_(talks)]


def _mappings(query: sa.Select[Any], connection: sa.Connection) -> list[dict[str, Any]]:
    return [dict(row) for row in connection.execute(query).mappings()]


def _plain(value: Any) -> Any:
    return {"base64": base64.b64encode(value).decode()} if isinstance(value, bytes) else value


def _given(table: sa.Table) -> set[str]:
    """Return the name of the table's auto-generated key, if it has one."""
    return {"seq"} if "seq" in table.primary_key else set()


def row_of(name: str, values: Mapping[str, Any]) -> dict[str, Any]:
    """Return an exported row as a row of its table, without a user.

    Raises:
        InvalidRequest: If it does not fit its table.
    """
    table = MOVED[name]
    row: dict[str, Any] = {}
    for column in table.c:
        if column.name in _given(table):
            continue
        row[column.name] = _value(table, column, None if column.name in _LEFT_OUT else values.get(column.name))
    if table is media:  # ingestion that was in progress starts anew on this server
        row |= {"holder": "", "until_ms": 0, **_described(row)}
    if table is receipts:
        try:
            refuse_unfit(row["body"])
        except ValueError as error:
            raise InvalidRequest(f"A row of 'receipts' is no receipt: {error}.") from error
    if table is files:
        row["is_forwarded"] = False
    return row


def _described(row: Mapping[str, Any]) -> dict[str, Any]:
    try:
        return checked(row["kind"], row["body"])
    except ValueError as error:
        raise InvalidRequest(f"A row of 'media' describes no file: {error}.") from error


def _value(table: sa.Table, column: sa.Column[Any], value: Any) -> Any:
    kind = column.type
    if isinstance(value, dict) and not isinstance(kind, Json) and set(value) == {"base64"}:
        with suppress(TypeError, ValueError):  # a dict fits nowhere
            value = base64.b64decode(value["base64"])
    fits = (
        value is None
        or (isinstance(kind, Json) and (column.name not in _LISTS or _are_texts(value)))
        or (isinstance(kind, sa.LargeBinary) and isinstance(value, bytes))
        or (isinstance(kind, sa.Boolean) and isinstance(value, bool))
        or (isinstance(kind, sa.Integer) and isinstance(value, int) and _is_in_range(column, value))
        or (not isinstance(kind, sa.LargeBinary | sa.Boolean | sa.Integer) and isinstance(value, str))
    )
    if not fits or (value is None and not column.nullable and column.name not in _LEFT_OUT):
        raise InvalidRequest(f"A row of {table.name!r} has no fitting {column.name!r}.")
    return value


def _are_texts(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(one, str) for one in value)


def _is_in_range(column: sa.Column[Any], value: int) -> bool:
    return 0 <= value < _TIMES_MS if column.name.endswith("_ms") else -_INTEGERS <= value < _INTEGERS

"""Receipts: the explanation of each response, one per request, deleted after a retention period."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Mapping, Sequence
from datetime import datetime
from typing import Annotated, Any

import sqlalchemy as sa
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from proxy.clock import to_ms
from proxy.errors import NotFound
from proxy.store.costs import Cost, shown
from proxy.store.partitions import owned
from proxy.store.sql import Database
from proxy.store.tables import receipts
from proxy.types import Scope

_Amount = Annotated[float, Field(allow_inf_nan=False, ge=0, le=1e15)]


class _Part(BaseModel):
    model_config = ConfigDict(strict=True)


class _Entry(_Part):
    id: str


class _Ranked(_Entry):
    source: str


class _Spent(_Part):
    tokens: _Amount
    usd: _Amount


class _Body(_Part):
    """Fields of a receipt that code computes with or looks up; all others are only shown."""

    id: str
    created_at: str
    finish: str | None = None
    query: str = ""
    timings: dict[str, _Amount] = {}
    degraded: list[str] = []
    usage: dict[str, _Amount] | None = None
    costs: dict[str, _Spent] | None = None
    usd: _Amount | None = None
    injected: list[_Ranked] = []
    considered: list[_Ranked] = []
    learned: list[_Entry] = []
    closed: list[_Entry] = []
    linked: list[_Entry] = []
    review: list[_Entry] = []
    carried: list[str] = []
    message: str | None = None
    placed: list[tuple[str, str, str, int]] = []
    compaction: dict[str, Any] = {}


def refuse_unfit(body: Any) -> None:
    """Validate an imported receipt.

    Raises:
        ValueError: If it is malformed; it would break the operator's counts over all users.
    """
    try:
        _Body.model_validate_json(json.dumps(body, ensure_ascii=False).encode("utf-8", "replace"))
    except ValidationError as error:
        wrong = error.errors(include_url=False)[0]
        raise ValueError(f"its {'.'.join(map(str, wrong['loc'][:1]))!r} does not fit ({wrong['msg']})") from error


class Receipts:
    """Store of every user's receipts."""

    def __init__(self, db: Database) -> None:
        self._db = db
        self._put = db.prepare(db.insert(receipts).on_conflict_do_nothing(), columns=receipts.c.keys())

    def put(
        self, scope: Scope, connection: sa.Connection, body: Mapping[str, Any], *, now: datetime, holder: str = ""
    ) -> None:
        """Write a receipt inside the caller's transaction; its id is ``body["id"]``, ``holder`` the request's key."""
        row = {
            "owner": scope.user,
            "id": body["id"],
            "agent": scope.agent,
            "session": scope.session,
            "created_ms": to_ms(now),
            "body": dict(body),
            "holder": holder or None,
        }
        self._put.execute(connection, row)

    async def get(self, scope: Scope, receipt: str) -> dict[str, Any]:
        """Return the body of one receipt.

        Raises:
            NotFound: If no visible receipt has this id.
        """
        query = _in_view(scope).where(receipts.c.id == receipt)
        row = await self._db.query(lambda connection: connection.execute(query).first())
        if row is None:
            raise NotFound(f"no receipt {receipt[:80]!r}")
        return _body(row)

    async def all(self, scope: Scope, *, since: datetime | None = None) -> list[dict[str, Any]]:
        """Return the bodies of all visible receipts, oldest first, written since a time if given."""
        query = _in_view(scope).order_by(receipts.c.created_ms, receipts.c.id)
        query = query if since is None else query.where(receipts.c.created_ms >= to_ms(since))
        rows = await self._db.query(lambda connection: connection.execute(query).all())
        return [_body(row) for row in rows]

    async def of_key(self, scope: Scope, holder: str, *, since: datetime | None = None) -> list[dict[str, Any]]:
        """Return the bodies of a key's receipts, oldest first, each with the ``user`` of its request.

        Receipts of private agents stay private: of other users, only receipts common to their agents are returned.
        """
        query = sa.select(receipts.c.owner, receipts.c.body)
        query = query.where(receipts.c.holder == holder, owned(scope, receipts.c.agent))
        query = query if since is None else query.where(receipts.c.created_ms >= to_ms(since))
        query = query.order_by(receipts.c.created_ms, receipts.c.id)
        rows = await self._db.query(lambda connection: connection.execute(query).all())
        return [{**row.body, "user": row.owner} for row in rows]

    async def page(
        self, scope: Scope, *, sessions: Collection[str] = (), after: str = "", limit: int = 50
    ) -> list[dict[str, Any]]:
        """Return a page of bodies of visible receipts, newest first.

        Args:
            scope: The requesting scope.
            sessions: If any are given, only receipts of these sessions.
            after: Id of the last receipt of the page before, "" for the first page.
            limit: Maximum number of receipts.

        Raises:
            NotFound: If ``after`` is not a visible receipt.
        """

        def select(connection: sa.Connection) -> list[dict[str, Any]]:
            query = _in_view(scope)
            if sessions:
                query = query.where(receipts.c.session.in_(sessions))
            if after:
                last = connection.execute(sa.select(receipts.c.created_ms).where(*_one(scope, after))).scalar()
                if last is None:
                    raise NotFound(f"no receipt {after[:80]!r}")
                query = query.where(sa.tuple_(receipts.c.created_ms, receipts.c.id) < (last, after))
            query = query.order_by(receipts.c.created_ms.desc(), receipts.c.id.desc()).limit(limit)
            return [_body(row) for row in connection.execute(query)]

        return await self._db.query(select)

    async def blank_queries(self, scope: Scope, says: Callable[[str], bool]) -> int:
        """Blank the query of each of the user's receipts for which ``says`` is true; return their number."""
        mine = receipts.c.owner == scope.user

        def blank(connection: sa.Connection) -> int:
            rows = connection.execute(sa.select(receipts.c.id, receipts.c.body).where(mine)).all()
            found = [row for row in rows if says(str(row.body.get("query") or ""))]
            for row in found:
                values = {"body": {**row.body, "query": ""}}
                connection.execute(receipts.update().where(mine, receipts.c.id == row.id).values(**values))
            return len(found)

        return await self._db.submit(blank)

    async def annotate(
        self,
        scope: Scope,
        receipt: str,
        *,
        told: Mapping[str, Sequence[Mapping[str, Any]]] | None = None,
        spent: Sequence[Cost] = (),
    ) -> bool:
        """Add later costs, and lists such as ``learned`` and ``closed``; return False if the receipt is deleted.

        A repetition adds no list entries twice, but does add the costs again.
        """

        def update(connection: sa.Connection) -> bool:
            try:
                body = _find(scope, connection, receipt)
            except NotFound:
                return False
            for name, entries in (told or {}).items():
                known = list(body.get(name) or ())
                body[name] = known + [dict(entry) for entry in entries if dict(entry) not in known]
            if spent:
                before = body.get("costs") or {}
                body["costs"] = {**before, **shown(_sum(before, spent))}
            connection.execute(receipts.update().where(*_one(scope, receipt)).values(body=body))
            return True

        return await self._db.submit(update)

    async def remove(self, scope: Scope, session: str) -> int:
        """Delete the receipts of a session; return their number."""
        gone = receipts.delete().where(receipts.c.owner == scope.user, receipts.c.session == session)
        return await self._db.submit(lambda connection: connection.execute(gone).rowcount)

    async def prune(self, *, before: datetime) -> int:
        """Delete the receipts of all users that are older than ``before``; return their number."""
        old = receipts.delete().where(receipts.c.created_ms < to_ms(before))
        return await self._db.submit(lambda connection: connection.execute(old).rowcount)


def _in_view(scope: Scope) -> sa.Select[Any]:
    mine = receipts.c.owner == scope.user, owned(scope, receipts.c.agent)
    return sa.select(receipts.c.body, receipts.c.session).where(*mine)


def _body(row: Any) -> dict[str, Any]:
    return {**row.body, "session": row.session} if row.session else dict(row.body)


def _sum(before: Mapping[str, Mapping[str, Any]], spent: Sequence[Cost]) -> list[Cost]:
    found = []
    for one in spent:
        known = before.get(one.kind) or {"tokens": 0, "usd": 0.0}
        found.append(Cost(one.kind, one.tokens + known["tokens"], one.usd + known["usd"]))
    return found


def _one(scope: Scope, receipt: str) -> tuple[sa.ColumnElement[bool], ...]:
    return receipts.c.owner == scope.user, owned(scope, receipts.c.agent), receipts.c.id == receipt


def _find(scope: Scope, connection: sa.Connection, receipt: str) -> dict[str, Any]:
    body = connection.execute(sa.select(receipts.c.body).where(*_one(scope, receipt))).scalar()
    if body is None:
        raise NotFound(f"no receipt {receipt[:80]!r}")
    return dict(body)

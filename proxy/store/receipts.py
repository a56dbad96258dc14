"""Why each reply knew what it knew: one receipt a request, kept for a while."""

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
    """Fields of a receipt that are counted with, or looked up; the others are only shown."""

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
    """Look at a receipt that another server wrote.

    Raises:
        ValueError: If it is none; operators' counts over all users would fail at it.
    """
    try:
        _Body.model_validate_json(json.dumps(body, ensure_ascii=False).encode("utf-8", "replace"))
    except ValidationError as error:
        wrong = error.errors(include_url=False)[0]
        raise ValueError(f"its {'.'.join(map(str, wrong['loc'][:1]))!r} does not fit ({wrong['msg']})") from error


class Receipts:
    """The receipts of every owner."""

    def __init__(self, db: Database) -> None:
        self._db = db
        self._put = db.prepare(db.insert(receipts).on_conflict_do_nothing(), columns=receipts.c.keys())

    def put(
        self, scope: Scope, connection: sa.Connection, body: Mapping[str, Any], *, now: datetime, holder: str = ""
    ) -> None:
        """Write a receipt inside the caller's transaction; its id is ``body["id"]``, ``holder`` the key that asked."""
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
            NotFound: If there is none of this id in view.
        """
        query = _in_view(scope).where(receipts.c.id == receipt)
        row = await self._db.query(lambda connection: connection.execute(query).first())
        if row is None:
            raise NotFound(f"no receipt {receipt[:80]!r}")
        return _body(row)

    async def all(self, scope: Scope, *, since: datetime | None = None) -> list[dict[str, Any]]:
        """Return the bodies of all receipts in view, oldest first; of those written since then where given."""
        query = _in_view(scope).order_by(receipts.c.created_ms, receipts.c.id)
        query = query if since is None else query.where(receipts.c.created_ms >= to_ms(since))
        rows = await self._db.query(lambda connection: connection.execute(query).all())
        return [_body(row) for row in rows]

    async def of_key(self, scope: Scope, holder: str, *, since: datetime | None = None) -> list[dict[str, Any]]:
        """Return the bodies of a key's receipts, oldest first, each with the ``user`` for whom the key asked.

        What keeps to itself stays there: of users besides the scope's, only what is common to their agents.
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
        """Return bodies of receipts in view, newest first.

        Args:
            scope: Whose.
            sessions: Only of these conversations, where any are given.
            after: Id of the receipt behind which to go on, "" for the first page.
            limit: Most receipts.

        Raises:
            NotFound: If ``after`` is no receipt in view.
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
        """Delete the query of each receipt of the owner for which ``says`` is true; return how many."""
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
        """Add what was spent, and lists such as ``learned`` and ``closed``, later; False if the receipt is gone.

        Adding the same again adds nothing, save for what was spent.
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
        """Delete the receipts of one conversation; return how many."""
        gone = receipts.delete().where(receipts.c.owner == scope.user, receipts.c.session == session)
        return await self._db.submit(lambda connection: connection.execute(gone).rowcount)

    async def prune(self, *, before: datetime) -> int:
        """Delete the receipts of all owners that are older than ``before``; return how many."""
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

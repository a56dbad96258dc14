"""Documents and images: metadata, progress of their ingestion, and its lease."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from datetime import datetime, timedelta
from typing import Any, Literal, TypeAlias

import sqlalchemy as sa
from pydantic import TypeAdapter, ValidationError

from proxy.clock import from_ms, is_storable, to_ms
from proxy.errors import no_place, unknown
from proxy.store.blobs import is_name
from proxy.store.partitions import listed, owned
from proxy.store.sql import Database
from proxy.store.tables import media
from proxy.text.thread_mark import unmarked
from proxy.types import Document, Image, Scope

MediaKind = Literal["document", "image"]
Shown: TypeAlias = Document | Image
_TIMES = ("created_at", "taken_at")
_TUPLES = ("used_in", "names", "notes", "objects", "colours", "place")
_TYPES: dict[str, type[Document] | type[Image]] = {"document": Document, "image": Image}
_CHECKED: dict[str, TypeAdapter[Shown]] = {kind: TypeAdapter(of) for kind, of in _TYPES.items()}
_FIELDS = {kind: frozenset(field.name for field in fields(of)) for kind, of in _TYPES.items()}


@dataclass(frozen=True, slots=True)
class Reading:
    """A document or image leased to one reader for ingestion.

    Args:
        scope: User and agent that uploaded it.
        item: Its current metadata.
        holder: Name of the reader.
        attempts: Number of started attempts, including this one.
    """

    scope: Scope
    item: Shown
    holder: str
    attempts: int


class Media:
    """Store of every user's documents and images."""

    def __init__(self, db: Database) -> None:
        self._db = db

    async def add(self, scope: Scope, item: Shown) -> tuple[Shown, bool]:
        """Insert an item unless this agent has one of the same bytes; return the stored item and whether it is new."""
        row = {
            "owner": scope.user,
            "id": item.id,
            "tenant": scope.tenant,
            "agent": item.agent,
            "kind": kind_of(item),
            "sha256": item.sha256,
            "status": item.status,
            "created_ms": to_ms(item.created_at),
            "due_ms": to_ms(item.created_at),
            "holder": "",
            "until_ms": 0,
            "attempts": 0,
            "body": _encoded(item),
        }
        insert = self._db.insert(media).on_conflict_do_nothing(index_elements=["owner", "agent", "sha256"])

        def put(connection: sa.Connection) -> tuple[Shown, bool]:
            is_new = bool(connection.execute(insert, row).rowcount)
            where = (media.c.owner == scope.user, media.c.agent == item.agent, media.c.sha256 == item.sha256)
            return _decoded(connection.execute(sa.select(media.c.kind, media.c.body).where(*where)).one()), is_new

        return await self._db.submit(put)

    async def get(self, scope: Scope, media_id: str, kind: MediaKind | None = None) -> Shown:
        """Return one document or image.

        Raises:
            NotFound: If no visible item has this id and kind.
        """
        where = [*_owned(scope), media.c.id == media_id, *([media.c.kind == kind] if kind else [])]
        query = sa.select(media.c.kind, media.c.body).where(*where)
        row = await self._db.query(lambda connection: connection.execute(query).first())
        if row is None:
            raise unknown(kind or "file", media_id)
        return _decoded(row)

    async def named(self, scope: Scope, sha256: str) -> Shown | None:
        """Return the visible item with these bytes, None if there is none."""
        query = sa.select(media.c.kind, media.c.body).where(*_seen(scope), media.c.sha256 == sha256)
        row = await self._db.query(lambda connection: connection.execute(query).first())
        return None if row is None else _decoded(row)

    async def page(
        self,
        scope: Scope,
        kind: MediaKind,
        *,
        after: str = "",
        limit: int | None = 50,
        without: Collection[str] = (),
        project: str = "",
    ) -> tuple[list[Shown], bool]:
        """Return a page of visible items of one kind, newest first, excluding ``without``, and whether there are more.

        ``project`` is the id of a project, for its own items; ``*`` means all projects.

        Raises:
            NotFound: If there is no item ``after``.
        """
        query = sa.select(media.c.kind, media.c.body).where(media.c.owner == scope.user, media.c.kind == kind)
        query = query.where(listed(scope, media.c.agent, project))
        query = query.order_by(media.c.created_ms.desc(), media.c.id.desc())
        rows = await self._db.query(lambda connection: connection.execute(query).all())
        items = [item for row in rows if (item := _decoded(row)).id not in without]
        if after:
            place = next((at for at, item in enumerate(items) if item.id == after), None)
            if place is None:
                raise no_place(kind, after)
            items = items[place + 1 :]
        return items[:limit], limit is not None and len(items) > limit

    async def change(self, scope: Scope, media_id: str, edit: Callable[[Shown], Shown]) -> Shown | None:
        """Update an item with ``edit`` and return it; None if it is deleted."""

        def update(connection: sa.Connection) -> Shown | None:
            where = (media.c.owner == scope.user, media.c.id == media_id)
            row = connection.execute(sa.select(media.c.kind, media.c.body).where(*where)).first()
            if row is None:
                return None
            item = edit(_decoded(row))
            values = {"body": _encoded(item), "status": item.status}
            connection.execute(media.update().where(*where).values(**values))
            return item

        return await self._db.submit(update)

    async def rename(
        self, scope: Scope, media_id: str, edit: Callable[[tuple[str, ...]], tuple[str, ...]], *, now: datetime
    ) -> Shown | None:
        """Change the file names of an item, and queue it so that its chunks get them; None if it is deleted."""

        def update(connection: sa.Connection) -> Shown | None:
            where = (media.c.owner == scope.user, media.c.id == media_id)
            row = connection.execute(sa.select(media.c.kind, media.c.body).where(*where)).first()
            if row is None:
                return None
            item = _decoded(row)
            names = edit((item.name, *item.names))
            if names == (item.name, *item.names):
                return item
            renamed = replace(item, name=names[0], names=names[1:])
            values: dict[str, Any] = {"body": _encoded(renamed)}
            if item.status == "ready":  # a reader that is at it names them when it is done
                waiting = replace(renamed, status="processing")
                values = {"body": _encoded(waiting), "status": waiting.status, **_due(now)}
            connection.execute(media.update().where(*where).values(**values))
            return renamed

        return await self._db.submit(update)

    async def is_last(self, scope: Scope, media_id: str, sha256: str) -> bool:
        """Return whether no other item of the user has the same bytes."""
        others = (media.c.owner == scope.user, media.c.sha256 == sha256, media.c.id != media_id)
        query = sa.select(media.c.id).where(*others).limit(1)
        return await self._db.query(lambda connection: connection.execute(query).first()) is None

    async def remove(self, scope: Scope, media_id: str) -> None:
        """Delete an item's row, if it exists."""
        gone = media.delete().where(media.c.owner == scope.user, media.c.id == media_id)
        await self._db.submit(lambda connection: connection.execute(gone).close())

    async def claim(
        self,
        holder: str,
        *,
        now: datetime,
        lease_s: float,
        only: MediaKind | None = None,
        is_for_others: bool = False,
    ) -> Reading | None:
        """Lease the due item that has waited longest; return None if there is none.

        Args:
            holder: Name of the reader.
            now: Time by which items must be due.
            lease_s: Lifetime of the lease without ``renew``.
            only: Kind of item; None for both.
            is_for_others: Whether to skip users with an item that is being read.
        """
        due = [media.c.status == "processing", media.c.due_ms <= to_ms(now), media.c.until_ms <= to_ms(now)]
        if only:
            due.append(media.c.kind == only)
        if is_for_others:
            served = sa.select(media.c.owner).where(media.c.status == "processing", media.c.until_ms > to_ms(now))
            due.append(media.c.owner.not_in(served.correlate(None)))
        first = sa.select(media.c.owner, media.c.id).where(*due).order_by(media.c.due_ms).limit(1)
        found = await self._db.query(lambda connection: connection.execute(first).first())
        if found is None:
            return None
        return await self._take(found[0], found[1], holder, now=now, lease_s=lease_s)

    async def renew(self, scope: Scope, media_id: str, holder: str, *, until: datetime) -> bool:
        """Extend the lease of an item; return False if the holder lost it or the item is deleted."""
        held = (media.c.owner == scope.user, media.c.id == media_id, media.c.holder == holder)
        update = media.update().where(*held).values(until_ms=to_ms(until))
        return await self._db.submit(lambda connection: connection.execute(update).rowcount) == 1

    async def put_off(self, scope: Scope, media_id: str, holder: str, *, due: datetime, is_counted: bool) -> None:
        """Release an item until its next attempt."""
        held = (media.c.owner == scope.user, media.c.id == media_id, media.c.holder == holder)
        attempts = media.c.attempts - (0 if is_counted else 1)
        values = {"holder": "", "until_ms": 0, "due_ms": to_ms(due), "attempts": attempts}
        update = media.update().where(*held).values(**values)
        await self._db.submit(lambda connection: connection.execute(update).rowcount)

    async def waiting(self, scope: Scope) -> list[Shown]:
        """Return the visible items that are not ingested yet."""
        query = sa.select(media.c.kind, media.c.body).where(*_owned(scope), media.c.status == "processing")
        rows = await self._db.query(lambda connection: connection.execute(query).all())
        return [_decoded(row) for row in rows]

    async def of_session(self, scope: Scope, session: str) -> list[Shown]:
        """Return the visible items that a session's requests contained."""
        query = sa.select(media.c.kind, media.c.body).where(*_owned(scope))
        rows = await self._db.query(lambda connection: connection.execute(query).all())
        return [item for row in rows if (item := _decoded(row)).session == session]

    async def read(self, scope: Scope) -> list[Shown]:
        """Return the user's ingested items, of all agents."""
        query = sa.select(media.c.kind, media.c.body).where(media.c.owner == scope.user, media.c.status == "ready")
        rows = await self._db.query(lambda connection: connection.execute(query).all())
        return [_decoded(row) for row in rows]

    async def read_again(self, scope: Scope, media_id: str, *, now: datetime) -> None:
        """Queue an item for ingestion again, because its chunks are lost."""

        def edit(connection: sa.Connection) -> None:
            where = (media.c.owner == scope.user, media.c.id == media_id)
            row = connection.execute(sa.select(media.c.kind, media.c.body).where(*where)).first()
            if row is not None:
                item = replace(_decoded(row), status="processing", fraction=0.0)
                again = media.update().where(*where).values(body=_encoded(item), status=item.status, **_due(now))
                connection.execute(again)

        await self._db.submit(edit)

    async def blobs(self) -> dict[str, set[str]]:
        """Return the names of the blobs in use, by user."""
        rows = await self._db.query(
            lambda connection: connection.execute(sa.select(media.c.owner, media.c.sha256)).all()
        )
        found: dict[str, set[str]] = {}
        for name, sha256 in rows:
            found.setdefault(name, set()).add(sha256)
        return found

    async def _take(self, name: str, media_id: str, holder: str, *, now: datetime, lease_s: float) -> Reading | None:
        where = (
            media.c.owner == name,
            media.c.id == media_id,
            media.c.status == "processing",
            media.c.until_ms <= to_ms(now),
        )
        until = to_ms(now + timedelta(seconds=lease_s))
        values = {"holder": holder, "until_ms": until, "attempts": media.c.attempts + 1}
        update = media.update().where(*where).values(**values).returning(*_CLAIMED)
        row = await self._db.submit(lambda connection: connection.execute(update).first())
        if row is None:
            return None
        scope = Scope(row.tenant, row.owner, row.agent)
        return Reading(scope, _decoded((row.kind, row.body)), holder, row.attempts)


_CLAIMED = (media.c.tenant, media.c.owner, media.c.agent, media.c.kind, media.c.attempts, media.c.body)


def _due(now: datetime) -> dict[str, Any]:
    """Return columns of what any reader may take at once."""
    return {"holder": "", "until_ms": 0, "due_ms": to_ms(now), "attempts": 0}


def kind_of(item: Shown) -> MediaKind:
    """Return the kind of an item."""
    return "document" if isinstance(item, Document) else "image"


def checked(kind: str, body: object) -> dict[str, Any]:
    """Return the columns of an imported row, with every field checked against the type.

    Raises:
        ValueError: If it describes neither a document nor an image.
    """
    if kind not in _TYPES:
        raise ValueError(f"{kind!r} is no kind of file")
    if not isinstance(body, Mapping):
        raise ValueError("its 'body' is no object")  # noqa: TRY004 - data of a file, not of a caller
    try:
        if not all(is_storable(body[name]) for name in _TIMES if body.get(name) is not None):
            raise ValueError("a time in it is before the year 1 or after 9999")
        item = _decoded((kind, body))
        item = _CHECKED[kind].validate_python({name: getattr(item, name) for name in _FIELDS[kind]})
    except ValidationError as error:
        wrong = error.errors(include_url=False)[0]
        raise ValueError(f"its {wrong['loc'][0]!r} does not fit ({wrong['msg']})") from error
    except (TypeError, OverflowError) as error:
        raise ValueError(str(error)) from error
    if not is_name(item.sha256):
        raise ValueError("it names no content")
    return {"id": item.id, "kind": kind, "sha256": item.sha256, "status": item.status, "body": _encoded(item)}


def _seen(scope: Scope) -> tuple[sa.ColumnElement[bool], ...]:
    return media.c.owner == scope.user, media.c.agent.in_(scope.partitions)


def _owned(scope: Scope) -> tuple[sa.ColumnElement[bool], ...]:
    return media.c.owner == scope.user, owned(scope, media.c.agent)


def _encoded(item: Shown) -> dict[str, Any]:
    body = {name: getattr(item, name) for name in _FIELDS[kind_of(item)]}
    for name in _TIMES:
        if body.get(name) is not None:
            body[name] = to_ms(body[name])
    return body


def _decoded(row: Sequence[Any]) -> Shown:
    kind, body = row[0], dict(row[1])
    known = {name: value for name, value in body.items() if name in _FIELDS[kind]}
    for name in _TIMES:
        if known.get(name) is not None:
            known[name] = from_ms(known[name])
    for name in _TUPLES:
        if known.get(name) is not None:
            known[name] = tuple(known[name])
    if known.get("content_type"):  # earlier versions stored marks in these texts
        known |= {name: unmarked(known[name]) for name in ("summary", "outline") if isinstance(known.get(name), str)}
    return _TYPES[kind](**known)

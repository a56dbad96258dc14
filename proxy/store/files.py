"""Uploads under the ids that clients know them by; the bytes and what they say are a document's or an image's."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

import sqlalchemy as sa

from proxy.clock import from_ms, to_ms
from proxy.errors import NotFound
from proxy.store.partitions import owned
from proxy.store.sql import Database
from proxy.store.tables import files
from proxy.types import Scope


@dataclass(frozen=True, slots=True)
class Upload:
    """One upload.

    Args:
        id: ``file-thr…``, or the provider's id where it has the file as well.
        media: Id of the document or image that it is.
        name: Of the file.
        purpose: As the client said.
        size_bytes: Of its content.
        created_at: When it came.
        is_forwarded: Whether the provider has it too, under the same id.
        agent: That sent it.
    """

    id: str
    media: str
    name: str
    purpose: str
    size_bytes: int
    created_at: datetime
    is_forwarded: bool = False
    agent: str = ""


class Files:
    """The uploads of every owner."""

    def __init__(self, db: Database) -> None:
        self._db = db

    async def add(self, scope: Scope, upload: Upload) -> None:
        """Keep an upload."""
        row = {
            "owner": scope.user,
            "id": upload.id,
            "agent": upload.agent,
            "media": upload.media,
            "name": upload.name,
            "purpose": upload.purpose,
            "size_bytes": upload.size_bytes,
            "created_ms": to_ms(upload.created_at),
            "is_forwarded": upload.is_forwarded,
        }
        await self._db.submit(lambda connection: connection.execute(files.insert(), row).rowcount)

    async def get(self, scope: Scope, file_id: str) -> Upload:
        """Return an upload.

        Raises:
            NotFound: If there is none of this id in view.
        """
        query = _ROWS.where(*_seen(scope), files.c.id == file_id)
        row = await self._db.query(lambda connection: connection.execute(query).first())
        if row is None:
            raise NotFound(f"No such File object: {file_id[:80]}", param="id")
        return _upload(row)

    async def all(self, scope: Scope) -> list[Upload]:
        """Return the uploads in view, newest first."""
        query = _ROWS.where(*_seen(scope)).order_by(files.c.created_ms.desc(), files.c.id.desc())
        rows = await self._db.query(lambda connection: connection.execute(query).all())
        return [_upload(row) for row in rows]

    async def remove(self, scope: Scope, file_id: str) -> bool:
        """Delete an upload; whether no other one is of the same document or image."""

        def delete(connection: sa.Connection) -> bool:
            where = (files.c.owner == scope.user, files.c.id == file_id)
            media = connection.execute(sa.select(files.c.media).where(*where)).scalar()
            connection.execute(files.delete().where(*where))
            same = sa.select(files.c.id).where(files.c.owner == scope.user, files.c.media == media)
            return connection.execute(same).first() is None

        return await self._db.submit(delete)

    async def remove_media(self, scope: Scope, media_id: str) -> None:
        """Delete every upload of a document or image."""
        gone = files.delete().where(files.c.owner == scope.user, files.c.media == media_id)
        await self._db.submit(lambda connection: connection.execute(gone).rowcount)


_ROWS = sa.select(files)


def _seen(scope: Scope) -> tuple[sa.ColumnElement[bool], ...]:
    return files.c.owner == scope.user, owned(scope, files.c.agent)


def _upload(row: sa.Row[tuple[object, ...]]) -> Upload:
    return Upload(
        id=row.id,
        media=row.media,
        name=row.name,
        purpose=row.purpose,
        size_bytes=row.size_bytes,
        created_at=from_ms(row.created_ms),
        is_forwarded=bool(row.is_forwarded),
        agent=row.agent,
    )

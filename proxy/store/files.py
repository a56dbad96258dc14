"""Uploads by the id that the client uses; their bytes and text belong to a document or image in ``media``."""

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
    """An uploaded file.

    Args:
        id: ``file-thr…``, or the provider's id if the provider has the file as well.
        media: Id of its document or image.
        name: File name.
        purpose: Purpose stated by the client.
        size_bytes: Size of its content.
        created_at: Time of the upload.
        is_forwarded: True if the provider has it too, under the same id.
        agent: Agent that sent it.
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
    """Store of every user's uploads."""

    def __init__(self, db: Database) -> None:
        self._db = db

    async def add(self, scope: Scope, upload: Upload) -> None:
        """Insert an upload."""
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
            NotFound: If no visible upload has this id.
        """
        query = _ROWS.where(*_seen(scope), files.c.id == file_id)
        row = await self._db.query(lambda connection: connection.execute(query).first())
        if row is None:
            raise NotFound(f"No such File object: {file_id[:80]}", param="id")
        return _upload(row)

    async def all(self, scope: Scope) -> list[Upload]:
        """Return the visible uploads, newest first."""
        query = _ROWS.where(*_seen(scope)).order_by(files.c.created_ms.desc(), files.c.id.desc())
        rows = await self._db.query(lambda connection: connection.execute(query).all())
        return [_upload(row) for row in rows]

    async def remove(self, scope: Scope, file_id: str) -> bool:
        """Delete an upload; return whether it was the last one of its document or image."""

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

"""Store uploads and attachments: bytes by content hash, a row for ingest progress; the worker parses them."""

from __future__ import annotations

import asyncio
import secrets
import weakref
from collections import OrderedDict
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import partial
from typing import Any, Literal

from proxy.errors import NotFound
from proxy.media.base import MediaRefused, Sniffed
from proxy.media.sniff import sniff
from proxy.process.threads import in_thread
from proxy.settings.sections import MediaSettings
from proxy.store.blobs import Blobs
from proxy.store.files import Files, Upload
from proxy.store.media import Media, Shown
from proxy.text.secrets import redact_name
from proxy.types import Document, Image, Scope

FILE_ID = "file-thr"  # prefix of ids of uploads that only Throughline has
_MAX_NAME = 200
_MAX_NAMES = 19  # besides the first
_MAX_USES = 200
_MAX_SEEN, _SAMPLE = 5000, 48
_HEAD_BYTES = 2 * 2**20
_ENDINGS = {"application/pdf": ".pdf", "image/png": ".png", "image/jpeg": ".jpg", "image/webp": ".webp"}


@dataclass(frozen=True, slots=True)
class Parcel:
    """One upload or attachment.

    Args:
        data: The bytes.
        name: File name, "" if it has none.
        declared: Media type that the client declares.
        source: Origin.
        now: Time of arrival.
        content_type, priority, metadata: As in ``Document``.
    """

    data: bytes
    name: str
    declared: str
    source: Literal["upload", "chat", "tool"]
    now: datetime
    content_type: str = ""
    priority: int = 0
    metadata: Mapping[str, Any] = field(default_factory=dict)


class Library:
    """Documents and images of all users."""

    def __init__(self, media: Media, files: Files, blobs: Blobs, settings: MediaSettings) -> None:
        self.media, self.files, self.blobs = media, files, blobs
        self._settings = settings
        self._seen: OrderedDict[tuple[str, ...], str] = OrderedDict()
        self._locks: weakref.WeakValueDictionary[str, asyncio.Lock] = weakref.WeakValueDictionary()

    async def take_in(self, scope: Scope, parcel: Parcel) -> tuple[Shown, bool]:
        """Store an item for ingest; return it and whether it is new: equal bytes are stored and parsed once.

        Raises:
            MediaRefused: If its type is unsupported, or it is too large.
        """
        size, most = len(parcel.data), self._settings.max_file_bytes
        if size > most:
            raise MediaRefused(f"The file has {size} bytes; the limit is {most} (media.max_file_bytes).", "too_large")
        sniffed = await in_thread("cpu", sniff, _head(parcel.data), parcel.name, parcel.declared)
        async with self.lock(scope):
            sha256 = await self.blobs.put(scope, parcel.data)
            known = await self.media.named(scope, sha256)
            is_new = known is None
            if known is None:
                known, is_new = await self.media.add(scope, _item(scope, parcel, sniffed, sha256))
        if not is_new:
            known = await self._called(scope, known, named(parcel.name), parcel.now)
        return await self.used(scope, known), is_new

    async def upload(
        self, scope: Scope, item: Shown, *, name: str, purpose: str, size_bytes: int, now: datetime, id_: str = ""
    ) -> Upload:
        """Give an item an id of ``/v1/files``: the provider's if it has the file too, else a Throughline id."""
        upload = Upload(
            id_ or f"{FILE_ID}{secrets.token_hex(12)}",
            item.id,
            named(name) or item.name,
            purpose,
            size_bytes,
            now,
            is_forwarded=bool(id_),
            agent=scope.agent,
        )
        await self.files.add(scope, upload)
        return upload

    async def remove_upload(self, scope: Scope, upload: Upload, now: datetime) -> bool:
        """Delete an upload, and its name if no other upload has it; return whether it was the last of its bytes."""
        if await self.files.remove(scope, upload.id):
            return True
        with suppress(NotFound):
            item = await self.media.get(scope, upload.media)
            left = {one.name for one in await self.files.all(scope) if one.media == upload.media}
            if upload.name not in left and upload.agent == item.agent:
                await self.media.rename(scope, item.id, partial(_without, upload.name), now=now)
        return False

    async def _called(self, scope: Scope, item: Shown, name: str, now: datetime) -> Shown:
        """Add a file name to an item; a project's name is not added to an item that others see as well."""
        if not name or name in (item.name, *item.names) or len(item.names) >= _MAX_NAMES or item.agent != scope.agent:
            return item
        return await self.media.rename(scope, item.id, lambda names: (*names, name), now=now) or item

    async def used(self, scope: Scope, item: Shown) -> Shown:
        """Record the session in which an item was used."""
        session = scope.session
        if not session or session in item.used_in:
            return item

        def edit(one: Shown) -> Shown:
            return replace(one, used_in=(*(name for name in one.used_in if name != session), session)[-_MAX_USES:])

        return await self.media.change(scope, item.id, edit) or item

    def recognised(self, scope: Scope, data: str) -> str:
        """Return the id of an item sent before in exactly this form, "" if unknown; needs no I/O."""
        return self._seen.get(_print_of(scope, data), "") if data else ""

    def recognise(self, scope: Scope, data: str, item: Shown) -> None:
        """Record the form in which an item was sent, so that it is recognised when the client resends its history."""
        if data:
            self._seen[_print_of(scope, data)] = item.id
            if len(self._seen) > _MAX_SEEN:
                self._seen.popitem(last=False)

    def lock(self, scope: Scope) -> asyncio.Lock:
        """Return the lock to hold while bytes and rows of a user disagree."""
        return self._locks.setdefault(scope.user, asyncio.Lock())


def named(name: str) -> str:
    """Return a file's name without folders, unprintable characters and secrets."""
    last = name.replace("\\", "/").rpartition("/")[2]
    printed = "".join(char if char.isprintable() else " " for char in last)
    named = " ".join(printed.split())[:_MAX_NAME]
    stem, dot, ending = named.rpartition(".")  # "hunter22.txt" looks like a file, "hunter22" like a password
    return redact_name(f"{redact_name(stem)}{dot}{ending}")


def _without(name: str, names: tuple[str, ...]) -> tuple[str, ...]:
    """Return names without one, unless it is the only one."""
    return tuple(one for one in names if one != name) or names


def as_said(known: Shown, now: Shown) -> Shown:
    """Return the result of reading a file, with the changes that requests made to its row meanwhile."""
    about: dict[str, Any] = {"used_in": now.used_in, "name": now.name, "names": now.names}
    if isinstance(known, Document) and isinstance(now, Document):
        about |= {"content_type": now.content_type, "priority": now.priority, "metadata": now.metadata}
    return replace(known, **about)


def _print_of(scope: Scope, data: str) -> tuple[str, ...]:
    """Return a fingerprint of a long Base64 text from samples, without reading all of it."""
    places = (0, len(data) // 3, len(data) * 2 // 3, max(0, len(data) - _SAMPLE))
    return scope.user, scope.agent, str(len(data)), *(data[at : at + _SAMPLE] for at in places)


def _item(scope: Scope, parcel: Parcel, sniffed: Sniffed, sha256: str) -> Shown:
    fields: dict[str, Any] = {
        "name": named(parcel.name) or _nameless(parcel, sniffed),
        "media_type": sniffed.media_type,
        "size_bytes": len(parcel.data),
        "sha256": sha256,
        "created_at": parcel.now,
        "agent": scope.agent,
        "session": scope.session,
        "source": parcel.source,
    }
    if sniffed.kind == "image":
        return Image(f"img_{secrets.token_hex(12)}", **fields)
    fields |= {"content_type": parcel.content_type, "priority": parcel.priority, "metadata": dict(parcel.metadata)}
    return Document(f"doc_{secrets.token_hex(12)}", **fields)


def _nameless(parcel: Parcel, sniffed: Sniffed) -> str:
    """Return a name for an unnamed file."""
    whose = " from a tool" if parcel.source == "tool" else ""
    return f"{sniffed.kind}{whose} of {parcel.now.date().isoformat()}{_ENDINGS.get(sniffed.media_type, '')}"


def _head(data: bytes) -> bytes:
    """Return bytes for type detection: the start, of long data also the end, where archives have their directory."""
    return data if len(data) <= _HEAD_BYTES else data[: _HEAD_BYTES // 2] + data[-_HEAD_BYTES // 2 :]

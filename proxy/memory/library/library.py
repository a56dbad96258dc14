"""Takes in what users show: the bytes by content, a row that says how far they are read; reading is the worker's."""

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

FILE_ID = "file-thr"  # how ids of uploads that only we have begin
_MAX_NAME = 200
_MAX_NAMES = 19  # besides the first
_MAX_USES = 200
_MAX_SEEN, _SAMPLE = 5000, 48
_HEAD_BYTES = 2 * 2**20
_ENDINGS = {"application/pdf": ".pdf", "image/png": ".png", "image/jpeg": ".jpg", "image/webp": ".webp"}


@dataclass(frozen=True, slots=True)
class Parcel:
    """Something shown.

    Args:
        data: The bytes.
        name: Of the file, "" where it has none.
        declared: Media type that the client says it is.
        source: How it came.
        now: When.
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
    """Documents and images of every owner."""

    def __init__(self, media: Media, files: Files, blobs: Blobs, settings: MediaSettings) -> None:
        self.media, self.files, self.blobs = media, files, blobs
        self._settings = settings
        self._seen: OrderedDict[tuple[str, ...], str] = OrderedDict()
        self._locks: weakref.WeakValueDictionary[str, asyncio.Lock] = weakref.WeakValueDictionary()

    async def take_in(self, scope: Scope, parcel: Parcel) -> tuple[Shown, bool]:
        """Keep something, to be read soon; return it and whether it is new: the same bytes are kept and read once.

        Raises:
            MediaRefused: If it is of no kind that is read, or too large.
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
        """Give something an id of ``/v1/files``: the provider's where it has the file as well, else one of ours."""
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
        """Delete an upload and the name that only it had; return whether no other one is of the same bytes."""
        if await self.files.remove(scope, upload.id):
            return True
        with suppress(NotFound):
            item = await self.media.get(scope, upload.media)
            left = {one.name for one in await self.files.all(scope) if one.media == upload.media}
            if upload.name not in left and upload.agent == item.agent:
                await self.media.rename(scope, item.id, partial(_without, upload.name), now=now)
        return False

    async def _called(self, scope: Scope, item: Shown, name: str, now: datetime) -> Shown:
        """Note a name under which the same bytes came again; not that of a project for what others see as well."""
        if not name or name in (item.name, *item.names) or len(item.names) >= _MAX_NAMES or item.agent != scope.agent:
            return item
        return await self.media.rename(scope, item.id, lambda names: (*names, name), now=now) or item

    async def used(self, scope: Scope, item: Shown) -> Shown:
        """Note the conversation in which something was shown."""
        session = scope.session
        if not session or session in item.used_in:
            return item

        def edit(one: Shown) -> Shown:
            return replace(one, used_in=(*(name for name in one.used_in if name != session), session)[-_MAX_USES:])

        return await self.media.change(scope, item.id, edit) or item

    def recognised(self, scope: Scope, data: str) -> str:
        """Return the id of what was shown here before in this very form, "" where it is not known; costs nothing."""
        return self._seen.get(_print_of(scope, data), "") if data else ""

    def recognise(self, scope: Scope, data: str, item: Shown) -> None:
        """Note the form in which something was shown, so that it is known when the client sends its history again."""
        if data:
            self._seen[_print_of(scope, data)] = item.id
            if len(self._seen) > _MAX_SEEN:
                self._seen.popitem(last=False)

    def lock(self, scope: Scope) -> asyncio.Lock:
        """Return what is held while bytes and rows of an owner do not fit each other."""
        return self._locks.setdefault(scope.user, asyncio.Lock())


def named(name: str) -> str:
    """Return a file's name without folders, without what is not printed, and without secrets."""
    last = name.replace("\\", "/").rpartition("/")[2]
    printed = "".join(char if char.isprintable() else " " for char in last)
    named = " ".join(printed.split())[:_MAX_NAME]
    stem, dot, ending = named.rpartition(".")  # "hunter22.txt" looks like a file, "hunter22" like a password
    return redact_name(f"{redact_name(stem)}{dot}{ending}")


def _without(name: str, names: tuple[str, ...]) -> tuple[str, ...]:
    """Return names without one, unless it is the only one."""
    return tuple(one for one in names if one != name) or names


def as_said(known: Shown, now: Shown) -> Shown:
    """Return what is known by reading, with what others said of it meanwhile."""
    about: dict[str, Any] = {"used_in": now.used_in, "name": now.name, "names": now.names}
    if isinstance(known, Document) and isinstance(now, Document):
        about |= {"content_type": now.content_type, "priority": now.priority, "metadata": now.metadata}
    return replace(known, **about)


def _print_of(scope: Scope, data: str) -> tuple[str, ...]:
    """Return what tells one long Base64 text from others, without looking at all of it."""
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
    """Return a name for what has none."""
    whose = " from a tool" if parcel.source == "tool" else ""
    return f"{sniffed.kind}{whose} of {parcel.now.date().isoformat()}{_ENDINGS.get(sniffed.media_type, '')}"


def _head(data: bytes) -> bytes:
    """Return the start of some bytes, and of long ones the end, where archives have their directory."""
    return data if len(data) <= _HEAD_BYTES else data[: _HEAD_BYTES // 2] + data[-_HEAD_BYTES // 2 :]

"""Uploads as forms: read whole and kept in memory, never spooled to a disk of somebody else's."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Iterable
from dataclasses import dataclass, replace
from datetime import datetime

from starlette.datastructures import FormData, Headers, UploadFile
from starlette.formparsers import MultiPartException, MultiPartParser

from proxy.access.auth import session_name
from proxy.errors import InvalidRequest
from proxy.memory.conversations.chain import named_session
from proxy.memory.library.library import Parcel
from proxy.pipeline.identify import named_time, requested_mode
from proxy.services import Services
from proxy.store.media import Shown
from proxy.types import Scope
from proxy.upstream.headers import by_name, find

_MAX_FIELD = 2**20
_MAX_PARTS = 20


@dataclass(frozen=True, slots=True)
class Form:
    """Parsed form: the file and its fields."""

    data: bytes
    name: str
    declared: str
    purpose: str


def is_form(headers: Iterable[tuple[str, str]]) -> bool:
    """Whether a body is one of several parts."""
    return (find(headers, "content-type") or "").lower().startswith("multipart/form-data")


async def read_form(body: bytes, headers: Iterable[tuple[str, str]]) -> Form:
    """Return the upload in a ``multipart/form-data`` body.

    Raises:
        InvalidRequest: If it is none, or has no ``file``.
    """
    headers = list(headers)
    if not is_form(headers):
        raise InvalidRequest("Send the file as multipart/form-data, in a part named `file`.", param="file")
    form = await _parsed(body, headers)
    try:
        file, purpose = form.get("file"), form.get("purpose")
        data = await file.read() if isinstance(file, UploadFile) else b""
    finally:
        await form.close()
    if not isinstance(file, UploadFile):
        raise InvalidRequest("There is no part named `file` in the form.", param="file")
    return Form(data, file.filename or "", file.content_type or "", purpose if isinstance(purpose, str) else "")


async def fields_of(body: bytes, headers: Iterable[tuple[str, str]]) -> list[tuple[str, str]]:
    """Return the fields of a ``multipart/form-data`` body that are no files.

    Raises:
        InvalidRequest: If it is none.
    """
    form = await _parsed(body, headers)
    try:
        return [(name, value) for name, value in form.multi_items() if isinstance(value, str)]
    finally:
        await form.close()


async def _parsed(body: bytes, headers: Iterable[tuple[str, str]]) -> FormData:
    raw = Headers(raw=[(name.lower().encode("latin-1"), value.encode("latin-1")) for name, value in headers])
    parser = MultiPartParser(raw, _once(body), max_files=_MAX_PARTS, max_fields=_MAX_PARTS, max_part_size=_MAX_FIELD)
    parser.spool_max_size = len(body) + 1
    try:
        return await parser.parse()
    except (MultiPartException, KeyError, ValueError) as error:
        raise InvalidRequest(f"The form cannot be read: {error}.", param="file") from error


def placed(scope: Scope, headers: Iterable[tuple[str, str]], services: Services) -> tuple[Scope, Services]:
    """Return the scope of an upload, its conversation where it names one, and the parts that keep it."""
    named = by_name(headers)
    name = session_name(named, {})
    services = services.of(requested_mode(named, services))
    scope = replace(scope, session=named_session(scope, name)) if name else scope
    if services.is_ephemeral:
        services.last_used[scope] = services.clock.monotonic()
    return scope, services


async def take_in(
    services: Services, scope: Scope, form: Form, headers: Iterable[tuple[str, str]], *, may_name: bool
) -> Shown:
    """Keep an upload, to be read soon.

    Raises:
        MediaRefused: If it is of no kind that is read.
    """
    now: datetime = named_time(by_name(headers), may_name=may_name) or services.clock.now()
    item, is_new = await services.library.take_in(scope, Parcel(form.data, form.name, form.declared, "upload", now))
    if is_new:
        services.arrived.set()
    return item


async def _once(body: bytes) -> AsyncGenerator[bytes, None]:
    yield body

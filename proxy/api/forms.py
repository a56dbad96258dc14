"""Multipart forms: an upload parsed in memory, never spooled to disk, and the model that a form names."""

from __future__ import annotations

import re
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
from proxy.upstream.headers import by_name, value_of

_BOUNDARY = re.compile(r';\s*boundary=(?:"((?:[^"\\]|\\.)+)"|([^\s;]+))', re.IGNORECASE)
_PART = re.compile(
    rb"(?<![ \t])[ \t]*+\r\n(?:[^\r\n]++\r\n)*?"
    rb'content-disposition:[^\r\n]*?;[ \t]*name=(?:"model"|model)[ \t]*(?:;[^\r\n]*)?\r\n'
    rb"(?:[^\r\n]+\r\n)*\r\n(?P<value>[^\r\n]*)(?=\r\n--)",
    re.IGNORECASE,
)

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
    """Return whether a body is ``multipart/form-data``."""
    return value_of(headers, "content-type").lower().startswith("multipart/form-data")


async def read_form(body: bytes, headers: Iterable[tuple[str, str]]) -> Form:
    """Return the upload in a ``multipart/form-data`` body.

    Raises:
        InvalidRequest: If the body is no form, or has no ``file``.
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
        raise InvalidRequest("There is no part named `file` in the form. Send the file as that part.", param="file")
    return Form(data, file.filename or "", file.content_type or "", purpose if isinstance(purpose, str) else "")


async def fields_of(body: bytes, headers: Iterable[tuple[str, str]]) -> list[tuple[str, str]]:
    """Return the fields of a ``multipart/form-data`` body that are no files.

    Raises:
        InvalidRequest: If the body is no form.
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
        said = str(error).rstrip(".")
        raise InvalidRequest(
            f"The form cannot be read: {said}. Send multipart/form-data with the boundary that `Content-Type` names.",
            param="file",
        ) from error


def placed(scope: Scope, headers: Iterable[tuple[str, str]], services: Services) -> tuple[Scope, Services]:
    """Return the scope of an upload, with its session if it names one, and the services that store it."""
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
    """Store an upload for ingest.

    Raises:
        MediaRefused: If its type is unsupported.
    """
    now: datetime = named_time(by_name(headers), may_name=may_name) or services.clock.now()
    item, _ = await services.library.take_in(scope, Parcel(form.data, form.name, form.declared, "upload", now))
    services.arrived.set()
    return item


async def _once(body: bytes) -> AsyncGenerator[bytes, None]:
    yield body


def model_named(body: bytes, content_type: str) -> str:
    """Return the model that a form names, "" if none.

    Raises:
        InvalidRequest: If it names several.
    """
    found = {match["value"] for match in _parts(body, content_type)}
    if len(found) > 1:
        raise InvalidRequest("The form names more than one model.", param="model")
    return found.pop().decode("utf-8", "replace") if found else ""


def with_model(body: bytes, content_type: str, name: str) -> bytes:
    """Return the form with another model name."""
    for match in reversed(_parts(body, content_type)):
        body = body[: match.start("value")] + name.encode() + body[match.end("value") :]
    return body


def _parts(body: bytes, content_type: str) -> list[re.Match[bytes]]:
    if not content_type.lower().lstrip().startswith("multipart/form-data"):
        return []
    match = _BOUNDARY.search(content_type)
    boundary = re.sub(r"\\(.)", r"\1", match[1]) if match and match[1] else match[2] if match else ""
    if not boundary:
        return []
    line = b"--" + boundary.encode("latin-1", "replace")
    found, at = [], body.find(line)
    while at >= 0:
        if (at == 0 or body[at - 2 : at] == b"\r\n") and (part := _PART.match(body, at + len(line))) is not None:
            found.append(part)
        at = body.find(line, at + len(line))
    return found

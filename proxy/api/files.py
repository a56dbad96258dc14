"""``/v1/files``: uploads stored as memory, at the provider, or both, by a setting and their purpose."""

from __future__ import annotations

from contextlib import suppress
from typing import Any
from urllib.parse import parse_qs, unquote

import orjson

from proxy.access.auth import Identity
from proxy.api.asgi import (
    REQUEST_ID,
    ClientGone,
    Message,
    Receive,
    Scope,
    Send,
    headers_of,
    limited,
    read_body,
    refuse,
    send_whole,
    wire_of,
)
from proxy.api.caller import note_project, scope_of_caller
from proxy.api.forms import Form, is_form, placed, read_form, take_in
from proxy.api.passage import note_refusal, passage_of
from proxy.api.passthrough import Passthrough
from proxy.api.shapes import file_shape, listing
from proxy.errors import MethodNotAllowed, NotFound, ProxyError, no_place
from proxy.memory.library.library import FILE_ID
from proxy.pipeline.admission import admit, identity_of
from proxy.pipeline.identify import requested_mode
from proxy.services import Services
from proxy.store.files import Upload
from proxy.types import Scope as Owner
from proxy.upstream.headers import by_name, client_key
from proxy.worker.destroy import destroy_file

_JSON = [("content-type", "application/json")]
_MAX_LISTED = 10_000
_READ_PURPOSES = frozenset({"user_data", "vision", "assistants"})  # a provider's own jobs, as `batch`, are not memory


class Files:
    """Endpoint of all paths below ``/v1/files``."""

    def __init__(self, services: Services, passthrough: Passthrough) -> None:
        self._services = services
        self._passthrough = passthrough

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        headers = headers_of(scope)
        try:
            identity = await identity_of(headers, self._services)
            if not self._keeps(identity, headers):
                await self._passthrough(scope, receive, send)
                return
            owner = await scope_of_caller(identity, headers, self._services)
            passage_of(scope).owner = owner
            await self._serve(_Call(scope, receive, send, headers, identity, owner))
        except ClientGone:
            return
        except ProxyError as error:
            note_refusal(scope, error)
            await refuse(send, error, wire_of(scope), scope.get(REQUEST_ID, ""))

    def _keeps(self, identity: Identity, headers: list[tuple[str, str]]) -> bool:
        settings = self._services.settings
        if settings.files.handling == "forward" or not identity.tenant:
            return False
        return requested_mode(by_name(headers), self._services) != "off"

    async def _serve(self, call: _Call) -> None:
        file_id, _, what = call.rest.partition("/")
        if not file_id:
            await (self._upload(call) if call.method == "POST" else self._list(call))
            return
        part, upload = await self._found(call.owner, file_id)
        if upload is None or (upload.is_forwarded and call.method == "GET"):
            if file_id.startswith(FILE_ID):
                raise NotFound(f"No such File object: {file_id[:80]}", param="id")
            await self._passthrough(call.scope, call.receive, call.send)
        elif call.method == "GET" and what in ("", "content"):
            await (self._content(call, part, upload) if what else self._get(call, part, upload))
        elif call.method == "DELETE" and not what:
            await self._delete(call, part, upload)
        else:
            asked = f"{call.method} /v1/files/{call.rest[:120]}"
            raise NotFound(f"There is no {asked} here. A file has GET and DELETE, its /content has GET.")

    async def _upload(self, call: _Call) -> None:
        """Store an upload whose purpose is memory's; forward all others, and bodies that are no form."""
        settings = self._services.settings.files
        admission = await admit(call.headers, self._services)
        try:
            body = await read_body(limited(call.scope, call.receive, admission.body_bytes, admission.limit_name))
        finally:
            admission.ticket.close()
        form = await read_form(body, call.headers) if is_form(call.headers) else None
        if form is None or form.purpose not in _READ_PURPOSES:
            await self._passthrough(call.scope, _again(body, call.receive), call.send)
        elif settings.handling == "both":
            await self._both(call, form, body)
        else:
            await call.answer(file_shape(*await self._kept(call, form)))

    async def _kept(self, call: _Call, form: Form, id_: str = "") -> tuple[Upload, Any]:
        owner, services = placed(call.owner, call.headers, self._services)
        item = await take_in(services, owner, form, call.headers, may_name=call.identity.may_name)
        await note_project(owner, services, call.headers)
        size, now = len(form.data), services.clock.now()
        upload = await services.library.upload(
            owner, item, name=form.name, purpose=form.purpose, size_bytes=size, now=now, id_=id_
        )
        return upload, item

    async def _both(self, call: _Call, form: Form, body: bytes) -> None:
        """Forward the upload, and store it under the provider's id; unreadable files stay at the provider only."""
        status, answer = 0, bytearray()

        async def seen(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            else:
                answer.extend(message.get("body", b""))
                if not message.get("more_body", False) and status < 300 and (id_ := _id_in(bytes(answer))):
                    with suppress(ProxyError):  # an unreadable or unstorable file stays at the provider only
                        await self._kept(call, form, id_)
            await call.send(message)

        await self._passthrough(call.scope, _again(body, call.receive), seen)

    async def _list(self, call: _Call) -> None:
        if call.method != "GET":
            allowed = {"allow": "HEAD, GET, POST"}
            raise MethodNotAllowed(f"{call.method} is not for /v1/files. Use GET or POST there.", headers=allowed)
        asked = parse_qs(call.scope["query_string"].decode("latin-1"))
        purpose, after = asked.get("purpose", [""])[0], asked.get("after", [""])[0]
        uploads = await self._services.files.all(call.owner)
        if self._lists_theirs(call, has_own=bool(uploads), purpose=purpose):
            await self._passthrough(call.scope, call.receive, call.send)
            return
        uploads = [one for one in uploads if purpose in ("", one.purpose)]
        if asked.get("order", ["desc"])[0] == "asc":
            uploads.reverse()
        if after:
            places = [at for at, one in enumerate(uploads) if one.id == after]
            if not places:
                raise no_place("file", after)
            uploads = uploads[places[0] + 1 :]
        limit = asked.get("limit", [str(_MAX_LISTED)])[0]
        most = min(max(int(limit), 1), _MAX_LISTED) if limit.isdecimal() else _MAX_LISTED
        page = [file_shape(one, await _item(self._services, call.owner, one)) for one in uploads[:most]]
        await call.answer(listing(page, has_more=len(uploads) > most))

    def _lists_theirs(self, call: _Call, *, has_own: bool, purpose: str) -> bool:
        """Return whether to forward the listing: if nothing is stored here, and the key may see the provider's list."""
        settings = self._services.settings
        if settings.files.handling == "both" or (purpose and purpose not in _READ_PURPOSES):
            return True
        if has_own or (settings.auth.mode == "keys" and not settings.auth.share_provider_account):
            return False
        return self._services.routes.default(client_key(call.headers)) is not None

    async def _get(self, call: _Call, part: Services, upload: Upload) -> None:
        await call.answer(file_shape(upload, await _item(part, call.owner, upload)))

    async def _content(self, call: _Call, part: Services, upload: Upload) -> None:
        item = await part.media.get(call.owner, upload.media)
        data = await part.blobs.get(call.owner, item.sha256)
        await send_whole(call.send, 200, [("content-type", "application/octet-stream"), *_INERT], data)

    async def _delete(self, call: _Call, part: Services, upload: Upload) -> None:
        if await part.library.remove_upload(call.owner, upload, part.clock.now()):
            item = await _item(part, call.owner, upload)
            if item is not None:
                await destroy_file(part, call.owner, item.id)
        if upload.is_forwarded:
            await self._passthrough(call.scope, call.receive, call.send)
        else:
            await call.answer({"id": upload.id, "object": "file", "deleted": True})

    async def _found(self, owner: Owner, file_id: str) -> tuple[Services, Upload | None]:
        for part in self._services.both():
            try:
                return part, await part.files.get(owner, file_id)
            except NotFound:
                continue
        return self._services, None


_INERT = [("x-content-type-options", "nosniff"), ("content-security-policy", "sandbox; default-src 'none'")]


class _Call:
    """One request to the endpoint."""

    def __init__(
        self,
        scope: Scope,
        receive: Receive,
        send: Send,
        headers: list[tuple[str, str]],
        identity: Identity,
        owner: Owner,
    ) -> None:
        self.scope, self.receive, self.send = scope, receive, send
        self.headers, self.identity, self.owner = headers, identity, owner
        self.method: str = scope["method"]
        self.rest = unquote(scope["path"].removeprefix("/v1/files").strip("/"))

    async def answer(self, body: dict[str, Any]) -> None:
        """Send a JSON object."""
        await send_whole(self.send, 200, _JSON, orjson.dumps(body))


async def _item(services: Services, owner: Owner, upload: Upload) -> Any:
    try:
        return await services.media.get(owner, upload.media)
    except NotFound:
        return None


def _again(body: bytes, receive: Receive) -> Receive:
    """Return a ``receive`` that replays a body already read, then continues with the original."""
    is_given = False

    async def given() -> Message:
        nonlocal is_given
        if is_given:
            return await receive()
        is_given = True
        return {"type": "http.request", "body": body, "more_body": False}

    return given


def _id_in(answer: bytes) -> str:
    try:
        found = orjson.loads(answer)
    except orjson.JSONDecodeError:
        return ""
    id_ = found.get("id") if isinstance(found, dict) else None
    return id_ if isinstance(id_, str) else ""

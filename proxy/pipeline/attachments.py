"""Step 2, attach: replace uploads by their content, and inputs that the model does not accept by text.

It has its own deadline. Fails open per attachment: one that cannot be replaced is forwarded unchanged, and the receipt
says so.
"""

from __future__ import annotations

import asyncio
import base64
from dataclasses import replace
from fnmatch import fnmatchcase
from typing import Any

from proxy.dialects.attachments import Attachment, Place
from proxy.errors import ContentDamaged, NotFound, ProxyError
from proxy.media.base import MediaRefused
from proxy.media.read import read_document, sniff_file
from proxy.memory.library import standin
from proxy.memory.library.library import FILE_ID, named
from proxy.memory.recall.query import Query, widen
from proxy.pipeline.exchange import Exchange
from proxy.pipeline.identify import scope_for
from proxy.pipeline.keeping import decoded, take
from proxy.pipeline.policy import beside_loop, best_effort
from proxy.pipeline.steps import Attached, Taker
from proxy.process.threads import in_thread
from proxy.services import Services
from proxy.store.blobs import digest
from proxy.store.media import Shown
from proxy.types import Document, Image, Scope
from proxy.upstream.base import Target
from proxy.upstream.model_map import ModelFacts

_POLL_S = 0.04
_CHARACTERS_A_TOKEN = 4
_DOCUMENT_TOKENS = 4000  # of the outline and chunks that replace a document larger than the window
_MIN_BYTES_A_TOKEN = 2  # of a packed or text file that may not fit the window
_FULL = 0.9  # of the window
_GONE = "there is no upload of this id; it was deleted, or is another user's. Upload it again"
_MAX_SHARE = 0.25  # of the window, for the text in place of one document


async def attach(exchange: Exchange, services: Services) -> None:
    """Fill in the request's attachments, and replace those that cannot be forwarded unchanged."""
    request = exchange.request
    if request is None or not exchange.identity.tenant:
        return
    with best_effort(exchange, "attachments"):
        found = exchange.dialect.wire.attachments(request.body)
        if not services.settings.media.tool_results:
            found = [one for one in found if not one.is_of_tool]
        if not found:
            return
        exchange.files.items = [Attached(one) for one in found]
        with exchange.timings.step("attachments"):
            await place(exchange, services, taker(exchange, services, exchange.target))
            exchange.files.standing = _standing(exchange, services)


def taker(exchange: Exchange, services: Services, target: Target | None) -> Taker:
    """Return the inputs that the model at a target accepts."""
    name, deployment = (target.serves, target.deployment) if target is not None else ("", "")
    name = name or exchange.model
    known: ModelFacts = services.routes.facts(name, deployment)
    patterns = services.settings.media.text_only_models
    is_blind = known.sees is False or any(fnmatchcase(name, pattern) for pattern in patterns)
    return Taker(not is_blind, known.reads is True and not is_blind, known.context_window)


async def place(exchange: Exchange, services: Services, model: Taker) -> None:
    """Rebuild the body from the client's own, with each attachment in a form that this model accepts."""
    exchange.files.made_for = model
    exchange.upstream_body = exchange.resolved_body = exchange.body
    for one in exchange.files.items:
        one.action, one.reason = "left", ""
    if parts := await _Desk(exchange, services, model, _scope(exchange, services)).parts():
        await _replace(exchange, parts)


def _scope(exchange: Exchange, services: Services) -> Scope:
    """Return the scope, also if memory is off: a Throughline upload's id is unknown to the provider."""
    if exchange.scope is not None:
        return exchange.scope
    body = exchange.request.body if exchange.request else {}
    return scope_for(exchange.identity, exchange.header_map, body, services)


def _standing(exchange: Exchange, services: Services) -> frozenset[str]:
    """Return the ids of files that the request holds in full, which need no recall."""
    scope = exchange.scope
    if scope is None:
        return frozenset()
    known = [
        one.item.id if one.item is not None else services.library.recognised(scope, one.attachment.data)
        for one in exchange.files.items
        if one.action != "outline"
    ]
    return frozenset(known)


async def _replace(exchange: Exchange, parts: dict[Place, dict[str, Any]]) -> None:
    wire, body = exchange.dialect.wire, exchange.body
    changed = await beside_loop(body, wire.replace, body, parts)
    if changed is body:
        exchange.degrade("attachments")
    exchange.upstream_body = exchange.resolved_body = changed


class _Desk:
    """Choice of the forwarded form of each attachment, for one request."""

    def __init__(self, exchange: Exchange, services: Services, model: Taker, scope: Scope) -> None:
        self._exchange, self._services = exchange, services
        self._model, self._scope = model, scope
        self._wire = exchange.dialect.wire
        self._settings = services.settings.media
        self._until = asyncio.get_running_loop().time() + self._settings.caption_deadline_ms / 1000
        self._may_stand_in = exchange.mode in ("full", "read", "write", "ephemeral") and exchange.scope is not None

    async def parts(self) -> dict[Place, dict[str, Any]]:
        """Return the replacement parts, by place."""
        parts: dict[Place, dict[str, Any]] = {}
        for one in self._exchange.files.items:
            with best_effort(self._exchange, "attachments"):
                if (part := await self._part(one)) is not None:
                    parts[one.attachment.place] = part
        return parts

    async def _part(self, one: Attached) -> dict[str, Any] | None:
        attachment = one.attachment
        if attachment.file_id:
            return await self._uploaded(one)
        if not self._may_stand_in or not self._is_to_replace(attachment):
            return None
        try:
            part, item = await self._taken(attachment)
        except MediaRefused as refused:
            one.action, one.reason = "refused", refused.reason
            return None
        if item is None:
            one.reason = "not_fetched" if attachment.url else "not_here"
            return None
        one.item, one.is_in_memory = item, part is not self._services
        item = replace(item, name=named(attachment.name) or item.name)
        if isinstance(item, Document) and (self._model.sees or self._model.reads):
            item = await self._parsed(part, item)
            if self._is_too_large(item):
                return await self._outlined(one, part, item)
            one.action = "kept"
            return None
        text = await self._in_words(one, part, item)
        return self._wire.text_part(text, attachment) if text else None

    def _is_to_replace(self, attachment: Attachment) -> bool:
        """Return whether the attachment may need a replacement: the model is blind, or the file may not fit."""
        if not self._model.sees and not (attachment.kind == "file" and self._model.reads):
            return True
        if attachment.kind == "image" or self._model.window is None:
            return False
        size = len(attachment.text) or len(attachment.data) * 3 // 4
        return size > self._model.window * _MIN_BYTES_A_TOKEN

    async def _taken(self, attachment: Attachment) -> tuple[Services, Shown | None]:
        """Keep an attachment now, or know it from before; where the mode does not learn, in memory only.

        So is one of an answered message, which may have been deleted since; what is new to us is kept beside.
        """
        part = self._services
        answered = max((one.index for one in self._exchange.messages if one.role == "assistant"), default=-1)
        is_new = self._exchange.learns and attachment.place[0] > answered
        if not is_new and part.ephemeral is not None:
            if attachment.data:
                sha256 = await in_thread("cpu", lambda: digest(decoded(attachment.data)))
                if (known := await part.media.named(self._scope, sha256)) is not None:
                    return part, known
            part = part.ephemeral
            part.last_used[self._scope] = part.clock.monotonic()
        return part, await take(attachment, self._exchange, part)

    async def _uploaded(self, one: Attached) -> dict[str, Any] | None:
        """Return the content for an upload to Throughline, even if deleted; None for an upload to the provider."""
        attachment = one.attachment
        for part in (self._services, self._services.ephemeral):
            if part is None:
                continue
            try:
                upload = await part.files.get(self._scope, attachment.file_id)
                item = await part.media.get(self._scope, upload.media)
            except NotFound:
                continue
            one.item = item
            if upload.is_forwarded and self._model.sees:
                one.action = "kept"
                return None
            return await self._inlined(one, part, replace(item, name=upload.name), attachment)
        if not attachment.file_id.startswith(FILE_ID) or self._services.settings.files.handling == "forward":
            return None
        one.action, one.reason = "refused", "not_here"  # no provider has it; it would refuse the whole conversation
        return self._wire.text_part(standin.of_refusal(attachment.name or attachment.file_id, _GONE), attachment)

    async def _inlined(self, one: Attached, part: Services, item: Shown, attachment: Attachment) -> dict[str, Any]:
        takes_it = self._model.sees if isinstance(item, Image) else self._model.reads
        is_plain = isinstance(item, Image) or item.media_type == "application/pdf"
        if isinstance(item, Document) and self._is_too_large(item):
            return await self._outlined(one, part, item)
        if takes_it and is_plain:
            try:
                data = await part.blobs.get(self._scope, item.sha256)
            except NotFound as error:
                one.action, one.reason = "refused", _why(error)
                return self._wire.text_part(standin.of_refusal(item.name, str(error)), attachment)
            encoded = await in_thread("cpu", lambda: base64.b64encode(data).decode())
            one.action = "data"
            return self._wire.data_part(attachment, encoded, item.media_type, item.name)
        text = await self._in_words(one, part, item)
        return self._wire.text_part(text or standin.of_refusal(item.name, "it is still being read"), attachment)

    async def _in_words(self, one: Attached, part: Services, item: Shown) -> str:
        """Return an image's description or a document's text; "" if the deadline passes."""
        try:
            async with asyncio.timeout_at(self._until):
                if isinstance(item, Document):
                    return await self._whole_text(one, part, item)
                image = replace(await self._read(part, item), name=item.name)
        except TimeoutError:
            one.action, one.reason = "failed", "deadline"
            self._exchange.degrade("attachments")
            return ""
        except (MediaRefused, NotFound) as error:
            one.action, one.reason = "refused", _why(error)
            return standin.of_refusal(item.name, str(error))
        one.item, one.action = image, "described"
        if image.status == "failed":
            one.action, one.reason = "refused", image.reason
            return standin.of_refusal(image.name, image.error)
        return standin.of_image(image) if isinstance(image, Image) else ""

    async def _whole_text(self, one: Attached, part: Services, item: Document) -> str:
        async with part.blobs.file(self._scope, item.sha256) as path:
            sniffed = await sniff_file(path, item.name, item.media_type)
            content = await read_document(path, sniffed, part.reading)
        one.action = "text"
        text = standin.of_content(item.name, content)
        tokens = len(text) // _CHARACTERS_A_TOKEN
        if self._is_too_large(replace(item, tokens=item.tokens or tokens)):
            found = await self._outlined(one, part, await self._parsed(part, item))
            return str(found["text"])
        return text

    async def _outlined(self, one: Attached, part: Services, item: Document) -> dict[str, Any]:
        """Return a document's outline and the chunks relevant to the query."""
        budget = _DOCUMENT_TOKENS
        if self._model.window is not None:
            budget = min(budget, round(self._model.window * _MAX_SHARE))
        query = await self._query()
        chunks = await standin.passages(self._scope, part.store, part.embedder.model, item, query)
        text = await in_thread("cpu", standin.of_parts, item, chunks, budget)
        one.action = "outline"
        return self._wire.text_part(text, one.attachment)

    async def _query(self) -> Query:
        exchange = self._exchange
        users = [message.index for message in exchange.messages if message.role == "user"]
        said = await beside_loop(exchange.body, lambda: [said for index in users if (said := exchange.said(index))])
        text, context = widen(said)
        query = Query(text, context, None, self._exchange.moment)
        try:
            return replace(query, vector=(await self._services.embedder.embed([query.dense_text], purpose="query"))[0])
        except ProxyError:  # lexical search still works
            return query

    def _is_too_large(self, item: Document) -> bool:
        """Return whether a document and the rest of the request exceed the window; False if it is unknown."""
        window = self._model.window
        if window is None or not item.tokens:
            return False
        sent = sum(len(one.attachment.data) for one in self._exchange.files.items)
        rest = max(0, len(self._exchange.body) - sent) // _CHARACTERS_A_TOKEN
        return item.tokens + rest > window * _FULL

    async def _parsed(self, part: Services, item: Document) -> Document:
        """Wait until a document is searchable lexically; after the deadline return it as it is."""
        try:
            async with asyncio.timeout_at(self._until):
                while True:
                    now = await part.media.get(self._scope, item.id)
                    if isinstance(now, Document) and await self._is_searchable(part, now):
                        return replace(now, name=item.name)
                    await asyncio.sleep(_POLL_S)
        except TimeoutError:
            self._exchange.degrade("attachments")
            return item

    async def _is_searchable(self, part: Services, item: Document) -> bool:
        if item.status != "processing":
            return True
        ends = [f"{item.id}.0", f"{item.id}.{item.chunks - 1}"]
        return item.chunks > 0 and len(await part.store.chunks(self._scope, ends)) == len(set(ends))

    async def _read(self, part: Services, item: Shown) -> Shown:
        """Wait until an item is ingested."""
        while item.status == "processing":
            await asyncio.sleep(_POLL_S)
            item = await part.media.get(self._scope, item.id)
        return item


def _why(error: MediaRefused | NotFound) -> str:
    """Return a short code for why a stored item cannot be given to the model."""
    if isinstance(error, MediaRefused):
        return error.reason
    return "damaged" if isinstance(error, ContentDamaged) else "missing"

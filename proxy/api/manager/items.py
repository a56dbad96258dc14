"""``/memory-manager/items``: add, retrieve and search. A short item is a memory, a longer one a document."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from dataclasses import replace
from typing import Annotated, Any

from pydantic import AfterValidator, Field

from proxy.api.caller import Body, Caller, Parts, PatientRoute, Router
from proxy.api.memories import NewMemory, keep_memory, metadata_of
from proxy.errors import InvalidRequest, NotFound, unknown
from proxy.memory.conversations.chain import named_session
from proxy.memory.library.digest import digest
from proxy.memory.library.library import Parcel
from proxy.memory.lifecycle.item_search import search_items
from proxy.memory.lifecycle.items import (
    CONTENT_TYPE,
    MAX_FULL,
    PRIORITY,
    Item,
    is_item,
    is_large,
    item_of_document,
    item_of_memory,
)
from proxy.process.threads import in_thread
from proxy.services import Services
from proxy.text.secrets import redact
from proxy.text.thread_mark import unmarked
from proxy.text.tokens import measure_long
from proxy.types import Document, Memory, Scope
from proxy.worker.hygiene import rules_of

router = Router(prefix="/memory-manager/items", route_class=PatientRoute)

READ_S = 30.0  # maximum wait until an added item is searchable
_PAUSE_S = 0.02
_Word = Annotated[str, Field(min_length=1, max_length=200), AfterValidator(redact)]


class NewItem(Body):
    """Body of ``POST /memory-manager/items/add``."""

    content: Annotated[str, Field(min_length=1)]
    content_type: _Word = "text"
    priority: Annotated[int, Field(ge=1, le=10)] = PRIORITY
    metadata: dict[str, Any] = Field({})


class Wanted(Body):
    """Body of ``POST /memory-manager/items/retrieve``."""

    item_id: Annotated[str, Field(min_length=1, max_length=200)]
    decompress: bool = True


class ItemQuery(Body):
    """Body of ``POST /memory-manager/items/search``; ``thread_id`` searches inside that quarantined thread."""

    query: Annotated[str, Field(min_length=1, max_length=20_000)]
    limit: Annotated[int, Field(ge=1, le=200)] = 5
    content_type: Annotated[str, Field(max_length=200)] | None = None
    thread_id: Annotated[str, Field(min_length=1, max_length=200)] | None = None


@router.post("/add")
async def add_item(scope: Caller, services: Parts, body: NewItem) -> dict[str, Any]:
    """Store an item whole, and answer once it is searchable; the same content again is the same item."""
    if not body.content.strip():
        raise InvalidRequest("`content` is blank. Send the text that is to be kept.", param="content")
    content = await in_thread("cpu", redact, body.content)
    tokens = await in_thread("cpu", measure_long, content)
    if not is_large(content):
        about = {**body.metadata, CONTENT_TYPE: body.content_type}
        new = NewMemory(text=content, priority=body.priority, metadata=about)
        is_typed = CONTENT_TYPE in body.model_fields_set
        again: dict[str, Any] = {"metadata": about if is_typed else body.metadata}
        if "priority" in body.model_fields_set:
            again["priority"] = body.priority
        made = await keep_memory(services, scope, new, again)
        return {"item_id": made["id"], "tokens": tokens, "compressed": False}
    document = await keep_document(services, scope, body, content)
    answer: dict[str, Any] = {"item_id": document.id, "tokens": tokens, "compressed": tokens > MAX_FULL}
    if tokens > MAX_FULL:
        answer["summary"] = document.summary or await in_thread("cpu", digest, [content])
    return answer


@router.post("/retrieve")
async def retrieve_item(scope: Caller, services: Parts, body: Wanted) -> dict[str, Any]:
    """Return an item whole, or its summary; both count as a use."""
    now, rules = services.clock.now(), rules_of(services)
    found = await _found(services, scope, body.item_id)
    if isinstance(found, Document):
        item = item_of_document(found, None, now, rules)
        content = await _content(services, scope, found) if body.decompress else item.summary
    else:
        item = item_of_memory(found, None, now, rules)
        content = found.text if body.decompress else item.summary
    services.uses.note(scope, [item.id], now=now)
    return {**item_shape(item), "content": content, "compressed": not body.decompress}


@router.post("/search")
async def search(scope: Caller, services: Parts, body: ItemQuery) -> list[dict[str, Any]]:
    """Return the items that match by meaning and words, best first, each with its best chunk."""
    if body.thread_id is not None:
        scope = replace(scope, session=named_session(scope, body.thread_id))
    now, rules = services.clock.now(), rules_of(services)
    wanted = body.content_type
    documents = {one.id: one for one in await documents_of(services, scope)}
    items = {one.id: item_of_document(one, None, now, rules) for one in documents.values()}
    chosen = {id_ for id_, item in items.items() if wanted in (None, item.content_type)}

    def may(row: Memory) -> bool:
        return is_item(row) and wanted in (None, item_of_memory(row, None, now, rules).content_type)

    hits = await search_items(
        scope,
        body.query,
        services.index,
        services.embedder,
        now=now,
        limit=body.limit,
        wanted=may,
        documents=chosen,
    )
    shown = []
    for hit in hits:
        item = items[hit.id] if hit.memory is None else item_of_memory(hit.memory, None, now, rules)
        shown.append(
            {
                "item_id": hit.id,
                "content_type": item.content_type,
                "priority": item.priority,
                "score": round(min(hit.score, 1.0), 4),
                "excerpt": hit.excerpt,
                "tokens": item.tokens,
            }
        )
    return shown


async def keep_document(services: Services, scope: Scope, body: NewItem, content: str) -> Document:
    """Store a content as a document and wait, for a limited time, until it is searchable.

    Raises:
        MediaRefused: If it is too large, or cannot be read.
    """
    metadata = await in_thread("cpu", metadata_of, body.metadata)
    title = next((str(metadata[name]) for name in ("title", "name") if metadata.get(name)), body.content_type)
    parcel = Parcel(
        content.encode("utf-8", "replace"),
        f"{title}.txt",
        "text/plain",
        "upload",
        services.clock.now(),
        body.content_type,
        body.priority,
        metadata,
    )
    item, is_new = await services.library.take_in(scope, parcel)
    if not isinstance(item, Document):
        raise InvalidRequest("`content` is no text. Send pictures to `POST /v1/documents`.", param="content")
    if is_new:
        services.arrived.set()
    else:
        about: dict[str, Any] = {"content_type": body.content_type, "priority": body.priority, "metadata": metadata}
        given = {name: value for name, value in about.items() if name in body.model_fields_set}
        await services.media.change(scope, item.id, lambda known: replace(known, **given))
    return await _read(services, scope, item)


async def documents_of(services: Services, scope: Scope) -> list[Document]:
    """Return the visible documents; quarantined ones only inside their own session."""
    apart = await services.quarantine.targets(scope)
    found, _ = await services.media.page(scope, "document", limit=None, without=apart)
    return [
        one for one in found if isinstance(one, Document) and (one.session not in apart or one.session == scope.session)
    ]


def item_shape(item: Item) -> dict[str, Any]:
    """Return an item in the JSON shape of this interface."""
    return {
        "item_id": item.id,
        "content_type": item.content_type,
        "priority": item.priority,
        "tokens": item.tokens,
        "metadata": dict(item.metadata),
    }


async def _read(services: Services, scope: Scope, document: Document) -> Document:
    until = services.clock.monotonic() + READ_S
    while document.status == "processing" and services.clock.monotonic() < until:
        await asyncio.sleep(_PAUSE_S)
        known = await services.media.get(scope, document.id, "document")
        assert isinstance(known, Document)
        document = known
    if document.status == "failed":
        raise InvalidRequest(f"The content was kept, but cannot be read: {document.error}", param="content")
    return document


async def _found(services: Services, scope: Scope, item_id: str) -> Document | Memory:
    if item_id.startswith("mem_"):
        row = await services.store.memory(scope, item_id)
        if row is not None and scope.owns(row.agent) and is_item(row):
            return row
    else:
        with suppress(NotFound):
            found = await services.media.get(scope, item_id, "document")
            assert isinstance(found, Document)
            return found
    raise unknown("item", item_id, param="item_id")


async def _content(services: Services, scope: Scope, document: Document) -> str:
    """Return a text unchanged; of another file, its extracted text."""
    if document.content_type or document.media_type.startswith("text/"):
        data = await services.blobs.get(scope, document.sha256)
        return unmarked(data.decode("utf-8", "replace"))
    rows = await services.store.chunks(scope, [f"{document.id}.{seq}" for seq in range(document.chunks)])
    return "\n\n".join(row.text for row in sorted(rows, key=lambda row: row.seq))

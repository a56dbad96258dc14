"""``/v1/documents`` and ``/v1/images``: uploads, their ingest progress, and their parsed data."""

from __future__ import annotations

from typing import Any

from fastapi import Request, Response

from proxy.api.asgi import headers_of, read_body
from proxy.api.caller import Caller, PageSize, Parts, PatientRoute, Router, Writer, project_asked
from proxy.api.forms import placed, read_form, take_in
from proxy.api.shapes import chunk_shape, listing, shown_shape
from proxy.errors import NotFound, no_place, unknown
from proxy.pipeline.admission import identity_of
from proxy.services import Services
from proxy.store.media import MediaKind, Shown
from proxy.text.thread_mark import unmarked
from proxy.types import Document, Scope
from proxy.worker.destroy import destroy_file

router = Router(prefix="/v1", route_class=PatientRoute)

_INERT = {"x-content-type-options": "nosniff", "content-security-policy": "sandbox; default-src 'none'"}


@router.post("/documents")
async def add_document(request: Request, scope: Writer, services: Parts) -> dict[str, Any]:
    """Store a file, document or image, and answer at once; it is read in the background."""
    headers = headers_of(request.scope)
    form = await read_form(await read_body(request.receive), headers)
    identity = await identity_of(headers, services)
    scope, services = placed(scope, headers, services)
    return shown_shape(await take_in(services, scope, form, headers, may_name=identity.may_name))


@router.get("/documents")
async def list_documents(
    scope: Caller, services: Parts, project: str = "", limit: PageSize = 50, after: str = ""
) -> dict[str, Any]:
    """Return a page of documents, newest first; those of a project by its name or id, of all with ``*``."""
    return await _page(services, scope, "document", after, limit, project)


@router.get("/documents/{document_id}")
async def get_document(document_id: str, scope: Caller, services: Parts) -> dict[str, Any]:
    """Return a document: its reading progress, and its outline and summary once it is read."""
    return shown_shape((await _found(services, scope, document_id, "document"))[1])


@router.get("/documents/{document_id}/chunks")
async def list_chunks(
    document_id: str, scope: Caller, services: Parts, limit: PageSize = 50, after: str = ""
) -> dict[str, Any]:
    """Return a page of a document's chunks, in order."""
    part, item = await _found(services, scope, document_id, "document")
    number = item.chunks if isinstance(item, Document) else 0
    ids = [f"{item.id}.{seq}" for seq in range(number)]
    if after:
        if after not in ids:
            raise no_place("chunk", after)
        ids = ids[ids.index(after) + 1 :]
    rows = sorted(await part.store.chunks(scope, ids[:limit]), key=lambda row: row.seq)
    return listing([chunk_shape(row) for row in rows], has_more=len(ids) > limit)


@router.get("/documents/{document_id}/content")
async def document_content(document_id: str, scope: Caller, services: Parts) -> Response:
    """Return the original bytes."""
    return await _content(services, scope, document_id, "document")


@router.delete("/documents/{document_id}")
async def delete_document(document_id: str, scope: Caller, services: Parts) -> dict[str, Any]:
    """Destroy a document with everything made of it."""
    return await _delete(services, scope, document_id, "document")


@router.get("/images")
async def list_images(
    scope: Caller, services: Parts, project: str = "", limit: PageSize = 50, after: str = ""
) -> dict[str, Any]:
    """Return a page of images, newest first; those of a project by its name or id, of all with ``*``."""
    return await _page(services, scope, "image", after, limit, project)


@router.get("/images/{image_id}")
async def get_image(image_id: str, scope: Caller, services: Parts) -> dict[str, Any]:
    """Return an image with its texts."""
    return shown_shape((await _found(services, scope, image_id, "image"))[1])


@router.get("/images/{image_id}/content")
async def image_content(image_id: str, scope: Caller, services: Parts) -> Response:
    """Return the original bytes."""
    return await _content(services, scope, image_id, "image")


@router.get("/images/{image_id}/thumbnail")
async def image_thumbnail(image_id: str, scope: Caller, services: Parts) -> Response:
    """Return the thumbnail, as WebP."""
    part, item = await _found(services, scope, image_id, "image")
    data = await part.blobs.get(scope, f"{item.sha256}.webp")
    return Response(data, media_type="image/webp", headers=_INERT)


@router.delete("/images/{image_id}")
async def delete_image(image_id: str, scope: Caller, services: Parts) -> dict[str, Any]:
    """Destroy an image with everything made of it."""
    return await _delete(services, scope, image_id, "image")


async def _page(
    services: Services, scope: Scope, kind: MediaKind, after: str, limit: int, project: str
) -> dict[str, Any]:
    asked = project_asked(scope, services, project)
    apart = await services.quarantine.targets(scope)
    page, has_more = await services.media.page(scope, kind, after=after, limit=limit, without=apart, project=asked)
    return listing([shown_shape(one) for one in page], has_more=has_more)


async def _content(services: Services, scope: Scope, media_id: str, kind: MediaKind) -> Response:
    part, item = await _found(services, scope, media_id, kind)
    data = await part.blobs.get(scope, item.sha256)
    if isinstance(item, Document) and item.content_type:
        data = unmarked(data.decode("utf-8", "surrogateescape")).encode("utf-8", "surrogateescape")
    media_type = item.media_type if kind == "image" else "application/octet-stream"  # no page of the dashboard runs it
    return Response(data, media_type=media_type, headers=_INERT)


async def _delete(services: Services, scope: Scope, media_id: str, kind: MediaKind) -> dict[str, Any]:
    part, item = await _found(services, scope, media_id, kind)
    await destroy_file(part, scope, item.id)
    return {"id": item.id, "object": f"{kind}.deleted", "deleted": True}


async def _found(services: Services, scope: Scope, media_id: str, kind: MediaKind) -> tuple[Services, Shown]:
    """Return an item and the services that store it, the persistent ones or those in memory."""
    for part in services.both():
        try:
            return part, await part.media.get(scope, media_id, kind)
        except NotFound:
            continue
    raise unknown(kind, media_id)

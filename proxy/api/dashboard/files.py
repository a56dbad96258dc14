"""Images and documents: content, parsed data, deletion."""

from __future__ import annotations

from fastapi import APIRouter, Request
from starlette.responses import Response

from proxy.api.dashboard import ROOT
from proxy.api.dashboard.visit import PageRoute, Visit, answered
from proxy.api.dashboard.words import say

router = APIRouter(prefix=ROOT, include_in_schema=False, route_class=PageRoute)
_PER_PAGE = 40
_MAX_QUESTIONS = 20


@router.get("/files")
async def files(request: Request) -> Response:
    """Show pictures as a grid, and documents as a list."""
    visit = await Visit.of(request)
    images = await visit.get("/v1/images", limit=_PER_PAGE, after=visit.asked("images"))
    documents = await visit.get("/v1/documents", limit=_PER_PAGE, after=visit.asked("documents"))
    is_reading = any(one["status"] == "processing" for one in (*images["data"], *documents["data"]))
    return visit.page("files.html", images=images, documents=documents, is_reading=is_reading, done=visit.asked("done"))


@router.get("/images/{image_id}")
async def image(request: Request, image_id: str) -> Response:
    """Show a picture with its texts."""
    visit = await Visit.of(request)
    one = await visit.get(f"/v1/images/{image_id}")
    found_by = (await visit.get("/v1/receipts", entry=image_id, limit=_MAX_QUESTIONS))["data"]
    return visit.page("image.html", image=one, found_by=found_by)


@router.get("/images/{image_id}/{what}")
async def image_bytes(request: Request, image_id: str, what: str) -> Response:
    """Return an image or its thumbnail."""
    visit = await Visit.of(request)
    answer = await visit.raw("GET", f"/v1/images/{image_id}/{'thumbnail' if what == 'thumbnail' else 'content'}")
    kind = answer.headers.get("content-type", "")
    if not answer.is_success or not kind.startswith("image/"):
        return Response(status_code=404)
    return answered(answer.content, kind)


@router.get("/documents/{document_id}")
async def document(request: Request, document_id: str) -> Response:
    """Show a document: outline, summary, chunks."""
    visit = await Visit.of(request)
    one = await visit.get(f"/v1/documents/{document_id}")
    chunks = await visit.get(f"/v1/documents/{document_id}/chunks", limit=20, after=visit.asked("after"))
    more = chunks["last_id"] if chunks["has_more"] else ""
    found_by = (await visit.get("/v1/receipts", entry=document_id, limit=_MAX_QUESTIONS))["data"]
    return visit.page("document.html", document=one, chunks=chunks["data"], more=more, found_by=found_by)


@router.post("/{kind}/{file_id}/delete")
async def delete(request: Request, kind: str, file_id: str) -> Response:
    """Destroy an image or document with everything made of it."""
    visit = await Visit.of(request)
    await visit.ask("DELETE", f"/v1/{'images' if kind == 'images' else 'documents'}/{file_id}")
    return visit.go("/files", done=say("Destroyed."))

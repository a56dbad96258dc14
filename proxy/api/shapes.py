"""JSON shapes of the API: OpenAI-shaped objects and lists, times in ISO 8601 UTC."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from operator import attrgetter
from typing import Any, TypeVar

from proxy.clock import iso
from proxy.errors import no_place
from proxy.memory.plan.changes import INTERNAL
from proxy.store.files import Upload
from proxy.store.jobs import Job
from proxy.store.media import Shown
from proxy.store.projects import Projects
from proxy.store.sessions import Session
from proxy.store.uses import Use
from proxy.types import Chunk, Document, Episode, Hit, Image, Memory, Scope
from proxy.types.scope import parts

_SMALL_BYTES = 64 * 1024  # read within moments

T = TypeVar("T")


def listing(data: Sequence[dict[str, Any]], *, has_more: bool = False) -> dict[str, Any]:
    """Return a list object; ``after=last_id`` requests the next page."""
    ids = [entry["id"] for entry in data if "id" in entry]
    return {
        "object": "list",
        "data": list(data),
        "first_id": ids[0] if ids else None,
        "last_id": ids[-1] if ids else None,
        "has_more": has_more,
    }


def behind(rows: Sequence[T], after: str, noun: str, *, id_of: Callable[[T], str] = attrgetter("id")) -> list[T]:
    """Return the rows after the one with the id ``after``; all rows if none is named.

    Raises:
        NotFound: If there is no such row.
    """
    if not after:
        return list(rows)
    at = next((at for at, row in enumerate(rows) if id_of(row) == after), None)
    if at is None:
        raise no_place(noun, after)
    return list(rows[at + 1 :])


def job_shape(job: Job) -> dict[str, Any]:
    """Return a job as the API shows it."""
    return {
        "id": job.id,
        "object": "job",
        "kind": job.kind,
        "status": job.status,
        "format": job.format or None,
        "progress": {"done": job.done, "total": job.total or None},
        "counts": dict(job.counts),
        "notes": list(job.notes),
        "error": job.error or None,
        "created_at": iso(job.created_at),
        "finished_at": iso(job.finished_at) if job.finished_at else None,
    }


async def project_names(projects: Projects, scope: Scope, rows: Iterable[Memory]) -> Mapping[str, str]:
    """Return the names of projects by their ids, where a row is of one."""
    return await projects.names(scope) if any("." in row.agent for row in rows) else {}


def memory_shape(memory: Memory, names: Mapping[str, str]) -> dict[str, Any]:
    """Return a memory as the API shows it.

    Args:
        memory: The memory.
        names: Names of projects by their ids; a missing one is shown by its id.
    """
    agent, project, _ = parts(memory.agent)
    return {
        "id": memory.id,
        "object": "memory",
        "kind": memory.kind,
        "text": memory.text,
        "context": memory.context or None,
        "context_by": memory.context_by or None,
        "dates": memory.dates or None,
        "subject": memory.subject or None,
        "relation": memory.relation or None,
        "object_value": memory.object or None,
        "quote": memory.quote,
        "source": memory.source,
        "provenance": memory.provenance,
        "confidence": round(memory.confidence, 3),
        "status": memory.status,
        "earlier": list(memory.earlier),
        "later": list(memory.later),
        "batch": memory.batch or None,
        "valid_from": iso(memory.valid_from),
        "valid_to": _when(memory.valid_to),
        "created_at": iso(memory.created_at),
        "updated_at": iso(memory.updated_at),
        "last_used_at": _when(memory.last_used_at),
        "expires_at": _when(memory.expires_at),
        "uses": memory.uses,
        "pinned": memory.pinned,
        "priority": memory.priority,
        "session": memory.session,
        "project": names.get(project, project) or None,
        "agent": agent or None,
        "metadata": {name: value for name, value in memory.metadata.items() if name not in INTERNAL},
    }


def used(memories: Sequence[Memory], uses: Mapping[str, Use]) -> list[Memory]:
    """Return memories with their use counts, which are stored separately."""
    return [
        replace(row, uses=row.uses + use.count, last_used_at=use.last_at) if (use := uses.get(row.id)) else row
        for row in memories
    ]


def hit_shape(hit: Hit) -> dict[str, Any]:
    """Return a hit as receipts and searches show it."""
    return {
        "source": hit.source,
        "id": hit.id,
        "text": hit.text,
        "score": round(hit.score, 4),
        "tokens": hit.tokens,
        "when": _when(hit.when),
        "session": hit.session,
        "role": hit.role,
        "kind": hit.kind,
        **({"title": hit.title} if hit.title else {}),
        **({"author": hit.author} if hit.author else {}),
    }


def file_shape(upload: Upload, item: Shown | None) -> dict[str, Any]:
    """Return an upload in OpenAI's file shape, with the id of its document or image."""
    # OpenAI's clients know no `processing`: it is sent only if there is something to wait for.
    reading = "processing" if upload.size_bytes > _SMALL_BYTES else "uploaded"
    status = {"processing": reading, "ready": "processed", "failed": "error"}[item.status if item else "failed"]
    shown = shown_shape(item) if item else {}
    return {
        "id": upload.id,
        "object": "file",
        "bytes": upload.size_bytes,
        "created_at": int(upload.created_at.timestamp()),
        "expires_at": None,
        "filename": upload.name,
        "purpose": upload.purpose,
        "status": status,
        "status_details": shown.get("error"),
        "fraction": shown.get("fraction"),
        "document_id": item.id if isinstance(item, Document) else None,
        "image_id": item.id if isinstance(item, Image) else None,
    }


def shown_shape(item: Shown) -> dict[str, Any]:
    """Return a document or an image."""
    return document_shape(item) if isinstance(item, Document) else image_shape(item)


def document_shape(document: Document) -> dict[str, Any]:
    """Return a document as the API shows it."""
    return {
        **_common(document, "document"),
        "pages": document.pages,
        "title": document.title or None,
        "outline": document.outline,
        "summary": document.summary,
        "summarised_by": document.summarised_by or None,
        "notes": list(document.notes),
        "tokens": document.tokens,
        "chunks": document.chunks,
    }


def image_shape(image: Image) -> dict[str, Any]:
    """Return an image in the field names that users of such systems know; without a model there is no caption."""
    return {
        **_common(image, "image"),
        "image_id": image.id,
        "caption": image.caption or None,
        "captioned_by": image.captioned_by or None,
        "objects": list(image.objects),
        "ocr_text": image.ocr_text,
        "notes": list(image.notes),
        "width": image.width,
        "height": image.height,
        "colours": list(image.colours),
        "camera": image.camera or None,
        "place": list(image.place) if image.place else None,
        "taken_at": _when(image.taken_at),
        "same_as": image.same_as or None,
    }


def chunk_shape(chunk: Chunk) -> dict[str, Any]:
    """Return a chunk of a document."""
    return {
        "id": chunk.id,
        "object": "document.chunk",
        "document_id": chunk.document,
        "seq": chunk.seq,
        "page": chunk.page or None,
        "heading": chunk.heading or None,
        "text": chunk.text,
    }


def _common(item: Shown, noun: str) -> dict[str, Any]:
    return {
        "id": item.id,
        "object": noun,
        "name": item.name,
        "names": [item.name, *item.names],
        "media_type": item.media_type,
        "bytes": item.size_bytes,
        "sha256": item.sha256,
        "status": item.status,
        "fraction": item.fraction,
        "reason": item.reason or None,
        "error": item.error or None,
        "source": item.source,
        "uploaded_at": iso(item.created_at),
        "created_at": iso(item.created_at),
        "session": item.session or None,
        "used_in": list(item.used_in),
    }


def session_shape(session: Session) -> dict[str, Any]:
    """Return a conversation as the API shows it; ``name`` is the client's own id for it."""
    return {
        "id": session.id,
        "object": "session",
        "name": session.name or None,
        "created_at": iso(session.created_at),
        "last_at": iso(session.last_at),
        "ended_at": _when(session.ended_at),
        "turns": session.turns,
    }


def episode_shape(episode: Episode) -> dict[str, Any]:
    """Return one message of a conversation."""
    return {
        "id": episode.id,
        "object": "session.message",
        "turn": episode.turn,
        "role": episode.role,
        "text": episode.text,
        "at": iso(episode.at),
    }


def _when(moment: datetime | None) -> str | None:
    return iso(moment) if moment else None

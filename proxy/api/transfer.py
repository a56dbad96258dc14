"""``/v1/export``, ``/v1/import``, ``/v1/jobs`` and ``/v1/erase``: export, import and erasure of a user's memory."""

from __future__ import annotations

import secrets
from collections.abc import AsyncIterator
from typing import Annotated, Any

from fastapi import Query, Request
from fastapi.responses import StreamingResponse

from proxy.api.asgi import body_chunks
from proxy.api.caller import Caller, PageSize, Parts, Router, Writer
from proxy.api.forms import is_form, read_form
from proxy.api.shapes import behind, job_shape, listing
from proxy.api.writing import settled
from proxy.clock import iso
from proxy.errors import InvalidRequest
from proxy.memory.lifecycle.transfer.formats import FORMATS, Format
from proxy.memory.lifecycle.transfer.ours import export
from proxy.services import Services
from proxy.store.jobs import Job
from proxy.upstream.headers import find
from proxy.worker.destroy import erase_scope
from proxy.worker.importer import places_of

router = Router(prefix="/v1")
SETTLE_S = 30.0  # maximum wait of an export for pending turns


@router.get("/export", response_class=StreamingResponse)
async def export_scope(scope: Caller, services: Parts) -> StreamingResponse:
    """Return the caller's whole memory as JSON lines: memories, conversations, documents, history and settings."""
    await settled(services, scope, SETTLE_S)
    await services.uses.flush()
    now = services.clock.now()
    name = f"throughline-{iso(now)[:10]}.jsonl"
    return StreamingResponse(
        export(places_of(services), scope, now),
        media_type="application/x-ndjson",
        headers={"content-disposition": f'attachment; filename="{name}"'},
    )


@router.post("/import", status_code=202)
async def import_file(
    scope: Writer,
    services: Parts,
    request: Request,
    format: Annotated[Format | None, Query(description=f"One of {', '.join(FORMATS)}; found out without.")] = None,
) -> dict[str, Any]:
    """Start the import of a file, sent as the body or as the part ``file`` of a form; the job shows its progress."""
    job = Job(f"job_{secrets.token_hex(12)}", scope, services.clock.now(), format=format or "")
    size = await services.spool.put(scope, job.id, _body(request, services))
    if not size:
        await services.spool.remove(scope, job.id)
        raise InvalidRequest("There is nothing in the body. Send the file that is to be imported.")
    await services.jobs.add(scope, job)
    services.asked.set()
    return job_shape(job)


@router.get("/jobs")
async def list_jobs(scope: Caller, services: Parts, limit: PageSize = 50, after: str = "") -> dict[str, Any]:
    """Return a page of jobs, newest first."""
    found = behind(await services.jobs.page(scope), after, "job")
    return listing([job_shape(job) for job in found[:limit]], has_more=len(found) > limit)


@router.get("/jobs/{job_id}")
async def get_job(job_id: str, scope: Caller, services: Parts) -> dict[str, Any]:
    """Return the progress and the outcome of a job."""
    return job_shape(await services.jobs.get(scope, job_id))


@router.post("/erase")
async def erase(scope: Caller, services: Parts, *, verify: bool = False) -> dict[str, Any]:
    """Erase all of the caller's data everywhere, for good; with ``verify``, search the files for erased texts."""
    return await erase_scope(services, scope, verify=verify)


async def _body(request: Request, services: Services) -> AsyncIterator[bytes]:
    headers = [(name.decode("latin-1"), value.decode("latin-1")) for name, value in request.headers.raw]
    if not is_form(headers):
        async for chunk in body_chunks(request.receive):
            yield chunk
        return
    most = services.settings.server.max_body_bytes
    if int(find(headers, "content-length") or most + 1) > most:
        raise InvalidRequest(f"A form may have {most} bytes; send a larger file as the body itself.")
    yield (await read_form(await request.body(), headers)).data

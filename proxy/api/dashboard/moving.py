"""Export, import and erasure of memory."""

from __future__ import annotations

import json
from collections.abc import AsyncIterable, AsyncIterator

from fastapi import APIRouter, Request
from starlette.responses import Response

from proxy.api.caller import services_of
from proxy.api.dashboard import ROOT
from proxy.api.dashboard.progress import Progress, is_open, started
from proxy.api.dashboard.visit import PageRoute, Visit
from proxy.api.dashboard.words import named, say
from proxy.api.transfer import export_scope
from proxy.errors import InvalidRequest
from proxy.worker.destroy import ERASING, erase_scope

router = APIRouter(prefix=ROOT, include_in_schema=False, route_class=PageRoute)
_SURE = "erase"


@router.get("/moving")
async def moving(request: Request) -> Response:
    """Offer export, import and erasure, and show running jobs."""
    visit = await Visit.of(request)
    jobs = (await visit.get("/v1/jobs", limit=10))["data"]
    return visit.page("moving.html", jobs=jobs, is_open=is_open(jobs))


@router.get("/export")
async def export(request: Request) -> Response:
    """Return an export as a file."""
    visit = await Visit.of(request)
    at = started(request).begin(visit, visit.asked("mark"))
    try:
        made = await export_scope(await visit.scope(), services_of(request))  # streamed, whatever its size
    except BaseException:
        at.is_over = True
        raise
    made.body_iterator = _counted(made.body_iterator, at)
    return made


@router.post("/import")
async def bring_in(request: Request) -> Response:
    """Start an import; the CSRF token is in the URL, as the body is the file."""
    visit = await Visit.of(request, word=request.query_params.get("csrf", ""))
    carried = {name: request.headers[name] for name in ("content-type", "content-length") if name in request.headers}
    await visit.ask("POST", "/v1/import", content=request.stream(), headers=carried)
    return visit.go("/moving")


@router.post("/erase")
async def erase(request: Request) -> Response:
    """Erase everything, and show the receipt."""
    visit = await Visit.of(request)
    if visit.field("sure").strip().casefold() != _SURE:
        raise InvalidRequest(say("Write {word} into the field to destroy everything.", word=_SURE))
    at = started(request).begin(visit, visit.field("mark"))
    at.total = len(ERASING)

    def tell(step: str) -> None:
        at.done, at.step = ERASING.index(step), named(step)

    try:
        receipt = await erase_scope(services_of(request), await visit.scope(), verify=True, tell=tell)
    finally:
        at.is_over = True
    return visit.page("erased.html", receipt=json.dumps(receipt, indent=2, ensure_ascii=False), found=receipt)


async def _counted(
    lines: AsyncIterable[str | bytes | memoryview], at: Progress
) -> AsyncIterator[str | bytes | memoryview]:
    """Yield the lines of an export, and update the progress against the count in its first line."""
    try:
        async for line in lines:
            if at.total:
                at.done += 1
            else:
                at.total = sum(json.loads(bytes(line) if isinstance(line, memoryview) else line)["counts"].values()) + 1
            yield line
    finally:
        at.is_over = True

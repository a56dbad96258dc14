"""Taking memory out, bringing it in, destroying it."""

from __future__ import annotations

import json

from fastapi import APIRouter, Request
from starlette.responses import Response

from proxy.api.caller import services_of
from proxy.api.dashboard import ROOT
from proxy.api.dashboard.visit import PageRoute, Visit
from proxy.api.dashboard.words import say
from proxy.api.transfer import export_scope
from proxy.errors import InvalidRequest

router = APIRouter(prefix=ROOT, include_in_schema=False, route_class=PageRoute)
_SURE = "erase"


@router.get("/moving")
async def moving(request: Request) -> Response:
    """Offer export, import and erasing, and show what is under way."""
    visit = await Visit.of(request)
    jobs = (await visit.get("/v1/jobs", limit=10))["data"]
    is_open = any(job["status"] in ("queued", "running") for job in jobs)
    return visit.page("moving.html", jobs=jobs, is_open=is_open)


@router.get("/export")
async def export(request: Request) -> Response:
    """Return everything as a file."""
    visit = await Visit.of(request)
    return await export_scope(await visit.scope(), services_of(request))  # as it is made, whatever its size


@router.post("/import")
async def bring_in(request: Request) -> Response:
    """Take a file in; the word of its form stands in the address, as the body is the file's."""
    visit = await Visit.of(request, word=request.query_params.get("csrf", ""))
    carried = {name: request.headers[name] for name in ("content-type", "content-length") if name in request.headers}
    await visit.ask("POST", "/v1/import", content=request.stream(), headers=carried)
    return visit.go("/moving")


@router.post("/erase")
async def erase(request: Request) -> Response:
    """Destroy everything, and show the receipt."""
    visit = await Visit.of(request)
    if visit.field("sure").strip().casefold() != _SURE:
        raise InvalidRequest(say("Write {word} into the field to destroy everything.", word=_SURE))
    receipt = await visit.ask("POST", "/v1/erase", params={"verify": "true"})
    return visit.page("erased.html", receipt=json.dumps(receipt, indent=2, ensure_ascii=False), found=receipt)

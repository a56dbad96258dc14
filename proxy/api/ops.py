"""Health, readiness and metrics."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, Request, Response
from fastapi.responses import JSONResponse

from proxy.api.caller import services_of
from proxy.clock import iso
from proxy.errors import StoreUnavailable
from proxy.telemetry.metrics import METRICS_CONTENT_TYPE, metrics_page

router = APIRouter()


@router.get("/healthz")
@router.get("/health/liveliness")
async def live() -> dict[str, str]:
    """Return that the process serves."""
    return {"status": "ok"}


@router.get("/readyz")
@router.get("/health/readiness")
async def ready(request: Request) -> JSONResponse:
    """Return whether store and embedder are warm, whether turns can be stored, and any damage found."""
    services = services_of(request)
    await services.probe()
    failed = services.failed_writes()
    can_keep = "journal" not in failed
    parts = {"store": services.looked_over.is_set(), "embedder": services.is_embedder_warm, "journal": can_keep}
    is_ready = services.is_ready and can_keep and not services.is_draining
    status = "ready" if is_ready else "draining" if services.is_draining else "warming" if can_keep else "unwritable"
    body: dict[str, Any] = {"status": status, **parts}
    if failed:
        body["failed_writes"] = {part: {"at": iso(one.at), "error": one.error} for part, one in failed.items()}
    try:
        if incidents := await services.incidents.unseen():
            body["damage"] = [incident.shown() for incident in incidents]
    except StoreUnavailable as error:
        body |= {"journal": False, "status": "unreadable", "error": str(error)}
        is_ready = False
    return JSONResponse(body, status_code=200 if is_ready else 503)


@router.get("/metrics")
async def metrics(request: Request) -> Response:
    """Serve all metrics in Prometheus' text format."""
    services = services_of(request)
    if not services.settings.telemetry.metrics:
        return Response(status_code=404)
    await services.measure()
    return Response(metrics_page(), media_type=METRICS_CONTENT_TYPE)

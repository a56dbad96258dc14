"""Health, readiness and metrics."""

from __future__ import annotations

from fastapi import APIRouter, Request, Response
from fastapi.responses import JSONResponse

from proxy.api.caller import services_of
from proxy.telemetry.metrics import METRICS_CONTENT_TYPE, metrics_page

router = APIRouter()


@router.api_route("/healthz", methods=["GET", "HEAD"])
@router.api_route("/health/liveliness", methods=["GET", "HEAD"])
async def live() -> dict[str, str]:
    """Say that the process serves."""
    return {"status": "ok"}


@router.api_route("/readyz", methods=["GET", "HEAD"])
@router.api_route("/health/readiness", methods=["GET", "HEAD"])
async def ready(request: Request) -> JSONResponse:
    """Say whether store and embedder are warm: then the first question is answered with memory."""
    services = services_of(request)
    parts = {"store": services.warmed.is_set(), "embedder": services.is_embedder_warm}
    is_ready = services.is_ready and not services.is_draining
    body = {"status": "ready" if is_ready else "draining" if services.is_draining else "warming", **parts}
    return JSONResponse(body, status_code=200 if is_ready else 503)


@router.get("/metrics")
async def metrics(request: Request) -> Response:
    """Serve all metrics in Prometheus' text format."""
    services = services_of(request)
    if not services.settings.telemetry.metrics:
        return Response(status_code=404)
    await services.measure()
    return Response(metrics_page(), media_type=METRICS_CONTENT_TYPE)

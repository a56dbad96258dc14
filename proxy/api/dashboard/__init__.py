"""The dashboard at ``/``: HTML pages over the public HTTP API.

Open first: ``pages``. Imports: the imports of ``api``. Pages call the API in this process: they access no store, and
show only data that their reader's key may see. They are loaded on first use.
"""

from __future__ import annotations

import asyncio

from fastapi import APIRouter, FastAPI
from starlette.requests import Request
from starlette.responses import JSONResponse, RedirectResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send

from proxy.process.threads import in_thread

ROOT = "/dashboard"
HEADERS = {
    "content-security-policy": (
        "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self' data:; connect-src 'self'; "
        "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
    ),
    "referrer-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
}
_INDEX = {
    "object": "index",
    "name": "Throughline",
    "chat": ["/v1/chat/completions", "/v1/responses", "/v1/messages"],
    "memory": "/openapi.json",
    "mcp": "/mcp",
    "health": ["/healthz", "/readyz"],
    "dashboard": "/ in a browser",
}


def install(app: FastAPI) -> None:
    """Add the pages."""
    pages = _Pages()
    app.router.routes.append(Route("/", _index))
    for path in (ROOT, f"{ROOT}/{{rest:path}}"):
        app.router.routes.append(Route(path, pages, methods=["GET", "POST"]))


async def _index(request: Request) -> Response:
    """Redirect a browser to the dashboard; answer other clients with an index."""
    if "text/html" in request.headers.get("accept", ""):
        return RedirectResponse(f"{ROOT}/", 303, headers=HEADERS)
    return JSONResponse(_INDEX)


class _Pages:
    """ASGI application of all pages, loaded on first use: it takes 13 MB that servers without readers do not need."""

    def __init__(self) -> None:
        self._router: ASGIApp | None = None
        self._loading = asyncio.Lock()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async with self._loading:
            if self._router is None:
                self._router = await in_thread("load", _load)
        await self._router(scope, receive, send)


def _load() -> ASGIApp:
    from proxy.api.dashboard import files, memories, moving, pages, progress, queues, talks  # noqa: PLC0415 - templates, httpx

    router = APIRouter()
    for module in (pages, memories, talks, files, queues, moving, progress):
        router.include_router(module.router)
    return router

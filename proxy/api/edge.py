"""The outermost layer: canonical paths, request ids, CORS, guard headers on own responses, errors.

Pages of the origins in ``server.cors_origins`` may call ``/v1`` and read replies. No other page may: if the operator's
key replaces keys that are not the provider's, any made-up key uses it, so a key in the request proves nothing about the
page. Cookies do not count here, and credentials are not allowed.
"""

from __future__ import annotations

import re
import secrets
from urllib.parse import quote, unquote

import structlog
from starlette.routing import Match, Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from proxy.api.asgi import (
    REQUEST_ID,
    Headers,
    TooMuch,
    headers_of,
    limited,
    refuse,
    send_end,
    send_error,
    send_head,
    wire_of,
)
from proxy.api.observe import observe
from proxy.api.passage import PASSAGE, Passage, note_refusal
from proxy.errors import BodyTooLarge, Forbidden, ProxyError, UpgradeRequired
from proxy.settings.load import Settings
from proxy.telemetry.metrics import IN_FLIGHT
from proxy.upstream.headers import client_key, find, value_of

_log = structlog.get_logger(__name__)
_OURS = ("/healthz", "/readyz", "/health/", "/metrics", "/mcp", "/memory-manager", "/openapi.json", "/dashboard")
_OF_MEMORY = b"x-memory"  # on every provider reply, whose headers stay unchanged
# On Throughline's own answers: they may show memory, which must not be cached, framed or sniffed as another type.
_GUARDS = [
    (b"cache-control", b"no-store"),
    (b"x-content-type-options", b"nosniff"),
    (b"content-security-policy", b"frame-ancestors 'none'"),
]
_MAX_IMPORT = 4 * 2**30  # bytes; it is written to disk as it arrives
_SLASHES = re.compile(r"/{2,}")
_EXPOSED = (
    "x-request-id, x-memory, x-memory-receipt, x-memory-session, server-timing, retry-after, retry-after-ms, "
    "x-should-retry, openai-organization, openai-processing-ms, openai-version, x-ratelimit-limit-requests, "
    "x-ratelimit-limit-tokens, x-ratelimit-remaining-requests, x-ratelimit-remaining-tokens, "
    "x-ratelimit-reset-requests, x-ratelimit-reset-tokens, request-id, anthropic-organization-id, "
    "anthropic-ratelimit-requests-remaining, anthropic-ratelimit-requests-reset, "
    "anthropic-ratelimit-tokens-remaining, anthropic-ratelimit-tokens-reset"
)
_CORS = b"access-control-"


class Edge:
    """Pure ASGI middleware; it buffers no bytes."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one ASGI connection."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        request_id = f"req_{secrets.token_hex(12)}"
        started = False

        async def guarded(message: Message) -> None:
            nonlocal started
            if message["type"] == "http.response.start":
                started = True
                named = {name.lower() for name, _ in message["headers"]}
                added = [] if _OF_MEMORY in named else _GUARDS
                added = [(b"x-request-id", request_id.encode()), *added]
                message["headers"] = [*message["headers"], *(pair for pair in added if pair[0] not in named)]
            passage.see(message)
            await send(message)

        raw = canonical((scope.get("raw_path") or quote(scope["path"]).encode()).partition(b"?")[0].decode("latin-1"))
        passage = Passage(scope["method"], raw, _declared(scope))
        scope = {
            **scope,
            "path": unquote(raw),
            "raw_path": raw.encode("latin-1"),
            REQUEST_ID: request_id,
            PASSAGE: passage,
        }
        services = scope["app"].state.services
        if services.tracing is not None:
            passage.traceparent = value_of(headers_of(scope), "traceparent")
        limit, name = services.settings.server.max_body_bytes, "server.max_body_bytes"
        if raw == "/v1/import":
            limit, name = _MAX_IMPORT, ""
        IN_FLIGHT.inc()
        try:
            _refuse_websocket(scope)
            await self._app(_answered(scope), limited(scope, receive, limit, name), guarded)
        except Exception as error:  # noqa: BLE001 - the outermost layer: every error gets one shape
            shaped = _shaped(error)
            if not started:
                note_refusal(scope, shaped)
                await refuse(guarded, shaped, wire_of(scope), request_id)
        finally:
            IN_FLIGHT.dec()
            observe(passage, services)


def _refuse_websocket(scope: Scope) -> None:
    """Refuse a WebSocket upgrade, so that the client continues over HTTP in the same turn."""
    if "websocket" in value_of(headers_of(scope), "upgrade").lower():
        raise UpgradeRequired(
            f"There is no WebSocket at {scope['path'][:120]}. Send the request over HTTP.",
            headers={"upgrade": "HTTP/1.1", "connection": "upgrade, close"},
        )


def _answered(scope: Scope) -> Scope:
    """Return a HEAD of one of Throughline's own paths as a GET; the server omits the body."""
    if scope["method"] != "HEAD":
        return scope
    asked = {**scope, "method": "GET"}
    routers = (route for route in scope["app"].routes if not isinstance(route, Route))  # a Route handles HEAD itself
    return asked if any(router.matches(asked)[0] is Match.FULL for router in routers) else scope


def canonical(path: str) -> str:
    """Return the path under ``/v1`` without doubled or trailing slashes, so that every spelling of a base URL works.

    Escapes stay unchanged: ``%2F`` in a model's name is no slash.
    """
    path = _SLASHES.sub("/", path)
    path = path.rstrip("/") or "/"
    while path.startswith("/v1/v1/"):
        path = path.removeprefix("/v1")
    if path in {"/", "/v1"} or path.startswith(("/v1/", *_OURS)):
        return path
    return f"/v1{path}"


def _declared(scope: Scope) -> int:
    declared = next((value for name, value in scope["headers"] if name == b"content-length"), b"")
    return int(declared) if declared.isdigit() and len(declared) < 19 else 0


def _shaped(error: Exception) -> ProxyError:
    if isinstance(error, ProxyError):
        return error
    if isinstance(error, TooMuch):
        return BodyTooLarge(error.detail)
    _log.exception("unexpected error", error=type(error).__name__)
    return ProxyError("Something went wrong inside Throughline; its log says what. The request was not answered.")


class Cors:
    """Pure ASGI middleware; requests without an origin pass unchanged."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a preflight, or add the headers that allow a page to read the response."""
        given = headers_of(scope) if scope["type"] == "http" else []
        origin = find(given, "origin")
        if origin is None or not scope["path"].startswith("/v1/"):
            await self._app(scope, receive, send)
            return
        allowed = _allowed(origin, given, scope["app"].state.services.settings)
        if scope["method"] == "OPTIONS" and find(given, "access-control-request-method") is not None:
            await _preflight(origin, given, allowed, send)
            return
        ours = [(name.encode("latin-1"), value.encode("latin-1")) for name, value in allowed]

        async def readable(message: Message) -> None:
            if message["type"] == "http.response.start":
                kept = [(name, value) for name, value in message["headers"] if not name.lower().startswith(_CORS)]
                message["headers"] = [*kept, *ours]
            await send(message)

        await self._app(scope, receive, readable)


def _allowed(origin: str, given: Headers, settings: Settings) -> Headers:
    """Return the headers that allow the page to read the reply; empty if it may not.

    A placeholder key is no secret: only origins listed by name may use what it opens.
    """
    listed = settings.server.cors_origins
    if origin in listed:
        named = [("access-control-allow-origin", origin), ("vary", "Origin")]
    elif "*" in listed and client_key(given) not in settings.auth.placeholder_keys:
        named = [("access-control-allow-origin", "*")]
    else:
        return []
    return [*named, ("access-control-expose-headers", _EXPOSED)]


async def _preflight(origin: str, given: Headers, allowed: Headers, send: Send) -> None:
    if not allowed:
        refusal = f"Pages of {origin[:200]!r} may not ask here. The operator may list it in server.cors_origins."
        await send_error(send, Forbidden(refusal), [])
        return
    asked = find(given, "access-control-request-headers") or "authorization, content-type"
    answer = [
        ("access-control-allow-methods", "GET, POST, PUT, PATCH, DELETE, HEAD"),
        ("access-control-allow-headers", asked),
        ("access-control-max-age", "600"),
        ("vary", "Access-Control-Request-Headers"),
    ]
    await send_head(send, 204, [*allowed, *answer])
    await send_end(send)

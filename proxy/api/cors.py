"""Cross-origin requests of browsers to ``/v1``: pages of the origins in ``server.cors_origins`` may ask and read.

No other page may: where the operator's key stands in for keys that are not the provider's, a made-up one is enough to
use it, so that a key in the request says nothing about the page. No cookie counts here, and no credentials are allowed.
"""

from __future__ import annotations

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from proxy.api.asgi import Headers, headers_of, send_end, send_error, send_head
from proxy.errors import Forbidden
from proxy.settings.load import Settings
from proxy.upstream.headers import client_key, find

_EXPOSED = (
    "x-request-id, x-memory, x-memory-receipt, x-memory-session, server-timing, retry-after, retry-after-ms, "
    "x-should-retry, openai-organization, openai-processing-ms, openai-version, x-ratelimit-limit-requests, "
    "x-ratelimit-limit-tokens, x-ratelimit-remaining-requests, x-ratelimit-remaining-tokens, "
    "x-ratelimit-reset-requests, x-ratelimit-reset-tokens, request-id, anthropic-organization-id, "
    "anthropic-ratelimit-requests-remaining, anthropic-ratelimit-requests-reset, "
    "anthropic-ratelimit-tokens-remaining, anthropic-ratelimit-tokens-reset"
)
_OURS = b"access-control-"


class Cors:
    """Pure ASGI middleware; requests that name no origin pass as they are."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a preflight, or let the response say whether a page may read it."""
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
                kept = [(name, value) for name, value in message["headers"] if not name.lower().startswith(_OURS)]
                message["headers"] = [*kept, *ours]
            await send(message)

        await self._app(scope, receive, readable)


def _allowed(origin: str, given: Headers, settings: Settings) -> Headers:
    """Return what tells the browser that the page may read the reply; nothing where it may not.

    A placeholder key is no secret: what it opens is for origins that are listed by name.
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

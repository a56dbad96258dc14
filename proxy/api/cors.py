"""Cross-origin requests of browsers to ``/v1``: allowed from everywhere, since a key has to come with each of them.

No cookie counts here, so a page learns nothing that its key would not give it anyway. Placeholder keys, which anybody
could guess, are refused to pages of other machines by ``identity_of``.
"""

from __future__ import annotations

from starlette.types import ASGIApp, Message, Receive, Scope, Send

_EXPOSED = (
    b"x-request-id, x-memory, x-memory-receipt, x-memory-session, server-timing, retry-after, retry-after-ms, "
    b"x-should-retry, openai-organization, openai-processing-ms, openai-version, x-ratelimit-limit-requests, "
    b"x-ratelimit-limit-tokens, x-ratelimit-remaining-requests, x-ratelimit-remaining-tokens, "
    b"x-ratelimit-reset-requests, x-ratelimit-reset-tokens"
)
_ALLOWED = [(b"access-control-allow-origin", b"*"), (b"access-control-expose-headers", _EXPOSED)]
_OURS = frozenset({b"access-control-allow-credentials", *(name for name, _ in _ALLOWED)})


class Cors:
    """Pure ASGI middleware; requests that name no origin pass as they are."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a preflight, or let the response say that a page may read it."""
        given = dict(scope["headers"]) if scope["type"] == "http" else {}
        if b"origin" not in given or not scope["path"].startswith("/v1/"):
            await self._app(scope, receive, send)
            return
        if scope["method"] == "OPTIONS" and b"access-control-request-method" in given:
            await _preflight(given, send)
            return

        async def readable(message: Message) -> None:
            if message["type"] == "http.response.start":
                kept = [(name, value) for name, value in message["headers"] if name.lower() not in _OURS]
                message["headers"] = [*kept, *_ALLOWED]
            await send(message)

        await self._app(scope, receive, readable)


async def _preflight(given: dict[bytes, bytes], send: Send) -> None:
    headers = [
        *_ALLOWED,
        (b"access-control-allow-methods", b"GET, POST, PUT, PATCH, DELETE, HEAD"),
        (b"access-control-allow-headers", given.get(b"access-control-request-headers", b"authorization, content-type")),
        (b"access-control-max-age", b"600"),
        (b"vary", b"Access-Control-Request-Headers"),
    ]
    await send({"type": "http.response.start", "status": 204, "headers": headers})
    await send({"type": "http.response.body", "body": b"", "more_body": False})

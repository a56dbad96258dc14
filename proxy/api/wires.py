"""Wire of a request, and Throughline's errors in its shape."""

from __future__ import annotations

from collections.abc import Iterable

from proxy.api.asgi import Scope, Send, headers_of, send_whole
from proxy.dialects import chat, messages
from proxy.dialects.base import Dialect
from proxy.errors import ProxyError
from proxy.upstream.headers import find

REQUEST_ID = "throughline.request_id"  # where the outermost layer leaves it in the scope
_VERSION = "anthropic-version"
_MESSAGES = "/v1/messages"


def wire_of(scope: Scope) -> Dialect:
    """Return the wire whose shape errors have on a path."""
    path = scope["path"]
    return messages if path == _MESSAGES or path.startswith(f"{_MESSAGES}/") else chat


def is_anthropics(scope: Scope) -> bool:
    """Whether a request is of Anthropic's API, by its path or by the header that all of it needs."""
    return wire_of(scope) is messages or find(headers_of(scope), _VERSION) is not None


async def refuse(
    send: Send, error: ProxyError, dialect: Dialect, request_id: str, headers: Iterable[tuple[str, str]] = ()
) -> None:
    """Send an error of ours in the shape of a wire."""
    own = [("content-type", "application/json"), *error.headers.items(), *id_headers(dialect, request_id)]
    await send_whole(send, error.status, [*own, *headers], dialect.error_body(error, request_id))


def id_headers(dialect: Dialect, request_id: str) -> list[tuple[str, str]]:
    """Return a request's id under every name by which clients of a wire look for it."""
    return [("x-request-id", request_id), *([("request-id", request_id)] if dialect is messages else [])]

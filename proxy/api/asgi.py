"""Raw ASGI for the hot path: bodies in, bytes out, errors in the client's wire format, disconnect detection."""

from __future__ import annotations

import asyncio
import math
import re
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, MutableMapping
from typing import TYPE_CHECKING, Any

import orjson
from starlette.exceptions import HTTPException
from starlette.types import ASGIApp

from proxy.access.limits import UNLIMITED, Ticket
from proxy.dialects import chat, messages
from proxy.dialects.base import Dialect
from proxy.errors import BodyTooLarge, ProxyError
from proxy.process.threads import spawn
from proxy.upstream.headers import find, value_of

if TYPE_CHECKING:
    import httpx

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
Headers = list[tuple[str, str]]

REQUEST_ID = "throughline.request_id"  # key under which the outermost layer stores it in the scope
_VERSION = "anthropic-version"
_MESSAGES = "/v1/messages"
_CONTROL = re.compile(rb"[\x00-\x08\x0a-\x1f\x7f]")


class ClientGone(Exception):
    """The client disconnected before its request was read."""


class TooMuch(HTTPException):
    """The request body exceeds the limit; an HTTPException, since FastAPI passes only those through unchanged."""

    def __init__(self, limit: int, name: str) -> None:
        mend = f", or have the operator raise {name}" if name else ""
        super().__init__(BodyTooLarge.status, f"The request body has more than {limit} bytes. Send less{mend}.")


async def read_body(receive: Receive) -> bytes:
    """Return the whole request body; ``limited`` enforces its maximum size.

    Raises:
        ClientGone: If the client disconnects meanwhile.
    """
    chunks = [chunk async for chunk in body_chunks(receive)]
    return chunks[0] if len(chunks) == 1 else b"".join(chunks)


def limited(scope: Scope, receive: Receive, limit: int, name: str = "server.max_body_bytes") -> Receive:
    """Return a ``receive`` that counts the body while it arrives.

    Args:
        scope: Of the request.
        receive: Source of the body.
        limit: Maximum bytes.
        name: Name of the setting of the limit, "" if there is none.

    Raises:
        TooMuch: At once if the declared length exceeds ``limit``, else as soon as the body does.
    """
    declared = value_of(headers_of(scope), "content-length")
    if declared.isdecimal() and (len(declared) > 18 or int(declared) > limit):
        raise TooMuch(limit, name)
    size = 0

    async def counted() -> Message:
        nonlocal size
        message = await receive()
        size += len(message.get("body", b""))
        if size > limit:
            raise TooMuch(limit, name)
        return message

    return counted


async def body_chunks(receive: Receive) -> AsyncIterator[bytes]:
    """Yield the request body as it arrives.

    Raises:
        ClientGone: If the client disconnects meanwhile.
    """
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise ClientGone
        if chunk := message.get("body", b""):
            yield chunk
        if not message.get("more_body", False):
            return


async def until_hang_up(
    receive: Receive, work: Callable[[], Awaitable[None]], gone: Callable[[], None] | None = None
) -> None:
    """Run ``work``; if the client disconnects, cancel it and return. Exceptions of ``work`` propagate unchanged.

    It cancels the task itself, not an anyio scope: a scope is cancelled only while the task waits, and a provider that
    floods leaves no such moment (tests/e2e/test_slow_clients.py).

    Args:
        receive: Source of the disconnect; the body has been read.
        work: Coroutine function to run.
        gone: Called at once on disconnect, before the remaining cleanup.
    """
    task = asyncio.current_task()
    assert task is not None
    has_gone = False

    async def watch() -> None:
        nonlocal has_gone
        while (await receive())["type"] != "http.disconnect":
            pass
        has_gone = True
        if gone is not None:
            gone()
        task.cancel()

    watching = spawn(watch(), "watch for a hang-up")
    try:
        await work()
    except asyncio.CancelledError:
        if not has_gone or task.uncancel():
            raise
    finally:
        watching.cancel()


def watched(send: Send, ticket: Ticket) -> Send:
    """Return a ``send`` that meters the reply for a ticket, and adds rate-limit headers that the provider omits.

    The ticket is closed before the reply's last byte is sent: a client that has read it may send its next request at
    once.
    """
    if ticket is UNLIMITED:
        return send
    left = math.inf

    async def seen(message: Message) -> None:
        nonlocal left
        if message["type"] == "http.response.start":
            named = {name.lower(): value for name, value in message["headers"]}
            if (length := named.get(b"content-length", b"")).isdigit():
                left = int(length)
            ticket.begin(message["status"], named.get(b"content-encoding", b"").decode("latin-1"))
            told = [(name.encode(), value.encode()) for name, value in ticket.headers()]
            kinds = [kind for kind in (b"requests", b"tokens") if not any(_is_told(name, kind) for name in named)]
            added = [pair for pair in told if any(_is_told(pair[0], kind) for kind in kinds)]
            message["headers"] = [*message["headers"], *added]
        elif message["type"] == "http.response.body":
            body = message.get("body", b"")
            ticket.feed(body)
            left -= len(body)
            if left <= 0 or not message.get("more_body", False):
                ticket.close()
        await send(message)

    return seen


def _is_told(name: bytes, kind: bytes) -> bool:
    return name.startswith(b"x-ratelimit-") and name.endswith(b"-" + kind)


async def send_head(send: Send, status: int, headers: Iterable[tuple[str, str]]) -> None:
    """Send status and headers; values are the received bytes, or ASCII for Throughline's headers.

    A header with a control character is omitted: it is invalid (RFC 9110, 5.5), and uvicorn would send nothing.
    """
    encoded = ((name.encode("latin-1"), value.encode("latin-1", "replace")) for name, value in headers)
    raw = [(name, value) for name, value in encoded if not _CONTROL.search(value)]
    await send({"type": "http.response.start", "status": status, "headers": raw})


async def send_chunk(send: Send, chunk: bytes) -> None:
    """Send one piece of a body at once."""
    await send({"type": "http.response.body", "body": chunk, "more_body": True})


async def send_end(send: Send) -> None:
    """End the body."""
    await send({"type": "http.response.body", "body": b"", "more_body": False})


async def send_whole(send: Send, status: int, headers: Headers, body: bytes) -> None:
    """Send a complete response."""
    await send_head(send, status, [*headers, ("content-length", str(len(body)))])
    await send({"type": "http.response.body", "body": body, "more_body": False})


async def send_error(send: Send, error: ProxyError, headers: Headers) -> None:
    """Send a ProxyError in OpenAI's shape."""
    own = [("content-type", "application/json"), *error.headers.items()]
    await send_whole(send, error.status, [*own, *headers], orjson.dumps(error.body()))


def headers_of(scope: Scope) -> Headers:
    """Return the request's headers, values as latin-1, in order."""
    return [(name.decode("latin-1"), value.decode("latin-1")) for name, value in scope["headers"]]


def wire_of(scope: Scope) -> Dialect:
    """Return the dialect of error bodies on a path."""
    path = scope["path"]
    return messages if path == _MESSAGES or path.startswith(f"{_MESSAGES}/") else chat


def is_anthropics(scope: Scope) -> bool:
    """Return whether a request uses Anthropic's API, by its path or its version header."""
    return wire_of(scope) is messages or find(headers_of(scope), _VERSION) is not None


async def refuse(
    send: Send, error: ProxyError, dialect: Dialect, request_id: str, headers: Iterable[tuple[str, str]] = ()
) -> None:
    """Send a ProxyError in the shape of a dialect."""
    own = [("content-type", "application/json"), *error.headers.items(), *id_headers(dialect, request_id)]
    await send_whole(send, error.status, [*own, *headers], dialect.error_body(error, request_id))


def id_headers(dialect: Dialect, request_id: str) -> list[tuple[str, str]]:
    """Return the request id under every header name that clients of a dialect read."""
    return [("x-request-id", request_id), *([("request-id", request_id)] if dialect is messages else [])]


def client(app: ASGIApp) -> httpx.AsyncClient:
    """Return an in-process client of the application, without a socket."""
    import httpx  # noqa: PLC0415 - 8 MB that few servers need

    return httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://localhost")

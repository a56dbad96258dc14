"""Pooled connections that record earlier use, and whether the provider has sent a byte since the last request."""

from __future__ import annotations

import asyncio
import socket
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from functools import partial

import aiohttp
from aiohttp import AddrInfoType
from aiohttp.client_proto import ResponseHandler
from aiohttp.connector import Connection
from aiohttp.helpers import set_exception
from aiohttp.tracing import Trace

# A connection closed by the provider fails at the first write. A provider that is silent for longer has received the
# request, and may have processed it.
MAX_STALE_S = 5.0

# Linux lets it grow to 32 MB a connection while a client does not read; this size still gives 5 MB/s at 100 ms latency.
_RECEIVE_BUFFER_BYTES = 256 * 1024


class Handler(ResponseHandler):
    """A connection's protocol."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        super().__init__(loop=loop)
        self.requests = 0
        self.has_heard = False
        self.began_at = 0.0

    def begin(self) -> None:
        """Note the start of another request on this connection."""
        self.requests += 1
        self.has_heard = False
        self.began_at = time.monotonic()

    def data_received(self, data: bytes) -> None:
        """Receive bytes of a reply; end it at an unparsable chunk, where aiohttp leaves its reader waiting."""
        self.has_heard = True
        super().data_received(data)
        error, body = self.exception(), self._payload
        if error is not None and body is not None and not body.is_eof():
            set_exception(body, aiohttp.ClientPayloadError("The body cannot be parsed."), error)


def handle_everywhere() -> None:
    """Make every aiohttp connector of this process use ``Handler``: LiteLLM creates its own and takes no other."""
    aiohttp.connector.ResponseHandler = Handler  # type: ignore[attr-defined]


@dataclass(slots=True)
class Use:
    """Connection of one request; ``handler`` is None until there is one."""

    handler: Handler | None = None

    def was_stale(self, error: Exception) -> bool:
        """Return whether a request failed because the provider had closed the connection after the previous request.

        Only then may it be sent again, even a POST: the connection was a used one, ended at once, and brought no byte
        of a reply.
        """
        handler = self.handler
        if handler is None or handler.requests < 2 or handler.has_heard:
            return False
        if isinstance(error, aiohttp.ClientConnectorError | TimeoutError):
            return False
        return time.monotonic() - handler.began_at < MAX_STALE_S


_USE: ContextVar[Use | None] = ContextVar("use", default=None)


@contextmanager
def using() -> Iterator[Use]:
    """Record the connection of the requests in this block."""
    use = Use()
    token = _USE.set(use)
    try:
        yield use
    finally:
        _USE.reset(token)


class Pool(aiohttp.TCPConnector):
    """A pool of ``Handler`` connections.

    Args:
        keepalive_s: Seconds until an idle connection is closed; 0: every request gets a new connection.
    """

    def __init__(self, keepalive_s: float) -> None:
        kept = {"keepalive_timeout": keepalive_s} if keepalive_s else {"force_close": True}
        super().__init__(limit=0, ttl_dns_cache=60, socket_factory=_socket, **kept)
        self._factory: Callable[[], Handler] = partial(Handler, self._loop)  # type: ignore[assignment]

    async def connect(
        self,
        req: aiohttp.ClientRequest,
        traces: list[Trace],
        timeout: aiohttp.ClientTimeout,  # noqa: ASYNC109 - the base class says so
    ) -> Connection:
        """Return a used or new connection, and record it inside a ``using`` block."""
        connection = await super().connect(req, traces, timeout)
        handler = connection.protocol
        if isinstance(handler, Handler):
            handler.begin()
            if (use := _USE.get()) is not None:
                use.handler = handler
        return connection


def _socket(address: AddrInfoType) -> socket.socket:
    family, kind, protocol, _, _ = address
    made = socket.socket(family=family, type=kind, proto=protocol)
    made.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, _RECEIVE_BUFFER_BYTES)
    return made

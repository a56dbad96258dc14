"""Client connections: limits of size and time for requests, and the close of a connection."""

from __future__ import annotations

import asyncio
import re
import socket
from contextlib import suppress
from typing import Any

import orjson
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from proxy.errors import HeadTooLarge, InvalidRequest, ProxyError, RequestTimeout

REQUEST_TIMEOUT = "throughline.request_timeout_s"  # key of the setting in the application's lifespan state
_REQUEST_TIMEOUT_S = 60.0

MAX_HEAD_BYTES = 256 * 1024  # nginx takes 32 kB, uvicorn's other parser 64 kB
MIN_BODY_BYTES = 512  # minimum growth of a body per timeout; Apache's minimum is 500 bytes a second
MAX_DROPPED_BYTES = 256 * 2**20  # read of a refused body, so that its client gets the answer
MAX_STALL_S = 300.0  # a client that reads nothing for so long is disconnected; nginx waits 60 s

# Linux lets it grow to 4 MB a connection, which a reply to a client that reads nothing fills; it doubles the set value.
_SEND_BUFFER_BYTES = 128 * 1024

_REASONS = {400: b"Bad Request", 408: b"Request Timeout", 431: b"Request Header Fields Too Large"}

_MAX_HELD_BYTES = 65_536  # of an incomplete head; a longer one goes to the parser

_CHUNKED = b"\r\ntransfer-encoding: chunked\r\n"
_HEAD_END = b"\r\n\r\n"
_METHOD = re.compile(rb"[\r\n]{0,4}[A-Za-z]{1,20}(?:[ -]|\Z)|[\r\n]{0,4}\Z")
_OFFER = re.compile(
    rb"\r\n(?:upgrade[ \t]*:(?![ \t]*websocket[ \t]*(?:\r|\Z))|http2-settings[ \t]*:)[^\r\n]*", re.IGNORECASE
)


class _WithoutOffers(HttpToolsProtocol):
    """uvicorn's HTTP protocol that ignores upgrade offers other than WebSocket and reads the request.

    The parser of ``httptools`` ends a request at any ``Upgrade``; the JDK's client offers h2c with every request, and
    RFC 9110 (7.8) allows a server to ignore the offer.
    """

    _is_between = True  # True between two requests
    _held = b""

    def data_received(self, data: bytes) -> None:
        """Process received bytes; remove offers from the head of a request."""
        if self._is_between:
            data, self._held = self._held + data, b""
            head, end, rest = data.partition(_HEAD_END)
            if not end and len(data) < _MAX_HELD_BYTES and _METHOD.match(data):  # the parser refuses all else at once
                self._held = data
                return
            data = without_offers(head) + end + rest
        super().data_received(data)

    def on_message_begin(self) -> None:
        """Record the start of a request."""
        self._is_between = False
        super().on_message_begin()

    def on_message_complete(self) -> None:
        """Record the end of a request."""
        self._is_between = True
        super().on_message_complete()

    def _unsupported_upgrade_warning(self) -> None:
        """Log no warning: the application answers WebSocket requests itself."""


def without_offers(head: bytes) -> bytes:
    r"""Return the head of a request without offers of protocols other than WebSocket.

    >>> without_offers(b"GET / HTTP/1.1\r\nUpgrade: h2c\r\nHost: a")
    b'GET / HTTP/1.1\r\nHost: a'
    """
    return _OFFER.sub(b"", head) if b"pgrade" in head or b"PGRADE" in head or b"ettings" in head else head


class Connection(_WithoutOffers):
    """HTTP protocol with timeouts for requests that never end and for clients that never read.

    A head must be complete within the timeout. A body must grow by ``MIN_BODY_BYTES`` in every timeout in which it is
    read; otherwise the answer is 408. After an answer before the end of the body (413), the body is read and dropped up
    to ``MAX_DROPPED_BYTES``: closing a connection with unread bytes resets it, and the client loses the answer.
    """

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Start the timeout of the first head."""
        bound = transport.get_extra_info("socket")
        if bound is not None:
            with suppress(OSError):
                bound.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, _SEND_BUFFER_BYTES)
        super().connection_made(_Transport(transport, self))  # type: ignore[arg-type]
        self._timeout_s = float(self.app_state.get(REQUEST_TIMEOUT, _REQUEST_TIMEOUT_S))
        self._timer: asyncio.TimerHandle | None = None
        self._stall: asyncio.TimerHandle | None = None
        self._is_body = False
        self._drops = False
        self._head_bytes = 0
        self._body_bytes = 0
        self._grown_from = 0
        self._was_paused = False
        self._await_head()

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop all timers."""
        self._stop()
        self._transport.end()
        self.resume_writing()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Process received bytes, within the limits."""
        if self._drops:
            self._body_bytes += len(data)
            if self._body_bytes > MAX_DROPPED_BYTES:
                self._end()
            return
        if self._is_body:
            super().data_received(data)
            return
        if self._timer is None:
            self._await_head()
        self._head_bytes += len(data)
        super().data_received(data)
        if self._head_bytes > MAX_HEAD_BYTES and not self._is_body:
            self._refuse(HeadTooLarge(f"The request's head has more than {MAX_HEAD_BYTES} bytes. Send fewer headers."))

    def handle_websocket_upgrade(self) -> None:
        """Hand the connection over to the WebSocket protocol."""
        self._stop()
        super().handle_websocket_upgrade()

    def send_400_response(self, msg: str) -> None:
        """Refuse malformed HTTP, with the usual JSON error body."""
        self._refuse(InvalidRequest(f"{msg} Send HTTP/1.1 with a head of moderate size."))

    def on_header(self, name: bytes, value: bytes) -> None:
        """Process a header; drop trailers, which follow a body (RFC 9110, 6.5.1).

        The parser reports both here, and uvicorn adds both to the headers, from which the user was already read.
        """
        if not self._is_body:
            super().on_header(name, value)

    def on_headers_complete(self) -> None:
        """Start the request and the timeout of its body."""
        self._stop()
        self._is_body, self._head_bytes, self._body_bytes, self._grown_from = True, 0, 0, 0
        super().on_headers_complete()
        if self.parser.get_http_version() == "1.0" and self.cycle is not None:
            self.cycle.transport = _Unframed(self.transport)  # type: ignore[assignment]
        self._await_body()

    def on_body(self, body: bytes) -> None:
        """Process a piece of the body; drop it if the request has been answered."""
        self._body_bytes += len(body)
        super().on_body(body)
        self._was_paused = self._was_paused or self.flow.read_paused
        if self.cycle.response_complete and self._body_bytes > MAX_DROPPED_BYTES:
            self._end()

    def on_message_complete(self) -> None:
        """End the request and start waiting for the next head."""
        self._stop()
        self._is_body = False
        super().on_message_complete()
        self._transport.finish()
        if self.cycle.response_complete and not self.transport.is_closing():
            self._await_head()  # the body stopped uvicorn's own timer of idle connections

    def pause_writing(self) -> None:
        """Pause for a client that does not read, for at most ``MAX_STALL_S``."""
        super().pause_writing()
        self._stall = self._stall or self.loop.call_later(MAX_STALL_S, self._end)

    def resume_writing(self) -> None:
        """Resume writing and stop the stall timer."""
        super().resume_writing()
        if self._stall is not None:
            self._stall.cancel()
            self._stall = None

    @property
    def is_answered_early(self) -> bool:
        """True while the client still sends the body of an answered request."""
        return self._is_body and self.cycle.response_complete

    @property
    def _transport(self) -> _Transport:
        return self.transport  # type: ignore[return-value]

    def _await_head(self) -> None:
        self._timer = self.loop.call_later(self._timeout_s, self._head_is_late)

    def _await_body(self) -> None:
        self._was_paused = self.flow.read_paused
        self._timer = self.loop.call_later(self._timeout_s, self._look_at_body)

    def _stop(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _head_is_late(self) -> None:
        self._timer = None
        if self.cycle is not None and not self.cycle.response_complete:
            self._await_head()  # the next request began early; the previous one is still being answered
        else:
            self._refuse(self._late("head"))

    def _look_at_body(self) -> None:
        self._timer = None
        has_grown = self._body_bytes - self._grown_from >= MIN_BODY_BYTES
        self._grown_from = self._body_bytes
        if self.cycle.response_complete:
            self._end()
        elif has_grown or self._was_paused or self.flow.read_paused:
            self._await_body()
        elif self.cycle.response_started:
            self._end()
        else:
            self._refuse(self._late("body"))

    def _late(self, part: str) -> RequestTimeout:
        return RequestTimeout(
            f"The request's {part} did not arrive within {self._timeout_s:g} s. Send it again, or have the operator "
            "raise server.request_timeout_s."
        )

    def _refuse(self, error: ProxyError) -> None:
        """Send an error instead of the application's answer, and close."""
        self._stop()
        if self.transport.is_closing():
            return
        body = orjson.dumps(error.body())
        head = b"HTTP/1.1 %d %s\r\ncontent-type: application/json\r\ncontent-length: %d\r\nconnection: close\r\n\r\n"
        self.transport.write(head % (error.status, _REASONS[error.status], len(body)) + body)
        if self.cycle is None or self.cycle.response_complete:
            self._drops, self._body_bytes = True, 0
            self._timer = self.loop.call_later(self._timeout_s, self._end)
            self._transport.linger()
        else:
            self._transport.end()

    def _end(self) -> None:
        """Close immediately."""
        self._stop()
        self._stall = None
        self._transport.abort()


class _Unframed:
    """Transport that removes chunked framing from an HTTP/1.0 reply (RFC 9112, 6.1), which ends with the connection."""

    def __init__(self, inner: asyncio.Transport) -> None:
        self._inner = inner
        self._is_chunked: bool | None = None

    def __getattr__(self, name: str) -> Any:
        """Delegate all other attributes to the inner transport."""
        return getattr(self._inner, name)

    def write(self, data: bytes) -> None:
        """Write the head, or one write of uvicorn: at most one chunk, possibly with the last chunk."""
        if self._is_chunked is None:
            head = data.replace(_CHUNKED, b"\r\n", 1)
            self._is_chunked = head != data
            data = head
        elif self._is_chunked:
            size, _, rest = data.partition(b"\r\n")
            data = rest[: int(size, 16)] if size else b""
        if data:
            self._inner.write(data)


class _Transport:
    """Transport that delays ``close`` while a request still arrives, as a reset would lose the answer."""

    def __init__(self, inner: asyncio.Transport, connection: Connection) -> None:
        self._inner = inner
        self._connection = connection
        self._is_ending = False
        self.write = inner.write

    def __getattr__(self, name: str) -> Any:
        """Delegate all other attributes to the inner transport."""
        return getattr(self._inner, name)

    def is_closing(self) -> bool:
        """Return whether writing has ended."""
        return self._is_ending or self._inner.is_closing()

    def close(self) -> None:
        """Close after all writes and, if the answer came before the end of the request, after reading the rest."""
        if not self._is_ending and self._connection.is_answered_early:
            self.linger()
        else:
            self.end()

    def linger(self) -> None:
        """Close the writing side and continue reading."""
        if self.is_closing():
            return
        self._is_ending = True
        if self._inner.can_write_eof():
            self._inner.write_eof()
        self._connection.flow.resume_reading()

    def finish(self) -> None:
        """Close if ``close`` was delayed for the end of the request."""
        if self._is_ending:
            self._inner.close()

    def end(self) -> None:
        """Close after all writes."""
        self._is_ending = True
        self._inner.close()

"""A client's connection: what it may cost, how long its request may take, and how it is closed."""

from __future__ import annotations

import asyncio
import re
import socket
from contextlib import suppress
from typing import Any

import orjson
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from proxy.errors import HeadTooLarge, InvalidRequest, ProxyError, RequestTimeout

REQUEST_TIMEOUT = "throughline.request_timeout_s"  # where the application leaves the setting in its lifespan's state
_REQUEST_TIMEOUT_S = 60.0

MAX_HEAD_BYTES = 256 * 1024  # nginx takes 32 kB, uvicorn's other parser 64 kB
MIN_BODY_BYTES = 512  # that a body must have grown by within the timeout; Apache's least is 500 bytes a second
MAX_DROPPED_BYTES = 256 * 2**20  # of a refused body are read on, so that its client finds the answer
MAX_STALL_S = 300.0  # a client that reads nothing for so long is gone; nginx gives up after 60 s

# Linux lets it grow to 4 MB a connection, which a client that reads nothing fills with a reply; it doubles what is set.
_SEND_BUFFER_BYTES = 128 * 1024

_REASONS = {400: b"Bad Request", 408: b"Request Timeout", 431: b"Request Header Fields Too Large"}

_MAX_HELD_BYTES = 65_536  # of a head that arrives in pieces; a longer one is for the parser to judge

_CHUNKED = b"\r\ntransfer-encoding: chunked\r\n"
_HEAD_END = b"\r\n\r\n"
_METHOD = re.compile(rb"[\r\n]{0,4}[A-Za-z]{1,20}(?:[ -]|\Z)|[\r\n]{0,4}\Z")
_OFFER = re.compile(
    rb"\r\n(?:upgrade[ \t]*:(?![ \t]*websocket[ \t]*(?:\r|\Z))|http2-settings[ \t]*:)[^\r\n]*", re.IGNORECASE
)


class _WithoutOffers(HttpToolsProtocol):
    """The HTTP parser's protocol, but for offers of other protocols: they are left unheard, and what follows is read.

    The parser of ``httptools`` ends a request at ``Upgrade``, whatever is offered; the JDK's client offers h2c with
    every request, and RFC 9110 (7.8) lets a server go on as if nothing had been offered.
    """

    _is_between = True  # requests
    _held = b""

    def data_received(self, data: bytes) -> None:
        """Take the next bytes of the client."""
        if self._is_between:
            data, self._held = self._held + data, b""
            head, end, rest = data.partition(_HEAD_END)
            if not end and len(data) < _MAX_HELD_BYTES and _METHOD.match(data):  # anything else is refused at once
                self._held = data
                return
            data = without_offers(head) + end + rest
        super().data_received(data)

    def on_message_begin(self) -> None:
        """Begin a request."""
        self._is_between = False
        super().on_message_begin()

    def on_message_complete(self) -> None:
        """End a request."""
        self._is_between = True
        super().on_message_complete()

    def _unsupported_upgrade_warning(self) -> None:
        """Leave a WebSocket's knock to the application, which answers it."""


def without_offers(head: bytes) -> bytes:
    r"""Return the head of a request without what offers another protocol than WebSocket.

    >>> without_offers(b"GET / HTTP/1.1\r\nUpgrade: h2c\r\nHost: a")
    b'GET / HTTP/1.1\r\nHost: a'
    """
    return _OFFER.sub(b"", head) if b"pgrade" in head or b"PGRADE" in head or b"ettings" in head else head


class Connection(_WithoutOffers):
    """The protocol with a timeout for requests that never end and for clients that never read.

    A head must be whole within the timeout, whatever arrives of it meanwhile. A body must grow by ``MIN_BODY_BYTES``
    in every such span in which it is read; then 408. After an answer that did not wait for the body (413), the body is
    read and dropped up to ``MAX_DROPPED_BYTES``: a connection that is closed with unread bytes is reset, and the answer
    lost with it.
    """

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Start with an empty head."""
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
        """Stop every clock."""
        self._stop()
        self._transport.end()
        self.resume_writing()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Take bytes of a request."""
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
        """Leave the connection to another protocol."""
        self._stop()
        super().handle_websocket_upgrade()

    def send_400_response(self, msg: str) -> None:
        """Refuse what is no HTTP, in the shape of every other error."""
        self._refuse(InvalidRequest(f"{msg} Send HTTP/1.1 with a head of moderate size."))

    def on_header(self, name: bytes, value: bytes) -> None:
        """Take a field of the head; one behind a body, a trailer, is dropped (RFC 9110, 6.5.1).

        Both come in here, and uvicorn adds both to the list of headers, though who asks has been read from it.
        """
        if not self._is_body:
            super().on_header(name, value)

    def on_headers_complete(self) -> None:
        """Start the request, and the clock of its body."""
        self._stop()
        self._is_body, self._head_bytes, self._body_bytes, self._grown_from = True, 0, 0, 0
        super().on_headers_complete()
        if self.parser.get_http_version() == "1.0" and self.cycle is not None:
            self.cycle.transport = _Unframed(self.transport)  # type: ignore[assignment]
        self._await_body()

    def on_body(self, body: bytes) -> None:
        """Take a piece of the body; drop it where the request has been answered."""
        self._body_bytes += len(body)
        super().on_body(body)
        self._was_paused = self._was_paused or self.flow.read_paused
        if self.cycle.response_complete and self._body_bytes > MAX_DROPPED_BYTES:
            self._end()

    def on_message_complete(self) -> None:
        """Note that the request is whole."""
        self._stop()
        self._is_body = False
        super().on_message_complete()
        self._transport.finish()
        if self.cycle.response_complete and not self.transport.is_closing():
            self._await_head()  # uvicorn's own clock of idle connections was stopped by the body

    def pause_writing(self) -> None:
        """Wait for a client that does not read, but not for ever."""
        super().pause_writing()
        self._stall = self._stall or self.loop.call_later(MAX_STALL_S, self._end)

    def resume_writing(self) -> None:
        """Go on."""
        super().resume_writing()
        if self._stall is not None:
            self._stall.cancel()
            self._stall = None

    @property
    def is_answered_early(self) -> bool:
        """True while the body of an answered request still arrives."""
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
            self._await_head()  # the next request began early; the one before is still being answered
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
        """Answer in place of the application, and close."""
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
        """Close without waiting for anything."""
        self._stop()
        self._stall = None
        self._transport.abort()


class _Unframed:
    """A transport for one reply to HTTP/1.0, which knows no chunks (RFC 9112, 6.1): it ends with the connection."""

    def __init__(self, inner: asyncio.Transport) -> None:
        self._inner = inner
        self._is_chunked: bool | None = None

    def __getattr__(self, name: str) -> Any:
        """Return what else a transport has."""
        return getattr(self._inner, name)

    def write(self, data: bytes) -> None:
        """Write the head, or what uvicorn has framed: at most one chunk, and perhaps the last one."""
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
    """A transport that is not closed under a request that still arrives, lest its answer be lost by a reset."""

    def __init__(self, inner: asyncio.Transport, connection: Connection) -> None:
        self._inner = inner
        self._connection = connection
        self._is_ending = False
        self.write = inner.write

    def __getattr__(self, name: str) -> Any:
        """Return what else a transport has."""
        return getattr(self._inner, name)

    def is_closing(self) -> bool:
        """Return whether nothing may be written any more."""
        return self._is_ending or self._inner.is_closing()

    def close(self) -> None:
        """Close once everything is written and, where the answer came before the whole request, that is read."""
        if not self._is_ending and self._connection.is_answered_early:
            self.linger()
        else:
            self.end()

    def linger(self) -> None:
        """Say that nothing more will be written, and go on reading."""
        if self.is_closing():
            return
        self._is_ending = True
        if self._inner.can_write_eof():
            self._inner.write_eof()
        self._connection.flow.resume_reading()

    def finish(self) -> None:
        """Close if only the end of the request was waited for."""
        if self._is_ending:
            self._inner.close()

    def end(self) -> None:
        """Close once everything is written."""
        self._is_ending = True
        self._inner.close()

"""The HTTP parser's protocol, but for offers of other protocols: they are left unheard, and the body behind them read.

The parser of ``httptools`` ends a request at ``Upgrade``, whatever is offered; the JDK's client offers h2c with every
request, and RFC 9110 (7.8) lets a server go on as if nothing had been offered.
"""

from __future__ import annotations

import re

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

MAX_HEAD_BYTES = 65_536  # of a head that arrives in pieces; a longer one is for the parser to judge

_HEAD_END = b"\r\n\r\n"
_METHOD = re.compile(rb"[\r\n]{0,4}[A-Za-z]{1,20}(?:[ -]|\Z)|[\r\n]{0,4}\Z")
_OFFER = re.compile(
    rb"\r\n(?:upgrade[ \t]*:(?![ \t]*websocket[ \t]*(?:\r|\Z))|http2-settings[ \t]*:)[^\r\n]*", re.IGNORECASE
)


class HttpProtocol(HttpToolsProtocol):
    """One connection."""

    _is_between = True  # requests
    _held = b""

    def data_received(self, data: bytes) -> None:
        """Take the next bytes of the client."""
        if self._is_between:
            data, self._held = self._held + data, b""
            head, end, rest = data.partition(_HEAD_END)
            if not end and len(data) < MAX_HEAD_BYTES and _METHOD.match(data):  # anything else is refused at once
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

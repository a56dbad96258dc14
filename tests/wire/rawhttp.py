"""A client that adds nothing: given headers, undecoded body bytes, and the body's end as received."""

from __future__ import annotations

import http.client
import socket
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from urllib.parse import urlsplit

Pairs = Iterable[tuple[str, str]]
TIMEOUT_S = 30.0


@dataclass(frozen=True)
class Answer:
    """A response as received, without chunked framing."""

    status: int
    headers: list[tuple[str, str]]
    body: bytes

    def header(self, name: str) -> str | None:
        return next((value for key, value in self.headers if key.lower() == name.lower()), None)


def send(origin: str, method: str, target: str, headers: Pairs = (), body: bytes | Iterator[bytes] = b"") -> Answer:
    """Send one request on a new connection; an iterator is sent chunked."""
    parts = urlsplit(origin)
    connection = http.client.HTTPConnection(parts.hostname or "", parts.port, timeout=TIMEOUT_S)
    try:
        connection.putrequest(method, target, skip_accept_encoding=True)
        for name, value in headers:
            connection.putheader(name, value.encode())
        if isinstance(body, bytes):
            if body or method == "POST":
                connection.putheader("Content-Length", str(len(body)))
            connection.endheaders(body or None)
        else:
            connection.putheader("Transfer-Encoding", "chunked")
            connection.endheaders(body, encode_chunked=True)
        response = connection.getresponse()
        return Answer(response.status, response.getheaders(), response.read())
    finally:
        connection.close()


class Wiretap:
    """One request on a raw socket, whose response the test reads piece by piece."""

    def __init__(self, origin: str, method: str, target: str, headers: Pairs = (), body: bytes = b"") -> None:
        parts = urlsplit(origin)
        self._socket = socket.create_connection((parts.hostname or "", parts.port or 80), timeout=TIMEOUT_S)
        named = dict(headers)
        length = {} if "Transfer-Encoding" in named else {"Content-Length": str(len(body))}
        given = {"Host": parts.netloc, **length, **named}
        head = "".join(f"{name}: {value}\r\n" for name, value in given.items())
        self._socket.sendall(f"{method} {target} HTTP/1.1\r\n{head}\r\n".encode() + body)
        self.received = b""

    def __enter__(self) -> Wiretap:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        self._socket.close()

    def reset(self) -> None:
        """Close with a reset, as a killed process does."""
        self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\x01\x00\x00\x00\x00\x00\x00\x00")
        self._socket.close()

    def until(self, mark: bytes) -> bytes:
        """Read until a mark arrives; return all bytes so far."""
        while mark not in self.received:
            piece = self._socket.recv(65_536)
            assert piece, f"the connection ended before {mark!r}; so far: {self.received[-500:]!r}"
            self.received += piece
        return self.received

    def rest(self) -> bytes:
        """Read until the server closes; return all bytes."""
        try:
            while piece := self._socket.recv(65_536):
                self.received += piece
        except ConnectionResetError:
            pass
        return self.received

    def sent_head(self) -> bytes:
        """Read until the head is complete; return it."""
        return self.until(b"\r\n\r\n").partition(b"\r\n\r\n")[0]

    def ended(self) -> bytes:
        """Read a body to its end, chunked or by length, and leave the connection open; return the raw bytes."""
        head = self.sent_head().decode("latin-1").lower()
        length = next((line[15:] for line in head.split("\r\n") if line.startswith("content-length:")), None)
        if length is None:
            self.until(b"\r\n0\r\n\r\n")
            return self.body
        while len(self.body) < int(length):
            piece = self._socket.recv(65_536)
            assert piece, f"the body ended early: {self.received[-500:]!r}"
            self.received += piece
        return self.body

    @property
    def body(self) -> bytes:
        """Bytes received after the head, framing included."""
        return self.received.partition(b"\r\n\r\n")[2]


def ended_whole(received: bytes) -> bool:
    """Return whether a chunked response is complete."""
    return received.endswith(b"0\r\n\r\n")


def unframed(body: bytes) -> bytes:
    """Return a complete body without chunked framing."""
    out = b""
    while body:
        size, _, rest = body.partition(b"\r\n")
        out, body = out + rest[: int(size, 16)], rest[int(size, 16) + 2 :]
    return out

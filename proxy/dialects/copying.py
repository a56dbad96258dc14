"""A reply's bytes copied aside while they pass, and what they are once the reply has ended."""

from __future__ import annotations

import json
import zlib
from typing import Any

import orjson

MAX_BYTES = 64 * 2**20
_GZIP_OR_ZLIB = 32 + zlib.MAX_WBITS
_CODINGS = {"gzip": _GZIP_OR_ZLIB, "x-gzip": _GZIP_OR_ZLIB, "deflate": _GZIP_OR_ZLIB}


class Copy:
    """Keeps the pieces of a reply; never raises.

    Args:
        max_bytes: What is beyond is not copied, and the reply counts as incomplete.
    """

    def __init__(self, max_bytes: int = MAX_BYTES) -> None:
        self._chunks: list[bytes] = []
        self._room = max_bytes
        self._max_bytes = max_bytes
        self.is_whole = True

    def feed(self, chunk: bytes) -> None:
        """Copy a piece aside."""
        if len(chunk) > self._room:
            self.is_whole = False
            self._room = 0
            return
        self._room -= len(chunk)
        self._chunks.append(chunk)

    def decoded(self, content_encoding: str) -> bytes:
        """Return the bytes, unpacked; none where they are packed in another way than gzip and deflate."""
        return unpacked(b"".join(self._chunks), content_encoding, self._max_bytes)


def is_stream(body: bytes, content_type: str) -> bool:
    """Whether a reply is a stream of events; without a type, its bytes are looked at."""
    if content_type:
        return "event-stream" in content_type.lower()
    return body.lstrip(b"\xef\xbb\xbf\r\n")[:1] in (b"d", b"e", b":", b"i", b"r")


def parsed(data: bytes) -> Any:
    """Return what a JSON text says, None where it is none."""
    try:
        return orjson.loads(data)
    except orjson.JSONDecodeError:
        # Some servers write NaN, or numbers beyond 64 bits.
        try:
            return json.loads(data)
        except (ValueError, RecursionError):
            return None


def unpacked(body: bytes, content_encoding: str, max_bytes: int) -> bytes:
    """Return a body unpacked; nothing where it is packed in another way than gzip and deflate."""
    coding = content_encoding.strip().lower()
    if coding in ("", "identity"):
        return body
    if coding not in _CODINGS:
        return b""
    for window_bits in (_CODINGS[coding], -zlib.MAX_WBITS):
        try:
            return zlib.decompressobj(window_bits).decompress(body, max_bytes)
        except zlib.error:
            continue
    return b""

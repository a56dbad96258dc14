"""Compressed request bodies, read here once and sent on plain: few providers take them compressed."""

from __future__ import annotations

import zlib

from proxy.api.asgi import Headers
from proxy.errors import BodyTooLarge, InvalidRequest, UnsupportedEncoding
from proxy.upstream.headers import find

_GZIP_OR_ZLIB = 32 + zlib.MAX_WBITS
_RAW = -zlib.MAX_WBITS
_WINDOWS = {"gzip": (_GZIP_OR_ZLIB,), "x-gzip": (_GZIP_OR_ZLIB,), "deflate": (_GZIP_OR_ZLIB, _RAW)}


def plain(body: bytes, headers: Headers, *, limit: int) -> tuple[bytes, Headers]:
    """Return a body without its content coding, and the headers without the name of it.

    Raises:
        UnsupportedEncoding: If it is neither gzip nor deflate.
        InvalidRequest: If it is not what its header says.
        BodyTooLarge: If there are more than ``limit`` bytes in it.
    """
    coding = (find(headers, "content-encoding") or "").strip().lower()
    if coding in ("", "identity"):
        return body, headers
    if coding not in _WINDOWS:
        raise UnsupportedEncoding(
            f"The content-encoding {coding[:40]!r} is not read here. Send gzip, or send it plain."
        )
    rest = [(name, value) for name, value in headers if name.lower() != "content-encoding"]
    return _inflated(body, coding, limit), rest


def _inflated(body: bytes, coding: str, limit: int) -> bytes:
    for window_bits in _WINDOWS[coding]:
        inflater = zlib.decompressobj(window_bits)
        try:
            text = inflater.decompress(body, limit + 1)
        except zlib.error:
            continue
        if len(text) > limit:
            raise BodyTooLarge(f"The request body has more than {limit} bytes, the limit server.max_body_bytes.")
        if inflater.eof:
            return text
    raise InvalidRequest(f"The body is not {coding}, though its content-encoding says so.")

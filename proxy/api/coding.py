"""Decompression of request bodies, where they are read or changed; few providers accept compressed ones."""

from __future__ import annotations

import zlib
from typing import Any

from proxy.api.asgi import Headers
from proxy.errors import BodyTooLarge, InvalidRequest, UnsupportedEncoding
from proxy.upstream.headers import value_of

MAX_CODINGS = 2  # nested codings

_WINDOWS = (32 + zlib.MAX_WBITS, -zlib.MAX_WBITS)  # with a zlib or gzip header, and raw
_OF_ARROW = {"gzip": "gzip", "x-gzip": "gzip", "zstd": "zstd", "br": "brotli"}


def plain(body: bytes, headers: Headers, *, limit: int) -> tuple[bytes, Headers]:
    """Return a body without its content codings, and the headers without ``Content-Encoding``.

    Raises:
        UnsupportedEncoding: If a coding is none of gzip, deflate, zstd and br.
        InvalidRequest: If the body does not match its header.
        BodyTooLarge: If it decompresses to more than ``limit`` bytes.
    """
    named = value_of(headers, "content-encoding").lower().split(",")
    codings = [coding.strip() for coding in named if coding.strip() not in ("", "identity")]
    if not codings:
        return body, headers
    if len(codings) > MAX_CODINGS or any(coding not in ("deflate", *_OF_ARROW) for coding in codings):
        raise UnsupportedEncoding(
            f"The content-encoding {', '.join(codings)[:40]!r} is not read here. Send gzip, deflate, zstd or br, or "
            "send it plain."
        )
    rest = [(name, value) for name, value in headers if name.lower() != "content-encoding"]
    for coding in reversed(codings):
        body = _by_arrow(body, coding, limit) if coding in _OF_ARROW else _inflated(body, limit)
    return body, rest


def _inflated(body: bytes, limit: int) -> bytes:
    for window_bits in _WINDOWS:
        inflater = zlib.decompressobj(window_bits)
        try:
            text = inflater.decompress(body, limit + 1)
        except zlib.error:
            continue
        if len(text) > limit:
            raise _too_large(limit)
        if inflater.eof and not inflater.unused_data:
            return text
    raise _broken("deflate")


def _by_arrow(body: bytes, coding: str, limit: int) -> bytes:
    """Return a body decompressed by pyarrow, which the store already requires; never more than ``limit`` bytes.

    Several concatenated members or frames are one body (RFC 1952, 2.2; RFC 8878, 3.1).
    """
    import pyarrow  # noqa: PLC0415 - few clients send such a body

    try:
        stream: Any = pyarrow.CompressedInputStream(pyarrow.BufferReader(body), _OF_ARROW[coding])
        text: bytes = stream.read(limit + 1)
    except (OSError, ValueError) as error:
        raise _broken(coding) from error
    if len(text) > limit:
        raise _too_large(limit)
    if not body:
        raise _broken(coding)
    return text


def _too_large(limit: int) -> BodyTooLarge:
    return BodyTooLarge(f"The request body has more than {limit} bytes, the limit server.max_body_bytes.")


def _broken(coding: str) -> InvalidRequest:
    return InvalidRequest(f"The body is not {coding}, though its content-encoding says so.")

"""Canonical bytes of a message, by which a conversation is recognised."""

from __future__ import annotations

import orjson

from proxy.dialects.base import Message


def canonical(message: Message) -> bytes:
    """Return what a message says, whether it came as a string or as a list of parts."""
    parts = [part.text.encode() if part.kind == "text" else _dumped(part.data) for part in message.parts]
    return b"\0".join(parts)


def _dumped(data: object) -> bytes:
    try:
        return orjson.dumps(data, option=orjson.OPT_SORT_KEYS, default=dict)
    except orjson.JSONEncodeError:
        return _written_out(data).encode("utf-8", "surrogatepass")


def _written_out(data: object) -> str:
    """Return what orjson refuses, numbers beyond 64 bits, in some stable form; nesting beyond sense is all alike."""
    try:
        return repr(data)
    except RecursionError:
        return ""

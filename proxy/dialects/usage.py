"""Token usage of a reply, read from its relayed bytes; the same for every wire format."""

from __future__ import annotations

import json
import zlib
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

_KEPT_BYTES = 64 * 1024
_MAX_INFLATED_BYTES = 16 * 1024 * 1024
_GZIP_OR_ZLIB = 32 + zlib.MAX_WBITS
_INFLATED = frozenset({"gzip", "x-gzip", "deflate"})
_KEY = b'"usage":'
_NUMBERED = ("input_tokens", "output_tokens", "cache_creation_input_tokens", "cache_read_input_tokens")


class UsageMeter:
    """Meter of a reply's usage, from its first and last bytes, which hold the provider's counts; never raises.

    A quote inside a JSON string is escaped, so that a model's text is never mistaken for the count.
    """

    def __init__(self) -> None:
        self._head = b""
        self._tail: deque[bytes] = deque()
        self._tail_bytes = 0
        self._events = 0
        self._inflater: zlib._Decompress | None = None

    def decode(self, coding: str) -> None:
        """Set the content encoding; one other than gzip and deflate is read without decoding."""
        if coding.strip().lower() in _INFLATED:
            self._inflater = zlib.decompressobj(_GZIP_OR_ZLIB)

    def feed(self, chunk: bytes) -> None:
        """Read a chunk."""
        if self._inflater is not None:
            try:
                chunk = self._inflater.decompress(chunk, _MAX_INFLATED_BYTES)
            except zlib.error:
                return
        if len(self._head) < _KEPT_BYTES:
            self._head += chunk[: _KEPT_BYTES - len(self._head)]
        self._tail.append(chunk)
        self._tail_bytes += len(chunk)
        while self._tail_bytes - len(self._tail[0]) >= _KEPT_BYTES:
            self._tail_bytes -= len(self._tail.popleft())
        self._events += chunk.count(b"data:")

    def usage(self) -> dict[str, Any] | None:
        """Return the provider's usage object; None if it sent none."""
        last = _usage(b"".join(self._tail)[-_KEPT_BYTES:], last=True)
        if last is None or isinstance(last.get("total_tokens"), int):
            return last
        # Anthropic's stream counts the request at its start and the reply at its end.
        first = _usage(self._head, last=False) or {}
        both = {**first, **last}
        return both | {name: max(_whole(first.get(name)), _whole(last.get(name))) for name in _NUMBERED if name in both}

    def tokens(self) -> int | None:
        """Return the tokens of request and reply together; None if the provider did not count them."""
        counted = self.usage()
        if counted is None:
            return None
        total = counted.get("total_tokens")
        return total if isinstance(total, int) else sum(_whole(counted.get(name)) for name in _NUMBERED) or None

    @property
    def events(self) -> int:
        """Number of events of a stream, about one per token of the reply."""
        return self._events


@dataclass(frozen=True, slots=True)
class Spent:
    """Tokens of one call.

    Args:
        input: Tokens of the request, including those read from and written to the provider's cache.
        output: Tokens of the reply.
        cached: Tokens of the request that were read from the provider's cache.
    """

    input: int | None = None
    output: int | None = None
    cached: int | None = None


def spent(usage: Mapping[str, Any] | None) -> Spent:
    """Return the tokens of a usage object in any wire format; Anthropic counts cached tokens separately."""
    if usage is None:
        return Spent()
    read, written = _count(usage.get("cache_read_input_tokens")), _count(usage.get("cache_creation_input_tokens"))
    details = usage.get("prompt_tokens_details") or usage.get("input_tokens_details")
    cached = _count(details.get("cached_tokens")) if isinstance(details, Mapping) else None
    prompt = _count(usage.get("prompt_tokens"))
    given = prompt if prompt is not None else _count(usage.get("input_tokens"))
    if given is not None and prompt is None and cached is None:
        given += (read or 0) + (written or 0)
    completion = _count(usage.get("completion_tokens"))
    output = completion if completion is not None else _count(usage.get("output_tokens"))
    return Spent(given, output, cached if cached is not None else read)


def _count(value: object) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None


def _usage(text: bytes, *, last: bool) -> dict[str, Any] | None:
    """Return the last (or first) usage object in a text."""
    places = _places(text)
    for at in reversed(places) if last else places:
        found = _object_at(text[at + len(_KEY) :])
        if found:
            return found
    return None


def _places(text: bytes) -> list[int]:
    # No provider writes a space between "usage" and the colon; some write one after the colon.
    places, at = [], text.find(_KEY)
    while at >= 0:
        places.append(at)
        at = text.find(_KEY, at + 1)
    return places


def _object_at(text: bytes) -> dict[str, Any] | None:
    try:
        found, _ = json.JSONDecoder().raw_decode(text[:8192].decode("utf-8", "replace").lstrip())
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None


def _whole(value: object) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) else 0

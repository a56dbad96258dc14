"""A provider's reply, copied aside while its bytes pass and read once it has ended.

What it costs is bounded by its text, not by the framing around it.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

import orjson

from proxy.events import Event, EventSplitter

MAX_BYTES = 64 * 2**20
_GZIP_OR_ZLIB = 32 + zlib.MAX_WBITS
_CODINGS = {"gzip": _GZIP_OR_ZLIB, "x-gzip": _GZIP_OR_ZLIB, "deflate": _GZIP_OR_ZLIB}

_STEP_BYTES = 64 * 1024  # of a stream are read at a time: about 2 ms
_MAX_TEXT_CHARS = 250_000  # of one text of a reply; the journal keeps 200,000
_MAX_PIECES = 512
_LAST_EVENTS = 8  # of a stream whose text is full: how it ended, and what it cost
_SEAMS = (b"\n\n", b"\r\n\r\n")


class Copy:
    """Keeps the pieces of a reply up to ``MAX_BYTES``; never raises."""

    def __init__(self) -> None:
        self._chunks: list[bytes] = []
        self._room = MAX_BYTES

    def feed(self, chunk: bytes) -> None:
        """Copy a piece aside."""
        if len(chunk) > self._room:
            self._room = 0
            return
        self._room -= len(chunk)
        self._chunks.append(chunk)

    def decoded(self, content_encoding: str) -> bytes:
        """Return the bytes, unpacked; none where they are packed in another way than gzip and deflate."""
        return unpacked(b"".join(self._chunks), content_encoding, MAX_BYTES)


def is_stream(body: bytes, content_type: str) -> bool:
    """Return whether a reply is an event stream, by its content type or else its first byte."""
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


@dataclass(frozen=True, slots=True)
class Reply:
    """Reply of a provider, put together from its bytes.

    Args:
        text: Of the first choice.
        tool_calls: ``{"id", "type", "function": {"name", "arguments"}}`` of the first choice, in order.
        finish_reason: Of the first choice.
        refusal: Of the first choice.
        usage: As the provider counted.
        model: As the provider names it.
        complete: The reply came to its end and is no error.
        error: The error object, in the body or in the middle of the stream.
        id: As the provider names the reply.
        signatures: Of its thoughts that are bound to what stood before them.
    """

    text: str = ""
    tool_calls: tuple[Mapping[str, Any], ...] = ()
    finish_reason: str | None = None
    refusal: str = ""
    usage: Mapping[str, Any] | None = None
    model: str = ""
    complete: bool = False
    error: Any = None
    id: str = ""
    signatures: tuple[str, ...] = ()


class Text:
    """A text that comes in pieces; what is longer than a reply's text is ever kept is dropped."""

    def __init__(self) -> None:
        self._joined: list[str] = []
        self._pieces: list[str] = []
        self._room = _MAX_TEXT_CHARS

    def add(self, piece: str) -> None:
        """Append a piece."""
        if not piece or not self._room:
            return
        piece = piece[: self._room]
        self._room -= len(piece)
        self._pieces.append(piece)
        if len(self._pieces) >= _MAX_PIECES:  # a token alone takes twelve times its letters
            self._joined.append("".join(self._pieces))
            self._pieces.clear()

    @property
    def is_full(self) -> bool:
        """True once no more is kept."""
        return not self._room

    def become(self, whole: str) -> None:
        """Replace everything said so far."""
        self._joined, self._pieces, self._room = [], [], _MAX_TEXT_CHARS
        self.add(whole)

    def __str__(self) -> str:
        """Return the text so far."""
        return "".join((*self._joined, *self._pieces))


class Folded(Protocol):
    """State of one reply while its pieces are folded in; every piece may be anything."""

    def add_event(self, event: Event) -> None:
        """Fold an event of a stream in."""

    def add_body(self, body: bytes) -> None:
        """Fold a whole body in."""

    @property
    def is_full(self) -> bool:
        """True once no more text is kept."""

    def reply(self, *, is_whole: bool) -> Reply:
        """Return the reply as far as it came."""


class Folding:
    """Copies a reply aside while it passes and reads it; never raises.

    A stream in plain text is read in steps, so that what waits stays small. Once its text is full, or ``max_bytes`` of
    it were read, only its last events are: what a reply costs has an end, however long it goes on.

    Args:
        folded: Where its pieces are put together.
        max_bytes: Bytes that wait to be read; what is beyond is dropped, and the reply counts as incomplete.
    """

    def __init__(self, folded: Folded, max_bytes: int = MAX_BYTES) -> None:
        self._folded = folded
        self._splitter = EventSplitter()
        self._chunks: list[bytes] = []
        self._waiting_bytes = 0
        self._step_bytes = _STEP_BYTES
        self._read_bytes = 0
        self._max_bytes = max_bytes
        self._is_whole = True

    def feed(self, chunk: bytes) -> None:
        """Take a piece."""
        if not self._is_whole or self._waiting_bytes + len(chunk) > self._max_bytes:
            self._is_whole = False
            return
        self._waiting_bytes += len(chunk)
        self._chunks.append(chunk)
        if self._waiting_bytes >= self._step_bytes:
            self._read_step()

    def result(self, *, content_type: str = "", content_encoding: str = "") -> Reply:
        """Return the reply as far as it came.

        Args:
            content_type: Of the response; without one, the bytes are looked at.
            content_encoding: Of the response; others than gzip and deflate give an empty, incomplete reply.
        """
        body, self._chunks = b"".join(self._chunks), []
        if not self._read_bytes:
            body = unpacked(body, content_encoding, self._max_bytes)
        if self._read_bytes or is_stream(body, content_type):
            for event in (*self._splitter.feed(body), *self._splitter.close()):
                self._folded.add_event(event)
        else:
            self._folded.add_body(body)
        return self._folded.reply(is_whole=self._is_whole)

    def _read_step(self) -> None:
        """Read what waits of a stream in plain text; an event that is not whole yet waits for twice as much."""
        waiting = b"".join(self._chunks)
        if not self._read_bytes and not is_stream(waiting[:16], ""):
            self._step_bytes = self._max_bytes + 1  # one JSON text, or packed: to be read when it is whole
            return
        if self._folded.is_full or self._read_bytes > self._max_bytes:
            self._splitter, waiting = EventSplitter(), _last_events(waiting)
            self._chunks, self._waiting_bytes = [waiting], len(waiting)
        else:
            self._read_bytes += len(waiting) - self._splitter.waiting_bytes
            for event in self._splitter.feed(waiting):
                self._folded.add_event(event)
            self._chunks, self._waiting_bytes = [], self._splitter.waiting_bytes
        self._step_bytes = max(_STEP_BYTES, 2 * self._waiting_bytes)


def _last_events(waiting: bytes) -> bytes:
    """Return the end of a stream, cut where an event begins."""
    end, place = len(waiting), -1
    for _ in range(_LAST_EVENTS + 1):
        end = max(waiting.rfind(seam, 0, end) for seam in _SEAMS)
        if end < 0:
            break
        place = end
    return waiting[place:].lstrip(b"\r\n") if place > 0 else waiting

"""A provider's reply, copied while its bytes are relayed, and parsed when it ends.

Its memory is bounded by its text, not by the framing around the text.
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

_STEP_BYTES = 64 * 1024  # of a stream parsed in one step: about 2 ms
_MAX_TEXT_CHARS = 250_000  # of one text of a reply; the journal stores 200,000
_MAX_PIECES = 512
_LAST_EVENTS = 8  # parsed of a stream whose text is full: they hold its finish reason and its usage
_SEAMS = (b"\n\n", b"\r\n\r\n")


class Copy:
    """Copy of a reply's chunks, up to ``MAX_BYTES``; never raises."""

    def __init__(self) -> None:
        self._chunks: list[bytes] = []
        self._room = MAX_BYTES

    def feed(self, chunk: bytes) -> None:
        """Copy a chunk."""
        if len(chunk) > self._room:
            self._room = 0
            return
        self._room -= len(chunk)
        self._chunks.append(chunk)

    def decoded(self, content_encoding: str) -> bytes:
        """Return the decoded bytes; b"" for a content encoding other than gzip and deflate."""
        return unpacked(b"".join(self._chunks), content_encoding, MAX_BYTES)


def is_stream(body: bytes, content_type: str) -> bool:
    """Return whether a reply is an event stream, by its content type or else its first byte."""
    if content_type:
        return "event-stream" in content_type.lower()
    return body.lstrip(b"\xef\xbb\xbf\r\n")[:1] in (b"d", b"e", b":", b"i", b"r")


def parsed(data: bytes) -> Any:
    """Return the value of a JSON text, None if it is not valid."""
    try:
        return orjson.loads(data)
    except orjson.JSONDecodeError:
        # Some servers write NaN, or numbers beyond 64 bits.
        try:
            return json.loads(data)
        except (ValueError, RecursionError):
            return None


def unpacked(body: bytes, content_encoding: str, max_bytes: int) -> bytes:
    """Return the decoded body; b"" for a content encoding other than gzip and deflate."""
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
    """A provider's reply, reassembled from its bytes.

    Args:
        text: Text of the first choice.
        tool_calls: ``{"id", "type", "function": {"name", "arguments"}}`` of the first choice, in order.
        finish_reason: Finish reason of the first choice.
        refusal: Refusal of the first choice.
        usage: Usage object of the provider.
        model: Provider's name of the model.
        complete: Whether the reply ended and is not an error.
        error: The error object, in the body or in the middle of the stream.
        id: Provider's id of the reply.
        signatures: Signatures of its thinking blocks, which are bound to their prefix.
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
    """A text that comes in pieces, cut at ``_MAX_TEXT_CHARS``."""

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
        if len(self._pieces) >= _MAX_PIECES:  # as a separate string, a token takes twelve times its letters
            self._joined.append("".join(self._pieces))
            self._pieces.clear()

    @property
    def is_full(self) -> bool:
        """True once further text is dropped."""
        return not self._room

    def become(self, whole: str) -> None:
        """Replace the text so far."""
        self._joined, self._pieces, self._room = [], [], _MAX_TEXT_CHARS
        self.add(whole)

    def __str__(self) -> str:
        """Return the text so far."""
        return "".join((*self._joined, *self._pieces))


class Folded(Protocol):
    """State of one reply while its pieces are added; a piece may be any JSON value."""

    def add_event(self, event: Event) -> None:
        """Add an event of a stream."""

    def add_body(self, body: bytes) -> None:
        """Add a whole body."""

    @property
    def is_full(self) -> bool:
        """True once further text is dropped."""

    def reply(self, *, is_whole: bool) -> Reply:
        """Return the reply so far."""


class Folding:
    """Accumulator of a relayed reply, which it copies and parses; never raises.

    An uncompressed stream is parsed in steps, so that the buffer stays small. Once its text is full, or ``max_bytes``
    of it were parsed, only its last events are parsed: the cost of a reply is bounded, however long it is.

    Args:
        folded: State that receives the parsed pieces.
        max_bytes: Limit of the buffer; bytes beyond are dropped, and the reply counts as incomplete.
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
        """Buffer a chunk, and parse the buffer if it is large enough."""
        if not self._is_whole or self._waiting_bytes + len(chunk) > self._max_bytes:
            self._is_whole = False
            return
        self._waiting_bytes += len(chunk)
        self._chunks.append(chunk)
        if self._waiting_bytes >= self._step_bytes:
            self._read_step()

    def result(self, *, content_type: str = "", content_encoding: str = "") -> Reply:
        """Return the reply so far.

        Args:
            content_type: Content type of the response; "": by its first bytes.
            content_encoding: Encoding of the response; any but gzip and deflate gives an empty, incomplete reply.
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
        """Parse the buffer of an uncompressed stream; an incomplete event doubles the next step."""
        waiting = b"".join(self._chunks)
        if not self._read_bytes and not is_stream(waiting[:16], ""):
            self._step_bytes = self._max_bytes + 1  # one JSON text, or compressed: parsed at the end
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
    """Return the last events of a stream, cut at the start of an event."""
    end, place = len(waiting), -1
    for _ in range(_LAST_EVENTS + 1):
        end = max(waiting.rfind(seam, 0, end) for seam in _SEAMS)
        if end < 0:
            break
        place = end
    return waiting[place:].lstrip(b"\r\n") if place > 0 else waiting

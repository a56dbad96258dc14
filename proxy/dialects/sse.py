"""Server-sent events from bytes, however these are cut, as the HTML standard reads them."""

from __future__ import annotations

import re
from dataclasses import dataclass

_LINE_END = re.compile(rb"\r\n|\n|\r")
_EMPTY_LINE = re.compile(rb"\r\n\r\n|\n\n|\r\r")
_BOM = b"\xef\xbb\xbf"


@dataclass(frozen=True, slots=True)
class Event:
    """One event.

    Args:
        data: Its data lines, joined by line feeds.
        name: Its ``event:`` field.
    """

    data: bytes
    name: bytes = b""


@dataclass(frozen=True, slots=True)
class Terminal:
    """How the terminal event of a wire looks.

    Args:
        pattern: Finds its line (the first telling one); written with ``terminal``.
        hint: Bytes that every such line has, so that most chunks are told by a quick look.
        reach_bytes: How many bytes before a piece may belong to the line.
    """

    pattern: re.Pattern[bytes]
    hint: bytes
    reach_bytes: int


def terminal(line: bytes, hint: bytes, reach_bytes: int) -> Terminal:
    """Return how a terminal event looks, by the pattern of its line without what stands around it."""
    whole = rb"(?:^|[\r\n])(?:\xef\xbb\xbf)?(?:" + line + rb")[ \t]*(?=[\r\n]|$)"
    return Terminal(re.compile(whole), hint, reach_bytes)


DONE = terminal(rb"data: ?\[DONE\]", b"DONE]", 20)


class EventSplitter:
    """Cuts a byte stream into events; comments and unknown fields are left out."""

    def __init__(self) -> None:
        self._rest = b""
        self._begun = False
        self._swallows_lf = False
        self._data: list[bytes] = []
        self._name = b""

    def feed(self, chunk: bytes) -> list[Event]:
        """Return the events that a further piece completes."""
        buffer = self._rest + chunk
        if not self._begun:
            if len(buffer) < len(_BOM) and _BOM.startswith(buffer):
                self._rest = buffer
                return []
            self._begun = True
            buffer = buffer.removeprefix(_BOM)
        if self._swallows_lf and buffer:
            buffer = buffer.removeprefix(b"\n")
            self._swallows_lf = False
        events: list[Event] = []
        start = 0
        for match in _LINE_END.finditer(buffer):
            self._line(buffer[start : match.start()], events)
            start = match.end()
        # A carriage return ends its line at once; the line feed of the same pair may come with the next piece.
        self._swallows_lf = start > 0 and start == len(buffer) and buffer.endswith(b"\r")
        self._rest = buffer[start:]
        return events

    def close(self) -> list[Event]:
        """Return the last event of a stream that ended without the empty line after it."""
        events: list[Event] = []
        rest, self._rest = self._rest.removeprefix(_BOM) if not self._begun else self._rest, b""
        if rest:
            self._line(rest, events)
        self._dispatch(events)
        return events

    def _line(self, line: bytes, events: list[Event]) -> None:
        if not line:
            self._dispatch(events)
            return
        field, _, value = line.partition(b":")
        value = value.removeprefix(b" ")
        if field == b"data":
            self._data.append(value)
        elif field == b"event":
            self._name = value

    def _dispatch(self, events: list[Event]) -> None:
        if self._data:
            events.append(Event(b"\n".join(self._data), self._name))
        self._data, self._name = [], b""


class EndWatch:
    """Tells when the terminal event has gone by, also where it is cut in pieces.

    Args:
        end: What it looks like; ``data: [DONE]`` unless told otherwise.
    """

    def __init__(self, end: Terminal = DONE) -> None:
        self._end = end
        self._tail = b"\n"
        self.has_ended = False

    def feed(self, chunk: bytes) -> bool:
        """Whether this piece completes the terminal event's line (and none before did)."""
        if self.has_ended:
            return False
        window = self._tail + chunk
        self._tail = window[-self._end.reach_bytes :]
        if self._end.hint in window and self._end.pattern.search(window):
            self.has_ended = True
        return self.has_ended


class EventWatch(EndWatch):
    """Tells when the terminal event has gone by to the empty line that ends it: what it says counts."""

    def __init__(self, end: Terminal) -> None:
        super().__init__(end)
        self._has_begun = False

    def feed(self, chunk: bytes) -> bool:
        """Whether this piece completes the terminal event (and none before did)."""
        if self.has_ended:
            return False
        window = self._tail + chunk
        if not self._has_begun:
            match = self._end.pattern.search(window) if self._end.hint in window else None
            if match is None:
                self._tail = window[-self._end.reach_bytes :]
                return False
            self._has_begun = True
            window = window[match.end() :]
        self._tail = window[-3:]
        self.has_ended = _EMPTY_LINE.search(window) is not None
        return self.has_ended


def split(stream: bytes) -> list[Event]:
    """Return the events of a whole stream."""
    splitter = EventSplitter()
    return splitter.feed(stream) + splitter.close()

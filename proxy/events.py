"""Server-sent events from bytes, however these are cut, as the HTML standard reads them."""

from __future__ import annotations

import re
from dataclasses import dataclass

_LINE_END = re.compile(rb"\r\n|\n|\r")
_BOM = b"\xef\xbb\xbf"


@dataclass(frozen=True, slots=True)
class Event:
    """One event.

    Args:
        data: Its data lines, joined by line feeds.
        name: Its ``event:`` field.
        comment: A comment's whole line, which is no event; only where comments were asked for.
    """

    data: bytes
    name: bytes = b""
    comment: bytes = b""


class EventSplitter:
    """Cuts a byte stream into events; unknown fields are left out, and comments unless they are asked for.

    Args:
        keeps_comments: A comment stands among the events, as soon as its line is there.
    """

    def __init__(self, *, keeps_comments: bool = False) -> None:
        self._keeps_comments = keeps_comments
        self._rest = b""
        self._begun = False
        self._swallows_lf = False
        self._data: list[bytes] = []
        self._name = b""

    @property
    def waiting_bytes(self) -> int:
        """Bytes of an event that is not whole yet."""
        return len(self._rest) + sum(map(len, self._data))

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
        if line.startswith(b":"):
            if self._keeps_comments:
                events.append(Event(b"", comment=line))
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


def split(stream: bytes) -> list[Event]:
    """Return the events of a whole stream."""
    splitter = EventSplitter()
    return splitter.feed(stream) + splitter.close()

"""Parser of server-sent events by the HTML standard; chunk boundaries may fall anywhere."""

from __future__ import annotations

import re
from dataclasses import dataclass

_LINE_END = re.compile(rb"\r\n|\n|\r")
_BOM = b"\xef\xbb\xbf"


@dataclass(frozen=True, slots=True)
class Event:
    """A server-sent event, or a comment line.

    Args:
        data: Data lines, joined by line feeds.
        name: The ``event:`` field.
        comment: Whole line of a comment, then without data; only with ``keeps_comments``.
    """

    data: bytes
    name: bytes = b""
    comment: bytes = b""


class EventSplitter:
    """Incremental splitter of a byte stream into events; it skips unknown fields.

    Args:
        keeps_comments: Yield comments among the events, each as soon as its line is complete.
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
        """Buffered bytes of an incomplete event."""
        return len(self._rest) + sum(map(len, self._data))

    def feed(self, chunk: bytes) -> list[Event]:
        """Return the events that this chunk completes."""
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
        # A carriage return ends its line at once; the line feed of the same pair may come with the next chunk.
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

"""Detectors of a stream's terminal event; chunk boundaries may fall anywhere."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

_EMPTY_LINE = re.compile(rb"\r\n\r\n|\n\n|\r\r")


@dataclass(frozen=True, slots=True)
class Terminal:
    """Form of a wire format's terminal event.

    Args:
        pattern: Finds its first identifying line; made by ``terminal``.
        hint: Bytes in every such line, so that most chunks need only a substring search.
        reach_bytes: Maximum number of bytes before a chunk that may belong to the line.
    """

    pattern: re.Pattern[bytes]
    hint: bytes
    reach_bytes: int


def terminal(line: bytes, hint: bytes, reach_bytes: int) -> Terminal:
    """Return the form of a terminal event by the pattern of its line, without line ends."""
    whole = rb"(?:^|[\r\n])(?:\xef\xbb\xbf)?(?:" + line + rb")[ \t]*(?=[\r\n]|$)"
    return Terminal(re.compile(whole), hint, reach_bytes)


DONE = terminal(rb"data: ?\[DONE\]", b"DONE]", 20)


class EndWatch:
    """Detector of the terminal event, also if chunks split it.

    Args:
        end: Form of the event; by default ``data: [DONE]``.
    """

    def __init__(self, end: Terminal = DONE) -> None:
        self._end = end
        self._tail = b"\n"
        self.has_ended = False

    def feed(self, chunk: bytes) -> bool:
        """Return whether this chunk completes the terminal event's line (and no earlier chunk did)."""
        if self.has_ended:
            return False
        window = self._tail + chunk
        self._tail = window[-self._end.reach_bytes :]
        if self._end.hint in window and self._end.pattern.search(window):
            self.has_ended = True
        return self.has_ended


class EventWatch(EndWatch):
    """Detector of the whole terminal event, up to the empty line that ends it, as its data is needed.

    Args:
        end: Form of the event.
        hints: Every such event contains one of these, so that most chunks need only substring searches.
    """

    def __init__(self, end: Terminal, hints: Sequence[bytes]) -> None:
        super().__init__(end)
        self._hints = hints
        self._has_begun = False

    def feed(self, chunk: bytes) -> bool:
        """Return whether this chunk completes the terminal event (and no earlier chunk did)."""
        if self.has_ended:
            return False
        window = self._tail + chunk
        if not self._has_begun:
            match = self._end.pattern.search(window) if any(hint in window for hint in self._hints) else None
            if match is None:
                self._tail = window[-self._end.reach_bytes :]
                return False
            self._has_begun = True
            window = window[match.end() :]
        self._tail = window[-3:]
        self.has_ended = _EMPTY_LINE.search(window) is not None
        return self.has_ended

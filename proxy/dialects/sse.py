"""When the terminal event of a stream goes by, wherever its bytes are cut."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

_EMPTY_LINE = re.compile(rb"\r\n\r\n|\n\n|\r\r")


@dataclass(frozen=True, slots=True)
class Terminal:
    """Form of a wire's terminal event.

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
        """Return whether this piece completes the terminal event's line (and none before did)."""
        if self.has_ended:
            return False
        window = self._tail + chunk
        self._tail = window[-self._end.reach_bytes :]
        if self._end.hint in window and self._end.pattern.search(window):
            self.has_ended = True
        return self.has_ended


class EventWatch(EndWatch):
    """Tells when the terminal event has gone by to the empty line that ends it: what it says counts.

    Args:
        end: What it looks like.
        hints: Bytes of which every such event has some, so that most chunks are told by a quick look.
    """

    def __init__(self, end: Terminal, hints: Sequence[bytes]) -> None:
        super().__init__(end)
        self._hints = hints
        self._has_begun = False

    def feed(self, chunk: bytes) -> bool:
        """Return whether this piece completes the terminal event (and none before did)."""
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

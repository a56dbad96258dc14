"""Search of very long texts in steps: one call into ``re`` blocks every other thread of the process."""

from __future__ import annotations

import re
from collections.abc import Iterator

STEP = 2**16  # characters: some 20 ms with the slowest pattern in use
OVERLAP = 2**15  # characters that a match may reach beyond its step; a private key may have 20,000


def scan(pattern: re.Pattern[str], text: str, *, step: int = STEP, overlap: int = OVERLAP) -> Iterator[re.Match[str]]:
    """Yield the matches of ``pattern.finditer(text)``; a match longer than ``overlap`` may come in several parts."""
    at = 0
    while at + step + overlap < len(text):
        stop = at + step
        for match in pattern.finditer(text, at, stop + overlap):
            if match.start() >= stop:
                break
            yield match
            at = match.end()
        at = max(at, stop)
    yield from pattern.finditer(text, at)


def holds(pattern: re.Pattern[str], text: str) -> bool:
    """Return whether a text holds a match of a pattern."""
    return next(scan(pattern, text), None) is not None

"""A progress line on standard error."""

from __future__ import annotations

import sys
import time

_BAR = 24
_REDRAW_S = 0.2
_LINE_S = 15.0


class Progress:
    """Counts finished steps; redraws one line on a terminal, else prints a line now and then."""

    def __init__(self, label: str, total: int) -> None:
        self._label = label
        self._total = max(1, total)
        self._done = 0
        self._start = self._drawn = time.monotonic()

    def advance(self, steps: int = 1) -> None:
        """Count steps."""
        self._done += steps
        now = time.monotonic()
        is_terminal = sys.stderr.isatty()
        if now - self._drawn >= (_REDRAW_S if is_terminal else _LINE_S):
            self._drawn = now
            self._draw("\r" if is_terminal else "", "" if is_terminal else "\n")

    def finish(self) -> None:
        """Draw the last state."""
        self._draw("\r" if sys.stderr.isatty() else "", "\n")

    def _draw(self, before: str, after: str) -> None:
        share = min(1.0, self._done / self._total)
        bar = "#" * round(share * _BAR)
        elapsed_s = time.monotonic() - self._start
        line = f"{self._label:<22} [{bar:<{_BAR}}] {self._done}/{self._total} {elapsed_s:.0f} s"
        sys.stderr.write(f"{before}{line}{after}")
        sys.stderr.flush()

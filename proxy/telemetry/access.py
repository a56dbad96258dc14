"""Access log: one line per request, written by a separate thread, so that no request waits for a terminal."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Mapping
from datetime import UTC, datetime
from queue import SimpleQueue

import orjson

from proxy.settings.sections import TelemetrySettings
from proxy.telemetry.metrics import ACCESS_LINES_LOST

_GATHER_S = 0.1  # delay that joins a burst into one write
_MAX_WAITING = 20_000
_CLOSE_S = 2.0

Fields = Mapping[str, str | int | float | bool | None]


def open_access_log(settings: TelemetrySettings) -> AccessLog | None:
    """Return the log, None if it is switched off or its lines are below the log level."""
    if not settings.access_log or settings.log_level in ("warning", "error"):
        return None
    return AccessLog(is_json=settings.log_format == "json")


class AccessLog:
    """Queue of log lines to standard error; if the writer is too slow, lines are dropped and counted.

    Args:
        is_json: Whether to write one JSON object a line; otherwise text.
    """

    def __init__(self, *, is_json: bool) -> None:
        self._render = _as_json if is_json else _as_words
        self._lines: SimpleQueue[tuple[float, Fields] | None] = SimpleQueue()
        self._thread = threading.Thread(target=self._run, name="access-log", daemon=True)
        self._thread.start()

    def write(self, fields: Fields) -> None:
        """Queue a line; return at once."""
        if self._lines.qsize() >= _MAX_WAITING:
            ACCESS_LINES_LOST.inc()
            return
        self._lines.put((time.time(), fields))

    def close(self) -> None:
        """Write the queued lines, for at most ``_CLOSE_S``; call it in a thread."""
        self._lines.put(None)
        self._thread.join(_CLOSE_S)

    def _run(self) -> None:
        is_open = True
        while is_open:
            batch = [self._lines.get()]
            if batch[0] is not None:
                time.sleep(_GATHER_S)
            batch += [self._lines.get() for _ in range(self._lines.qsize())]
            is_open = None not in batch
            text = "".join(self._render(*line) for line in batch if line is not None)
            try:
                sys.stderr.write(text)
                sys.stderr.flush()
            except (OSError, ValueError):  # standard error is closed
                return


def _as_json(at_s: float, fields: Fields) -> str:
    known = {name: value for name, value in fields.items() if value not in (None, "")}
    return orjson.dumps({"event": "request", "level": "info", "timestamp": _iso(at_s), **known}).decode() + "\n"


def _as_words(at_s: float, fields: Fields) -> str:
    known = {name: value for name, value in fields.items() if value not in (None, "")}
    head = [str(known.pop(name, "-")) for name in ("method", "route", "status")]
    return (
        " ".join([_iso(at_s), "[info     ] request", *head, *(f"{name}={value}" for name, value in known.items())])
        + "\n"
    )


def _iso(at_s: float) -> str:
    return datetime.fromtimestamp(at_s, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")

"""Structured logs without user texts."""

from __future__ import annotations

import json
import logging
import sys
from datetime import UTC, datetime
from pathlib import Path
from traceback import extract_tb
from typing import Any

import structlog

from proxy.clock import iso
from proxy.settings.sections import TelemetrySettings


def configure_logging(settings: TelemetrySettings) -> None:
    """Send log lines of Throughline and of libraries to standard error, as text or one JSON object a line."""
    level = getattr(logging, settings.log_level.upper())
    is_json = settings.log_format == "json"
    processors: list[structlog.typing.Processor] = [
        structlog.contextvars.merge_contextvars,
        structlog.processors.add_log_level,
        structlog.processors.TimeStamper("iso"),
        _shorten_exception,
        structlog.processors.JSONRenderer()
        if is_json
        else structlog.dev.ConsoleRenderer(
            colors=sys.stderr.isatty(), exception_formatter=structlog.dev.plain_traceback
        ),
    ]
    structlog.configure(
        processors=processors,
        wrapper_class=structlog.make_filtering_bound_logger(level),
        logger_factory=lambda *_: structlog.PrintLogger(sys.stderr),
        cache_logger_on_first_use=False,
    )
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(_JsonFormatter() if is_json else _PlainFormatter("%(levelname)s %(name)s %(message)s"))
    logging.basicConfig(level=max(level, logging.WARNING), handlers=[handler])


def frames(error: BaseException) -> str:
    """Return an exception's type and stack, innermost last, without its message, which may hold user texts."""
    places = [f"{Path(frame.filename).name}:{frame.lineno} {frame.name}" for frame in extract_tb(error.__traceback__)]
    return f"{type(error).__name__} at {' > '.join(places)}"


def _shorten_exception(logger: object, name: str, event: structlog.typing.EventDict) -> structlog.typing.EventDict:
    del logger, name
    wanted = event.pop("exc_info", None)
    error = wanted if isinstance(wanted, BaseException) else sys.exc_info()[1] if wanted else None
    if error is not None:
        event["trace"] = frames(error)
    return event


class _PlainFormatter(logging.Formatter):
    """Formatter of libraries' log lines as text, without exception messages."""

    def formatException(self, ei: Any) -> str:  # noqa: N802 - the base class names it so
        return frames(ei[1]) if ei[1] is not None else ""


class _JsonFormatter(logging.Formatter):
    """Formatter of libraries' log lines as JSON, with the field names of Throughline's lines."""

    def format(self, record: logging.LogRecord) -> str:
        line = {
            "event": record.getMessage(),
            "level": record.levelname.lower(),
            "timestamp": iso(datetime.fromtimestamp(record.created, UTC)),
            "logger": record.name,
        }
        error = record.exc_info[1] if record.exc_info else None
        return json.dumps(line if error is None else {**line, "trace": frames(error)})

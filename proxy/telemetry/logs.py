"""Structured logs without content, and Prometheus metrics."""

from __future__ import annotations

import logging
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from traceback import extract_tb
from typing import Any

import structlog
from prometheus_client import REGISTRY, Counter, Gauge, Histogram, generate_latest
from prometheus_client.exposition import CONTENT_TYPE_LATEST

from proxy.config import TelemetrySettings

METRICS_CONTENT_TYPE = CONTENT_TYPE_LATEST

_FAST_S = (0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300)

REQUESTS = Counter("throughline_requests", "Requests by path, status and memory outcome.", ["path", "status", "memory"])
STEP_SECONDS = Histogram(
    "throughline_step_seconds", "Seconds spent in a step of the pipeline.", ["step"], buckets=_FAST_S
)
INJECTED_TOKENS = Counter("throughline_injected_tokens", "Tokens of memory put into requests.")
DEGRADED = Counter("throughline_degraded", "Requests served without their full memory, by reason.", ["reason"])
FAILOVERS = Counter(
    "throughline_failovers", "Tries that went on to another, by provider and status.", ["provider", "status"]
)
JOURNAL_TURNS = Gauge("throughline_journal_turns", "Turns in the journal by state.", ["state"])
JOBS = Counter("throughline_jobs", "Background jobs by kind and outcome.", ["kind", "outcome"])
LEARNED = Counter("throughline_memory_changes", "Changes to memories by action.", ["action"])
EXTRACTION_TOKENS = Counter("throughline_extraction_tokens", "Tokens spent on extraction.", ["model", "direction"])
EXTRACTION_COST = Counter(
    "throughline_extraction_cost_usd", "Money spent on extraction by the model map, in US dollars.", ["model"]
)


def configure_logging(settings: TelemetrySettings) -> None:
    """Send our log lines and the libraries' to standard error, as text or one JSON object a line."""
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
    handler.setFormatter(_PlainFormatter("%(levelname)s %(name)s %(message)s"))
    logging.basicConfig(level=max(level, logging.WARNING), handlers=[handler])


def frames(error: BaseException) -> str:
    """Return where an exception came from, innermost last; its own words are left out, they may hold content."""
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
    """Libraries' log lines, without the words of exceptions."""

    def formatException(self, ei: Any) -> str:  # noqa: N802 - the base class names it so
        return frames(ei[1]) if ei[1] is not None else ""


def metrics_page() -> bytes:
    """Return all metrics in Prometheus' text format."""
    return generate_latest(REGISTRY)


class Timings:
    """Durations of the steps of one request, in the order in which they ended."""

    def __init__(self) -> None:
        self.ms: dict[str, float] = {}

    @contextmanager
    def step(self, name: str) -> Iterator[None]:
        """Time a block; a step that runs twice adds up."""
        start = time.perf_counter()
        try:
            yield
        finally:
            self.add(name, time.perf_counter() - start)

    def add(self, name: str, seconds: float) -> None:
        """Add a duration measured elsewhere."""
        self.ms[name] = self.ms.get(name, 0.0) + seconds * 1000
        STEP_SECONDS.labels(name).observe(seconds)

    def header(self) -> str:
        """Return the value of a ``Server-Timing`` header."""
        return ", ".join(f"{name};dur={ms:.2f}" for name, ms in self.ms.items())

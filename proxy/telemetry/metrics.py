"""Prometheus metrics; their names are a public interface, which ``deploy/grafana.json`` uses."""

from __future__ import annotations

from pathlib import Path

from prometheus_client import (
    REGISTRY,
    CollectorRegistry,
    Counter,
    Gauge,
    Histogram,
    disable_created_metrics,
    generate_latest,
)
from prometheus_client.exposition import CONTENT_TYPE_LATEST
from prometheus_client.multiprocess import MultiProcessCollector, mark_process_dead

from proxy.settings.load import metrics_folder

disable_created_metrics()  # type: ignore[no-untyped-call]  # a second series for each, without use

_PROCESSES = Path("/proc")

METRICS_CONTENT_TYPE = CONTENT_TYPE_LATEST

_FAST_S = (0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300)
_REPLY_S = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300, 600)
_LAG_S = (0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 1800, 7200)

# Requests
REQUESTS = Counter(
    "throughline_requests",
    "Requests that have ended, by route, model, status (499: the client left before the head) and memory outcome.",
    ["route", "model", "status", "memory"],
)
REQUEST_SECONDS = Histogram(
    "throughline_request_seconds",
    "Seconds from the head of a request to the end of its reply.",
    ["route"],
    buckets=_REPLY_S,
)
FIRST_BYTE_SECONDS = Histogram(
    "throughline_first_byte_seconds", "Seconds to the first byte of a reply's body.", ["route"], buckets=_REPLY_S
)
FIRST_TOKEN_SECONDS = Histogram(
    "throughline_first_token_seconds", "Seconds to the first event of a stream.", ["model"], buckets=_REPLY_S
)
IN_FLIGHT = Gauge("throughline_requests_in_flight", "Requests being served.", multiprocess_mode="livesum")
CUT_SHORT = Counter("throughline_replies_cut", "Replies that did not come to their end, by route.", ["route"])
REFUSALS = Counter("throughline_refusals", "Requests that were refused by us, by code of the error.", ["code"])
LIMITED = Counter(
    "throughline_limit_refusals", "Requests over a limit of their key, by what there was none left of.", ["limit"]
)
TOKENS = Counter(
    "throughline_tokens", "Tokens of requests and replies as providers count them.", ["model", "direction"]
)

# Providers
UPSTREAM_SECONDS = Histogram(
    "throughline_upstream_seconds", "Seconds until the head of a provider's reply.", ["provider"], buckets=_REPLY_S
)
UPSTREAM_ERRORS = Counter(
    "throughline_upstream_errors",
    "Tries that a provider did not serve, by status, or by code of the error where there was no reply.",
    ["provider", "status"],
)
FAILOVERS = Counter(
    "throughline_failovers", "Tries that went on to another, by provider and status.", ["provider", "status"]
)

# Memory before the reply
STEP_SECONDS = Histogram(
    "throughline_step_seconds", "Seconds spent in a step of the pipeline.", ["step"], buckets=_FAST_S
)
INJECTED_TOKENS = Counter("throughline_injected_tokens", "Tokens of memory put into requests.")
INJECTED_MEMORIES = Counter("throughline_injected_memories", "Memories put into requests.")
DEGRADED = Counter("throughline_degraded", "Requests served without their full memory, by reason.", ["reason"])

# Memory after the reply
JOURNAL_TURNS = Gauge(
    "throughline_journal_turns", "Turns in the journal by state.", ["state"], multiprocess_mode="mostrecent"
)
JOBS = Counter("throughline_jobs", "Background jobs by kind and outcome.", ["kind", "outcome"])
JOB_SECONDS = Histogram("throughline_job_seconds", "Seconds of a background job, by kind.", ["kind"], buckets=_REPLY_S)
LEARN_LAG_SECONDS = Histogram(
    "throughline_learn_lag_seconds", "Seconds from the end of a reply until it was learned from.", buckets=_LAG_S
)
LEARNED = Counter("throughline_memory_changes", "Changes to memories by action.", ["action"])
EXTRACTION_TOKENS = Counter("throughline_extraction_tokens", "Tokens spent on extraction.", ["model", "direction"])
EXTRACTION_COST = Counter(
    "throughline_extraction_cost_usd", "Money spent on extraction by the model map, in US dollars.", ["model"]
)

# The process
CACHE_BYTES = Gauge(
    "throughline_cache_bytes", "Memory taken by a cache, about.", ["cache"], multiprocess_mode="livesum"
)
ACCESS_LINES_LOST = Counter(
    "throughline_access_lines_lost", "Lines of the access log that could not be written in time."
)
READY = Gauge("throughline_ready", "Whether store and embedder are warm.", multiprocess_mode="livemin")


def metrics_page() -> bytes:
    """Return all metrics in Prometheus' text format; with ``--workers N``, those of all processes together."""
    folder = metrics_folder()
    if folder is None:
        return generate_latest(REGISTRY)
    _forget_dead(folder)
    together = CollectorRegistry()
    MultiProcessCollector(together)  # type: ignore[no-untyped-call]
    return generate_latest(together)


def _forget_dead(folder: Path) -> None:
    """Drop the gauges of dead processes; their counters stay."""
    for left in folder.glob("gauge_live*_*.db") if _PROCESSES.is_dir() else ():
        pid = left.stem.rpartition("_")[2]
        if not (_PROCESSES / pid).exists():
            mark_process_dead(int(pid), str(folder))  # type: ignore[no-untyped-call]

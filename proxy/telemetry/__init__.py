"""Telemetry for operators: logs without content, Prometheus metrics, OpenTelemetry spans."""

from proxy.telemetry.logs import configure_logging, frames
from proxy.telemetry.metrics import (
    DEGRADED,
    EXTRACTION_COST,
    EXTRACTION_TOKENS,
    FAILOVERS,
    JOBS,
    LEARNED,
    METRICS_CONTENT_TYPE,
    metrics_page,
)
from proxy.telemetry.timings import Step, Timings

__all__ = [
    "DEGRADED",
    "EXTRACTION_COST",
    "EXTRACTION_TOKENS",
    "FAILOVERS",
    "JOBS",
    "LEARNED",
    "METRICS_CONTENT_TYPE",
    "Step",
    "Timings",
    "configure_logging",
    "frames",
    "metrics_page",
]

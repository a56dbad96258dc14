"""Spans and GenAI metrics for an OpenTelemetry collector; the SDK is imported only if an endpoint is set.

The tracer and meter providers are private, not the process-wide ones, so that data added by libraries (URLs with
their queries, exception messages) is not sent.
"""

from __future__ import annotations

import importlib.util
import threading
from collections import OrderedDict
from collections.abc import Iterable, Mapping
from importlib.metadata import version
from typing import TYPE_CHECKING

import structlog
from opentelemetry.trace import Link, SpanContext, SpanKind, Status, StatusCode, set_span_in_context
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

from proxy.settings.sections import TelemetrySettings
from proxy.telemetry.timings import Operation, Span, WallClock

if TYPE_CHECKING:
    from opentelemetry.context import Context
    from opentelemetry.sdk.metrics import MeterProvider
    from opentelemetry.sdk.trace import TracerProvider

MEND = "The OpenTelemetry SDK is not installed: pip install 'throughline[otel]', or unset telemetry.otlp_endpoint."

_log = structlog.get_logger(__name__)
_NAME = "throughline"
_KINDS = {"internal": SpanKind.INTERNAL, "server": SpanKind.SERVER, "client": SpanKind.CLIENT}
_MAX_REQUESTS = 4096  # recent requests whose spans background work may link to
_FLUSH_MS = 3000
_CLOSE_S = 4.0

# Bucket boundaries advised by the GenAI conventions.
_SECONDS = (0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92)
_FIRST_SECONDS = (0.001, 0.005, 0.01, 0.02, 0.04, 0.06, 0.08, 0.1, 0.25, 0.5, 0.75, 1.0, 2.5, 5.0, 7.5, 10.0)
_COUNTS = tuple(4**power for power in range(14))


def is_wanted(settings: TelemetrySettings, environ: Mapping[str, str]) -> bool:
    """Return whether the settings or OpenTelemetry's own variables enable sending."""
    names = ("OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "OTEL_EXPORTER_OTLP_METRICS_ENDPOINT")
    is_disabled = environ.get("OTEL_SDK_DISABLED", "").strip().lower() == "true"
    return not is_disabled and bool(settings.otlp_endpoint or any(environ.get(name) for name in names))


def is_installed() -> bool:
    """Return whether the SDK and its exporter are installed."""
    names = ("opentelemetry.sdk", "opentelemetry.exporter.otlp.proto.http")
    try:
        return all(importlib.util.find_spec(name) is not None for name in names)
    except (ImportError, ValueError):
        return False


def open_tracing(settings: TelemetrySettings, environ: Mapping[str, str]) -> Tracing | None:
    """Return the sender of spans and metrics, None if it is not enabled or the SDK is missing, which is logged."""
    if not is_wanted(settings, environ):
        return None
    if not is_installed():
        _log.error("OpenTelemetry is off, its SDK is missing", mend=MEND)
        return None
    from proxy.telemetry.otlp import meters, tracers  # noqa: PLC0415 - the SDK is an extra, and costs to import

    return Tracing(tracers(settings, environ), meters(settings, environ))


class Tracing:
    """Sender of ended requests and jobs to OpenTelemetry.

    Args:
        tracers: The SDK's tracer provider; its sampler decides which spans are sent.
        meters: The SDK's meter provider.
    """

    def __init__(self, tracers: TracerProvider, meters: MeterProvider) -> None:
        self._tracers, self._meters = tracers, meters
        self._tracer = tracers.get_tracer(_NAME, version(_NAME))
        meter = meters.get_meter(_NAME, version(_NAME))
        self._seconds = meter.create_histogram(
            "gen_ai.client.operation.duration",
            unit="s",
            description="Duration of a call of a model.",
            explicit_bucket_boundaries_advisory=_SECONDS,
        )
        self._tokens = meter.create_histogram(
            "gen_ai.client.token.usage",
            unit="{token}",
            description="Tokens of a request and of its reply.",
            explicit_bucket_boundaries_advisory=_COUNTS,
        )
        self._first = [
            meter.create_histogram(
                name,
                unit="s",
                description="Time to the first event.",
                explicit_bucket_boundaries_advisory=_FIRST_SECONDS,
            )
            for name in ("gen_ai.server.time_to_first_token", "gen_ai.client.operation.time_to_first_chunk")
        ]
        self._propagator = TraceContextTextMapPropagator()
        self._seen: OrderedDict[str, SpanContext] = OrderedDict()

    def request(self, span: Span, traceparent: str = "", name: str = "") -> None:
        """Send the spans of a request.

        Args:
            span: Span of the whole request.
            traceparent: The client's header; its ``tracestate`` is free text and not used.
            name: Name under which ``job`` finds the request.
        """
        parent = self._propagator.extract({"traceparent": traceparent}) if traceparent else None
        context = self._send(span, parent, WallClock())
        if name and context.trace_flags.sampled:
            self._seen[name] = context
            if len(self._seen) > _MAX_REQUESTS:
                self._seen.popitem(last=False)

    def job(self, span: Span, names: Iterable[str] = ()) -> None:
        """Send the span of background work, linked to the spans of its requests if they are known."""
        links = [Link(self._seen[name]) for name in names if name in self._seen]
        self._send(span, None, WallClock(), links)

    def measure(self, operation: Operation) -> None:
        """Record a model call in the metrics."""
        attributes = dict(operation.attributes)
        self._seconds.record(operation.seconds, attributes)
        if operation.first_s is not None:
            for histogram in self._first:
                histogram.record(operation.first_s, attributes)
        for kind, tokens in (("input", operation.input_tokens), ("output", operation.output_tokens)):
            if tokens is not None:
                self._tokens.record(tokens, {**attributes, "gen_ai.token.type": kind})

    def close(self) -> None:
        """Send the queued spans and metrics, for at most ``_CLOSE_S``; call it in a thread.

        If the collector is unreachable, the SDK would retry for ten seconds, and be killed with the process.
        """
        ending = threading.Thread(target=self._end, name="telemetry-end", daemon=True)
        ending.start()
        ending.join(_CLOSE_S)
        if ending.is_alive():
            _log.warning("the collector does not take the last spans, they are lost")

    def _end(self) -> None:
        self._tracers.force_flush(_FLUSH_MS)
        self._tracers.shutdown()
        self._meters.shutdown(_FLUSH_MS)

    def _send(self, span: Span, parent: Context | None, clock: WallClock, links: Iterable[Link] = ()) -> SpanContext:
        opened = self._tracer.start_span(
            span.name,
            parent,
            kind=_KINDS[span.kind],
            attributes=dict(span.attributes),
            links=list(links),
            start_time=clock.ns(span.start_s),
        )
        if opened.is_recording():
            if span.error:
                opened.set_status(Status(StatusCode.ERROR))
                opened.set_attribute("error.type", span.error)
            within = set_span_in_context(opened)
            for child in span.children:
                self._send(child, within, clock)
        opened.end(clock.ns(span.end_s))
        return opened.get_span_context()

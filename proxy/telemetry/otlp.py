"""Tracer and meter providers with exporters to an OTLP endpoint over HTTP; imported only if one is set."""

from __future__ import annotations

from collections.abc import Mapping
from importlib.metadata import version

from opentelemetry.exporter.otlp.proto.http.metric_exporter import OTLPMetricExporter
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import MetricReader, PeriodicExportingMetricReader
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor

from proxy.settings.sections import TelemetrySettings


def tracers(settings: TelemetrySettings, environ: Mapping[str, str]) -> TracerProvider:
    """Return a provider that sends spans to the endpoint, in batches and from a separate thread."""
    provider = TracerProvider(resource=_resource(environ), shutdown_on_exit=False)
    if _is_on("TRACES", settings, environ):
        exporter = OTLPSpanExporter(_endpoint(settings, "traces"))
        provider.add_span_processor(BatchSpanProcessor(exporter))
    return provider


def meters(settings: TelemetrySettings, environ: Mapping[str, str]) -> MeterProvider:
    """Return a provider that sends metrics to the endpoint every minute (``OTEL_METRIC_EXPORT_INTERVAL``)."""
    readers: list[MetricReader] = []
    if _is_on("METRICS", settings, environ):
        exporter = OTLPMetricExporter(_endpoint(settings, "metrics"))
        readers.append(PeriodicExportingMetricReader(exporter))
    return MeterProvider(readers, _resource(environ), shutdown_on_exit=False)


def _resource(environ: Mapping[str, str]) -> Resource:
    name = environ.get("OTEL_SERVICE_NAME") or "throughline"
    return Resource.create({"service.name": name, "service.version": version("throughline")})


def _is_on(signal: str, settings: TelemetrySettings, environ: Mapping[str, str]) -> bool:
    names = ("OTEL_EXPORTER_OTLP_ENDPOINT", f"OTEL_EXPORTER_OTLP_{signal}_ENDPOINT")
    is_refused = environ.get(f"OTEL_{signal}_EXPORTER", "").strip().lower() == "none"
    return not is_refused and bool(settings.otlp_endpoint or any(environ.get(name) for name in names))


def _endpoint(settings: TelemetrySettings, signal: str) -> str | None:
    """Return the URL of a signal, None to use OpenTelemetry's own variables."""
    return f"{settings.otlp_endpoint.rstrip('/')}/v1/{signal}" if settings.otlp_endpoint else None

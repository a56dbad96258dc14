"""Fake OpenTelemetry collector: accepts OTLP over HTTP and stores it."""

from __future__ import annotations

import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any

from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import ExportMetricsServiceRequest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest


class Collector:
    """``with Collector() as collector`` listens on a free port; read it after the sender was closed."""

    def __init__(self) -> None:
        self.headers: list[dict[str, str]] = []
        self.raw: list[bytes] = []
        self.spans: list[Any] = []
        self.services: set[str] = set()
        self.metrics: dict[str, list[dict[str, str]]] = {}
        collector = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                collector._take(self.path, dict(self.headers), self.rfile.read(int(self.headers["content-length"])))
                self.send_response(200)
                self.send_header("content-length", "0")
                self.end_headers()

            def log_message(self, format: str, *args: Any) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._thread = threading.Thread(target=self._server.serve_forever, daemon=True)
        self.url = f"http://127.0.0.1:{self._server.server_port}"

    def __enter__(self) -> Collector:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()

    def named(self, name: str) -> Any:
        """Return the one span of this name."""
        (found,) = [span for span in self.spans if span.name == name]
        return found

    def _take(self, path: str, headers: dict[str, str], body: bytes) -> None:
        self.headers.append({name.lower(): value for name, value in headers.items()})
        self.raw.append(body)
        if path == "/v1/traces":
            for one in ExportTraceServiceRequest.FromString(body).resource_spans:
                self.services.add(attributes(one.resource)["service.name"])
                self.spans += [span for scope in one.scope_spans for span in scope.spans]
        elif path == "/v1/metrics":
            for one in ExportMetricsServiceRequest.FromString(body).resource_metrics:
                for metric in (metric for scope in one.scope_metrics for metric in scope.metrics):
                    points = self.metrics.setdefault(metric.name, [])
                    points += [{**attributes(point), "sum": point.sum} for point in metric.histogram.data_points]


def attributes(holder: Any) -> dict[str, Any]:
    """Return the attributes of a span, a resource or a point."""
    return {one.key: _value(one.value) for one in holder.attributes}


def _value(value: Any) -> Any:
    kind = value.WhichOneof("value")
    return [_value(one) for one in value.array_value.values] if kind == "array_value" else getattr(value, kind)

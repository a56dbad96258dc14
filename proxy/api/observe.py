"""End of a request: count it, write its log line, hand over its spans."""

from __future__ import annotations

import time

import structlog

from proxy.api.passage import Passage
from proxy.api.traces import operation_of, span_of
from proxy.services import Services
from proxy.telemetry import metrics
from proxy.telemetry.access import Fields
from proxy.telemetry.names import Names
from proxy.text.secrets import redact_name
from proxy.upstream import model_map

_log = structlog.get_logger(__name__)
_OF_OPERATIONS = ("/healthz", "/readyz", "/health/", "/metrics")
_HASH_DIGITS = 12
_models = Names()


def observe(passage: Passage, services: Services) -> None:
    """Count a request, write its line and send its spans; whatever fails here, the request has been served."""
    passage.end_s = time.perf_counter()
    try:
        model = _model(passage, services)
        _count(passage, model)
        if passage.path.startswith(_OF_OPERATIONS):
            return
        if services.access is not None:
            services.access.write(_line(passage, model))
        if services.tracing is not None:
            _trace(passage, model, services)
    except Exception as error:  # noqa: BLE001 - the reply is with the client; nobody shall pay for a count
        _log.error("a request could not be observed", error=type(error).__name__, exc_info=error)


def _model(passage: Passage, services: Services) -> str:
    """Return the model's name where it is one: a provider took it, or it is configured or well known."""
    name = passage.exchange.model if passage.exchange is not None else passage.model
    return _models.label(
        name,
        lambda: (
            redact_name(name) == name  # a client may send its key for a model, and a provider take it
            and (
                (passage.status < 400 and bool(passage.tries))
                or name in services.routes.models()
                or model_map.facts(name) is not model_map.UNKNOWN
            )
        ),
    )


def _count(passage: Passage, model: str) -> None:
    route, memories, spent = passage.route, passage.memories, passage.spent
    seconds = passage.end_s - passage.start_s
    metrics.REQUESTS.labels(route, model, str(passage.status), memories.outcome if memories else "").inc()
    metrics.REQUEST_SECONDS.labels(route).observe(seconds)
    if passage.first_byte_s is not None:
        first_s = passage.first_byte_s - passage.start_s
        metrics.FIRST_BYTE_SECONDS.labels(route).observe(first_s)
        if passage.is_stream and model:
            metrics.FIRST_TOKEN_SECONDS.labels(model).observe(first_s)
    if not passage.is_whole:
        metrics.CUT_SHORT.labels(route).inc()
    if passage.code:
        metrics.REFUSALS.labels(passage.code).inc()
    for direction, tokens in (("input", spent.input), ("output", spent.output)):
        if tokens and model:
            metrics.TOKENS.labels(model, direction).inc(tokens)
    if memories is not None and memories.count:
        metrics.INJECTED_MEMORIES.inc(memories.count)
        metrics.INJECTED_TOKENS.inc(memories.tokens)


def _line(passage: Passage, model: str) -> Fields:
    """Return the fields of the access log: nothing that anybody wrote, but for names that were accepted."""
    exchange, memories, spent = passage.exchange, passage.memories, passage.spent
    owner = exchange.scope if exchange is not None else passage.owner
    is_passing = exchange is not None and exchange.mode == "ephemeral"  # leaves no trace of who it was
    return {
        "method": passage.verb,
        "route": passage.route,
        "status": passage.status,
        "ms": _ms(passage.end_s - passage.start_s),
        "first_byte_ms": _ms(passage.first_byte_s - passage.start_s) if passage.first_byte_s is not None else None,
        "bytes_in": passage.bytes_in or (len(exchange.body) if exchange is not None else 0),
        "bytes_out": passage.bytes_out,
        "stream": passage.is_stream or None,
        "whole": None if passage.is_whole else False,
        "error": passage.code,
        "model": model,
        "provider": passage.tries[-1].target.provider if passage.tries else None,
        "tries": len(passage.tries) if len(passage.tries) > 1 else None,
        "input_tokens": spent.input,
        "output_tokens": spent.output,
        "memory": memories.outcome if memories else None,
        "n": memories.count if memories else None,
        "memory_tokens": memories.tokens if memories else None,
        "reason": memories.reason if memories else None,
        "user": owner.user[:_HASH_DIGITS] if owner is not None and not is_passing else None,
        "request_id": passage.request_id,
    }


def _trace(passage: Passage, model: str, services: Services) -> None:
    assert services.tracing is not None
    exchange = passage.exchange
    name = exchange.receipt_id if exchange is not None and exchange.learns else ""
    services.tracing.request(span_of(passage, model), passage.traceparent, name)
    operation = operation_of(passage, model)
    if operation is not None:
        services.tracing.measure(operation)


def _ms(seconds: float) -> float:
    return round(seconds * 1000, 1)

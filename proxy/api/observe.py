"""End of a request: count it, write its log line, export its spans by the GenAI conventions.

This module reads no message texts.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from urllib.parse import urlsplit

import structlog

from proxy.api.passage import Passage
from proxy.pipeline.exchange import Exchange
from proxy.services import Services
from proxy.telemetry import metrics
from proxy.telemetry.access import Fields
from proxy.telemetry.names import Names, provider_name, word
from proxy.telemetry.timings import Operation, Span, Step, Value, nested
from proxy.text.secrets import redact_name
from proxy.upstream import model_map
from proxy.upstream.failover import Attempt

_log = structlog.get_logger(__name__)
_OF_OPERATIONS = ("/healthz", "/readyz", "/health/", "/metrics")
_HASH_DIGITS = 12
_models = Names()
_OPERATIONS = {
    "/v1/chat/completions": "chat",
    "/v1/messages": "chat",
    "/v1/responses": "chat",
    "/v1/completions": "text_completion",
    "/v1/embeddings": "embeddings",
}
_AS_SPANS = {"journal": "remember"}  # steps under another span name; the tries replace the step `upstream`
_UPSTREAM = "upstream"


def observe(passage: Passage, services: Services) -> None:
    """Count a request, write its log line and send its spans; errors are logged, as the request has been served."""
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
    except Exception as error:  # noqa: BLE001 - the reply is sent; a failed count must not affect the client
        _log.error("a request could not be observed", error=type(error).__name__, exc_info=error)


def _model(passage: Passage, services: Services) -> str:
    """Return the model's name if it is real: accepted by a provider, configured or well known."""
    name = passage.exchange.model if passage.exchange is not None else passage.model
    return _models.label(
        name,
        lambda: (
            redact_name(name) == name  # a client may send its key as a model, and a provider accept it
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
    """Return the fields of the access log: no client's text, except accepted names."""
    exchange, memories, spent = passage.exchange, passage.memories, passage.spent
    owner = exchange.scope if exchange is not None else passage.owner
    is_passing = exchange is not None and exchange.mode == "ephemeral"  # leaves no trace of its user
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
    services.tracing.request(_span_of(passage, model), passage.traceparent, name)
    operation = _operation_of(passage, model)
    if operation is not None:
        services.tracing.measure(operation)


def _ms(seconds: float) -> float:
    return round(seconds * 1000, 1)


def _span_of(passage: Passage, model: str) -> Span:
    """Return the span of a request, with those of its steps and of every provider call."""
    route, attributes = passage.route, _server_attributes(passage)
    exchange = passage.exchange
    steps = [_step(step, exchange) for step in exchange.timings.steps if step.name != _UPSTREAM] if exchange else []
    return Span(
        f"{passage.verb} {route}",
        passage.start_s,
        passage.end_s,
        "server",
        {**attributes, **(_memory_attributes(exchange) if exchange else {})},
        passage.code or (str(passage.status) if passage.status >= 500 else ""),
        (*nested([*steps, *_relay(passage)]), *_calls(passage, model)),
    )


def _operation_of(passage: Passage, model: str) -> Operation | None:
    """Return the call for the metrics; None if no model was called."""
    name = _OPERATIONS.get(passage.path)
    if name is None or not passage.tries:
        return None
    last, spent = passage.tries[-1], passage.spent
    streamed = passage.is_stream and passage.first_byte_s is not None
    error = _failure(last, passage)
    attributes = {**_call_attributes(last, name, model), **_response_model(passage), **_if("error.type", error)}
    return Operation(
        seconds=passage.end_s - last.start_s,
        first_s=passage.first_byte_s - last.start_s if streamed and passage.first_byte_s is not None else None,
        input_tokens=spent.input,
        output_tokens=spent.output,
        attributes=attributes,
    )


def _calls(passage: Passage, model: str) -> Iterator[Span]:
    """Yield a span for each try; the last one ends with the reply."""
    operation = _OPERATIONS.get(passage.path, "")
    for attempt in passage.tries:
        is_last = attempt is passage.tries[-1]
        attributes = _call_attributes(attempt, operation, model)
        if is_last:
            attributes |= _reply_attributes(passage)
        if attempt.status:
            attributes["http.response.status_code"] = attempt.status
        name = f"{operation} {model}".strip() or f"{passage.verb} {passage.route}"
        end_s = passage.end_s if is_last and not attempt.error else attempt.end_s
        error = _failure(attempt, passage) if is_last else attempt.error or str(attempt.status)
        yield Span(name, attempt.start_s, end_s, "client", attributes, error)


def _call_attributes(attempt: Attempt, operation: str, model: str) -> dict[str, Value]:
    target = attempt.target
    provider, place = provider_name(target.provider), urlsplit(target.base_url)
    return {
        **_if("gen_ai.operation.name", operation),
        "gen_ai.provider.name": provider,
        "gen_ai.system": provider,  # its name until 2025, which many tools still read
        **_if("gen_ai.request.model", model),
        **_if("server.address", place.hostname or ""),
        **({"server.port": place.port} if place.port else {}),
    }


def _reply_attributes(passage: Passage) -> dict[str, Value]:
    spent, exchange = passage.spent, passage.exchange
    reply = exchange.relayed.reply if exchange is not None else None
    counted = {
        "gen_ai.usage.input_tokens": spent.input,
        "gen_ai.usage.output_tokens": spent.output,
        "gen_ai.usage.cache_read.input_tokens": spent.cached,
    }
    found: dict[str, Value] = {name: count for name, count in counted.items() if count is not None}
    if passage.is_stream:
        found["gen_ai.request.stream"] = True
        if passage.first_byte_s is not None and passage.tries:
            found["gen_ai.response.time_to_first_chunk"] = passage.first_byte_s - passage.tries[-1].start_s
    if exchange is not None and exchange.scope is not None and exchange.mode != "ephemeral":
        found |= _if("gen_ai.conversation.id", exchange.scope.session)
    if reply is not None:
        found |= _if("gen_ai.response.id", word(reply.id))
        if reason := word(reply.finish_reason):
            found["gen_ai.response.finish_reasons"] = [reason]
    return found | _response_model(passage)


def _response_model(passage: Passage) -> dict[str, Value]:
    reply = passage.exchange.relayed.reply if passage.exchange is not None else None
    name = word(reply.model) if reply is not None else ""
    return _if("gen_ai.response.model", name if redact_name(name) == name else "")


def _server_attributes(passage: Passage) -> dict[str, Value]:
    owner = passage.exchange.scope if passage.exchange is not None else passage.owner
    is_passing = passage.exchange is not None and passage.exchange.mode == "ephemeral"
    return {
        "http.request.method": passage.verb,
        "http.route": passage.route,
        "http.response.status_code": passage.status,
        **_if("throughline.request.id", passage.request_id),
        **_if("throughline.user", owner.user[:_HASH_DIGITS] if owner is not None and not is_passing else ""),
    }


def _memory_attributes(exchange: Exchange) -> dict[str, Value]:
    memories = exchange.memories()
    return {
        "throughline.memory.mode": exchange.mode,
        "throughline.memory.outcome": memories.outcome,
        "throughline.memory.count": memories.count,
        "throughline.memory.tokens": memories.tokens,
        "throughline.memory.budget": exchange.budget,
        **_if("throughline.memory.reason", memories.reason),
        **_if("throughline.receipt.id", exchange.receipt_id if exchange.scope is not None else ""),
    }


def _step(step: Step, exchange: Exchange) -> Span:
    attributes: dict[str, Value] = {}
    if step.name == "recall":
        considered = exchange.found.recalled.considered if exchange.found.recalled is not None else ()
        attributes = {
            "throughline.recall.hits": len(exchange.found.hits),
            "throughline.recall.kept_out": len(considered),
        }
        if exchange.reasons:
            attributes["throughline.memory.reasons"] = list(exchange.reasons)
    elif step.name == "assemble":
        added = exchange.assembly
        attributes = {"throughline.memory.count": len(added.hits), "throughline.memory.tokens": added.tokens}
    name = _AS_SPANS.get(step.name, step.name)
    return Span(f"throughline.{name}", step.start_s, step.end_s, attributes=attributes)


def _relay(passage: Passage) -> Iterator[Span]:
    """Yield the time from the head of a reply to its end."""
    if passage.tries and not passage.tries[-1].error:
        attributes: dict[str, Value] = {
            "throughline.reply.bytes": passage.bytes_out,
            "throughline.reply.whole": passage.is_whole,
        }
        yield Span("throughline.relay", passage.tries[-1].end_s, passage.end_s, attributes=attributes)


def _failure(attempt: Attempt, passage: Passage) -> str:
    """Return the error of the call whose reply was relayed, "" for none."""
    if attempt.error or attempt.status >= 400:
        return attempt.error or str(attempt.status)
    return "" if passage.is_whole else "cut"


def _if(name: str, value: str) -> dict[str, Value]:
    return {name: value} if value else {}

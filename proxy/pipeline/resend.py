"""Sends a request once more as the client wrote it, where a provider refuses what memory made of it."""

from __future__ import annotations

from proxy.memory.inject.ledger import NOTHING
from proxy.pipeline.exchange import Exchange
from proxy.telemetry import DEGRADED
from proxy.upstream.base import UpstreamResponse, WholeResponse
from proxy.upstream.headers import find

REASON = "refused"
MAX_READ = 256 * 1024  # bytes of a refusal that is no JSON

_STATUSES = frozenset({400, 413, 422})
# Causes that a block of memory may have: the window, and the content.
_CAUSES = (
    "context_length", "context length", "context window", "prompt is too long", "too many tokens", "maximum length",
    "string_above_max_length", "max_tokens", "content_policy", "content policy", "content_filter", "content filter",
    "content management policy", "responsibleaipolicy", "invalid_prompt", "moderation", "flagged", "safety",
)  # fmt: skip


async def is_refused_for_memory(exchange: Exchange, response: UpstreamResponse) -> tuple[bool, UpstreamResponse]:
    """Return whether a reply refuses what memory added, and the reply, whole where it had to be read.

    Nothing is said of requests whose history gave way to a summary: as the client wrote them they fit even less.
    """
    is_changed = exchange.upstream_body is not exchange.resolved_body
    if response.status not in _STATUSES or not is_changed or exchange.compaction is not None or exchange.continues:
        return False, response
    try:
        body = b"".join([piece async for piece in response.chunks()])
    finally:
        await response.aclose()
    accumulator = exchange.dialect.accumulator()
    accumulator.feed(body)
    headers = response.headers
    error = accumulator.result(
        content_type=find(headers, "content-type") or "", content_encoding=find(headers, "content-encoding") or ""
    ).error
    told = str(error).lower() if error is not None else body[:MAX_READ].decode("utf-8", "replace").lower()
    return any(cause in told for cause in _CAUSES), WholeResponse(response.status, headers, body)


def take_back(exchange: Exchange) -> None:
    """Make the request the client's own again, and say so in the header and the receipt."""
    exchange.upstream_body = exchange.resolved_body
    exchange.assembly, exchange.offers_recall = NOTHING, False
    exchange.fitted.clear()
    exchange.degrade(REASON)
    DEGRADED.labels(REASON).inc()

"""Sends a request once more as the client wrote it, where a provider refuses what memory made of it."""

from __future__ import annotations

from collections.abc import Callable

from proxy.memory.inject.ledger import NOTHING
from proxy.pipeline.exchange import Exchange
from proxy.pipeline.prefix import is_to_mend, mend
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


async def what_to_change(
    exchange: Exchange, response: UpstreamResponse
) -> tuple[Callable[[Exchange], None] | None, UpstreamResponse]:
    """Return what makes another request of one that was refused for what memory did, and the reply.

    The reply is whole where it had to be read. A request whose history gave way to a summary is not made the client's
    own again: as the client wrote it, it fits even less.
    """
    is_changed = exchange.upstream_body is not exchange.resolved_body
    may_take_back = is_changed and exchange.placed.compaction is None and not exchange.continues
    if response.status not in _STATUSES or not (may_take_back or exchange.placed.bound is not None):
        return None, response
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
    whole = WholeResponse(response.status, headers, body)
    if is_to_mend(exchange, told):
        return mend, whole
    return take_back if may_take_back and any(cause in told for cause in _CAUSES) else None, whole


def take_back(exchange: Exchange) -> None:
    """Make the request the client's own again, and say so in the header and the receipt."""
    exchange.upstream_body = exchange.resolved_body
    exchange.assembly, exchange.tool.is_offered = NOTHING, False
    exchange.fitted.clear()
    exchange.degrade(REASON)
    DEGRADED.labels(REASON).inc()

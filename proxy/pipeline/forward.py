"""Step 4, forward: send the request to its provider; errors are the provider's own.

A body is rebuilt for a fallback model only just before that model is tried: so a conversation is not cut to the
smallest window of a chain that is rarely walked to its end, and no image is described for a model that may never be
tried. A request that the provider refuses because of the changes by memory is sent once more, as the client wrote it.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from copy import copy
from dataclasses import replace

from proxy.errors import UpstreamTimeout, UpstreamUnreachable
from proxy.memory.inject.ledger import NOTHING
from proxy.pipeline.assemble import assemble, offer, resume
from proxy.pipeline.attachments import place, taker
from proxy.pipeline.compact import compact
from proxy.pipeline.exchange import Exchange
from proxy.pipeline.policy import best_effort
from proxy.pipeline.prefix import as_sent, is_to_mend, mend, protect
from proxy.pipeline.recall import recall_left_out
from proxy.services import Services
from proxy.telemetry import DEGRADED
from proxy.upstream.base import Target, UpstreamRequest, UpstreamResponse, WholeResponse
from proxy.upstream.failover import Plan
from proxy.upstream.headers import value_of
from proxy.upstream.messages import MessagesOverChat
from proxy.upstream.wire import WireUpstream

_REFUSED = "refused"
_MAX_READ = 256 * 1024  # bytes of a refusal that is not JSON
_STATUSES = frozenset({400, 413, 422})
_UNREAD = frozenset({400, 415, 422})  # of providers that cannot read a compressed body
# Refusals that a memory block may cause: by the context window, and by content filters.
_CAUSES = (
    "context_length", "context length", "context window", "prompt is too long", "too many tokens", "maximum length",
    "string_above_max_length", "max_tokens", "content_policy", "content policy", "content_filter", "content filter",
    "content management policy", "responsibleaipolicy", "invalid_prompt", "moderation", "flagged", "safety",
)  # fmt: skip


async def forward(exchange: Exchange, services: Services) -> UpstreamResponse:
    """Send the request; return once the head of the reply has arrived.

    It is sent once more without memory if refused because of it, and uncompressed if its provider may not read it.

    Raises:
        UpstreamUnreachable: If the connection fails, or its other end is not an API.
        UpstreamTimeout: If the provider sends nothing for too long.
    """

    async def make(target: Target) -> UpstreamRequest:
        body = await _body_for(exchange, services, target)
        await protect(exchange, body)
        return request_for(exchange, target, body)

    with exchange.timings.step("upstream"):
        exchange.target, response = await services.routes.send(_plan(exchange), make, exchange.relayed.attempts)
        _adopt(exchange, exchange.target)
        change, response = await _what_to_change(exchange, response)
        if change is not None:
            change(exchange)
            with suppress(UpstreamUnreachable, UpstreamTimeout):  # the first refusal is an answer
                exchange.target, response = await services.routes.send(_plan(exchange), make, exchange.relayed.attempts)
                _adopt(exchange, exchange.target)
    return response


def _plan(exchange: Exchange) -> Plan:
    """Return the plan, starting with the deployment that stores the continued response: no other has it."""
    assert exchange.plan is not None
    plan, thread = exchange.plan, exchange.placed.thread
    if thread is None or not thread.deployment:
        return plan
    return replace(plan, tries=tuple(sorted(plan.tries, key=lambda one: one.target.deployment != thread.deployment)))


def request_for(exchange: Exchange, target: Target, body: bytes) -> UpstreamRequest:
    """Return the request for a target; the body names the model as the target does."""
    is_packed = _is_packed(exchange, target, body)
    if target.model is not None and target.model != exchange.model:
        body = exchange.dialect.replace_model(body, target.model)
    body, headers = as_sent(exchange, body, is_native=not isinstance(target.upstream, MessagesOverChat))
    if is_packed and exchange.as_written is not None:
        body, headers = exchange.as_written
    return UpstreamRequest(
        exchange.method,
        exchange.path,
        exchange.query,
        headers,
        body,
        stream=exchange.streams,
        readable=exchange.listens or exchange.ticket.counts_tokens or exchange.handing is not None,
    )


def _is_packed(exchange: Exchange, target: Target, body: bytes) -> bool:
    """Return whether a body goes to the provider compressed as it came: memory is off, and nothing else changes it."""
    return (
        exchange.as_written is not None
        and exchange.is_off
        and body is exchange.body
        and target.model in (None, exchange.model)
        and isinstance(target.upstream, WireUpstream)
    )


async def _body_for(exchange: Exchange, services: Services, target: Target) -> bytes:
    """Return the body for a target, rebuilt if its model has a smaller window or accepts other inputs."""
    name = target.serves
    is_other = bool(name) and name != exchange.model and exchange.mode != "off" and exchange.reads
    if not is_other and not exchange.files.items:
        return exchange.upstream_body
    key = _key(target)
    if key not in exchange.fitted:
        exchange.fitted[key] = await _fitted(exchange, services, target, is_other=is_other)
    return (exchange.fitted[key] or exchange).upstream_body


def _adopt(exchange: Exchange, target: Target) -> None:
    """Copy the state of the body that was answered: the receipt describes it, and later requests repeat it."""
    one = exchange.fitted.get(_key(target))
    if one is None:
        return
    exchange.upstream_body, exchange.tool.is_offered = one.upstream_body, one.tool.is_offered
    exchange.placed.compaction, exchange.placed.summary_tokens = one.placed.compaction, one.placed.summary_tokens
    exchange.assembly, exchange.found.hits, exchange.budget = one.assembly, one.found.hits, one.budget
    exchange.resolved_body = one.resolved_body
    for own, theirs in zip(exchange.files.items, one.files.items, strict=True):
        if theirs is own:
            continue
        if theirs.action != "left":
            own.item, own.action, own.reason = theirs.item or own.item, theirs.action, theirs.reason
        elif own.item is not None:  # forwarded unchanged
            own.action, own.reason = "kept", ""


def _key(target: Target) -> str:
    return f"{target.serves}\n{target.deployment}"


async def _fitted(exchange: Exchange, services: Services, target: Target, *, is_other: bool) -> Exchange | None:
    one = exchange.fork()
    one.upstream_body = exchange.resolved_body
    if is_other:
        one.stands_in = target.serves
    is_new = await _placed(one, services, target)
    if is_other and _is_smaller(exchange, services, target):
        one.placed.compaction = None
        await compact(one, services)
        if one.dropped:
            is_new = True
            await recall_left_out(one, services)
        else:
            one.placed.compaction = exchange.placed.compaction
    if not is_new:
        return None
    if one.scope is not None and one.mode != "off":
        one.tool.is_offered = False
        await assemble(one, services.settings.memory)
        resume(one)
        offer(one)
    return one


async def _placed(one: Exchange, services: Services, target: Target) -> bool:
    """Replace attachments by inputs that the target accepts; return whether the replacements changed."""
    if not one.files.items:
        return False
    with best_effort(one, "attachments"):
        model = taker(one, services, target)
        if one.files.made_for is not None and model != one.files.made_for:
            one.files.items = [copy(attached) for attached in one.files.items]
            await place(one, services, model)
            return True
    return False


def _is_smaller(exchange: Exchange, services: Services, target: Target) -> bool:
    window = services.routes.context_window(target.serves)
    asked = services.routes.context_window(exchange.model)
    return window is not None and (asked is None or asked > window)


async def _what_to_change(
    exchange: Exchange, response: UpstreamResponse
) -> tuple[Callable[[Exchange], None] | None, UpstreamResponse]:
    """Return the change for a second try if memory or a compressed body caused the refusal, else None, and the reply.

    The reply is a whole one if it had to be read. A compacted request is not reset to the client's own body, which
    fits the window even less.
    """
    is_changed = exchange.upstream_body is not exchange.resolved_body
    may_take_back = is_changed and exchange.placed.compaction is None and not exchange.continues
    may_unpack = exchange.target is not None and _is_packed(exchange, exchange.target, exchange.upstream_body)
    may_change = response.status in _STATUSES and (may_take_back or exchange.placed.bound is not None)
    if not may_change and not (may_unpack and response.status in _UNREAD):
        return None, response
    try:
        body = b"".join([piece async for piece in response.chunks()])
    finally:
        await response.aclose()
    accumulator = exchange.dialect.accumulator()
    accumulator.feed(body)
    headers = response.headers
    error = accumulator.result(
        content_type=value_of(headers, "content-type"), content_encoding=value_of(headers, "content-encoding")
    ).error
    told = str(error).lower() if error is not None else body[:_MAX_READ].decode("utf-8", "replace").lower()
    whole = WholeResponse(response.status, headers, body)
    if may_unpack:
        return _unpack, whole
    if is_to_mend(exchange, told):
        return mend, whole
    return _take_back if may_take_back and any(cause in told for cause in _CAUSES) else None, whole


def _unpack(exchange: Exchange) -> None:
    """Let the request go without the client's compression, which its provider may not read."""
    exchange.as_written = None


def _take_back(exchange: Exchange) -> None:
    """Reset the request to the client's own body, and note it for the header and the receipt."""
    exchange.upstream_body = exchange.resolved_body
    exchange.assembly, exchange.tool.is_offered = NOTHING, False
    exchange.fitted.clear()
    exchange.degrade(_REFUSED)
    DEGRADED.labels(_REFUSED).inc()

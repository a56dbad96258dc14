"""Fits a request to another model than the one it was made for, when that one is about to be tried in its place.

Only then: a conversation is not cut to the smallest window of a chain that is hardly ever walked to its end, and no
image is put into words for a model that may never be asked.
"""

from __future__ import annotations

from copy import copy

from proxy.pipeline.assemble import assemble
from proxy.pipeline.attachments import place, taker
from proxy.pipeline.compact import compact
from proxy.pipeline.exchange import Exchange
from proxy.pipeline.offer import offer, resume
from proxy.pipeline.policy import best_effort
from proxy.pipeline.recall import recall_left_out
from proxy.services import Services
from proxy.upstream.base import Target


async def fitted(exchange: Exchange, services: Services, target: Target) -> bytes:
    """Return the body for a target: the request's own, unless it serves a model that takes less, or other things."""
    name = target.serves
    is_other = bool(name) and name != exchange.model and exchange.mode != "off" and exchange.reads
    if not is_other and not exchange.files.items:
        return exchange.upstream_body
    key = _key(target)
    if key not in exchange.fitted:
        exchange.fitted[key] = await _fitted(exchange, services, target, is_other=is_other)
    return (exchange.fitted[key] or exchange).upstream_body


def adopt(exchange: Exchange, target: Target) -> None:
    """Take over what the one that answered was sent: the receipt tells of it, and later requests repeat it."""
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
        elif own.item is not None:  # it went up as it came
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
    """Put what the target takes in the place of each attachment; whether that is another thing than before."""
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

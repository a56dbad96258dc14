"""Fits a request to another model than the one asked for, when that one is about to be tried in its place.

Only then: a conversation is not cut to the smallest window of a chain that is hardly ever walked to its end.
"""

from __future__ import annotations

from copy import copy

from proxy.pipeline.assemble import assemble
from proxy.pipeline.compact import compact
from proxy.pipeline.exchange import Exchange
from proxy.pipeline.offer import offer
from proxy.pipeline.recall import recall_left_out
from proxy.services import Services
from proxy.upstream.base import Target


async def fitted(exchange: Exchange, services: Services, target: Target) -> bytes:
    """Return the body for a target: the request's own, unless it serves a model that takes less."""
    name = target.serves
    if not name or name == exchange.model or exchange.mode == "off" or not exchange.reads:
        return exchange.upstream_body
    if name not in exchange.fitted:
        exchange.fitted[name] = await _fitted(exchange, services, name)
    return exchange.fitted[name].upstream_body


def adopt(exchange: Exchange, target: Target) -> None:
    """Take over what the one that answered was sent: the receipt tells of it, and later requests repeat it."""
    one = exchange.fitted.get(target.serves, exchange)
    if one is not exchange:
        exchange.upstream_body, exchange.offers_recall = one.upstream_body, one.offers_recall
        exchange.compaction, exchange.summary_tokens = one.compaction, one.summary_tokens
        exchange.assembly, exchange.hits, exchange.budget = one.assembly, one.hits, one.budget


async def _fitted(exchange: Exchange, services: Services, name: str) -> Exchange:
    window, asked = services.routes.context_window(name), services.routes.context_window(exchange.model)
    if window is None or (asked is not None and asked <= window):
        return exchange
    one = copy(exchange)
    one.stands_in, one.compaction, one.upstream_body = name, None, exchange.resolved_body
    await compact(one, services)
    if not one.dropped:
        return exchange
    one.offers_recall = False
    await recall_left_out(one, services)
    await assemble(one, services.settings.memory)
    offer(one)
    return one

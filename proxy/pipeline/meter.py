"""Costs and savings of memory in a request, by the prices of the model."""

from __future__ import annotations

from proxy.memory.lifecycle.usage import counted
from proxy.pipeline.exchange import Exchange
from proxy.services import Services
from proxy.store.costs import Cost
from proxy.upstream.model_map import Prices


def costs_of(exchange: Exchange, services: Services) -> tuple[Cost, ...]:
    """Return the tokens put into the request and those left out of it, at the price of fresh input."""
    if exchange.scope is None or exchange.mode in ("observe", "off"):
        return ()
    prices = _prices(exchange, services)
    price = prices.input if prices else 0.0
    injected = exchange.memories().tokens + exchange.tool.tokens
    compacted = exchange.placed.compaction
    saved = compacted.before - compacted.plan.tokens - exchange.placed.summary_tokens if compacted else 0
    found = (Cost("injected", injected, injected * price), Cost("saved", max(0, saved), max(0, saved) * price))
    return tuple(one for one in found if one.tokens)


def price_of(exchange: Exchange, services: Services) -> float:
    """Return what the provider takes for the request and its reply, in US dollars; 0 where that is not known.

    What it took from its cache counts at the price of that.
    """
    prices, reply = _prices(exchange, services), exchange.relayed.reply
    used = counted(exchange.relayed.usage or (reply.usage if reply else None))
    if prices is None or not used:
        return 0.0
    cached = used["cached_tokens"]
    price_cached = prices.input if prices.cache_read is None else prices.cache_read
    fresh = max(0, used["input_tokens"] - cached)
    return fresh * prices.input + cached * price_cached + used["output_tokens"] * prices.output


def _prices(exchange: Exchange, services: Services) -> Prices | None:
    """Return the prices of the model that answered."""
    model = (exchange.target.serves if exchange.target is not None else "") or exchange.model
    return services.routes.prices(model) if model else None

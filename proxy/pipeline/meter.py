"""What memory cost a request, and what it saved, by the prices of the model."""

from __future__ import annotations

from proxy.pipeline.exchange import Exchange
from proxy.services import Services
from proxy.store.costs import Cost


def costs_of(exchange: Exchange, services: Services) -> tuple[Cost, ...]:
    """Return the tokens put into the request and those left out of it, at the price of fresh input."""
    if exchange.scope is None or exchange.mode in ("observe", "off"):
        return ()
    answered = exchange.target.serves if exchange.target is not None else ""
    model = answered or exchange.model
    prices = services.routes.prices(model) if model else None
    price = prices.input if prices else 0.0
    injected = exchange.memories().tokens + exchange.recalled_tokens
    compacted = exchange.compaction
    saved = compacted.before - compacted.plan.tokens - exchange.summary_tokens if compacted else 0
    found = (Cost("injected", injected, injected * price), Cost("saved", max(0, saved), max(0, saved) * price))
    return tuple(one for one in found if one.tokens)

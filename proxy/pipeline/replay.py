"""Requests that are no turn: errands with bound thoughts in their history, and those that only count tokens."""

from __future__ import annotations

import asyncio

from proxy.memory.inject.standing import standing
from proxy.pipeline.assemble import assemble
from proxy.pipeline.exchange import Exchange
from proxy.pipeline.identify import read, recognise
from proxy.pipeline.placement import name_points
from proxy.pipeline.policy import beside_loop, best_effort
from proxy.pipeline.prefix import look_up, protect
from proxy.pipeline.recall import put_back, recall, still_true
from proxy.services import Services


async def replay(exchange: Exchange, services: Services) -> None:
    """Put back what earlier turns of a conversation carry, and nothing new; nothing is kept of the request.

    Where a command has switched memory off nothing is put back, and thoughts bound to what stood there are dropped.
    """
    scope = exchange.replayed
    if scope is None:
        if exchange.off_reason == "command":
            await look_up(exchange, services)
        return
    exchange.scope = scope
    said, exchange.mode, exchange.budget = exchange.mode, "read", 0
    try:
        with best_effort(exchange, "memory"):
            await beside_loop(exchange.body, name_points, exchange)
            deadline_s = services.settings.memory.deadline_ms / 1000
            await put_back(exchange, services, asyncio.get_running_loop().time() + deadline_s)
            async with asyncio.timeout(deadline_s):
                stands = await standing(scope, services.index)
                shared = await services.team_memory.of(scope.teams, services.store)
            exchange.placed.ledger = still_true(exchange.placed.ledger, stands, shared)
        await look_up(exchange, services)
        await assemble(exchange, services.settings.memory)
    finally:
        exchange.scope, exchange.mode = None, said


async def counted(exchange: Exchange, services: Services) -> None:
    """Make of a request to count tokens what would be sent, were it asked; nothing is kept of it.

    Raises:
        InvalidRequest: If it is no request of its wire.
        InvalidHeader: If a header of ours has a value that means nothing.
        Forbidden: If the key may not name the user that the request names.
    """
    exchange.request = await read(exchange)
    exchange.upstream_body = exchange.resolved_body = exchange.body
    await recognise(exchange, services)
    if exchange.scope is not None:
        services = services.of(exchange.mode)
        await recall(exchange, services)
        await look_up(exchange, services)
        await assemble(exchange, services.settings.memory)
    else:
        await replay(exchange, services)
    await protect(exchange, exchange.upstream_body)

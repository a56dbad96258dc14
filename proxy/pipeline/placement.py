"""Which conversation a request belongs to, and what of it is new."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta

from proxy.memory.chain import place
from proxy.pipeline.exchange import Exchange
from proxy.services import Services
from proxy.store.sessions import ChainRow


async def locate(exchange: Exchange, services: Services) -> None:
    """Place the request by what the store knows of its messages."""
    hashes = [point.hash for point in exchange.points if point.links]
    place_by(exchange, services, await services.sessions.locate(exchange.required_scope, hashes))
    exchange.is_located = True


def place_by(exchange: Exchange, services: Services, known: Sequence[ChainRow]) -> None:
    """Place the request by these links; with none, as if nothing of it had been seen before."""
    scope = exchange.required_scope
    fresh = timedelta(seconds=services.settings.memory.conversation_fresh_s)
    named = exchange.named_session
    placement = place(scope, exchange.points, known, named=named, now=exchange.moment, fresh=fresh)
    exchange.scope = replace(scope, session=placement.session)
    exchange.first_new = placement.first_new
    exchange.known = {row.hash for row in known if row.session == placement.session and row.learned}

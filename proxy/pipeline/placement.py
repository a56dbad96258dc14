"""Placement of a request in its conversation: the session, and the new messages."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from datetime import timedelta

import orjson

from proxy.dialects.base import Message
from proxy.memory.conversations.chain import chain, place, rejoin, rejoined, unknown_state
from proxy.pipeline.exchange import Exchange
from proxy.services import Services
from proxy.store.replies import Thread
from proxy.store.sessions import ChainRow
from proxy.types import Scope

_MANY, _TAIL = 512, 384  # links
_GAPS = 4  # places where a client left out messages


async def locate(exchange: Exchange, services: Services) -> None:
    """Place the request by the stored links of its messages, and by the reply that it continues."""
    if exchange.continues:
        exchange.placed.thread = await find_thread(exchange, services)
        name_points(exchange)
    known = await _known(exchange.required_scope, services, _hashes(exchange))
    for _ in range(0 if exchange.continues else _GAPS):
        if not await _rejoin(exchange, services, {row.hash for row in known}):
            break
        known = await _known(exchange.required_scope, services, _hashes(exchange))
    place_by(exchange, services, known)
    hashes = _hashes(exchange)
    if len(hashes) > _MANY:  # messages before a known one are known as well
        last = max((at for at, one in enumerate(hashes) if one in exchange.placed.known), default=-1)
        exchange.placed.known = {*exchange.placed.known, *hashes[: last + 1]}
    exchange.placed.is_located = True


def _hashes(exchange: Exchange) -> list[str]:
    return [point.hash for point in exchange.placed.points if point.links]


async def _rejoin(exchange: Exchange, services: Services, known: Collection[str]) -> bool:
    """Continue a stored conversation from which the client left messages out; return whether the points changed."""
    points, scope = exchange.placed.points, exchange.required_scope
    tried = rejoined(points, known)
    pairs = await services.sessions.pairs(scope, [link.pair for link in tried]) if tried else []
    if not pairs:
        return False
    exchange.placed.points, left_out = rejoin(points, tried, pairs, exchange.named.session_id)
    exchange.placed.left_out = left_out or exchange.placed.left_out
    return exchange.placed.points != points


async def _known(scope: Scope, services: Services, hashes: Sequence[str]) -> list[ChainRow]:
    """Return the stored links of a chain; of a very long one, the first and those near the end of the known part."""
    locate_links = services.sessions.locate
    if len(hashes) <= _MANY:
        return await locate_links(scope, hashes)
    tail = len(hashes) - _TAIL
    rows = await locate_links(scope, [hashes[0], *hashes[tail:]])
    if not rows or any(row.hash != hashes[0] for row in rows):
        return rows
    low, high = 0, tail
    while high - low > _TAIL:
        middle = (low + high) // 2
        found = await locate_links(scope, [hashes[middle]])
        low, high = (middle, high) if found else (low, middle)
    return rows + await locate_links(scope, hashes[max(1, low) : high])


async def find_thread(exchange: Exchange, services: Services) -> Thread | None:
    """Return the conversation stored at the provider, as far as it was relayed here."""
    request, scope = exchange.request, exchange.required_scope
    if request is not None and request.continues:
        return await services.replies.thread(scope, request.continues)
    return await services.replies.latest(scope, scope.session) if scope.session else None


def name_points(exchange: Exchange) -> None:
    """Name the request's messages by hash chain, which extends the state of a conversation at the provider."""
    scope, request, thread = exchange.required_scope, exchange.request, exchange.placed.thread
    after = thread.state if thread else ""
    if not after and request is not None and request.continues:
        after = unknown_state(scope, request.continues)
    contents = [(message.role, _canonical(message)) for message in exchange.messages]
    exchange.placed.points = chain(scope, contents, after=after)


def _canonical(message: Message) -> bytes:
    """Return the bytes that identify a message, equal for content as a string and as a list of parts."""
    parts = [part.text.encode() if part.kind == "text" else _dumped(part.data) for part in message.parts]
    return b"\0".join(parts)


def _dumped(data: object) -> bytes:
    try:
        return orjson.dumps(data, option=orjson.OPT_SORT_KEYS, default=dict)
    except orjson.JSONEncodeError:
        return _written_out(data).encode("utf-8", "surrogatepass")


def _written_out(data: object) -> str:
    """Return a stable text of data with integers beyond 64 bits, which orjson refuses; "" if nested too deeply."""
    try:
        return repr(data)
    except RecursionError:
        return ""


def place_by(exchange: Exchange, services: Services, known: Sequence[ChainRow]) -> None:
    """Place the request by these links; without links, all its messages count as new."""
    scope = exchange.required_scope
    named = exchange.named.session_id or (exchange.placed.thread.session if exchange.placed.thread else "")
    fresh = timedelta(seconds=services.settings.memory.conversation_fresh_s)
    placement = place(scope, exchange.placed.points, known, named=named, now=exchange.moment, fresh=fresh)
    exchange.scope = replace(scope, session=placement.session)
    exchange.placed.first_new = placement.first_new
    exchange.placed.known = {row.hash for row in known if row.session == placement.session and row.learned}

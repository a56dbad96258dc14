"""Step 2: place the request in its conversation and find what matters for it, within one deadline; fails open."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from proxy.memory.chain import message_id, reply_hash
from proxy.memory.embed import EmbeddingFailed
from proxy.memory.index import FactShelf
from proxy.memory.query import Query, widen
from proxy.memory.sources import recall as search
from proxy.memory.standing import standing
from proxy.memory.transcript import as_pieces
from proxy.pipeline.exchange import Exchange
from proxy.pipeline.placement import locate, name_points, place_by
from proxy.pipeline.policy import best_effort
from proxy.services import Services
from proxy.threads import spawn
from proxy.types import Episode, Hit, Scope

_EMBED_SHARE = 0.6  # of the deadline: the search by words must still fit behind a slow embedder
_MOST_HITS = 80
_MOST_KEPT = 200  # turns of a conversation that the provider keeps


async def recall(exchange: Exchange, services: Services) -> None:
    """Fill in the conversation and, where the mode reads, what was recalled."""
    with best_effort(exchange, "memory"):
        name_points(exchange)
    deadline_s = services.settings.memory.deadline_ms / 1000
    with exchange.timings.step("recall"), best_effort(exchange, "memory"):
        async with asyncio.timeout(deadline_s):
            with best_effort(exchange, "store"):
                await locate(exchange, services)
            if exchange.reads:
                await _look_up(exchange, services, exchange.required_scope, deadline_s)
    if not exchange.is_located:
        place_by(exchange, services, ())


async def _look_up(exchange: Exchange, services: Services, scope: Scope, deadline_s: float) -> None:
    before = await _kept_turns(exchange, services, scope)
    said, answers = _said(exchange, before, "user"), _said(exchange, before, "assistant")
    text, context = widen(said, reply=answers[-1] if answers else "")
    exchange.query_text = text
    query = Query(text, context, None, exchange.moment, session=scope.session, exclude_texts=_as_stored(said, answers))
    embedding = spawn(_embedded(exchange, services, query, deadline_s), "embed")
    try:  # the embedder computes in a thread: what is read meanwhile costs no time
        with best_effort(exchange, "store"):
            exchange.ledger = await services.ledger.read(scope, scope.session)
            await services.index.prepare(scope)
        query = replace(query, vector=await embedding)
    finally:
        embedding.cancel()
    with best_effort(exchange, "store", deadline_reason="deadline"), exchange.timings.step("search"):
        shelf = await services.index.facts(scope, query)
        stands = await standing(scope, services.index)
        exchange.profile = stands.profile_at(exchange.moment)
        exchange.ledger = [entry for entry in exchange.ledger if stands.still_holds(entry)]
        if text:
            exchange.recalled = await search(scope, query, services.index, limit=_MOST_HITS)
            visible = [seen for hit in exchange.recalled.hits if (seen := stands.seen(hit, exchange.moment))]
            stated = " ".join(" ".join([*said, *answers]).casefold().split())
            unsaid = [hit for hit in visible if not _is_stated(hit, _quote(shelf, hit), stated)]
            exchange.hits = _without_own(unsaid, exchange)


async def _kept_turns(exchange: Exchange, services: Services, scope: Scope) -> list[Episode]:
    """Return what was said before in a conversation that the provider keeps, as far as it is stored here."""
    turns: list[Episode] = []
    if exchange.thread is not None:
        with best_effort(exchange, "store"):
            turns = await services.store.episodes(scope, session=exchange.thread.session, limit=_MOST_KEPT)
    return turns


def _said(exchange: Exchange, before: Sequence[Episode], role: str) -> list[str]:
    here = [message.text for message in exchange.messages if message.role == role and message.text]
    return [*(turn.text for turn in before if turn.role == role), *here]


async def _embedded(
    exchange: Exchange, services: Services, query: Query, deadline_s: float
) -> NDArray[np.float32] | None:
    """Return the query's vector, None where there is nothing to embed or the embedder is slow or broken."""
    vector: NDArray[np.float32] | None = None
    if not query.text:
        return vector
    with best_effort(exchange, "embedder", deadline_reason="embedder"), exchange.timings.step("embed"):
        async with asyncio.timeout(deadline_s * _EMBED_SHARE):
            if not services.is_embedder_warm:
                raise EmbeddingFailed("The embedder is still loading.")
            vector = (await services.embedder.embed([query.dense_text], purpose="query"))[0]
    return vector


def _as_stored(said: Sequence[str], answers: Sequence[str]) -> tuple[str, ...]:
    """Return the messages whole and in the pieces in which they would be stored."""
    return tuple(piece for text in (*said, *answers) for piece in (text, *as_pieces(text)))


def _is_stated(hit: Hit, quote: str, stated: str) -> bool:
    """Whether the messages say it already: a fact by its quote or text, an old turn word for word."""
    texts = [hit.text, quote] if hit.source == "fact" else [hit.text]
    return any(text and " ".join(text.casefold().split()) in stated for text in texts)


def _without_own(hits: list[Hit], exchange: Exchange) -> list[Hit]:
    """Leave out replies to messages of this request: they stand there as the client shows them, or are sought anew."""
    session = exchange.required_scope.session
    if exchange.thread is not None:  # the provider keeps all of it
        return [hit for hit in hits if hit.source != "episode" or hit.session != exchange.thread.session]
    if not any(hit.session == session and hit.source == "episode" for hit in hits):
        return hits
    replies = {message_id(session, reply_hash(point.hash)) for point in exchange.points if point.links}
    return [hit for hit in hits if hit.source != "episode" or hit.id.partition(".")[0] not in replies]


def _quote(shelf: FactShelf, hit: Hit) -> str:
    line = shelf.line(hit.id) if hit.source != "episode" else None
    return "" if line is None else shelf.items[line].quote

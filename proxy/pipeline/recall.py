"""Step 2, recall: place the request in its conversation and find relevant memory within one deadline. Fails open."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from itertools import zip_longest

import numpy as np
from numpy.typing import NDArray

from proxy.memory.conversations.chain import message_id, reply_hash
from proxy.memory.conversations.episode import latest
from proxy.memory.conversations.leftout import HEAD_CHARACTERS, HEADS, Passage, is_relevant
from proxy.memory.conversations.leftout import search as search_left_out
from proxy.memory.conversations.summarize import Utterance
from proxy.memory.conversations.transcript import MAX_CHARACTERS, as_pieces
from proxy.memory.inject.standing import Standing, standing
from proxy.memory.lifecycle.hygiene import MAX_WHOLE, Rules, pointer, stage_of
from proxy.memory.lifecycle.tasks import dates_of, open_tasks, told
from proxy.memory.recall.gate import is_personal
from proxy.memory.recall.hits import is_of_past
from proxy.memory.recall.query import Query, widen
from proxy.memory.recall.sources import recall as search
from proxy.memory.recall.team import Shared, is_shared_still, search_shared, with_shared
from proxy.memory.vectors.embed import EmbeddingFailed
from proxy.memory.visibility.visibility import current
from proxy.pipeline.compact import compact
from proxy.pipeline.exchange import Exchange
from proxy.pipeline.placement import locate, name_points, place_by
from proxy.pipeline.policy import beside_loop, best_effort
from proxy.process.threads import in_thread, spawn
from proxy.services import Services
from proxy.store.ledger import LedgerEntry
from proxy.telemetry import DEGRADED
from proxy.text.quoted import within
from proxy.text.when import span
from proxy.types import Episode, Hit, Scope

_SHOWN = ("chunk", "image")
_PASSAGES_SHARE = 0.65  # of the deadline
_EMBED_SHARE = 0.6  # of the deadline: lexical search must still fit after a slow embedder
LEDGER_DEADLINE_S = 2.0  # for a conversation with a history; a read takes 0.3 ms
_MAX_HITS = 80
_MAX_PASSAGES = 24  # of the messages that a request leaves out
_SCANNED_IN_TIME = 2_000_000  # characters in one deadline; more get more time, as no other search covers them
_MAX_KEPT = 200  # turns of a conversation that the provider stores


async def recall(exchange: Exchange, services: Services) -> None:
    """Fill in the place in the conversation and, if the mode reads memory, the hits."""
    with best_effort(exchange, "memory"):
        await beside_loop(exchange.body, name_points, exchange)
    deadline_s = services.settings.memory.deadline_ms / 1000
    clock = asyncio.get_running_loop().time
    until = clock() + deadline_s
    await put_back(exchange, services, until)
    left_s = until - clock()
    await compact(exchange, services)
    passages = await _in_left_out(exchange, deadline_s)
    if exchange.reads and left_s > 0:
        with exchange.timings.step("recall"), best_effort(exchange, "memory"):
            async with asyncio.timeout(left_s):
                files = tuple(one.item.id for one in exchange.files.items if one.item is not None)
                scope = replace(exchange.required_scope, inside=files)
                await _look_up(exchange, services, scope, left_s, passages)
    elif exchange.reads and "deadline" not in exchange.reasons:
        exchange.degrade("deadline")
        DEGRADED.labels("deadline").inc()


async def put_back(exchange: Exchange, services: Services, until: float) -> None:
    """Fill in the conversation and its ledger: a late recall may add no block, but removes no earlier one.

    Providers that bind a reply to the content before it refuse a history in which a block is missing.

    Args:
        exchange: Request whose points are named.
        services: Services with the stored conversations.
        until: Deadline on the event loop's clock, for a request without a history.
    """
    has_history = any(message.role == "assistant" for message in exchange.messages)
    if has_history:
        until = asyncio.get_running_loop().time() + LEDGER_DEADLINE_S
    with exchange.timings.step("recall"), best_effort(exchange, "memory"):
        async with asyncio.timeout_at(until):
            with best_effort(exchange, "store"):
                await locate(exchange, services)
    if not exchange.placed.is_located:
        place_by(exchange, services, ())
    if not exchange.reads:
        return
    scope = exchange.required_scope
    with exchange.timings.step("recall"), best_effort(exchange, "store"):
        async with asyncio.timeout_at(until):
            exchange.placed.ledger = await services.ledger.read(scope, scope.session)


def _is_answered(exchange: Exchange) -> bool:
    """Return whether the last message has no text by the user, and their last text already has a block.

    This holds in the tool loop of an agent that sends tool results as user messages.
    """
    users = [point for point in exchange.placed.points if point.role == "user"]
    if not users or exchange.said(users[-1].index):
        return False
    own = next((point for point in reversed(users[:-1]) if exchange.said(point.index)), None)
    return own is not None and any(one.anchor == own.hash and one.kind == "block" for one in exchange.placed.ledger)


async def recall_left_out(exchange: Exchange, services: Services) -> None:
    """Add relevant passages of the messages that a request leaves out for a model with a smaller window."""
    passages = await _in_left_out(exchange, services.settings.memory.deadline_ms / 1000)
    personal = is_personal(exchange.found.query)
    if exchange.found.standing is not None and is_relevant(passages, personal=personal, cosine=math.nan):
        found = seen(exchange.found.standing, [as_hit(exchange, passage) for passage in passages])
        exchange.found.hits = _merged(exchange.found.hits, found)


async def _look_up(
    exchange: Exchange, services: Services, scope: Scope, deadline_s: float, passages: Sequence[Passage]
) -> None:
    before = await _kept_turns(exchange, services, scope)
    said, answers = await beside_loop(
        exchange.body, lambda: (_said(exchange, before, "user"), _said(exchange, before, "assistant"))
    )
    text, context = widen(said, reply=answers[-1] if answers else "")
    whole = [one.text for one in exchange.messages if one.role == "user" and one.index not in exchange.dropped]
    exchange.found.query = text
    query = Query(
        text,
        context,
        None,
        exchange.moment,
        session=scope.session,
        exclude_texts=await beside_loop(exchange.body, _as_stored, [*said, *whole], answers),
        patience_s=deadline_s * _PASSAGES_SHARE,
    )
    embedding = spawn(_embedded(exchange, services, query, deadline_s), "embed")
    left_out = [as_hit(exchange, passage) for passage in passages]
    try:  # the embedder computes in a thread: reads run meanwhile and add no latency
        with best_effort(exchange, "store"):
            exchange.found.standing = await standing(scope, services.index)
            exchange.found.hits = seen(exchange.found.standing, left_out)  # the result if the store times out
            await services.index.prepare(scope)
        query = replace(query, vector=await embedding)
        if not await _tells(exchange, services, query, passages):
            left_out = exchange.found.hits = []
    finally:
        embedding.cancel()
    with best_effort(exchange, "store", deadline_reason="deadline"), exchange.timings.step("search"):
        stands = exchange.found.standing = await standing(scope, services.index)
        exchange.found.profile = stands.profile_at(exchange.moment)
        shared = await services.team_memory.of(scope.teams, services.store)
        exchange.placed.ledger = still_true(exchange.placed.ledger, stands, shared)
        if text and not _is_answered(exchange):
            exchange.found.recalled = await search(
                scope, query, services.index, limit=_MAX_HITS, withheld=stands.withheld.spans
            )
            found = _merged(exchange.found.recalled.hits, left_out)
            visible = holding(stands, seen(stands, found), exchange.moment, text)
            unsaid = await beside_loop(exchange.body, _unsaid, visible, [*said, *whole, *answers])
            exchange.found.hits = _without_own(unsaid, exchange)
            exchange.found.hits = await _in_short(_with_tasks(exchange, stands), exchange, services)
            exchange.found.hits = with_shared(exchange.found.hits, await search_shared(shared, scope, query))
        exchange.found.opening = await _opening(exchange, services, stands)


async def _tells(exchange: Exchange, services: Services, query: Query, passages: Sequence[Passage]) -> bool:
    """Return whether left-out passages fit the query, by lexical score; by cosine if that is undecided."""
    personal = is_personal(query.text)
    settled = is_relevant(passages, personal=personal)
    if settled is None:
        cosine = math.nan
        if query.vector is not None:
            with best_effort(exchange, "embedder"):
                heads = [one.text[:HEAD_CHARACTERS] for one in passages[:HEADS]]
                vectors = await services.embedder.embed(heads, purpose="query")
                cosine = float((vectors @ query.vector).max())
        settled = is_relevant(passages, personal=personal, cosine=cosine)
    return bool(settled)


async def _kept_turns(exchange: Exchange, services: Services, scope: Scope) -> list[Episode]:
    """Return the earlier turns of a conversation that the provider stores, as far as they are stored here."""
    turns: list[Episode] = []
    if exchange.placed.thread is not None:
        with best_effort(exchange, "store"):
            turns = await services.store.episodes(scope, session=exchange.placed.thread.session, limit=_MAX_KEPT)
    return turns


def _said(exchange: Exchange, before: Sequence[Episode], role: str) -> list[str]:
    dropped = exchange.dropped
    some = (one.index for one in exchange.messages if one.role == role and one.index not in dropped)
    here = [said for index in some if (said := exchange.said(index))]
    return [*(turn.text for turn in before if turn.role == role), *here]


async def _embedded(
    exchange: Exchange, services: Services, query: Query, deadline_s: float
) -> NDArray[np.float32] | None:
    """Return the query's vector; None if the text is empty, or the embedder fails or is too slow."""
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
    """Return each message whole, followed by the pieces in which it would be stored."""
    return tuple(piece for text in (*said, *answers) for piece in (text, *as_pieces(text[:MAX_CHARACTERS])))


def _unsaid(hits: Sequence[Hit], said: Sequence[str]) -> list[Hit]:
    """Return the hits whose text is not in the messages; a fact's quote counts as its text."""
    stated = " ".join(" ".join(said).casefold().split())
    return [hit for hit in hits if not _is_stated(hit, stated)]


def _is_stated(hit: Hit, stated: str) -> bool:
    texts = [hit.text, hit.quote] if hit.source == "fact" else [hit.text]
    return any(text and " ".join(text.casefold().split()) in stated for text in texts)


def _without_own(hits: list[Hit], exchange: Exchange) -> list[Hit]:
    """Leave out files in this request, and replies to its messages: the client sends these, or asks for new ones."""
    files = exchange.files.standing
    hits = [hit for hit in hits if hit.source not in _SHOWN or hit.id.partition(".")[0] not in files]
    session = exchange.required_scope.session
    if exchange.placed.thread is not None:  # the provider stores the whole session
        return [hit for hit in hits if hit.source != "episode" or hit.session != exchange.placed.thread.session]
    if not any(hit.session == session and hit.source == "episode" for hit in hits):
        return hits
    replies = {message_id(session, reply_hash(point.hash)) for point in exchange.standing_points if point.links}
    return [hit for hit in hits if hit.source != "episode" or hit.id.partition(".")[0] not in replies]


async def _in_left_out(exchange: Exchange, deadline_s: float) -> list[Passage]:
    """Return relevant passages of left-out messages, which may be new in this request and not stored yet."""
    found: list[Passage] = []
    if not exchange.dropped:
        return found
    with exchange.timings.step("leftout"), best_effort(exchange, "memory"):
        text, context = widen(_said(exchange, (), "user"))
        some = (exchange.messages[index] for index in sorted(exchange.dropped))
        said = [Utterance(one.index, one.role, one.text) for one in some if one.text]
        size = sum(len(one.text) for one in said)
        async with asyncio.timeout(deadline_s * (1 + size / _SCANNED_IN_TIME)):
            found = await in_thread("cpu", search_left_out, text, said, _MAX_PASSAGES, context=context)
    return found


def as_hit(exchange: Exchange, passage: Passage) -> Hit:
    """Return a passage as a hit, with the id that its message has, or will have, in the store."""
    id_ = message_id(exchange.required_scope.session, exchange.placed.points[passage.number].hash)
    return Hit(
        "episode",
        f"{id_}.{passage.piece}" if passage.piece else id_,
        passage.text,
        passage.score,
        0,
        session=exchange.required_scope.session,
        role="user" if passage.role == "user" else "assistant",
        quoted=within(exchange.messages[passage.number].text, passage.text) if passage.role == "user" else (),
        seq=passage.number,
        live=False,
    )


def _with_tasks(exchange: Exchange, stands: Standing) -> list[Hit]:
    """Return the hits preceded by tasks that matter for every query; every task gets its dates."""
    tasks = {row.id: dates_of(row, task) for row, task in open_tasks(stands.tasks)}
    hits = [replace(hit, dates=tasks[hit.id]) if hit.id in tasks else hit for hit in exchange.found.hits]
    more = told(stands.tasks, exchange.found.query, exchange.moment, is_first=_is_first(exchange))
    known = {hit.id for hit in hits}
    return [*(hit for hit in more if hit.id not in known), *hits]


def _is_first(exchange: Exchange) -> bool:
    """Return whether this request begins a conversation."""
    is_alone = sum(point.links for point in exchange.placed.points) == 1 and exchange.placed.thread is None
    return is_alone and not exchange.continues


async def _opening(exchange: Exchange, services: Services, stands: Standing) -> list[Hit]:
    """Return summaries of the last sessions if this request begins a new one, else nothing."""
    most = services.settings.memory.opening_summaries
    if not most or not _is_first(exchange):
        return []
    scope = exchange.required_scope
    rows = [row for row in await services.index.summaries(scope) if scope.sees(row.agent)]
    hits = [
        Hit("summary", row.id, row.text, 0.0, 0, row.local_from, row.session, kind="summary")
        for row in latest(rows, most, scope.session)
    ]
    return seen(stands, hits)


def still_true(ledger: Sequence[LedgerEntry], stands: Standing, shared: Shared) -> list[LedgerEntry]:
    """Return the ledger entries without any memory that is closed, withheld or no longer shared."""
    return [one for one in ledger if stands.still_holds(one) and is_shared_still(shared, one.memory_ids)]


def seen(stands: Standing, hits: Sequence[Hit]) -> list[Hit]:
    """Return the hits without withheld sentences."""
    return [one for hit in hits if (one := stands.seen(hit))]


async def _in_short(hits: list[Hit], exchange: Exchange, services: Services) -> list[Hit]:
    """Return the hits; long memories unused for ``compress_days`` are shortened."""
    long = [hit.id for hit in hits if hit.source == "fact" and len(hit.text) > MAX_WHOLE]
    days = services.settings.memory.compress_days
    if not long or not days:
        return hits
    scope, now, rules = exchange.required_scope, services.clock.now(), Rules(days, 0.0)
    uses = await services.uses.of(scope, long)
    idle = [id_ for id_ in long if id_ not in uses or now - uses[id_].last_at >= timedelta(days=days)]
    rows = await asyncio.gather(*(services.store.memory(scope, id_) for id_ in idle))
    short = {row.id for row in rows if row and stage_of(row, uses.get(row.id), now, rules) == "compressed"}
    return [pointer(hit, exchange.found.query) if hit.id in short else hit for hit in hits]


def holding(stands: Standing, hits: Sequence[Hit], now: datetime, question: str) -> list[Hit]:
    """Return the hits without expired memories; a question about the past keeps them, with their end."""
    meant = span(question, now)
    is_past = is_of_past(question) or (meant is not None and meant[1] < now)
    return current(hits, stands.passing, now, is_past=is_past)


def _merged(hits: Sequence[Hit], left_out: Sequence[Hit]) -> list[Hit]:
    """Return the hits of the store and of left-out messages, interleaved and without duplicates."""
    pairs = zip_longest(hits, left_out)
    return list({hit.id: hit for pair in pairs for hit in pair if hit is not None}.values()) if left_out else list(hits)

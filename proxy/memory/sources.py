"""Where memory is looked for, and the search over all of it."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field
from typing import Any, ParamSpec, Protocol

import numpy as np

from proxy.clock import from_ms
from proxy.lexical import tokens, weights
from proxy.memory.cache import IndexCache
from proxy.memory.gate import Evidence, admit
from proxy.memory.index import FactShelf, Shelf, TurnShelf
from proxy.memory.postings import Mask, Scores
from proxy.memory.query import Query
from proxy.memory.rank import best, fuse
from proxy.threads import in_thread
from proxy.types import Episode, Hit, Memory, Scope, Source

_CONTEXT_WEIGHT = 0.35
_MOST_FACTS = 30
_LINES_ON_LOOP = 2000

P = ParamSpec("P")


@dataclass(frozen=True, slots=True)
class Found:
    """What one source has to offer: hits, best first, and how well the best of them fits."""

    hits: list[Hit]
    evidence: Evidence


@dataclass(frozen=True, slots=True)
class Recalled:
    """The outcome of a search.

    Args:
        hits: Ranked, best first, not yet cut to a budget; empty where nothing is relevant.
        considered: What would have been next, or what the gate kept out.
        admitted: Whether the gate let anything through.
        reason: Its word for the receipt.
        timings_ms: By step.
    """

    hits: list[Hit]
    considered: list[Hit]
    admitted: bool
    reason: str
    timings_ms: dict[str, float] = field(default_factory=dict)


class RecallSource(Protocol):
    """Something that can be searched."""

    gives: frozenset[Source]

    async def find(self, scope: Scope, query: Query, index: IndexCache, limit: int) -> Found:
        """Return what fits ``query`` and ``scope`` may see."""
        ...


class FactSource:
    """Memories: facts, preferences, events, procedures, summaries and open tasks."""

    gives: frozenset[Source] = frozenset({"fact", "task", "summary"})

    async def find(self, scope: Scope, query: Query, index: IndexCache, limit: int) -> Found:
        """Return the memories that are valid, visible and fit ``query``."""
        shelf = await index.facts(scope, query)
        return await _beside_loop(shelf, self.search, shelf, scope, query, limit)

    def search(self, shelf: FactShelf, scope: Scope, query: Query, limit: int) -> Found:
        """Rank the memories on a shelf."""
        mask = shelf.visible(scope, query.now, query.as_of)
        terms = _terms(query)
        lexical, dense = shelf.lexical(terms, mask), shelf.dense(query.vector, mask)
        fused = fuse([(lexical, 0.5), (dense, 0.5)], mask)
        lines = best(fused, min(limit, _MOST_FACTS))
        hits = [_fact_hit(shelf.items[line], float(fused[line])) for line in lines]
        return Found(hits, _evidence(shelf, terms, mask, lexical, dense))


class EpisodeSource:
    """Earlier turns, as they were said."""

    gives: frozenset[Source] = frozenset({"episode"})

    async def find(self, scope: Scope, query: Query, index: IndexCache, limit: int) -> Found:
        """Return the turns that fit ``query``, those aside that stand in the request."""
        shelf = await index.turns(scope, query)
        return await _beside_loop(shelf, self.search, shelf, scope, query, limit)

    def search(self, shelf: TurnShelf, scope: Scope, query: Query, limit: int) -> Found:
        """Rank the turns on a shelf."""
        mask = _not_quoted(shelf, shelf.seen_by(scope), query)
        terms = _terms(query)
        lexical, dense = shelf.lexical(terms, mask), shelf.dense(query.vector, mask)
        window_lexical = shelf.window_lexical(terms, mask)
        window_dense = shelf.dense(query.vector, mask, "window_vector")
        fused = fuse([(lexical, 0.3), (window_lexical, 0.3), (dense, 0.2), (window_dense, 0.2)], mask)
        fused *= np.where(shelf.by_user, np.float32(1), np.float32(0.8))
        hits = [_turn_hit(shelf, line, float(fused[line])) for line in best(fused, limit)]
        return Found(hits, _evidence(shelf, terms, mask, lexical, dense))


SOURCES: tuple[RecallSource, ...] = (FactSource(), EpisodeSource())


async def recall(
    scope: Scope,
    query: Query,
    index: IndexCache,
    *,
    sources: Collection[Source] | None = None,
    limit: int = 60,
    among: Sequence[RecallSource] = SOURCES,
) -> Recalled:
    """Search everything that ``scope`` may see.

    Args:
        scope: Whose memory.
        query: What is looked for.
        index: The owners' search indexes.
        sources: Only hits of these kinds; all if None.
        limit: Most hits.
        among: The sources there are.
    """
    started = time.perf_counter()
    asked = [source for source in among if sources is None or not source.gives.isdisjoint(sources)]
    found = await asyncio.gather(*(source.find(scope, query, index, limit) for source in asked))
    hits = [hit for one in found for hit in one.hits if sources is None or hit.source in sources]
    verdict = admit([one.evidence for one in found if one.hits])
    timings_ms = {"search": (time.perf_counter() - started) * 1000}
    if not verdict.admitted:
        return Recalled([], hits[:limit], admitted=False, reason=verdict.reason, timings_ms=timings_ms)
    return Recalled(hits[:limit], hits[limit:], admitted=True, reason=verdict.reason, timings_ms=timings_ms)


async def _beside_loop(shelf: Shelf[Any], search: Callable[P, Found], *args: P.args, **kwargs: P.kwargs) -> Found:
    """Search a shelf while nothing is put on it, in a thread where it is large."""

    def locked() -> Found:
        with shelf.lock:
            return search(*args, **kwargs)

    return locked() if len(shelf) < _LINES_ON_LOOP else await in_thread("cpu", locked)


def _terms(query: Query) -> dict[str, float]:
    terms = {term: weight * _CONTEXT_WEIGHT for term, weight in weights(query.context).items()}
    return terms | weights(query.text)


def _evidence(
    shelf: Shelf[Memory] | Shelf[Episode], terms: dict[str, float], mask: Mask, lexical: Scores, dense: Scores
) -> Evidence:
    cosine = None if np.isnan(dense).all() else float(np.nanmax(dense))
    return Evidence(cosine, _coverage(shelf, terms, mask, lexical))


def _coverage(shelf: Shelf[Memory] | Shelf[Episode], terms: dict[str, float], mask: Mask, lexical: Scores) -> float:
    """Return the share of the query's telling words, weighted by rarity, that the best-matching text holds."""
    if not lexical.any():
        return 0.0
    total = int(mask.sum())
    held = set(tokens(shelf.items[int(np.argmax(lexical))].text))
    masses = {
        term: weight * float(np.log1p(total / (1 + shelf.postings.rarity(term, mask))))
        for term, weight in terms.items()
    }
    return sum(mass for term, mass in masses.items() if term in held) / max(sum(masses.values()), 1e-9)


def _not_quoted(shelf: TurnShelf, mask: Mask, query: Query) -> Mask:
    """Return ``mask`` without the turns whose text stands in the request already."""
    standing = {text.strip() for text in query.exclude_texts}
    if standing:
        for line in np.flatnonzero(mask):
            if shelf.items[line].text.strip() in standing:
                mask[line] = False
    return mask


def _fact_hit(memory: Memory, score: float) -> Hit:
    source: Source = memory.kind if memory.kind in ("task", "summary") else "fact"
    return Hit(
        source,
        memory.id,
        memory.text,
        score,
        0,
        when=memory.valid_from,
        session=memory.session,
        kind=memory.kind,
        confidence=memory.confidence,
    )


def _turn_hit(shelf: TurnShelf, line: int, score: float) -> Hit:
    turn = shelf.items[line]
    when = from_ms(int(shelf.times[line]))
    return Hit("episode", turn.id, turn.text, score, 0, when=when, session=turn.session, role=turn.role, seq=turn.seq)

"""Candidates of one source, and helpers shared by all sources."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any, ParamSpec

import numpy as np

from proxy.clock import to_ms
from proxy.memory.index.postings import Scores
from proxy.memory.index.shelf import Shelf
from proxy.memory.recall import tuning
from proxy.memory.recall.gate import AnyShelf, Evidence
from proxy.memory.recall.query import Query, matter
from proxy.process.threads import in_thread
from proxy.text.lexical import weights
from proxy.text.when import span
from proxy.types import Hit

P = ParamSpec("P")

_LINES_ON_LOOP = 2000


@dataclass(frozen=True, slots=True)
class Found:
    """Candidates of one source.

    Args:
        hits: Best first; scores in [0, 1] or a little above.
        evidence: Relevance of the best hit.
        leads: Number of hits at the start that precede the hits of all other sources.
        rest: Hits that score too far below the best to be injected.
        is_apart: True if the gate judges the source by itself: its size says nothing about the user's own texts.
        is_named: True if the query names a hit; the gate then admits the source whatever its evidence.
    """

    hits: list[Hit]
    evidence: Evidence
    leads: int = 0
    rest: list[Hit] = field(default_factory=list)
    is_apart: bool = False
    is_named: bool = False


NOTHING = Found([], Evidence())


def cut(found: Found, floor: float) -> Found:
    """Move the hits that score below ``floor`` times the best score to ``rest``; leading hits stay."""
    least = floor * max((hit.score for hit in found.hits), default=0.0)
    kept = [at < found.leads or hit.score >= least for at, hit in enumerate(found.hits)]
    rest = [hit for hit, stays in zip(found.hits, kept, strict=True) if not stays]
    return replace(found, hits=[hit for hit, stays in zip(found.hits, kept, strict=True) if stays], rest=rest)


async def beside_loop(shelf: Shelf[Any], search: Callable[P, Found], *args: P.args, **kwargs: P.kwargs) -> Found:
    """Search a shelf under its lock, in a thread if the shelf is large."""

    def locked() -> Found:
        with shelf.lock:
            return search(*args, **kwargs)

    return locked() if len(shelf) < _LINES_ON_LOOP else await in_thread("cpu", locked)


def terms_of(query: Query) -> dict[str, float]:
    """Return the weight of each index term of a query; context weighs less, framing words nothing."""
    terms = {term: weight * tuning.CONTEXT_WEIGHT for term, weight in weights(query.context).items()}
    return terms | weights(matter(query.text))


def in_time(shelf: AnyShelf, query: Query, factor: float = tuning.IN_TIME_FACTOR) -> Scores:
    """Return a factor per line: ``factor`` within the time that the query names, else 1."""
    factors = np.ones(len(shelf.items), dtype=np.float32)
    if (meant := span(query.text, query.as_of or query.now)) is not None:
        first, last = map(to_ms, meant)
        factors[(shelf.times >= first) & (shelf.times <= last)] = factor
    return factors

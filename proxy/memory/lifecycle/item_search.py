"""Searches items by meaning and words: each document by its best passage, short ones by their text."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime
from typing import TypeVar

import numpy as np

from proxy.errors import ProxyError
from proxy.memory.index.cache import IndexCache
from proxy.memory.index.postings import Mask
from proxy.memory.index.shelf import Shelf
from proxy.memory.recall.found import terms_of
from proxy.memory.recall.query import Query
from proxy.memory.recall.rank import best, fuse
from proxy.memory.vectors.embed import Embedder
from proxy.process.threads import in_thread
from proxy.types import Chunk, Memory, Scope

T = TypeVar("T", Memory, Chunk)

MAX_LINES = 400  # of each shelf that are weighed against each other


@dataclass(frozen=True, slots=True)
class ItemHit:
    """An item that fits a query.

    Args:
        id: Of the memory or document.
        score: In [0, 1]: half of it likeness, half the share of the query's words, rare ones counting more.
        excerpt: The text or passage that fits best.
        memory: The memory, None for a document.
    """

    id: str
    score: float
    excerpt: str
    memory: Memory | None = None


async def search_items(
    scope: Scope,
    text: str,
    index: IndexCache,
    embedder: Embedder,
    *,
    now: datetime,
    limit: int,
    wanted: Callable[[Memory], bool],
    documents: Collection[str],
) -> list[ItemHit]:
    """Return the items that fit, best first.

    Args:
        scope: Whose.
        text: What is sought.
        index: Where.
        embedder: Of the query.
        now: Time of it.
        limit: Most items.
        wanted: Which memories count.
        documents: Ids of the documents that count.
    """
    query = Query(text, "", None, now)
    with suppress(ProxyError):  # words alone still find
        query = replace(query, vector=(await embedder.embed([text], purpose="query"))[0])
    facts, chunks = await index.facts(scope, query), await index.chunks(scope, query)

    def search() -> list[ItemHit]:
        with facts.lock:
            rows = _lines(facts, facts.visible(scope, now), query)
            found = [ItemHit(row.id, score, row.text, row) for row, score in rows if wanted(row)]
        with chunks.lock:
            is_wanted = np.array([row.document in documents for row in chunks.items], dtype=np.bool_)
            lines = _lines(chunks, chunks.seen_by(scope) & is_wanted, query)
            found += [ItemHit(row.document, score, row.text) for row, score in lines]
        found.sort(key=lambda hit: -hit.score)
        best_of: dict[str, ItemHit] = {}
        for hit in found:
            best_of.setdefault(hit.id, hit)
        return list(best_of.values())[:limit]

    return await in_thread("cpu", search)


def _lines(shelf: Shelf[T], mask: Mask, query: Query) -> list[tuple[T, float]]:
    """Return the rows of a shelf that fit, each with a score that can be compared over shelves."""
    if not mask.any():
        return []
    terms = terms_of(query)
    lexical, dense = shelf.lexical(terms, mask), shelf.dense(query.vector, mask)
    chosen = best(fuse([(lexical, 0.5), (dense, 0.5)], mask), MAX_LINES)
    if shelf.is_sample:  # its terms are in the store
        shares = {line: float(lexical[line] / max(lexical.max(initial=0), 1e-9)) for line in chosen}
    else:
        shares = _shares(shelf, terms, mask, chosen)
    return [
        (shelf.items[line], 0.5 * max(0.0, float(np.nan_to_num(dense[line]))) + 0.5 * shares.get(line, 0.0))
        for line in chosen
    ]


def _shares(shelf: Shelf[T], terms: Mapping[str, float], mask: Mask, chosen: Sequence[int]) -> dict[int, float]:
    """Return the share of the query's words that each line holds, rare ones counting more."""
    names = list(terms)
    if not names:
        return {}
    numbers, lines = shelf.postings.holders(names)
    holders = np.bincount(numbers[mask[lines]], minlength=len(names))
    masses = np.array([terms[name] for name in names]) * np.log1p(int(mask.sum()) / (1 + holders))
    among = np.isin(lines, chosen)
    held: dict[int, float] = {}
    for number, line in zip(numbers[among].tolist(), lines[among].tolist(), strict=True):
        held[line] = held.get(line, 0.0) + float(masses[number])
    return {line: share / float(masses.sum()) for line, share in held.items()}

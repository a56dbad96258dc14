"""Search items by meaning and words: documents by their best chunk, short items by their text."""

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

MAX_LINES = 400  # rows of each index that are ranked
CLEAR = 0.5  # cosine of a chunk that clearly answers a question; the built-in embedder's typical one is 0.1 to 0.25
RARE = 0.6  # of the IDF of a word that one text holds; rarer words count as full evidence


@dataclass(frozen=True, slots=True)
class ItemHit:
    """An item that matches a query.

    Args:
        id: Of the memory or document.
        score: In [0, 1]: half the cosine above what is typical here, half the share of the query's words.
        excerpt: The best matching text or chunk.
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
    """Return the matching items, best first.

    Args:
        scope: Whose items.
        text: The query.
        index: Index to search.
        embedder: Embeds the query.
        now: Time of the query.
        limit: Maximum number of items.
        wanted: Filter on memories.
        documents: Ids of the documents to search.
    """
    query = Query(text, "", None, now)
    with suppress(ProxyError):  # lexical search still works
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
    """Return the matching rows of an index, with scores that are comparable across indexes."""
    if not mask.any():
        return []
    terms = terms_of(query)
    lexical, dense = shelf.lexical(terms, mask), shelf.dense(query.vector, mask)
    chosen = best(fuse([(lexical, 0.5), (dense, 0.5)], mask), MAX_LINES)
    if shelf.is_sample:  # its terms are in the store
        shares = {line: float(lexical[line] / max(lexical.max(initial=0), 1e-9)) for line in chosen}
    else:
        shares = _shares(shelf, terms, mask, chosen)
    typical, _ = shelf.typical(dense)
    likeness = np.clip((np.nan_to_num(dense, nan=typical) - typical) / (CLEAR - typical), 0, 1)
    return [(shelf.items[line], 0.5 * float(likeness[line]) + 0.5 * shares.get(line, 0.0)) for line in chosen]


def _shares(shelf: Shelf[T], terms: Mapping[str, float], mask: Mask, chosen: Sequence[int]) -> dict[int, float]:
    """Return the share of the query's words that each row holds, weighted by IDF."""
    names, texts = list(terms), int(mask.sum())
    if not names:
        return {}
    numbers, lines = shelf.postings.holders(names)
    holders = np.bincount(numbers[mask[lines]], minlength=len(names))
    masses = np.array([terms[name] for name in names]) * np.log1p(texts / (1 + holders))
    among = np.isin(lines, chosen)
    held: dict[int, list[float]] = {}
    for number, line in zip(numbers[among].tolist(), lines[among].tolist(), strict=True):
        held.setdefault(line, []).append(float(masses[number]))
    whole, rare = float(masses.sum()), RARE * float(np.log1p(texts / 2))
    return {line: sum(found) / whole * min(1.0, max(found) / rare) for line, found in held.items()}

"""Searches that a person or a program asks for by API: what fits best, whether or not it would be injected."""

from __future__ import annotations

from collections.abc import Collection
from contextlib import suppress
from dataclasses import replace
from datetime import datetime

from proxy.errors import ProxyError
from proxy.memory.index.cache import IndexCache
from proxy.memory.inject.standing import standing
from proxy.memory.recall.hits import is_of_past
from proxy.memory.recall.query import Query
from proxy.memory.recall.sources import recall
from proxy.memory.vectors.embed import Embedder
from proxy.memory.visibility.passing import current
from proxy.text.tokens import count
from proxy.types import Hit, Scope, Source


async def find(
    scope: Scope,
    text: str,
    index: IndexCache,
    embedder: Embedder,
    *,
    now: datetime,
    limit: int,
    sources: Collection[Source] | None = None,
    as_of: datetime | None = None,
) -> list[Hit]:
    """Return the best entries for ``text``, without what has ended unless ``as_of`` asks for the past."""
    query = Query(text, "", None, now, as_of=as_of)
    with suppress(ProxyError):  # words alone still find
        query = replace(query, vector=(await embedder.embed([text], purpose="query"))[0])
    stands = await standing(scope, index) if as_of is None else None
    withheld = stands.withheld.spans if stands else ()
    recalled = await recall(scope, query, index, sources=sources, limit=limit, withheld=withheld)
    hits = (recalled.hits or recalled.considered)[:limit]
    if stands is not None:
        hits = [seen for hit in hits if (seen := stands.seen(hit)) is not None]
        hits = current(hits, stands.passing, now, is_past=is_of_past(text))
    return [replace(hit, tokens=count(hit.text)) for hit in hits]

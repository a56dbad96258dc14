"""Memories requested by API: lists, now or as of a past time, and searches, independent of injection."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime

from proxy.errors import ProxyError
from proxy.memory.index.cache import IndexCache
from proxy.memory.inject.standing import standing
from proxy.memory.plan.changes import is_ending, is_over
from proxy.memory.recall.chunk_source import ChunkSource
from proxy.memory.recall.hits import is_of_past
from proxy.memory.recall.query import Query
from proxy.memory.recall.sources import EpisodeSource, FactSource, recall
from proxy.memory.recall.team import Shared, search_shared, with_shared
from proxy.memory.vectors.embed import Embedder
from proxy.memory.visibility.visibility import current
from proxy.store.history import Entry
from proxy.text.tokens import count
from proxy.types import Hit, Memory, Scope, Source
from proxy.types.scope import parts

MAX_FOUND = 1000  # memories of a search; 1,000 of 1,900 take 35 ms, 60 take 3 ms
_EDITS = ("edit", "restore")  # a restored memory may have been closed before
_SOURCES = (FactSource(most=MAX_FOUND), EpisodeSource(), ChunkSource())


@dataclass(frozen=True, slots=True)
class Wanted:
    """Filters of a list; an empty filter matches everything.

    Attributes:
        agents: Ids; a memory matches if it belongs to one of them.
        source: ``api``, ``import``, ``turn`` or ``document`` with any id, or one whole source.
        since, until: Range of ``valid_from``; ``until`` is exclusive.
        as_of: Lists the memories in force at that time, whatever their status now; ``status`` is ignored.
    """

    kind: str = ""
    status: str = "active"
    agents: Collection[str] = ()
    source: str = ""
    as_of: datetime | None = None
    since: datetime | None = None
    until: datetime | None = None


def chosen(rows: Sequence[Memory], steps: Mapping[str, Sequence[Entry]], wanted: Wanted, now: datetime) -> list[Memory]:
    """Return the memories that match ``wanted``, newest first; with ``as_of``, each in its wording of that time."""
    found = [row for row in rows if not is_ending(row)]
    if wanted.as_of is not None:
        moment = wanted.as_of
        found = [then for row in found if (then := _as_it_was(row, steps.get(row.id, ()), moment)) is not None]
    elif wanted.status != "all":
        found = [row for row in found if row.status == wanted.status and not _is_past(row, now)]
    found = [row for row in found if _fits(row, wanted)]
    return sorted(found, key=place, reverse=True)


def place(row: Memory) -> tuple[datetime, str]:
    """Return the sort key of a memory in a list; it never changes, so that pages are stable."""
    return row.created_at, row.id


def _as_it_was(row: Memory, steps: Sequence[Entry], moment: datetime) -> Memory | None:
    """Return a memory as it was at ``moment``, None if it was not in force.

    Closings count from the time of the statement, restorations and edits from the time of the change.
    """
    if row.status == "quarantined" or moment < row.valid_from:
        return None
    holds, was_active = row.valid_to is None or moment < row.valid_to, True
    if steps:
        holds = True
    for step in steps:
        is_active = step.after.status == "active"
        if is_active != was_active:
            at = step.at if is_active else min(step.after.valid_to or step.at, step.at)
            holds = is_active if at <= moment else holds
        was_active = is_active
    worded = next((step.before for step in steps if step.action in _EDITS and step.at > moment and step.before), row)
    expires_at = worded.expires_at
    if not holds or (expires_at is not None and expires_at <= moment):
        return None
    return replace(row, text=worded.text, quote=worded.quote, kind=worded.kind, object=worded.object)


def _is_past(row: Memory, now: datetime) -> bool:
    return row.status == "active" and is_over(row, now)


def _fits(row: Memory, wanted: Wanted) -> bool:
    is_kind = not wanted.kind or row.kind == wanted.kind
    is_agent = not wanted.agents or parts(row.agent)[0] in wanted.agents
    is_source = not wanted.source or wanted.source in (row.source, row.source.partition(":")[0])
    is_late = wanted.since is None or row.valid_from >= wanted.since
    is_early = wanted.until is None or row.valid_from < wanted.until
    return is_kind and is_agent and is_source and is_late and is_early


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
    shared: Shared | None = None,
) -> list[Hit]:
    """Return the best hits for ``text``, without closed memories unless ``as_of`` asks for the past.

    Args:
        scope: Whose memory.
        text: The query.
        index: Index to search.
        embedder: Embeds the query.
        now: Time of the query.
        limit: Maximum number of hits.
        sources: Only hits of these kinds; all if None.
        as_of: Time in the past.
        shared: Memories that others share with the user's teams, returned as facts.
    """
    query = Query(text, "", None, now, as_of=as_of)
    with suppress(ProxyError):  # lexical search still works
        query = replace(query, vector=(await embedder.embed([text], purpose="query"))[0])
    stands = await standing(scope, index) if as_of is None else None
    withheld = stands.withheld.spans if stands else ()
    recalled = await recall(scope, query, index, sources=sources, limit=limit, among=_SOURCES, withheld=withheld)
    hits = (recalled.hits or recalled.considered)[:limit]
    if stands is not None:
        hits = [seen for hit in hits if (seen := stands.seen(hit)) is not None]
        hits = current(hits, stands.passing, now, is_past=is_of_past(text))
    if shared is not None and (sources is None or "fact" in sources):
        hits = with_shared(hits, await search_shared(shared, scope, query))[:limit]
    return [replace(hit, tokens=count(hit.text)) for hit in hits]

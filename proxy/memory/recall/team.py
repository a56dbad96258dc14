"""Memories shared by other members of the user's teams: same search, shown with their author."""

from __future__ import annotations

import hashlib
from collections import OrderedDict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from heapq import merge
from typing import Any

from proxy.memory.index.index import FactShelf
from proxy.memory.plan.changes import is_over
from proxy.memory.recall.found import beside_loop
from proxy.memory.recall.gate import admit
from proxy.memory.recall.hits import is_overview
from proxy.memory.recall.query import Query
from proxy.memory.recall.sources import FactSource
from proxy.process.threads import in_thread
from proxy.store.passages import lexical_text
from proxy.store.ram import Rows
from proxy.store.schema import Batch, Revision
from proxy.store.shares import PREFIX, Share, Shares
from proxy.text.lexical import tokens
from proxy.types import Hit, Memory, Scope, Team
from proxy.types.scope import parts

MAX_HITS = 8  # of teams in one block
_MAX_KNOWN = 64  # sets of teams whose shelves are cached


@dataclass(frozen=True, slots=True)
class Shared:
    """Shared memories that are valid now.

    Attributes:
        shelf: Search index; its ids are the keys of ``shares``.
        shares: Shares by the id under which a memory is shown, which changes with its text.
    """

    shelf: FactShelf
    shares: Mapping[str, Share]

    def memories(self, now: datetime) -> list[Memory]:
        """Return the memories that have not expired, as the team sees them, oldest share first."""
        rows = [row for row in self.shelf.living() if not is_over(row, now)]
        return sorted(rows, key=lambda row: (self.shares[row.id].shared_at, row.id))


_State = tuple[tuple[Share, ...], tuple[Revision, ...]]


class TeamMemory:
    """Reader of the memories shared with teams, from the authors' current rows.

    Args:
        shares: Table of the shared memories.
        model: Embedding model in use.
    """

    def __init__(self, shares: Shares, *, model: str) -> None:
        self._shares = shares
        self._model = model
        self._known: OrderedDict[tuple[str, ...], tuple[_State, Shared]] = OrderedDict()

    async def of(self, teams: Sequence[Team], store: Rows) -> Shared:
        """Return the memories shared with these teams, the requesting user's included."""
        names = tuple(team.id for team in teams)
        shares = tuple(await self._shares.of_teams(names)) if names else ()
        authors = {share.scope.user: share.scope for share in shares}
        state = (shares, tuple(store.revision(author, "memories") for author in authors.values()))
        known = self._known.get(names)
        if known is None or known[0] != state:
            known = self._known[names] = (state, await self._read(shares, authors, store))
            if len(self._known) > _MAX_KNOWN:
                self._known.popitem(last=False)
        self._known.move_to_end(names)
        return known[1]

    async def _read(self, shares: Sequence[Share], authors: Mapping[str, Scope], store: Rows) -> Shared:
        shelf = FactShelf(store.dimension, self._model)
        shown: dict[str, Share] = {}
        for user, author in authors.items():
            own = {share.memory: share for share in shares if share.scope.user == user}
            batch = await store.load(author, "memories", ids=list(own))
            shown |= await in_thread("cpu", _put, shelf, batch, own)
        return Shared(shelf, shown)


def as_shared(share: Share, memory: Memory) -> Memory:
    """Return a memory as the team sees it: its text and dates, nothing of its session.

    Its id changes with its text, so that blocks that show an older text are recognised as outdated.
    """
    words = hashlib.sha256(f"{memory.text}\n{memory.dates}".encode("utf-8", "surrogatepass")).hexdigest()[:8]
    return Memory(
        id=f"{share.id}-{words}",
        kind="fact",
        text=memory.text,
        agent="",
        created_at=memory.created_at,
        updated_at=memory.updated_at,
        valid_from=memory.valid_from,
        expires_at=memory.expires_at,
        dates=memory.dates,
        confidence=memory.confidence,
        offset_minutes=memory.offset_minutes,
    )


async def search_shared(shared: Shared, scope: Scope, query: Query) -> list[Hit]:
    """Return the other members' memories that match ``query``, best first, at most ``MAX_HITS``.

    Chats, the ``recall`` tool, and searches over HTTP and MCP show only these. An overview question is about the user
    alone, and a team reads memories that are valid now, not at another time: both get none.
    """
    if not shared.shares or is_overview(query.text) or query.as_of is not None:
        return []
    found = await beside_loop(shared.shelf, FactSource().search, shared.shelf, Scope("", ""), query, 4 * MAX_HITS)
    if not admit([found.evidence], f"{query.context}\n{query.text}", told=False).admitted:
        return []
    others = ((hit, shared.shares[hit.id]) for hit in found.hits)
    return [replace(hit, author=share.author) for hit, share in others if share.scope.user != scope.user][:MAX_HITS]


def with_shared(hits: Sequence[Hit], shared: Sequence[Hit]) -> list[Hit]:
    """Merge the hits of teams into the user's own hits, by score."""
    return list(merge(hits, shared, key=lambda hit: -hit.score))


def is_shared_still(shared: Shared, ids: Collection[str]) -> bool:
    """Return whether all shared memories in a block are still shared, with the same text."""
    return all(id_ in shared.shares for id_ in ids if id_.startswith(PREFIX))


def _is_for_others(row: Memory) -> bool:
    """Return whether a shared memory is active and not in quarantine."""
    return row.status == "active" and not parts(row.agent)[2]


def _put(shelf: FactShelf, batch: Batch[Any], own: Mapping[str, Share]) -> dict[str, Share]:
    """Put one author's shared memories on a shelf; return the shares by the ids there."""
    lines = [line for line, row in enumerate(batch.items) if _is_for_others(row)]
    shares = [own[batch.items[line].id] for line in lines]
    rows = [as_shared(share, batch.items[line]) for share, line in zip(shares, lines, strict=True)]
    shelf.put(_of_lines(batch, lines, rows))
    return {row.id: share for row, share in zip(rows, shares, strict=True)}


def _of_lines(batch: Batch[Any], lines: Sequence[int], rows: list[Memory]) -> Batch[Any]:
    """Return some lines of a batch with ``rows`` as their items, indexed by the words of ``rows`` alone."""
    return Batch(
        items=rows,
        tokens=[tokens(lexical_text(row)) for row in rows],
        vectors={name: column[lines] for name, column in batch.vectors.items()},
        models=[batch.models[line] for line in lines],
        stamp=0,
    )

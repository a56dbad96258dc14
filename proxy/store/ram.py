"""In-memory store of ephemeral sessions, with the interface of ``LanceStore``; nothing reaches a disk."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import AsyncIterator, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, TypeAlias

import numpy as np

from proxy.errors import StoreUnavailable
from proxy.store.lance import LanceStore
from proxy.store.lance_search import NOTHING_FOUND, Candidates
from proxy.store.lance_upkeep import StoreHealth
from proxy.store.passages import lexical_text
from proxy.store.row_file import RowFile
from proxy.store.schema import ENDINGS, LAYOUTS, NOUNS, Batch, Noun, Revision, Skimmed, Vector
from proxy.text.lexical import tokens
from proxy.types import Chunk, Episode, Memory, Scope
from proxy.types.scope import covers

# The two row stores; callers use either through the same interface.
Rows: TypeAlias = "LanceStore | RamStore"


@dataclass(slots=True)
class _Row:
    item: Any
    vectors: tuple[Vector | None, ...]
    model: str
    stamp: int


@dataclass(slots=True)
class _Table:
    rows: dict[str, _Row] = field(default_factory=dict)
    version: int = 0


class RamStore:
    """In-memory counterpart of ``LanceStore``; its content ends with the process."""

    most_rows = sys.maxsize  # it has no search, so every table goes into an in-memory index

    def __init__(self, dimension: int) -> None:
        self.dimension = dimension
        self._tables: dict[tuple[str, Noun], _Table] = {}

    def close(self) -> None:
        """Delete all rows."""
        self._tables.clear()

    async def memories(self, scope: Scope, *, session: str | None = None) -> list[Memory]:
        """Return all memories of the user, or of one session."""
        rows = [row.item for row in self._table(scope, "memories").rows.values()]
        return [row for row in rows if session in (None, row.session)]

    async def newest(
        self, scope: Scope, *, status: str = "", before: tuple[datetime, str] | None = None
    ) -> Iterator[Memory]:
        """Return the user's memories, newest first."""
        rows = [row for row in await self.memories(scope) if not status or row.status == status]
        rows = [row for row in rows if before is None or (row.created_at, row.id) < before]
        return iter(sorted(rows, key=lambda row: (row.created_at, row.id), reverse=True))

    async def memory(self, scope: Scope, memory_id: str) -> Memory | None:
        """Return one memory of the user, None if there is none of that id."""
        row = self._table(scope, "memories").rows.get(memory_id)
        return None if row is None else row.item

    async def marked(self, scope: Scope, marks: Collection[str] = ()) -> list[Memory]:
        """Return all memories, which include those with a mark."""
        del marks
        return await self.memories(scope)

    async def put_memories(
        self,
        scope: Scope,
        memories: Sequence[Memory],
        vectors: Mapping[str, Vector | None],
        model: str,
        *,
        new_as_of: Revision | None = None,
    ) -> None:
        """Write memories, replacing those of the same id; return None, so that the caller reloads the rows."""
        del new_as_of
        self._put(scope, "memories", memories, {key: (vector,) for key, vector in vectors.items()}, model)

    async def remove_memories(self, scope: Scope, ids: Collection[str]) -> None:
        """Delete memories."""
        self._remove(scope, "memories", ids)

    async def episodes(self, scope: Scope, *, session: str | None = None, limit: int | None = None) -> list[Episode]:
        """Return the user's episodes in order of time, of one session if given, at most the newest ``limit``."""
        rows = [row.item for row in self._table(scope, "episodes").rows.values()]
        rows = [row for row in rows if session is None or row.session == session]
        rows.sort(key=lambda row: (row.at, row.session, row.seq, row.piece))
        return rows if limit is None else rows[max(0, len(rows) - limit) :]

    async def put_episodes(
        self,
        scope: Scope,
        episodes: Sequence[Episode],
        vectors: Mapping[str, tuple[Vector | None, Vector | None] | None],
        model: str,
        *,
        new_as_of: Revision | None = None,
    ) -> None:
        """Write episodes; as for memories."""
        del new_as_of
        self._put(scope, "episodes", episodes, {key: pair or (None, None) for key, pair in vectors.items()}, model)

    async def remove_episodes(self, scope: Scope, *, session: str) -> None:
        """Delete a session's episodes."""
        rows = self._table(scope, "episodes").rows
        self._remove(scope, "episodes", [key for key, row in rows.items() if row.item.session == session])

    async def chunks(self, scope: Scope, ids: Collection[str] | None = None) -> list[Chunk]:
        """Return chunks of documents and images: all of the user's, or those of ``ids``."""
        rows = self._table(scope, "chunks").rows
        return [row.item for key, row in rows.items() if ids is None or key in ids]

    async def put_chunks(
        self, scope: Scope, chunks: Sequence[Chunk], vectors: Mapping[str, Vector | None], model: str
    ) -> None:
        """Write chunks; as for memories."""
        self._put(scope, "chunks", chunks, {key: (vector,) for key, vector in vectors.items()}, model)

    async def remove_chunks(self, scope: Scope, ids: Collection[str]) -> None:
        """Delete chunks."""
        self._remove(scope, "chunks", ids)

    async def remove_agent(self, scope: Scope) -> None:
        """Delete every row of one agent of the user."""
        for noun in NOUNS:
            rows = self._table(scope, noun).rows
            self._remove(scope, noun, [key for key, row in rows.items() if covers(scope.agent, row.item.agent)])

    async def has_unembedded(self, scope: Scope) -> bool:
        """Return whether any row of the owner waits for its first vector."""
        return any([await self.unembedded(scope, noun, limit=1) for noun in NOUNS])

    async def count_unembedded(self, scope: Scope, model: str) -> int:
        """Return how many rows that the scope sees have no vector of ``model``."""
        rows = [row for noun in NOUNS for row in await self.unembedded(scope, noun, model)]
        return sum(scope.sees(row.agent) for row in rows)

    async def unembedded(
        self, scope: Scope, noun: Noun, model: str | None = None, *, limit: int | None = None
    ) -> list[Any]:
        """Return rows without a vector of ``model``, or of any, at most ``limit`` of them; endings never have one."""
        rows = [row for key, row in self._table(scope, noun).rows.items() if not key.startswith(ENDINGS)]
        return [row.item for row in rows if not row.model or model not in (None, row.model)][:limit]

    async def load(
        self, scope: Scope, noun: Noun, *, above_stamp: int | None = None, ids: Collection[str] | None = None
    ) -> Batch[Any]:
        """Return rows with terms and vectors, for the search index."""
        rows = list(self._table(scope, noun).rows.values())
        rows = [row for row in rows if above_stamp is None or row.stamp > above_stamp]
        rows = [row for row in rows if ids is None or row.item.id in ids]
        return Batch(
            items=[row.item for row in rows],
            tokens=[tokens(lexical_text(row.item)) for row in rows],
            vectors={
                name: np.array([self._filled(row.vectors[at]) for row in rows], np.float32).reshape(-1, self.dimension)
                for at, name in enumerate(LAYOUTS[noun].vectors)
            },
            models=[row.model for row in rows],
            stamp=max((row.stamp for row in rows), default=0),
        )

    async def candidates(
        self, scope: Scope, noun: Noun, terms: Collection[str], vector: Vector | None, *, limit: int = 60
    ) -> Candidates[Any]:
        """Return no rows: an in-memory session is never too large to load."""
        del scope, noun, terms, vector, limit
        return NOTHING_FOUND

    async def skim(self, scope: Scope, noun: Noun, *, above_stamp: int | None = None) -> AsyncIterator[Skimmed]:
        """Yield no rows: an in-memory session is never too large to load."""
        del scope, noun, above_stamp
        nothing: tuple[Skimmed, ...] = ()
        for some in nothing:
            yield some

    def row_file(self, scope: Scope, noun: Noun) -> RowFile[Any]:
        """Raise ``StoreUnavailable``: no row of an ephemeral session may reach a disk."""
        del scope
        raise StoreUnavailable(f"{noun} in memory have no file")

    async def ids(self, scope: Scope, noun: Noun) -> list[str]:
        """Return the ids of all rows."""
        return list(self._table(scope, noun).rows)

    async def count(self, scope: Scope, noun: Noun) -> int:
        """Return the number of rows."""
        return len(self._table(scope, noun).rows)

    async def counts(self, scope: Scope) -> dict[str, int]:
        """Return the number of rows by noun."""
        return {noun: await self.count(scope, noun) for noun in NOUNS}

    async def active_by_agent(self, scope: Scope) -> Counter[str]:
        """Return the number of active memories by agent, project and session."""
        rows = await self.memories(scope)
        return Counter(row.agent for row in rows if row.status == "active" and not row.id.startswith(ENDINGS))

    async def statuses(self, scope: Scope) -> dict[str, int]:
        """Return the number of visible memories by status."""
        rows = await self.memories(scope)
        rows = [row for row in rows if scope.sees(row.agent) and not row.id.startswith(ENDINGS)]
        return dict(Counter(row.status for row in rows))

    async def seen(self, scope: Scope) -> int:
        """Return the number of visible episodes."""
        return sum(scope.sees(row.agent) for row in await self.episodes(scope))

    def revision(self, scope: Scope, noun: Noun) -> Revision:
        """Return a value that changes with every write; later ones sort first, as for LanceDB tables."""
        return ("ram", f"{2**63 - self._table(scope, noun).version:020d}")

    async def drop_owner(self, scope: Scope) -> None:
        """Delete all rows of the user."""
        for noun in NOUNS:
            self._tables.pop((scope.user, noun), None)

    async def purge(self, scope: Scope) -> None:
        """Do nothing: deleted rows leave no bytes on a disk."""

    async def maintain(self, scope: Scope) -> None:
        """Do nothing: there is nothing to compact."""

    async def heal(self, scope: Scope) -> list[str]:
        """Return no names: no version can be broken."""
        del scope
        return []

    async def flush(self, scope: Scope) -> None:
        """Do nothing: no row reaches a disk."""

    async def verify(self) -> StoreHealth:
        """Return a result without broken tables."""
        return StoreHealth(len(self._tables), ())

    def _table(self, scope: Scope, noun: Noun) -> _Table:
        return self._tables.setdefault((scope.user, noun), _Table())

    def _put(
        self,
        scope: Scope,
        noun: Noun,
        items: Sequence[Memory | Episode | Chunk],
        vectors: Mapping[str, tuple[Vector | None, ...]],
        model: str,
    ) -> None:
        table = self._table(scope, noun)
        table.version += 1
        none: tuple[Vector | None, ...] = (None,) * len(LAYOUTS[noun].vectors)
        for item in items:
            given = vectors.get(item.id, none)
            has_all = all(vector is not None for vector in given)
            table.rows[item.id] = _Row(item, given, model if has_all else "", table.version)

    def _remove(self, scope: Scope, noun: Noun, ids: Collection[str]) -> None:
        table = self._table(scope, noun)
        table.version += 1
        for gone in ids:
            table.rows.pop(gone, None)

    def _filled(self, vector: Vector | None) -> Vector:
        return np.zeros(self.dimension, np.float32) if vector is None else vector

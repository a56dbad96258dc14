"""Cache of the active users' search indexes, bounded in bytes, checked against the store on every request."""

from __future__ import annotations

import asyncio
import weakref
from collections import Counter, OrderedDict
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, Protocol, cast

from proxy.memory.index.index import ChunkShelf, FactShelf, TurnShelf
from proxy.memory.index.shelf import Shelf
from proxy.memory.index.sketches import Sketches
from proxy.memory.plan.changes import is_ending
from proxy.process.threads import in_thread, spawn
from proxy.store.ram import Rows
from proxy.store.schema import NOUNS, SUMMARY_MARKS, Noun, Revision, Vector, Written
from proxy.text.lexical import content
from proxy.types import Episode, Memory, Scope

_MAX_WASTE = 0.3
_MANY_ROWS = 200
_BYTES_PER_ENTRY = 500


@dataclass(frozen=True, slots=True)
class _Entry:
    """A user's rows of one noun as of ``revision``; no shelf if they are too many to hold in memory."""

    revision: Revision
    shelf: Shelf[Any] | None
    size_bytes: int


class IndexQuery(Protocol):
    """The parts of a query that select the rows of a large table."""

    @property
    def text(self) -> str:
        """Search text."""

    @property
    def context(self) -> str:
        """Search text used if ``text`` has no content word."""

    @property
    def vector(self) -> Vector | None:
        """Embedding of the query; None if there is none."""


class IndexCache:
    """LRU cache of shelves by user and noun.

    Args:
        store: Store of the rows.
        model: Embedding model in use; vectors of other models are ignored.
        max_bytes: Limit for all shelves together; the last used one is never dropped. Sketches of tables that are too
            large for a shelf take up to half as much in addition.
        most_rows: Maximum rows in memory per user and noun; larger tables are searched query by query. If None, the
            store's own limit.
    """

    def __init__(self, store: Rows, *, model: str, max_bytes: int = 96 * 2**20, most_rows: int | None = None) -> None:
        self.store = store
        self.model = model
        self.max_bytes = max_bytes
        self.most_rows = store.most_rows if most_rows is None else most_rows
        self.sketches = Sketches(store, model=model, max_bytes=max_bytes // 2)
        self._entries: OrderedDict[tuple[str, Noun], _Entry] = OrderedDict()
        self.size_bytes = 0  # of all shelves together, about
        # Of a table that is too large for a shelf: an import learns the turns of a session one after the other.
        self._last_said: tuple[tuple[Scope, str, Revision] | None, list[Episode]] = (None, [])
        self._locks: weakref.WeakValueDictionary[tuple[str, Noun], asyncio.Lock] = weakref.WeakValueDictionary()

    async def facts(self, scope: Scope, query: IndexQuery) -> FactShelf:
        """Return a shelf with the user's memories that may match ``query``."""
        return cast("FactShelf", await self._shelf(scope, "memories", query))

    async def turns(self, scope: Scope, query: IndexQuery) -> TurnShelf:
        """Return a shelf with the user's turns that may match ``query``."""
        return cast("TurnShelf", await self._shelf(scope, "episodes", query))

    async def chunks(self, scope: Scope, query: IndexQuery) -> ChunkShelf:
        """Return a shelf with the user's chunks and images that may match ``query``."""
        return cast("ChunkShelf", await self._shelf(scope, "chunks", query))

    def forget(self, scope: Scope) -> None:
        """Drop all entries of a user, for erasure; the revision shows other changes of a table anyway."""
        for noun in NOUNS:
            self._remember((scope.user, noun), None)
        self._last_said = (None, [])
        self.sketches.forget(scope)

    async def marked(self, scope: Scope) -> list[Memory]:
        """Return the user's memories that matter to every query: closed ones and the profile, among others."""
        shelf = cast("FactShelf | None", (await self._entry(scope, "memories")).shelf)
        return await self.sketches.marked(scope) if shelf is None else shelf.marked

    async def summaries(self, scope: Scope) -> list[Memory]:
        """Return the user's summaries; none if the memories are too many to hold in memory."""
        shelf = cast("FactShelf | None", (await self._entry(scope, "memories")).shelf)
        return [] if shelf is None else shelf.summaries

    async def summed_up(self, scope: Scope) -> list[Memory]:
        """Return the user's summaries, with other memories if these are in memory anyway."""
        shelf = (await self._entry(scope, "memories")).shelf
        if shelf is None:
            return await self.store.marked(scope, SUMMARY_MARKS)
        return cast("FactShelf", shelf).living()

    async def living(self, scope: Scope) -> list[Memory]:
        """Return all of the user's memories."""
        shelf = (await self._entry(scope, "memories")).shelf
        return await self.store.memories(scope) if shelf is None else cast("FactShelf", shelf).living()

    async def prepare(self, scope: Scope) -> None:
        """Update the user's shelves, so that the next search need not.

        Chunks load in the background: a long document takes longer than a question waits, and must not delay memories.
        """
        loading = spawn(self.prepare_chunks(scope), "prepare passages")
        loading.add_done_callback(lambda task: task.cancelled() or task.exception())
        for noun in _SOON:
            if (await self._entry(scope, noun)).shelf is None:
                await self.sketches.current(scope, noun)

    async def prepare_chunks(self, scope: Scope) -> None:
        """Update the user's chunks, without a time limit."""
        await self._entry(scope, "chunks")

    async def said(self, scope: Scope, session: str) -> list[Episode]:
        """Return the episodes of one of the user's sessions, in order."""
        entry = await self._entry(scope, "episodes")
        if isinstance(entry.shelf, TurnShelf):
            return entry.shelf.said_in(session)
        key = (scope, session, entry.revision)
        known, rows = self._last_said
        if known != key:
            rows = await self.store.episodes(scope, session=session)
            self._last_said = (key, rows)
        return rows

    async def lacks(self, scope: Scope, noun: Noun, ids: Iterable[str]) -> Revision | None:
        """Return the revision at which the user's table holds none of ``ids``; None if it may hold one."""
        entry = await self._entry(scope, noun)
        if entry.shelf is None:
            return await self.sketches.lacks(scope, noun, ids)
        return entry.revision if entry.shelf.ids.isdisjoint(ids) else None

    def take_in(self, scope: Scope, noun: Noun, written: Written[Any] | None) -> None:
        """Put rows that this process has just written on the user's shelf, which saves reading them back."""
        key = (scope.user, noun)
        entry = self._entries.get(key)
        if written is None or entry is None or entry.shelf is None or entry.revision != written.before:
            return
        entry.shelf.put(written.rows)
        self._remember(key, _Entry(written.after, entry.shelf, _BYTES_PER_ENTRY + entry.shelf.size_bytes))

    async def tally(self, scope: Scope) -> tuple[dict[str, int], int]:
        """Return the number of memories by status, and of turns, that the scope sees."""
        facts, turns = await self._entry(scope, "memories"), await self._entry(scope, "episodes")
        if facts.shelf is None:
            by_status = await self.store.statuses(scope)
        else:
            rows = [row for row in facts.shelf.living() if scope.sees(row.agent) and not is_ending(row)]
            by_status = dict(Counter(row.status for row in rows))
        seen = int(turns.shelf.seen_by(scope).sum()) if turns.shelf is not None else await self.store.seen(scope)
        return by_status, seen

    async def _entry(self, scope: Scope, noun: Noun) -> _Entry:
        key = (scope.user, noun)
        revision = self.store.revision(scope, noun)
        entry = self._entries.get(key)
        if entry is None or entry.revision != revision:
            async with self._locks.setdefault(key, asyncio.Lock()):
                entry = await self._fresh(scope, noun)
        if key in self._entries:
            self._entries.move_to_end(key)
        return entry

    async def _shelf(self, scope: Scope, noun: Noun, query: IndexQuery) -> Shelf[Any]:
        entry = await self._entry(scope, noun)
        if entry.shelf is not None:
            return entry.shelf
        shelf = _KINDS[noun](self.store.dimension, self.model)
        terms = content(query.text) or content(query.context)
        shelf.hold(await self.sketches.candidates(scope, noun, terms, query.vector))
        return shelf

    async def _fresh(self, scope: Scope, noun: Noun) -> _Entry:
        """Return an entry of the table's current revision; the lock's previous holder may have made it."""
        key = (scope.user, noun)
        revision = self.store.revision(scope, noun)
        entry = self._entries.get(key)
        if entry is not None and entry.revision == revision:
            return entry
        shelf = await self._grown(scope, noun, entry, revision) or await self._loaded(scope, noun)
        entry = _Entry(revision, shelf, _BYTES_PER_ENTRY + (0 if shelf is None else shelf.size_bytes))
        self._remember(key, entry)
        while len(self._entries) > 1 and self.size_bytes > self.max_bytes:
            self._remember(next(iter(self._entries)), None)
        return entry

    def _remember(self, key: tuple[str, Noun], entry: _Entry | None) -> None:
        """Put an entry at the end, where it is dropped last, or drop it now."""
        known = self._entries.pop(key, None)
        self.size_bytes -= known.size_bytes if known is not None else 0
        if entry is not None:
            self._entries[key] = entry
            self.size_bytes += entry.size_bytes

    async def _loaded(self, scope: Scope, noun: Noun) -> Shelf[Any] | None:
        """Return a shelf with all rows, None if there are too many of them."""
        if await self.store.count(scope, noun) > self.most_rows:
            return None
        shelf = _KINDS[noun](self.store.dimension, self.model)
        await self._fill(shelf, await self.store.load(scope, noun))
        return shelf

    async def _grown(self, scope: Scope, noun: Noun, entry: _Entry | None, revision: Revision) -> Shelf[Any] | None:
        """Return the existing shelf with the changes since, None if it must be rebuilt."""
        if entry is None or entry.shelf is None or not _is_later(revision, entry.revision):
            return None
        if entry.shelf.waste > _MAX_WASTE or len(entry.shelf) > self.most_rows:
            return None
        await self._catch_up(scope, noun, entry.shelf)
        return entry.shelf

    async def _catch_up(self, scope: Scope, noun: Noun, shelf: Shelf[Any]) -> None:
        """Read the rows written since; if the counts differ then, drop the rows that were deleted."""
        await self._fill(shelf, await self.store.load(scope, noun, above_stamp=shelf.stamp))
        if await self.store.count(scope, noun) != len(shelf):
            shelf.drop(set(shelf.ids) - set(await self.store.ids(scope, noun)))

    async def _fill(self, shelf: Shelf[Any], batch: Any) -> None:
        if len(batch.items) < _MANY_ROWS:
            shelf.put(batch)
        else:
            await in_thread("cpu", shelf.put, batch)


def _is_later(revision: Revision, earlier: Revision) -> bool:
    """Return whether a revision follows another of the same table; healing sets a table back."""
    return revision[0] == earlier[0] and revision[1] < earlier[1]


_SOON: tuple[Noun, ...] = ("memories", "episodes")
_KINDS: dict[Noun, Callable[[int, str], Shelf[Any]]] = {
    "memories": FactShelf,
    "episodes": TurnShelf,
    "chunks": ChunkShelf,
}

"""Search indexes of the owners in use, bounded in bytes and checked against the store on every request."""

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
from proxy.store.schema import NOUNS, Noun, Revision, Vector, Written
from proxy.text.lexical import content
from proxy.types import Episode, Memory, Scope

_MAX_WASTE = 0.3
_MANY_ROWS = 200
_BYTES_PER_ENTRY = 500


@dataclass(frozen=True, slots=True)
class _Entry:
    """An owner's rows of one noun as of ``revision``; no shelf where they are too many to hold."""

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
        """Search text used where ``text`` has no telling word."""

    @property
    def vector(self) -> Vector | None:
        """Embedding of the query; None where there is none."""


class IndexCache:
    """Shelves by owner and noun, least recently used ones dropped.

    Args:
        store: Where the rows are.
        model: The embedding model in use; vectors of another one do not count.
        max_bytes: Of all shelves together; the one just used stays in any case. Sketches of tables that are too large
            for a shelf take up to half as much besides.
        most_rows: Held in memory of one owner and noun; where there are more, they are fetched query by query. If None,
            as many as the store says.
    """

    def __init__(self, store: Rows, *, model: str, max_bytes: int = 96 * 2**20, most_rows: int | None = None) -> None:
        self.store = store
        self.model = model
        self.max_bytes = max_bytes
        self.most_rows = store.most_rows if most_rows is None else most_rows
        self.sketches = Sketches(store, model=model, max_bytes=max_bytes // 2)
        self._entries: OrderedDict[tuple[str, Noun], _Entry] = OrderedDict()
        self.size_bytes = 0  # of all shelves together, about
        self._locks: weakref.WeakValueDictionary[tuple[str, Noun], asyncio.Lock] = weakref.WeakValueDictionary()

    async def facts(self, scope: Scope, query: IndexQuery) -> FactShelf:
        """Return a shelf with the memories of the owner that ``query`` may be about."""
        return cast("FactShelf", await self._shelf(scope, "memories", query))

    async def turns(self, scope: Scope, query: IndexQuery) -> TurnShelf:
        """Return a shelf with the turns of the owner that ``query`` may be about."""
        return cast("TurnShelf", await self._shelf(scope, "episodes", query))

    async def chunks(self, scope: Scope, query: IndexQuery) -> ChunkShelf:
        """Return a shelf with the passages and images of the owner that ``query`` may be about."""
        return cast("ChunkShelf", await self._shelf(scope, "chunks", query))

    def forget(self, scope: Scope) -> None:
        """Drop what is held of an owner; for erasure, since a changed table is noticed anyway."""
        for noun in NOUNS:
            self._remember((scope.user, noun), None)
        self.sketches.forget(scope)

    async def marked(self, scope: Scope) -> list[Memory]:
        """Return the owner's memories that count whatever is asked: those that ended, and the profile, among others."""
        shelf = cast("FactShelf | None", (await self._entry(scope, "memories")).shelf)
        return await self.sketches.marked(scope) if shelf is None else shelf.marked

    async def summaries(self, scope: Scope) -> list[Memory]:
        """Return the owner's summaries; none of an owner whose memories are too many to hold."""
        shelf = cast("FactShelf | None", (await self._entry(scope, "memories")).shelf)
        return [] if shelf is None else shelf.summaries

    async def living(self, scope: Scope) -> list[Memory]:
        """Return all of the owner's memories."""
        shelf = (await self._entry(scope, "memories")).shelf
        return await self.store.memories(scope) if shelf is None else cast("FactShelf", shelf).living()

    async def prepare(self, scope: Scope) -> None:
        """Bring the owner's shelves up to date, so that a search soon after finds them so.

        Passages aside: a long document takes longer to read than a question waits, and facts must not wait for it.
        """
        loading = spawn(self.prepare_chunks(scope), "prepare passages")
        loading.add_done_callback(lambda task: task.cancelled() or task.exception())
        for noun in _SOON:
            if (await self._entry(scope, noun)).shelf is None:
                await self.sketches.current(scope, noun)

    async def prepare_chunks(self, scope: Scope) -> None:
        """Bring the owner's passages up to date, however long it takes."""
        await self._entry(scope, "chunks")

    async def said(self, scope: Scope, session: str) -> list[Episode]:
        """Return what was said in one of the owner's conversations, in order."""
        entry = await self._entry(scope, "episodes")
        if isinstance(entry.shelf, TurnShelf):
            return entry.shelf.said_in(session)
        return await self.store.episodes(scope, session=session)

    async def lacks(self, scope: Scope, noun: Noun, ids: Iterable[str]) -> Revision | None:
        """Return the revision at which the owner's table holds none of ``ids``; None where it may hold one."""
        entry = await self._entry(scope, noun)
        if entry.shelf is None:
            return await self.sketches.lacks(scope, noun, ids)
        return entry.revision if entry.shelf.ids.isdisjoint(ids) else None

    def take_in(self, scope: Scope, noun: Noun, written: Written[Any] | None) -> None:
        """Put on the owner's shelf what this process has just written, so that it need not be read back."""
        key = (scope.user, noun)
        entry = self._entries.get(key)
        if written is None or entry is None or entry.shelf is None or entry.revision != written.before:
            return
        entry.shelf.put(written.rows)
        self._remember(key, _Entry(written.after, entry.shelf, _BYTES_PER_ENTRY + entry.shelf.size_bytes))

    async def tally(self, scope: Scope) -> tuple[dict[str, int], int]:
        """Return how many memories of each status, and how many turns, the scope sees."""
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
        """Return an entry that is as new as the table; another caller may have made it meanwhile."""
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
        """Return the shelf there is with the changes since, None if it must be built anew."""
        if entry is None or entry.shelf is None or not _is_later(revision, entry.revision):
            return None
        if entry.shelf.waste > _MAX_WASTE or len(entry.shelf) > self.most_rows:
            return None
        await self._catch_up(scope, noun, entry.shelf)
        return entry.shelf

    async def _catch_up(self, scope: Scope, noun: Noun, shelf: Shelf[Any]) -> None:
        """Read what was written since; where rows are missing then, find out which ones are gone."""
        await self._fill(shelf, await self.store.load(scope, noun, above_stamp=shelf.stamp))
        if await self.store.count(scope, noun) != len(shelf):
            shelf.drop(set(shelf.ids) - set(await self.store.ids(scope, noun)))

    async def _fill(self, shelf: Shelf[Any], batch: Any) -> None:
        if len(batch.items) < _MANY_ROWS:
            shelf.put(batch)
        else:
            await in_thread("cpu", shelf.put, batch)


def _is_later(revision: Revision, earlier: Revision) -> bool:
    """Return whether a revision follows another of the same table; after healing, a table goes back."""
    return revision[0] == earlier[0] and revision[1] < earlier[1]


_SOON: tuple[Noun, ...] = ("memories", "episodes")
_KINDS: dict[Noun, Callable[[int, str], Shelf[Any]]] = {
    "memories": FactShelf,
    "episodes": TurnShelf,
    "chunks": ChunkShelf,
}

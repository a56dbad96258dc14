"""Reads, one-commit writes and deletions of rows in a user's tables of any noun, under the user's lock."""

from __future__ import annotations

import asyncio
import weakref
from collections import Counter
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from contextlib import suppress
from typing import Any, TypeVar

from proxy.clock import Clock
from proxy.errors import StoreUnavailable
from proxy.process.threads import in_thread
from proxy.store import filters
from proxy.store.lance_disk import try_writing
from proxy.store.lance_tables import Tables, guarded
from proxy.store.schema import (
    ENDINGS,
    LAYOUTS,
    NOUNS,
    Batch,
    Layout,
    Noun,
    Revision,
    T,
    Vector,
    Written,
    decode,
    from_arrow,
    to_arrow,
)
from proxy.store.sql import PROBE_BYTES, PROBE_EVERY_S, FailedWrite
from proxy.types import Scope

Result = TypeVar("Result")
IDS_PER_FILTER = 500
_MANY_ROWS = 200  # from this number, rows are decoded in a thread, off the event loop
_OF_A_BATCH = ("record", "tokens", "lexical_version", "embedding_model", "stamp")  # reading a column takes 0.25 ms


class LanceRows:
    """Access to rows by layout; ``LanceStore`` adds methods by noun."""

    def __init__(self, tables: Tables) -> None:
        self._tables = tables
        self._locks: weakref.WeakValueDictionary[str, asyncio.Lock] = weakref.WeakValueDictionary()
        self.failed_write: FailedWrite | None = None
        self._failed_in: tuple[Noun, Scope] | None = None
        self._probed_s = 0.0

    @property
    def dimension(self) -> int:
        """Length of the vectors."""
        return self._tables.dimension

    async def probe(self) -> None:
        """Test, ``PROBE_EVERY_S`` after a failed write, whether its table is readable and its folders are writable.

        The table itself is not written: only the holder of its user's lease may do that.
        """
        if self.failed_write is None or self._failed_in is None or Clock().monotonic() - self._probed_s < PROBE_EVERY_S:
            return
        (noun, scope), self._probed_s = self._failed_in, Clock().monotonic()
        failed = self.failed_write
        with suppress(StoreUnavailable, OSError):
            async with self._tables.reading(noun, scope.user) as table:
                if table is not None:
                    await table.query().limit(1).to_arrow()
            path = self._tables.path(noun, scope.user) or self._tables.shard(scope.user) / "new"
            await in_thread("load", try_writing, path, PROBE_BYTES)
            if self.failed_write is failed:
                self.failed_write = None

    async def _partitions(self, scope: Scope, noun: Noun) -> list[str]:
        async with self._tables.reading(noun, scope.user) as table:
            if table is None:
                return []
            names = (await table.query().select(["agent"]).to_arrow()).column("agent").to_pylist()
            return sorted({name or "" for name in names})

    async def active_by_agent(self, scope: Scope) -> Counter[str]:
        """Return the number of active memories by agent, project and session; reads all rows."""
        where = filters.both(filters.of_status("active"), filters.neither(filters.begins("id", ENDINGS)))
        async with self._tables.reading("memories", scope.user) as table:
            if table is None:
                return Counter()
            found = (await table.query().where(where).select(["agent"]).to_arrow()).column("agent").value_counts()
            return Counter({one["values"] or "": one["counts"] for one in found.to_pylist()})

    async def has_unembedded(self, scope: Scope) -> bool:
        """Return whether any row of the owner waits for its first vector."""
        for noun in NOUNS:
            async with self._tables.reading(noun, scope.user) as table:
                if table is not None and await table.count_rows(_waiting(None)):
                    return True
        return False

    async def count_unembedded(self, scope: Scope, model: str) -> int:
        """Return how many rows that the scope sees have no vector of ``model``."""
        which, count = filters.both(_waiting(model), filters.seen_by(scope)), 0
        for noun in NOUNS:
            async with self._tables.reading(noun, scope.user) as table:
                count += 0 if table is None else await table.count_rows(which)
        return count

    async def unembedded(
        self, scope: Scope, noun: Noun, model: str | None = None, *, limit: int | None = None
    ) -> list[Any]:
        """Return rows without a vector, at most ``limit`` of them; endings never have one, as nothing finds them.

        Args:
            scope: Whose.
            noun: Which table.
            model: Rows without a vector of this model are meant; None: without any.
            limit: Most rows.
        """
        async with self._tables.reading(noun, scope.user) as table:
            if table is None:
                return []
            query = table.query().where(_waiting(model)).select(["record"])
            found = await (query if limit is None else query.limit(limit)).to_arrow()
            return await in_thread("cpu", decode, LAYOUTS[noun], found)

    async def _values(self, layout: Layout[T], scope: Scope, *, where: str | None = None) -> list[T]:
        async with self._tables.reading(layout.noun, scope.user) as table:
            if table is None:
                return []
            query = table.query() if where is None else table.query().where(where)
            found = await query.select(["record"]).to_arrow()
            if found.num_rows < _MANY_ROWS:
                return decode(layout, found)
            return await in_thread("cpu", decode, layout, found)

    async def _load(self, layout: Layout[T], scope: Scope, *, where: str | None = None) -> Batch[T]:
        async with self._tables.reading(layout.noun, scope.user) as table:
            if table is None:
                return Batch([], [], {}, [], 0)
            query = table.query() if where is None else table.query().where(where)
            found = await query.select([*_OF_A_BATCH, *layout.vectors]).to_arrow()
            if found.num_rows < _MANY_ROWS:
                return from_arrow(layout, found, dimension=self.dimension)
            return await in_thread("cpu", from_arrow, layout, found, dimension=self.dimension)

    async def _told(self, layout: Layout[T], scope: Scope, *what: Any) -> Written[T] | None:
        """Write rows, and record whether that failed."""
        try:
            written = await self._put(layout, scope, *what)
        except StoreUnavailable as error:
            self.failed_write, self._failed_in = FailedWrite(Clock().now(), str(error)), (layout.noun, scope)
            self._tables.on_failure(scope.user)
            raise
        self.failed_write = None
        return written

    async def _put(
        self,
        layout: Layout[T],
        scope: Scope,
        items: Sequence[T],
        vectors: Mapping[str, tuple[Vector | None, ...]],
        model: str,
        new_as_of: Revision | None,
    ) -> Written[T] | None:
        unique = {item.id: item for item in items}
        if not unique:
            return None
        async with self._lock(scope):
            with guarded(f"write {layout.noun}"):
                before = self._tables.revision(layout.noun, scope.user)
                are_new = new_as_of is not None and before == new_as_of
                table = await self._tables.writable(layout.noun, scope.user)
                stamp = await table.version() + 1
            lacking = [] if are_new else [id_ for id_ in unique if id_ not in vectors]
            stored = await self._stored(layout, scope, lacking) if lacking else {}
            rows = [_with_vectors(item, vectors, stored, layout, model) for item in unique.values()]
            columns = {name: [row[0][at] for row in rows] for at, name in enumerate(layout.vectors)}
            models = [row[1] for row in rows]
            data = await in_thread(
                "cpu", to_arrow, layout, list(unique.values()), columns, models, dimension=self.dimension, stamp=stamp
            )
            with guarded(f"write {layout.noun}"):
                if stored or (not are_new and len(lacking) < len(unique)):
                    merge = table.merge_insert("id").when_matched_update_all().when_not_matched_insert_all()
                    await merge.execute(data, on_bad_vectors="null")  # a null vector is "bad" here
                else:  # appending costs a third of a merge
                    await table.add(data)
                is_next = await table.version() == stamp
                after = self._tables.revision(layout.noun, scope.user)
            if not is_next or after[0] != before[0]:
                return None
            return Written(before, after, from_arrow(layout, data, dimension=self.dimension))

    async def _stored(self, layout: Layout[T], scope: Scope, ids: list[str]) -> dict[str, tuple[T, list[Vector], str]]:
        """Return the stored rows of ``ids``: value, vectors, model."""
        stored: dict[str, tuple[T, list[Vector], str]] = {}
        for at in range(0, len(ids), IDS_PER_FILTER):
            batch = await self._load(layout, scope, where=filters.any_of("id", ids[at : at + IDS_PER_FILTER]))
            for line, item in enumerate(batch.items):
                stored[item.id] = (item, [batch.vectors[name][line] for name in layout.vectors], batch.models[line])
        return stored

    async def _remove(self, noun: Noun, scope: Scope, column: str, values: Collection[str]) -> None:
        every = list(dict.fromkeys(values))
        wheres = [
            filters.any_of(column, every[at : at + IDS_PER_FILTER]) for at in range(0, len(every), IDS_PER_FILTER)
        ]
        async with self._lock(scope):
            with guarded(f"delete {noun}"):
                if (table := await self._tables.open(noun, scope.user)) is not None:
                    for where in wheres:
                        await table.delete(where)

    async def _alone(self, scope: Scope, work: Callable[[str], Awaitable[Result]]) -> Result:
        """Run ``work`` on a user's tables under the user's lock."""
        async with self._lock(scope):
            with guarded("look after an owner's tables"):
                return await work(scope.user)

    def _lock(self, scope: Scope) -> asyncio.Lock:
        return self._locks.setdefault(filters.owner(scope.user), asyncio.Lock())


def _with_vectors(
    item: T,
    given: Mapping[str, tuple[Vector | None, ...]],
    stored: Mapping[str, tuple[T, list[Vector], str]],
    layout: Layout[T],
    model: str,
) -> tuple[tuple[Vector | None, ...], str | None]:
    """Return the vectors to write for ``item`` and their embedding model."""
    if item.id in given:
        vectors = given[item.id]
        return vectors, None if vectors[0] is None else model
    if item.id in stored and stored[item.id][0].text == item.text and stored[item.id][2]:
        _, kept, made_by = stored[item.id]
        return tuple(kept), made_by
    return (None,) * len(layout.vectors), None


def _waiting(model: str | None) -> str:
    """Return the filter for rows without a vector of ``model``, or of any."""
    lacks = filters.missing("embedding_model") if model is None else filters.other_than("embedding_model", model)
    return filters.both(lacks, filters.neither(filters.begins("id", ENDINGS)))

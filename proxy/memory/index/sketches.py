"""Search of tables that are too large to hold in memory, by sketches built in the background."""

from __future__ import annotations

import asyncio
import time
import weakref
from collections import OrderedDict
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from typing import Any

import structlog

from proxy.errors import StoreUnavailable
from proxy.memory.index.sketch import BYTES_PER_ROW, Sketch
from proxy.process.threads import in_thread, spawn
from proxy.store.lance_search import Candidates
from proxy.store.ram import Rows
from proxy.store.schema import LAYOUTS, NOUNS, Noun, Revision, Vector
from proxy.types import Memory, Scope

_log = structlog.get_logger(__name__)

_MAX_WASTE = 0.3
_MAX_SCANS = 20
_REST_S = 30.0  # minimum between two builds of one sketch, whatever happens to its table

Key = tuple[str, Noun]


@dataclass(frozen=True, slots=True)
class _Drawn:
    """A sketch as of a revision of its table."""

    scope: Scope
    revision: Revision
    sketch: Sketch
    size_bytes: int


class Sketches:
    """LRU cache of sketches by user and noun; without a sketch, the store searches the table.

    Args:
        store: Store of the rows.
        model: Embedding model in use.
        max_bytes: Limit for all sketches together; the store searches a table whose sketch would exceed it.
        after_s: Delay of a build after the request that caused it, so that the build does not slow the request.
    """

    def __init__(self, store: Rows, *, model: str, max_bytes: int, after_s: float = 1.0) -> None:
        self.store = store
        self.model = model
        self.max_bytes = max_bytes
        self.after_s = after_s
        self._drawn: OrderedDict[Key, _Drawn] = OrderedDict()
        self._scans: dict[str, tuple[Revision, asyncio.Task[list[Memory]]]] = {}
        self._started_s: dict[Key, float] = {}
        self._drawing: dict[Key, asyncio.Task[None]] = {}
        self._locks: weakref.WeakValueDictionary[Key, asyncio.Lock] = weakref.WeakValueDictionary()

    async def candidates(
        self, scope: Scope, noun: Noun, terms: Collection[str], vector: Vector | None, *, limit: int = 60
    ) -> Candidates[Any]:
        """Return the rows that may answer a query, as ``candidates`` of the store does."""
        sketch = await self.current(scope, noun)
        if sketch is None:
            return await self.store.candidates(scope, noun, terms, vector, limit=limit)
        return await in_thread("cpu", sketch.find, scope, terms, vector, limit=limit)

    async def marked(self, scope: Scope) -> list[Memory]:
        """Return the user's memories that matter to every query."""
        sketch = await self.current(scope, "memories")
        return await self._scanned(scope) if sketch is None else sketch.marked

    async def lacks(self, scope: Scope, noun: Noun, ids: Iterable[str]) -> Revision | None:
        """Return the revision at which the user's table holds none of ``ids``; None if it may hold one."""
        sketch = await self.current(scope, noun)
        drawn = self._drawn.get((scope.user, noun))
        return drawn.revision if drawn is not None and drawn.sketch is sketch and sketch.lacks(ids) else None

    async def current(self, scope: Scope, noun: Noun) -> Sketch | None:
        """Return a table's sketch at its current revision; if there is none, start a build and return None."""
        key = (scope.user, noun)
        async with self._locks.setdefault(key, asyncio.Lock()):
            drawn, revision = self._drawn.get(key), self.store.revision(scope, noun)
            if drawn is not None and drawn.revision != revision:
                drawn = await self._caught_up(scope, noun, drawn, revision)
            if drawn is None:
                self._drawn.pop(key, None)
                self._begin(scope, noun)
                return None
            self._drawn.move_to_end(key)
            return drawn.sketch

    async def refresh(self) -> None:
        """Drop the sketches of tables from which rows were deleted, as a sketch holds copies of them."""
        for key, drawn in list(self._drawn.items()):
            async with self._locks.setdefault(key, asyncio.Lock()):
                revision = self.store.revision(drawn.scope, key[1])
                is_past = self._drawn.get(key) is not drawn or drawn.revision == revision
                if not is_past and await self._caught_up(drawn.scope, key[1], drawn, revision) is None:
                    self._drawn.pop(key, None)

    @property
    def size_bytes(self) -> int:
        """Approximate memory of all sketches."""
        return sum(one.size_bytes for one in self._drawn.values())

    async def drawn(self) -> None:
        """Wait for the builds that are running."""
        await asyncio.gather(*self._drawing.values(), return_exceptions=True)

    def forget(self, scope: Scope) -> None:
        """Drop a user's sketches and cancel the builds of them."""
        self._scans.pop(scope.user, None)
        for noun in NOUNS:
            self._drawn.pop((scope.user, noun), None)
            if (drawing := self._drawing.get((scope.user, noun))) is not None:
                drawing.cancel()

    async def _scanned(self, scope: Scope) -> list[Memory]:
        """Scan all rows for ``marked`` ones; concurrent callers share a scan, which outlives their cancellation."""
        revision = self.store.revision(scope, "memories")
        known = self._scans.get(scope.user)
        if known is None or known[0] != revision or _has_failed(known[1]):
            known = self._scans[scope.user] = (revision, spawn(self.store.marked(scope), "read what counts"))
            while len(self._scans) > _MAX_SCANS:
                self._scans.pop(next(iter(self._scans)))
        return await asyncio.shield(known[1])

    async def _caught_up(self, scope: Scope, noun: Noun, drawn: _Drawn, revision: Revision) -> _Drawn | None:
        """Add the rows written since; return None if the sketch must be rebuilt, as after a deletion."""
        sketch = drawn.sketch
        if drawn.revision[0] != revision[0] or revision[1] > drawn.revision[1] or sketch.waste > _MAX_WASTE:
            return None
        try:
            async for some in self.store.skim(scope, noun, above_stamp=sketch.stamp):
                await in_thread("learn", sketch.put, some)
        except StoreUnavailable:  # the disk is full; after a worse fault the store's own search raises
            return None
        if len(sketch) != await self.store.count(scope, noun):
            return None
        return self._keep((scope.user, noun), _Drawn(scope, revision, sketch, sketch.size_bytes))

    def _begin(self, scope: Scope, noun: Noun) -> None:
        key = (scope.user, noun)
        is_early = time.monotonic() - self._started_s.get(key, -_REST_S) < _REST_S
        if key not in self._drawing and not is_early:
            self._started_s[key] = time.monotonic()
            task = self._drawing[key] = spawn(self._draw(scope, noun), "sketch a large table")
            task.add_done_callback(lambda _: self._drawing.pop(key, None))

    async def _draw(self, scope: Scope, noun: Noun) -> None:
        await asyncio.sleep(self.after_s)
        try:
            vectors = LAYOUTS[noun].vectors
            if await self.store.count(scope, noun) * BYTES_PER_ROW * len(vectors) > self.max_bytes:
                return
            revision = self.store.revision(scope, noun)
            sketch = Sketch(await in_thread("learn", self.store.row_file, scope, noun), self.model)
            async for some in self.store.skim(scope, noun):
                await in_thread("learn", sketch.put, some)
            self._keep((scope.user, noun), _Drawn(scope, revision, sketch, sketch.size_bytes))
            self._scans.pop(scope.user, None)
        except StoreUnavailable:
            _log.info("a large table could not be sketched", noun=noun)

    def _keep(self, key: Key, drawn: _Drawn) -> _Drawn:
        self._drawn[key] = drawn
        self._drawn.move_to_end(key)
        while len(self._drawn) > 1 and self.size_bytes > self.max_bytes:
            self._drawn.popitem(last=False)
        return drawn


def _has_failed(task: asyncio.Task[Any]) -> bool:
    return task.done() and (task.cancelled() or task.exception() is not None)

"""Application of planned changes: memory rows, their history, and texts that current sessions carry."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, nullcontext
from dataclasses import replace
from datetime import datetime
from typing import TypeGuard

import numpy as np
import structlog

from proxy.errors import ProxyError
from proxy.memory.conversations.episode import mended
from proxy.memory.conversations.running import Segment, without
from proxy.memory.index.cache import IndexCache
from proxy.memory.learn.slots import marked
from proxy.memory.plan.changes import TEXTS, Change, hides_of, is_ending
from proxy.memory.vectors.embed import Embedder
from proxy.memory.visibility.visibility import Withheld
from proxy.process.threads import in_thread
from proxy.store.compactions import Compactions
from proxy.store.history import History
from proxy.store.ledger import Ledger
from proxy.store.passages import dense_text, trails
from proxy.store.schema import Noun, Vector
from proxy.telemetry import LEARNED
from proxy.types import Chunk, Episode, Kind, Memory, Scope

Writing = Callable[[], AbstractAsyncContextManager[None]]
Windows = Mapping[str, Sequence[Episode]]  # of turns, by the id of the last

_log = structlog.get_logger(__name__)
_AT_ONCE = 64  # messages of one turn that are embedded before they are stored …
_AT_ONCE_CHARACTERS = 6_000  # … up to this total size; embedding takes 40 ms per 1,000 characters
TURNS_AT_ONCE = 32  # turns embedded before they are stored, as in an import; of more, all vectors follow later
_TRAIL = 2  # turns before a new one in its window
_TRAIL_WEIGHTS = (1, 2, 1)  # LoCoMo: 1, 1.3, 1 and 1, 3, 1 find 0.5 points less, weights by length 1 to 2


class Book:
    """Writer of memories, episodes and chunks; the caller holds the user's lease."""

    def __init__(
        self, index: IndexCache, embedder: Embedder, history: History, ledger: Ledger, compactions: Compactions
    ) -> None:
        self._index, self._store, self._compactions = index, index.store, compactions
        self._embedder, self._history, self._ledger = embedder, history, ledger

    async def apply(self, scope: Scope, changes: Sequence[Change]) -> None:
        """Store changed memories and their history, and remove closed statements from current sessions.

        Applying the same changes again changes nothing more.
        """
        if not changes:
            return
        await self._put_memories(scope, {change.memory.id: change.memory for change in changes})
        await self._history.append(scope, changes)
        await self._forget_in_conversations(scope, changes)
        for change in changes:
            LEARNED.labels(change.action).inc()

    async def rewrite(self, scope: Scope, rows: Sequence[Memory]) -> None:
        """Replace rows of the same ids, without history: summaries, or rows from which words were erased."""
        if rows:
            await self._put_memories(scope, {row.id: row for row in rows})

    async def keep(self, scope: Scope, episodes: Sequence[Episode], *, words_first: bool = False) -> None:
        """Store episodes; vectors of very many turns, or of the older part of a history, follow later.

        Args:
            scope: Scope of the episodes.
            episodes: Episodes of one or more turns.
            words_first: Drop their vectors, if any, until ``fill_in``; lexical search finds them until then.
        """
        if not episodes:
            return
        if words_first or len({episode.turn for episode in episodes}) > TURNS_AT_ONCE:
            await self._write_episodes(scope, episodes, dict.fromkeys(episode.id for episode in episodes))
            return
        new = {episode.id for episode in episodes}
        before: list[Episode] = []
        for session in {episode.session for episode in episodes}:
            stored = await self._index.said(scope, session)
            before += [row for row in stored if row.id not in new][-_TRAIL:]
        windows = trails([*before, *episodes])
        if later := _long_before(episodes):
            await self._write_episodes(scope, later, {})
        left = {episode.id for episode in later}
        await self._put_episodes(scope, [episode for episode in episodes if episode.id not in left], windows)

    async def embedded(self, chunks: Sequence[Chunk]) -> dict[str, Vector | None]:
        """Return the vectors of chunks; takes long, and needs no lease."""
        return await self._vectors({chunk.id: dense_text(chunk) for chunk in chunks})

    async def shelve(self, scope: Scope, chunks: Sequence[Chunk], vectors: Mapping[str, Vector | None]) -> None:
        """Store chunks of documents and the texts of images."""
        written = await self._store.put_chunks(scope, chunks, vectors, self._embedder.model)
        self._index.take_in(scope, "chunks", written)

    async def fill_in(
        self, scope: Scope, most: int = 128, *, writing: Writing = nullcontext, renews: bool = False
    ) -> int:
        """Embed rows that wait for a vector, at most ``most`` of a kind; return how many were embedded.

        Where embedding fails, nothing is written, and the rows go on waiting. So do rows that others changed meanwhile.

        Args:
            scope: Whose.
            most: Of them are read and written at a time.
            writing: Entered while rows are written, to hold the owner's lease; embedding takes long and needs none.
            renews: Rows that have a vector of another model are meant as well.
        """
        kinds: tuple[Noun, ...] = ("memories", "chunks", "episodes")
        return sum([await self._fill_in(scope, noun, most, writing, renews=renews) for noun in kinds])

    async def _fill_in(self, scope: Scope, noun: Noun, most: int, writing: Writing, *, renews: bool) -> int:
        store, model = self._store, self._embedder.model
        rows = await store.unembedded(scope, noun, model if renews else None, limit=most)
        windows = await self._windows(scope, rows) if noun == "episodes" else {row.id: [row] for row in rows}
        read = {one.id: one for window in windows.values() for one in window}
        vectors = await self._vectors({id_: dense_text(one) for id_, one in read.items()})
        if not rows or not _all_there(vectors):
            return 0
        async with writing():
            there = {row.id: row for row in (await store.load(scope, noun, ids=read)).items}
            same = [row for row in rows if all(there.get(one.id) == one for one in windows[row.id])]
            if noun == "memories":
                written = await store.put_memories(scope, same, vectors, model)
                self._index.take_in(scope, noun, written)
            elif noun == "chunks":
                await self.shelve(scope, same, vectors)
            else:
                await self._write_episodes(scope, same, _pairs(same, windows, vectors))
        return len(rows)

    async def _windows(self, scope: Scope, rows: Sequence[Episode]) -> Windows:
        """Return the windows that end with these turns."""
        said = [await self._index.said(scope, session) for session in {row.session for row in rows}]
        windows = trails([one for episodes in said for one in episodes])
        return {row.id: windows.get(row.id, [row]) for row in rows}

    async def _put_episodes(self, scope: Scope, rows: Sequence[Episode], windows: Windows) -> None:
        """Store rows with the vectors of turn and trail, or without any if embedding fails."""
        vectors = await self._vectors({one.id: dense_text(one) for row in rows for one in windows[row.id]})
        await self._write_episodes(scope, rows, _pairs(rows, windows, vectors) if _all_there(vectors) else {})

    async def _put_memories(self, scope: Scope, rows: Mapping[str, Memory]) -> None:
        """Store memories with their vectors; endings have none, as no search finds them."""
        texts = {id_: dense_text(row) for id_, row in rows.items() if not is_ending(row)}
        vectors = {**dict.fromkeys(rows), **await self._vectors(texts)}
        new_as_of = await self._index.lacks(scope, "memories", rows)
        written = await self._store.put_memories(
            scope, list(rows.values()), vectors, self._embedder.model, new_as_of=new_as_of
        )
        self._index.take_in(scope, "memories", written)

    async def _write_episodes(
        self, scope: Scope, rows: Sequence[Episode], vectors: Mapping[str, tuple[Vector | None, Vector | None] | None]
    ) -> None:
        new_as_of = await self._index.lacks(scope, "episodes", [row.id for row in rows])
        written = await self._store.put_episodes(scope, rows, vectors, self._embedder.model, new_as_of=new_as_of)
        self._index.take_in(scope, "episodes", written)

    async def _vectors(self, texts: Mapping[str, str]) -> dict[str, Vector | None]:
        """Return vectors by id; if embedding fails, all are None, and only lexical search finds the rows for now."""
        try:
            rows = await self._embedder.embed(list(texts.values()), purpose="passage")
        except ProxyError as error:
            _log.warning("embedding failed, rows are stored without vectors", error=error.code)
            return dict.fromkeys(texts)
        return dict(zip(texts, rows, strict=True))

    async def _forget_in_conversations(self, scope: Scope, changes: Sequence[Change]) -> None:
        """Drop ledger entries that show a changed memory, and remove withheld sentences from summaries."""
        touched = [change.memory.id for change in changes if _alters_what_is_shown(change)]
        endings = [change.memory for change in changes if is_ending(change.memory)]
        rows = {row for ending in endings for row, _, _ in hides_of(ending)}
        if touched or rows:
            await self._ledger.drop_memories(scope, [*touched, *rows])
        withheld = Withheld.of(endings)
        if any(ending.metadata.get(TEXTS) for ending in endings if ending.status != "archived"):
            await self._forget_in_summaries(scope, withheld.visible_text, endings[0].updated_at)

    async def _forget_in_summaries(self, scope: Scope, see: Callable[[str], str | None], now: datetime) -> None:
        """Remove withheld sentences from running summaries and from those of sessions, days and weeks."""
        await self._compactions.mend(scope, lambda raw: without(Segment.from_json(raw), see).to_json())
        rows = await self._index.summed_up(scope)
        await self.rewrite(scope, await in_thread("learn", mended, rows, see, now))


def _alters_what_is_shown(change: Change) -> bool:
    """Return whether a change outdates the blocks that show the memory; a pin does not."""
    memory, before = change.memory, change.before
    if before is None or change.action == "reinforce":
        return False
    return replace(before, pinned=memory.pinned, updated_at=memory.updated_at) != memory


def _pairs(
    rows: Iterable[Episode], windows: Windows, vectors: Mapping[str, Vector]
) -> dict[str, tuple[Vector | None, Vector | None] | None]:
    """Return the vectors of turn and trail of each row, by id."""
    return {row.id: (vectors[row.id], _trail_vector([vectors[one.id] for one in windows[row.id]])) for row in rows}


def _long_before(episodes: Sequence[Episode]) -> list[Episode]:
    """Return the older part of a long history that came with a turn, or of a very long message.

    Only lexical search finds it until it is embedded. The limit applies to each turn, not to all turns together.
    """
    by_turn: dict[str, list[Episode]] = {}
    for episode in episodes:
        by_turn.setdefault(episode.turn, []).append(episode)
    return [episode for said in by_turn.values() for episode in said[: len(said) - _newest(said)]]


def _newest(said: Sequence[Episode]) -> int:
    """Return the number of a turn's last episodes that are embedded at once, at least one."""
    sizes = itertools.accumulate(len(one.text) for one in reversed(said[-_AT_ONCE:]))
    return max(1, sum(size <= _AT_ONCE_CHARACTERS for size in sizes))


def _trail_vector(vectors: Sequence[Vector]) -> Vector:
    """Return the vector of a window of one to three turns, L2-normalised.

    The middle turn weighs most: the vector is that of the window around it, so that a new turn changes no other row.
    To embed the window's text would double the cost of learning, and finds 0.2 points more on LoCoMo.
    """
    mean = np.average(vectors, axis=0, weights=_TRAIL_WEIGHTS[-len(vectors) :]).astype(np.float32)
    return mean / max(np.float32(np.linalg.norm(mean)), np.float32(1e-12))


def _all_there(vectors: Mapping[str, Vector | None]) -> TypeGuard[Mapping[str, Vector]]:
    return all(vector is not None for vector in vectors.values())


def stated(scope: Scope, text: str, now: datetime, *, kind: Kind, id_: str, source: str = "api") -> Memory:
    """Return the memory that ``text`` states, with its slot, so that a later statement of the user can close it."""
    memory = Memory(
        id=id_,
        kind=kind,
        text=text,
        created_at=now,
        updated_at=now,
        valid_from=now,
        quote=text,
        source=source,
        provenance="user_confirmed",
        agent=scope.agent,
    )
    return marked(memory)

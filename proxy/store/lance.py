"""Memories, episodes and chunks of each user in LanceDB, with their vectors and search terms."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Collection, Iterator, Mapping, Sequence
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Any

from proxy.process.threads import in_thread, shielded
from proxy.store import filters, lance_search
from proxy.store import lance_disk as disk
from proxy.store import lance_upkeep as upkeep
from proxy.store.lance_damage import Damage
from proxy.store.lance_import import import_lancedb
from proxy.store.lance_rows import IDS_PER_FILTER, LanceRows
from proxy.store.lance_search import NOTHING_FOUND, Candidates
from proxy.store.lance_tables import Tables, guarded
from proxy.store.newest import counted, newest
from proxy.store.row_file import RowFile
from proxy.store.schema import (
    CHUNKS,
    ENDINGS,
    EPISODES,
    LAYOUTS,
    MARKS,
    MEMORIES,
    NOUNS,
    Batch,
    Noun,
    Revision,
    Skimmed,
    Vector,
    Written,
)
from proxy.types import Chunk, Episode, Memory, Scope
from proxy.types.scope import covers

_LEFTOVER_AGE_S = 3600.0


class LanceStore(LanceRows):
    """LanceDB tables of every user; each method takes the scope first and touches no other user's tables.

    One process at a time may write for a user (the caller holds a lease); any process may read. Writes complete
    even if the caller is cancelled, and repeating one changes nothing. Every failure of the store is raised as
    ``StoreUnavailable``.
    """

    most_rows = lance_search.ROWS_BEFORE_INDEX  # of a noun; up to this, an in-memory index is better

    def __init__(self, tables: Tables, *, index_above_rows: int = lance_search.ROWS_BEFORE_INDEX) -> None:
        super().__init__(tables)
        self._index_above_rows = index_above_rows
        self._flushed_at: dict[str, float] = {}
        self.damage = Damage(tables, self._lock)

    @classmethod
    async def open(
        cls,
        folder: Path,
        *,
        dimension: int,
        metadata_cache_bytes: int = 32 * 2**20,
        index_cache_bytes: int = 64 * 2**20,
        index_above_rows: int = lance_search.ROWS_BEFORE_INDEX,
    ) -> LanceStore:
        """Return the store below ``folder``; import LanceDB in a thread, which takes seconds the first time.

        Args:
            folder: Folder of the store, created if missing.
            dimension: Length of newly written vectors.
            metadata_cache_bytes: Size of LanceDB's cache of manifests and file footers.
            index_cache_bytes: Size of LanceDB's index cache, used for large tables only.
            index_above_rows: Number of rows above which ``maintain`` creates indices.
        """
        lancedb = await in_thread("load", import_lancedb)
        with guarded("open the memory store"):
            await in_thread("load", folder.mkdir, parents=True, exist_ok=True)
            session = lancedb.Session(
                index_cache_size_bytes=index_cache_bytes, metadata_cache_size_bytes=metadata_cache_bytes
            )
            await in_thread("load", disk.sweep, folder, older_than=time.time() - _LEFTOVER_AGE_S)
        tables = Tables(folder, lancedb, session, dimension)
        await tables.rehearse()
        return cls(tables, index_above_rows=index_above_rows)

    def close(self) -> None:
        """Close every table."""
        self._tables.close()

    async def memories(self, scope: Scope, *, session: str | None = None) -> list[Memory]:
        """Return all memories of the user, or of one session, of every agent and status.

        The caller filters by ``scope.sees``.
        """
        where = None if session is None else filters.any_of("session", [session])
        return await self._values(MEMORIES, scope, where=where)

    async def newest(
        self, scope: Scope, *, status: str = "", before: tuple[datetime, str] | None = None
    ) -> Iterator[Memory]:
        """Return the user's memories lazily, newest first, from behind ``before`` (time and id) if given."""
        async with self._tables.reading("memories", scope.user) as table:
            if table is None:
                return iter(())
            found = await table.query().select(["id", "record"]).to_arrow()
            return await in_thread("cpu", newest, found, status=status, before=before)

    async def memory(self, scope: Scope, memory_id: str) -> Memory | None:
        """Return one memory of the user, None if there is none of that id."""
        if not memory_id or not filters.is_id(memory_id):
            return None
        found = await self._values(MEMORIES, scope, where=filters.any_of("id", [memory_id]))
        return found[0] if found else None

    async def marked(self, scope: Scope, marks: Collection[str] = MARKS) -> list[Memory]:
        """Return the memories with any of these marks in their records; LanceDB scans all rows."""
        where = filters.either(*(filters.tells("record", mark) for mark in marks))
        return await self._values(MEMORIES, scope, where=where)

    async def put_memories(
        self,
        scope: Scope,
        memories: Sequence[Memory],
        vectors: Mapping[str, Vector | None],
        model: str,
        *,
        new_as_of: Revision | None = None,
    ) -> Written[Memory] | None:
        """Write memories in one commit, replacing those of the same id; return None if another commit intervened.

        Args:
            scope: The user.
            memories: Memories to write; the last of an id wins.
            vectors: Vectors by id; None means "pending". An id that is missing here keeps its stored vector if its text
                is unchanged.
            model: The embedding model of the vectors.
            new_as_of: Revision at which the table had none of the ids; saves the lookup.
        """
        given = {key: (vector,) for key, vector in vectors.items()}
        return await shielded(self._told(MEMORIES, scope, memories, given, model, new_as_of), "put memories")

    async def remove_memories(self, scope: Scope, ids: Collection[str]) -> None:
        """Delete memories; ``purge`` removes their bytes from the disk."""
        await shielded(self._remove("memories", scope, "id", ids), "remove memories")

    async def episodes(self, scope: Scope, *, session: str | None = None, limit: int | None = None) -> list[Episode]:
        """Return the user's episodes in order of time, of one session if given, at most the newest ``limit``."""
        where = None if session is None else filters.any_of("session", [session])
        found = await self._values(EPISODES, scope, where=where)
        found.sort(key=lambda row: (row.at, row.session, row.seq, row.piece))
        return found if limit is None else found[max(0, len(found) - limit) :]

    async def put_episodes(
        self,
        scope: Scope,
        episodes: Sequence[Episode],
        vectors: Mapping[str, tuple[Vector | None, Vector | None] | None],
        model: str,
        *,
        new_as_of: Revision | None = None,
    ) -> Written[Episode] | None:
        """Write episodes in one commit, replacing those of the same id; return None if another commit intervened.

        Args:
            scope: The user.
            episodes: Episodes to write; the last of an id wins.
            vectors: By id, the vectors of the turn and of the window of three turns that ends with it; otherwise as
                for memories.
            model: The embedding model of the vectors.
            new_as_of: As for memories.
        """
        given = {key: pair or (None, None) for key, pair in vectors.items()}
        return await shielded(self._told(EPISODES, scope, episodes, given, model, new_as_of), "put episodes")

    async def remove_episodes(self, scope: Scope, *, session: str) -> None:
        """Delete a session's episodes; ``purge`` removes their bytes from the disk."""
        await shielded(self._remove("episodes", scope, "session", [session]), "remove episodes")

    async def chunks(self, scope: Scope, ids: Collection[str] | None = None) -> list[Chunk]:
        """Return chunks of documents and images: all of the user's, or those of ``ids``."""
        wanted = None if ids is None else [one for one in dict.fromkeys(ids) if filters.is_id(one)]
        if wanted is None:
            return await self._values(CHUNKS, scope)
        found: list[Chunk] = []
        for at in range(0, len(wanted), IDS_PER_FILTER):
            found += await self._values(CHUNKS, scope, where=filters.any_of("id", wanted[at : at + IDS_PER_FILTER]))
        return found

    async def put_chunks(
        self, scope: Scope, chunks: Sequence[Chunk], vectors: Mapping[str, Vector | None], model: str
    ) -> Written[Chunk] | None:
        """Write chunks in one commit, replacing those of the same id; as for memories."""
        given = {key: (vector,) for key, vector in vectors.items()}
        return await shielded(self._told(CHUNKS, scope, chunks, given, model, None), "put chunks")

    async def remove_chunks(self, scope: Scope, ids: Collection[str]) -> None:
        """Delete chunks; ``purge`` removes their bytes from the disk."""
        await shielded(self._remove("chunks", scope, "id", ids), "remove chunks")

    async def remove_agent(self, scope: Scope) -> None:
        """Delete every row of one agent or project of the user; ``purge`` removes their bytes from the disk."""
        for noun in NOUNS:
            names = [name for name in await self._partitions(scope, noun) if covers(scope.agent, name)]
            await shielded(self._remove(noun, scope, "agent", names), f"remove {noun} of an agent")

    async def load(
        self, scope: Scope, noun: Noun, *, above_stamp: int | None = None, ids: Collection[str] | None = None
    ) -> Batch[Any]:
        """Return rows with terms and vectors, for the search index.

        Args:
            scope: The user.
            noun: The table.
            above_stamp: If given, only rows with a later stamp, that is, written since that batch was loaded.
            ids: If given, only these rows.
        """
        where = None if above_stamp is None else filters.above("stamp", above_stamp)
        if ids is not None:
            where = filters.any_of("id", ids)
        return await self._load(LAYOUTS[noun], scope, where=where)

    async def candidates(
        self, scope: Scope, noun: Noun, terms: Collection[str], vector: Vector | None, *, limit: int = 60
    ) -> Candidates[Any]:
        """Return candidate rows for a query, found by LanceDB; for users with too many rows to load.

        Args:
            scope: The user; the result may hold rows of other agents, so the caller filters by ``scope.sees``.
            noun: The table.
            terms: Index terms of the query.
            vector: Vector of the query; None for lexical search only.
            limit: Maximum number of rows, not counting the neighbours of turns.
        """
        layout = LAYOUTS[noun]
        async with self._tables.reading(noun, scope.user) as table:
            if table is None:
                return NOTHING_FOUND
            search = partial(lance_search.find, table, layout, terms, vector, limit=limit, dimension=self.dimension)
            found = await search(where="")
            if sum(scope.sees(item.agent) for item in found.rows.items) < len(found.rows.items) / 2:
                found = await search(where=filters.seen_by(scope))
            return found

    async def skim(self, scope: Scope, noun: Noun, *, above_stamp: int | None = None) -> AsyncIterator[Skimmed]:
        """Yield the rows' skimmed form, a few thousand at a time; only rows above the stamp if one is given."""
        is_whole = above_stamp is None  # reads in many steps, so its handle must stay at one version
        with guarded(f"skim {noun}"):
            reading = self._tables.snapshot(noun, scope.user) if is_whole else self._tables.reading(noun, scope.user)
            async with reading as table:
                if table is not None:
                    rows = lance_search.skim(table, LAYOUTS[noun], above_stamp=above_stamp, dimension=self.dimension)
                    async for some in rows:
                        yield some

    def row_file(self, scope: Scope, noun: Noun) -> RowFile[Any]:
        """Return an empty file for the user's rows of this noun, on the disk of the tables."""
        del scope
        return RowFile(self._tables.folder, LAYOUTS[noun], self.dimension)

    async def ids(self, scope: Scope, noun: Noun) -> list[str]:
        """Return the ids of all rows."""
        async with self._tables.reading(noun, scope.user) as table:
            if table is None:
                return []
            ids: list[str] = (await table.query().select(["id"]).to_arrow()).column("id").to_pylist()
            return ids

    async def count(self, scope: Scope, noun: Noun) -> int:
        """Return the number of rows, without reading them."""
        async with self._tables.reading(noun, scope.user) as table:
            return 0 if table is None else await table.count_rows()

    async def counts(self, scope: Scope) -> dict[str, int]:
        """Return the number of rows by noun."""
        return {noun: await self.count(scope, noun) for noun in NOUNS}

    async def statuses(self, scope: Scope) -> dict[str, int]:
        """Return the number of visible memories by status; reads all rows in one pass."""
        async with self._tables.reading("memories", scope.user) as table:
            if table is None:
                return {}
            which = filters.both(filters.seen_by(scope), filters.neither(filters.begins("id", ENDINGS)))
            found = await table.query().where(which).select(["record"]).to_arrow()
            return await in_thread("cpu", counted, found)

    async def seen(self, scope: Scope) -> int:
        """Return the number of visible episodes."""
        async with self._tables.reading("episodes", scope.user) as table:
            return 0 if table is None else await table.count_rows(filters.seen_by(scope))

    def revision(self, scope: Scope, noun: Noun) -> Revision:
        """Return a value that changes with every commit to the user's table; costs one listing of a small folder."""
        with guarded("look at a table"):
            return self._tables.revision(noun, scope.user)

    async def drop_owner(self, scope: Scope) -> None:
        """Destroy all tables of the user, including their bytes on the disk."""
        await shielded(self._alone(scope, self._tables.drop), "drop owner")

    async def purge(self, scope: Scope) -> None:
        """Remove deleted and overwritten rows from the disk now."""
        await shielded(self._alone(scope, partial(upkeep.purge, self._tables)), "purge owner")

    async def maintain(self, scope: Scope) -> None:
        """Compact the user's tables if reads have become slow; call it when idle, as the lease's holder."""
        work = partial(upkeep.maintain, self._tables, index_above_rows=self._index_above_rows)
        await shielded(self._alone(scope, work), "maintain owner")

    async def heal(self, scope: Scope) -> list[str]:
        """Quarantine newest versions broken by a power loss; return their names. The caller must replay the journal."""
        return await self._alone(scope, partial(upkeep.heal, self._tables))

    async def flush(self, scope: Scope) -> None:
        """Fsync the user's written files; required before the journal drops its payloads."""
        since, now = self._flushed_at.get(scope.user, 0.0), time.time()
        with guarded("flush a table"):
            for noun in NOUNS:
                if (path := self._tables.path(noun, scope.user)) is not None:
                    await in_thread("load", disk.flush, path, newer_than=since - 1)
        self._flushed_at[scope.user] = now

    async def verify(self) -> upkeep.StoreHealth:
        """Examine every table's newest version.

        Raises:
            StoreUnavailable: If the folder cannot be read or written.
        """
        with guarded("read and write the store's folder"):
            return await in_thread("load", upkeep.examine, self._tables.folder)

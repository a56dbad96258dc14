"""Open LanceDB tables: one connection per shard folder, one table per user and noun, handles that never go stale."""

from __future__ import annotations

import contextlib
import time
from collections import OrderedDict
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

from proxy.errors import ProxyError, StoreUnavailable
from proxy.process.threads import in_thread
from proxy.store import filters
from proxy.store import lance_disk as disk
from proxy.store.schema import LAYOUTS, Noun, arrow_schema

if TYPE_CHECKING:
    import pyarrow as pa
    from lancedb.db import AsyncConnection
    from lancedb.table import AsyncTable

_MAX_HANDLES = 2000  # about 10 kB each
_ROWS_PER_BATCH = 4096
_SAFE_AGE = timedelta(minutes=2)  # old versions are kept this long for readers in other processes
_AT_ONCE = timedelta(milliseconds=1)  # zero makes LanceDB warn


@dataclass(slots=True)
class _Handle:
    name: str
    table: AsyncTable
    head: str


class Tables:
    """The tables below one folder.

    Args:
        folder: Folder of the shard folders, each named by the first two hex digits of its users.
        lancedb: The imported module.
        session: LanceDB's caches, shared by all connections.
        dimension: Length of the vectors in new tables.
    """

    def __init__(self, folder: Path, lancedb: Any, session: Any, dimension: int) -> None:
        self.folder = folder
        self.dimension = dimension
        self._lancedb = lancedb
        self._session = session
        self._connections: dict[str, AsyncConnection] = {}
        self._handles: OrderedDict[tuple[Noun, str], _Handle] = OrderedDict()
        self.on_failure: Callable[[str], None] = lambda owner: None  # called with a user whose tables could not be read
        self._heads = disk.Watched(disk.newest_manifest, "", disk.following_manifest)
        self._shards = disk.Watched[Sequence[str]](list, ())

    def shard(self, owner: str) -> Path:
        """Return the folder of a user's tables."""
        return self.folder / filters.owner(owner)[:2]

    def revision(self, noun: Noun, owner: str) -> tuple[str, str]:
        """Return name and head of a table, which change with every commit; ("", "") if it does not exist.

        Costs one or two ``stat`` calls while nothing has changed.
        """
        shard = f"{self.folder}/{filters.owner(owner)[:2]}"
        handle = self._handles.get((noun, owner))
        if handle is not None and (head := self._head(shard, handle.name)):
            return handle.name, head
        self._handles.pop((noun, owner), None)  # dropped or replaced by another process
        names = disk.tables_among(self._shards(shard), owner, noun)
        heads = [(name, head) for name in names if (head := self._head(shard, name))]
        return max(heads, key=lambda each: disk.generation(each[0]), default=("", ""))

    async def open(self, noun: Noun, owner: str) -> AsyncTable | None:
        """Return the user's table at its newest version, None if there is none."""
        name, head = self.revision(noun, owner)
        if not name:
            left = disk.tables_among(self._shards(str(self.shard(owner))), owner, noun)
            # A new table would hide the loss.
            if len(left) > 0 and await in_thread("load", self._have_rows, owner, left):
                raise StoreUnavailable(f"no version of a table of {noun} is left; `throughline check` says more")
            return None
        handle = self._handles.get((noun, owner))
        if handle is None:
            if not disk.is_complete(self.shard(owner) / f"{name}.lance" / disk.VERSIONS / head):
                raise StoreUnavailable(f"the newest version of a table of {noun} is cut; `throughline check` says more")
            connection = await self._connection(owner)
            handle = self._keep(noun, owner, _Handle(name, await connection.open_table(name), head))
        elif handle.head != head:
            await handle.table.checkout_latest()  # type: ignore[no-untyped-call]
            handle.head = head
        self._handles.move_to_end((noun, owner))
        return handle.table

    @contextlib.asynccontextmanager
    async def reading(self, noun: Noun, owner: str) -> AsyncIterator[AsyncTable | None]:
        """Yield the user's table for reading; on failure, close its handle, so that the next attempt opens a new one.

        Raises:
            StoreUnavailable: On any failure of the store.
        """
        try:
            with guarded(f"open {noun}"):
                table = await self.open(noun, filters.owner(owner))
            with guarded(f"read {noun}"):
                yield table
        except Exception as error:
            self.forget(noun, owner)
            if isinstance(error, StoreUnavailable):
                self.on_failure(owner)
            raise

    @contextlib.asynccontextmanager
    async def snapshot(self, noun: Noun, owner: str) -> AsyncIterator[AsyncTable | None]:
        """Yield a private handle, which stays at the newest version as of now."""
        with guarded(f"open {noun}"):
            name, _ = self.revision(noun, owner)
            table = await (await self._connection(owner)).open_table(name) if name else None
        try:
            yield table
        finally:
            if table is not None:
                table.close()  # type: ignore[no-untyped-call]

    async def writable(self, noun: Noun, owner: str) -> AsyncTable:
        """Return the user's table with the current columns, created or rebuilt if needed; only for the lease holder."""
        table = await self.open(noun, owner)
        if table is None:
            name = self._next_name(noun, owner)
            connection = await self._connection(owner)
            table = await connection.create_table(name, schema=arrow_schema(noun, self.dimension))
            self._keep(noun, owner, _Handle(name, table, ""))
        elif await table.schema() != arrow_schema(noun, self.dimension):
            table = await self.rebuild(noun, owner)
        return table

    async def rebuild(self, noun: Noun, owner: str) -> AsyncTable:
        """Copy the live rows into a new generation and destroy the old ones, with their deleted rows and versions."""
        source = await self.open(noun, owner)
        if source is None:
            raise StoreUnavailable(f"there is no table of {noun} to rebuild")
        name = self._next_name(noun, owner)
        connection = await self._connection(owner)
        schema = arrow_schema(noun, self.dimension)
        copy = await connection.create_table(f"new_{name}", schema=schema, mode="overwrite")
        async for batch in await source.query().to_batches(max_batch_length=_ROWS_PER_BATCH):
            await copy.add(_fitted(batch, schema))
        copy.close()  # type: ignore[no-untyped-call]
        shard = self.shard(owner)
        await in_thread("load", (shard / f"new_{name}.lance").rename, shard / f"{name}.lance")
        self.forget(noun, owner)
        for old in disk.table_names(shard, owner, noun):
            if old != name:
                await self._destroy(owner, old)
        table = await self.open(noun, owner)
        if table is None:
            raise StoreUnavailable(f"the rebuilt table of {noun} is gone")
        return table

    async def drop(self, owner: str) -> None:
        """Destroy every table of the user, of every generation, including half-built and quarantined ones."""
        for noun in LAYOUTS:
            self.forget(noun, owner)
        shard = self.shard(owner)
        for name in disk.table_names(shard, owner):
            await self._destroy(owner, name)
        for path in (*shard.glob(f"new_*_{owner}_g*.lance"), *disk.set_aside_tables(self.folder, owner)):
            await in_thread("load", disk.remove_table, path)

    async def rehearse(self) -> None:
        """Read a row of some table, so that one-time loading does not slow down the first request."""
        found = await in_thread("load", disk.some_table, self.folder)
        if found is not None:
            noun, owner = found
            with contextlib.suppress(StoreUnavailable):  # affects that user only
                async with self.reading(noun, owner) as table:
                    if table is not None:
                        await table.query().limit(1).to_arrow()

    def forget(self, noun: Noun, owner: str) -> None:
        """Close a handle; the next use opens the table again."""
        handle = self._handles.pop((noun, owner), None)
        if handle is not None:
            handle.table.close()  # type: ignore[no-untyped-call]

    def path(self, noun: Noun, owner: str) -> Path | None:
        """Return the folder of the user's table, None if there is none."""
        name, _ = self.revision(noun, owner)
        return self.shard(owner) / f"{name}.lance" if name else None

    async def compact(self, noun: Noun, owner: str, *, at_once: bool = False) -> None:
        """Merge fragments, update indices and drop old versions, including recent ones if ``at_once``."""
        if (table := await self.open(noun, owner)) is not None:
            await table.optimize(cleanup_older_than=_AT_ONCE if at_once else _SAFE_AGE, delete_unverified=at_once)

    def close(self) -> None:
        """Close every table and connection."""
        for handle in self._handles.values():
            handle.table.close()  # type: ignore[no-untyped-call]
        self._handles.clear()
        for connection in self._connections.values():
            connection.close()  # type: ignore[no-untyped-call]
        self._connections.clear()

    async def _connection(self, owner: str) -> AsyncConnection:
        shard = self.shard(owner)
        if shard.name not in self._connections:
            shard.mkdir(parents=True, exist_ok=True)
            opened = await self._lancedb.connect_async(shard, session=self._session)
            self._connections.setdefault(shard.name, opened)
        return self._connections[shard.name]

    async def _destroy(self, owner: str, name: str) -> None:
        connection = await self._connection(owner)
        await connection.drop_table(name, ignore_missing=True)
        await in_thread("load", disk.remove_table, self.shard(owner) / f"{name}.lance")

    def _head(self, shard: str, name: str) -> str:
        return self._heads(f"{shard}/{name}.lance/{disk.VERSIONS}")

    def _have_rows(self, owner: str, names: Sequence[str]) -> bool:
        """Return whether any of these tables has files of rows; one whose creation was interrupted has none."""
        return any(next((self.shard(owner) / f"{name}.lance" / disk.DATA).glob("*"), None) for name in names)

    def _next_name(self, noun: Noun, owner: str) -> str:
        """Return a name never used before, so that another process's stale handle cannot revive a dropped table."""
        last = max((disk.generation(name) for name in disk.table_names(self.shard(owner), owner, noun)), default=0)
        return f"{noun}_{owner}_g{max(time.time_ns() // 1_000_000, last + 1)}"

    def _keep(self, noun: Noun, owner: str, handle: _Handle) -> _Handle:
        self._handles[noun, owner] = handle
        if len(self._handles) > _MAX_HANDLES:
            self._handles.popitem(last=False)  # not closed: a reader may hold it
        return handle


@contextlib.contextmanager
def guarded(action: str) -> Iterator[None]:
    """Turn any exception of LanceDB or the disk into ``StoreUnavailable``, whose message contains no user texts."""
    try:
        yield
    except ProxyError:
        raise
    except Exception as error:  # LanceDB's native panics have their own exception class
        message = f"could not {action} ({type(error).__name__}); `throughline check` says more"
        raise StoreUnavailable(message, headers={"Retry-After": "1"}) from error


def _fitted(batch: pa.RecordBatch, schema: pa.Schema) -> pa.Table:
    """Return a batch with the current columns: unknown ones dropped, new ones and vectors of another dimension null.

    A row with a missing vector is embedded again, for all of its vectors.
    """
    import pyarrow as pa  # noqa: PLC0415

    columns = {}
    had = {field.name: field.type for field in batch.schema}
    known = {field.name for field in schema if had.get(field.name) == field.type}
    stale = any(field.name.endswith("vector") and field.name not in known for field in schema)
    for field in schema:
        dropped = field.name not in known or (stale and field.name == "embedding_model")
        columns[field.name] = pa.nulls(batch.num_rows, field.type) if dropped else batch.column(field.name)
    return pa.table(columns, schema=schema)

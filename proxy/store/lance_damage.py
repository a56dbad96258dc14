"""Finds damage of LanceDB tables, sets a damaged table aside, and reads what can still be read of it."""

from __future__ import annotations

import asyncio
import contextlib
import os
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import orjson

from proxy.errors import StoreUnavailable
from proxy.process.threads import in_thread
from proxy.store import filters
from proxy.store import lance_disk as disk
from proxy.store.lance_tables import Tables, guarded
from proxy.store.schema import LAYOUTS, NO_ROWS, NOUNS, Batch, Layout, Noun, Vector, from_arrow
from proxy.types import Scope

if TYPE_CHECKING:
    import pyarrow as pa

_MAGIC, _ARROW_MAGIC = b"LANC", b"ARROW1"  # how complete files end
_FOOTER_BYTES = 16  # of a manifest: where the message begins, the format's version, the magic
_STRETCH = 1024  # rows
_MAX_TRIES = 4000  # reads that fail, before the rest of a table is given up
_LENGTH_TOLERANCE = 0.02  # vectors are written at length one


@dataclass(frozen=True, slots=True)
class SetAside:
    """A table that was set aside.

    Args:
        place: Where it lies now.
        expected: How many rows it had; None: that cannot be told.
        rows: What could be read of it; a vector that was damaged is missing.
    """

    place: str
    expected: int | None
    rows: Batch[Any]


class Damage:
    """Damage to the tables of a ``LanceStore``; what changes a table is for the holder of its owner's lease."""

    def __init__(self, tables: Tables, lock: Callable[[Scope], asyncio.Lock]) -> None:
        self._tables, self._lock = tables, lock

    def tell(self, hears: Callable[[str], None]) -> None:
        """Tell from now on of every owner whose tables could not be read or written."""
        self._tables.on_failure = hears

    async def suspects(self, *, budget_s: float) -> list[str]:
        """Return the owners with a table that does not look whole.

        Every table is looked at from outside; those changed last are read as well, for as long as the budget lasts.
        """
        names, found = await in_thread("load", self._seen_outside)
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(budget_s):
                for noun, owner, _ in names:
                    if owner not in found and await self._flaw_inside(noun, owner):
                        found.add(owner)
        return sorted(found)

    async def names(self) -> set[tuple[str, str]]:
        """Return noun and owner of every table."""
        return {(noun, owner) for noun, owner, _ in await in_thread("load", self._names)}

    async def flaws(self, scope: Scope) -> dict[Noun, str]:
        """Return what is wrong with the owner's tables, by noun; reads all of every table.

        Raises:
            StoreUnavailable: If files cannot be read at all, which says nothing about what is in them.
        """
        found: dict[Noun, str] = {}
        for noun in NOUNS:
            path = await self._newest(noun, scope.user)
            if path is not None and await self._flaw(noun, scope.user, path):
                await in_thread("load", _readable, path)
                # The second look is through a new handle: the first may have been at a table just replaced.
                if flaw := await self._flaw(noun, scope.user, path):
                    found[noun] = flaw
        return found

    async def _newest(self, noun: Noun, owner: str) -> Path | None:
        """Return the folder of an owner's table, also of one of which no version is left."""
        if (path := self._tables.path(noun, owner)) is not None:
            return path
        shard = self._tables.shard(owner)
        names = await in_thread("load", disk.table_names, shard, owner, noun)
        return shard / f"{max(names, key=disk.generation)}.lance" if names else None

    async def _flaw(self, noun: Noun, owner: str, path: Path) -> str:
        return await in_thread("load", flaw_outside, path) or await self._flaw_inside(noun, owner)

    async def set_aside(self, scope: Scope, noun: Noun) -> SetAside:
        """Read what can be read of a table, then move it into the quarantine folder, where it stays."""
        async with self._lock(scope):
            expected, rows = await self._salvaged(noun, scope.user)
            self._tables.forget(noun, scope.user)
            with guarded(f"set {noun} aside"):
                place = await in_thread("load", self._move, noun, scope.user)
        return SetAside(place, expected, rows)

    def _move(self, noun: Noun, owner: str) -> str:
        quarantine = self._tables.folder / disk.SET_ASIDE
        quarantine.mkdir(mode=0o700, exist_ok=True)
        shard, place = self._tables.shard(owner), ""
        for name in disk.table_names(shard, owner, noun):
            target = quarantine / f"{time.time_ns() // 1_000_000}_{name}.lance"
            (shard / f"{name}.lance").rename(target)
            place = str(target)
        return place

    def _seen_outside(self) -> tuple[list[tuple[Noun, str, Path]], set[str]]:
        """Return every table, and the owners of those that show a flaw from outside."""
        names = self._names()
        return names, {owner for _, owner, path in names if flaw_outside(path)}

    def _names(self) -> list[tuple[Noun, str, Path]]:
        """Return every table, those changed last first."""
        found: list[tuple[float, Noun, str, Path]] = []
        for shard in self._tables.folder.glob("[0-9a-f][0-9a-f]"):
            for name in disk.table_names(shard):
                noun, owner, _ = name.split("_")
                path = shard / f"{name}.lance"
                if noun in LAYOUTS:
                    found.append((path.stat().st_mtime, noun, owner, path))
        return [(noun, owner, path) for _, noun, owner, path in sorted(found, key=lambda each: -each[0])]

    async def _flaw_inside(self, noun: Noun, owner: str) -> str:
        """Return what is wrong with a table, "" for nothing; reads all of it."""
        layout = LAYOUTS[noun]
        try:
            async with self._tables.snapshot(noun, filters.owner(owner)) as table:  # a handle that no request uses
                if table is None:
                    return "no version of it is left"
                with guarded(f"read {noun}"):
                    async for batch in await table.query().to_batches(max_batch_length=_STRETCH):
                        if not all(await in_thread("cpu", _sound, layout, batch)):
                            return "rows hold what was never written"
                    await table.query().select(["record"]).to_arrow()  # as it is read for requests: by another way
        except StoreUnavailable as error:
            return f"it cannot be read: {type(error.__cause__).__name__}"
        return ""

    async def _salvaged(self, noun: Noun, owner: str) -> tuple[int | None, Batch[Any]]:
        layout, dimension = LAYOUTS[noun], self._tables.dimension
        path, is_newest, table, expected = await self._newest(noun, owner), True, None, 0
        while path is not None and disk.head(path):
            self._tables.forget(noun, owner)
            try:
                with guarded(f"open {noun}"):
                    if (table := await self._tables.open(noun, owner)) is not None:
                        expected = await table.count_rows()
                break
            except StoreUnavailable:
                is_newest = False
                await in_thread("load", disk.set_aside_head, path)
        if table is None:
            return None, NO_ROWS
        parts: list[Batch[Any]] = []
        waiting = [(at, min(_STRETCH, expected - at)) for at in range(0, expected, _STRETCH)][::-1]
        tries = 0
        while waiting and tries < _MAX_TRIES:
            at, count = waiting.pop()
            try:
                with guarded(f"read {noun}"):
                    found = await table.query().limit(count).offset(at).to_arrow()
                    parts.append(await in_thread("cpu", _sound_rows, layout, found, dimension))
            except StoreUnavailable:
                tries += 1
                half = count // 2
                waiting += [(at + half, count - half), (at, half)] if half else []
        return expected if is_newest else None, _joined(parts)


def flaw_outside(table: Path) -> str:
    """Return what is wrong with a table as far as its files' names and ends tell, "" for nothing; cheap."""
    try:
        head = disk.head(table)
        if not head:
            return "no version of it is left"
        manifest = (table / disk.VERSIONS / head).read_bytes()
        if not manifest.endswith(_MAGIC):
            return "its newest version is cut or overwritten"
        present = set(os.listdir(table / "data")) if (table / "data").is_dir() else set()
        for name in _data_files(manifest):
            if name not in present:
                return "a data file is missing"
            if not _ends_with(table / "data" / name, _MAGIC):
                return "a data file is cut or overwritten"
        for path in (table / "_deletions").glob("*.arrow"):
            if not _ends_with(path, _ARROW_MAGIC):
                return "a file of deleted rows is cut or overwritten"
    except FileNotFoundError as error:
        return f"a file is missing: {Path(error.filename or table).name}" if table.exists() else ""
    except OSError:  # says nothing about what is in the files
        return ""
    return ""


def _data_files(manifest: bytes) -> Iterator[str]:
    """Yield the names of the data files of a version; as far as they can be read, where its bytes were overwritten.

    The manifest proper is a protobuf message behind what else the file holds, such as the transaction that made the
    version, which names files that are no part of it. Of a ``Manifest`` field 2 are the fragments, of a
    ``DataFragment`` field 2 the files, and of a ``DataFile`` field 1 is the path.
    """
    with contextlib.suppress(IndexError, ValueError):
        start = int.from_bytes(manifest[-_FOOTER_BYTES:][:8], "little")
        size = int.from_bytes(manifest[start : start + 4], "little")
        for fragment in _values(manifest[start + 4 : start + 4 + size], 2):
            for file in _values(fragment, 2):
                yield from (path.decode() for path in _values(file, 1))


def _values(message: bytes, wanted: int) -> Iterator[bytes]:
    """Yield the values of a field of a protobuf message; the field holds messages or texts.

    Raises:
        IndexError, ValueError: If it is no such message.
    """
    at = 0
    while at < len(message):
        key, at = _varint(message, at)
        match key & 7:  # the wire type
            case 0:
                _, at = _varint(message, at)
            case 1:
                at += 8
            case 2:
                size, at = _varint(message, at)
                if key >> 3 == wanted:
                    yield message[at : at + size]
                at += size
            case 5:
                at += 4
            case kind:
                raise ValueError(f"protobuf has no wire type {kind}")


def _varint(message: bytes, at: int) -> tuple[int, int]:
    value = shift = 0
    while message[at] & 0x80:
        value |= (message[at] & 0x7F) << shift
        at, shift = at + 1, shift + 7
    return value | message[at] << shift, at + 1


def _ends_with(path: Path, magic: bytes) -> bool:
    with path.open("rb") as file:
        if file.seek(0, os.SEEK_END) < len(magic):
            return False
        file.seek(-len(magic), os.SEEK_END)
        return file.read() == magic


def _readable(table: Path) -> None:
    """Read every file of a table.

    Raises:
        StoreUnavailable: If one cannot be read: for want of permission, of handles, or because the disk fails.
    """
    with guarded("read the files of a table"):
        for path in table.rglob("*"):
            if path.is_file():
                with path.open("rb") as file:
                    while file.read(2**20):
                        pass


def _sound(layout: Layout[Any], rows: Any) -> list[bool]:
    """Say of each row whether it holds what was written: a record of its own id, vectors at length one."""
    ids, records = rows.column("id").to_pylist(), rows.column("record").to_pylist()
    is_whole = np.array([_is_record(record, id_) for id_, record in zip(ids, records, strict=True)], dtype=bool)
    for name in layout.vectors:
        if name in rows.schema.names:
            column = rows.column(name)
            present = column.is_valid().to_numpy(zero_copy_only=False)
            lines = column.drop_null().flatten().to_numpy().reshape(-1, column.type.list_size)
            is_whole[present] &= np.abs(_lengths(lines) - 1) < _LENGTH_TOLERANCE
    return list(is_whole)


def _sound_rows(layout: Layout[Any], found: pa.Table, dimension: int) -> Batch[Any]:
    """Return the rows whose record is whole, without vectors that are not.

    Raises:
        ValueError: If a single row cannot be decoded, so that the caller may ask for fewer.
    """
    keep = [
        _is_record(record, id_)
        for id_, record in zip(found.column("id").to_pylist(), found.column("record").to_pylist(), strict=True)
    ]
    rows = from_arrow(layout, found.filter(keep), dimension=dimension)
    for name in layout.vectors:
        lengths = _lengths(rows.vectors[name])
        broken = ~(np.abs(lengths - 1) < _LENGTH_TOLERANCE) & (lengths != 0)
        rows.vectors[name][broken] = 0
        for at in np.flatnonzero(broken | (lengths == 0)):
            rows.models[int(at)] = ""  # one that is missing waits for its vectors
    return rows


def _joined(parts: list[Batch[Any]]) -> Batch[Any]:
    if not parts:
        return NO_ROWS
    vectors = {name: np.concatenate([part.vectors[name] for part in parts]) for name in parts[0].vectors}
    return Batch(
        [item for part in parts for item in part.items],
        [terms for part in parts for terms in part.tokens],
        vectors,
        [model for part in parts for model in part.models],
        max(part.stamp for part in parts),
    )


def _lengths(lines: Vector) -> Vector:
    with np.errstate(all="ignore"):  # noise may be any number, or none
        lengths: Vector = np.linalg.norm(lines, axis=1)
    return lengths


def _is_record(record: Any, id_: str) -> bool:
    try:
        return bool(orjson.loads(record)["id"] == id_)
    except (ValueError, TypeError, KeyError):
        return False

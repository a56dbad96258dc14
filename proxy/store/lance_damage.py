"""Detection of damaged LanceDB tables, their quarantine, and salvage of readable rows."""

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

_MAGIC, _ARROW_MAGIC = b"LANC", b"ARROW1"  # last bytes of complete files
_FOOTER_BYTES = 16  # of a manifest: offset of the message, format version, magic
_STRETCH = 1024  # rows
_MAX_TRIES = 4000  # failed reads before salvage stops
_LENGTH_TOLERANCE = 0.02  # vectors are written with norm 1


@dataclass(frozen=True, slots=True)
class SetAside:
    """A quarantined table.

    Args:
        place: Its path in the quarantine folder.
        expected: Number of rows that it had; None if unknown.
        rows: Salvaged rows; damaged vectors are missing.
    """

    place: str
    expected: int | None
    rows: Batch[Any]


class Damage:
    """Damage checks of a ``LanceStore``; methods that change a table require its user's lease."""

    def __init__(self, tables: Tables, lock: Callable[[Scope], asyncio.Lock]) -> None:
        self._tables, self._lock = tables, lock

    def tell(self, hears: Callable[[str], None]) -> None:
        """Set the callback for users whose tables could not be read or written."""
        self._tables.on_failure = hears

    async def suspects(self, *, budget_s: float) -> list[str]:
        """Return the users with a table that looks damaged.

        The files of every table are checked; within the budget, tables are also read, most recently changed first.
        """
        names, found = await in_thread("load", self._seen_outside)
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(budget_s):
                for noun, owner, _ in names:
                    if owner not in found and await self._flaw_inside(noun, owner):
                        found.add(owner)
        return sorted(found)

    async def names(self) -> set[tuple[str, str]]:
        """Return noun and user of every table."""
        return {(noun, owner) for noun, owner, _ in await in_thread("load", self._names)}

    async def flaws(self, scope: Scope) -> dict[Noun, str]:
        """Return the defects of the user's tables, by noun; reads every table in full.

        Raises:
            StoreUnavailable: If files cannot be read at all, which says nothing about their content.
        """
        found: dict[Noun, str] = {}
        for noun in NOUNS:
            path = await self._newest(noun, scope.user)
            if path is not None and await self._flaw(noun, scope.user, path):
                await in_thread("load", _readable, path)
                # Check again through a new handle: the first may have belonged to a table just replaced.
                if flaw := await self._flaw(noun, scope.user, path):
                    found[noun] = flaw
        return found

    async def _newest(self, noun: Noun, owner: str) -> Path | None:
        """Return the folder of a user's table, even if no version of it is left."""
        if (path := self._tables.path(noun, owner)) is not None:
            return path
        shard = self._tables.shard(owner)
        names = await in_thread("load", disk.table_names, shard, owner, noun)
        return shard / f"{max(names, key=disk.generation)}.lance" if names else None

    async def _flaw(self, noun: Noun, owner: str, path: Path) -> str:
        return await in_thread("load", flaw_outside, path) or await self._flaw_inside(noun, owner)

    async def set_aside(self, scope: Scope, noun: Noun) -> SetAside:
        """Salvage the readable rows of a table, then move it into the quarantine folder, where it stays."""
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
        """Return every table, and the users whose tables fail the check of their files."""
        names = self._names()
        return names, {owner for _, owner, path in names if flaw_outside(path)}

    def _names(self) -> list[tuple[Noun, str, Path]]:
        """Return every table, most recently changed first."""
        found: list[tuple[float, Noun, str, Path]] = []
        for shard in self._tables.folder.glob("[0-9a-f][0-9a-f]"):
            for name in disk.table_names(shard):
                noun, owner, _ = name.split("_")
                path = shard / f"{name}.lance"
                if noun in LAYOUTS:
                    found.append((path.stat().st_mtime, noun, owner, path))
        return [(noun, owner, path) for _, noun, owner, path in sorted(found, key=lambda each: -each[0])]

    async def _flaw_inside(self, noun: Noun, owner: str) -> str:
        """Return the defect of a table's content, "" for none; reads the whole table."""
        layout = LAYOUTS[noun]
        try:
            async with self._tables.snapshot(noun, filters.owner(owner)) as table:  # a handle that no request uses
                if table is None:
                    return "no version of it is left"
                with guarded(f"read {noun}"):
                    async for batch in await table.query().to_batches(max_batch_length=_STRETCH):
                        if not all(await in_thread("cpu", _sound, layout, batch)):
                            return "rows hold what was never written"
                    await table.query().select(["record"]).to_arrow()  # requests read through this other code path
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
    """Return the defect visible in names and last bytes of a table's files, "" for none; cheap."""
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
    except OSError:  # says nothing about the files' content
        return ""
    return ""


def _data_files(manifest: bytes) -> Iterator[str]:
    """Yield the names of a version's data files; of an overwritten manifest, as many as can be parsed.

    The ``Manifest`` protobuf message follows other content, such as the version's transaction, which names files
    that are not part of the version. Field 2 of a ``Manifest`` holds the fragments, field 2 of a ``DataFragment``
    the files, and field 1 of a ``DataFile`` the path.
    """
    with contextlib.suppress(IndexError, ValueError):
        start = int.from_bytes(manifest[-_FOOTER_BYTES:][:8], "little")
        size = int.from_bytes(manifest[start : start + 4], "little")
        for fragment in _values(manifest[start + 4 : start + 4 + size], 2):
            for file in _values(fragment, 2):
                yield from (path.decode() for path in _values(file, 1))


def _values(message: bytes, wanted: int) -> Iterator[bytes]:
    """Yield the values of a length-delimited field (messages or texts) of a protobuf message.

    Raises:
        IndexError, ValueError: If ``message`` is not a protobuf message.
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
        StoreUnavailable: If one cannot be read: no permission, no free file handles, or a disk failure.
    """
    with guarded("read the files of a table"):
        for path in table.rglob("*"):
            if path.is_file():
                with path.open("rb") as file:
                    while file.read(2**20):
                        pass


def _sound(layout: Layout[Any], rows: Any) -> list[bool]:
    """Return for each row whether it is intact: its record has the row's id, its vectors have norm 1."""
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
    """Return the rows with intact records, with damaged vectors zeroed.

    Raises:
        ValueError: If any row cannot be decoded; the caller then retries with fewer rows.
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
            rows.models[int(at)] = ""  # a row without vectors is embedded again
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
    with np.errstate(all="ignore"):  # damaged bytes may be any float, or NaN
        lengths: Vector = np.linalg.norm(lines, axis=1)
    return lengths


def _is_record(record: Any, id_: str) -> bool:
    try:
        return bool(orjson.loads(record)["id"] == id_)
    except (ValueError, TypeError, KeyError):
        return False

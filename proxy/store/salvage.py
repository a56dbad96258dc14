"""Salvage of a damaged SQLite file: readable rows go into a new file, the old file is quarantined unchanged."""

from __future__ import annotations

import contextlib
import shutil
import sqlite3
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from proxy.store.tables import leases, metadata

_SUFFIXES = ("", "-wal", "-shm")
_HEADER = 100  # bytes
_BATCH = 500
_Row = tuple[list[str], Sequence[Any]]  # names of the columns, values
_NOT_TAKEN = frozenset({leases.name})


def set_aside(path: Path) -> Path:
    """Move a database and its write-ahead log into a new quarantine folder beside it; return its new path."""
    folder = path.parent / "quarantine" / str(time.time_ns() // 1_000_000)
    folder.mkdir(mode=0o700, parents=True)
    for suffix in _SUFFIXES:
        with contextlib.suppress(FileNotFoundError):
            path.with_name(path.name + suffix).rename(folder / (path.name + suffix))
    return folder / path.name


def take_over(old: Path, new: Path) -> dict[str, int]:
    """Copy every readable row of ``old`` into ``new``, which has the current tables; return counts by table."""
    draft = old.with_name(f"copy_{old.name}")
    for suffix in _SUFFIXES[:2]:
        with contextlib.suppress(FileNotFoundError):
            shutil.copyfile(old.with_name(old.name + suffix), draft.with_name(draft.name + suffix))
    try:
        _pad(draft)
        with contextlib.closing(sqlite3.connect(new)) as to:
            rows = {
                table.name: _copied(draft, to, table.name, list(table.c.keys())) for table in metadata.sorted_tables
            }
            to.commit()
    finally:
        for suffix in _SUFFIXES:
            draft.with_name(draft.name + suffix).unlink(missing_ok=True)
    return {name: count for name, count in rows.items() if count}


def _pad(path: Path) -> None:
    """Extend a file to the size that its header states, so that SQLite reads the existing pages."""
    with path.open("r+b") as file:
        header = file.read(_HEADER)
        size, pages = int.from_bytes(header[16:18]), int.from_bytes(header[28:32])
        wanted = (65_536 if size == 1 else size) * pages
        if len(header) == _HEADER and file.seek(0, 2) < wanted < 2**36:
            file.truncate(wanted)


def _copied(draft: Path, to: sqlite3.Connection, table: str, columns: list[str]) -> int:
    if table in _NOT_TAKEN:
        return 0
    count = 0
    for descending in (False, True):  # from both ends up to the damaged part
        rows = _rows(draft, table, columns, descending=descending)
        with contextlib.suppress(sqlite3.Error, UnicodeDecodeError):
            for names, batch in _batches(rows):
                marks = ", ".join("?" * len(names))
                before = to.total_changes
                to.executemany(f"INSERT OR IGNORE INTO {table} ({', '.join(names)}) VALUES ({marks})", batch)  # noqa: S608 - our own names
                count += to.total_changes - before
    return count


def _batches(rows: Iterator[_Row]) -> Iterator[tuple[list[str], list[Sequence[Any]]]]:
    """Yield rows in batches; after a read error, yield the incomplete last batch too."""
    batch: list[Sequence[Any]] = []
    names: list[str] = []
    with contextlib.suppress(sqlite3.Error, UnicodeDecodeError):
        for names, row in rows:
            batch.append(row)
            if len(batch) == _BATCH:
                yield names, batch
                batch = []
    if batch:
        yield names, batch


def _rows(
    draft: Path, table: str, columns: list[str], *, descending: bool
) -> Iterator[tuple[list[str], Sequence[Any]]]:
    with contextlib.closing(sqlite3.connect(draft)) as connection:
        connection.execute("PRAGMA writable_schema=ON")  # lets SQLite open a damaged file
        there = {row[1] for row in connection.execute(f"PRAGMA table_info({table})")}
        names = [name for name in columns if name in there]
        if not names:
            return
        keys = [row[1] for row in connection.execute(f"PRAGMA table_info({table})") if row[5]] or ["rowid"]
        is_clustered = "WITHOUT ROWID" in str(
            connection.execute("SELECT sql FROM sqlite_master WHERE name = ?", (table,)).fetchone()
        )
        order = ", ".join(f"{key} {'DESC' if descending else 'ASC'}" for key in (keys if is_clustered else ["rowid"]))
        for row in connection.execute(f"SELECT {', '.join(names)} FROM {table} ORDER BY {order}"):  # noqa: S608 - our own names
            if not any(isinstance(value, str) and "\0" in value for value in row):  # NULs come from a cut page
                yield names, row

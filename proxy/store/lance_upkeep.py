"""Upkeep of a user's tables while nothing writes them: compact, purge, heal after a power loss."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import structlog

from proxy.store import lance_disk as disk
from proxy.store import lance_search
from proxy.store.lance_tables import Tables, guarded
from proxy.store.schema import NOUNS, Noun

_log = structlog.get_logger(__name__)

_FRAGMENTS_BEFORE_COMPACTION = 8


@dataclass(frozen=True, slots=True)
class StoreHealth:
    """Result of ``examine``: the number of tables, and the names of those with a broken newest version."""

    tables: int
    broken: tuple[str, ...]


async def purge(tables: Tables, owner: str) -> None:
    """Remove deleted and overwritten rows from the disk, including the user's quarantined tables and versions."""
    for table in disk.set_aside_tables(tables.folder, owner):
        disk.remove_table(table)
    for noun in NOUNS:
        with guarded(f"purge {noun}"):
            if (path := tables.path(noun, owner)) is None:
                continue
            disk.remove_table(path / disk.QUARANTINE)
            await tables.compact(noun, owner, at_once=True)
            if disk.has_deletions(path) or (path / "_indices").exists():
                await tables.rebuild(noun, owner)


async def maintain(tables: Tables, owner: str, *, index_above_rows: int) -> None:
    """Compact fragmented tables, and index tables with more than ``index_above_rows`` rows."""
    for noun in NOUNS:
        with guarded(f"compact {noun}"):
            path = tables.path(noun, owner)
            if path is not None and disk.count_fragments(path) >= _FRAGMENTS_BEFORE_COMPACTION:
                await tables.compact(noun, owner)
            table = await tables.open(noun, owner)
            if table is not None:
                await lance_search.index(table, noun, above_rows=index_above_rows)


async def heal(tables: Tables, owner: str) -> list[str]:
    """Quarantine newest versions cut by a power loss if there is an earlier one; return their names."""
    return [name for noun in NOUNS for name in _healed(tables, noun, owner)]


def examine(folder: Path) -> StoreHealth:
    """Check that the folder is writable, then the newest version of every user's tables."""
    probe = folder / ".probe"
    probe.write_bytes(b"")
    probe.unlink()
    tables = [shard / f"{name}.lance" for shard in folder.glob("[0-9a-f][0-9a-f]") for name in disk.table_names(shard)]
    heads = [(table, disk.head(table)) for table in tables]
    broken = [table.stem for table, head in heads if not head or not disk.is_complete(table / disk.VERSIONS / head)]
    return StoreHealth(len(tables), tuple(sorted(broken)))


def _healed(tables: Tables, noun: Noun, owner: str) -> list[str]:
    with guarded(f"heal {noun}"):
        moved: list[str] = []
        for name in disk.table_names(tables.shard(owner), owner, noun):
            tables.forget(noun, owner)
            heads = disk.set_aside_broken_heads(tables.shard(owner) / f"{name}.lance")
            moved += [f"{name}/{head}" for head in heads]
        if moved:
            _log.warning("broken table versions set aside", noun=noun, count=len(moved))
        return moved

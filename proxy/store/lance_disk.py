"""Inspection and repair of LanceDB tables by their files: versions, broken heads, leftovers."""

from __future__ import annotations

import os
import re
import shutil
import tempfile
import time
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Generic, TypeVar, cast

from proxy.store.schema import NOUNS, Noun

T = TypeVar("T")

_TABLE = re.compile(r"\A(?P<noun>[a-z]++)_(?P<owner>[0-9a-f]{32})_g(?P<generation>\d+)\.lance")
_MANIFEST = ".manifest"
_MAGIC = b"LANC"  # the last four bytes of every complete manifest
QUARANTINE = "_quarantine"  # of one table: its broken versions
SET_ASIDE = "quarantine"  # of the store: whole tables that are damaged
VERSIONS = "_versions"
_WRITTEN = ("", "data", "_transactions", VERSIONS)
ROW_FILES = "rows_"  # how the name starts that a file for rows has for a moment
_MAX_FOLDERS = 8192
_SETTLED_NS = 1_000_000_000


class Watched(Generic[T]):
    """Cached listing of a folder, read again only when the folder has changed.

    The time of a folder's last change is trusted once it lies back further than any file system's clock is coarse:
    a later change then cannot bear the same time.

    Args:
        reading: Makes a value of the names.
        absent: The value where there is no such folder.
    """

    def __init__(self, reading: Callable[[list[str]], T], absent: T) -> None:
        self._reading = reading
        self._absent = absent
        self._known: OrderedDict[str, tuple[int, T]] = OrderedDict()

    def __call__(self, folder: str) -> T:
        """Return what the names say now."""
        try:
            changed_ns = os.stat(folder).st_mtime_ns
            known = self._known.get(folder)
            if known is not None and known[0] == changed_ns:
                return known[1]
            value = self._reading(os.listdir(folder))
        except FileNotFoundError:
            self._known.pop(folder, None)
            return self._absent
        if time.time_ns() - changed_ns > _SETTLED_NS:
            self._known[folder] = (changed_ns, value)
            if len(self._known) > _MAX_FOLDERS:
                self._known.popitem(last=False)
        return value


def generation(name: str) -> int:
    """Return the number at the end of a table's name."""
    return int(name.rpartition("_g")[2])


def table_names(shard: Path, owner: str = "", noun: str = "") -> list[str]:
    """Return the tables in a shard folder, of one owner or noun where given."""
    try:
        entries = os.listdir(shard)
    except FileNotFoundError:
        return []
    return tables_among(entries, owner, noun)


def tables_among(entries: Iterable[str], owner: str = "", noun: str = "") -> list[str]:
    """Return the names of tables among those of files, of one owner or noun where given."""
    matches = [match for entry in entries if owner in entry and (match := _TABLE.fullmatch(entry))]
    return [
        match.group(0).removesuffix(".lance")
        for match in matches
        if match["owner"].startswith(owner) and match["noun"].startswith(noun)
    ]


def some_table(folder: Path) -> tuple[Noun, str] | None:
    """Return noun and owner of the first table below the folder of all shards, None where there is none."""
    for shard in sorted(folder.iterdir()):
        for name in table_names(shard) if shard.is_dir() else ():
            if (match := _TABLE.fullmatch(f"{name}.lance")) and match["noun"] in NOUNS:
                return cast("Noun", match["noun"]), match["owner"]
    return None


def head(table: Path) -> str:
    """Return the file name of the newest manifest, which changes with every commit; "" where there is none."""
    try:
        return newest_manifest(os.listdir(table / VERSIONS))
    except FileNotFoundError:
        return ""


def newest_manifest(names: Iterable[str]) -> str:
    """Return the newest manifest among names of files, "" where there is none.

    Manifests are named by the distance of their version from the largest number, so that the smallest is the newest.
    """
    return min((name for name in names if name.endswith(_MANIFEST)), default="")


def is_complete(manifest: Path) -> bool:
    """Return whether a manifest was written to its end; a power loss can leave it empty or cut."""
    with manifest.open("rb") as file:
        size = file.seek(0, os.SEEK_END)
        if size < len(_MAGIC):
            return False
        file.seek(-len(_MAGIC), os.SEEK_END)
        return file.read() == _MAGIC


def set_aside_broken_heads(table: Path) -> list[str]:
    """Move incomplete newest manifests out of the way, so that the version before them opens; return their names.

    Where no manifest is complete, all stay: such a table is set aside as a whole.
    """
    versions = table / VERSIONS
    names = sorted(name for name in os.listdir(versions) if name.endswith(_MANIFEST)) if versions.is_dir() else []
    first = next((at for at, name in enumerate(names) if is_complete(versions / name)), 0)
    for name in names[:first]:
        (table / QUARANTINE).mkdir(exist_ok=True)
        (versions / name).replace(table / QUARANTINE / name)
    if first:
        (versions / "latest_version_hint.json").unlink(missing_ok=True)
    return names[:first]


def set_aside_head(table: Path) -> None:
    """Move the newest manifest out of the way, so that the version before it is the newest."""
    (table / QUARANTINE).mkdir(exist_ok=True)
    (table / VERSIONS / head(table)).replace(table / QUARANTINE / head(table))
    (table / VERSIONS / "latest_version_hint.json").unlink(missing_ok=True)


def has_deletions(table: Path) -> bool:
    """Return whether deleted rows may still lie in the table's data files."""
    return any((table / "_deletions").glob("*"))


def count_fragments(table: Path) -> int:
    """Return how many data files there are, those of old versions included."""
    try:
        return len(os.listdir(table / "data"))
    except FileNotFoundError:
        return 0


def remove_table(table: Path) -> None:
    """Delete a table's folder with everything in it."""
    if table.exists():
        shutil.rmtree(table)


def set_aside_tables(root: Path, owner: str) -> list[Path]:
    """Return the damaged tables of an owner that were set aside."""
    return sorted((root / SET_ASIDE).glob(f"*_{owner}_g*.lance"))


def sweep(root: Path, *, older_than: float) -> int:
    """Delete temporary files and half-built tables older than ``older_than`` (a POSIX time); return how many."""
    removed = 0
    for path in _leftovers(root):
        try:
            if path.stat().st_mtime < older_than:
                shutil.rmtree(path) if path.is_dir() else path.unlink()
                removed += 1
        except FileNotFoundError:  # another process swept it
            continue
    return removed


def try_writing(table: Path, size_bytes: int) -> None:
    """Write and remove a file of so many bytes in each folder that a commit writes to.

    Raises:
        OSError: If one of them takes none.
    """
    table.parent.mkdir(parents=True, exist_ok=True)
    for folder in (table.parent, *(table / name for name in _WRITTEN)):
        if folder.is_dir():
            with tempfile.NamedTemporaryFile(dir=folder, prefix=".tmp_probe_") as file:
                file.write(bytes(size_bytes))
                file.flush()
                os.fsync(file.fileno())


def flush(table: Path, *, newer_than: float) -> None:
    """Force the table's files changed since ``newer_than`` (a POSIX time), and their folders, to the disk."""
    for folder, _, names in os.walk(table):
        fresh = [name for name in names if os.stat(os.path.join(folder, name)).st_mtime >= newer_than]
        for path in (*(os.path.join(folder, name) for name in fresh), *((folder,) if fresh else ())):
            descriptor = os.open(path, os.O_RDONLY)
            try:
                os.fsync(descriptor)
            finally:
                os.close(descriptor)


def _leftovers(root: Path) -> Iterator[Path]:
    yield from root.glob(f"{ROW_FILES}*")
    for shard in root.glob("[0-9a-f][0-9a-f]"):
        yield from shard.glob("new_*.lance")
        yield from shard.glob("*.lance/**/*.tmp*")
        yield from shard.glob("*.lance/**/.tmp*")

"""Inspection and repair of LanceDB table files: versions, broken newest manifests, leftovers."""

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
QUARANTINE = "_quarantine"  # folder in a table, for its broken versions
SET_ASIDE = "quarantine"  # folder in the store, for damaged tables
VERSIONS, DATA = "_versions", "data"
_WRITTEN = ("", DATA, "_transactions", VERSIONS)
ROW_FILES = "rows_"  # prefix of the temporary name of a row file
_MAX_FOLDERS = 8192
_SETTLED_NS = 1_000_000_000
_UNSETTLED = -1  # no folder's mtime


class Watched(Generic[T]):
    """Cached listing of a folder, read again only after the folder has changed.

    A folder's mtime is trusted once it is older than the coarsest file system's clock resolution: a later change
    then cannot have the same mtime.

    Args:
        reading: Function from the file names to the value.
        absent: Value if the folder does not exist.
        following: Function from the folder and its last known value to the current one, None if only a listing can
            tell it; asked while the mtime is too recent, as during an import, when a listing has thousands of names.
    """

    def __init__(
        self,
        reading: Callable[[list[str]], T],
        absent: T,
        following: Callable[[str, T], T | None] = lambda _folder, _known: None,
    ) -> None:
        self._reading = reading
        self._absent = absent
        self._following = following
        self._known: OrderedDict[str, tuple[int, T]] = OrderedDict()

    def __call__(self, folder: str) -> T:
        """Return the value for the folder's current listing."""
        try:
            changed_ns = os.stat(folder).st_mtime_ns
            known = self._known.get(folder)
            if known is not None and known[0] == changed_ns:
                return known[1]
            is_settled = time.time_ns() - changed_ns > _SETTLED_NS
            value = self._following(folder, known[1]) if known is not None and not is_settled else None
            if value is None:
                value = self._reading(os.listdir(folder))
        except FileNotFoundError:
            self._known.pop(folder, None)
            return self._absent
        self._known[folder] = (changed_ns if is_settled else _UNSETTLED, value)
        if len(self._known) > _MAX_FOLDERS:
            self._known.popitem(last=False)
        return value


def generation(name: str) -> int:
    """Return the number at the end of a table's name."""
    return int(name.rpartition("_g")[2])


def table_names(shard: Path, owner: str = "", noun: str = "") -> list[str]:
    """Return the tables in a shard folder, of one user or noun if given."""
    try:
        entries = os.listdir(shard)
    except FileNotFoundError:
        return []
    return tables_among(entries, owner, noun)


def tables_among(entries: Iterable[str], owner: str = "", noun: str = "") -> list[str]:
    """Return the names of tables among file names, of one user or noun if given."""
    matches = [match for entry in entries if owner in entry and (match := _TABLE.fullmatch(entry))]
    return [
        match.group(0).removesuffix(".lance")
        for match in matches
        if match["owner"].startswith(owner) and match["noun"].startswith(noun)
    ]


def some_table(folder: Path) -> tuple[Noun, str] | None:
    """Return noun and user of the first table below the folder of all shards, None if there is none."""
    for shard in sorted(folder.iterdir()):
        for name in table_names(shard) if shard.is_dir() else ():
            if (match := _TABLE.fullmatch(f"{name}.lance")) and match["noun"] in NOUNS:
                return cast("Noun", match["noun"]), match["owner"]
    return None


def head(table: Path) -> str:
    """Return the file name of the newest manifest, which changes with every commit; "" if there is none."""
    try:
        return newest_manifest(os.listdir(table / VERSIONS))
    except FileNotFoundError:
        return ""


def newest_manifest(names: Iterable[str]) -> str:
    """Return the newest manifest among file names, "" if there is none.

    A manifest's name is the largest number minus its version, so the smallest name is the newest.
    """
    return min((name for name in names if name.endswith(_MANIFEST)), default="")


def following_manifest(folder: str, known: str) -> str | None:
    """Return the newest manifest of a folder from a known one on, by the names of its successors.

    None if the known one is gone: an old version was dropped, or a broken one was set aside.
    """
    if not known or not os.path.exists(f"{folder}/{known}"):
        return None
    while os.path.exists(f"{folder}/{(later := _later(known))}"):
        known = later
    return known


def _later(manifest: str) -> str:
    return f"{int(manifest.removesuffix(_MANIFEST)) - 1:020d}{_MANIFEST}"


def is_complete(manifest: Path) -> bool:
    """Return whether a manifest was written completely; a power loss can leave it empty or cut."""
    with manifest.open("rb") as file:
        size = file.seek(0, os.SEEK_END)
        if size < len(_MAGIC):
            return False
        file.seek(-len(_MAGIC), os.SEEK_END)
        return file.read() == _MAGIC


def set_aside_broken_heads(table: Path) -> list[str]:
    """Quarantine incomplete newest manifests, so that the version before them opens; return their names.

    If no manifest is complete, all stay: such a table is quarantined as a whole.
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
    """Quarantine the newest manifest, so that the version before it becomes the newest."""
    (table / QUARANTINE).mkdir(exist_ok=True)
    (table / VERSIONS / head(table)).replace(table / QUARANTINE / head(table))
    (table / VERSIONS / "latest_version_hint.json").unlink(missing_ok=True)


def has_deletions(table: Path) -> bool:
    """Return whether the table's data files may still hold deleted rows."""
    return any((table / "_deletions").glob("*"))


def count_fragments(table: Path) -> int:
    """Return the number of data files, including those of old versions."""
    try:
        return len(os.listdir(table / "data"))
    except FileNotFoundError:
        return 0


def remove_table(table: Path) -> None:
    """Delete a table's folder with everything in it."""
    if table.exists():
        shutil.rmtree(table)


def set_aside_tables(root: Path, owner: str) -> list[Path]:
    """Return the paths of a user's quarantined tables."""
    return sorted((root / SET_ASIDE).glob(f"*_{owner}_g*.lance"))


def sweep(root: Path, *, older_than: float) -> int:
    """Delete temporary files and half-built tables older than ``older_than`` (a POSIX time); return their number."""
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
    """Write and remove a file of ``size_bytes`` in each folder that a commit writes to.

    Raises:
        OSError: If one of them cannot be written.
    """
    table.parent.mkdir(parents=True, exist_ok=True)
    for folder in (table.parent, *(table / name for name in _WRITTEN)):
        if folder.is_dir():
            with tempfile.NamedTemporaryFile(dir=folder, prefix=".tmp_probe_") as file:
                file.write(bytes(size_bytes))
                file.flush()
                os.fsync(file.fileno())


def flush(table: Path, *, newer_than: float) -> None:
    """Fsync the table's files changed since ``newer_than`` (a POSIX time), and their folders."""
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

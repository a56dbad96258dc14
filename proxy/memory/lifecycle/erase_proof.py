"""Search the files on disk for erased texts, to verify an erasure."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import orjson

from proxy.errors import StoreUnavailable
from proxy.process.child import bare_environment, command

MIN_FRAGMENT = 12  # bytes; shorter fragments are common words
MAX_FRAGMENT = 48
MAX_FRAGMENTS = 50_000  # per search; of more fragments every n-th is used
_CHUNK = 4 * 2**20
_KEY = 8  # bytes of the hash key that finds candidates for comparison
_BITS = 20
_MULTIPLIER = np.uint64(0x9E3779B97F4A7C15)  # Fibonacci hashing (Knuth, TAOCP 3, 6.4)

# Runs that JSON and plain rows store byte for byte: no quotes, escapes or control characters.
_PLAIN = re.compile(r"[^\x00-\x1f\x7f\"\\\ud800-\udfff]{6,}")
_OWN_ID = re.compile(r"[a-z]{2,8}_[0-9a-f]{24}|[0-9a-f]{32,64}")


@dataclass(slots=True)
class Searched:
    """Outcome of a search.

    Attributes:
        files, size_bytes: Files and bytes that were read.
        texts: Number of fragments searched for.
        found: Fragments that were found, with their files.
    """

    files: int = 0
    size_bytes: int = 0
    texts: int = 0
    found: dict[bytes, set[Path]] = field(default_factory=lambda: defaultdict(set))


def fragments(values: Iterable[Any]) -> set[bytes]:
    """Return the fragments to search for: a piece of every text and id in ``values`` (texts, records, JSON values).

    Single words are omitted: programs and other users' texts contain them.
    """
    found = {piece for value in values for text in _texts(value) if (piece := _fragment(text))}
    if len(found) <= MAX_FRAGMENTS:
        return found
    return set(sorted(found)[:: len(found) // MAX_FRAGMENTS + 1])


def search_apart(folder: Path, wanted: Collection[bytes]) -> Searched:
    """Search in a child process, so that this process keeps its file locks.

    POSIX drops every lock of a process on a file as soon as the process closes any descriptor of that file. SQLite's
    locks on the open database would be lost, and the next program to open and close it would delete the write-ahead
    log.

    Raises:
        StoreUnavailable: If the child fails.
    """
    job = json.dumps([str(folder), [_as_text(fragment) for fragment in wanted]]).encode()
    try:
        done = subprocess.run(  # noqa: S603 -- our own module
            command(__name__), input=job, stdout=subprocess.PIPE, env=bare_environment(), check=True
        )
    except (OSError, subprocess.CalledProcessError) as error:
        raise StoreUnavailable("The files could not be searched for what was erased. Try again.") from error
    outcome = json.loads(done.stdout)
    found = {_as_bytes(fragment): {Path(path) for path in paths} for fragment, paths in outcome.pop("found")}
    return Searched(**outcome, found=found)


def main() -> None:
    """Run ``search_apart``'s job: JSON from standard input, JSON outcome to standard output."""
    folder, wanted = json.load(sys.stdin)
    outcome = search(Path(folder), [_as_bytes(fragment) for fragment in wanted])
    found = [(_as_text(fragment), [str(path) for path in paths]) for fragment, paths in outcome.found.items()]
    counts = {"files": outcome.files, "size_bytes": outcome.size_bytes, "texts": outcome.texts}
    json.dump({**counts, "found": found}, sys.stdout)


def search(folder: Path, wanted: Collection[bytes]) -> Searched:
    """Search every file below ``folder`` for the fragments; skip a file that disappears meanwhile."""
    outcome = Searched(texts=len(wanted))
    finder = _Finder(wanted)
    for path in sorted(folder.rglob("*")):
        try:
            if path.is_symlink() or not path.is_file():
                continue
            with path.open("rb") as file:
                outcome.files += 1
                tail = b""
                while block := file.read(_CHUNK):
                    outcome.size_bytes += len(block)
                    for fragment in finder.among(tail + block):
                        outcome.found[fragment].add(path)
                    tail = (tail + block)[-MAX_FRAGMENT:]
        except OSError:
            continue
    return outcome


def _as_text(fragment: bytes) -> str:
    return fragment.decode("latin-1")


def _as_bytes(text: str) -> bytes:
    return text.encode("latin-1")


class _Finder:
    """Multi-pattern search in bytes: a table of hashes of the first eight bytes, then comparison."""

    def __init__(self, wanted: Collection[bytes]) -> None:
        self._by_key: dict[int, list[bytes]] = defaultdict(list)
        for fragment in wanted:
            self._by_key[int.from_bytes(fragment[:_KEY], "little")].append(fragment)
        self._table = np.zeros(1 << _BITS, dtype=bool)
        if self._by_key:
            self._table[_hashed(np.array(list(self._by_key), dtype=np.uint64))] = True

    def among(self, data: bytes) -> Iterator[bytes]:
        """Yield the fragments in ``data``."""
        for shift in range(_KEY if self._by_key else 0):
            count = (len(data) - shift) // _KEY
            if count <= 0:
                return
            keys = np.frombuffer(data, dtype="<u8", count=count, offset=shift)
            for at in np.flatnonzero(self._table[_hashed(keys)]).tolist():
                start = shift + at * _KEY
                for fragment in self._by_key.get(int(keys[at]), ()):
                    if data.startswith(fragment, start):
                        yield fragment


def _hashed(keys: Any) -> Any:
    return (keys * _MULTIPLIER) >> np.uint64(64 - _BITS)


def _texts(value: Any) -> Iterator[str]:
    """Yield every text in a value, without field names."""
    if isinstance(value, bytes):
        try:
            value = orjson.loads(value)
        except orjson.JSONDecodeError:
            value = value.decode("utf-8", "ignore")
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for inner in value.values():
            yield from _texts(inner)
    elif isinstance(value, list | tuple):
        for inner in value:
            yield from _texts(inner)


def _fragment(text: str) -> bytes:
    """Return the longest plain run of a text, or a Throughline id; empty if it identifies nothing."""
    if _OWN_ID.fullmatch(text):
        return text.encode()[:MAX_FRAGMENT]
    longest = max(_PLAIN.findall(text), key=len, default="").strip()
    piece = longest.encode()[:MAX_FRAGMENT]
    tells = " " in longest or not longest.isascii()
    return piece if tells and len(piece) >= MIN_FRAGMENT else b""


if __name__ == "__main__":
    main()

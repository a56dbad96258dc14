"""Compare the lock file with a copy of OSV's advisories for PyPI, offline: ``python deploy/audit.py all.zip``."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any
from zipfile import ZipFile

from lockfile import DENIED, LOCK, locked
from packaging.version import InvalidVersion, Version

Advisory = Mapping[str, Any]


def main(place: Path) -> int:
    """Print what concerns a pinned version; return 1 where anything does."""
    pinned = {one.name: one.version for one in locked(LOCK.read_text())}
    findings = [
        f"{name} {version}: {DENIED[name, version]}" for name, version in pinned.items() if (name, version) in DENIED
    ]
    count = 0
    for advisory in advisories(place):
        count += 1
        if not advisory.get("withdrawn"):
            findings += [f"{name} {version}: {told(advisory)}" for name, version in concerned(advisory, pinned)]
    print(*findings, f"{len(pinned)} packages, {count} advisories, {len(findings)} findings", sep="\n")
    return int(bool(findings))


def advisories(place: Path) -> Iterator[Advisory]:
    """Yield the advisories of a zip file or a folder, one JSON file each."""
    if place.is_dir():
        yield from (json.loads(path.read_bytes()) for path in sorted(place.rglob("*.json")))
        return
    with ZipFile(place) as archive:
        yield from (json.loads(archive.read(name)) for name in archive.namelist() if name.endswith(".json"))


def concerned(advisory: Advisory, pinned: Mapping[str, str]) -> list[tuple[str, str]]:
    """Return the pinned packages, with their versions, that an advisory affects."""
    found = []
    for affected in advisory.get("affected", ()):
        package = affected.get("package", {})
        name = re.sub(r"[-_.]+", "-", str(package.get("name", ""))).lower()
        version = pinned.get(name)
        if version is not None and package.get("ecosystem") == "PyPI" and _affects(affected, version):
            found.append((name, version))
    return list(dict.fromkeys(found))


def told(advisory: Advisory) -> str:
    """Return an advisory's name and summary."""
    names = [str(advisory.get("id", "")), *map(str, advisory.get("aliases", ()))]
    return f"{', '.join(names)} {advisory.get('summary', '')}".strip()


def _affects(affected: Mapping[str, Any], version: str) -> bool:
    if version in affected.get("versions", ()):
        return True
    ranges = [one for one in affected.get("ranges", ()) if one.get("type") == "ECOSYSTEM"]
    return any(_is_within(one.get("events", ()), Version(version)) for one in ranges)


def _is_within(events: Sequence[Mapping[str, str]], version: Version) -> bool:
    """Walk a range's events in their order: introduced, then fixed or last affected."""
    is_in = False
    for event in events:
        for kind, text in event.items():
            try:
                bound = Version(text)
            except InvalidVersion:
                continue
            if kind == "introduced" and version >= bound:
                is_in = True
            elif (kind == "fixed" and version >= bound) or (kind == "last_affected" and version > bound):
                is_in = False
    return is_in


if __name__ == "__main__":
    raise SystemExit(main(Path(sys.argv[1])))

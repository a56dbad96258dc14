"""The lock file: every package is pinned by hash, without the address of its download."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
LOCK = (ROOT / "requirements.lock").read_text()


def test_no_index_or_file_address_stands_in_it() -> None:
    assert not re.search(r"https?://|file:|--index-url|--extra-index-url|--find-links", LOCK)


def test_every_package_has_a_version_and_a_hash() -> None:
    entries = re.split(r"\n(?=[A-Za-z0-9])", LOCK.strip())
    assert len(entries) > 100
    for entry in entries:
        assert re.match(r"[\w.\[\],-]+==\S+", entry), entry[:80]
        assert "--hash=sha256:" in entry, entry[:80]


def test_every_dependency_is_locked() -> None:
    project = (ROOT / "pyproject.toml").read_text()
    block = project.split("\ndependencies = [", 1)[1].split("\n]", 1)[0]
    names = re.findall(r'^\s+"([A-Za-z0-9_.-]+)', block, re.MULTILINE)
    locked = set(re.findall(r"^([a-z0-9_.-]+)(?:\[[\w,]+\])?==", LOCK, re.MULTILINE))
    assert {name.lower().replace("_", "-") for name in names} <= locked

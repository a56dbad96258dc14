"""The packages that the lock file pins, and which of their versions must never be installed."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
LOCK = ROOT / "requirements.lock"

# Releases that were malicious, with the reason; a test keeps them out of the lock and of pyproject.toml's ranges.
DENIED = {
    ("litellm", "1.82.7"): "stole credentials (March 2026, MAL-2026-2144)",
    ("litellm", "1.82.8"): "stole credentials, also without being imported (March 2026, MAL-2026-2144)",
}


@dataclass(frozen=True, slots=True)
class Locked:
    """One pinned package; ``sha256`` are those of its files that may be installed."""

    name: str
    version: str
    sha256: tuple[str, ...]


def locked(text: str) -> list[Locked]:
    """Return the packages of a lock file's text, in order."""
    found = []
    for entry in re.split(r"\n(?=[A-Za-z0-9])", text.strip()):
        head = re.match(r"([A-Za-z0-9._-]+)(?:\[[^\]]*\])?==([^\s;\\]+)", entry)
        if head is not None:
            name = re.sub(r"[-_.]+", "-", head[1]).lower()
            found.append(Locked(name, head[2], tuple(re.findall(r"--hash=sha256:([0-9a-f]{64})", entry))))
    return found

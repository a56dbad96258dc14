"""Ways to damage a file."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path


def halve(path: Path) -> None:
    data = path.read_bytes()
    path.write_bytes(data[: len(data) // 2])


def fill_with_noise(path: Path) -> None:
    path.write_bytes(random.Random(7).randbytes(max(path.stat().st_size, 32)))


def overwrite_middle(path: Path) -> None:
    data, noise = path.read_bytes(), random.Random(7)
    quarter = len(data) // 4
    path.write_bytes(data[:quarter] + noise.randbytes(len(data) - 2 * quarter) + data[-quarter:] if quarter else b"?")


def empty(path: Path) -> None:
    path.write_bytes(b"")


WAYS: dict[str, Callable[[Path], None]] = {
    "half": halve,
    "noise": fill_with_noise,
    "middle": overwrite_middle,
    "empty": empty,
    "gone": Path.unlink,
}

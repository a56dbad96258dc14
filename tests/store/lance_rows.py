"""Rows and a store for the tests of LanceDB."""

from __future__ import annotations

from collections.abc import AsyncIterator
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import pytest

from proxy.store.lance import LanceStore
from proxy.types import Episode, Memory, Scope

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)

ANNE, BOB = Scope("0" * 32, "a" * 32), Scope("0" * 32, "b" * 32)
DIMENSION = 8


@pytest.fixture
async def store(tmp_path: Path) -> AsyncIterator[LanceStore]:
    opened = await LanceStore.open(tmp_path / "lance", dimension=DIMENSION)
    yield opened
    opened.close()


def fact(number: int, text: str = "likes tea", **fields) -> Memory:
    return Memory(f"mem_{number:024x}", "fact", text, NOW, NOW, NOW, **fields)


def turn(number: int, session: str = "ses_1", text: str = "hello", **fields) -> Episode:
    return Episode(f"{session}-{number}", session, f"turn-{number}", number, "user", text, NOW, **fields)


def vector(seed: int) -> np.ndarray:
    line = np.random.default_rng(seed).standard_normal(DIMENSION).astype(np.float32)
    return line / np.linalg.norm(line)

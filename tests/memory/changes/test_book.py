"""Vectors of stored turns."""

from __future__ import annotations

from pathlib import Path

import pytest

from proxy.memory.index.by_words import ByWords
from proxy.services.opening import open_services
from proxy.settings.load import load_settings
from tests.memory.rows import conversation
from tests.store.sql_rows import make_scope

pytestmark = pytest.mark.anyio

ANNA = make_scope("anna")
TURNS = ("I keep bees.", "How many hives?", "Four, behind the barn.", "That is a lot.")


@pytest.mark.parametrize("at_once", [True, False])
async def test_a_windows_vector_comes_from_its_turns(tmp_path: Path, at_once: bool) -> None:
    lasting = await open_services(load_settings(flags={"server": {"data_dir": tmp_path}}))
    services = lasting.ephemeral
    assert services is not None
    rows = conversation("ses", *TURNS)
    for part in [rows] if at_once else [rows[:2], rows[2:]]:
        await services.book.keep(ANNA, part)
    shelf = await services.index.turns(ANNA, ByWords("bees"))
    lines = [line for row in rows if (line := shelf.line(row.id)) is not None]
    first, second, third, last = shelf.vectors(lines)
    windows = [first, 2 * first + second, first + 2 * second + third, second + 2 * third + last]
    mask = shelf.seen_by(ANNA)
    cosines = [shelf.dense(window, mask, "trail_vector")[line] for line, window in zip(lines, windows, strict=True)]
    assert cosines == pytest.approx([1.0] * 4, abs=0.001)
    await lasting.close()

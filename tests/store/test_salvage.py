"""A damaged SQLite file: the readable rows are copied, and nothing else."""

from __future__ import annotations

import asyncio
import sqlite3
from pathlib import Path

import pytest

from proxy.store.engine import check_file
from proxy.store.journal import Journal
from proxy.store.salvage import set_aside, take_over
from proxy.store.sql import Database
from tests.damaging import WAYS
from tests.store.sql_rows import make_record, make_scope

pytestmark = pytest.mark.anyio

TURNS = 200
PAGE = 4096


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> bytes:

    path = tmp_path_factory.mktemp("written") / "sql.db"

    async def fill() -> None:
        db = await Database.open(f"sqlite:///{path}")
        journal, scope = Journal(db), make_scope("anna")
        for number in range(TURNS):
            await journal.record(scope, make_record(scope, str(number)))
        await db.close()

    asyncio.run(fill())
    return path.read_bytes()


async def taken_over(path: Path) -> set[str]:
    old = set_aside(path)
    db = await Database.open(f"sqlite:///{path}")
    await db.close()
    take_over(old, path)
    assert [one.name for one in old.parent.iterdir() if one.name.startswith("copy_")] == []
    assert check_file(path, None) == []
    connection = sqlite3.connect(path)
    turns = {row[0] for row in connection.execute("SELECT turn FROM journal")}
    connection.close()
    return turns


async def test_a_whole_file_is_taken_over_whole(written: bytes, tmp_path: Path) -> None:
    (tmp_path / "sql.db").write_bytes(written)
    assert await taken_over(tmp_path / "sql.db") == {f"turn_{number}" for number in range(TURNS)}


@pytest.mark.parametrize("way", [way for way in WAYS if way != "gone"])
async def test_nothing_is_made_up(written: bytes, tmp_path: Path, way: str) -> None:
    path = tmp_path / "sql.db"
    path.write_bytes(written)
    WAYS[way](path)
    assert (check_file(path, None) == []) == (way == "empty")
    assert await taken_over(path) <= {f"turn_{number}" for number in range(TURNS)}


@pytest.mark.parametrize("first", [45, 60, 90])
async def test_broken_pages_cost_what_stood_in_them(written: bytes, tmp_path: Path, first: int) -> None:
    broken = written[: first * PAGE] + b"\x99" * PAGE + written[(first + 1) * PAGE :]
    (tmp_path / "sql.db").write_bytes(broken)
    assert len(await taken_over(tmp_path / "sql.db")) > TURNS // 2


async def test_the_first_half_is_taken_over(written: bytes, tmp_path: Path) -> None:
    (tmp_path / "sql.db").write_bytes(written[: len(written) // 2])
    assert len(await taken_over(tmp_path / "sql.db")) > TURNS // 5

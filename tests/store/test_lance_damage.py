"""Damaged tables: each kind of damage is found, intact rows are read, and no row appears that was never written."""

from __future__ import annotations

import asyncio
import shutil
import tempfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from proxy.store import lance_disk as disk
from proxy.store.lance import LanceStore
from proxy.store.lance_damage import flaw_outside
from tests.damaging import WAYS
from tests.store.lance_rows import ANNE, BOB, DIMENSION, fact, store, vector

__all__ = ["store"]

pytestmark = pytest.mark.anyio

FACTS = [fact(number, f"likes tea number {number}") for number in range(6)]
FILES = {
    "every data file": "data/*",
    "every version": "_versions/*.manifest",
    "every list of deleted rows": "_deletions/*",
}


async def written(store: LanceStore) -> None:
    for memory in FACTS:  # one data file each
        await store.put_memories(ANNE, [memory], {memory.id: vector(int(memory.id[4:], 16))}, "m")
    await store.put_memories(BOB, [fact(50)], {}, "m")


def table_of(folder: Path) -> Path:
    (table,) = (folder / "lance" / "aa").glob("memories_*.lance")
    return table


async def reopened(folder: Path) -> LanceStore:
    return await LanceStore.open(folder / "lance", dimension=DIMENSION)


async def test_whole_tables_have_no_flaw(store: LanceStore, tmp_path: Path) -> None:
    await written(store)
    await store.remove_memories(ANNE, [FACTS[0].id])
    await store.maintain(ANNE)
    fresh = await reopened(tmp_path)
    assert flaw_outside(table_of(tmp_path)) == ""
    assert await fresh.damage.suspects(budget_s=60) == []
    assert await fresh.damage.flaws(ANNE) == {}


@pytest.mark.parametrize("way", WAYS)
async def test_purged_table_has_no_flaw_until_damaged(store: LanceStore, tmp_path: Path, way: str) -> None:
    """The version after a purge names the old files in its transaction."""
    await written(store)
    await store.remove_memories(ANNE, [FACTS[0].id])
    await store.purge(ANNE)
    table = table_of(tmp_path)
    assert flaw_outside(table) == ""
    assert await (await reopened(tmp_path)).damage.flaws(ANNE) == {}
    for file in list((table / "data").iterdir()):  # files of the previous version may still exist
        WAYS[way](file)
    assert (flaw_outside(table) == "") == (way == "middle")
    assert list(await (await reopened(tmp_path)).damage.flaws(ANNE)) == ["memories"]


async def test_table_with_search_indexes_has_no_flaw(tmp_path: Path) -> None:
    store = await LanceStore.open(tmp_path / "lance", dimension=DIMENSION, index_above_rows=300)
    facts = [fact(number, f"likes tea number {number}") for number in range(400)]
    await store.put_memories(ANNE, facts, {one.id: vector(at) for at, one in enumerate(facts)}, "m")
    await store.maintain(ANNE)
    store.close()
    assert list(table_of(tmp_path).glob("_indices/*/part_*.lance"))  # the newest version names them beside the data
    assert flaw_outside(table_of(tmp_path)) == ""
    fresh = await reopened(tmp_path)
    assert await fresh.damage.flaws(ANNE) == {}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("files", FILES)
async def test_damage_is_found_and_the_table_set_aside(store: LanceStore, tmp_path: Path, files: str, way: str) -> None:
    await written(store)
    if files == "every list of deleted rows":
        await store.put_memories(ANNE, [fact(7), fact(8)], {}, "m")
        await store.remove_memories(ANNE, [fact(7).id])
    table = table_of(tmp_path)
    before = {path.name for path in table.rglob("*") if path.is_file()}
    for path in list(table.glob(FILES[files])):
        WAYS[way](path)
    left = {path.name for path in table.rglob("*") if path.is_file()}
    fresh = await reopened(tmp_path)
    assert await fresh.damage.suspects(budget_s=60) == [ANNE.user]
    assert list(await fresh.damage.flaws(ANNE)) == ["memories"]
    aside = await fresh.damage.set_aside(ANNE, "memories")
    assert {row.id for row in aside.rows.items} <= {memory.id for memory in FACTS}
    assert aside.rows.items == [] or files == "every list of deleted rows" or way == "middle"
    assert {path.name for path in Path(aside.place).rglob("*") if path.is_file()} >= left - {"latest_version_hint.json"}
    assert before >= left
    assert await fresh.memories(ANNE) == []
    await fresh.put_memories(ANNE, FACTS, {}, "m")
    assert await fresh.damage.flaws(ANNE) == {}
    assert len(await fresh.memories(ANNE)) == len(FACTS)
    assert len(await fresh.memories(BOB)) == 1


@pytest.mark.parametrize("way", WAYS)
async def test_rows_of_undamaged_files_keep_their_vectors(store: LanceStore, tmp_path: Path, way: str) -> None:
    await written(store)
    WAYS[way](min((table_of(tmp_path) / "data").iterdir()))
    fresh = await reopened(tmp_path)
    assert list(await fresh.damage.flaws(ANNE)) == ["memories"]
    aside = await fresh.damage.set_aside(ANNE, "memories")
    assert aside.expected == len(FACTS)
    assert len(aside.rows.items) >= len(FACTS) - 1
    for at, row in enumerate(aside.rows.items):
        found = aside.rows.vectors["vector"][at]
        assert not found.any() or np.allclose(found, vector(int(row.id[4:], 16)), atol=0.02)


async def test_broken_newest_version_leaves_the_rows_before(store: LanceStore, tmp_path: Path) -> None:
    await written(store)
    table = table_of(tmp_path)
    WAYS["middle"](table / disk.VERSIONS / disk.head(table))
    aside = await (await reopened(tmp_path)).damage.set_aside(ANNE, "memories")
    assert len(aside.rows.items) == len(FACTS) - 1
    assert aside.expected is None


async def test_set_aside_rows_go_with_the_owners_deletion(store: LanceStore, tmp_path: Path) -> None:
    for leave in (store.purge, store.drop_owner):
        await written(store)
        await store.damage.set_aside(ANNE, "memories")
        assert list((tmp_path / "lance" / disk.SET_ASIDE).iterdir())
        await leave(ANNE)
        assert list((tmp_path / "lance" / disk.SET_ASIDE).iterdir()) == []
    assert len(await store.memories(BOB)) == 1


@pytest.fixture(scope="module")
def seeded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("seeded")

    async def fill() -> None:
        opened = await reopened(folder)
        await written(opened)
        opened.close()

    asyncio.run(fill())
    return folder


@settings(max_examples=25, deadline=None)
@example(which=15, at=0.98828125, noise=b"\t")
@given(which=st.integers(0, 10_000), at=st.floats(0, 1), noise=st.binary(min_size=1, max_size=64))
def test_overwritten_bytes_never_make_a_new_row(seeded: Path, which: int, at: float, noise: bytes) -> None:
    async def damage_and_read(folder: Path) -> None:
        files = sorted(path for path in table_of(folder).rglob("*") if path.is_file())
        path = files[which % len(files)]
        data = bytearray(path.read_bytes())
        start = int(at * max(0, len(data) - len(noise)))
        data[start : start + len(noise)] = noise
        path.write_bytes(data)
        fresh = await reopened(folder)
        try:
            if await fresh.damage.flaws(ANNE):
                aside = await fresh.damage.set_aside(ANNE, "memories")
                assert {row.id for row in aside.rows.items} <= {memory.id for memory in FACTS}
                assert await fresh.memories(ANNE) == []
            else:
                assert {row.id for row in await fresh.memories(ANNE)} <= {memory.id for memory in FACTS}
        finally:
            fresh.close()

    with tempfile.TemporaryDirectory() as folder:
        shutil.copytree(seeded, folder, dirs_exist_ok=True)
        asyncio.run(damage_and_read(Path(folder)))

"""Files that stay on disk and files that are deleted, and the effect of a broken disk."""

from __future__ import annotations

import os
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from proxy.errors import StoreUnavailable
from proxy.store import lance_disk as disk
from proxy.store.lance import LanceStore
from tests.store.lance_rows import ANNE, BOB, DIMENSION, fact, store, turn, vector

__all__ = ["store"]

pytestmark = pytest.mark.anyio


def bytes_of(folder: Path) -> bytes:
    return b"".join(path.read_bytes() for path in folder.rglob("*") if path.is_file())


async def test_purged_text_leaves_the_disk(store, tmp_path):
    rows = [fact(number, f"harmless {number}") for number in range(40)]
    await store.put_memories(ANNE, [*rows, fact(99, "xylophone-secret"), fact(98, "quagga-old")], {}, "m")
    await store.put_memories(ANNE, [fact(98, "replaced")], {}, "m")
    await store.remove_memories(ANNE, [fact(99).id])
    assert b"xylophone-secret" in bytes_of(tmp_path)
    await store.purge(ANNE)
    left = bytes_of(tmp_path)
    assert b"xylophone" not in left
    assert b"quagga" not in left
    assert len(await store.memories(ANNE)) == 41


async def test_nothing_of_a_dropped_owner_stays_on_disk(store, tmp_path):
    await store.put_memories(ANNE, [fact(1, "xylophone")], {}, "m")
    await store.put_episodes(ANNE, [turn(1)], {}, "m")
    await store.put_memories(BOB, [fact(1)], {}, "m")
    await store.drop_owner(ANNE)
    assert not [path for path in tmp_path.rglob("*") if ANNE.user in path.name]
    assert b"xylophone" not in bytes_of(tmp_path)
    assert len(await store.memories(BOB)) == 1


@pytest.mark.parametrize("content", [b"", b"cut"])
async def test_a_broken_newest_version_is_set_aside(store, tmp_path, content):
    await store.put_memories(ANNE, [fact(1)], {}, "m")
    await store.put_memories(ANNE, [fact(2)], {}, "m")
    [folder] = (tmp_path / "lance" / "aa").glob("memories_*.lance")
    (folder / "_versions" / disk.head(folder)).write_bytes(content)
    fresh = await LanceStore.open(tmp_path / "lance", dimension=DIMENSION)
    assert (await fresh.verify()).broken == (folder.stem,)
    with pytest.raises(StoreUnavailable):
        await fresh.memories(ANNE)
    assert len(await fresh.heal(ANNE)) == 1
    assert [memory.id for memory in await fresh.memories(ANNE)] == [fact(1).id]
    await fresh.put_memories(ANNE, [fact(2)], {}, "m")
    assert (await fresh.counts(ANNE))["memories"] == 2
    assert (await fresh.verify()).broken == ()


async def test_new_dimension_rebuilds_table_with_unembedded(store, tmp_path):
    await store.put_memories(ANNE, [fact(1)], {fact(1).id: vector(1)}, "m")
    wider = await LanceStore.open(tmp_path / "lance", dimension=DIMENSION * 2)
    assert not (await wider.load(ANNE, "memories")).vectors["vector"].any()
    await wider.put_memories(ANNE, [fact(2)], {fact(2).id: np.ones(DIMENSION * 2, dtype=np.float32)}, "m2")
    assert [row.id for row in await wider.unembedded(ANNE, "memories", "m2")] == [fact(1).id]
    assert len(list((tmp_path / "lance" / "aa").glob("memories_*"))) == 1


async def test_leftovers_of_an_interrupted_rebuild_are_swept(store, tmp_path):
    await store.put_memories(ANNE, [fact(1)], {}, "m")
    half = tmp_path / "lance" / "aa" / f"new_memories_{ANNE.user}_g9.lance"
    half.mkdir()
    (half / "x").write_bytes(b"x")
    assert disk.sweep(tmp_path / "lance", older_than=half.stat().st_mtime + 1) == 1
    assert not half.exists()
    assert len(await store.memories(ANNE)) == 1


async def test_start_finds_some_table_to_read(store, tmp_path):
    folder = tmp_path / "lance"
    assert disk.some_table(folder) is None
    (folder / "aa").mkdir()
    (folder / "notes.txt").touch()
    assert disk.some_table(folder) is None
    await store.put_episodes(BOB, [turn(1)], {}, "m")
    assert disk.some_table(folder) == ("episodes", BOB.user)
    fresh = await LanceStore.open(folder, dimension=DIMENSION)
    assert len(await fresh.episodes(BOB)) == 1


@given(
    st.lists(st.tuples(st.sampled_from(["write", "drop the oldest", "set the newest aside", "look"]), st.booleans()))
)
def test_head_by_successor_equals_that_of_a_listing(steps):
    """While versions are written, old ones are dropped and broken ones are set aside."""
    heads = disk.Watched(disk.newest_manifest, "", disk.following_manifest)
    with TemporaryDirectory() as folder:
        for step, looks in steps:
            names = sorted(os.listdir(folder))
            if step == "write":
                newest = int(names[0].removesuffix(".manifest")) if names else 2**64 - 1
                Path(folder, f"{newest - 1:020d}.manifest").touch()
            elif step == "drop the oldest" and len(names) > 1:
                Path(folder, names[-1]).unlink()
            elif step == "set the newest aside" and len(names) > 1:
                Path(folder, names[0]).unlink()
            if looks:
                assert heads(folder) == disk.newest_manifest(os.listdir(folder))

"""The sketch of a large table finds the rows that a search of all rows finds."""

from __future__ import annotations

import asyncio
import errno
import os
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from proxy.errors import StoreUnavailable
from proxy.memory.index.sketch import Codes, Sketch
from proxy.memory.index.sketches import Sketches
from proxy.store.lance import LanceStore
from proxy.store.lance_search import best
from proxy.store.row_file import RowFile
from proxy.store.schema import MEMORIES, Skimmed, to_arrow
from proxy.text.lexical import content
from proxy.types import Scope
from tests.memory.rows import AGENT, ANNE, BOB, DIMENSION, MODEL, OTHER_AGENT, bag, conversation, fact, turn_vectors

pytestmark = pytest.mark.anyio


def units(seed: int, count: int, dimension: int = 384) -> np.ndarray:
    lines = np.random.default_rng(seed).standard_normal((count, dimension)).astype(np.float32)
    return lines / np.linalg.norm(lines, axis=1, keepdims=True)


def near(lines: np.ndarray, seed: int, noise: float) -> np.ndarray:
    mixed = lines + noise * units(seed, *lines.shape)
    return mixed / np.linalg.norm(mixed, axis=1, keepdims=True)


def codes(vectors: np.ndarray, *cuts: int) -> Codes:
    made = Codes(vectors.shape[1])
    for some in np.split(vectors, cuts):
        made.extend(some)
    return made


def rows(first: int, *texts: str, agent: str = "", model: str = MODEL) -> Skimmed:
    facts = [replace(fact(first + at, text), id=text.split()[0]) for at, text in enumerate(texts)]
    records = to_arrow(MEMORIES, facts, {"vector": [None] * len(facts)}, [""] * len(facts), dimension=1, stamp=1)
    return Skimmed(
        [row.id for row in facts],
        [agent] * len(texts),
        records.column("record").to_pylist(),
        [text.split() for text in texts],
        {"vector": np.array([bag(text) for text in texts], dtype=np.float32)},
        [model] * len(texts),
        first + 1,
        [],
    )


def sketch_of(folder: Path, *batches: Skimmed) -> Sketch:
    sketch = Sketch(RowFile(folder, MEMORIES, DIMENSION), MODEL)
    for some in batches:
        sketch.put(some)
    return sketch


def test_nearest_rows_are_among_the_returned():
    topics = units(1, 200)
    vectors = near(np.repeat(topics, 100, axis=0), 2, 0.7)
    found, everything = codes(vectors), np.ones(len(vectors), dtype=bool)
    shares = []
    for query in near(topics[:40], 3, 0.5):
        nearest = set(np.argsort(-(vectors @ query))[:10].tolist())
        shares.append(len(nearest & found.nearest(query, everything, 60).keys()) / 10)
    assert np.mean(shares) > 0.9


def test_the_cosines_are_about_right():
    topics = units(4, 50)
    found = codes(near(topics, 5, 0.6))
    exact = (near(topics, 5, 0.6) @ topics[7]).tolist()
    for line, cosine in found.nearest(topics[7], np.ones(50, dtype=bool), 5).items():
        assert cosine == pytest.approx(exact[line], abs=0.12)


@given(st.integers(0, 40), st.integers(0, 40), st.integers(0, 2**32 - 1))
def test_how_vectors_arrive_makes_no_difference(cut, other, seed):
    vectors = units(seed, 40, 100)  # 100 dimensions do not fill whole words
    whole, parts = codes(vectors), codes(vectors, *sorted((cut, other)))
    mask = np.random.default_rng(seed).random(40) < 0.7
    assert whole.nearest(vectors[3], mask, 9) == parts.nearest(vectors[3], mask, 9)


def test_masked_or_unembedded_rows_are_not_near():
    vectors = np.repeat(units(6, 1), 30, axis=0)
    vectors[5] = 0
    mask = np.ones(30, dtype=bool)
    mask[7] = False
    found = codes(vectors).nearest(vectors[0], mask, 30)
    assert set(found) == set(range(30)) - {5, 7}


def test_many_that_are_all_alike_are_still_few():
    assert len(codes(np.repeat(units(7, 1), 50_000, axis=0)).nearest(units(7, 1)[0], np.ones(50_000, bool), 60)) == 60


def found(sketch: Sketch, scope: Scope, terms: list[str], vector: np.ndarray | None = None) -> list[str]:
    return [row.text for row in sketch.find(scope, terms, vector, limit=9).rows.items]


def test_only_a_rows_last_version_is_found(tmp_path):
    sketch = sketch_of(tmp_path, rows(0, "a tea", "b milk"), rows(2, "a coffee"))
    assert len(sketch) == 2
    assert found(sketch, ANNE, ["tea"]) == []
    assert found(sketch, ANNE, ["coffee"]) == ["a coffee"]
    assert sketch.find(ANNE, ["coffee"], None, limit=9).words.keys() == {"a"}
    assert sketch.stamp == 3


def test_other_agents_rows_are_not_found(tmp_path):
    sketch = sketch_of(tmp_path, rows(0, "a tea"), rows(1, "b tea", agent=AGENT), rows(2, "c tea", agent=OTHER_AGENT))
    seen = {
        agent: found(sketch, Scope(ANNE.tenant, ANNE.user, agent), ["tea"], bag("tea"))
        for agent in ("", AGENT, OTHER_AGENT)
    }
    assert seen == {"": ["a tea"], AGENT: ["a tea", "b tea"], OTHER_AGENT: ["a tea", "c tea"]}


def test_vectors_of_another_model_do_not_count(tmp_path):
    sketch = sketch_of(tmp_path, rows(0, "a tea", model="other"))
    assert found(sketch, ANNE, [], bag("tea")) == []
    assert sketch.find(ANNE, ["tea"], None, limit=9).rows.models == [""]


def test_what_could_not_be_written_changes_nothing(tmp_path, monkeypatch):
    sketch = sketch_of(tmp_path, rows(0, "a tea"))
    with monkeypatch.context() as full:
        full.setattr(os, "pwrite", _disk_is_full)
        with pytest.raises(StoreUnavailable):
            sketch.put(rows(1, "a coffee", "b milk"))
    sketch.put(rows(3, "c tea"))
    assert found(sketch, ANNE, ["tea", "coffee"]) == ["a tea", "c tea"]


def test_the_rows_have_no_name_on_the_disk(tmp_path):
    sketch = sketch_of(tmp_path, rows(0, "a tea"))
    assert list(tmp_path.iterdir()) == []
    assert found(sketch, ANNE, ["tea"]) == ["a tea"]


def _disk_is_full(*_: object) -> int:
    raise OSError(errno.ENOSPC, "No space left on device")


@pytest.fixture
async def store(tmp_path) -> LanceStore:
    return await LanceStore.open(tmp_path / "lance", dimension=DIMENSION)


@pytest.fixture
async def sketches(store) -> Sketches:
    facts = [fact(number, f"topic{number % 40} number{number}") for number in range(400)]
    await store.put_memories(ANNE, facts, {row.id: bag(row.text) for row in facts}, MODEL)
    return Sketches(store, model=MODEL, max_bytes=2**20, after_s=0)


async def drawn(sketches: Sketches, scope: Scope = ANNE) -> None:
    await sketches.current(scope, "memories")
    await sketches.drawn()
    assert await sketches.current(scope, "memories") is not None


async def texts(sketches: Sketches, query: str, limit: int = 60) -> list[str]:
    found = await sketches.candidates(ANNE, "memories", content(query), bag(query), limit=limit)
    return [row.text for row in found.rows.items]


async def test_sketch_finds_what_the_store_finds(sketches):
    """Until the sketch is built, the store searches."""
    before = await texts(sketches, "topic7 number87", 1)
    await drawn(sketches)
    assert before == await texts(sketches, "topic7 number87", 1) == ["topic7 number87"]
    assert {f"topic7 number{number}" for number in range(7, 400, 40)} <= set(await texts(sketches, "topic7"))
    assert 0 < sketches.size_bytes < 2**20


async def test_new_rows_are_found_and_replaced_ones_not(store, sketches):
    await drawn(sketches)
    await store.put_memories(ANNE, [fact(87, "moved elsewhere")], {}, MODEL)
    assert "moved elsewhere" in await texts(sketches, "elsewhere")
    assert "topic7 number87" not in await texts(sketches, "topic7 number87")


async def test_on_a_full_disk_the_store_searches(store, sketches, monkeypatch):
    await drawn(sketches)
    await store.put_memories(ANNE, [fact(87, "moved elsewhere")], {}, MODEL)
    monkeypatch.setattr(os, "pwrite", _disk_is_full)
    assert "moved elsewhere" in await texts(sketches, "elsewhere")
    assert await sketches.current(ANNE, "memories") is None


async def test_what_was_deleted_is_not_found(store, sketches):
    await drawn(sketches)
    await store.remove_memories(ANNE, [fact(87, "").id])
    assert "topic7 number87" not in await texts(sketches, "topic7 number87")
    assert "topic7 number47" in await texts(sketches, "topic7 number47")


async def test_copies_of_what_was_deleted_do_not_stay(store, sketches):
    await drawn(sketches)
    await store.put_memories(ANNE, [fact(87, "moved elsewhere")], {}, MODEL)
    await sketches.refresh()
    assert sketches.size_bytes > 0
    await store.remove_memories(ANNE, [fact(87, "").id])
    await sketches.refresh()
    assert sketches.size_bytes == 0


async def test_rows_that_compaction_moved_are_found(store, sketches):
    await drawn(sketches)
    for number in range(400, 412):
        await store.put_memories(ANNE, [fact(number, f"late{number}")], {}, MODEL)
    await store.maintain(ANNE)
    assert await texts(sketches, "late405", 1) == ["late405"]
    assert await texts(sketches, "topic7 number87", 1) == ["topic7 number87"]


async def test_marked_rows_are_kept_up_to_date(store, sketches):
    await store.put_memories(ANNE, [fact(1, "ended", status="closed"), fact(2, "pinned", pinned=True)], {}, MODEL)
    await drawn(sketches)
    assert {row.text for row in await sketches.marked(ANNE)} == {"ended", "pinned"}
    await store.put_memories(ANNE, [fact(2, "no longer"), fact(3, "doubtful", status="review")], {}, MODEL)
    assert {row.text for row in await sketches.marked(ANNE)} == {"ended", "doubtful"}
    assert await sketches.marked(BOB) == []


async def test_marked_rows_are_read_once_for_concurrent_requests(store, sketches):
    await store.put_memories(ANNE, [fact(1, "ended", status="closed")], {}, MODEL)
    sketches.after_s = 3600
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0):
            await sketches.marked(ANNE)
    assert [
        [row.text for row in rows] for rows in await asyncio.gather(sketches.marked(ANNE), sketches.marked(ANNE))
    ] == [
        ["ended"],
        ["ended"],
    ]
    await store.put_memories(ANNE, [fact(1, "holds")], {}, MODEL)
    assert await sketches.marked(ANNE) == []
    sketches.forget(ANNE)


async def test_new_ids_are_known_to_be_new(store, sketches):
    assert await sketches.lacks(ANNE, "memories", [fact(9999, "").id]) is None  # unknown until the sketch is built
    await drawn(sketches)
    assert await sketches.lacks(ANNE, "memories", [fact(9999, "").id]) == store.revision(ANNE, "memories")
    assert await sketches.lacks(ANNE, "memories", [fact(9999, "").id, fact(7, "").id]) is None


async def test_turns_come_with_their_neighbours(store):
    turns = [turn for number in range(50) for turn in conversation(f"s{number}", f"topic{number}", "answer", "thanks")]
    await store.put_episodes(ANNE, turns, turn_vectors(turns), MODEL)
    sketches = Sketches(store, model=MODEL, max_bytes=2**20, after_s=0)
    await sketches.current(ANNE, "episodes")
    await sketches.drawn()
    found = await sketches.candidates(ANNE, "episodes", ["topic33"], None, limit=1)
    assert {"s33-0", "s33-1"} <= {row.id for row in found.rows.items}


async def test_excessive_table_is_left_to_the_store(sketches):
    small = Sketches(sketches.store, model=MODEL, max_bytes=1000, after_s=0)
    await small.current(ANNE, "memories")
    await small.drawn()
    assert await small.current(ANNE, "memories") is None
    assert await texts(small, "topic7 number87", 1) == ["topic7 number87"]


async def test_forgetting_an_owner_frees_its_sketches(sketches):
    await drawn(sketches)
    sketches.forget(ANNE)
    assert sketches.size_bytes == 0


def test_the_best_are_best_by_all_lists_together():
    assert best({"words": {1: 3.0, 2: 1.0}, "vector": {2: 0.9, 3: 0.1}}, 2) == [1, 2]

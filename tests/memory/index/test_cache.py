from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from proxy.memory.index.cache import IndexCache
from proxy.memory.recall.query import Query
from proxy.store.lance import LanceStore
from proxy.store.lance_search import ROWS_BEFORE_INDEX
from proxy.store.ram import RamStore
from proxy.text.lexical import weights
from tests.memory.rows import (
    ANNE,
    BOB,
    DIMENSION,
    MODEL,
    NOW,
    bag,
    conversation,
    fact,
    fact_vectors,
    turn_vectors,
)

pytestmark = pytest.mark.anyio
ANY = Query("tea", "", None, NOW)


@pytest.fixture
async def store(tmp_path: Path) -> AsyncIterator[LanceStore]:
    opened = await LanceStore.open(tmp_path / "lance", dimension=DIMENSION)
    yield opened
    opened.close()


@pytest.fixture
def cache(store: LanceStore) -> IndexCache:
    return IndexCache(store, model=MODEL)


async def put(store, scope, *rows):
    await store.put_memories(scope, rows, fact_vectors(rows), MODEL)


async def texts(cache, scope=ANNE):
    shelf = await cache.facts(scope, ANY)
    return {shelf.items[shelf.line(key)].text for key in shelf.ids}


async def test_a_write_is_seen_by_the_next_search(store, cache):
    assert await texts(cache) == set()
    await put(store, ANNE, fact(1, "tea"))
    assert await texts(cache) == {"tea"}
    await put(store, ANNE, fact(1, "green tea"), fact(2, "milk"))
    assert await texts(cache) == {"green tea", "milk"}


async def test_cached_rows_equal_the_stores_rows(store, cache, tmp_path):
    other = await LanceStore.open(tmp_path / "lance", dimension=DIMENSION)
    await put(store, ANNE, fact(1, "tea"))
    await cache.prepare(ANNE)
    moments = [NOW, NOW.replace(microsecond=123_456)]
    for number, moment in enumerate(moments, 2):
        rows = [fact(1, f"tea {number}", at=moment), fact(number, "milk", at=moment)]
        new_as_of = await cache.lacks(ANNE, "memories", [row.id for row in rows])
        assert new_as_of is None
        cache.take_in(ANNE, "memories", await store.put_memories(ANNE, rows, fact_vectors(rows), MODEL))
        fresh, held = IndexCache(store, model=MODEL), cache._entries[ANNE.user, "memories"]
        assert held.revision == store.revision(ANNE, "memories")
        expected = await fresh.facts(ANNE, ANY)
        assert {row.id: row for row in held.shelf.living()} == {row.id: row for row in expected.living()}
        assert held.shelf.stamp == expected.stamp
        mask, expected_mask = held.shelf.seen_by(ANNE), expected.seen_by(ANNE)
        for row in rows:
            line, other_line = held.shelf.line(row.id), expected.line(row.id)
            assert held.shelf.dense(bag("tea"), mask)[line] == expected.dense(bag("tea"), expected_mask)[other_line]
            mine = held.shelf.lexical(weights("tea milk"), mask)[line]
            assert mine == expected.lexical(weights("tea milk"), expected_mask)[other_line]
    late = await store.put_memories(ANNE, [fact(8, "mine")], {}, MODEL)
    await put(other, ANNE, fact(9, "theirs"))
    cache.take_in(ANNE, "memories", late)
    assert {"mine", "theirs"} <= await texts(cache)


async def test_marked_rows_follow_what_is_written_and_deleted(store, cache):
    await put(store, ANNE, fact(1, "tea"), fact(2, "milk", pinned=True), fact(3, "wine", status="closed"))
    assert [row.text for row in await cache.marked(ANNE)] == ["milk", "wine"]
    await put(store, ANNE, fact(1, "tea", pinned=True), fact(2, "milk"))
    assert [row.text for row in await cache.marked(ANNE)] == ["wine", "tea"]
    await store.remove_memories(ANNE, [fact(3, "wine").id])
    assert [row.text for row in await cache.marked(ANNE)] == ["tea"]
    assert {row.text for row in await cache.living(ANNE)} == {"tea", "milk"}


async def test_summaries_are_listed_alone(store, cache):
    await put(store, ANNE, fact(1, "tea"), fact(2, "All about tea.", kind="summary"))
    assert [row.text for row in await cache.summaries(ANNE)] == ["All about tea."]


async def test_what_another_process_writes_and_deletes_is_seen(store, cache, tmp_path):
    other = await LanceStore.open(tmp_path / "lance", dimension=DIMENSION)
    await put(store, ANNE, fact(1, "tea"), fact(2, "milk"), fact(3, "dog"))
    assert len(await texts(cache)) == 3
    await other.remove_memories(ANNE, [fact(2, "").id])
    await put(other, ANNE, fact(4, "cat"))
    assert await texts(cache) == {"tea", "dog", "cat"}
    await other.drop_owner(ANNE)
    assert await texts(cache) == set()


async def test_maintenance_and_purging_change_no_result(store, cache):
    for number in range(9):
        await put(store, ANNE, fact(number, f"tea {number}"))
        await texts(cache)
    before = await texts(cache)
    await store.maintain(ANNE)
    assert await texts(cache) == before
    await store.purge(ANNE)
    assert await texts(cache) == before


async def test_an_unchanged_table_is_not_read_again(store, cache):
    await put(store, ANNE, fact(1, "tea"))
    assert await cache.facts(ANNE, ANY) is await cache.facts(ANNE, ANY)
    grown = await cache.facts(ANNE, ANY)
    await put(store, ANNE, fact(2, "milk"))
    assert await cache.facts(ANNE, ANY) is grown  # appended to, not rebuilt


async def test_simultaneous_first_searches_load_once(store, cache):
    await put(store, ANNE, fact(1, "tea"))
    shelves = await asyncio.gather(*(cache.facts(ANNE, ANY) for _ in range(5)))
    assert all(shelf is shelves[0] for shelf in shelves)


async def test_shelf_of_mostly_dead_lines_is_rebuilt(store, cache):
    for turn in range(8):
        await put(store, ANNE, fact(1, f"tea {turn}"), fact(2, f"milk {turn}"))
        shelf = await cache.facts(ANNE, ANY)
    assert len(shelf) == 2
    assert shelf.waste < 0.7


async def test_the_least_recently_used_owner_goes_first(store):
    for scope in (ANNE, BOB):
        await put(store, scope, *(fact(number, f"tea {number}") for number in range(20)))
    whole = IndexCache(store, model=MODEL)
    await whole.facts(ANNE, ANY)
    one = whole.size_bytes
    cache = IndexCache(store, model=MODEL, max_bytes=int(one * 1.5))
    first = await cache.facts(ANNE, ANY)
    await cache.facts(BOB, ANY)
    assert cache.size_bytes <= one * 1.5
    assert await cache.facts(ANNE, ANY) is not first


async def test_forgetting_an_owner_frees_its_memory(store, cache):
    await put(store, ANNE, fact(1, "tea"))
    await texts(cache)
    cache.forget(ANNE)
    assert cache.size_bytes == 0


async def test_a_large_owner_is_searched_without_loading(store):
    cache = IndexCache(store, model=MODEL, most_rows=100)
    rows = [fact(number, f"topic{number % 30} number{number}") for number in range(200)]
    await put(store, ANNE, *rows)
    query = Query("topic7 number37", "", bag("topic7 number37"), NOW)
    shelf = await cache.facts(ANNE, query)
    assert 0 < len(shelf) < 200
    mask = shelf.visible(ANNE, NOW)
    assert shelf.items[int(shelf.lexical(weights(query.text), mask).argmax())].id == rows[37].id
    assert shelf.items[int(shelf.dense(query.vector, mask).argmax())].id == rows[37].id
    assert cache.size_bytes < 10_000


async def test_rows_in_ram_are_found_however_many():
    rows = [fact(number, f"number{number}") for number in range(ROWS_BEFORE_INDEX + 1)]
    store = RamStore(DIMENSION)
    await store.put_memories(ANNE, rows, {}, MODEL)
    shelf = await IndexCache(store, model=MODEL).facts(ANNE, Query("number8000", "", None, NOW))
    scores = shelf.lexical(weights("number8000"), shelf.visible(ANNE, NOW))
    assert shelf.items[int(scores.argmax())].id == rows[8000].id


async def test_turns_of_large_owners_come_with_neighbours(store):
    cache = IndexCache(store, model=MODEL, most_rows=100)
    rows = [turn for number in range(50) for turn in conversation(f"s{number}", f"topic{number}", "answer", "thanks")]
    await store.put_episodes(ANNE, rows, turn_vectors(rows), MODEL)
    shelf = await cache.turns(ANNE, Query("topic33", "", None, NOW))
    assert {"s33-0", "s33-1"} <= set(shelf.ids)
    mask = shelf.seen_by(ANNE)
    assert shelf.window_lexical(weights("topic33"), mask)[shelf.line("s33-1")] > 0

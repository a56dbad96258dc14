from __future__ import annotations

import asyncio
import inspect
import json
from dataclasses import replace
from datetime import UTC, timedelta

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from proxy.clock import to_ms
from proxy.store import filters, lance_rows
from proxy.store.lance import LanceStore
from proxy.store.schema import EPISODES, decode, decoder
from proxy.types import Episode, Scope
from tests.store.lance_rows import ANNE, BOB, DIMENSION, NOW, fact, store, turn, vector

__all__ = ["store"]

pytestmark = pytest.mark.anyio


async def test_memories_come_back_as_they_were(store):
    memory = fact(
        1,
        'O\'Brien said "no"; DROP TABLE\n\0 猫',
        valid_to=NOW + timedelta(days=1),
        expires_at=NOW + timedelta(days=2),
        turns=("t1", "t2"),
        metadata={"a": [1, None, {"b": "ü"}]},
        pinned=True,
        priority=-3,
        confidence=0.25,
        status="closed",
        context="Where do you live?",
        context_by="assistant",
        earlier=("mem_7",),
        later=("mem_8", "mem_9"),
        batch="end_1",
    )
    await store.put_memories(ANNE, [memory], {}, "m")
    assert await store.memories(ANNE) == [memory]
    assert await store.memory(ANNE, memory.id) == memory


async def test_offsets_return_and_are_zero_in_old_rows(store):
    west, east = fact(1, offset_minutes=-180), turn(1, offset_minutes=345)
    await store.put_memories(ANNE, [west], {}, "m")
    await store.put_episodes(ANNE, [east], {}, "m")
    assert (await store.memory(ANNE, west.id)).local_from.isoformat() == "2026-03-01T09:00:00-03:00"
    assert [one.local_at.isoformat() for one in await store.episodes(ANNE)] == ["2026-03-01T17:45:00+05:45"]
    old = {name: getattr(east, name) for name in EPISODES.fields if name != "offset_minutes"}
    read = decoder(EPISODES)(json.dumps({**old, "at": to_ms(east.at)}))
    assert read.local_at == east.at
    assert read.local_at.tzinfo is UTC


async def test_last_row_of_an_id_counts(store):
    """Writing it twice changes nothing."""
    await store.put_memories(ANNE, [fact(1, "old"), fact(2), fact(1, "new")], {}, "m")
    await store.put_memories(ANNE, [fact(1, "new"), fact(2)], {}, "m")
    assert sorted(memory.text for memory in await store.memories(ANNE)) == ["likes tea", "new"]


async def test_a_batch_is_one_commit(store):
    await store.put_memories(ANNE, [fact(0)], {}, "m")
    table = await store._tables.open("memories", ANNE.user)
    before = await table.version()
    await store.put_memories(ANNE, [fact(number) for number in range(50)], {}, "m")
    await table.checkout_latest()
    assert await table.version() == before + 1


async def test_vectors_are_kept_while_the_text_stays(store):
    await store.put_memories(ANNE, [fact(1), fact(2)], {fact(1).id: 3 * vector(1), fact(2).id: None}, "m")
    await store.put_memories(ANNE, [fact(1, status="closed")], {}, "m2")
    batch = await store.load(ANNE, "memories")
    line = [item.id for item in batch.items].index(fact(1).id)
    assert batch.models[line] == "m"
    assert batch.vectors["vector"][line] == pytest.approx(vector(1), abs=1e-6)
    await store.put_memories(ANNE, [fact(1, "another text")], {}, "m")
    assert {row.id for row in await store.unembedded(ANNE, "memories", "m")} == {fact(1).id, fact(2).id}


async def test_another_model_makes_vectors_pending(store):
    await store.put_episodes(ANNE, [turn(1)], {turn(1).id: (vector(1), vector(2))}, "m")
    assert await store.unembedded(ANNE, "episodes", "m") == []
    assert await store.unembedded(ANNE, "episodes", "m2") == [turn(1)]


async def test_embedded_rows_are_not_read_for_pending_ones(store, monkeypatch):
    decoded = []
    monkeypatch.setattr(
        lance_rows, "decode", lambda layout, found: decoded.append(found.num_rows) or decode(layout, found)
    )
    facts = [fact(number) for number in range(3)]
    await store.put_memories(ANNE, facts, {one.id: vector(1) for one in facts}, "o'neill/m")
    assert await store.unembedded(ANNE, "memories", "o'neill/m") == []
    await store.put_memories(ANNE, [fact(4)], {fact(4).id: None}, "o'neill/m")
    assert [row.id for row in await store.unembedded(ANNE, "memories", "o'neill/m")] == [fact(4).id]
    assert sum(decoded) == 1


@given(st.text())
def test_a_model_is_quoted_whatever_it_is_called(name):
    try:
        where = filters.other_than("embedding_model", name)
    except ValueError:
        assert not name.isprintable()
    else:
        assert where.endswith(f"!= '{name.replace(chr(39), 2 * chr(39))}')")


async def test_a_zero_or_broken_vector_is_pending(store):
    broken = np.full(DIMENSION, np.nan, dtype=np.float32)
    given_ = {fact(1).id: np.zeros(DIMENSION, dtype=np.float32), fact(2).id: broken}
    await store.put_memories(ANNE, [fact(1), fact(2)], given_, "m")
    assert not (await store.load(ANNE, "memories")).vectors["vector"].any()


async def test_a_vector_of_another_length_is_refused(store):
    with pytest.raises(ValueError, match="dimensions"):
        await store.put_memories(ANNE, [fact(1)], {fact(1).id: np.ones(3, dtype=np.float32)}, "m")


def test_scope_comes_first():
    for name, method in inspect.getmembers(LanceStore, inspect.isfunction):
        if not name.startswith("_") and name not in (
            "close",
            "probe",
            "verify",
        ):  # these cover all scopes and return no data of any
            assert [*inspect.signature(method).parameters][1] == "scope", name


async def test_owners_do_not_meet(store):
    await store.put_memories(ANNE, [fact(1, "anne's")], {}, "m")
    await store.put_memories(BOB, [fact(1, "bob's")], {}, "m")
    await store.put_episodes(ANNE, [turn(1)], {}, "m")
    await store.remove_memories(BOB, [fact(1).id])
    assert [memory.text for memory in await store.memories(ANNE)] == ["anne's"]
    assert await store.memory(BOB, fact(1).id) is None
    assert await store.counts(BOB) == {"memories": 0, "episodes": 0, "chunks": 0}


async def test_an_owner_without_tables_has_nothing(store):
    assert await store.memories(ANNE) == []
    assert await store.episodes(ANNE, session="ses_1") == []
    assert await store.memory(ANNE, "mem_1") is None
    assert await store.unembedded(ANNE, "memories", "m") == []
    assert store.revision(ANNE, "memories") == ("", "")
    await store.remove_memories(ANNE, ["mem_1"])
    await store.remove_episodes(ANNE, session="ses_1")
    for act in (store.purge, store.maintain, store.drop_owner, store.flush):
        await act(ANNE)


@pytest.mark.parametrize("hostile", ["' OR 1=1 --", "", "a'b", "x" * 200, "a b", "ü", "a\\"])
async def test_what_cannot_be_an_id_finds_nothing(store, hostile):
    await store.put_memories(ANNE, [fact(1)], {}, "m")
    assert await store.memory(ANNE, hostile) is None


@given(st.text())
def test_a_filter_takes_ids_only(value):
    plain = value == "" or filters.is_id(value)
    if plain:
        assert filters.any_of("id", [value]) == f"id IN ('{value}')"
        assert "'" not in value
        assert "\\" not in value
    else:
        with pytest.raises(ValueError, match="id of ours"):
            filters.any_of("id", [value])
    if len(value) != 32:
        with pytest.raises(ValueError, match="32 hex"):
            filters.owner(value)


async def test_episodes_are_in_order_and_by_conversation(store):
    later = Episode("ses_2-0", "ses_2", "t", 0, "assistant", "later", NOW + timedelta(hours=1))
    await store.put_episodes(ANNE, [later, turn(2), turn(1), turn(1, piece=0)], {}, "m")
    assert [row.id for row in await store.episodes(ANNE)] == ["ses_1-1", "ses_1-2", "ses_2-0"]
    assert [row.id for row in await store.episodes(ANNE, limit=1)] == ["ses_2-0"]
    assert [row.id for row in await store.episodes(ANNE, session="ses_1")] == ["ses_1-1", "ses_1-2"]
    assert await store.episodes(ANNE, limit=0) == []
    await store.remove_episodes(ANNE, session="ses_1")
    assert [row.id for row in await store.episodes(ANNE)] == ["ses_2-0"]


async def test_revision_changes_with_each_commit_only(store):
    seen = [store.revision(ANNE, "memories")]
    await store.put_memories(ANNE, [fact(1)], {}, "m")
    seen.append(store.revision(ANNE, "memories"))
    await store.memories(ANNE)
    assert store.revision(ANNE, "memories") == seen[-1]
    await store.remove_memories(ANNE, [fact(1).id])
    seen.append(store.revision(ANNE, "memories"))
    assert len(set(seen)) == 3


async def test_second_store_sees_the_firsts_writes_and_drops(store, tmp_path):
    other = await LanceStore.open(tmp_path / "lance", dimension=DIMENSION)
    await store.put_memories(ANNE, [fact(1)], {}, "m")
    assert len(await other.memories(ANNE)) == 1
    await store.put_memories(ANNE, [fact(2)], {}, "m")
    assert len(await other.memories(ANNE)) == 2
    await store.drop_owner(ANNE)
    assert await other.memories(ANNE) == []
    await other.put_memories(ANNE, [fact(3)], {}, "m")  # a stale handle must not bring the dropped table back
    assert [memory.id for memory in await store.memories(ANNE)] == [fact(3).id]


async def test_loading_above_a_stamp_gives_what_came_since(store):
    await store.put_memories(ANNE, [fact(1), fact(2)], {}, "m")
    first = await store.load(ANNE, "memories")
    await store.maintain(ANNE)
    await store.put_memories(ANNE, [fact(2, "changed"), fact(3)], {}, "m")
    since = await store.load(ANNE, "memories", above_stamp=first.stamp)
    assert {item.id for item in since.items} == {fact(2).id, fact(3).id}
    assert since.stamp > first.stamp


async def test_maintenance_merges_fragments_and_keeps_rows(store):
    for number in range(9):
        await store.put_memories(ANNE, [fact(number)], {fact(number).id: vector(number)}, "m")
    await store.maintain(ANNE)
    batch = await store.load(ANNE, "memories")
    assert len(batch.items) == 9
    assert batch.vectors["vector"].any(axis=1).all()


async def test_cancelled_callers_write_runs_to_its_end(store):
    await store.put_memories(ANNE, [fact(0)], {}, "m")
    for number in range(1, 6):
        task = asyncio.ensure_future(store.put_memories(ANNE, [fact(number)], {}, "m"))
        await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
    await store.put_memories(ANNE, [fact(6)], {}, "m")  # runs after the cancelled ones
    assert len(await store.memories(ANNE)) == 7


async def test_writers_of_one_owner_take_turns(store):
    await asyncio.gather(*(store.put_memories(ANNE, [fact(number % 3)], {}, "m") for number in range(9)))
    assert len(await store.memories(ANNE)) == 3


async def rewrite(store, change):
    """Rewrite each memory's record, as another version would have written it."""
    table = await store._tables.open("memories", ANNE.user)
    rows = (await table.query().to_arrow()).to_pylist()
    for row in rows:
        row["record"] = json.dumps(change(json.loads(row["record"])), separators=(",", ":"))
    await table.merge_insert("id").when_matched_update_all().execute(rows)


def of_the_first_version(record):
    new = {"context", "context_by", "dates", "message", "start", "end", "earlier", "later", "batch"}
    return {name: value for name, value in record.items() if name not in new} | {"single": False}


async def test_first_versions_records_are_read_in_current_terms(store):
    said = {"quote": "I use Shram and Magnet.", "source": "turn:t1"}
    await store.put_memories(
        ANNE,
        [
            fact(1, "I use Shram", **said),
            fact(2, "I use Magnet", status="retracted", **said),
            fact(3, "Berlin", status="superseded"),
            replace(fact(4, "Answer briefly"), kind="procedure"),
        ],
        {},
        "m",
    )
    await rewrite(store, of_the_first_version)
    assert [(row.kind, row.status, row.text) for row in await store.memories(ANNE)] == [
        ("fact", "active", said["quote"]),
        ("fact", "closed", said["quote"]),
        ("fact", "closed", "Berlin"),
        ("instruction", "active", "Answer briefly"),
    ]
    assert {row.id for row in await store.marked(ANNE)} == {fact(2).id, fact(3).id}
    assert await store.statuses(ANNE) == {"active": 2, "closed": 2}


@pytest.mark.parametrize(
    "fields",
    [
        {"status": "closed"},
        {"status": "review"},
        {"pinned": True},
        {"metadata": {"profile": True}},
        {"metadata": {"slot": [["home", "leeds"]]}},
        {"metadata": {"ending": "end_1"}},
    ],
    ids=["closed", "review", "pinned", "profile", "slot", "ending"],
)
async def test_what_counts_whatever_is_asked_is_marked(store, fields):
    await store.put_memories(ANNE, [fact(1, **fields), fact(2, '"pinned":true "status":"closed"')], {}, "m")
    assert [row.id for row in await store.marked(ANNE)] == [fact(1).id]


async def test_statuses_count_memories_and_no_endings(store):
    ending = replace(fact(3, status="closed", metadata={"ending": "end_3"}), id="end_3")
    await store.put_memories(ANNE, [fact(1), fact(2, status="closed"), ending], {}, "m")
    assert await store.statuses(ANNE) == {"active": 1, "closed": 1}


async def test_a_large_owner_is_searched_by_the_store(tmp_path):
    store = await LanceStore.open(tmp_path / "lance", dimension=DIMENSION, index_above_rows=300)
    rows = [fact(number, f"topic{number % 50} thing{number}") for number in range(600)]
    vectors = {row.id: vector(at % 50) for at, row in enumerate(rows)}
    await store.put_memories(ANNE, rows, vectors, "m")
    await store.maintain(ANNE)
    by_words = await store.candidates(ANNE, "memories", ["thing123"], None)
    assert by_words.rows.items[0].id == rows[123].id
    assert by_words.words[rows[123].id] > 0
    by_vector = await store.candidates(ANNE, "memories", [], vector(7))
    assert await store.statuses(ANNE) == {"active": 600}
    assert await store.statuses(BOB) == {}
    best = int(np.argmax(by_vector.rows.vectors["vector"] @ vector(7)))
    assert by_vector.rows.items[best].id in {row.id for at, row in enumerate(rows) if at % 50 == 7}


async def test_an_agents_few_rows_are_found_among_many(store):
    agent = "c" * 32
    rows = [fact(number, "tea") for number in range(300)] + [fact(999, "tea for two", agent=agent)]
    await store.put_memories(ANNE, [*rows, *(fact(2000 + n, "tea", agent="d" * 32) for n in range(400))], {}, "m")
    found = await store.candidates(Scope(ANNE.tenant, ANNE.user, agent), "memories", ["tea"], None, limit=400)
    assert all(item.agent in ("", agent) for item in found.rows.items)
    assert found.rows.items

"""Selection of the stored rows that a turn is compared with."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from proxy.memory.index.cache import IndexCache
from proxy.memory.learn.gather import LAST_ROWS, gather
from proxy.memory.learn.learn import read
from proxy.memory.learn.past import Past
from proxy.store.ram import RamStore
from proxy.types import Episode, Said, Scope, Turn
from tests.memory.rows import (
    AGENT,
    ANNE,
    DAY,
    DIMENSION,
    MODEL,
    NOW,
    OTHER_AGENT,
    conversation,
    fact,
    fact_vectors,
    turn_vectors,
)

pytestmark = pytest.mark.anyio

HERE = replace(ANNE, session="here")


@pytest.fixture
def store() -> RamStore:
    return RamStore(DIMENSION)


async def past_of(store: RamStore, text: str, *, scope: Scope = HERE, seq: int = 0) -> Past:
    turn = Turn("turn_new", scope, (Said("new", "user", text, seq=seq),), "", "complete", "m", NOW, reply_seq=seq + 1)
    own = Episode("new", scope.session, turn.id, seq, "user", text, NOW, agent=scope.agent)
    await store.put_episodes(ANNE, [own], turn_vectors([own]), MODEL)
    return await gather(IndexCache(store, model=MODEL), turn, read(turn), [own], turn.at + timedelta(hours=1))


async def test_an_ending_is_compared_with_every_conversation(store: RamStore) -> None:
    said = [
        *conversation("one", "I keep bees on the roof", "Lovely."),
        *conversation("two", "My bees sleep now", "In winter bees cluster."),
        *conversation("three", "What rhymes with orange?", "Nothing."),
    ]
    await store.put_episodes(ANNE, said, turn_vectors(said), MODEL)
    past = await past_of(store, "I stopped keeping bees.")
    assert {row.id for row in past.rows} == {"one-0", "two-0", "two-1"}
    assert [row.id for row in past.own] == ["new"]


async def test_what_was_said_afterwards_is_not_compared(store: RamStore) -> None:
    said = conversation("later", "I keep bees again", "Welcome back.", at=NOW + timedelta(minutes=1))
    await store.put_episodes(ANNE, said, turn_vectors(said), MODEL)
    past = await past_of(store, "I stopped keeping bees.")
    assert not past.rows


async def test_the_last_words_here_come_without_shared_words(store: RamStore) -> None:
    said = conversation("here", *(f"door number {number}" for number in range(20)))
    await store.put_episodes(ANNE, said, turn_vectors(said), MODEL)
    past = await past_of(store, "Two.", seq=20)
    assert [row.id for row in past.rows] == [row.id for row in said[-LAST_ROWS:]]


async def test_memories_out_of_view_are_not_compared(store: RamStore) -> None:
    rows = [
        fact(1, "I drink oat milk"),
        fact(2, "I drink oat milk with cocoa", agent=AGENT),
        fact(3, "I drink oat milk at work", agent=OTHER_AGENT),
    ]
    await store.put_memories(ANNE, rows, fact_vectors(rows), MODEL)
    seen = {
        agent: {
            row.id for row in (await past_of(store, "I gave up oat milk.", scope=replace(HERE, agent=agent))).memories
        }
        for agent in ("", AGENT)
    }
    assert seen == {"": {rows[0].id}, AGENT: {rows[0].id, rows[1].id}}


async def test_what_fills_a_slot_comes_without_shared_words(store: RamStore) -> None:
    rows = [fact(1, "I live in Leeds", metadata={"slot": [["home", "leeds"]]}), fact(2, "I like tea")]
    await store.put_memories(ANNE, rows, fact_vectors(rows), MODEL)
    past = await past_of(store, "We moved to Hull last month.")
    assert [row.id for row in past.memories] == [rows[0].id]


async def test_summaries_that_hold_the_ended_word_are_compared(store: RamStore) -> None:
    rows = [
        fact(1, "The user keeps bees.", kind="summary", at=NOW - 3 * DAY),
        fact(2, "The user fixed a bike.", kind="summary", at=NOW - 3 * DAY),
    ]
    await store.put_memories(ANNE, rows, fact_vectors(rows), MODEL)
    past = await past_of(store, "I stopped keeping bees.")
    assert [(row.id, row.by) for row in past.rows] == [(rows[0].id, "summary")]


async def test_sentence_about_a_thing_is_compared(store: RamStore) -> None:
    known = fact(1, "My cardiologist Dr Okafor gives me bisoprolol 2.5 mg.")
    await store.put_memories(ANNE, [known], fact_vectors([known]), MODEL)
    past = await past_of(store, "Dr Okafor raised the bisoprolol to 5.")
    assert past.memories == [known]

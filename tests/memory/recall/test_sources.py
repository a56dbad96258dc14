from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest

from proxy.memory.index.cache import IndexCache
from proxy.memory.recall.query import Query
from proxy.memory.recall.sources import recall
from proxy.store.lance import LanceStore
from proxy.types import Hit, Scope
from tests.memory.rows import (
    AGENT,
    ANNE,
    BOB,
    DAY,
    DIMENSION,
    MODEL,
    NOW,
    OTHER_AGENT,
    bag,
    conversation,
    fact,
    fact_vectors,
    turn_vectors,
)

pytestmark = pytest.mark.anyio

FACTS = [
    fact(1, "The user uses Magnet as window manager"),
    fact(2, "The user lives in Berlin"),
    fact(3, "The user has a dog called Rex"),
    fact(4, "Buy dog food for Rex", kind="task"),
    fact(5, "The user drinks oat milk"),
]
TALK = conversation(
    "ses_1",
    "Where could we go on Sunday?",
    "How about a walk around the lake with Rex?",
    "Rex hates water since he fell off the pier in Wannsee",
    "Then the forest near Grunewald might suit him better",
)


@pytest.fixture
async def store(tmp_path: Path) -> AsyncIterator[LanceStore]:
    opened = await LanceStore.open(tmp_path / "lance", dimension=DIMENSION)
    yield opened
    opened.close()


@pytest.fixture
async def index(store: LanceStore) -> IndexCache:
    await store.put_memories(ANNE, FACTS, fact_vectors(FACTS), MODEL)
    await store.put_episodes(ANNE, TALK, turn_vectors(TALK), MODEL)
    return IndexCache(store, model=MODEL)


def ask(text: str, **fields) -> Query:
    return Query(text, fields.pop("context", ""), fields.pop("vector", bag(text)), NOW, **fields)


async def texts(index, query, scope=ANNE, **options):
    return [hit.text for hit in (await recall(scope, query, index, **options)).hits]


async def test_a_relevant_fact_leads_and_turns_follow(index):
    found = await recall(ANNE, ask("Which window manager do I use?"), index)
    assert found.admitted
    assert found.hits[0].text == "The user uses Magnet as window manager"
    assert found.hits[0].source == "fact"
    walk = await recall(ANNE, ask("Why does Rex hate water?"), index)
    assert "Wannsee" in next(hit for hit in walk.hits if hit.source == "episode").text


@pytest.mark.parametrize(
    ("question", "is_given"),
    [("Where do I live?", False), ("What have I asked you so far?", True), ("What did you tell me?", True)],
)
async def test_questions_on_other_things_are_no_answer(store, index, question, is_given):
    talk = conversation("ses_2", "How is lasagna made?", "Layer pasta, ragu and bechamel")
    await store.put_episodes(BOB, talk, turn_vectors(talk), MODEL)
    told = conversation("ses_3", "I moved to Leeds")
    await store.put_episodes(BOB, told, turn_vectors(told), MODEL)
    found = await texts(index, ask(question), BOB)
    assert ("How is lasagna made?" in found) == is_given
    assert "I moved to Leeds" in found


async def test_an_unrelated_prompt_gets_nothing(index):
    for prompt in ("Explain quantum entanglement", "Translate good morning into Japanese", "", "?!"):
        found = await recall(ANNE, ask(prompt), index)
        assert found.hits == [], prompt
        assert not found.admitted


async def test_words_alone_find_names_while_vectors_are_pending(index):
    found = await recall(ANNE, ask("Wannsee pier", vector=None), index)
    assert found.reason == "words"
    assert "Wannsee" in found.hits[0].text


async def test_nobody_else_gets_anything(index):
    found = await recall(BOB, ask("Which window manager do I use?"), index)
    assert found.hits == found.considered == []
    assert found.reason == "empty"


async def test_agents_see_the_common_rows_and_their_own(store, index):
    rows = [fact(10, "Rex secret alpha", agent=AGENT), fact(11, "Rex secret beta", agent=OTHER_AGENT)]
    await store.put_memories(ANNE, rows, fact_vectors(rows), MODEL)
    turns = conversation("ses_9", "Rex secret gamma", agent=OTHER_AGENT)
    await store.put_episodes(ANNE, turns, turn_vectors(turns), MODEL)
    query = ask("Rex secret")
    own = await recall(Scope(ANNE.tenant, ANNE.user, AGENT), query, index)
    seen = " ".join(hit.text for hit in own.hits + own.considered)
    assert "alpha" in seen
    assert "beta" not in seen
    assert "gamma" not in seen
    common = await recall(ANNE, query, index)
    assert not {"alpha", "beta", "gamma"} & set(" ".join(hit.text for hit in common.hits + common.considered).split())


async def test_text_of_the_request_is_not_quoted_back(index):
    query = ask("Rex hates water in Wannsee")
    assert TALK[2].text in await texts(index, query)
    query = replace(query, session="ses_1", exclude_texts=[turn.text for turn in TALK])
    assert not {turn.text for turn in TALK} & set(await texts(index, query))


async def linked(store: LanceStore, index: IndexCache, older: str, newer: str) -> list[Hit]:
    """Return the hits for a question about Rex when two statements are linked."""
    first = replace(fact(20, older), later=("mem_21",), message="msg_20")
    second = replace(fact(21, newer), earlier=("mem_20",), message="msg_21")
    rows = [replace(first, id="mem_20"), replace(second, id="mem_21")]
    await store.put_memories(ANNE, rows, fact_vectors(rows), MODEL)
    found = await recall(ANNE, ask("Which bowl does Rex have?"), index)
    return [hit for hit in found.hits if hit.id in ("mem_20", "mem_21")]


async def test_short_linked_statements_share_an_entry(store, index):
    (hit,) = await linked(store, index, "Rex has a red bowl", "Rex has a blue bowl now")
    assert [hit.text, *(one.text for one in hit.then)] == ["Rex has a red bowl", "Rex has a blue bowl now"]


async def test_long_linked_statements_stand_beside_their_turns(store, index):
    tail = f", which {'the shop by the lake had on offer and ' * 4}he likes"
    for older, newer in (
        ("Rex has a red bowl" + tail, "Rex has a blue bowl now"),
        ("Rex has a red bowl", "Rex has a blue bowl now" + tail),
    ):
        hits = await linked(store, index, older, newer)
        assert {hit.text for hit in hits} == {older, newer}
        assert all(not hit.then and hit.is_carried for hit in hits)


async def test_sources_can_be_chosen(index):
    query = ask("Rex hates water, dog food")
    assert {hit.source for hit in (await recall(ANNE, query, index)).hits} == {"fact", "task", "episode"}
    assert {hit.source for hit in (await recall(ANNE, query, index, sources={"task"})).hits} == {"task"}
    assert {hit.source for hit in (await recall(ANNE, query, index, sources={"episode"})).hits} == {"episode"}


async def test_closed_facts_appear_only_for_questions_about_then(store, index):
    closed = replace(FACTS[1], status="closed", valid_from=NOW - 90 * DAY, valid_to=NOW - 30 * DAY)
    new = fact(20, "The user lives in Paris", at=NOW - 30 * DAY)
    await store.put_memories(ANNE, [closed, new], fact_vectors([closed, new]), MODEL)
    query = ask("Where does the user live?")
    found = await texts(index, query, sources={"fact"})
    assert found[0] == "The user lives in Paris"
    assert "The user lives in Berlin" not in found
    assert await texts(index, replace(query, as_of=NOW - 60 * DAY), sources={"fact"}) == ["The user lives in Berlin"]


async def test_of_similar_facts_the_newest_comes_first(store, index):
    rows = [fact(30, "Favourite editor is Vim", at=NOW - 300 * DAY), fact(31, "Favourite editor is Zed", at=NOW - DAY)]
    await store.put_memories(ANNE, rows, fact_vectors(rows), MODEL)
    found = await texts(index, ask("favourite editor"), sources={"fact"})
    assert found[:2] == ["Favourite editor is Zed", "Favourite editor is Vim"]


async def test_summary_stands_behind_turns_of_its_conversation(store, index):
    said = "User: Rex hates water. User: He fell off the pier in Wannsee. Assistant: Then the forest near Grunewald."
    summary = fact(40, said, kind="summary")
    await store.put_memories(ANNE, [summary], fact_vectors([summary]), MODEL)
    for question in ("What dog do I have, and why does Rex hate water?", "Why does Rex hate water since the pier?"):
        found = await recall(ANNE, ask(question), index)
        places = {hit.source: at for at, hit in reversed(list(enumerate(found.hits)))}
        assert places["episode"] < places.get("summary", len(found.hits))
        assert found.hits[0].source != "summary"


async def test_the_same_statement_appears_once(store, index):
    rows = [fact(40, "Allergic to walnuts", at=NOW - 5 * DAY), fact(41, "allergic to  walnuts", at=NOW - DAY)]
    await store.put_memories(ANNE, rows, fact_vectors(rows), MODEL)
    again = conversation("ses_2", TALK[2].text, at=NOW - 3 * DAY)
    await store.put_episodes(ANNE, again, turn_vectors(again), MODEL)
    assert (await texts(index, ask("walnuts allergic"))).count("allergic to  walnuts") == 1
    assert "Allergic to walnuts" not in await texts(index, ask("walnuts allergic"))
    assert (await texts(index, ask("Rex hates water in Wannsee"))).count(TALK[2].text) == 1


async def test_time_words_favour_their_time(store, index):
    march = conversation("ses_3", "I ordered the ramen set", at=NOW - 2 * DAY)
    winter = conversation("ses_4", "I ordered the curry set", at=NOW - 70 * DAY)
    await store.put_episodes(ANNE, [*march, *winter], turn_vectors(march) | turn_vectors(winter), MODEL)
    assert "ramen" in (await texts(index, ask("what set did I order two days ago"), sources={"episode"}))[0]
    assert "curry" in (await texts(index, ask("what set did I order two months ago"), sources={"episode"}))[0]


async def test_follow_up_is_understood_by_earlier_turns(index):
    alone = await recall(ANNE, ask("and why?"), index)
    assert not alone.admitted
    query = Query("and why?", "Rex hates water", bag("Rex hates water and why?"), NOW)
    assert "Wannsee" in " ".join(await texts(index, query))


async def test_limits_hold_and_scores_fall_within_sources(index):
    found = await recall(ANNE, ask("Rex dog"), index, limit=2)
    assert len(found.hits) <= 2
    whole = await recall(ANNE, ask("Rex dog"), index)
    turns = [hit.score for hit in whole.hits if hit.source == "episode"]
    assert turns == sorted(turns, reverse=True)
    assert whole.timings_ms["search"] > 0


async def test_hits_are_dated_by_the_users_zone(store):
    late = NOW.replace(hour=1, minute=6)
    said = conversation("ses_1", "I keep bees in Recife", at=late, offset_minutes=-180)
    known = [fact(1, "I keep bees in Recife", at=late, offset_minutes=-180)]
    await store.put_memories(ANNE, known, fact_vectors(known), MODEL)
    await store.put_episodes(ANNE, said, turn_vectors(said), MODEL)
    found = await recall(ANNE, Query("Where do I keep bees?", "", None, NOW), IndexCache(store, model=MODEL))
    assert {hit.source for hit in found.hits} == {"fact", "episode"}
    assert {hit.when.date().isoformat() for hit in found.hits} == {"2026-02-28"}


async def test_rare_word_counts_in_an_unloaded_table(store):
    """Its postings are in the store, not in the loaded candidates."""
    index = IndexCache(store, model=MODEL, most_rows=100)
    rows = [
        turn
        for number in range(60)
        for turn in conversation(f"s{number}", f"My locker is k{number}x downstairs", "All right")
    ]
    await store.put_episodes(ANNE, rows, turn_vectors(rows), MODEL)
    rare = await recall(ANNE, ask("where is k33x", vector=bag("the key downstairs")), index)
    assert rare.hits[0].text == "My locker is k33x downstairs"
    common = await recall(ANNE, ask("where is downstairs", vector=bag("something else")), index)
    assert not common.hits

"""Laws of learning: every memory quotes one message, and every closure can be undone."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from proxy.memory.plan.changes import is_ending
from proxy.text.words import words
from tests.memory.learn.world import told

SENTENCES = st.sampled_from(
    [
        "I use Shram and Magnet as productivity tools.",
        "I don't use Magnet anymore.",
        "I switched from Shram to Trello.",
        "Forget everything about Ana.",
        "My sister Ana lives in Oslo, and she works at Halvorsen.",
        "I live in Porto now.",
        "Ich benutze Shram nicht mehr.",
        "Vivo en Lugo con mi pareja y dos gatos.",
        "我不再用Magnet了。",
        "Я больше не пользуюсь Magnet.",
        "What do I use?",
        "Sorry, I meant Ghent.",
    ]
)
WEIRD = st.text(st.characters(codec="utf-8"), max_size=80)


@settings(max_examples=60, deadline=None)
@given(st.lists(st.lists(st.one_of(SENTENCES, WEIRD), min_size=1, max_size=4).map(" ".join), min_size=1, max_size=5))
def test_every_memory_is_a_subsequence_of_one_message(messages: list[str]) -> None:
    world = told(*messages)
    for row in world.memories.values():
        if is_ending(row):
            continue
        source = next(one.text for one in world.rows if one.message == row.message)
        left = iter([word.text for word in words(source)])
        assert all(word.text in left for word in words(row.text)), (row.text, source)


@settings(max_examples=40, deadline=None)
@given(st.lists(SENTENCES, min_size=1, max_size=8))
def test_undoing_every_batch_gives_every_quote_back(messages: list[str]) -> None:
    world = told(*messages)
    for ending in reversed(world.endings):
        world.undo(ending.id)
    assert world.quotable == [row.text for row in world.rows if any(char.isalnum() for char in row.text)]

"""What stands for a turn and for the window around it."""

from __future__ import annotations

from proxy.store.passages import dense_text, trail_texts
from tests.memory.rows import conversation


def test_the_first_turn_of_a_conversation_has_one_text_for_both():
    first, second = conversation("ses_1", "I keep bees", "How many hives?")
    trails = trail_texts([first, second])
    assert trails[first.id] == dense_text(first)
    assert trails[second.id] != dense_text(second)


def test_a_window_holds_three_turns_of_one_conversation():
    turns = conversation("ses_1", "one", "two", "three", "four")
    trails = trail_texts([*turns, *conversation("ses_2", "five")])
    assert trails["ses_1-3"].splitlines()[1:] == ["assistant: two", "user: three", "assistant: four"]
    assert "four" not in trails["ses_2-0"]

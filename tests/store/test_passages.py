"""What stands for a turn and for the window around it."""

from __future__ import annotations

from datetime import UTC, datetime

from proxy.store.passages import dense_text, lexical_text, trail_texts
from tests.memory.rows import conversation


def test_first_turn_has_one_text_for_both():
    first, second = conversation("ses_1", "I keep bees", "How many hives?")
    trails = trail_texts([first, second])
    assert trails[first.id] == dense_text(first)
    assert trails[second.id] != dense_text(second)


def test_a_window_holds_three_turns_of_one_conversation():
    turns = conversation("ses_1", "one", "two", "three", "four")
    trails = trail_texts([*turns, *conversation("ses_2", "five")])
    assert trails["ses_1-3"].splitlines()[1:] == ["assistant: two", "user: three", "assistant: four"]
    assert "four" not in trails["ses_2-0"]


def test_texts_name_the_day_of_the_users_zone():
    at = datetime(2026, 3, 2, 1, 6, tzinfo=UTC)
    first, second = conversation("ses_1", "one", "two", at=at, offset_minutes=-180)
    texts = lexical_text(first), dense_text(first), trail_texts([first, second])[second.id]
    assert [text[:12] for text in texts] == ["1 March 2026"] * 3

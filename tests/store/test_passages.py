"""What stands for a turn and for the window around it."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

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


def test_window_follows_time_where_positions_begin_anew():
    at = datetime(2026, 3, 2, tzinfo=UTC)
    turns = [conversation("ses_1", f"asked {hour}", f"told {hour}", at=at + timedelta(hours=hour)) for hour in range(3)]
    rows = [replace(row, id=f"{hour}-{row.seq}") for hour, turn in enumerate(turns) for row in turn]
    trails = trail_texts(rows[::-1])
    assert trails["1-0"].splitlines()[1:] == ["user: asked 0", "assistant: told 0", "user: asked 1"]
    assert trails["2-1"].splitlines()[1:] == ["assistant: told 1", "user: asked 2", "assistant: told 2"]


def test_texts_name_the_day_of_the_users_zone():
    at = datetime(2026, 3, 2, 1, 6, tzinfo=UTC)
    first, second = conversation("ses_1", "one", "two", at=at, offset_minutes=-180)
    texts = lexical_text(first), dense_text(first), trail_texts([first, second])[second.id]
    assert [text[:12] for text in texts] == ["1 March 2026"] * 3

"""Indexed text of a turn and of the window around it."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

from proxy.store.passages import dense_text, lexical_text, trails
from tests.memory.rows import conversation


def test_a_window_holds_three_turns_of_one_conversation():
    turns = conversation("ses_1", "one", "two", "three", "four")
    windows = trails([*turns, *conversation("ses_2", "five")])
    assert [row.text for row in windows["ses_1-3"]] == ["two", "three", "four"]
    assert [row.text for row in windows["ses_1-0"]] == ["one"]
    assert [row.text for row in windows["ses_2-0"]] == ["five"]


def test_window_follows_time_where_positions_begin_anew():
    at = datetime(2026, 3, 2, tzinfo=UTC)
    turns = [conversation("ses_1", f"asked {hour}", f"told {hour}", at=at + timedelta(hours=hour)) for hour in range(3)]
    rows = [replace(row, id=f"{hour}-{row.seq}") for hour, turn in enumerate(turns) for row in turn]
    windows = trails(rows[::-1])
    assert [row.text for row in windows["1-0"]] == ["asked 0", "told 0", "asked 1"]
    assert [row.text for row in windows["2-1"]] == ["told 1", "asked 2", "told 2"]


def test_texts_name_the_day_of_the_users_zone():
    at = datetime(2026, 3, 2, 1, 6, tzinfo=UTC)
    (first,) = conversation("ses_1", "one", at=at, offset_minutes=-180)
    texts = lexical_text(first), dense_text(first)
    assert [text[:12] for text in texts] == ["1 March 2026"] * 2

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proxy.memory.query import Query, leans_back, widen
from tests.memory.rows import NOW


def test_a_question_of_its_own_stands_alone():
    assert widen(["I live in Berlin", "Which restaurants near Alexanderplatz serve ramen?"])[1] == ""


@pytest.mark.parametrize("turn", ["and why?", "what about it?", "tell me more about that one", "warum ist das so?"])
def test_a_short_follow_up_takes_the_turn_before_along(turn):
    assert leans_back(turn)
    assert widen(["My dog Rex limps", turn]) == (turn, "My dog Rex limps")


def test_the_reply_helps_where_nothing_was_said_before():
    assert widen(["and then?"], reply="Rex went home") == ("and then?", "Rex went home")
    assert widen([]) == ("", "")


def test_context_is_embedded_with_the_text():
    assert Query("why?", "My dog limps", None, NOW).dense_text == "My dog limps\nwhy?"
    assert Query("why?", "", None, NOW).dense_text == "why?"


@given(st.lists(st.text(max_size=5000), max_size=4))
def test_long_turns_are_cut(turns):
    text, context = widen(turns)
    assert len(text) <= 2001
    assert len(context) <= 2001

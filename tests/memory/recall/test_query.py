from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proxy.memory.recall.query import Query, leans_back, widen
from tests.memory.rows import NOW


def test_a_question_of_its_own_stands_alone():
    assert widen(["I live in Berlin", "Which restaurants near Alexanderplatz serve ramen?"])[1] == ""


@pytest.mark.parametrize("turn", ["and why?", "what about it?", "tell me more about that one", "warum ist das so?"])
def test_short_follow_up_takes_the_turn_before_along(turn):
    assert leans_back(turn)
    assert widen(["My dog Rex limps", turn]) == (turn, "My dog Rex limps")


def test_the_reply_helps_where_nothing_was_said_before():
    assert widen(["and then?"], reply="Rex went home") == ("and then?", "Rex went home")
    assert widen([]) == ("", "")


def test_context_is_embedded_with_the_text():
    assert Query("why?", "My dog limps", None, NOW).dense_text == "My dog limps\nwhy?"
    assert Query("why?", "", None, NOW).dense_text == "why?"


@pytest.mark.parametrize(
    "text",
    [
        "Alright, I ordered the ramen set for the dinner with my sister. What is the next step?",
        "Ich habe heute den Antrag für unsere Wohnung abgeschickt.",
        "Я сегодня отправил заявку на нашу новую квартиру.",
        "今天我终于把新公寓的申请表寄出去了。",
    ],
)
def test_telling_is_known_from_asking(text):
    assert Query(text, "", None, NOW).says


@pytest.mark.parametrize(
    "text",
    [
        "What did I say about the lake house and my sister last year?",
        "which restaurants near my office did i like most",
        "Remind me where I parked the car near our old flat",
        "window manager Berlin Rex pier dog food",
        "Okay. Thanks! What did you recommend me for the long trip to Norway?",
        "Wann habe ich meinen Zahnarzttermin in Hamburg vereinbart",
        "",
    ],
)
def test_asking_tells_nothing(text):
    assert not Query(text, "", None, NOW).says


@given(st.lists(st.text(max_size=5000), max_size=4))
def test_long_turns_are_cut(turns):
    text, context = widen(turns)
    assert len(text) <= 2001
    assert len(context) <= 2001

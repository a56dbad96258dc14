"""Search for a question among the messages that a request leaves out."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proxy.memory.conversations.leftout import Passage, is_relevant, search
from proxy.memory.conversations.summarize import Utterance

FILLER = "The harbour lists its ships, and the ropes are counted on the shelf of the ledger."
KEY = "The spare key of the allotment hangs behind the blue watering can."


def said(**messages: str) -> list[Utterance]:
    """Return 200 filler messages; ``user_7="…"`` replaces message 7 and sets its role."""
    others = {int(name.partition("_")[2]): (name.partition("_")[0], text) for name, text in messages.items()}
    return [Utterance(at, *others.get(at, ("assistant" if at % 2 else "user", f"{at}. {FILLER}"))) for at in range(200)]


def test_what_was_asked_for_comes_first() -> None:
    found = search("Where does the spare key of the allotment hang?", said(user_80=KEY), 5)
    assert (found[0].number, found[0].text) == (80, KEY)


def test_equal_words_of_the_user_count_more() -> None:
    found = search("Where is the spare key?", said(user_20=KEY, assistant_91=KEY), 5)
    assert [one.number for one in found] == [20, 91]


def test_a_word_inside_of_another_is_not_meant() -> None:
    assert search("What art do I like?", said(user_20="I started the party at the smart mart."), 5) == []


def test_words_of_scripts_without_spaces_are_found() -> None:
    found = search("我的备用钥匙在哪里", said(user_20="备用钥匙挂在蓝色水壶后面。"), 5)
    assert found[0].number == 20


@pytest.mark.parametrize("query", ["go on", "", "??", "the of and"])
def test_what_asks_for_nothing_finds_nothing(query: str) -> None:
    assert search(query, said(user_20=KEY), 5) == []


def test_only_best_pieces_of_long_messages_are_taken() -> None:
    long = "\n\n".join(f"{at}. {KEY} {FILLER}" * 4 for at in range(20))
    found = search("Where is the spare key of the allotment?", said(user_20=long), 24)
    assert 1 <= len(found) <= 2


def test_where_words_settle_it_meaning_is_not_asked() -> None:
    sure, unsure = [Passage(1, "user", 0, KEY, 1.1)], [Passage(1, "user", 0, KEY, 0.5)]
    assert is_relevant(sure, personal=False) is True
    assert is_relevant(unsure, personal=True) is True
    assert is_relevant(unsure, personal=False) is None
    assert is_relevant([], personal=True) is False


@given(score=st.floats(0.2, 1.5), nearer=st.floats(-1, 1), farther=st.floats(-1, 1))
def test_nearer_in_meaning_is_never_less_relevant(score: float, nearer: float, farther: float) -> None:
    found = [Passage(1, "user", 0, KEY, score)]
    near, far = max(nearer, farther), min(nearer, farther)
    assert bool(is_relevant(found, personal=False, cosine=near)) >= bool(is_relevant(found, personal=False, cosine=far))


def test_without_vectors_only_many_of_the_words_tell() -> None:
    assert is_relevant([Passage(1, "user", 0, KEY, 0.7)], personal=False, cosine=math.nan) is True
    assert is_relevant([Passage(1, "user", 0, KEY, 0.4)], personal=False, cosine=math.nan) is False

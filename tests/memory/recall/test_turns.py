from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import numpy as np
import pytest

from proxy.memory.index.index import TurnShelf
from proxy.memory.recall.query import Query
from proxy.memory.recall.turns import (
    called,
    likeness,
    preferred,
    spaced,
    supported,
    with_answers,
    with_reply,
    without_names,
    worth,
)
from tests.memory.rows import DAY, DIMENSION, MODEL, NOW, bag, conversation, turn_batch

TALK = conversation(
    "ses_1",
    "Hey Robin! Guess what, I got a dog",
    "Congrats, Kim! What is he called?",
    "Thanks, Robin! He is called Rex, and Rex loves Berlin",
    "What a lovely name, Kim.",
    "Robin, would you come along to Berlin? Rex hates trains",
    "Kim! Of course I would, I have never been to Berlin",
    "We could visit Alex there, he knows Rex",
    "Rex and I would love that. Rex likes Alex",
)


def shelf(*talks) -> TurnShelf:
    found = TurnShelf(DIMENSION, MODEL)
    found.put(turn_batch([turn for talk in talks for turn in talk]))
    return found


def ask(text: str) -> Query:
    return Query(text, "", bag(text), NOW)


def test_asking_turn_is_worth_less_than_telling():
    turns = shelf(
        conversation("ses_1", "What is it called?", "Miso, after the soup", "I have a cat, do you like cats?")
    )
    asked, told, told_and_asked = worth(turns, ask("cat"), {})
    assert asked < told == told_and_asked


def test_every_piece_of_a_long_reply_gives_way():
    first, last = conversation("ses_1", "I like tea", "Here is a plan for you")
    pieces = [last, replace(last, id="p1", text="short", piece=1), replace(last, id="p2", text="shorter", piece=2)]
    factors = worth(shelf([first, *pieces]), ask("tea"), {})
    assert factors[0] == 1
    assert (factors[1:] < 1).all()


def test_whom_the_query_names_comes_first():
    turns = shelf(conversation("ses_1", "I like tea", "I prefer coffee"))
    assert worth(turns, ask("x"), {"Robin": "assistant"}).tolist() == [1.0, np.float32(1.3)]
    assert worth(turns, ask("x"), {"Robin": "assistant", "Kim": "user"}).tolist() == [1.0, 1.0]


def test_who_asks_of_themselves_means_what_they_said():
    turns = shelf(conversation("ses_1", "I like tea", "Tea is made of leaves"))
    assert worth(turns, ask("Which tea do I like best?"), {}).tolist() == [np.float32(1.3), 1.0]
    assert worth(turns, ask("What is tea made of?"), {}).tolist() == [1.0, 1.0]
    assert worth(turns, ask("Which tea do I like best?"), {"Robin": "assistant"})[0] == 1


def test_later_pieces_of_a_long_message_count_less():
    pieces = conversation("ses_1", "I like tea", "and coffee", "and milk")
    turns = shelf([replace(turn, role="user", seq=0, piece=at) for at, turn in enumerate(pieces)])
    assert worth(turns, ask("x"), {}).tolist() == [1.0, np.float32(0.6), np.float32(0.6)]


def test_recency_counts_for_continuations_not_for_questions():
    old, new = (conversation(name, "I like tea", at=NOW - age) for name, age in (("a", 300 * DAY), ("b", timedelta(1))))
    telling = ask("I bought the green tea set for my sister yesterday.")
    before, lately = worth(shelf(old, new), telling, {})
    assert lately > before
    assert len(set(worth(shelf(old, new), ask("Which tea do I like best?"), {}))) == 1
    assert len(set(worth(shelf(old, new), replace(telling, as_of=NOW - 200 * DAY), {}))) == 1


def test_turn_counts_more_in_a_fitting_conversation():
    turns = shelf(conversation("a", "tea", "green tea", "soup"), conversation("b", "tea"), conversation("c", "milk"))
    alone = np.array([0.5, 0.4, 0.0, 0.5, 0.0], dtype=np.float32)
    first, second, unlike, lonely, other = supported(turns, alone)
    assert first > lonely > alone[3]
    assert second > alone[1]
    assert unlike == other == 0
    many = shelf(conversation("a", *["tea"] * 9))
    assert len(set(supported(many, np.full(9, 0.5, dtype=np.float32)).tolist())) == 1
    np.testing.assert_allclose(supported(many, np.full(9, 0.5, dtype=np.float32)), 0.625)


def test_conversations_are_told_apart_when_more_is_said():
    turns = shelf(conversation("a", "tea"), conversation("b", "tea"))
    supported(turns, np.array([0.5, 0.5], dtype=np.float32))
    turns.put(turn_batch(conversation("b", "more tea", first=1)))
    first, second, third = supported(turns, np.array([0.5, 0.5, 0.5], dtype=np.float32))
    assert first < second == third


def test_preferences_count_more_where_advice_is_asked():
    turns = shelf(conversation("ses_1", "I prefer small hotels", "I prefer large ones", "I was in a hotel"))
    alike = np.array([0.5, 0.5, 0.5], dtype=np.float32)
    asked_for, reply, told = preferred(turns, alike, ask("Which hotel would you recommend?"))
    assert asked_for > reply == told
    assert preferred(turns, alike, ask("Which hotel was I in?")).tolist() == alike.tolist()
    assert preferred(turns, alike * 0, ask("Which hotel would you recommend?")).tolist() == [0, 0, 0]


def test_an_answer_takes_part_in_its_question():
    turns = shelf(conversation("ses_1", "What is your cat called?", "Miso", "Nice", "Indeed"))
    scores = with_answers(turns, np.array([1.0, 0.5, 0.5, 0.0], dtype=np.float32))
    assert scores[1] > 0.5
    assert scores[[0, 2, 3]].tolist() == [1.0, 0.5, 0.0]


def test_new_lines_are_judged_as_they_come():
    turns = shelf(conversation("ses_1", "What is it called?"))
    assert len(worth(turns, ask("x"), {})) == 1
    turns.put(turn_batch(conversation("ses_1", "Miso, after the soup", first=1)))
    assert worth(turns, ask("x"), {})[0] < worth(turns, ask("x"), {})[1] == 1


def test_conversations_take_turns():
    turns = shelf(conversation("a", *("tea " * n for n in range(1, 5))), conversation("b", "tea", "x", "y", "z"))
    scores = np.array([0.9, 0.88, 0.87, 0.86, 0.8, 0, 0, 0], dtype=np.float32)
    told = Query("I bought tea for my sister today.", "", None, NOW)
    assert [line for line, _ in spaced(turns, [0, 1, 2, 3, 4], scores, told)][:2] == [0, 4]


def test_cross_conversation_question_gets_parts_of_each():
    turns = shelf(conversation("a", "one", "two", "three", "four"), conversation("b", "five", "six", "seven", "eight"))
    scores = np.array([0.9, 0.88, 0.87, 0.86, 0.8, 0.7, 0, 0], dtype=np.float32)
    found = spaced(turns, [0, 1, 2, 3, 4, 5], scores, ask("In which order did I take up my projects?"))
    assert [line for line, _ in found] == [0, 4, 1, 2, 5, 3]
    assert [value for _, value in found] == sorted((value for _, value in found), reverse=True)
    assert [line for line, _ in spaced(turns, [0, 1, 2, 3, 4, 5], scores, ask("Which project?"))] == [0, 1, 2, 3, 4, 5]


def test_short_turn_is_judged_with_its_neighbours():
    """A long turn is judged alone."""
    lone, near = np.array([1, 1], dtype=np.float32), np.array([0, 0], dtype=np.float32)
    turns = shelf(conversation("ses_1", "tea", "x"))
    like = replace(likeness(turns, ask("tea"), {}, np.ones(2, dtype=bool)), words=lone, cosines=lone)
    like = replace(like, words_around=near + np.array([0, 1e-6], dtype=np.float32), cosines_around=near + 1)
    short, long = like.fused(np.array([50, 900], dtype=np.int32), np.ones(2, dtype=bool), is_told=False)
    assert long > short


def test_speakers_name_is_sought_only_when_alone():
    assert without_names({"robin": 1.0, "dog": 1.0}, {"Robin": "assistant"}) == {"dog": 1.0}
    assert without_names({"robin": 1.0, "the": 0.05}, {"Robin": "assistant"}) == {"robin": 1.0, "the": 0.05}


def exchanges() -> TurnShelf:
    """Return two questions with long replies of three chunks each, and a remark."""
    talks = []
    for name, matter in (("garden", "my dry garden"), ("knee", "my sore knee")):
        asked, reply = conversation(name, f"Any ideas for {matter}?", f"For {matter}: first this")
        rest = [replace(reply, id=f"{reply.id}.{at}", text=f"step {at} of {name}", piece=at) for at in (1, 2)]
        talks.append([asked, reply, *rest])
    return shelf(*talks, conversation("later", "The garden gate squeaks"))


def test_answer_comes_whole_behind_its_question():
    turns = exchanges()
    plain = np.array([0.6, 0.7, 0.1, 0.1, 0.2, 0.2, 0.1, 0.1, 0.9], dtype=np.float32)
    scores = plain * np.where(turns.by_user, 1, np.float32(0.4))
    ranked = np.argsort(-with_reply(turns, scores, plain, ask("What did you suggest for my garden?")), kind="stable")
    assert ranked.tolist()[:5] == [0, 1, 2, 3, 8]
    for other in ("What do you suggest for my garden?", "In which order did you suggest plants for my garden?"):
        assert with_reply(turns, scores, plain, ask(other)).tolist() == scores.tolist()


def test_hidden_reply_stays_away():
    turns = exchanges()
    plain = np.array([0.6, 0.7, 0.1, 0.1, 0.2, 0.2, 0.1, 0.1, 0.9], dtype=np.float32)
    hidden = plain.copy()
    hidden[2] = 0
    raised = with_reply(turns, hidden, plain, ask("What did you suggest for my garden?"))
    assert raised[2] == 0
    assert raised[3] > raised[8]
    nothing = np.zeros_like(plain)
    assert not with_reply(turns, nothing, nothing, ask("What did you suggest for my garden?")).any()


def who(text: str, mask: np.ndarray | None = None):
    turns = shelf(TALK)
    return called(turns, text, np.ones(len(TALK), dtype=bool) if mask is None else mask)


def test_name_that_the_user_calls_means_the_assistant():
    assert who("Why would Robin visit us?") == {"Robin": "assistant"}


def test_name_that_the_assistant_calls_means_the_user():
    assert who("What does Kim own?") == {"Kim": "user"}
    assert who("When did Kim and Robin meet?") == {"Kim": "user", "Robin": "assistant"}


@pytest.mark.parametrize(
    "text", ["Why does the dog Rex hate trains?", "Who lives in Berlin?", "Does Alex know us?", "Robin"]
)
def test_names_of_others_and_places_mean_nobody_here(text):
    assert who(text) == {}


def test_what_is_not_visible_teaches_nothing():
    assert who("Why would Robin visit us?", np.zeros(len(TALK), dtype=bool)) == {}


def test_two_calls_are_not_enough():
    turns = shelf(TALK[:4])
    assert called(turns, "Why would Robin visit us?", np.ones(4, dtype=bool)) == {}

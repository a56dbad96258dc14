from __future__ import annotations

import numpy as np
import pytest

from proxy.memory.index.index import TurnShelf
from proxy.memory.recall.names import called
from tests.memory.rows import DIMENSION, MODEL, conversation, turn_batch

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

"""The judge's words that pass the guards of the built-in engine."""

from __future__ import annotations

import pytest

from proxy.memory.learn.statements import own_sentences
from proxy.worker.judging import guarded


@pytest.mark.parametrize(
    ("older", "word", "message"),
    [
        ("I use Corvid and Tandem for planning.", "Tandem", "We dropped Tandem at work, nobody liked it."),
        ("Our stand-up is at 9:30.", "9:30", "Stand-up moved to ten o'clock."),
        ("I have psoriasis and a hazelnut allergy.", "psoriasis", "Please forget that I have psoriasis."),
        ("Unser Hund heißt Balu.", "Balu", "Balu ist letzte Woche gestorben."),
    ],
)
def test_what_a_message_says_has_ended_is_closed(older: str, word: str, message: str) -> None:
    assert guarded(older, own_sentences(message), [word]) is not None


@pytest.mark.parametrize(
    ("older", "word", "message"),
    [
        ("I use Zulip for work.", "Zulip", "I don't use Zulip on weekends, that's my rule."),
        ("I take levothyroxine.", "levothyroxine", "My brother stopped taking levothyroxine."),
        ("I use Zulip for work.", "Zulip", "Should I stop using Zulip?"),
        ("I'm allergic to walnuts.", "allergic", "I stopped baking, it was too much work."),
    ],
)
def test_exceptions_other_people_questions_and_dangers_are_not(older: str, word: str, message: str) -> None:
    assert guarded(older, own_sentences(message), [word]) is None

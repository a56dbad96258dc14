"""Sentences about topics that must not be stored."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proxy.text.topics import is_about, without

TOPICS = ["health", "religion", "politics", "sexuality", "origin"]
ABOUT = [
    ("health", "She has diabetes."),
    ("health", "I've had high blood pressure since May."),
    ("health", "Ich bin seit Montag krankgeschrieben."),
    ("health", "Soy alérgico a los cacahuetes."),
    ("health", "У меня аллергия на орехи."),
    ("health", "我有糖尿病。"),
    ("health", "Je suis enceinte."),
    ("health", "Estou grávida."),
    ("religion", "We go to church on Sundays."),
    ("religion", "Meine Familie ist katholisch."),
    ("politics", "I voted for the Greens."),
    ("politics", "Estoy en un sindicato."),
    ("sexuality", "My brother is gay."),
    ("origin", "My grandparents were refugees."),
]
ELSE = [
    "My sister is Ana.",
    "Ich glaube, das passt.",
    "Je suis parti à Lyon.",
    "El partido empieza a las ocho.",
    "Меня зовут Вера.",
    "我住在上海。",
    "The std library is enough, use a race detector.",
]


@pytest.mark.parametrize(("topic", "sentence"), ABOUT)
def test_a_sentence_is_left_out_for_its_topic(topic: str, sentence: str) -> None:
    assert without(f"My cat is Mia. {sentence}\nI like tea.", [topic]) == "My cat is Mia. \nI like tea."
    assert without(sentence, [other for other in TOPICS if other != topic]) == sentence


@pytest.mark.parametrize("sentence", ELSE)
def test_words_that_only_look_alike_stay(sentence: str) -> None:
    assert without(sentence, TOPICS) == sentence


@given(st.lists(st.sampled_from([*(sentence for _, sentence in ABOUT), *ELSE]), max_size=8))
def test_what_stays_is_about_no_topic(said: list[str]) -> None:
    text = " ".join(said)
    left = without(text, TOPICS)
    assert not is_about(left, TOPICS)
    assert left.split() == [word for one in said if not is_about(one, TOPICS) for word in one.split()]
    assert without(left, TOPICS) == left
    assert without(text, []) == text


@pytest.mark.parametrize("piece", ["a", "我有一个朋友", "diabetes. ", "word "])
def test_a_long_text_takes_little(piece: str) -> None:
    def cost_s(length: int) -> float:
        started = time.process_time()
        without((piece * length)[:length], TOPICS)
        return time.process_time() - started

    cost_s(100)
    assert cost_s(160_000) < 10 + 40 * cost_s(10_000)

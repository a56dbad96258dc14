"""What one prefers comes to mind where advice is asked for."""

from __future__ import annotations

import pytest

from proxy.memory.recall.advice import asks_for_advice, prefers


@pytest.mark.parametrize(
    "text",
    [
        "What would you recommend for a rainy weekend?",
        "Should I take the train or the bus?",
        "Kannst du mir ein Restaurant empfehlen?",
        "Was soll ich am Sonntag kochen?",
        "¿Qué me recomiendas para cenar?",
        "Посоветуй, что почитать вечером.",
        "推荐几本书吧",
    ],
)
def test_questions_for_advice_are_known(text: str) -> None:
    assert asks_for_advice(text)


@pytest.mark.parametrize(
    "text",
    ["When did I move to Leeds?", "Wie heißt meine Katze?", "¿Dónde vivo?", "Как зовут моего кота?", "我住在哪里？"],
)
def test_questions_for_facts_are_not(text: str) -> None:
    assert not asks_for_advice(text)


@pytest.mark.parametrize(
    "text",
    [
        "I prefer small hotels, close to the station.",
        "I've decided to go without a car.",
        "Am liebsten sitze ich am Fenster.",
        "Prefiero los libros en papel.",
        "Мне нравится джаз.",
        "我比较喜欢安静的地方",
    ],
)
def test_preferences_are_known(text: str) -> None:
    assert prefers(text)


@pytest.mark.parametrize("text", ["The train leaves at nine.", "Ich wohne in Bonn.", "Vivo en Lima.", "我住在北京"])
def test_other_statements_are_not(text: str) -> None:
    assert not prefers(text)

"""Everyday requests for all memories of the user."""

from __future__ import annotations

import pytest

from proxy.memory.recall.hits import is_overview


@pytest.mark.parametrize(
    "question",
    [
        "was weißt du eigentlich schon über mich?",
        "erzähl mal was du über mich weisst",
        "kennst du mich?",
        "¿qué sabés de mí?",
        "qué te acuerdas de mí",
        "cuéntame lo que sabes de mí",
        "а что ты уже знаешь обо мне?",
        "что ты обо мне запомнил",
        "说说你知道的关于我的事",
        "你了解我吗",
        "dis moi ce que tu sais sur moi",
        "t'as quoi en mémoire sur moi",
        "o que vc sabe de mim",
        "o que sabes acerca de mim?",
    ],
)
def test_it_asks_for_everything(question: str) -> None:
    assert is_overview(question)


@pytest.mark.parametrize("question", ["qué recuerdas de mi hermana?", "was weißt du über meine Katze?"])
def test_it_asks_for_one_thing(question: str) -> None:
    assert not is_overview(question)

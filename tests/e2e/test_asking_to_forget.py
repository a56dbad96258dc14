"""Everyday requests to forget: by a person's role, by a related word, rude, or at the end of news."""

from __future__ import annotations

import pytest

from tests.e2e.test_half_sentences import told
from tests.fakes.provider import FakeProvider
from tests.talking import Speaker


@pytest.mark.parametrize(
    ("said", "asked", "gone"),
    [
        (
            ("My boss is called Marianne.", "Marianne calls me at night.", "Forget what I told you about my boss."),
            "What do you know about my work?",
            "Marianne",
        ),
        (
            ("Mi jefa se llama Remedios.", "Remedios me llama de noche.", "Olvida lo que te conté de mi jefa."),
            "¿Qué sabes de mi trabajo?",
            "Remedios",
        ),
        (
            ("Моего начальника зовут Палыч.", "Палыч звонит мне ночью.", "Забудь всё, что я говорил о начальнике."),
            "Что ты знаешь о моей работе?",
            "Палыч",
        ),
        (
            ("I'm seeing a therapist for panic attacks.", "Delete everything about my therapy please."),
            "What do you know about me?",
            "panic",
        ),
        (
            ("Ich verdiene 4.100 Euro.", "Was ich dir über mein Gehalt gesagt habe, vergiss das bitte wieder."),
            "Was weißt du über mich?",
            "4.100",
        ),
        (
            ("My ex Darren owes me 900 pounds.", "oh for god's sake just forget about Darren already, I'm done"),
            "Who owes me money?",
            "Darren",
        ),
        (("Le debo 300 euros a Paco.", "Joder, olvídate de Paco, ¿vale?"), "¿A quién le debo dinero?", "Paco"),
        (
            ("Я встречалась с Артёмом.", "Да забудь ты уже этого Артёма, достал!"),
            "С кем я встречалась?",
            "Артём",
        ),
        (
            ("我老板叫赵建国。", "赵建国周末也给我打电话。", "请忘掉我老板的事。"),
            "你知道我工作上的什么事？",
            "赵建国",
        ),
        (("我体重九十公斤。", "对了，我体重的事你忘了吧。"), "你知道我些什么？", "九十公斤"),
    ],
)
def test_what_was_asked_to_be_forgotten_is_gone(
    alice: Speaker, upstream: FakeProvider, said: tuple[str, ...], asked: str, gone: str
) -> None:
    assert gone not in told(alice, upstream, *said, asked=asked)


@pytest.mark.parametrize(
    ("said", "asked", "stays"),
    [
        (("I weigh 93 kilos.", "I joined a rowing club! Forget what I said about my weight."), "My sport?", "rowing"),
        (("No me gusta el té.", "No olvides comprar té."), "¿Me gusta el té?", "No me gusta el té"),
    ],
)
def test_what_was_not_asked_for_stays(
    alice: Speaker, upstream: FakeProvider, said: tuple[str, ...], asked: str, stays: str
) -> None:
    assert stays in told(alice, upstream, *said, asked=asked)

"""Corrections of a value in the sentence right before, and texts that only begin like one."""

from __future__ import annotations

import pytest

from proxy.text.slips import corrects


@pytest.mark.parametrize(
    ("text", "before"),
    [
        ("Sorry, May 4", "My birthday is on May 3."),
        ("I mean the 14th", "My appointment is on the 12th."),
        ("no wait, York", "My sister lives in Leeds."),
        ("*York", "My sister lives in Leeds."),
        ("no, 84", "I weigh 82 kg."),
        ("no she lives in York", "My sister lives in Leeds."),
        ("Her name is Mochi, not Miso.", "My cat is called Miso."),
        ("Not Leeds, York.", "My sister lives in Leeds."),
        ("Perdón, York.", "Mi hermana vive en Leeds."),
        ("Ой, в Казани.", "Моя сестра живёт в Москве."),
    ],
)
def test_another_value_corrects(text: str, before: str) -> None:
    assert corrects(text, before)


@pytest.mark.parametrize(
    ("text", "before"),
    [
        ("Sorry, gotta go.", "My sister lives in Leeds."),
        ("Sorry, my brother too", "My sister lives in Leeds."),
        ("Sorry, one sec", "My flight is at 9."),
        ("I mean it", "My birthday is on May 3."),
        ("No, thanks", "My sister lives in Leeds."),
        ("Sorry, Leeds.", "My sister lives in Leeds."),
        ("Sorry, 2", "My sister lives in Leeds."),
        ("York", "My sister lives in Leeds."),
    ],
)
def test_no_other_value_corrects_nothing(text: str, before: str) -> None:
    assert not corrects(text, before)


def test_no_may_answer_a_question() -> None:
    assert not corrects("No, York.", "My sister lives in Leeds.", is_asked=True)

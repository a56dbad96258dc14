"""Only the author's statements count: no code, quotations or material."""

from __future__ import annotations

import pytest

from proxy.text.user_spans import user_spans


def own(text: str) -> str:
    return " ".join("".join(text[start:end] for start, end in user_spans(text)).split())


@pytest.mark.parametrize(
    ("text", "gone", "kept"),
    [
        ("I use Vim.\n```python\nprint('Emacs')\n```\nThanks", "Emacs", "Vim"),
        ("I use Vim.\n```\nprint('Emacs')", "Emacs", "Vim"),
        ("> I hate Vim\nI like it though", "hate", "like it"),
        ('He wrote "get rid of your kettlebells, they are junk" to me', "kettlebells", "He wrote"),
        ("Er schrieb: „Ich habe Emacs gelöscht und bereue nichts.“ Was nun?", "Emacs", "Was nun"),
        ("Коллега написал: «удалил Emacs и совсем не жалею». Что ответить?", "Emacs", "ответить"),
        ("同事说“我把Emacs删了，不后悔”。怎么回？", "Emacs", "怎么回"),
        ("Translate to German: I live in Leeds", "Leeds", "Translate"),
        ("请翻译：我住在无锡", "无锡", "请翻译"),
        ("<memory-facts>I use Magnet</memory-facts>\nI use Shram", "Magnet", "Shram"),
        ("The mail:\n\nHi,\nI am in Crete.\nBest,\nOren\n\nI've lived here since 2019.", "Crete", "since 2019"),
        ("The song goes: I shot the sheriff", "sheriff", "song"),
        ("Translate 'I am pregnant' into Spanish.", "pregnant", "Spanish"),
        ("[Forwarded from Kai]\nI live in Kiel", "Kiel", ""),
        ("I moved.\nFrom: Bob\nTo: me\nSubject: Rent\nI live in Paris", "Paris", "I moved"),
        ("2026-01-01 10:00:00 ERROR I use Magnet\nwhy?", "Magnet", "why"),
    ],
)
def test_text_that_the_author_did_not_state_goes(text: str, gone: str, kept: str) -> None:
    assert gone not in own(text)
    assert kept in own(text)


@pytest.mark.parametrize(
    "text", ['My favourite film is "Paprika".', "Мой любимый фильм — «Амели».", "我最喜欢《海上花》。"]
)
def test_titles_in_quotation_marks_stay(text: str) -> None:
    assert own(text) == text


def test_spans_are_offsets_in_order() -> None:
    text = "One.\n```\ncode\n```\nTwo."
    spans = user_spans(text)
    assert spans == sorted(spans)
    assert all(0 <= start < end <= len(text) for start, end in spans)

"""Pieces of words in many languages: they cover a text in order, whatever it holds, and stand for what they mean."""

from __future__ import annotations

import itertools
import unicodedata

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from proxy.memory.vectors.minilm import MODELS, MiniLM
from proxy.memory.vectors.pieces import Pieces

PIECES = Pieces.load(MODELS)


def said(text: str) -> list[str]:
    return [text[piece.start : piece.end] for piece in PIECES.split(text)]


@pytest.mark.parametrize(
    ("text", "pieces"),
    [
        ("我不再吃素了。", ["我", "不再", "吃", "素", "了", "。"]),
        ("Das hat mir der Arzt gesagt", ["Das", "hat", "mir", "der", "Arzt", "gesagt"]),
        ("Ya no como carne", ["Ya", "no", "como", "carne"]),
        ("Я больше не ем", ["Я", "больше", "не", "ем"]),
        ("ﬁne!  42", ["ﬁne", "!", "4", "2"]),
    ],
)
def test_a_text_is_split_into_words_and_their_parts(text: str, pieces: list[str]) -> None:
    assert said(text) == pieces


@given(st.text(max_size=120))
@example("\ud83d lone")
@example("　")
@example("é")
def test_pieces_cover_every_letter_once_and_in_order(text: str) -> None:
    pieces = PIECES.split(text)
    assert all(one.end <= other.start or one.end <= other.end for one, other in itertools.pairwise(pieces))
    covered = {place for piece in pieces for place in range(piece.start, piece.end)}
    letters = {n for n, letter in enumerate(text) if unicodedata.normalize("NFKC", letter).replace("▁", " ").split()}
    assert letters <= covered
    assert all(piece.row >= 0 for piece in pieces)


@pytest.mark.parametrize("word", ["мясо", "Fleisch", "carne", "肉"])
def test_what_means_the_same_is_read_alike_in_any_language(word: str) -> None:
    model = MiniLM.shared()
    meat, other, bicycle = (model.middle(one, "", PIECES).rows for one in ("meat", word, "bicycle"))
    first, second, third = (rows[1] / np.linalg.norm(rows[1]) for rows in (meat, other, bicycle))
    assert first @ second > first @ third + 0.1

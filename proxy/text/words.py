"""Folded words with their offsets in a text, and their stems."""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache
from sys import intern
from typing import NamedTuple

from Stemmer import Stemmer

from proxy.text.han import SIMPLIFIED

Span = tuple[int, int]

# Cache size for texts: the same few statements are parsed turn after turn.
TEXTS_KEPT = 256

CJK = r"\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af"
WORD = re.compile(rf"[{CJK}]|(?:(?![{CJK}])[^\W_])+")
HAS_CJK = re.compile(f"[{CJK}]")
_CYRILLIC = re.compile(r"[а-яё]")
_SPACE = re.compile(r"\s+")
_MARKS = str.maketrans(
    {"’": "'", "‘": "'", "`": "'", "“": '"', "”": '"', "„": '"', "«": '"', "»": '"', "–": "-", "—": "-"}
)
_FLAT = str.maketrans({"’": "'", "‘": "'", "`": "'", "ё": "е", "\u00a0": " "}) | SIMPLIFIED
_UMLAUTS = {"ä": "ae", "ö": "oe", "ü": "ue", "ß": "ss", "œ": "oe"}
_ACCENTS = {letter: unicodedata.normalize("NFD", letter)[0] for letter in map(chr, range(0xE0, 0x180))} | _UMLAUTS
_LANGUAGES = ("english", "german", "spanish")
_STEMMERS = {name: Stemmer(name, 0) for name in (*_LANGUAGES, "russian")}  # 0: no cache of its own


class Word(NamedTuple):
    """A word of a text: its folded form and its offsets."""

    text: str
    start: int
    end: int


def fold(text: str) -> str:
    """Return ``text`` in the form for comparison: NFKC, case-folded, plain quotes, single spaces."""
    if not text.isascii():
        text = unicodedata.normalize("NFKC", text).translate(_MARKS)
    return _SPACE.sub(" ", text.casefold().replace("ё", "е")).strip()


def unaccented(low: str) -> str:
    """Return a text in lower case as it is written without accents: "café", "für"."""
    return low if low.isascii() else "".join(_ACCENTS.get(letter, letter) for letter in low)


def flat(text: str) -> str:
    """Return ``text`` in lower case with plain quotes and simplified characters; offsets stay the same."""
    lowered = text.lower()
    if len(lowered) != len(text):
        lowered = "".join(char.lower() if len(char.lower()) == 1 else char for char in text)
    return lowered if lowered.isascii() else lowered.translate(_FLAT)


@lru_cache(maxsize=TEXTS_KEPT)
def words(text: str) -> tuple[Word, ...]:
    """Return the words of ``text``; each CJK character is a word, offsets are those of ``text``."""
    if text.isascii():
        lowered = text.lower()
        return tuple(Word(intern(lowered[m.start() : m.end()]), m.start(), m.end()) for m in WORD.finditer(text))
    return tuple(Word(intern(_folded(match[0])), match.start(), match.end()) for match in WORD.finditer(text))


def _folded(word: str) -> str:
    """Return the folded form of one word; lower case suffices for most."""
    if word.isascii():
        return word.lower()
    if unicodedata.is_normalized("NFKC", word):
        return word.casefold().replace("ё", "е")
    return fold(word)


@lru_cache(maxsize=8_000)
def stems(word: str) -> tuple[str, ...]:
    """Return the stems of a folded word, one for each language that its script allows."""
    if HAS_CJK.search(word) or not word.isalpha():
        return (word,)
    if _CYRILLIC.search(word):
        return (_STEMMERS["russian"].stemWord(word),)
    kept = {word: word}  # most stems are equal, and twenty thousand of these are cached
    return tuple(kept.setdefault(stem, stem) for stem in (_STEMMERS[name].stemWord(word) for name in _LANGUAGES))

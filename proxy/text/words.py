"""Folded words with their places in a text, and when two surface forms name the same thing."""

from __future__ import annotations

import itertools
import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from sys import intern
from typing import NamedTuple

import snowballstemmer

from proxy.text.han import SIMPLIFIED

Span = tuple[int, int]

# Texts of which each step of a reading is remembered: what a handful of users said is asked about turn after turn.
TEXTS_KEPT = 256

CJK = r"\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af"
WORD = re.compile(rf"[{CJK}]|(?:(?![{CJK}])[^\W_])+")
HAS_CJK = re.compile(f"[{CJK}]")
_CYRILLIC = re.compile(r"[а-яё]")
_SPACE = re.compile(r"\s+")
_FLEETING = re.compile(r"\A([а-я]{2,}[бвгджзклмнпрстфхцчшщ])[ео]([бвдзклмнрстцчш])")  # "огонек", "огонька"
_MARKS = str.maketrans(
    {"’": "'", "‘": "'", "`": "'", "“": '"', "”": '"', "„": '"', "«": '"', "»": '"', "–": "-", "—": "-"}
)
_FLAT = str.maketrans({"’": "'", "‘": "'", "`": "'", "ё": "е", "\u00a0": " "}) | SIMPLIFIED
_NAME_ENDINGS = ("", "s", "es", "n")  # a capitalised name takes a genitive or plural ending, nothing else
_CASE_ENDINGS = frozenset(
    (
        "",
        *"аяйьеоыиую",
        "ой",
        "ей",
        "ом",
        "ем",
        "ым",
        "им",
        "ою",
        "ею",
        "ью",
        "ам",
        "ям",
        "ах",
        "ях",
        "ов",
        "ев",
        "ами",
        "ями",
        "ого",
        "его",
        "ому",
    )
)
_LANGUAGES = ("english", "german", "spanish")
_STEMMERS = {name: snowballstemmer.stemmer(name) for name in (*_LANGUAGES, "russian")}


class Word(NamedTuple):
    """A word of a text: its folded form and where it stands."""

    text: str
    start: int
    end: int


def word_set(text: str) -> frozenset[str]:
    """Return the words of ``text`` as a set; how word lists are written here."""
    return frozenset(text.split())


def fold(text: str) -> str:
    """Return ``text`` in the form in which it is compared: NFKC, case-folded, plain quotes, single spaces."""
    if not text.isascii():
        text = unicodedata.normalize("NFKC", text).translate(_MARKS)
    return _SPACE.sub(" ", text.casefold().replace("ё", "е")).strip()


def flat(text: str) -> str:
    """Return ``text`` in lower case with plain quotes and simplified characters, each at its place."""
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
    """Return the folded form of one word; most need no more than lower case."""
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
    kept = {word: word}  # most are alike, and twenty thousand of these are remembered
    return tuple(kept.setdefault(stem, stem) for stem in (_STEMMERS[name].stemWord(word) for name in _LANGUAGES))


def same_word(left: str, right: str, *, name: bool = False) -> bool:
    """Whether two folded words are forms of one another.

    Args:
        left: A folded word.
        right: Another.
        name: Both are Latin proper names, which only take an ending: Maria is not Mario.
    """
    if left == right:
        return True
    if not (left.isalpha() and right.isalpha()) or left[:2] != right[:2] or HAS_CJK.search(left):
        return False
    if name and not _CYRILLIC.search(left):
        short, long = sorted((left, right), key=len)
        return len(short) > 2 and long.startswith(short) and long[len(short) :] in _NAME_ENDINGS
    if _CYRILLIC.search(left) and any(
        _is_declined(short, long) for short, long in ((left, right), (right, left)) if len(short) <= len(long)
    ):
        return True
    if min(len(left), len(right)) < 4:
        return False
    return any(a == b for a, b in zip(stems(left), stems(right), strict=False))


def _is_declined(short: str, long: str) -> bool:
    """Whether two Cyrillic words differ by a case ending alone; the stemmer takes more than that off many names."""
    base = short[:-1] if short[-1] in "аяйьеоыиуюё" and len(short) > 3 else short
    bases = (
        (base,)
        if (fleeting := _FLEETING.fullmatch(short)) is None
        else (base, fleeting[1] + fleeting[2], fleeting[1] + "ь" + fleeting[2])
    )
    return any(len(b) > 2 and long.startswith(b) and long[len(b) :] in _CASE_ENDINGS for b in bases)


@dataclass(frozen=True, slots=True)
class Value:
    """A surface form to look for: its folded words and whether each is written as a name."""

    words: tuple[str, ...]
    names: tuple[bool, ...]

    @classmethod
    def of(cls, surface: str) -> Value:
        """Return the value that ``surface`` writes."""
        found = words(surface)
        return cls(
            tuple(word.text for word in found),
            tuple(surface[word.start].isupper() or not surface[word.start].isalpha() for word in found),
        )

    def find(self, text_words: Sequence[Word]) -> Iterator[Span]:
        """Yield where in the text the value stands, whatever its inflection."""
        for first in range(len(text_words) - len(self.words) + 1):
            if self.stands_at(text_words, first):
                yield text_words[first].start, text_words[first + len(self.words) - 1].end

    def stands_at(self, text_words: Sequence[Word], first: int) -> bool:
        """Whether the value starts at word ``first`` of a text."""
        size = len(self.words)
        if not size or first + size > len(text_words):
            return False
        return all(
            same_word(self.words[k], text_words[first + k].text, name=self.names[k]) for k in range(size)
        ) and _is_one_phrase(text_words[first : first + size])


def _is_one_phrase(found: Sequence[Word]) -> bool:
    return all(right.start - left.end <= 2 for left, right in itertools.pairwise(found))


def mentions(text: str, term: str) -> bool:
    """Whether ``text`` names ``term``: whole words, any inflection."""
    return next(Value.of(term).find(words(text)), None) is not None


def same_value(left: str, right: str) -> bool:
    """Whether two surface forms write the same value, articles and inflection aside."""
    ours, theirs = _bare(left), _bare(right)
    return len(ours.words) == len(theirs.words) > 0 and all(
        same_word(a, b, name=n and m)
        for a, b, n, m in zip(ours.words, theirs.words, ours.names, theirs.names, strict=True)
    )


_ARTICLES = word_set(
    """a an the my our der die das den dem des ein eine einen einem einer mein meine meinen meinem meiner el la los las
    un una mi mis nuestro nuestra мой моя мое мои наш наша"""
)


@lru_cache(maxsize=5_000)
def _bare(surface: str) -> Value:
    value = Value.of(surface)
    skip = 0
    while skip < len(value.words) - 1 and value.words[skip] in _ARTICLES:
        skip += 1
    return Value(value.words[skip:], value.names[skip:])


def contains_value(longer: str, term: str) -> bool:
    """Whether ``term`` is the value ``longer`` or a part of it ("Larkspur" of "the Larkspur choir")."""
    return next(_bare(term).find(words(longer)), None) is not None

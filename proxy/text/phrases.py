"""Phrases with slots, found token by token in linear time; the phrases are data of a language.

A template is a row of items with blanks between them: ``next/coming`` is one of several words, ``of?`` is optional,
``{month}`` is a slot.
"""

from __future__ import annotations

import itertools
import re
import unicodedata
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, NamedTuple, Protocol

from proxy.text.words import CJK, flat

DIGIT = "#"  # matches every token that starts with a digit
TOKEN = re.compile(
    r"\d{4}-\d\d-\d\d(?!\d)"
    r"|\d{1,2}[./]\d{1,2}(?:[./](?:\d{4}|\d\d)|\.)?(?![./]?\d)"
    rf"|[{CJK}]|[^\W_{CJK}]+"
)
_JOINTS = " \u00a0'-"
_MAX_GAP = 3

Meaning = tuple[str, int]
Form = tuple[str, ...]
Read = tuple[Any, int]  # value, and the index of the token after it


@dataclass(frozen=True, slots=True)
class Tokens:
    """Tokens of a text in lower case; each CJK character, number and date of digits is one.

    Attributes:
        text: The text in the form NFKC, to which ``starts`` and ``ends`` refer.
        keys: The tokens, with ``DIGIT`` for those that start with a digit.
    """

    text: str
    words: Form
    keys: Form
    starts: tuple[int, ...]
    ends: tuple[int, ...]

    @classmethod
    def of(cls, text: str) -> Tokens:
        """Return the tokens of ``text``."""
        text = text if text.isascii() else unicodedata.normalize("NFKC", text)
        low = flat(text)
        spans = [match.span() for match in TOKEN.finditer(low)]
        words = tuple([low[start:end] for start, end in spans])
        return cls(text, words, _keys(words), tuple([start for start, _ in spans]), tuple([end for _, end in spans]))

    def gap(self, at: int) -> str:
        """Return the characters before a token that is not the first."""
        return self.text[self.ends[at - 1] : self.starts[at]]

    def follows(self, at: int, joints: str = _JOINTS) -> bool:
        """Return whether a token directly follows the one before it."""
        gap = self.gap(at)
        if gap in ("", " "):
            return True
        if self.words[at - 1].isdigit():
            joints += "."
        return len(gap) <= _MAX_GAP and not gap.translate(_without(joints))


def _without(joints: str) -> dict[int, None]:
    return dict.fromkeys(map(ord, joints.replace("'", "'’‘`")))


class Slot(Protocol):
    """Parser of one place of a template.

    Attributes:
        firsts: Keys of the tokens that it can start with.
    """

    firsts: frozenset[str]

    def read(self, tokens: Tokens, at: int) -> Read | None:
        """Return the value that starts at a token, and the index of the token after it."""
        ...


class Listed:
    """Slot of listed forms; the longest match counts.

    Args:
        forms: Values by written form; forms of several words are allowed.
        cased: Words that count only with a capital letter.
    """

    def __init__(self, forms: Mapping[str, Any], cased: Iterable[str] = ()) -> None:
        read = sorted(((Tokens.of(form).words, value) for form, value in forms.items()), key=lambda one: -len(one[0]))
        self._by_first: dict[str, list[tuple[Form, Any]]] = {}
        for form, value in read:
            self._by_first.setdefault(form[0], []).append((form, value))
        self._cased = frozenset(cased)
        self.firsts = frozenset(_keys(self._by_first))

    def read(self, tokens: Tokens, at: int) -> Read | None:
        """Return the value of the longest form that starts at a token."""
        word = tokens.words[at]
        for form, value in self._by_first.get(word, ()):
            end = at + len(form)
            if len(form) == 1 or (tokens.words[at:end] == form and all(map(tokens.follows, range(at + 1, end)))):
                is_other = word in self._cased and not tokens.text[tokens.starts[at]].isupper()
                return None if is_other else (value, end)
        return None


class Digits:
    """Slot of one token that starts with a digit; ``parse`` returns its value, None if it has none."""

    firsts = frozenset([DIGIT])

    def __init__(self, parse: Callable[[str], Any]) -> None:
        self._parse = parse

    def read(self, tokens: Tokens, at: int) -> Read | None:
        """Return the value of a token."""
        value = self._parse(tokens.words[at]) if tokens.words[at][0].isdigit() else None
        return None if value is None else (value, at + 1)


class Either:
    """Slot with several alternatives; none matches after a token of ``barred`` or a number."""

    def __init__(self, *slots: Slot, barred: Iterable[str] = ()) -> None:
        self._slots = slots
        self._barred = frozenset(barred)
        self.firsts = frozenset[str]().union(*(slot.firsts for slot in slots))

    def read(self, tokens: Tokens, at: int) -> Read | None:
        """Return the value of the first slot that has one."""
        if self._barred and at and len(tokens.gap(at)) <= 1:
            before = tokens.words[at - 1]
            if before in self._barred or before[0].isdigit():
                return None
        return next((found for slot in self._slots if (found := slot.read(tokens, at))), None)


class Match(NamedTuple):
    """A phrase found: its meaning, the values of its slots, and its tokens."""

    meaning: Meaning
    values: Mapping[str, Any]
    start: int
    end: int


class _Item(NamedTuple):
    name: str  # of its value: the slot's up to a dot, "" for words
    slot: Slot


@dataclass(frozen=True, slots=True)
class _Phrase:
    meaning: Meaning
    order: int
    first: _Item
    rest: tuple[_Item, ...]

    def match(self, tokens: Tokens, start: int, first: Read) -> Match | None:
        """Return the phrase at ``start``, whose first item is parsed already."""
        value, at = first
        values = {self.first.name: value}
        for name, slot in self.rest:
            if at == len(tokens.keys) or tokens.keys[at] not in slot.firsts:
                return None
            if not tokens.follows(at, _JOINTS + "," if name == "year" else _JOINTS):
                return None
            found = slot.read(tokens, at)
            if found is None:
                return None
            values[name], at = found
        return Match(self.meaning, values, start, at)


class Phrases:
    """Compiled templates; of several matches at a token the longest counts, then the first.

    Args:
        templates: Meanings with their templates.
        slots: Slots by the names that templates use.
    """

    def __init__(self, templates: Iterable[tuple[Meaning, str]], slots: Mapping[str, Slot]) -> None:
        self._by_first: dict[str, dict[Slot, list[_Phrase]]] = {}
        for order, (meaning, template) in enumerate(templates):
            for first, *rest in _expanded(template, slots):
                phrase = _Phrase(meaning, order, first, tuple(rest))
                for key in first.slot.firsts:
                    self._by_first.setdefault(key, {}).setdefault(first.slot, []).append(phrase)

    @property
    def firsts(self) -> frozenset[str]:
        """Keys of the tokens that a phrase can start with."""
        return frozenset(self._by_first)

    def find(self, tokens: Tokens) -> list[Match]:
        """Return the phrases of a text from left to right, without overlap."""
        found: list[Match] = []
        end = 0
        for at, key in enumerate(tokens.keys):
            if at >= end and key in self._by_first and (match := self.at(tokens, at)) is not None:
                found.append(match)
                end = match.end
        return found

    def at(self, tokens: Tokens, at: int) -> Match | None:
        """Return the phrase that starts at a token."""
        best, rank = None, (0, 0)
        for slot, phrases in self._by_first.get(tokens.keys[at], {}).items():
            first = slot.read(tokens, at)
            if first is None:
                continue
            following = tokens.keys[first[1]] if first[1] < len(tokens.keys) else ""
            for phrase in phrases:
                if phrase.rest and following not in phrase.rest[0].slot.firsts:  # rejects most candidates
                    continue
                match = phrase.match(tokens, at, first)
                if match is not None and (match.end, -phrase.order) > rank:
                    best, rank = match, (match.end, -phrase.order)
        return best


class Nested:
    """Slot that is a phrase; its value is the match."""

    def __init__(self, phrases: Phrases) -> None:
        self._phrases = phrases
        self.firsts = phrases.firsts

    def read(self, tokens: Tokens, at: int) -> Read | None:
        """Return the phrase that starts at a token."""
        match = self._phrases.at(tokens, at)
        return None if match is None else (match, match.end)


def _expanded(template: str, slots: Mapping[str, Slot]) -> list[tuple[_Item, ...]]:
    """Expand a template into all combinations of its optional items."""
    choices: list[Sequence[tuple[_Item, ...]]] = []
    for text in template.split():
        words = text.removesuffix("?")
        name = words[1:-1] if words.startswith("{") else ""
        item = _Item(name.partition(".")[0], slots[name] if name else _words(words))
        choices.append([(item,), ()] if text.endswith("?") else [(item,)])
    return [sum(chosen, ()) for chosen in itertools.product(*choices) if any(chosen)]


@cache
def _words(words: str) -> Listed:
    return Listed(dict.fromkeys(words.split("/")))


def _keys(words: Iterable[str]) -> Form:
    return tuple([DIGIT if word[0].isdigit() else word for word in words])

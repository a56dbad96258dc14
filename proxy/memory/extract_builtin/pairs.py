"""Finds attributes and their values ("my desk is 3F-204"), and new values of attributes that were given before."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from proxy.memory.extract_builtin.lexicon import Lexicon
from proxy.memory.extract_builtin.reading import Reading, Sentence, read
from proxy.memory.words import HAS_CJK, Span, Word, same_value, same_word

_QUOTED = re.compile(r"[«“„\"《]([^»“”\"《》]{1,60})[»“”\"》]")
_QUALIFIERS = frozenset(["of", "aller", "de", "del", "von", "im", "для", "на"])
_MAX_ATTRIBUTE_WORDS = 3
_MAX_LINKS = 5
_MAX_VALUE_WORDS = 4


@dataclass(frozen=True, slots=True)
class Pair:
    """An attribute of the user (or of somebody around them) and its value.

    Args:
        attribute: The words between "my" and the link, folded.
        value: As written.
        span: Where the value stands in the message.
        sentence: Its sentence.
        linked: A link such as "is" joins them; else they stand side by side.
    """

    attribute: tuple[str, ...]
    value: str
    span: Span
    sentence: Sentence
    linked: bool

    @property
    def text(self) -> str:
        """The clause that states it."""
        clause = next((c for c in self.sentence.clauses if c.start <= self.span[0] < c.end), None)
        start = clause.start if clause else self.sentence.start
        end = max(clause.end if clause else self.sentence.end, self.span[1])
        return self.sentence.text[start - self.sentence.start : end - self.sentence.start].strip().rstrip(",;: ")

    @property
    def head(self) -> str:
        """The noun that the attribute is."""
        return self.attribute[-1]


def pairs(reading: Reading) -> Iterator[Pair]:
    """Yield the pairs that a message states with a possessive."""
    for sentence in reading.sentences:
        for match in reading.lexicon.owned.finditer(sentence.flat):
            pair = _pair_after(sentence, sentence.start + match.end(), reading)
            if pair is not None:
                yield pair


@lru_cache(maxsize=2_000)
def pairs_in(text: str, lexicon: Lexicon) -> tuple[Pair, ...]:
    """Return the pairs of an earlier message of the user."""
    return tuple(pairs(read(text, {lexicon.code: lexicon, "en": lexicon, "de": lexicon, "es": lexicon})))


def renewed(reading: Reading, earlier: Sequence[Pair]) -> Iterator[tuple[Pair, Pair]]:
    """Yield (old, new) where a message gives an attribute of ``earlier`` another value."""
    for sentence in reading.sentences:
        for old in earlier:
            new = _same_attribute(sentence, old, reading)
            if new is not None and not same_value(new.value, old.value):
                yield old, new


def _same_attribute(sentence: Sentence, old: Pair, reading: Reading) -> Pair | None:
    found = sentence.words
    size = len(old.attribute) if HAS_CJK.search(old.head) else 1
    wanted = old.attribute[-size:]
    for place in range(len(found) - size + 1):
        if all(same_word(found[place + k].text, wanted[k]) for k in range(size)):
            value = _value_after(sentence, place + size, reading)
            if value is not None:
                span, linked = value
                return Pair(old.attribute, reading.text[slice(*span)], span, sentence, linked)
    return None


def _pair_after(sentence: Sentence, start: int, reading: Reading) -> Pair | None:
    """Read an attribute that starts at ``start``, then its value."""
    found = [index for index, word in enumerate(sentence.words) if word.start >= start]
    attribute: list[str] = []
    qualified = False  # "my favourite film of all time"
    for index in found[: _MAX_ATTRIBUTE_WORDS + 4]:
        if attribute:
            value = _value_after(sentence, index, reading)
            if value is not None:
                span, linked = value
                return Pair(tuple(attribute), reading.text[slice(*span)], span, sentence, linked)
        word = sentence.words[index]
        qualified = qualified or bool(attribute and word.text in _QUALIFIERS)
        if qualified:
            continue
        if (
            _is_link(word, reading.lexicon)
            or word.text in reading.lexicon.stop
            or len(attribute) > _MAX_ATTRIBUTE_WORDS
        ):
            return None
        attribute.append(word.text)
    return None


def _value_after(sentence: Sentence, index: int, reading: Reading) -> tuple[Span, bool] | None:
    """Return the value that follows word ``index - 1``, and whether a link stands between."""
    found, links = sentence.words, 0
    while index + links < len(found) and links < _MAX_LINKS and _is_link(found[index + links], reading.lexicon):
        links += 1
    place = index + links
    if place >= len(found):
        return None
    gap = reading.text[found[place - 1].end : found[place].start]
    if re.search(r"[.!?;()]", gap) or (not links and re.search(r"[,，]", gap) and not _is_code(found[place].text)):
        return None
    quoted = _QUOTED.match(reading.text, found[place].start - 1) if found[place].start else None
    if quoted:
        return quoted.span(1), True
    last = place
    while (
        last < len(found) and last - place < _MAX_VALUE_WORDS and _is_valuelike(found, last, place, sentence, reading)
    ):
        last += 1
    if last == place:
        return None
    return (found[place].start, found[last - 1].end), bool(links)


def _is_valuelike(found: Sequence[Word], place: int, first: int, sentence: Sentence, reading: Reading) -> bool:
    word = found[place]
    if place > first and word.start - found[place - 1].end > 1:
        return False
    if _is_code(word.text):
        return True
    surface = reading.text[word.start : word.end]
    if reading.lexicon.code == "zh":
        return surface.isascii() or (place > first and False)
    if not surface[0].isupper() or word.start == sentence.start:
        return False
    return word.text not in reading.lexicon.stop


def _is_code(word: str) -> bool:
    return (bool(re.search(r"\d", word)) and len(word) > 1) or (len(word) == 1 and word.isdigit())


def _is_link(word: Word, lexicon: Lexicon) -> bool:
    return lexicon.link.fullmatch(word.text) is not None

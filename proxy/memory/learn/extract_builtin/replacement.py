"""Forms the value that takes the place of another, and the sentence that states it."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Mapping
from difflib import SequenceMatcher

from proxy.memory.learn.extract_builtin.lazy import lazy
from proxy.memory.learn.extract_builtin.lexicon import Lexicon
from proxy.memory.learn.extract_builtin.reading import read_as
from proxy.memory.learn.extract_builtin.typed import typed
from proxy.text.words import HAS_CJK, Value, contains_value, same_value, same_word, word_set, words

_NAMES = lazy(
    r"(?:(?<=[^.!?:] )[«\"„“]?|[«„“])(?P<name>[A-ZА-ЯÁÉÍÓÚÑ][\w'-]+(?: (?:of |de |del |the )?[A-ZА-ЯÁÉÍÓÚÑ][\w'-]+)*)"
)


_NO_NAMES = word_set(
    """monday tuesday wednesday thursday friday saturday sunday january february march april june july august september
    october november december christmas easter lol ok i i'm i've i'd i'll"""
)
_PLACED = lazy(
    r"\b(nach|aus|bei|von|in|[Aa]us|[Ii]n|a|[Ee]n|[Dd]e|con|para) ([A-ZÄÖÜÁÉÍÓÚÑ][\wäöüßáéíóúñ]+(?: [A-ZÄÖÜÁÉÍÓÚÑ][\wäöüßáéíóúñ]+)?)(?=\s*(?:[.,;:!?]|$))"
)  # at the end of its clause
_SHORTEST_NAME, _ALIKE = 4, 0.65  # letters; share of those that two spellings have in common
_LEAST_MOULD = 2  # words
_DESCRIBED = lazy(r"\b(?P<adjective>[а-яё]{3,}(?:[ыио]й|ая|яя|[ое]е|[ую]ю|[ыи]е|[ое]го|[ыи]х)) $")  # "poplar pollen"
_HOURS = 24
_LINE = 3  # digits of a number that names something ("the 73 bus")
_FIGURES = frozenset(("number", "year", "time", "length", "ordinal"))
_QUARTER = lazy(r"[QH][1-4](?: \d{2,4})?")  # of a year
_PLAIN_NAME = lazy(r"[A-ZА-ЯЁÄÖÜÁÉÍÓÚÑ][^\W\d]{2,}(?:[ -][A-ZА-ЯЁÄÖÜÁÉÍÓÚÑ]?[^\W\d]{2,}){0,3}")
_TITLE = lazy(r"(?:dr|mr|mrs|ms|prof|sr|sra|dra|herr|frau)\b\.? *", re.IGNORECASE)


def remodelled(earlier: str, old: str, new: str, lexicon: Lexicon) -> str:
    """Return the clause that stated ``old`` earlier with ``new`` in its place."""
    for sentence in read_as(earlier, lexicon).sentences:
        spans = list(Value.of(old).find(words(sentence.text)))
        if len(spans) != 1:
            continue
        start, end = spans[0]
        if lexicon.code == "ru" and (whole := _DESCRIBED.search(sentence.text[:start])) and old.islower():
            start = whole.start("adjective") if whole["adjective"] not in lexicon.stop else start
        clause = next((c for c in sentence.clauses if c.start <= sentence.start + start < c.end), None)
        if clause is None or clause.asks:
            continue
        if new in sentence.text:  # the clause gave one for the other
            continue
        first, last = clause.start - sentence.start, clause.end - sentence.start
        text = sentence.text[first:start] + new + sentence.text[end:last]
        if len(words(text)) > len(words(new)) + 1:
            return text.strip()
    return ""


def is_of_its_sort(new: str, old: str) -> bool:
    """Whether a value can stand where another stood: no figure for a date, no name for a figure."""
    if (_QUARTER.fullmatch(new) is None) != (_QUARTER.fullmatch(old) is None):
        return False
    now, before = kind_of(new), kind_of(old)
    if "name" in (now, before):
        return {now, before} <= {"name", "number", ""} and max(map(_digits, (new, old))) <= _LINE
    return not now or not before or (now in _FIGURES) == (before in _FIGURES)


def _digits(value: str) -> int:
    return sum(char.isdigit() for char in value)


def kind_of(value: str) -> str:
    """Return what the form of a whole value tells of it, "" where it tells nothing."""
    found = typed(value)
    if len(found) == 1 and (found[0].start, found[0].end) == (0, len(value)):
        return found[0].kind
    return "name" if _PLAIN_NAME.fullmatch(value) else ""


def is_alike(new: str, old: str) -> bool:
    """Whether two values hold one figure, time, date or day each, and of one form; an hour may be a bare number."""
    now, before = typed(new), typed(old)
    if len(now) != 1 or len(before) != 1:
        return False
    kinds = {now[0].kind, before[0].kind}
    if kinds == {"number", "time"}:
        bare = next(one.surface for one in (*now, *before) if one.kind == "number")
        return bare.isdecimal() and int(bare) <= _HOURS
    return len(kinds) == 1


def recast(old: str, text: str, lexicon: Lexicon) -> str:
    """Return what stands in a text in the mould of a value: as many words, all but one the same ("wheat allergy", "gluten allergy")."""
    ours = words(old)
    found = words(text)
    if len(ours) < _LEAST_MOULD:
        return ""
    for first in range(len(found) - len(ours) + 1):
        run = found[first : first + len(ours)]
        other = [b.text for a, b in zip(ours, run, strict=True) if not same_word(a.text, b.text)]
        if (
            len(other) == 1
            and other[0] not in lexicon.stop
            and all(r.start - q.end == 1 for q, r in itertools.pairwise(run))
        ):
            return text[run[0].start : run[-1].end]
    return ""


def names_in(text: str) -> list[str]:
    """Return the names of a text, by their capitals within a sentence."""
    found = (match["name"] for match in _NAMES.finditer(text))
    return [name for name in found if name.lower() not in _NO_NAMES]


def overlapping(pattern: re.Pattern[str], text: str) -> Iterator[re.Match[str]]:
    """Yield every match, also those that start inside another."""
    match = pattern.search(text)
    while match is not None:
        yield match
        match = pattern.search(text, match.start() + 1)


def overlap(value: str, old: str) -> bool:
    """Whether one value is the other or a part of it."""
    return same_value(value, old) or contains_value(value, old) or contains_value(old, value)


def clipped(value: str, lexicon: Lexicon, *, is_kind: bool = False) -> str:
    """Return the leading words of ``value`` up to the first that is no part of a name.

    Args:
        value: What may be a value, from its first word on.
        lexicon: Of its language.
        is_kind: A kind of thing ("a motorbike") counts as a value too.
    """
    while (lead := _TITLE.match(value)) and lead.end() < len(value):
        value = value[lead.end() :]
    found, keep = words(value), 0
    is_name = value[:1].isupper()
    if lexicon.code == "de" and not is_name and not value[:1].isdigit():
        return ""
    for word in found:
        surface = value[word.start : word.end]
        if keep and (word.text in lexicon.stop or (is_name and not HAS_CJK.search(value) and surface.islower())):
            break
        keep += 1
    clipped = value[: found[keep - 1].end] if keep else ""
    if any(pattern.search(clipped.lower()) for pattern in (lexicon.switch, lexicon.ceased)):
        return ""
    idle = lexicon.stop if is_kind else lexicon.stop | lexicon.generic
    is_idle = clipped.casefold() in idle or all(word.text in idle for word in words(clipped))
    return "" if is_idle else clipped.strip()


def touches(value: str, other: str) -> bool:
    """Whether ``value`` is ``other`` or holds it."""
    return same_value(value, other) or contains_value(value, other)


def placed(text: str) -> Mapping[str, str]:
    """Return by preposition the name that stands after it, "" where there are several."""
    found: dict[str, str] = {}
    for match in _PLACED.finditer(text):
        found[match[1].lower()] = "" if match[1].lower() in found else match[2]
    return found


def is_spelt_like(new: str, old: str) -> bool:
    """Whether two names look alike and are no forms of one another."""
    if min(len(new), len(old)) < _SHORTEST_NAME or new[0] != old[0] or new.startswith(old) or old.startswith(new):
        return False
    return SequenceMatcher(None, new, old).ratio() >= _ALIKE

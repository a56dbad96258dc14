"""Describes how a message speaks of a value that its author told earlier: traits, to which weights can be learned.

A message is seen through the eyes of what was told: its words, but a sign for the value, for what was told beside it,
and for names and figures that are new. So "moved from Metz to Lyon" and "switched from Emacs to Vim" look alike.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from difflib import SequenceMatcher

from proxy.memory.learn.extract_builtin.lexicon import Lexicon
from proxy.memory.learn.extract_builtin.looks import Held, Look, Part, Token, Told, places_of, sort_of, telling
from proxy.memory.learn.extract_builtin.scan import REQUEST
from proxy.text.words import HAS_CJK, Span, flat, words

BIAS = ""  # the trait that everything has
RULED, PART = "ruled", "part"
_VALUE, _NEW, _TOLD, _NAME, _NUMBER, _TOLD_NUMBER = "·", "*", "=", "+", "9", "9="  # signs that stand for words
_SIGNS = {"name": _NAME, "number": _NUMBER}
_BEFORE, _AFTER = 3, 2  # words around a value
_LONG, _VERY_LONG = 14, 26  # words of a sentence
_MOST_PLACES = 3  # where a message names a value
_LONG_VALUE = 4  # words
_OPENING = 3  # characters
_ALIKE = 0.6  # of two spellings


def named_traits(look: Look, held: Held, places: Sequence[Span]) -> frozenset[str]:
    """Return the traits of a value that a message names at ``places``."""
    return frozenset(_of_named(look, held, places))


def traits_of(look: Look, held: Held, places: Sequence[Span]) -> frozenset[str]:
    """Return the traits of a value, whether a message names it or not."""
    return named_traits(look, held, places) if places else message_traits(look, held.told) | spot_traits(look, held)


def message_traits(look: Look, told: Told) -> frozenset[str]:
    """Return the traits of a message in the eyes of a clause of which it names no value."""
    return frozenset(_of_message(look, told))


def spot_traits(look: Look, held: Held) -> frozenset[str]:
    """Return the traits of a value that a message does not name, beside those of the message."""
    return frozenset((*_of_value(held), *(f"{sign} for {held.sort}" for sign in _new_signs(look, held.told))))


def ruled_traits(found: Iterable[str], *, ruled: bool) -> frozenset[str]:
    """Return the traits of what a rule says, alone and together with the cues of the clause."""
    if not ruled:
        return frozenset()
    beside = (one for one in found if one.startswith("C:") or one in ("asks", "request"))
    return frozenset((RULED, *(f"{RULED} {one}" for one in beside)))


def new_traits(look: Look, held: Held, spot: Span) -> frozenset[str]:
    """Return the traits of what stands at ``spot`` of a message as what takes the place of a value."""
    return frozenset(_of_new(look, held, spot))


def _of_named(look: Look, held: Held, places: Sequence[Span]) -> Iterator[str]:
    lexicon = look.reading.lexicon
    heard = held.told.stems - telling(held.value, lexicon)
    yield BIAS
    yield from _of_value(held)
    if any(_is_part(look, place, held.told) for place in places):
        yield PART
    if _is_outranked(look, held):
        yield "outranked"
    yield from (f"M:{cue}" for cue in look.cues)
    for place in places[:_MOST_PLACES]:
        own = next((part for part in look.parts if part.clause.start <= place[0] < part.clause.end), None)
        if own is None:
            continue
        parts = [part for part in look.parts if part.sentence is own.sentence]
        whole = [sign for part in parts for sign in _signs(part.tokens, heard, places)]
        yield from _grams("", _signs(own.tokens, heard, places), lexicon)
        yield from _grams("w", whole, lexicon)
        yield from (f"C:{cue}" for cue in own.cues)
        yield from (f"S:{cue}" for part in parts for cue in part.cues)
        yield from _standing(own, place)
        if own.sentence is look.reading.sentences[0]:
            yield "first sentence"


def _standing(own: Part, place: Span) -> Iterator[str]:
    """Yield how a value stands in its clause and sentence."""
    size = len(own.sentence.words)
    traits = {
        "stated": True,
        "asks": own.clause.asks,
        "all asks": own.sentence.asks,
        "request": REQUEST.match(own.sentence.flat) is not None,
        "opens": place[0] - own.clause.start < _OPENING,
        "closes": own.clause.end - place[1] <= 1,
        "long": size > _LONG,
        "very long": size > _VERY_LONG,
    }
    yield from (name for name, holds in traits.items() if holds)


def _of_message(look: Look, told: Told) -> Iterator[str]:
    lexicon = look.reading.lexicon
    yield BIAS
    yield from (f"M:{cue}" for cue in look.cues)
    for part in look.parts:
        signs = _signs(part.tokens, told.stems, ())
        if REQUEST.match(part.sentence.flat):
            yield "request"
        if part.clause.asks:
            yield from (f"Q {sign}" for sign in signs)
        else:
            yield from _grams("", signs, lexicon)
            yield from (f"C:{cue}" for cue in part.cues)
    closest = max(look.parts, key=lambda part: len(part.telling & told.beside), default=None)
    shared = len(closest.telling & told.beside) if closest else 0
    yield f"shares {min(shared, 3)}"
    if closest is not None and shared:
        yield from _grams("B", _signs(closest.tokens, told.stems, ()), lexicon)
        yield from (f"B:{cue}" for cue in closest.cues)
        if closest.clause.asks:
            yield "B asks"


def _of_new(look: Look, held: Held, spot: Span) -> Iterator[str]:
    lexicon, message = look.reading.lexicon, look.reading.text
    own = next((part for part in look.parts if part.clause.start <= spot[0] < part.clause.end), None)
    yield BIAS
    if own is None:
        return
    new, sort = message[slice(*spot)], sort_of(message[slice(*spot)], lexicon)
    yield f"{held.sort} to {sort}"
    yield f"{held.sort} to {sort}, {_size(held.value)} to {_size(new)} words"
    if new[:1].lower() == held.value[:1].lower():
        yield f"same letter {sort}"
    if SequenceMatcher(None, new.lower(), held.value.lower()).ratio() >= _ALIKE:
        yield f"alike {sort}"
    if sort == "number" and _marks(new) == _marks(held.value):
        yield "same form"
    if own.clause.asks:
        yield "asks"
    yield from (f"C:{cue}" for cue in own.cues)
    yield f"sentence {min(look.reading.sentences.index(own.sentence), _MOST_PLACES)}"
    yield f"shares {min(len(own.telling & held.told.beside), 2)}"
    yield from _beside_old(look, held, own, spot)


def _beside_old(look: Look, held: Held, own: Part, spot: Span) -> Iterator[str]:
    """Yield how something new stands in its clause, and to the old value where the message names that."""
    lexicon = look.reading.lexicon
    named = places_of(held.value, look.reading.text)
    heard = held.told.stems - telling(held.value, lexicon)
    around = _around(_signs(own.tokens, heard, named, new=spot), _NEW, after=_BEFORE)
    before = _around(_signs(held.told.tokens, frozenset(), (held.place,)), _VALUE)
    yield from _grams("N", around, lexicon, 3)
    if _NEW in around and _VALUE in before:
        at, there = around.index(_NEW), before.index(_VALUE)
        if at and there and around[at - 1] == before[there - 1]:
            yield "same left"
        if around[at + 1 : at + 2] and around[at + 1 : at + 2] == before[there + 1 : there + 2]:
            yield "same right"
    if named:
        yield "old named"
        yield "after old" if spot[0] > named[0][0] else "before old"
        if own.clause.start <= named[0][0] < own.clause.end:
            yield "beside old"


def _of_value(held: Held) -> Iterator[str]:
    """Yield what kind of value something is, as it was told, and the words around it."""
    given = "given" if held.is_given else "named" if held.sort != "word" else "mentioned"
    yield from (f"sort {held.sort}", f"is {given}", f"is {given} {held.sort}", f"size {_size(held.value)}")
    if held.told.is_listed:
        yield from ("listed", f"listed {given}")
    signs = _signs(held.told.tokens, frozenset(), (held.place,))
    yield from _grams("S", _around(signs, _VALUE), held.told.lexicon)


def _is_part(look: Look, place: Span, told: Told) -> bool:
    """Whether what a message names is but a part of something new ("June" of "June 21")."""
    return any(
        start <= place[0] and place[1] <= end and (start, end) != place
        for start, end in look.formed
        if flat(look.reading.text[start:end]) not in flat(told.text)
    )


def _is_outranked(look: Look, held: Held) -> bool:
    """Whether a message names a name, figure or given value of what was told, and this is but a word of it."""
    told, message = held.told, look.reading.text
    if held.is_given or held.sort != "word":
        return False
    if any(token.sort and token.stem in told.stems for part in look.parts for token in part.tokens):
        return True
    return any(places_of(told.text[start:end], message) for start, end in told.given)


def _new_signs(look: Look, told: Told) -> Iterator[str]:
    """Yield the signs of names and figures that a message states and that were not told."""
    fresh = {
        t.sort
        for part in look.parts
        if not part.clause.asks
        for t in part.tokens
        if t.sort and t.stem not in told.stems
    }
    yield from (_SIGNS[sort] for sort in sorted(fresh))


def _size(value: str) -> int:
    return min(len(words(value)), _LONG_VALUE)


def _marks(value: str) -> list[str]:
    return [char for char in value if char in ".,:/"]


def _around(signs: Sequence[str], sign: str, *, after: int = _AFTER) -> Sequence[str]:
    """Return the signs around one of them."""
    at = signs.index(sign) if sign in signs else 0
    return signs[max(0, at - _BEFORE) : at + 1 + after]


def _grams(family: str, signs: Sequence[str], lexicon: Lexicon, most: int = 2) -> Iterator[str]:
    """Yield runs of up to ``most`` signs; of Chinese, whose words are several characters, longer ones."""
    for size in range(1, most + 1 + (lexicon.code == "zh")):
        runs = (signs[first : first + size] for first in range(len(signs) - size + 1))
        yield from (f"{family}{size} {' '.join(run)}" for run in runs)


def _signs(
    tokens: Sequence[Token], heard: frozenset[str], places: Sequence[Span], *, new: Span | None = None
) -> list[str]:
    """Return the words of a clause as stems, or as signs for what they stand for."""
    found: list[str] = []
    for token in tokens:
        if new is not None and new[0] < token.end and token.start < new[1]:
            sign = _NEW
        elif any(start < token.end and token.start < end for start, end in places):
            sign = _VALUE
        elif token.sort == "number":
            sign = _TOLD_NUMBER if token.stem in heard else _NUMBER
        elif HAS_CJK.match(token.stem):
            sign = token.stem
        else:
            sign = _TOLD if token.stem in heard else _SIGNS.get(token.sort, token.stem)
        if not (found and sign == found[-1] and sign in (_VALUE, _NAME, _NEW)):
            found.append(sign)
    return found

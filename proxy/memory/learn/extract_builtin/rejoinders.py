"""Puts right a value of the message just before by another one of its sort, said alone: "Ah, from Luton it says here"."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from proxy.memory.learn.extract_builtin.lazy import lazy
from proxy.memory.learn.extract_builtin.numbers import NUMBER_WORD
from proxy.memory.learn.extract_builtin.reading import Reading, Sentence
from proxy.memory.learn.extract_builtin.replacement import is_spelt_like, overlap
from proxy.memory.learn.extract_builtin.typed import Typed, typed
from proxy.text.words import flat, same_word

_MOST_SENTENCE, _MOST_MESSAGE = 16, 34  # words of what is added to a message to put it right
_LEAD: Mapping[str, re.Pattern[str]] = {  # what may stand before the value
    "en": lazy(
        r"(?:\W|(?:ah+|oh|duh|doh|haha|ha|lol|hm+|um+|uh|er+m?|oops|whoops|argh?|ugh|no|nope|nah|wait|sorry|ok|okay|so|and|but|well|right|yes|yeah|just|actually|apparently|turns out|hang on|hold on|make that|make it|rather|or rather|i mean|i meant|"
        r"it's|its|it is|it was|that's|that is|these are|those are|they're|they are|he's|she's|he is|she is|we're|i'm|is|was|called|named|my \w+ says|says?|said|"
        r"the|a|an|in|at|on|from|to|with|by|of|for|about|only|more like|closer to)\b)*"
    ),
}
_EQUATES: Mapping[str, re.Pattern[str]] = {
    "en": lazy(
        r"\b(?:it's|its|it is|it was|that's|that is|these are|those are|they're|they are|he's|she's|make that|make it|i mean|i meant)\b"
    ),
}
_ADMITS: Mapping[str, re.Pattern[str]] = {  # how one knows better now, or did not before
    "en": lazy(
        r"^\W*(?:ah+|duh|doh|haha|oops|whoops|argh?|ugh|no|nope|nah|wait|sorry|hang on|hold on|or rather|er+m?)\b|"
        r"\b(?:it says|says (?:it|here|on)|(?:he|she|mum|mom|dad|wife|husband|partner|sister|brother|son|daughter|boss|teacher|doctor|label|letter|booking|ticket|receipt|invite|invitation|email|screen|box|packet|form) (?:\w+ )?says|misread|read it|i (?:mean|meant)|keeps? (?:better )?count|(?:he|she|they)(?:'s| has| have) just (?:rung|called|told me|texted)|just (?:met|looked|checked|asked|measured|counted|weighed|saw|seen|read|put|found|noticed|remembered)|looked|checked|glasses|where my (?:head|mind)|not sure|"
        r"guess(?:ed|ing)?|wrong|misheard|offended|(?:measured|weighed|counted|asked|timed) (?:it|them|him|her|again|properly)|dug (?:out|up)|went through (?:his|her|my|the|our)|corrects? me|corrected|just (?:rung|called|told|texted)|muddl\w+|mix\w*|confus\w+|awkward|embarrass\w+|silly|stupid|idiot|daft|apologies|correct\w*|actually|turns out|apparently|rather|last year|previous|old one|rubbed off|in (?:big )?(?:trouble|the doghouse)|upside down|typing|typed|autocorrect|fingers?|thumbs?)\b"
    ),
}
_SINCE: Mapping[str, re.Pattern[str]] = {  # says when something happens, and is no value
    "en": lazy(r"\b(?:since|until|till|by|last|next|this|every|before|after|ago|than) $"),
}
_TIED: Mapping[str, re.Pattern[str]] = {  # ties a name to what is told
    "en": lazy(
        r"\b(?P<tie>near|outside|from|to|in|at|with|by|called|named|of|for|on)(?: (?:the|a|an|my|our))? (?P<name>[A-Z][\w'-]+(?: [A-Z][\w'-]+)*)"
    ),
}
_NAMED = lazy(r"\b(?:called|named|name is|name's)$")
_NAME = lazy(r"(?P<name>[A-Z][\w'-]+(?: [A-Z][\w'-]+){0,2})")
_LABELLED = lazy(rf"\b(?P<label>[a-z]{{3,}}) (?P<figure>\d+|{NUMBER_WORD})\b", re.IGNORECASE)
_OF_AGE = lazy(r"(?:'s|\b(?:is|am|i'm|turns|turning|turned)) $")
_YEARS = ("", "years", "yrs", "this", "in", "on", "next", "and", "so", "today", "tomorrow")
_PLAIN = frozenset(("date", "weekday", "time", "month", "year", "ordinal"))


@dataclass(frozen=True, slots=True)
class Rejoinder:
    """A value put right by another one, both as written, and the sentence that does."""

    new: str
    old: str
    sentence: Sentence


def rejoined(reading: Reading, before: str) -> Iterator[Rejoinder]:
    """Yield what a short message puts right of the message just before it.

    Args:
        reading: The message.
        before: What the user said last in the same conversation, "" for nothing.
    """
    code = reading.lexicon.code
    if code not in _LEAD or not before or sum(len(one.words) for one in reading.sentences) > _MOST_MESSAGE:
        return
    for sentence in reading.sentences[:2]:
        for clause in sentence.clauses:
            if clause.asks or sentence.asks or len(sentence.words) > _MOST_SENTENCE or _is_idle(clause.flat, reading):
                continue
            text = reading.text[clause.start : clause.end]
            lead = _LEAD[code].match(clause.flat)
            found = _value_at(text, lead.end() if lead else 0, before, code)
            if found is None or not _is_meant(clause.flat[: lead.end() if lead else 0], found[2], sentence, reading):
                continue
            if not overlap(found[0], found[1]) and flat(found[0]) not in flat(before):
                yield Rejoinder(found[0], found[1], sentence)
                return


def _is_idle(told: str, reading: Reading) -> bool:
    idle = (reading.lexicon.additive, reading.lexicon.hedge)
    return any(pattern.search(told) for pattern in idle)


def _is_meant(lead: str, kind: str, sentence: Sentence, reading: Reading) -> bool:
    """Whether a value is told in place of another: what was wrong is admitted, or a figure is equated that was told of the same."""
    code = reading.lexicon.code
    near = " ".join(one.flat for one in reading.sentences[:2])
    if _ADMITS[code].search(near):
        return True
    if kind == "spelling":
        return True
    return kind == "measure" and _EQUATES[code].search(lead) is not None


def _value_at(text: str, place: int, before: str, code: str) -> tuple[str, str, str] | None:
    """Return (new, old, kind) of a value that stands at a place and has one counterpart in an earlier text."""
    if _SINCE[code].search(flat(text[:place])):
        return None
    labelled = _LABELLED.match(text, place)
    if labelled is not None:
        told = [m for m in _LABELLED.finditer(before) if same_word(m["label"].lower(), labelled["label"].lower())]
        if len(told) == 1:
            return labelled[0], told[0][0], "label"
    value = next((one for one in typed(text) if one.start == place), None)
    if value is not None:
        return _counterpart(value, text, before)
    name = _NAME.match(text, place)
    if name is None:
        return None
    tie = flat(text[:place]).split()[-1:] or [""]
    old = _named_before(before, tie[0].strip(" ,.!"), code)
    if not old and not text[name.end() :].strip(" !.,") and not text[:place].strip(" !.,"):
        old = _alone_before(before, name["name"], code)
        if old and is_spelt_like(name["name"], old):
            return name["name"], old, "spelling"
    return (name["name"], old, "name") if old else None


def _counterpart(value: Typed, text: str, before: str) -> tuple[str, str, str] | None:
    alike = [old for old in typed(before) if old.kind == value.kind]
    if value.kind == "number" and not value.unit and _OF_AGE.search(flat(text[: value.start])):
        alike = [old for old in alike if _OF_AGE.search(flat(before[: old.start])) and old.unit in _YEARS]
        return (value.surface, alike[0].surface, "age") if len(alike) == 1 else None
    if value.kind == "number":
        alike = [old for old in alike if value.unit and old.unit and same_word(old.unit, value.unit)]
    if len(alike) != 1 or flat(alike[0].surface) == flat(value.surface):
        return None
    if value.kind in _PLAIN:
        return value.surface, alike[0].surface, value.kind
    unit = f" {value.unit}"
    return value.surface + unit, alike[0].surface + unit, "measure"


def _alone_before(before: str, new: str, code: str) -> str:
    """Return the one name of an earlier text behind a preposition, of several the one that starts like the new one."""
    found = [match["name"] for match in _TIED[code].finditer(before)]
    if len(found) > 1:
        found = [name for name in found if name[0] == new[0]]
    return found[0] if len(found) == 1 else ""


def _named_before(before: str, tie: str, code: str) -> str:
    """Return the one name of an earlier text that stands behind the same preposition, or that it gives ("called X")."""
    told = [(m["tie"], m["name"]) for m in _TIED[code].finditer(before)]
    same = [name for other, name in told if other == tie]
    if not same and tie in ("it's", "he's", "she's", "is", "called", "named", "that's", "says"):
        same = [name for other, name in told if other in ("called", "named")]
    return same[0] if len(same) == 1 else ""

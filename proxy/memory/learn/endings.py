"""Cues by which a message ends, replaces or corrects earlier statements, or asks to forget them. Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from proxy.memory.learn.remains import MIN_WORDS, rest_of
from proxy.memory.learn.slots import slot_of
from proxy.memory.learn.statements import Sentence
from proxy.text.languages import Language, has_cue, languages_in
from proxy.text.languages import words as listed
from proxy.text.owners import UNNAMED, owners_of, person_before
from proxy.text.segment import COMMA, blanked, clauses, is_question, things
from proxy.text.speakers import holds_word, is_hypothesis, lasts, leaves_topic, names_author, opens_with, speaks_of_self
from proxy.text.terms import Term, generic_in, holds, people_in, terms_in, with_alike
from proxy.text.words import HAS_CJK, Span, flat, words

EndingKind = Literal["end", "turned", "switch", "correct", "meant", "slot", "forget", "lifted", "halted", "likely"]

MAX_ENDINGS = 8  # per message
MAX_TERMS = 6
MAX_CUE_WORDS = 3
_SLACK = 2  # characters: a comma and a blank between polite words and the rest
_NAMING: tuple[EndingKind, ...] = ("switch", "correct", "lifted", "halted")
_PLAIN: tuple[EndingKind, ...] = ("turned", "end")
_PLAIN_REGIONS = 2  # behind and before a cue

_LASTING = re.compile(rf"\d|{HAS_CJK.pattern}")  # Chinese writes no capitals


@dataclass(frozen=True, slots=True)
class Ending:
    """A cue and the things that it names.

    Attributes:
        clause: The clause with the cue.
        terms: Telling words of the thing that ends, in order; empty for ``meant``.
        subject: Telling words of a subject other than the user ("my brother"); a target must hold them too.
        slot: Name of the slot and its new value, for ``slot``; in a request to forget, the slot's name.
        beside: All terms of the same phrase.
        rest: Part of the clause that may stay as a statement, without the old thing; "" if none may.
        everything: The request covers every memory of the terms.
        is_last: The request is about its author's previous words.
    """

    kind: EndingKind
    sentence: Sentence
    clause: str
    terms: tuple[Term, ...] = ()
    subject: tuple[Term, ...] = ()
    slot: tuple[str, str] = ("", "")
    beside: tuple[Term, ...] = ()
    rest: str = ""
    everything: bool = False
    is_last: bool = False

    def hides_itself(self, ended: Sequence[str]) -> bool:
        """Return whether its sentence is withheld too: it only states that the ``ended`` texts ended."""
        if self.kind not in ("end", "switch", "correct"):
            return self.kind == "forget"
        if self.rest and self.rest != self.clause:
            return True
        if self._is_taken_up():
            return False
        low = flat(self.clause)
        first = next((word.end for word in words(low) if word.text in self.terms[0].forms), 0)
        joint = next((word.end for word in words(low) if word.start >= first and word.text in listed("and")), len(low))
        told = terms_in(self.clause, joint)
        parts = [self.sentence.text[start:end] for start, end in clauses(self.sentence.text)]
        parts = [part for part in parts if len(words(part)) < MIN_WORDS]  # too short to be shown alone
        for part in (*parts, *(self.clause[found.end() :] for found in COMMA.finditer(low, first))):  # "for 300 euros"
            told += [term for term in terms_in(part) if term.is_name or _LASTING.search(term.text)]
        return all(any(holds(text, term) for text in ended) for term in told)

    def _is_taken_up(self) -> bool:
        """Return whether a later clause refers to the ended thing by a pronoun: "it's with our neighbour now"."""
        text = self.sentence.text
        later = [text[start:end] for start, end in clauses(text) if start > text.find(self.clause)]
        heads = [word.text for clause in later for word in words(clause)[:1]]
        return any(head in listed("third") or head in listed("it") for head in heads)


def endings(found: Sequence[Sentence]) -> list[Ending]:
    """Return the endings of the sentences of one message, in order; at most one a clause."""
    made: list[Ending] = []
    for one in found:
        parts = clauses(one.text)
        if (whole := _taken_back(one) or (_correction(one) if len(parts) > 1 else None)) is not None:
            made.append(whole)
            continue
        for start, end in parts:
            part = one.text[start:end]
            low = flat(part)
            asked = _requests(one, part, low) or _goes_on(one, part, low, made)
            is_undone = has_cue("undone_end", one.low)  # "but came back"
            ending = None if asked or is_undone or is_void(one, part, low) else _stated(one, part, low)
            made += [ending] if ending is not None else asked
    return made[:MAX_ENDINGS]


def resumed(found: Sequence[Sentence]) -> list[tuple[Term, ...]]:
    """Return the terms of things that hold again: "I started using Magnet again"."""
    made = []
    for one in found:
        for start, end in clauses(one.text):
            part, low = one.text[start:end], one.low[start:end]
            is_now = any(tongue.has("again", low) and not tongue.has("ahead", low) for tongue in languages_in(low))
            if is_now and not is_void(one, part, low):
                terms = terms_in(part)
                made.append(tuple([term for term in terms if term.is_name] or terms))
    return [terms for terms in made if terms]


def _taken_back(one: Sentence) -> Ending | None:
    """Return a request to forget the previous words, "Forget that.", or the next: "Don't remember this: …"."""
    for tongue in languages_in(one.low):
        if any(_is_polite(one.low[match.end() :]) for match in tongue.find("take_back", one.low)):
            return Ending("forget", one, one.text, is_last=True)
        for match in tongue.find("forget", one.low):
            start = match.start("old")
            end = max((start + what.end() for what in tongue.find("just_said", one.low[start:])), default=0)
            if not end or match.start() > _polite_end(tongue, one.low) or one.is_question:
                continue
            if one.low[end:].lstrip().startswith((":", "：")):
                return Ending("forget", one, one.text, tuple(_cut(terms_in(one.text, end))))
            if _is_polite(one.low[end:]):
                return Ending("forget", one, one.text, is_last=True)
    return None


def _is_polite(low: str) -> bool:
    return all(word.text in listed("polite") | listed("thanks") for word in words(low))


def _requests(one: Sentence, part: str, low: str) -> list[Ending]:
    """Return the things that a clause asks to forget; the request opens the clause, politeness aside."""
    if has_cue("later", low) or has_cue("of_text", low) or leaves_topic(one.text, part):
        return []
    for tongue in languages_in(low):
        opening = _polite_end(tongue, low)
        for match in tongue.find("forget", low):
            before = low[opening - _SLACK : match.start()]
            if match.start() > opening or holds_word(before, "first") or holds_word(before, "third"):
                continue  # "I don't remember the name"
            start, end = match.start("old"), len(low)
            if low[match.start() : start].count(" ") == 1 and holds_word(COMMA.split(low[start:])[0], "deny"):
                continue  # "Vergiss nicht, dass …"
            mine = [word.start for word in words(low) if word.end == start - 1 and word.text in listed("mine")]
            start = mine[0] if mine else start
            first = next((found.start() for found in COMMA.finditer(low, start)), end)
            if len(spans := things(part, start, end)) < 2:
                is_list = any(word.text in listed("and") for word in words(low[start:]))
                spans = [(start, end if is_list or not terms_in(part, start, first) else first)]
            named = [_cut(terms_in(part, *span) or generic_in(part, *span)) for span in spans]
            everything = tongue.has("everything", low[match.start() : match.start("old")])
            found = [_asking(one, part, terms, everything=everything) for terms in named if terms]
            slots = _slots_named(tongue, low[match.start() :])
            found += [Ending("forget", one, part, slot=(slot, "")) for slot in slots]
            if found or everything:  # "Forget everything about me" takes an API call, and is no statement
                return found or [Ending("forget", one, part)]
    return _addressed_request(one, part, low)


def _goes_on(one: Sentence, part: str, low: str, made: Sequence[Ending]) -> list[Ending]:
    """Return the things that a clause without a verb adds to the request before it: "and my address"."""
    is_thing = opens_with(low, "mine") and len(words(low)) <= MAX_CUE_WORDS
    if not (is_thing and made and made[-1].kind == "forget" and made[-1].sentence == one):
        return []
    terms = terms_in(part) or generic_in(part, 0, len(part))
    return [Ending("forget", one, part, tuple(terms))] if terms else []


def _slots_named(tongue: Language, low: str) -> list[str]:
    """Return the slots that a request names by a question: "where I live", "my job", but not "my job interview"."""
    ends = [(name, low[match.end() :]) for name in tongue.slots for match in tongue.find(f"slot_{name}", low)]
    return list(dict.fromkeys(name for name, end in ends if not any(terms_in(word.text) for word in words(end)[:1])))


def _addressed_request(one: Sentence, part: str, low: str) -> list[Ending]:
    """Return a request to forget that names the memory or asks politely, wherever its verb is."""
    for tongue in languages_in(low):
        found = list(tongue.find("erase", low))
        if not found or tongue.has("unforgotten", low) or not tongue.has("remembered", one.low):
            continue
        if holds_word(low[: found[0].start()], "third"):
            continue
        blank = blanked(part, [match.span() for match in (*found, *tongue.find("remembered", low))])
        whole = terms_in(_blanked_sentence(tongue, one))
        names = [term for term in whole if term.is_name]
        terms = _cut([*names, *(term for term in terms_in(blank) if not term.is_name)] or whole)
        if terms:
            return [_asking(one, part, terms, everything=tongue.has("everything", low))]
    return []


def _asking(one: Sentence, part: str, terms: Sequence[Term], *, everything: bool) -> Ending:
    """Return a request to forget; "my boss" includes the name, "my weight" includes "I weigh 93 kilos"."""
    is_person = all(term.text in listed("people") for term in terms)
    return Ending("forget", one, part, tuple(map(with_alike, terms)), everything=everything or is_person)


def _blanked_sentence(tongue: Language, one: Sentence) -> str:
    cues = (*tongue.find("erase", one.low), *tongue.find("remembered", one.low))
    few = [match for match in cues if len(words(match[0])) <= MAX_CUE_WORDS]  # longer cues hold words that may be named
    spans = [match.span() for match in few if "\n" not in match[0]]
    return blanked(one.text, [(0, _polite_end(tongue, one.low) - _SLACK), *spans])


def _polite_end(tongue: Language, low: str) -> int:
    """Return the offset in a clause up to which polite words reach."""
    at = len(low) - len(low.lstrip(" \"'-—*•"))
    ends = [(found.start() - _SLACK, found.end()) for found in tongue.find("polite", low)]
    while further := [end for start, end in ends if start <= at < end]:
        at = max(further)
    return at + _SLACK


def is_void(one: Sentence, part: str, low: str) -> bool:
    """Return whether a clause ends nothing despite its cue: a question, a wish, an exception, hearsay."""
    if not words(low) or is_question(part, low) or (one.is_question and part == one.text):
        return True
    return is_hypothesis(low) or is_hypothesis(one.low) or has_cue("block", low)


def _stated(one: Sentence, part: str, low: str) -> Ending | None:
    for tongue in languages_in(low):
        if (found := _naming(tongue, one, part, low) or _plain(tongue, one, part, low)) is not None:
            return found
    is_own = speaks_of_self(low) or any(tongue.has("elided", low) for tongue in languages_in(low))
    is_once = has_cue("instruct", low) and not lasts(low, "instruct")  # "Answer in English this time"
    if (slots := slot_of(part)) and not is_once and (is_own or ":" in slots[0][0]):
        return Ending("slot", one, part, slot=slots[0], rest=part)
    if has_cue("meant", low):
        return Ending("meant", one, part, rest=part)
    return None


def _correction(one: Sentence) -> Ending | None:
    """Return the ending of a correction across a comma: "I meant the bassoon, not the oboe"."""
    for tongue in languages_in(one.low):
        for match in tongue.find("correct", one.low):
            names_both = "new" in match.re.groupindex and match["new"] and match["old"]
            if names_both and COMMA.search(match[0]) and not one.is_question:
                start = max(begin for begin, _ in clauses(one.text) if begin <= match.start())
                return _naming(tongue, one, one.text[start:], one.low[start:])
    return None


def _naming(tongue: Language, one: Sentence, part: str, low: str) -> Ending | None:
    """Return the ending of a cue with a place for the old thing: a switch or a correction."""
    for kind in _NAMING:
        for match in tongue.find(kind, low):
            terms = _cut(terms_in(part, *match.span("old")))
            terms = _nearest(terms) if match.start() == match.start("old") else terms
            if terms:
                subject, rest = subject_of(tongue, part, low, match.start()), rest_of(part, match, terms)
                moved = match.span("gap" if "gap" in match.re.groupindex else "old")  # "the React button" is not React
                beside = (*terms_in(part, *moved), *terms) if kind == "switch" else ()
                return Ending(kind, one, part, tuple(terms), subject, beside=beside, rest=rest)
    return None


def _plain(tongue: Language, one: Sentence, part: str, low: str) -> Ending | None:
    """Return the ending of a cue without places: an end, or a liking that turned."""
    for kind in _PLAIN:
        for match in tongue.find(kind, low):
            if kind == "turned" and tongue.has("formerly", low):
                continue
            spans = regions(low, match)
            terms, subject = _named(tongue, part, low, match, spans)
            if terms:
                subject = subject or tuple(terms_in(person_before(one.text, part))[-1:])
                beside = tuple(term for span in spans for term in terms_in(part, *span))
                rest = part if kind == "turned" else ""
                return Ending(kind, one, part, tuple(terms), subject, beside=beside, rest=rest)
    return None


def regions(low: str, match: re.Match[str]) -> list[Span]:
    """Return the parts of a phrase around a plain cue: inside it, after it and before it."""
    left = max((found.end() for found in COMMA.finditer(low, 0, match.start())), default=0)
    right = next((found.start() for found in COMMA.finditer(low, match.end())), len(low))
    regions: list[Span] = [(match.end(), right), (left, match.start())]
    if match.groupdict().get("gap") and not COMMA.search(low, match.start("gap") - _SLACK, match.start("gap")):
        start, end = match.span("gap")
        if match.end("gap") == match.end():  # a gap after the cue ends at a comma, a gap inside it may be a list
            end = next((found.start() for found in COMMA.finditer(low, start, end)), end)
        regions.insert(0, (start, end))
    return regions


def _named(
    tongue: Language, part: str, low: str, match: re.Match[str], regions: Sequence[Span]
) -> tuple[list[Term], tuple[Term, ...]]:
    """Return the things that a plain cue ends: the words inside it, else those after it, else those before it."""
    for at, (start, end) in enumerate(regions):
        if terms := _cut(terms_in(part, start, end)):
            is_before = at == len(regions) - 1
            beside = [word.text for span in regions[:-1] for word in words(low[slice(*span)])]
            is_doing = any(word in listed("light") or HAS_CJK.match(word) for word in beside)
            if is_before and is_doing and not names_author(low):
                return [], ()  # "Biscuit doesn't eat anymore": the activity ends, not Biscuit
            is_open = is_before or (len(regions) > _PLAIN_REGIONS and at == 0 and match.start("gap") == match.start())
            named = _nearest(terms) if is_open else terms
            return named, owners_of(part, end, named) if is_before else subject_of(tongue, part, low, match.start())
    return [], ()


def subject_of(tongue: Language, part: str, low: str, end: int) -> tuple[Term, ...]:
    """Return the telling words of the subject before a cue; empty if the user is the subject."""
    before = low[:end]
    if names_author(before):
        return ()
    names = [term for term in terms_in(part, 0, end) if term.is_name]
    if not names:  # "Inga stopped …"
        names = terms_in(part, 0, end)[-1:]
    return (*people_in(part, end), *names) or ((UNNAMED,) if holds_word(before, "third") else ())


def _nearest(terms: Sequence[Term]) -> list[Term]:
    """Return the last name, else the last term: the reach of an open place to the left is unknown."""
    names = [term for term in terms if term.is_name]
    return (names or list(terms))[-1:]


def _cut(terms: Sequence[Term]) -> list[Term]:
    return list(terms[:MAX_TERMS])

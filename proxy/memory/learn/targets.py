"""Matching of endings to older sentences: all known telling words, and the same subject. Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import NamedTuple

from proxy.memory.learn.endings import Ending
from proxy.memory.learn.past import Past, Row
from proxy.memory.learn.remains import remains
from proxy.memory.learn.slots import is_other, same_slot, slot_of
from proxy.text.languages import has_cue, languages_in
from proxy.text.languages import words as listed
from proxy.text.owners import UNNAMED
from proxy.text.segment import COMMA, clauses, is_question, sentences, sides
from proxy.text.speakers import denies, holds_word, names_author, points_at_one, speaks_of_self
from proxy.text.terms import Term, holds, holds_all, person_in, plain, shared, terms_in
from proxy.text.words import HAS_CJK, flat, words
from proxy.types import Memory, Said, Turn

MIN_SHARE = 0.5  # of an ending's known terms that a target holds, the first among them
MAX_NAMED = 8  # sentences that one name may end; a name in more is a theme, not a thing
MIN_BESIDE = 2  # telling words in a part of a sentence that does not name the ended thing
MAX_UNNAMED = 2  # the same limit for common words
_YEAR = re.compile(r"(?<!\d)(?:19|20)\d\d(?!\d)")


@dataclass(frozen=True, slots=True)
class Older:
    """An earlier sentence: a memory, or a sentence of a turn that never became one.

    Attributes:
        text: The statement.
        sentence: The whole sentence that contains it.
    """

    text: str
    sentence: str
    memory: Memory | None
    row: Row | None


Hit = tuple[Older, Sequence[Term]]  # a sentence, and its terms that ended


class Named(NamedTuple):
    """A sentence that an ending names, with the ended terms; a heavy one states more, and is linked, not closed."""

    older: Older
    terms: Sequence[Term]
    is_heavy: bool


class Asked(NamedTuple):
    """Older sentences that a request to forget names, or may name if uncertain, with its known terms."""

    found: list[Older]
    terms: list[Term]
    is_certain: bool

    def with_slot(self, name: str, older: Sequence[Older]) -> Asked:
        """Return the same with the value of a slot that the request names: "I live in Leeds" of "where I live"."""
        own = [one for one in older if name and speaks_of_self(flat(one.text))]
        held = [(one, _of_value(value)) for one in own for known, value in slot_of(one.text) if known == name]
        found = [one for one, terms in held if terms]
        if not found:
            return self
        more = [one for one in self.found if self.is_certain and one not in found]
        return Asked([*found, *more], [*(term for _, terms in held for term in terms), *self.terms], is_certain=True)


def older_sentences(turn: Turn, past: Past, active: Sequence[Memory], said: Said) -> list[Older]:
    """Return the sentences that an ending in ``said`` may reach, as memories or as sentences of earlier turns."""
    found = [Older(row.text, row.quote or row.text, row, None) for row in active if row.kind != "summary"]
    known = {plain(one.sentence) for one in found}
    for row in past.rows:
        if row.by != "user" or row.message == said.id or (not said.live and row.session != turn.scope.session):
            continue
        for start, end in sentences(row.text):
            text = row.text[start:end]
            if plain(text) not in known:
                found.append(Older(text, text, None, row))
    if said.live:
        return found
    return [one for one in found if one.memory is None or one.memory.session == turn.scope.session]


def ended(ending: Ending, older: Sequence[Older]) -> list[Named]:
    """Return the older sentences that an ending names.

    Each holds the first telling word of the ending and half of its other known ones; if the ending has a subject other
    than the user, the sentence holds that person too. Statements about other people, and those dangerous to forget, end
    only by an ending that names exactly that.
    """
    known = _known(ending.terms, older)
    names = [term for term in ending.terms if term.is_name and not term.text.isdigit()]  # no "3" of "3 weeks ago"
    first = next(iter((*names, *ending.terms)), None)
    if ending.kind in ("lifted", "halted"):
        found = [one for one in older if _is_instruction(one, ending) and any(holds(one.text, term) for term in known)]
        return [Named(one, ending.terms, is_linked(one, ending)) for one in found]
    if first is None or first not in known:
        return []
    is_theirs = ending.kind == "correct" and ending.subject == (UNNAMED,)  # "Her name is Mochi, not Miso"
    open_to = replace(ending, subject=()) if is_theirs else ending
    found = [one for one in older if _is_named(one.text, first, known) and is_open_to(one.text, open_to)]
    found = _nearest([one for one in found if not (is_theirs and slot_of(one.text))], ending)
    if len({plain(one.sentence) for one in found}) > (MAX_NAMED if first.is_name else MAX_UNNAMED):
        return []
    return [Named(one, ending.terms, is_theirs or is_linked(one, ending)) for one in found]


def _is_instruction(one: Older, ending: Ending) -> bool:
    """Return whether a statement is a standing instruction that an ending may lift or halt."""
    is_no = denies(flat(one.text))
    return one.memory is not None and one.memory.kind == "instruction" and not (is_no and ending.kind == "halted")


def likely(ending: Ending, older: Sequence[Older]) -> list[Named]:
    """Return the memories that a likely end may concern: they hold all of its terms, or fill its slot."""
    name, _ = ending.slot
    if name:
        found = [one for one in older if any(known == name for known, _ in slot_of(one.text))]
        found = [one for one in found if speaks_of_self(flat(one.text))]
    else:
        named = [one for one in older if holds_all(one.text, ending.terms) and is_open_to(one.text, ending)]
        found = [one for one in named if not _is_apart(one.text, ending)]
    found = [one for one in found if one.memory is not None]
    return [Named(one, (), is_heavy=True) for one in found] if len(found) <= MAX_UNNAMED else []


def _known(terms: Sequence[Term], older: Sequence[Older]) -> list[Term]:
    return [term for term in terms if any(holds(one.text, term) for one in older)]


def _nearest(found: Sequence[Older], ending: Ending) -> list[Older]:
    """Return, of several targets, those that share most of the other terms of the ending's clause."""
    others = [term for term in terms_in(ending.clause) if term.text not in {one.text for one in ending.terms}]
    if len(found) < 2 or not others:
        return list(found)
    counts = [sum(holds(one.sentence, term) for term in others) for one in found]
    return [one for one, count in zip(found, counts, strict=True) if count == max(counts)]


def _is_heavy(one: Older, terms: Sequence[Term]) -> bool:
    """Return whether a sentence states more than the ended thing, and a part of it cannot be kept alone."""
    kept = remains(one.text, terms) if terms else []
    others = [side.strip() for side in sides(one.text) if not any(holds(side, term) for term in terms)]
    more = [side for side in others if _tells_more(side) and not is_question(side, flat(side))]
    return any(not any(side in text for text in kept) for side in more)


def in_slot(ending: Ending, older: Sequence[Older]) -> list[Named]:
    """Return the sentences with another value in the slot of an ending, and the terms of that value.

    Homes and jobs may share a sentence with other statements; the text after "my favourite film is" describes it.
    Without a word of change both may hold: "I live in Germany", "I live in Munich".
    """
    name, value = ending.slot
    opening = ending.sentence.text.partition(ending.clause)[0]  # "Actually, "
    low = flat(opening + ending.clause if len(words(opening)) < MIN_BESIDE else ending.clause)
    is_change = has_cue("now", low.replace(value.split(" ")[0], "", 1))  # "in New England" is no change
    found = []
    for one in older:
        if speaks_of_self(flat(one.text)) or ":" in name:
            held = [held for known, held in slot_of(one.text) if same_slot(known, name) and is_other(held, value)]
            if held:
                terms = _of_value(held[0])
                is_heavy = not is_change or _is_earlier(one, ending) or (":" not in name and _speaks_on(one, terms))
                found.append(Named(one, terms if one.memory else (), is_heavy))  # a pasted letter leaves nothing
    return found


def _of_value(value: str) -> list[Term]:
    return terms_in(value.replace(" ", "") if HAS_CJK.match(value) else value)[:1]


def _speaks_on(one: Older, terms: Sequence[Term]) -> bool:
    """Return whether a sentence states more than a value, or mentions the user's people and things beside it."""
    held = [one.text[a:b] for a, b in clauses(one.text) if any(holds(one.text[a:b], term) for term in terms)]
    beside = {word.text for clause in held for word in words(clause)[1:]}
    return (bool(terms) and _is_heavy(one, terms)) or not beside.isdisjoint(listed("mine") | listed("people"))


def _is_with_others(text: str, terms: Sequence[Term]) -> bool:
    """Return whether the ended thing is stated with people: "in Seville with my husband Pablo"."""
    held = [words(text[a:b]) for a, b in clauses(text) if any(holds(text[a:b], term) for term in terms)]
    forms = frozenset[str]().union(*(term.forms for term in terms))
    behind = [found[at + 1 :] for found in held for at, word in enumerate(found) if word.text in forms]
    pairs = [pair for found in behind for pair in pairwise(word.text for word in found)]
    return any(left in listed("mine") and right in listed("people") for left, right in pairs)


def _tells_more(side: str) -> bool:
    """Return whether a part of a sentence states something alone: "и не ем глютен", not "and on Mondays"."""
    found, told = words(side), len(terms_in(side))
    if any(word.text in listed("preposition") for word in found[:1]) and not speaks_of_self(flat(side)):
        return False  # "near the river"
    return told > 0 and len(found) >= MIN_BESIDE


def is_linked(one: Older, ending: Ending) -> bool:
    """Return whether to keep a sentence and link it to its ending: it states much more, or the correction needs it.

    "It should be 790, not 740" means nothing without "My rent is 740". "I cancelled the Magnet webinar" or "I drink no
    coffee after four anymore" ends another thing, or a part: the sentence lacks the other terms of the ending.
    """
    if ending.kind in ("lifted", "halted"):
        return not holds_all(one.text, ending.terms) or _is_heavy(one, ending.terms)
    parts = [part for part in COMMA.split(ending.clause) if any(holds(part, term) for term in ending.terms)]
    if not holds_all(one.text, ending.beside) or any(map(points_at_one, parts)):
        return True
    if _is_earlier(one, ending) or _is_apart(one.text, ending):
        return True
    if ending.kind == "correct" and ending.rest and not slot_of(ending.rest) and not shared(one.text, ending.rest):
        return True
    low, said = flat(one.text), flat(ending.clause)
    tongues = [each for each in languages_in(low) if each.has("calls_off", said) and not each.has("habit", said)]
    if any(tongue.has("habit", low) or tongue.has("prefer", low) for tongue in tongues):
        return True  # "I cancelled my lesson" is one of "every Friday", "Summer is over" ends no dislike
    return _is_heavy(one, ending.terms) or _is_with_others(one.text, ending.terms)


def _is_earlier(one: Older, ending: Ending) -> bool:
    """Return whether an ending names a year before the statement was made: "In 1998 we moved to Denver"."""
    said = one.memory.valid_from if one.memory is not None else one.row.at if one.row is not None else None
    return said is not None and any(int(year) < said.year for year in _YEAR.findall(ending.clause))


def _is_apart(text: str, ending: Ending) -> bool:
    """Return whether a statement still holds ("I don't have a car", "Grandpa was a baker") or is of several: "two cats"."""
    lows = [flat(text[a:b]) for a, b in clauses(text) if any(holds(text[a:b], term) for term in ending.terms)]
    if any(tongue.has(cue, low) for low in lows for tongue in languages_in(low) for cue in ("end", "formerly", "was")):
        return True
    of_several = any(holds_word(low, "several") for low in lows) and not holds_word(flat(ending.clause), "all_of")
    of_several &= ending.kind != "likely"  # "Pixel 8"
    return of_several or any(denies(low) for low in lows)


def asked(ending: Ending, terms: Sequence[Term], older: Sequence[Older]) -> Asked:
    """Return the targets of a request to forget; certain if each name, or the first word and half the rest, is held."""
    known = _known(terms, older)
    if not known:
        return Asked([], [], is_certain=False)
    names = [term for term in known if term.is_name]
    unknown_names = [term for term in terms if term.is_name and term not in known]
    first = names[0] if names else terms[0]
    is_certain = first in known and not (names and len(unknown_names) >= len(names))
    found = [one for one in older if not is_certain or _is_named(one.text, first, known)]
    counts = [sum(holds(one.text, term) for term in known) for one in found]
    least = 1 if ending.everything else max((1, *counts))  # "that Nora is ill" is not all about Nora
    found = [one for one, count in zip(found, counts, strict=True) if count >= least]
    own = [one for one in found if not _is_of_others(one.text, known)]
    found = found if names or ending.everything or not own else own  # "that I have asthma": not "My son has asthma"
    return Asked(found, [*names, *(term for term in known if not term.is_name)], is_certain)


def _is_of_others(text: str, terms: Sequence[Term]) -> bool:
    """Return whether a statement is about a person other than the user, whom the terms do not name."""
    held = [text[a:b] for a, b in clauses(text) if any(holds(text[a:b], term) for term in terms)]
    return any(map(_other_subject, held)) and not any(term.text in listed("people") for term in terms)


def _is_named(text: str, first: Term, known: Sequence[Term]) -> bool:
    return holds(text, first) and sum(holds(text, term) for term in known) >= MIN_SHARE * len(known)


def is_open_to(text: str, ending: Ending) -> bool:
    """Return whether an ending may reach a statement: same subject, and not dangerous to forget unless named."""
    return holds_all(text, ending.subject) and _is_same_subject(text, ending) and not _is_guarded(text, ending)


def _is_same_subject(text: str, ending: Ending) -> bool:
    """Return whether a sentence has the ending's subject: not another person, unless the ending names them."""
    for start, end in clauses(text):
        clause = text[start:end]
        if not any(holds(clause, term) for term in ending.terms):
            continue
        if ending.subject:
            return not names_author(flat(clause))
        person = _other_subject(clause)
        if person and not any(holds(person, term) for term in ending.terms):
            return False
    return True


def _other_subject(clause: str) -> str:
    """Return the words, with the name, for another person who is the subject of a clause; "" if none is."""
    return "" if names_author(flat(clause)) else person_in(clause)


def _is_guarded(text: str, ending: Ending) -> bool:
    """Return whether closing a sentence would lose a danger that the ending does not mention."""
    low, said = flat(text), flat(f"{ending.clause} {' '.join(remains(text, ending.terms)) if ending.terms else ''}")
    return any(one.has("danger", low) and not one.has("danger", said) for one in languages_in(low))

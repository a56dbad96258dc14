"""Cues of a likely, uncertain end: the memory that one names is shown with it and never closed. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from proxy.memory.learn.endings import MAX_ENDINGS, Ending, is_void, regions, subject_of
from proxy.memory.learn.statements import Sentence
from proxy.text.languages import Language, has_cue, languages_in
from proxy.text.languages import words as listed
from proxy.text.segment import clauses
from proxy.text.speakers import denies, holds_word, names_author
from proxy.text.terms import Term, forms_of, terms_in
from proxy.text.words import HAS_CJK, words


def doubts(found: Sequence[Sentence]) -> list[Ending]:
    """Return the ends that the sentences of a message make likely: "lost my phone", "I quit", "I eat meat again"."""
    made: list[Ending] = []
    for one in found:
        for start, end in clauses(one.text):
            part, low = one.text[start:end], one.low[start:end]
            if not is_void(one, part, low) and not has_cue("undone_end", one.low):
                made += [*_named(one, part, low), *_without(one, part, low)]
    return made[:MAX_ENDINGS]


def _named(one: Sentence, part: str, low: str) -> Iterator[Ending]:
    """Yield the likely ends of a clause: by the first of its cues that names something, and by slot."""
    for tongue in languages_in(low):
        for match in tongue.find("likely", low):
            if terms := next(filter(None, (terms_in(part, *span) for span in regions(low, match))), None):
                subject = () if names_author(match[0]) else subject_of(tongue, part, low, match.start())
                yield Ending("likely", one, part, tuple(terms), () if terms[0] in subject else subject)
                break
        yield from (
            Ending("likely", one, part, slot=(slot, "")) for slot in tongue.slots if _is_over(tongue, slot, low)
        )


def _is_over(tongue: Language, slot: str, low: str) -> bool:
    """Return whether the author lost the value of a slot ("I quit", no more), or a new one began."""
    over = [match for match in tongue.find(f"over_{slot}", low) if not terms_in(low, match.end())]
    return any(_is_own(low, match) for match in (*over, *tongue.find(f"begun_{slot}", low)))


def _is_own(low: str, cue: re.Match[str]) -> bool:
    """Return whether a cue is about the author: not "my wife got laid off"."""
    before = low[: cue.start()]
    return names_author(before + cue[0]) or not (holds_word(before, "people") or holds_word(before, "third"))


def _without(one: Sentence, part: str, low: str) -> Iterator[Ending]:
    """Yield things that the author avoided and has again or takes up: "I eat meat again" after "I'm vegan"."""
    is_back = names_author(low) and not denies(low) and (has_cue("again", low) or has_cue("takes_up", low))
    said = {word.text for word in words(low)} if is_back else set()
    for thing, *without in (group.split("/") for group in listed("contrary")):
        if thing in said or (is_back and HAS_CJK.match(thing) and thing in low):
            terms = (Term(word, forms_of(word), is_name=False) for word in without)
            yield from (Ending("likely", one, part, (term,)) for term in terms)

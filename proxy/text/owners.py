"""Persons other than the author that a clause is about: owners of its things, or its subject. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from proxy.text.speakers import holds_word, names_author, speaks_of_self
from proxy.text.terms import Term, people_in, person_in
from proxy.text.words import flat

UNNAMED = Term("", frozenset(("\0",)), is_name=False)  # a person whom no text names: "he stopped"


def owners_of(part: str, end: int, named: Sequence[Term]) -> tuple[Term, ...]:
    """Return the owners of the things named before ``end``: of "her allergy"; empty if the author owns them."""
    people, low = people_in(part, end), flat(part[:end])
    if any(term.is_name for term in named) or {term.text for term in named} & {term.text for term in people}:
        return ()  # "my brother died"
    return tuple(people) or ((UNNAMED,) if holds_word(low, "third") and not speaks_of_self(low) else ())


def person_before(text: str, clause: str) -> str:
    """Return the subject of a clause without its own: "my sister" in "My sister moved out, no longer lives in Hull"."""
    before = text[: text.find(clause)]
    return "" if not before or speaks_of_self(flat(clause)) or names_author(flat(before)) else person_in(before)

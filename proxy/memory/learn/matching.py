"""Whether a memory and a candidate speak of the same subject, relation or value."""

from __future__ import annotations

from proxy.memory.plan.changes import PROFILE, SUCCEEDS
from proxy.text.cuts import cut, stands_beside
from proxy.text.words import Value, contains_value, fold, mentions, same_value, words
from proxy.types import Candidate, Memory


def names(value: str, term: str) -> bool:
    """Whether a value names a term: the same, a part, or more of it."""
    return same_value(value, term) or contains_value(value, term) or contains_value(term, value)


def same_subject(memory: Memory, candidate: Candidate) -> bool:
    """Whether a memory and a candidate are about the same."""
    return fold(memory.subject) == fold(candidate.subject) or same_value(memory.subject, candidate.subject)


def related(memory: Memory, candidate: Candidate) -> bool:
    """Whether their relations agree, as far as both have one."""
    return not memory.relation or not candidate.relation or fold(memory.relation) == fold(candidate.relation)


def is_rival(memory: Memory, candidate: Candidate) -> bool:
    """Whether only one of them can hold at a time."""
    if not candidate.relation or not memory.object:
        return False
    return (
        same_subject(memory, candidate)
        and fold(memory.relation) == fold(candidate.relation)
        and not same_value(memory.object, candidate.object)
    )


def holds_without(memory: Memory, term: str) -> bool:
    """Whether a memory still tells its value once a figure or common word that is to be forgotten is cut out of it.

    What tells of somebody goes with their name, but for what is merely done with them.
    """
    found = words(memory.text)
    gone, held = (list(Value.of(value).find(found)) for value in (term, memory.object))
    is_plain = term[:1].islower() or term[:1].isdigit() or all(stands_beside(memory.text, span) for span in gone)
    rest = cut(memory.text, gone, held=held) if is_plain and memory.object and held else None
    return rest is not None and mentions(rest, memory.object)


def extra(candidate: Candidate) -> dict[str, object]:
    """Return what of a candidate has no column of its own."""
    extra: dict[str, object] = {SUCCEEDS: list(candidate.replaces)} if candidate.action == "replace" else {}
    if candidate.profile:
        extra[PROFILE] = True
    if candidate.at is not None:
        extra["event_at"] = candidate.at.isoformat()
    return extra

"""Finds what takes place on another day or at another hour than was told before ("squash is on Fridays now")."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from proxy.memory.learn.extract_builtin.lazy import lazy
from proxy.memory.learn.extract_builtin.looks import telling
from proxy.memory.learn.extract_builtin.reading import Clause, Reading, Sentence, read_as
from proxy.memory.learn.extract_builtin.switches import NOW
from proxy.memory.learn.extract_builtin.typed import Typed, typed
from proxy.text.words import flat

_SORTS = frozenset(("weekday", "time", "date"))
_MOVED = lazy(
    r"\b(?:moved|pushed|shifted|postponed|rescheduled|brought forward|delayed|verschoben|verlegt|vorgezogen|vertagt|"
    r"aplaz\w+|pospuest\w+|pospuso|retras\w+|adelant\w+|movi(?:ó|do|eron)|pas(?:ó|ado|aron) al?|reprogram\w+|"
    r"перен[её]с\w*|сдвину\w+|отложи\w+|переехал\w*)\b|[改推挪换延移]到|改成|改为|推迟|提前|延期"
)


class Rescheduled(NamedTuple):
    """What was told, and the day or time that takes its place."""

    sentence: Sentence
    new: str
    old: str
    text: str


def rescheduled(reading: Reading, earlier: Sequence[str]) -> Iterator[Rescheduled]:
    """Yield what a message moves to another day or time; both clauses give but one, and share what it is about."""
    for sentence in reading.sentences:
        for clause in sentence.clauses:
            is_moved = NOW.search(clause.flat) or _MOVED.search(clause.flat)
            if clause.asks or not is_moved or reading.lexicon.additive.search(clause.flat):
                continue
            new = _only_one(reading.text, clause)
            if new is None:
                continue
            for text in reversed(earlier):
                if (old := _told_before(reading, clause, new, text)) is not None:
                    yield Rescheduled(sentence, new.surface, old.surface, text)
                    break


def _told_before(reading: Reading, clause: Clause, new: Typed, text: str) -> Typed | None:
    about = telling(reading.text[clause.start : new.start] + " " + reading.text[new.end : clause.end], reading.lexicon)
    for sentence in read_as(text, reading.lexicon).sentences:
        for told in sentence.clauses:
            old = None if told.asks else _only_one(text, told)
            if old is None or old.kind != new.kind or flat(old.surface) == flat(new.surface):
                continue
            if about & telling(text[told.start : old.start] + " " + text[old.end : told.end], reading.lexicon):
                return old
    return None


def _only_one(text: str, clause: Clause) -> Typed | None:
    """Return the one day or time that a clause gives, with its place in the text."""
    found = [one for one in typed(text[clause.start : clause.end]) if one.kind in _SORTS]
    if len(found) != 1:
        return None
    one = found[0]
    return Typed(one.kind, one.surface, clause.start + one.start, clause.start + one.end, one.unit)

"""Keeps closed values out of what is quoted: old turns and facts are shown without what has ended."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime

from proxy.memory.plan.changes import CLOSED_AT, REPLACED
from proxy.text.cuts import cut
from proxy.text.words import HAS_CJK, Span, Value, Word, fold, same_word, words
from proxy.types import Memory

_PREFIX = 3
_RUN = re.compile(r"[^\W_]+")


@dataclass(frozen=True, slots=True)
class _Closed:
    """One value and until when it must not be quoted."""

    value: Value
    until: datetime
    replaced: bool  # another value took its place: its closing turn states that one
    keep: tuple[str, ...] = ()  # folded statements, still true, that name the same value


@dataclass(frozen=True, slots=True)
class ClosedValues:
    """The values that have ended, compiled for looking them up in many texts.

    Args:
        closed: By the first letters of their first word (the first character of Chinese).
        held: The values that still hold, in the same way.
    """

    closed: Mapping[str, tuple[_Closed, ...]] = field(default_factory=dict)
    held: Mapping[str, tuple[Value, ...]] = field(default_factory=dict)

    @classmethod
    def from_memories(cls, memories: Iterable[Memory]) -> ClosedValues:
        """Compile what ``memories`` (every status, tombstones included) say has ended."""
        rows = [memory for memory in memories if memory.object]
        active = [memory for memory in rows if memory.status == "active"]
        by_value: dict[str, list[Memory]] = {}
        for memory in active:
            for word in words(memory.object):
                by_value.setdefault(_key(word.text), []).append(memory)
        closed: dict[str, list[_Closed]] = {}
        for memory in rows:
            entry = _closed(memory, by_value)
            if entry is not None and entry.value.words:
                closed.setdefault(_key(entry.value.words[0]), []).append(entry)
        held: dict[str, list[Value]] = {}
        for memory in active if closed else ():
            value = Value.of(memory.object)
            held.setdefault(_key(value.words[0]) if value.words else "", []).append(value)
        return cls({key: tuple(found) for key, found in closed.items()}, {key: tuple(v) for key, v in held.items()})

    def visible(self, text: str, at: datetime) -> str | None:
        """Return ``text``, said at ``at``, without what mentions a value that was closed then or later.

        Returns:
            The text itself where nothing of it has ended; None where nothing worth quoting is left.
        """
        if not self._may_mention(text):
            return text
        found = words(text)
        hidden = [
            (entry, (word.start, found[place + len(entry.value.words) - 1].end))
            for place, word in enumerate(found)
            for entry in self.closed.get(_key(word.text), ())
            if entry.until >= at and entry.value.stands_at(found, place)
        ]
        hidden = [(entry, span) for entry, span in hidden if not _is_kept(text, entry, span)]
        if not hidden:
            return text
        whole = [span for entry, span in hidden if entry.until == at and not entry.replaced]
        return cut(text, [span for _, span in hidden], whole=whole, held=self._held_spans(found, hidden))

    def _may_mention(self, text: str) -> bool:
        if not self.closed:
            return False
        folded = text.casefold()
        if not folded.isascii():
            folded = unicodedata.normalize("NFKC", folded).replace("ё", "е")
            if HAS_CJK.search(folded):
                return any(_key(word.text) in self.closed for word in words(text))
        closed = self.closed
        near = [word for word in _RUN.findall(folded) if word[:_PREFIX] in closed]
        return any(same_word(entry.value.words[0], word) for word in near for entry in closed[word[:_PREFIX]])

    def _held_spans(self, found: Sequence[Word], hidden: Sequence[tuple[_Closed, Span]]) -> list[Span]:
        gone = [span for _, span in hidden]
        spans = [
            (word.start, found[place + len(value.words) - 1].end)
            for place, word in enumerate(found)
            for value in self.held.get(_key(word.text), ())
            if value.stands_at(found, place)
        ]
        return [span for span in spans if not any(span[0] < end and start < span[1] for start, end in gone)]


def _key(word: str) -> str:
    return word[:1] if HAS_CJK.match(word) else word[:_PREFIX]


def _closed(memory: Memory, active: Mapping[str, Sequence[Memory]]) -> _Closed | None:
    until = closed_until(memory)
    value = Value.of(memory.object)
    if until is None or not value.words:
        return None
    keep = [
        fold(other.quote or other.text)
        for other in active.get(_key(value.words[0]), ())
        if other.id != memory.id
        and (not memory.quote or other.quote != memory.quote)
        and other.valid_from <= until
        and next(value.find(words(other.object)), None)
    ]
    replaced = memory.status == "superseded" or bool(memory.metadata.get(REPLACED))
    return _Closed(value, until, replaced, tuple(keep))


def closed_until(memory: Memory) -> datetime | None:
    """Return the moment up to which what was said of this value no longer holds, None where it always held."""
    if memory.status in ("retracted", "superseded"):
        return memory.valid_to or memory.updated_at
    stamp = memory.metadata.get(CLOSED_AT)
    return datetime.fromtimestamp(stamp / 1000, UTC) if isinstance(stamp, int | float) else None


def _is_kept(text: str, entry: _Closed, span: Span) -> bool:
    if not entry.keep:
        return False
    whole = fold(text)
    if whole in entry.keep:
        return True
    left, right = len(fold(text[: span[0]])), len(fold(text[: span[1]]))
    for statement in entry.keep:
        place = whole.find(statement)
        while place >= 0:
            if place <= left + 1 and right <= place + len(statement) + 1:
                return True
            place = whole.find(statement, place + 1)
    return False

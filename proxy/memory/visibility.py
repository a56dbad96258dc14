"""Keeps closed values out of what is quoted: old turns and facts are shown without what has ended."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime

from proxy.memory.changes import CLOSED_AT, REPLACED
from proxy.memory.cuts import cut
from proxy.memory.words import HAS_CJK, Span, Value, Word, fold, words
from proxy.types import Memory

_PREFIX = 3
_RUN = re.compile(r"\w+")
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class _Closed:
    """One value and until when it must not be quoted."""

    value: Value
    until: datetime
    replaced: bool  # another value took its place: its closing turn states that one
    keep: tuple[str, ...] = ()  # folded statements, still true, that name the same value


@dataclass(frozen=True, slots=True)
class ClosedValues:
    """The values that have ended, compiled for looking them up in many texts."""

    closed: tuple[_Closed, ...] = ()
    prefixes: frozenset[str] = frozenset()
    cjk: tuple[str, ...] = ()
    held: tuple[Value, ...] = field(default=())

    @classmethod
    def from_memories(cls, memories: Iterable[Memory]) -> ClosedValues:
        """Compile what ``memories`` (every status, tombstones included) say has ended."""
        rows = [memory for memory in memories if memory.object]
        active = [memory for memory in rows if memory.status == "active"]
        closed = [found for memory in rows if (found := _closed(memory, active)) is not None]
        firsts = [entry.value.words[0] for entry in closed if entry.value.words]
        return cls(
            tuple(closed),
            frozenset(first[:_PREFIX] for first in firsts if not HAS_CJK.search(first)),
            tuple({"".join(entry.value.words) for entry in closed if HAS_CJK.search("".join(entry.value.words[:1]))}),
            tuple(Value.of(memory.object) for memory in active),
        )

    def visible(self, text: str, at: datetime) -> str | None:
        """Return ``text``, said at ``at``, without what mentions a value that was closed then or later.

        Returns:
            The text itself where nothing of it has ended; None where nothing worth quoting is left.
        """
        if not self._may_mention(text):
            return text
        found = words(text)
        hidden = [(entry, span) for entry in self.closed if entry.until >= at for span in entry.value.find(found)]
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
            if any(value in folded for value in self.cjk):
                return True
            if self.cjk and any(value in re.sub(r"\s+", "", folded) for value in self.cjk):
                return True
        prefixes = self.prefixes
        return any(word[:_PREFIX] in prefixes for word in _RUN.findall(folded)) or _has_inner_word(folded, prefixes)

    def _held_spans(self, found: Sequence[Word], hidden: Sequence[tuple[_Closed, Span]]) -> list[Span]:
        gone = [span for _, span in hidden]
        spans = [span for value in self.held for span in value.find(found)]
        return [span for span in spans if not any(span[0] < end and start < span[1] for start, end in gone)]


def _has_inner_word(folded: str, prefixes: frozenset[str]) -> bool:
    """Look for Latin words inside CJK runs, which the quick look takes for one word."""
    if folded.isascii() or not HAS_CJK.search(folded):
        return False
    return any(word.text[:_PREFIX] in prefixes for word in words(folded))


def _closed(memory: Memory, active: Sequence[Memory]) -> _Closed | None:
    until = closed_until(memory)
    if until is None:
        return None
    value = Value.of(memory.object)
    keep = [
        fold(other.quote or other.text)
        for other in active
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

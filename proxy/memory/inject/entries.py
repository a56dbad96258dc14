"""Entries of a block: one line per statement or message, with the hits that the line covers. Pure."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal

from proxy.memory.inject.tuning import LAYOUT, Layout
from proxy.text import fence
from proxy.text.quoted import marked
from proxy.text.terms import says_nothing, terms_in
from proxy.types import Hit, Source

Section = Literal["documents", "images", "summaries", "team", "tasks", "assistant", "user"]

MAX_IDLE = 40  # characters of a turn that may have no content
MIN_CONFIDENCE = 0.5  # below it an entry is marked as uncertain
_SECTIONS: dict[Source, Section] = {
    "chunk": "documents",
    "image": "images",
    "summary": "summaries",
    "task": "tasks",
    "fact": "user",
}
_ENDS = (".", "!", "?", "…", "。", "！", "？")
_UNDATED_TURN = "this conversation"  # a message that compaction dropped from the request


@dataclass(frozen=True)
class Entry:
    """One line of a block.

    Attributes:
        hits: One hit, or the pieces of one message in their order.
        covered: Hits whose text the line includes; they get no separate line.
    """

    hits: tuple[Hit, ...]
    covered: tuple[Hit, ...] = ()

    @cached_property
    def text(self) -> str:
        """Return the text as rendered, without date, context and marks; "" if nothing is visible."""
        if self.is_file:
            return fence.item("\n".join(hit.text for hit in self.hits))
        return fence.line(_together(self.hits, [hit.text for hit in self.hits]))

    @cached_property
    def shown(self) -> str:
        """Return ``text`` with the user's quotations marked by brackets."""
        if not self.message or self.section != "user":
            return self.text
        return fence.line(_together(self.hits, [_marked(hit) for hit in self.hits]))

    @cached_property
    def plain(self) -> str:
        """Return the text normalised for comparison."""
        return plain(self.text)

    @cached_property
    def section(self) -> Section:
        """Return the line's section of the block."""
        hit = self.hits[0]
        if hit.author:
            return "team"
        if hit.source == "episode":
            return "user" if hit.role == "user" else "assistant"
        return _SECTIONS[hit.source]

    @cached_property
    def is_file(self) -> bool:
        """Return whether the text is from a document or image."""
        return self.hits[0].source in ("chunk", "image")

    @cached_property
    def message(self) -> str:
        """Return the id of the message that is shown, "" if the hit is not a turn."""
        return _message(self.hits[0]) if self.hits[0].source == "episode" else ""

    @cached_property
    def ids(self) -> frozenset[str]:
        """Return the ids of all hits that the line shows or covers."""
        return frozenset(one.id for hit in (*self.hits, *self.covered) for one in members(hit))

    @cached_property
    def keys(self) -> frozenset[object]:
        """Return the keys that entries of equal content share: ids, messages, and statements with their day."""
        messages = (one for hit in self.hits for one in (_message(hit), hit.message) if one)
        return frozenset((*self.ids, *messages, *self.statements))

    @cached_property
    def statement(self) -> tuple[str, str]:
        """Return day and text of the line's own statement."""
        return _day(self.hits[0]), self.plain

    @cached_property
    def statements(self) -> frozenset[tuple[str, str]]:
        """Return day and text of each statement of the line, linked ones included."""
        linked = (one for hit in self.hits for one in members(hit) if one is not hit)
        return frozenset([self.statement, *((_day(one), plain(one.text)) for one in linked)])

    @cached_property
    def is_empty(self) -> bool:
        """Return whether the line has no content: no visible text, or a turn like "Good morning" or "Noted"."""
        if not self.text.strip():
            return True
        if not self.message or len(self.text) > MAX_IDLE or self.hits[0].context:
            return False
        return says_nothing(self.text) or (self.section == "assistant" and not terms_in(self.text))

    @property
    def day(self) -> str:
        """Return the day of the line's own statement, "" if it has none."""
        return _day(self.hits[0])

    @property
    def is_linked(self) -> bool:
        """Return whether the line shows more than one dated statement."""
        return any(hit.then or hit.ended_by for hit in self.hits)

    @property
    def context(self) -> Hit | None:
        """Return the hit whose context is shown: the first with a context that the text does not include."""
        return next((hit for hit in self._told if hit.context and not self.holds(hit.context)), None)

    @property
    def dates(self) -> str:
        """Return the resolved dates of the line's time words."""
        return ", ".join(dict.fromkeys(hit.dates for hit in self._told if hit.dates))

    @property
    def place(self) -> tuple[str, float, str, str, int, int, str]:
        """Return the sort key: day and time of the newest statement, then position in the conversation or document."""
        hit = self.hits[0]
        newest = max((one for member in self.hits for one in members(member)), key=_timestamp)
        time = _timestamp(newest)
        return (
            "~" if time == math.inf else _day(newest),
            time,
            hit.session,
            _message(hit) if self.is_file else "",
            hit.seq,
            _piece(hit),
            hit.id,
        )

    def line(self, layout: Layout = LAYOUT) -> str:
        """Return the rendered line; the text of a document or image continues on indented lines."""
        hit = self.hits[0]
        if self.is_file:
            date = f" ({_day(hit)})" if hit.when and layout.dated else ""
            return f"- {fence.line(f'{hit.title}{date}')}: {self.text}"
        author = f"{fence.line(hit.author)}: " if hit.author else ""
        told = self._date(layout) + author + _annotated(self.shown, self.dates, self.context, self.hits)
        for later in (one for member in self.hits for one in member.then):
            told += f"{_joint(told)}then {_dated(later, layout)}"
        ended_by = next((member.ended_by for member in self.hits if member.ended_by), None)
        if ended_by is None:
            return f"- {told}"
        return f"- {_dated(ended_by, layout)} (before that, {told}{_joint(told)}this ended)"

    def says(self, other: Entry) -> bool:
        """Return whether this line includes the content of ``other``."""
        hit = other.hits[0]
        if other.ids <= self.ids:
            return True
        if self.section != other.section or other.is_file or hit.then or hit.ended_by:
            return False
        if hit.context and self.context and hit.context != self.context.context and not self.holds(hit.context):
            return False
        if other.message and other.message == self.hits[0].message and len(self.statements) == 1:
            return False  # a statement does not replace its turn: other memories may refer to the turn
        if other.statement in self.statements:
            return True
        if hit.source != "fact" or not hit.message or hit.message != self.message:
            return False
        return other.plain in self.plain or bool(hit.quote and self.holds(hit.quote))

    def holds(self, text: str) -> bool:
        """Return whether the line's text includes ``text``."""
        return plain(text) in self.plain

    def merged(self, other: Entry) -> Entry | None:
        """Return one entry for two, if they are pieces of a message or one covers the other; else None."""
        if self.message and self.message == other.message and not other.ids <= self.ids:
            pieces = sorted({hit.id: hit for hit in (*self.hits, *other.hits)}.values(), key=_piece)
            return Entry(tuple(pieces), (*self.covered, *other.covered))
        covers, is_covered = self.says(other), other.says(self)
        if not covers and not is_covered:
            return None
        is_second = is_covered and (not covers or other.place > self.place)  # of equal ones the later stays
        first, second = (other, self) if is_second else (self, other)
        return Entry(first.hits, (*first.covered, *second.hits, *second.covered))

    @property
    def _told(self) -> tuple[Hit, ...]:
        return (*self.hits, *self.covered)

    def _date(self, layout: Layout) -> str:
        hit = self.hits[0]
        undated = _UNDATED_TURN if hit.source == "episode" and hit.when is None else ""
        speaker = "assistant" if self.section == "assistant" else ""  # a heading alone is overlooked
        words = [_day(hit) or undated if layout.dated else "", speaker]
        return f"{' '.join(filter(None, words))}: " if any(words) else ""


def gather(entries: Sequence[Entry], hit: Hit) -> tuple[Entry, list[Entry]]:
    """Return the entry that shows ``hit``, and those of ``entries`` that it replaces."""
    new, replaced = Entry((hit,)), []
    for entry in entries:
        merged = entry.merged(new)
        if merged is not None:
            new = merged
            replaced.append(entry)
    return new, replaced


def unsaid(hit: Hit, carried: frozenset[str]) -> Hit | None:
    """Return the part of a hit that is not in the context yet: all of it, or statements linked to it since."""
    if hit.id not in carried:
        return hit
    if hit.ended_by is not None:
        return None if hit.ended_by.id in carried else hit.ended_by
    left = [one for one in hit.then if one.id not in carried]
    return replace(left[0], then=tuple(left[1:])) if left else None


def members(hit: Hit) -> Iterator[Hit]:
    """Yield a hit and the statements that are rendered on its entry."""
    yield hit
    for other in (*hit.then, *([hit.ended_by] if hit.ended_by else [])):
        yield from members(other)


def statement(hit: Hit) -> str:
    """Return the text of a hit with its resolved dates, its context and its mark of uncertainty, as one line."""
    return _annotated(fence.line(_marked(hit)), hit.dates, hit if hit.context else None, (hit,))


def plain(text: str) -> str:
    """Return a text normalised for comparison: rendered, case folded, blanks as one, without a final full stop."""
    return " ".join(fence.line(text).casefold().split()).rstrip(".!")


def _marked(hit: Hit) -> str:
    """Return the text of a hit, in a user's message with its quotations marked by brackets."""
    is_users = hit.source == "episode" and hit.role == "user"
    return marked(hit.text, hit.quoted) if is_users else hit.text


def _together(hits: Sequence[Hit], texts: Sequence[str]) -> str:
    """Return the pieces of a message as one text."""
    text, before = texts[0], hits[0]
    for hit, more in zip(hits[1:], texts[1:], strict=True):
        text += (" " if _piece(hit) == _piece(before) + 1 else " … ") + more
        before = hit
    return text


def _annotated(text: str, dates: str, context: Hit | None, hits: Sequence[Hit]) -> str:
    resolved = f" [{fence.line(dates)}]" if dates else ""
    doubt = " [uncertain]" if all(hit.confidence < MIN_CONFIDENCE for hit in hits) else ""
    return text + resolved + (_context(context) if context else "") + doubt


def _context(hit: Hit) -> str:
    said = fence.line(hit.context)
    if hit.context_by != "assistant":
        return f" (before that: {said})"
    is_question = said.rstrip().endswith(("?", "？", "؟"))
    return f" ({'asked' if is_question else 'said'} by the assistant: {said})"


def _dated(hit: Hit, layout: Layout) -> str:
    return f"{_day(hit)}: {statement(hit)}" if hit.when and layout.dated else statement(hit)


def _joint(told: str) -> str:
    return " " if told.endswith(_ENDS) else "; "


def _day(hit: Hit) -> str:
    return hit.when.date().isoformat() if hit.when else ""


def _timestamp(hit: Hit) -> float:
    if hit.when is None:
        return math.inf if hit.source == "episode" else -math.inf
    return hit.when.timestamp()


def _message(hit: Hit) -> str:
    """Return the id of the message, document or image of which a hit is a piece."""
    return hit.id.rpartition(".")[0] if _piece(hit) else hit.id


def _piece(hit: Hit) -> int:
    number = hit.id.rpartition(".")[2]
    return int(number) if number != hit.id and number.isascii() and number.isdigit() else 0

"""Parts of stored texts that may not be shown: withheld by an ending, or expired, as "this week". Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta

from proxy.clock import shifted
from proxy.memory.plan.changes import FORGOTTEN, TERMS, TEXTS, hides_of, is_ending
from proxy.text.segment import sentences
from proxy.text.terms import Term, holds, plain
from proxy.types import Hit, Memory, local

Span = tuple[int, int]

_GAP = " … "  # between sentences that were not adjacent


@dataclass(frozen=True, slots=True)
class Withheld:
    """Spans and texts withheld by the endings of one user.

    Attributes:
        spans: Withheld sentences by the id of the row that holds them, in order.
        texts: The same sentences folded, for texts that are in no row.
        forgotten: Folded sentences of requests to forget.
        names: Terms of requests to forget; a summary that holds them all is withheld as well.
    """

    spans: Mapping[str, tuple[Span, ...]] = field(default_factory=dict)
    texts: frozenset[str] = frozenset()
    forgotten: frozenset[str] = frozenset()
    names: tuple[tuple[Term, ...], ...] = ()

    @classmethod
    def of(cls, memories: Iterable[Memory]) -> Withheld:
        """Collect the texts that the endings among ``memories`` withhold."""
        spans: dict[str, set[Span]] = {}
        texts: set[str] = set()
        forgotten: set[str] = set()
        names = []
        for row in memories:
            if not is_ending(row) or row.status not in ("closed", "review"):
                continue
            for id_, start, end in hides_of(row):
                spans.setdefault(id_, set()).add((start, end))
            texts.update(map(str, row.metadata.get(TEXTS, ())))
            if row.metadata.get(FORGOTTEN):
                forgotten.update(map(str, row.metadata.get(TEXTS, ())))
                terms = [Term(text, frozenset(forms), name) for text, forms, name in row.metadata.get(TERMS, ())]
                if terms:
                    names.append(tuple([term for term in terms if term.is_name] or terms))
        ordered = {id_: tuple(sorted(found)) for id_, found in spans.items()}
        return cls(ordered, frozenset(texts), frozenset(forgotten), tuple(names))

    def visible(self, id_: str, text: str) -> str | None:
        """Return the text of a row without its withheld sentences, None if nothing is left."""
        hidden = self.spans.get(id_)
        return _without(text, hidden) if hidden else text

    def visible_text(self, text: str) -> str | None:
        """Return a text that is in no row without sentences withheld elsewhere, None if nothing is left."""
        if not self.texts and not self.names:
            return text
        hidden = [(start, end) for start, end in sentences(text) if self._is_withheld(text[start:end])]
        return _without(text, hidden) if hidden else text

    def is_clean(self, text: str, ids: Iterable[str]) -> bool:
        """Return whether an injected text of the rows ``ids`` holds nothing that is withheld by now.

        A closed statement may be quoted from other rows, as it may be valid again or be shown with its end; a forgotten
        one may not.
        """
        texts = self.texts if not self.spans.keys().isdisjoint(ids) else self.forgotten
        if not texts:
            return True
        whole = plain(text)
        return not any(one and one in whole for one in texts)

    def _is_withheld(self, sentence: str) -> bool:
        if _plain(sentence) in self.texts:
            return True
        return any(all(holds(sentence, term) for term in terms) for terms in self.names)


def _without(text: str, hidden: Iterable[Span]) -> str | None:
    kept, at = [], 0
    for start, end in sorted(hidden):
        kept.append(text[at:start].strip())
        at = max(at, end)
    kept.append(text[at:].strip())
    parts = [part for part in kept if any(char.isalnum() for char in part)]
    return _GAP.join(parts) or None


def current(hits: Sequence[Hit], passing: Iterable[Memory], now: datetime, *, is_past: bool) -> list[Hit]:
    """Return the hits without expired statements.

    Args:
        hits: Turns, summaries and others.
        passing: Statements with an expiry.
        now: Time of the question.
        is_past: True if the question is about the past; expired statements are shown then, with their end.
    """
    over = [row for row in passing if row.expires_at is not None and row.expires_at <= now]
    if not over:
        return list(hits)
    by_message: dict[str, list[Memory]] = {}
    for row in over:
        by_message.setdefault(row.message, []).append(row)
    texts = frozenset(plain(row.quote or row.text) for row in over)
    shown = (_current(hit, by_message, texts, is_past=is_past) for hit in hits)
    return [hit for hit in shown if hit is not None]


def _current(hit: Hit, by_message: dict[str, list[Memory]], texts: frozenset[str], *, is_past: bool) -> Hit | None:
    if hit.source not in ("episode", "summary"):
        return hit
    rows = by_message.get(hit.id.partition(".")[0], []) if hit.source == "episode" else []
    if hit.source == "episode" and not rows:
        return hit
    if is_past:
        said = [row for row in rows if plain(row.quote or row.text) in plain(hit.text)]
        ends = dict.fromkeys(row.dates or f"until {_last_day(row)}" for row in said)
        return replace(hit, dates=", ".join(ends)) if ends and not hit.dates else hit
    gone = frozenset(plain(row.quote or row.text) for row in rows) if rows else texts
    text = _without_sentences(hit.text, gone)
    return hit if text == hit.text else replace(hit, text=text) if text else None


def _without_sentences(text: str, gone: frozenset[str]) -> str:
    """Return a text without the sentences ``gone``; "" if nothing is left."""
    spans = list(sentences(text))
    kept = [(start, end) for start, end in spans if _plain(text[start:end]) not in gone]
    if len(kept) == len(spans):
        return text
    parts = [text[start:end].strip() for start, end in kept]
    return " … ".join(part for part in parts if any(char.isalnum() for char in part))


def _plain(sentence: str) -> str:
    return plain(sentence.partition(": ")[2] if sentence.startswith(("User: ", "Assistant: ")) else sentence)


def _last_day(row: Memory) -> str:
    assert row.expires_at is not None
    return shifted(local(row.expires_at, row.offset_minutes), -timedelta(seconds=1)).date().isoformat()

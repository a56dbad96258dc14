"""Decide what a turn does to older memories: add, reinforce, close, link or leave for review. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import datetime
from functools import cached_property
from typing import Any

from proxy.memory.learn.endings import Ending
from proxy.memory.learn.past import Hide, Past, Row, holding, spans_of
from proxy.memory.learn.records import ending_row, remaining_row, statement_row
from proxy.memory.learn.remains import remains
from proxy.memory.learn.slots import marked
from proxy.memory.learn.statements import Statement
from proxy.memory.learn.targets import Older, Targets, in_slot, is_linked, names_beside, older_sentences, targets
from proxy.memory.plan.changes import (
    APART,
    FORGOTTEN,
    HIDES,
    PROPOSES,
    TERMS,
    TEXTS,
    Action,
    Change,
    is_ending,
    undo_changes,
)
from proxy.text.segment import sentences
from proxy.text.terms import Term, holds, plain, terms_in
from proxy.types import Memory, Said, Turn

MAX_CLOSED = 12  # memories that one turn may close; what goes beyond waits for review
GROWTH = 0.5  # of what is missing to certainty, each time it is said again


class Planner:
    """Memories as the statements and endings of one turn leave them; the turn's time is that of its statements."""

    def __init__(self, turn: Turn, past: Past, now: datetime, max_closed: int = MAX_CLOSED) -> None:
        self.turn, self.past, self._now, self._max_closed = turn, past, now, max_closed
        self._before = {memory.id: memory for memory in past.memories}
        self._rows = dict(self._before)
        self._changes: dict[str, Change] = {}
        self._closed = 0
        self.hiding: list[Ending] = []  # endings whose own sentence is withheld

    def changes(self) -> list[Change]:
        """Return the net changes, each memory once, in the order to apply."""
        return [change for change in self._changes.values() if change.memory != change.before]

    @property
    def active(self) -> list[Memory]:
        """Active memories that are older than the turn."""
        return [
            row
            for row in self._rows.values()
            if row.status == "active" and not is_ending(row) and row.valid_from <= self.turn.at
        ]

    def state(self, one: Statement, said: Said, *, is_apart: bool = False) -> Memory | None:
        """Add or reinforce a statement, shown by itself where ``is_apart``; None where it adds nothing."""
        known = plain(one.text)
        if not said.live and (known in self._withheld or self._is_gone(one.text)):
            return None
        for row in self._rows.values():
            if row.status not in ("active", "archived") or plain(row.text) != known or is_ending(row):
                continue
            if self.turn.id not in row.turns:
                self._reinforce(row)
            return self._rows[row.id]
        fresh = marked(statement_row(self.turn, self._now, one, said, is_apart=is_apart))
        stored = self._rows.get(fresh.id)
        if stored is not None and (self.turn.id in stored.turns or not said.live):
            return None
        self._put("add", fresh, "stated")
        return fresh

    def end(self, ending: Ending, said: Said) -> bool:
        """Close, link or leave for review what an ending names; return whether it named anything."""
        if ending.kind == "meant":
            return False  # linked once its statement is added
        older = older_sentences(self.turn, self.past, self.active, said)
        if ending.kind == "slot":
            return self._replace_slot(ending, said, older)
        if ending.kind == "forget":  # the same request made before is no target
            older = [one for one in older if plain(one.text) != plain(ending.sentence.text)]
        hits = targets(ending, older)
        if ending.kind == "forget" and not hits:
            names = tuple(term for term in terms_in(ending.sentence.text) if term.is_name)
            hits = targets(replace(ending, terms=names), older) if names else hits
        if not hits:
            if ending.kind == "forget" and said.live:
                self._hide_request(ending, said)
            return False
        if ending.kind == "forget":
            self._forget(ending, said, older, hits)
            return True
        light = [one for one in hits.certain if not is_linked(one, ending)]
        if not light or self._closed + len(light) > self._max_closed:
            return False
        self.close(ending, said, light)
        return True

    def heavy(self, ending: Ending, said: Said) -> list[Memory]:
        """Return the memories that an ending names and that are not closed for it, but linked."""
        if ending.kind in ("meant", "forget"):
            return []
        older = older_sentences(self.turn, self.past, self.active, said)
        if ending.kind == "slot":
            found = [one for one, _ in in_slot(ending, older, is_alone=False)]
        else:
            found = [one for one in targets(ending, older).certain if is_linked(one, ending)]
        return [one.memory for one in found if one.memory is not None]

    def resume(self, terms: Sequence[Term]) -> None:
        """Bring back what ended before and is said to hold again; what was asked to be forgotten stays away."""
        named = frozenset[str]().union(*(term.forms for term in terms))
        endings = {ending.id: ending for ending in self.past.endings()}
        for row in list(self._rows.values()):
            if row.status != "closed" or row.batch not in endings or row.metadata.get(FORGOTTEN) or is_ending(row):
                continue
            ended = endings[row.batch].metadata.get(TERMS, ())
            is_back = not named.isdisjoint(ended[0][1]) if ended else holds(row.text, terms[0])
            if is_back and row.valid_to is not None and row.valid_to < self.turn.at:
                for change in undo_changes(row.batch, self._rows.values(), self._now):
                    self._put(change.action, change.memory, "stated again")

    def link(self, fresh: Memory, older: Memory) -> None:
        """Show two statements on one entry, the newer last."""
        if older.id == fresh.id or fresh.id in older.later or older.status != "active":
            return
        self._put("link", replace(older, later=(*older.later, fresh.id), updated_at=self._now), "linked")
        current = self._rows[fresh.id]
        self._put(
            self._changes[fresh.id].action if fresh.id in self._changes else "link",
            replace(current, earlier=(*current.earlier, older.id)),
            "stated",
        )

    def withhold_replays(self, rows: Iterable[Row]) -> None:
        """Withhold sentences that replayed history or a reply says again after they were withheld."""
        rows, texts = list(rows), self._withheld
        for row in rows if texts else ():
            for hide in spans_of([row], frozenset(texts)):
                ending = self._rows[texts[plain(row.text[hide[1] : hide[2]])].id]
                self._withhold(ending, [hide])
        for ending in self.past.endings():
            if names := self._names_gone(ending):
                said_again = [row for row in rows if row.by == "assistant" or not ending.metadata.get(FORGOTTEN)]
                self._withhold(self._rows[ending.id], holding(said_again, names))

    def _is_gone(self, text: str) -> bool:
        """Return whether a text names what ended."""
        return any(all(holds(text, name) for name in names) for names in self._gone)

    @cached_property
    def _withheld(self) -> dict[str, Memory]:
        return self.past.withheld_texts()

    @cached_property
    def _gone(self) -> list[list[Term]]:
        found = (self._names_gone(ending) for ending in self.past.endings())
        return [names for names in found if names]

    def _names_gone(self, ending: Memory) -> list[Term]:
        """Return what an ending named; of what was not asked to be forgotten, a name that holds nowhere else."""
        terms = [Term(text, frozenset(found), name) for text, found, name in ending.metadata.get(TERMS, ())]
        names = [term for term in terms if term.is_name]
        if ending.metadata.get(FORGOTTEN):
            return names or terms[:1]
        return [] if any(holds(row.text, name) for name in names for row in self.active) else names[:1]

    def retire_edited(self, said: Said, edited: Sequence[Row]) -> None:
        """Close what an edited message said before: its old branch no longer counts."""
        texts = frozenset(plain(row.text[a:b]) for row in edited for a, b in sentences(row.text))
        closing = [row for row in self.active if row.message in {old.message for old in edited}]
        ending = ending_row(self.turn, self._now, said, "", [], spans_of(edited, texts), texts, is_forgotten=False)
        for row in closing:
            self._put("close", self._ended(row, ending.id), "edited")
        self._put("close", ending, "edited")

    def close(self, ending: Ending, said: Said, hits: Sequence[Older]) -> None:
        """Close sentences that an ending names, and withhold them wherever they are quoted."""
        texts = frozenset(plain(one.sentence) for one in hits)
        names = [term for term in ending.terms if term.is_name][:1]
        exempt = {plain(row.quote or row.text) for row in self.active} - texts
        rows = self.past.rows
        hides = spans_of(rows, texts)
        hides += [hide for hide in holding(rows, names) if plain(_at(rows, hide)) not in exempt] if names else []
        own = [row for row in self.past.own if row.message == said.id or row.by == "assistant"]
        if ending.hides_itself([one.text for one in hits]):
            self.hiding.append(ending)
            hides += spans_of(own, frozenset((plain(ending.sentence.text),)))
            hides += holding([row for row in own if row.by == "assistant"], ending.terms[:1])
        row = ending_row(
            self.turn, self._now, said, ending.clause, ending.terms, hides, texts, is_forgotten=False, found=hits
        )
        self._retire(hits, ending.terms, row, ending.kind)
        self._put("close", row, ending.kind)

    def _forget(self, ending: Ending, said: Said, older: Sequence[Older], hits: Targets) -> None:
        """Close what a request to forget names; where it is not certain, withhold all that it may mean."""
        terms = list(hits.terms)
        found = list(hits.certain or hits.likely)
        if ending.everything:
            more = [term for one in found for term in names_beside(one.text, terms)]
            terms += more
            known = {id(one) for one in found}
            found += [one for one in older if id(one) not in known and any(holds(one.text, term) for term in more)]
        if not hits.certain and self._is_declined(found):
            return
        self.hiding.append(ending)
        own = [row for row in self.past.own if row.message == said.id]
        hides = spans_of(own, frozenset((plain(ending.sentence.text),)))
        names = [term for term in terms if term.is_name] or terms[:1]
        hides += holding([row for row in self.past.own if row.by == "assistant"], names[:1])
        self.forget(found, terms, said, hides=hides, is_certain=bool(hits.certain), any_of=ending.everything)

    def _hide_request(self, ending: Ending, said: Said) -> None:
        """Withhold a request to forget what was never said: it names what its author does not want kept."""
        asked = frozenset((plain(ending.sentence.text),))
        own = spans_of([row for row in self.past.own if row.message == said.id], asked)
        self._put(
            "close",
            ending_row(self.turn, self._now, said, "", ending.terms, own, asked, is_forgotten=False),
            "forget",
        )

    def _is_declined(self, found: Sequence[Older]) -> bool:
        """Return whether a person declined to forget all of these sentences before."""
        texts = {plain(one.sentence) for one in found}
        declined = [row for row in self.past.memories if row.metadata.get(PROPOSES) and row.status == "archived"]
        return any(texts <= set(row.metadata.get(TEXTS, ())) for row in declined)

    def forget(
        self,
        found: Sequence[Older],
        terms: Sequence[Term],
        said: Said,
        *,
        hides: Sequence[Hide] = (),
        is_certain: bool = True,
        any_of: bool = False,
    ) -> Memory:
        """Close sentences for good, with every other sentence that holds the terms; return the ending.

        Args:
            found: The sentences.
            terms: What was named; the names among them alone where there are any.
            said: The request.
            hides: Spans to withhold beside them.
            is_certain: Close them; else they wait for review, withheld meanwhile.
            any_of: One of the terms is enough for another sentence to be withheld.
        """
        texts = frozenset(plain(one.sentence) for one in found)
        names = [term for term in terms if term.is_name] or list(terms[:1])
        hides = [*hides, *spans_of(self.past.rows, texts), *holding(self.past.rows, names, any_of=any_of)]
        row = ending_row(self.turn, self._now, said, "", terms, hides, texts, is_forgotten=True, found=found)
        if not is_certain:
            row = replace(row, status="review", valid_to=None, metadata={**row.metadata, PROPOSES: "forget"})
        self._retire(found, terms, row, "forget")
        self._put("close" if is_certain else "review", row, "forget")
        return row

    def _retire(self, hits: Sequence[Older], terms: Sequence[Term], row: Memory, reason: str) -> None:
        """Close the memories among the hits, keeping what still holds of their sentences."""
        is_review = row.status == "review"
        for memory in {one.memory.id: one.memory for one in hits if one.memory is not None}.values():
            ended = self._ended(memory, row.id, "review" if is_review else "closed")
            if row.metadata.get(FORGOTTEN):
                ended = replace(ended, metadata={**ended.metadata, FORGOTTEN: True})
            self._put("review" if is_review else "close", ended, reason)
            self._closed += 1
        self._set_apart(frozenset(plain(one.sentence) for one in hits))
        seen: set[str] = {plain(other.text) for other in self.active}
        names = [term for term in terms if term.is_name or term == terms[0]] if row.metadata.get(FORGOTTEN) else []
        for one in hits:
            for text in remains(one.text, terms) if terms else ():
                if plain(text) not in seen and not any(holds(text, name) for name in names):
                    seen.add(plain(text))
                    self._put("add", remaining_row(self.turn, self._now, one, text, row.id), "remains")

    def _set_apart(self, texts: frozenset[str]) -> None:
        """Show the other statements of withheld sentences by themselves, as their turns no longer say them."""
        for row in self.active:
            if plain(row.quote or row.text) in texts and not row.metadata.get(APART):
                apart = replace(row, metadata={**row.metadata, APART: True}, updated_at=self._now)
                changed = self._changes.get(row.id)
                self._put(changed.action if changed else "edit", apart, changed.reason if changed else "apart")

    def _replace_slot(self, ending: Ending, said: Said, older: Sequence[Older]) -> bool:
        """Close the statement whose place a new value takes: "I live in X now" against "I live in Y"."""
        found = in_slot(ending, older, is_alone=True)
        if not found or not said.live or self._closed + len(found) > self._max_closed:
            return False
        texts = frozenset(plain(one.sentence) for one, _ in found)
        hides = spans_of(self.past.rows, texts)
        hits = [one for one, _ in found]
        row = ending_row(self.turn, self._now, said, ending.clause, [], hides, texts, is_forgotten=False, found=hits)
        for one, terms in found:
            self._retire([one], terms if one.memory else [], row, "replaced")  # a pasted letter leaves nothing
        self._put("close", row, "replaced")
        return True

    def _reinforce(self, row: Memory) -> None:
        self._put(
            "reinforce",
            replace(
                row,
                status="active",
                confidence=min(1.0, row.confidence + (1 - row.confidence) * GROWTH),
                turns=(*row.turns, self.turn.id),
                updated_at=self._now,
            ),
            "said again",
        )

    def _withhold(self, ending: Memory, hides: Iterable[Hide]) -> None:
        known = [tuple(hide) for hide in ending.metadata.get(HIDES, ())]
        more = [hide for hide in hides if hide not in known]
        if more:
            metadata = {**ending.metadata, HIDES: [list(hide) for hide in (*known, *more)]}
            self._put("close", replace(ending, metadata=metadata, updated_at=self._now), "said again")

    def _ended(self, row: Memory, batch: str, status: Any = "closed") -> Memory:
        return replace(
            self._rows.get(row.id, row), status=status, valid_to=self.turn.at, updated_at=self._now, batch=batch
        )

    def _put(self, action: Action, memory: Memory, reason: str) -> None:
        self._rows[memory.id] = memory
        self._changes[memory.id] = Change(action, memory, self._before.get(memory.id), self.turn.id, reason)


def _at(rows: Sequence[Row], hide: Hide) -> str:
    return next((row.text[hide[1] : hide[2]] for row in rows if row.id == hide[0]), "")

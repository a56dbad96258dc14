"""Decide what a turn does to older memories: add, reinforce, close, link or leave for review. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import datetime
from functools import cached_property
from typing import Any

from proxy.clock import came_before
from proxy.memory.learn.endings import Ending
from proxy.memory.learn.past import Hide, Past, Row, holding, pieces, spans_of, terms_of
from proxy.memory.learn.records import ending_row, linked_row, remaining_row, statement_row
from proxy.memory.learn.remains import remains
from proxy.memory.learn.slots import marked
from proxy.memory.learn.statements import Statement
from proxy.memory.learn.targets import Hit, Older, asked, ended, in_slot, likely, older_sentences
from proxy.memory.plan.changes import APART, FORGOTTEN, HIDES, PROPOSES, Action, Change, is_ending, undo_changes
from proxy.text.languages import has_cue
from proxy.text.segment import is_question, sentences
from proxy.text.speakers import holds_word
from proxy.text.terms import Term, holds, holds_all, names_beside, plain, terms_in, with_alike
from proxy.text.words import flat
from proxy.types import Memory, Said, Turn

MAX_CLOSED = 12  # memories that one turn may close; the rest wait for review
GROWTH = 0.5  # share of the missing confidence that each repetition adds


class Planner:
    """Memories with the changes of one turn applied; statements take the time of the turn."""

    def __init__(self, turn: Turn, past: Past, now: datetime, max_closed: int = MAX_CLOSED) -> None:
        self.turn, self.past, self._now, self._max_closed = turn, past, now, max_closed
        self._before = {memory.id: memory for memory in past.memories}
        self._rows = dict(self._before)
        self._changes: dict[str, Change] = {}
        self._closed = 0
        self.applied: dict[Ending, bool] = {}  # endings that were applied, and whether each hides its own sentence

    def changes(self) -> list[Change]:
        """Return the net changes, each memory once, in the order to apply."""
        return [change for change in self._changes.values() if change.memory != change.before]

    @property
    def active(self) -> list[Memory]:
        """Active memories that are older than the turn."""
        return [
            row
            for row in self._rows.values()
            if row.status == "active" and not is_ending(row) and came_before(row.valid_from, self.turn.at, self._now)
        ]

    def state(self, one: Statement, said: Said) -> Memory | None:
        """Add or reinforce a statement; return its memory, None if nothing is added."""
        known = plain(one.text)
        if not said.live and (known in self._withheld or self._is_gone(one.text)):
            return None
        for row in self._rows.values():
            if row.status not in ("active", "archived") or plain(row.text) != known or is_ending(row):
                continue
            if said.live and row.expires_at is not None and row.expires_at <= self.turn.at:
                continue  # expired, and stated anew
            if self.turn.id not in row.turns:
                self._reinforce(row)
            return self._rows[row.id]
        fresh = marked(statement_row(self.turn, self._now, one, said))
        stored = self._rows.get(fresh.id)
        if stored is not None and (self.turn.id in stored.turns or not said.live):
            return None
        self._put("add", fresh, "stated")
        return fresh

    def end(self, ending: Ending, said: Said, stated: Sequence[str]) -> list[Memory]:
        """Close the memories that an ending names, or leave them for review; return those to link instead.

        Args:
            ending: An ending of the message.
            said: The message.
            stated: Statements of the same message.
        """
        older = older_sentences(self.turn, self.past, self.active, said)
        if ending.kind == "forget":
            self._forget(ending, said, older, stated)
            return []
        reach = {"slot": in_slot, "likely": likely}.get(ending.kind, ended)
        named = reach(ending, older)
        light = [(one.older, one.terms) for one in named if not one.is_heavy]
        is_allowed = self._closed + len(light) <= self._max_closed and (said.live or ending.kind != "slot")
        if light and is_allowed:
            self.close(ending, said, light)
            return []
        return [one.older.memory for one in named if one.is_heavy and one.older.memory is not None]

    def resume(self, terms: Sequence[Term]) -> None:
        """Reopen closed memories that hold again by the user's statement; forgotten ones stay closed."""
        named = frozenset[str]().union(*(term.forms for term in terms))
        endings = {ending.id: ending for ending in self.past.endings()}
        for row in list(self._rows.values()):
            if row.status != "closed" or row.batch not in endings or row.metadata.get(FORGOTTEN) or is_ending(row):
                continue
            gone = terms_of(endings[row.batch])
            is_back = not named.isdisjoint(gone[0].forms) if gone else holds(row.text, terms[0])
            ended_at = row.valid_to or self.turn.at
            if is_back and ended_at != self.turn.at and came_before(ended_at, self.turn.at, self._now):
                for change in undo_changes(row.batch, self._rows.values(), self._now):
                    self._put(change.action, change.memory, "stated again")

    def link(self, fresh: Memory, older: Memory) -> None:
        """Link two statements on one entry, the newer last."""
        older, fresh = self._rows[older.id], self._rows[fresh.id]
        if older.id == fresh.id or fresh.id in older.later or older.status != "active":
            return
        self._put("link", replace(older, later=(*older.later, fresh.id), updated_at=self._now), "linked")
        self._amend(linked_row(fresh, older), "link", "stated")

    def withhold_replays(self, rows: Iterable[Row]) -> None:
        """Withhold sentences that replayed history or a reply repeats after they were withheld."""
        rows, texts = list(rows), self._withheld
        for hide, text in pieces(rows if texts else ()):
            if plain(text) in texts:
                self._withhold(self._rows[texts[plain(text)].id], [hide])
        for ending in self.past.endings():
            if names := self._names_gone(ending):
                said_again = [row for row in rows if row.by == "assistant" or not ending.metadata.get(FORGOTTEN)]
                self._withhold(self._rows[ending.id], holding(said_again, names))

    def _is_gone(self, text: str) -> bool:
        """Return whether a text names a thing that ended."""
        return any(all(holds(text, name) for name in names) for names in self._gone)

    @cached_property
    def _withheld(self) -> dict[str, Memory]:
        return self.past.withheld_texts()

    @cached_property
    def _gone(self) -> list[list[Term]]:
        found = (self._names_gone(ending) for ending in self.past.endings())
        return [names for names in found if names]

    def _names_gone(self, ending: Memory) -> list[Term]:
        """Return the names in an ending; without a request to forget, only a name that no active memory holds."""
        terms = terms_of(ending)
        names = [term for term in terms if term.is_name]
        if ending.metadata.get(FORGOTTEN):
            return names or terms[:1]
        return [] if any(holds(row.text, name) for name in names for row in self.active) else names[:1]

    def retire_edited(self, said: Said, edited: Sequence[Row]) -> None:
        """Close the statements of an edited message: its old branch no longer counts."""
        texts = frozenset(plain(row.text[a:b]) for row in edited for a, b in sentences(row.text))
        closing = [row for row in self.active if row.message in {old.message for old in edited}]
        ending = ending_row(self.turn, self._now, said, "", [], spans_of(edited, texts), texts)
        for row in closing:
            self._put("close", self._ended(row, ending.id), "edited")
        self._put("close", ending, "edited")

    def close(self, ending: Ending, said: Said, hits: Sequence[Hit]) -> None:
        """Close the sentences that an ending names, and withhold them wherever they are quoted."""
        found = [one for one, _ in hits]
        texts = frozenset(plain(one.sentence) for one in found)
        names = [term for term in ending.terms if term.is_name][:1]
        exempt = {plain(row.quote or row.text) for row in self.active} - texts
        hides = spans_of(self.past.rows, texts)
        named = pieces(self.past.rows) if names else ()
        hides += [hide for hide, text in named if holds_all(text, names) and plain(text) not in exempt]
        own = [row for row in self.past.own if row.message == said.id or row.by == "assistant"]
        self.applied[ending] = ending.hides_itself([one.text for one in found])
        if self.applied[ending]:
            hides += spans_of(own, frozenset((plain(ending.sentence.text),)))
            hides += holding([row for row in own if row.by == "assistant"], ending.terms[:1])
        row = ending_row(self.turn, self._now, said, ending.clause, ending.terms, hides, texts, found=found)
        reason = "replaced" if ending.kind == "slot" else ending.kind
        self._retire(hits, row, reason)
        self._put("close", row, reason)

    def _forget(self, ending: Ending, said: Said, older: Sequence[Older], stated: Sequence[str]) -> None:
        """Close the memories that a request to forget names; if uncertain, withhold all that it may mean."""
        self.applied[ending] = True
        request = frozenset((plain(ending.sentence.text),))
        own = [row for row in self.past.own if row.message == said.id]
        hides = spans_of(own, request)
        older = [one for one in older if plain(one.text) not in request]  # an earlier, equal request is no target
        if has_cue("of_question", low := flat(ending.clause)) and not holds_word(low, "and"):
            older = [one for one in older if is_question(one.sentence, flat(one.sentence))]
        if ending.is_last:
            self._take_back(ending, said, older, hides)
            return
        hits = asked(ending, ending.terms, older)
        if not hits.found:
            hits = asked(ending, [term for term in terms_in(ending.sentence.text) if term.is_name], older)
        hits = hits.with_slot(ending.slot[0], older)
        if not hits.found:  # the request names a thing that was never stored, and the user wants no record of it
            if said.live:
                self._put("close", ending_row(self.turn, self._now, said, "", ending.terms, hides, request), "forget")
            return
        terms, found = list(hits.terms), list(hits.found)
        if ending.everything:
            more = [term for one in found for term in names_beside(one.text, terms)]
            terms += more
            known = {id(one) for one in found}
            found += [one for one in older if id(one) not in known and any(holds(one.text, term) for term in more)]
        if not hits.is_certain and self.past.is_declined({plain(one.sentence) for one in found}):
            return
        names = [term for term in terms if term.is_name] or terms[:1]
        self._forget_ended(names)
        hides += holding([row for row in self.past.own if row.by == "assistant"], names[:1])
        gone = _gone(found, terms)
        may_go = [(hide, text) for hide, text in pieces(own) if ending.everything or text not in stated]
        hides += [hide for hide, text in may_go if any(holds(text, term) for term in gone)]
        self.forget(found, terms, said, hides=hides, is_certain=hits.is_certain, any_of=ending.everything)

    def _take_back(self, ending: Ending, said: Said, older: Sequence[Older], hides: list[Hide]) -> None:
        """Forget the sentences right before a request: in its message, else in the user's previous message."""
        own = [row for row in self.past.own if row.message == said.id]
        before = [hide for hide, _ in pieces(own) if hide[2] <= ending.sentence.start]
        earlier = [row for row in self.past.rows if row.by == "user" and row.session == self.turn.scope.session]
        if before or not earlier:
            self._put("close", ending_row(self.turn, self._now, said, "", (), [*before, *hides], frozenset()), "forget")
            return
        last = earlier[-1]
        found = [one for one in older if (one.memory or one.row).message == last.message]  # type: ignore[union-attr]
        told = [term for one in found for term in terms_in(one.text) if term.is_name]
        replies = [row for row in (*self.past.rows, *self.past.own) if row.by == "assistant" and row.at >= last.at]
        self.forget(found, (), said, hides=[*hides, *holding(replies, told, any_of=True)])

    def _forget_ended(self, names: Sequence[Term]) -> None:
        """Withhold memories that ended earlier from answers about the past too."""
        for row in [row for row in self._rows.values() if row.status == "closed" and not is_ending(row)]:
            if names and holds_all(row.text, names):
                forgotten = replace(row, metadata={**row.metadata, FORGOTTEN: True}, updated_at=self._now)
                self._put("close", forgotten, "forget")

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
            terms: Terms of the request; only the names among them count if there are any.
            said: The request.
            hides: Further spans to withhold.
            is_certain: Close the sentences; else leave them for review, withheld meanwhile.
            any_of: Another sentence is withheld if it holds any one of the terms.
        """
        texts = frozenset(plain(one.sentence) for one in found)
        names = [term for term in terms if term.is_name] or list(terms[:1])
        held = holding(self.past.rows, names, any_of=any_of)
        stays = set(spans_of(self.past.rows, frozenset(plain(row.quote or row.text) for row in self.active) - texts))
        hides = [*hides, *spans_of(self.past.rows, texts), *(hide for hide in held if hide not in stays)]
        row = ending_row(self.turn, self._now, said, "", terms, hides, texts, is_forgotten=True, found=found)
        if not is_certain:
            row = replace(row, status="review", valid_to=None, metadata={**row.metadata, PROPOSES: "forget"})
        self._retire([(one, terms) for one in found], row, "forget")
        self._put("close" if is_certain else "review", row, "forget")
        return row

    def _retire(self, hits: Sequence[Hit], row: Memory, reason: str) -> None:
        """Close the memories among the hits, and keep the parts of their sentences that still hold."""
        is_review, is_forgotten = row.status == "review", bool(row.metadata.get(FORGOTTEN))
        for memory in {one.memory.id: one.memory for one, _ in hits if one.memory is not None}.values():
            gone = self._ended(memory, row.id, "review" if is_review else "closed")
            if is_forgotten:
                gone = replace(gone, metadata={**gone.metadata, FORGOTTEN: True})
            self._put("review" if is_review else "close", gone, reason)
            self._closed += 1
        self._set_apart(frozenset(plain(one.sentence) for one, _ in hits))
        seen: set[str] = {plain(other.text) for other in self.active}
        for one, terms in hits:
            names = [term for term in terms if term.is_name or term == terms[0]] if is_forgotten else []
            for text in remains(one.text, names or terms) if terms else ():
                if plain(text) not in seen and not any(holds(text, name) for name in names):
                    seen.add(plain(text))
                    self._put("add", remaining_row(self.turn, self._now, one, text, row.id), "remains")

    def _set_apart(self, texts: frozenset[str]) -> None:
        """Mark the other statements of withheld sentences to be shown alone, as their turns omit those sentences."""
        for row in self.active:
            if plain(row.quote or row.text) in texts and not row.metadata.get(APART):
                apart = replace(row, metadata={**row.metadata, APART: True}, updated_at=self._now)
                self._amend(apart, "edit", "apart")

    def _reinforce(self, row: Memory) -> None:
        confidence = min(1.0, row.confidence + (1 - row.confidence) * GROWTH)
        turns = (*row.turns, self.turn.id)
        again = replace(row, status="active", confidence=confidence, turns=turns, updated_at=self._now)
        self._put("reinforce", again, "said again")

    def _withhold(self, ending: Memory, hides: Iterable[Hide]) -> None:
        known = [tuple(hide) for hide in ending.metadata.get(HIDES, ())]
        more = [hide for hide in hides if hide not in known]
        if more:
            metadata = {**ending.metadata, HIDES: [list(hide) for hide in (*known, *more)]}
            self._put("close", replace(ending, metadata=metadata, updated_at=self._now), "said again")

    def _ended(self, row: Memory, batch: str, status: Any = "closed") -> Memory:
        row = self._rows.get(row.id, row)
        return replace(row, status=status, valid_to=self.turn.at, updated_at=self._now, batch=batch)

    def _amend(self, memory: Memory, action: Action, reason: str) -> None:
        """Store a change; a memory that this turn already changed keeps its first action and reason."""
        change = self._changes.get(memory.id)
        self._put(change.action if change else action, memory, change.reason if change else reason)

    def _put(self, action: Action, memory: Memory, reason: str) -> None:
        self._rows[memory.id] = memory
        self._changes[memory.id] = Change(action, memory, self._before.get(memory.id), self.turn.id, reason)


def _gone(found: Sequence[Older], terms: Sequence[Term]) -> list[Term]:
    """Return the terms of sentences that none of their remainders holds: the number of "My salary is 68,400" as well."""
    gone = []
    for one in found:
        left = remains(one.text, [term for term in terms if term.is_name or term == terms[0]])
        gone += [with_alike(term) for term in terms_in(one.text) if not any(holds(text, term) for text in left)]
    return gone

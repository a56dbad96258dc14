"""Decide what a turn does to older memories: add, reinforce, close, link or leave for review. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import cached_property
from typing import Any

from proxy.memory.learn.endings import Ending, same_slot, slot_of
from proxy.memory.learn.past import Hide, Past, Row, spans_of
from proxy.memory.learn.remains import remains
from proxy.memory.learn.statements import Statement, kind_of, speaks_of_self
from proxy.memory.learn.targets import Older, Targets, is_heavy, names_beside, targets
from proxy.memory.plan.changes import (
    APART,
    ENDING,
    FORGOTTEN,
    HIDES,
    PROFILE,
    PROPOSES,
    REMAINS,
    SLOT,
    TERMS,
    TEXTS,
    Action,
    Change,
    is_ending,
    memory_id,
    undo_changes,
)
from proxy.text.dates import dates_in, expiry_of
from proxy.text.lexical import tongue
from proxy.text.segment import sentences
from proxy.text.terms import Term, holds, plain, shared, terms_in
from proxy.text.words import flat
from proxy.types import Memory, Said, Turn

MAX_CLOSED = 12  # memories that one turn may close; what goes beyond waits for review
MAX_CARRIED = 400  # characters of a message that is shown whole for a statement in it
CONFIDENCE = 0.8  # of a statement said once
GROWTH = 0.5  # of what is missing to certainty, each time it is said again


@dataclass(frozen=True, slots=True)
class Limits:
    """Caps of one turn.

    Attributes:
        max_closed: Memories that one turn may close.
    """

    max_closed: int = MAX_CLOSED


class Planner:
    """Memories as the statements and endings of one turn leave them.

    Args:
        turn: The turn; its time is the time of its statements.
        past: What was stored before.
        now: Time of the decision.
        dates: Resolved dates of a statement, as shown beside it.
    """

    def __init__(self, turn: Turn, past: Past, now: datetime, limits: Limits | None = None) -> None:
        self.turn, self.past, self._now, self._limits = turn, past, now, limits or Limits()
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
        """Add or reinforce a statement; None where it adds nothing.

        Args:
            one: The statement.
            said: Its message.
            is_apart: Its sentence is withheld, so that it must be shown by itself.
        """
        known = plain(one.text)
        if not said.live and (known in self._withheld or self._is_gone(one.text)):
            return None
        for row in self._rows.values():
            if row.status not in ("active", "archived") or plain(row.text) != known or is_ending(row):
                continue
            if self.turn.id not in row.turns:
                self._reinforce(row)
            return self._rows[row.id]
        fresh = self._memory(one, said, is_apart=is_apart)
        stored = self._rows.get(fresh.id)
        if stored is not None and (self.turn.id in stored.turns or not said.live):
            return None
        if slots := slot_of(one.text):
            fresh = replace(fresh, metadata={**fresh.metadata, SLOT: [list(pair) for pair in slots]})
        self._put("add", fresh, "stated")
        return fresh

    def end(self, ending: Ending, said: Said) -> bool:
        """Close, link or leave for review what an ending names; return whether it named anything."""
        if ending.kind == "meant":
            return False  # linked once its statement is added
        older = self._older(said)
        if ending.kind == "slot":
            return self._replace_slot(ending, said, older)
        hits = targets(ending, older)
        if ending.kind == "forget" and not hits.certain and not hits.likely:
            names = tuple(term for term in terms_in(ending.sentence.text) if term.is_name)
            hits = targets(replace(ending, terms=names), older) if names else hits
        if not hits.certain and not hits.likely:
            return False
        if ending.kind == "forget":
            self._forget(ending, said, older, hits)
            return True
        light = [one for one in hits.certain if not _is_linked(one, ending, older)]
        if not light or self._closed + len(light) > self._limits.max_closed:
            return False
        self._close(ending, said, light)
        return True

    def heavy(self, ending: Ending, said: Said) -> list[Memory]:
        """Return the memories that an ending names and that are not closed for it, but linked."""
        if ending.kind in ("meant", "slot", "forget"):
            return []
        older = self._older(said)
        found = [one for one in targets(ending, older).certain if _is_linked(one, ending, older)]
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

    def close_judged(self, ending: Ending, said: Said, hits: Sequence[Older]) -> None:
        """Close what a judge found to be ended."""
        self._close(ending, said, hits)

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
                self._withhold(self._rows[ending.id], _holding(said_again, names))

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
        ending = self._ending_row(said, "", [], spans_of(edited, texts), texts, is_forgotten=False)
        for row in closing:
            self._put("close", self._ended(row, ending.id), "edited")
        self._put("close", ending, "edited")

    def _close(self, ending: Ending, said: Said, hits: Sequence[Older]) -> None:
        texts = frozenset(plain(one.sentence) for one in hits)
        names = [term for term in ending.terms if term.is_name][:1]
        exempt = {plain(row.quote or row.text) for row in self.active} - texts
        rows = self.past.rows
        hides = spans_of(rows, texts)
        hides += [hide for hide in _holding(rows, names) if plain(_at(rows, hide)) not in exempt] if names else []
        own = [row for row in self.past.own if row.message == said.id or row.by == "assistant"]
        if ending.hides_itself([one.text for one in hits]):
            self.hiding.append(ending)
            hides += spans_of(own, frozenset((plain(ending.sentence.text),)))
            hides += _holding([row for row in own if row.by == "assistant"], ending.terms[:1])
        row = self._ending_row(said, ending.clause, ending.terms, hides, texts, is_forgotten=False, found=hits)
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
        self.hiding.append(ending)
        own = [row for row in self.past.own if row.message == said.id]
        hides = spans_of(own, frozenset((plain(ending.sentence.text),)))
        names = [term for term in terms if term.is_name] or terms[:1]
        hides += _holding([row for row in self.past.own if row.by == "assistant"], names[:1])
        self.forget(found, terms, said, hides=hides, is_certain=bool(hits.certain), any_of=ending.everything)

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
        hides = [*hides, *spans_of(self.past.rows, texts), *_holding(self.past.rows, names, any_of=any_of)]
        row = self._ending_row(said, "", terms, hides, texts, is_forgotten=True, found=found)
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
        for one in hits:
            for text in remains(one.text, terms) if terms else ():
                if plain(text) not in seen:
                    seen.add(plain(text))
                    self._put("add", self._remaining(one, text, row.id), "remains")

    def _set_apart(self, texts: frozenset[str]) -> None:
        """Show the other statements of withheld sentences by themselves, as their turns no longer say them."""
        for row in self.active:
            if plain(row.quote or row.text) in texts and not row.metadata.get(APART):
                apart = replace(row, metadata={**row.metadata, APART: True}, updated_at=self._now)
                changed = self._changes.get(row.id)
                self._put(changed.action if changed else "edit", apart, changed.reason if changed else "apart")

    def _remaining(self, one: Older, text: str, batch: str) -> Memory:
        """Return a memory of what still holds of an older sentence, with its source and time."""
        old = one.memory
        if old is not None:
            id_ = memory_id(self.turn.scope, old.message or old.id, "", "", text)
            return replace(
                old,
                id=id_,
                text=text,
                status="active",
                valid_to=None,
                updated_at=self._now,
                batch="",
                later=(),
                metadata={**old.metadata, REMAINS: batch},
                earlier=(),
            )
        found = one.row
        assert found is not None
        return Memory(
            id=memory_id(self.turn.scope, found.message, "", "", text),
            kind=kind_of(flat(text)),
            text=text,
            created_at=self._now,
            updated_at=self._now,
            valid_from=found.at,
            quote=one.sentence,
            source=f"turn:{found.turn}",
            confidence=CONFIDENCE,
            agent=self.turn.scope.agent,
            session=found.session,
            turns=(found.turn,),
            message=found.message,
            metadata={REMAINS: batch},
        )

    def _replace_slot(self, ending: Ending, said: Said, older: Sequence[Older]) -> bool:
        """Close the statement whose place a new value takes: "I live in X now" against "I live in Y"."""
        name, value = ending.slot
        found = []
        for one in older:
            if not (speaks_of_self(flat(one.text)) or ":" in name):
                continue
            slots = (one.memory.metadata.get(SLOT) if one.memory else None) or slot_of(one.text)
            for known, held in slots:
                if same_slot(str(known), name) and plain(str(held)) != plain(value) and not _overlaps(str(held), value):
                    found.append(one)
                    break
        if not found or not said.live or self._closed + len(found) > self._limits.max_closed:
            return False
        texts = frozenset(plain(one.sentence) for one in found)
        hides = spans_of(self.past.rows, texts)
        row = self._ending_row(said, ending.clause, [], hides, texts, is_forgotten=False, found=found)
        for one in found:
            if one.memory is not None:
                self._put("close", self._ended(one.memory, row.id), "replaced")
                self._closed += 1
        self._put("close", row, "replaced")
        return True

    def _older(self, said: Said) -> list[Older]:
        """Return the sentences that an ending in ``said`` may reach, as memories or as sentences of earlier turns."""
        found = [Older(row.text, row.quote or row.text, row, None) for row in self.active if row.kind != "summary"]
        known = {plain(one.sentence) for one in found}
        session = self.turn.scope.session
        for row in self.past.rows:
            if row.by != "user" or row.message == said.id or (not said.live and row.session != session):
                continue
            for start, end in sentences(row.text):
                text = row.text[start:end]
                if plain(text) not in known:
                    found.append(Older(text, text, None, row))
        if not said.live:
            found = [one for one in found if one.memory is None or one.memory.session == session]
        return found

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

    def _memory(self, one: Statement, said: Said, *, is_apart: bool) -> Memory:
        scope, code = self.turn.scope, tongue(one.sentence.text)
        metadata: dict[str, Any] = {PROFILE: True} if one.is_profile else {}
        if len(said.text) > MAX_CARRIED or is_apart:
            metadata[APART] = True
        return Memory(
            id=memory_id(scope, said.id, "", "", one.text),
            kind=one.kind,
            text=one.text,
            created_at=self._now,
            updated_at=self._now,
            valid_from=self.turn.at,
            quote=one.sentence.text,
            source=f"turn:{self.turn.id}",
            confidence=CONFIDENCE,
            agent=scope.agent,
            session=scope.session,
            turns=(self.turn.id,),
            context=one.context,
            context_by=one.by,  # type: ignore[arg-type]
            dates=dates_in(one.text, self.turn.local_at, code),
            expires_at=expiry_of(one.text, self.turn.local_at, code),
            offset_minutes=self.turn.offset_minutes,
            message=said.id,
            start=one.sentence.start,
            end=one.sentence.end,
            metadata=metadata,
        )

    def _ending_row(
        self,
        said: Said,
        text: str,
        terms: Sequence[Term],
        hides: Sequence[Hide],
        texts: frozenset[str],
        *,
        is_forgotten: bool,
        found: Sequence[Older] = (),
    ) -> Memory:
        """Return the record of an ending; it is common to all agents where what it ended was."""
        scope, at = self.turn.scope, self.turn.at
        is_common = any(one.memory is not None and not one.memory.agent for one in found)
        key = text or " ".join(term.text for term in terms) or " ".join(sorted(texts))
        batch = "end_" + memory_id(scope, said.id, "ending", "", key).removeprefix("mem_")
        metadata = {
            ENDING: batch,
            HIDES: [list(hide) for hide in dict.fromkeys(hides)],
            TEXTS: sorted(texts),
            TERMS: [[term.text, sorted(term.forms), term.is_name] for term in terms],
            FORGOTTEN: is_forgotten,
        }
        return Memory(
            id=batch,
            kind="fact",
            text=text,
            created_at=self._now,
            updated_at=self._now,
            valid_from=at,
            valid_to=at,
            status="closed",
            quote=text,
            source=f"turn:{self.turn.id}",
            agent="" if is_common else scope.agent,
            session=scope.session,
            turns=(self.turn.id,),
            message=said.id,
            metadata=metadata,
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


def _is_linked(one: Older, ending: Ending, older: Sequence[Older]) -> bool:
    """Return whether a sentence must stay beside what ends it: it says much besides, or the correction needs it.

    "It should be 790, not 740" says nothing without "My rent is 740".
    """
    if ending.kind == "correct" and ending.rest and not slot_of(ending.rest) and not shared(one.text, ending.rest):
        return True
    return is_heavy(one, ending.terms, older)


def _holding(rows: Iterable[Row], terms: Sequence[Term], *, any_of: bool = False) -> list[Hide]:
    """Return the sentences of ``rows`` that hold the terms."""
    if not terms:
        return []
    check = any if any_of else all
    return [
        (row.id, start, end)
        for row in rows
        for start, end in sentences(row.text)
        if check(holds(row.text[start:end], term) for term in terms)
    ]


def _at(rows: Sequence[Row], hide: Hide) -> str:
    return next((row.text[hide[1] : hide[2]] for row in rows if row.id == hide[0]), "")


def _overlaps(left: str, right: str) -> bool:
    """Return whether one value is said with more or fewer words than the other: "Leeds", "Leeds near the canal"."""
    ours, theirs = set(plain(left).split()), set(plain(right).split())
    return ours <= theirs or theirs <= ours

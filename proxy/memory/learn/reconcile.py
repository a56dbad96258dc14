"""Decides, in code, what each grounded candidate does to the memories that are already there."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from proxy.memory.learn.matching import extra, holds_without, is_rival, names, related, same_subject
from proxy.memory.plan.changes import (
    REPLACED,
    SUCCEEDS,
    TOMBSTONE,
    Action,
    Change,
    memory_id,
    revive,
)
from proxy.text.words import fold, mentions, same_value
from proxy.types import PROVENANCE_RANK, Candidate, Memory, Provenance, Said, Status, Turn


@dataclass(frozen=True, slots=True)
class Limits:
    """How far one turn may go.

    Args:
        min_confidence: Below it a candidate waits for review.
        max_closed: Memories that one turn may close; what would go beyond waits for review.
        max_added: Memories that one turn may add.
    """

    min_confidence: float = 0.5
    max_closed: int = 12
    max_added: int = 24


def reconcile(
    candidates: Sequence[Candidate],
    turn: Turn,
    memories: Sequence[Memory],
    *,
    now: datetime,
    limits: Limits | None = None,
    provenance: Provenance | None = None,
) -> list[Change]:
    """Return what ``candidates`` change, in the order in which it must be applied.

    Args:
        candidates: What ``ground`` let through.
        turn: Where they come from; its time is the time of the statements.
        memories: Every row of this owner that ``turn.scope`` sees and that may be concerned, closed ones included.
        now: The time of the decision.
        limits: How far one turn may go.
        provenance: Of all candidates; by default "user" for what a user message says, else "assistant".

    Returns:
        At most one change a memory. Applying them and asking again gives nothing.
    """
    ledger = _Ledger(turn, memories, now, limits or Limits(), provenance)
    for candidate in sorted(candidates, key=lambda entry: entry.action == "add"):
        if candidate.action != "add":
            ledger.close(candidate)
        if candidate.action != "retract":
            ledger.state(candidate)
    return ledger.changes()


class _Ledger:
    """The memories as the candidates of one turn leave them."""

    def __init__(
        self, turn: Turn, memories: Sequence[Memory], now: datetime, limits: Limits, provenance: Provenance | None
    ) -> None:
        self._turn, self._now, self._limits, self._provenance = turn, now, limits, provenance
        self._said = {said.id: said for said in turn.messages}
        self._before = {memory.id: memory for memory in memories if turn.scope.sees(memory.agent)}
        self._rows = dict(self._before)
        self._changes: dict[str, Change] = {}
        self._from_history: set[str] = set()
        self._closed = self._added = 0

    def changes(self) -> list[Change]:
        """Return the net changes."""
        return [change for change in self._changes.values() if change.memory != change.before]

    def close(self, candidate: Candidate) -> None:
        """Close what ``candidate.replaces`` (for a plain retraction, its object) names."""
        said = self._said.get(candidate.message_id)
        terms = candidate.replaces or ((candidate.object,) if candidate.action == "retract" else ())
        for term in terms:
            if not self._is_open_question(candidate, said):
                self._close_term(term, candidate)

    def _is_open_question(self, candidate: Candidate, said: Said | None) -> bool:
        return said is None and self._provenance is None and not candidate.message_id

    def _close_term(self, term: str, candidate: Candidate) -> None:
        named = [memory for memory in self._rows.values() if self._is_target(memory, term, candidate)]
        active = [memory for memory in named if memory.status in ("active", "review", "archived")]
        for memory in active:
            if memory.valid_from > self._turn.at or self._is_of_this_turn(memory, candidate):
                continue
            if self._may_end(memory, candidate):
                self._close_memory(memory, candidate)
        if not any(same_value(memory.object, term) for memory in named) and not self._is_held(term, candidate):
            self._bury(term, candidate)

    def _may_end(self, memory: Memory, candidate: Candidate) -> bool:
        """Whether the candidate speaks of a later time: history that came along is older than what holds today."""
        return self._is_live(candidate) or memory.status != "active" or memory.id in self._from_history

    def _is_held(self, term: str, candidate: Candidate) -> bool:
        return not self._is_live(candidate) and any(
            memory.status == "active" and mentions(memory.object, term) for memory in self._rows.values()
        )

    def _is_of_this_turn(self, memory: Memory, candidate: Candidate) -> bool:
        return memory.turns[-1:] == (self._turn.id,) and memory.valid_from == self._turn.at and not candidate.forget

    def _is_target(self, memory: Memory, term: str, candidate: Candidate) -> bool:
        if candidate.forget:
            return mentions(memory.object, term) or (mentions(memory.text, term) and not holds_without(memory, term))
        if not memory.object or not names(memory.object, term) or not same_subject(memory, candidate):
            return False
        return not candidate.relation or not memory.relation or fold(memory.relation) == fold(candidate.relation)

    def _close_memory(self, memory: Memory, candidate: Candidate) -> None:
        weak = self._rank(candidate) < PROVENANCE_RANK[memory.provenance]
        if weak or candidate.confidence < self._limits.min_confidence:
            self._propose(candidate, "outranked" if weak else "uncertain")
            return
        if self._closed >= self._limits.max_closed:
            self._propose(candidate, "too many at once")
            return
        self._closed += 1
        status, action = _closing(candidate)
        closed = replace(memory, status=status, valid_to=self._turn.at, updated_at=self._now)
        self._put(action, closed, "forget" if candidate.forget else "stated")

    def _bury(self, term: str, candidate: Candidate) -> None:
        """Leave a tombstone for a value that no memory holds, so that old turns and replays cannot bring it back."""
        weak = self._rank(candidate) < PROVENANCE_RANK["user"]
        if weak or candidate.confidence < self._limits.min_confidence:
            return
        metadata = {TOMBSTONE: True, **({REPLACED: True} if candidate.action == "replace" else {})}
        tomb = replace(
            self._memory(replace(candidate, object=term, text=term, single=False), key="tombstone"),
            status="retracted",
            valid_to=self._turn.at,
            metadata=metadata,
        )
        known = self._rows.get(tomb.id)
        if known is None:
            self._put("retract", tomb, "tombstone")

    def state(self, candidate: Candidate) -> None:
        """Add, reinforce, restore or set aside what ``candidate`` states."""
        fresh = self._memory(candidate)
        if fresh.id in self._rows and self._turn.id in self._rows[fresh.id].turns:
            return
        same = [memory for memory in self._rows.values() if self._is_same(memory, candidate)]
        if any(self._turn.id in memory.turns and related(memory, candidate) for memory in same):
            return
        live = self._is_live(candidate)
        closed = [memory for memory in same if memory.status in ("retracted", "superseded")]
        if any(not live or self._turn.at <= (memory.valid_to or memory.updated_at) for memory in closed):
            return
        active = [memory for memory in same if memory.status in ("active", "archived") and related(memory, candidate)]
        if active:
            self._reinforce(active[0], candidate)
            return
        if candidate.confidence < self._limits.min_confidence:
            self._put("review", replace(fresh, status="review"), "uncertain")
            return
        revived = [memory for memory in closed if candidate.again or related(memory, candidate)]
        if revived and self._yields(fresh, candidate):
            self._revive(revived, candidate)
        elif not revived and not (candidate.again and not candidate.relation):
            self._add(fresh, candidate)

    def _is_same(self, memory: Memory, candidate: Candidate) -> bool:
        if not same_subject(memory, candidate) and not memory.metadata.get(TOMBSTONE):
            return False
        if not candidate.object or not memory.object:
            return fold(memory.text) == fold(candidate.text)
        return same_value(memory.object, candidate.object) or (
            candidate.again and names(memory.object, candidate.object)
        )

    def _reinforce(self, memory: Memory, candidate: Candidate) -> None:
        sure = min(1.0, memory.confidence + (1 - memory.confidence) * candidate.confidence / 2)
        rank = max(self._rank(candidate), PROVENANCE_RANK[memory.provenance])
        provenance = next(name for name, value in PROVENANCE_RANK.items() if value == rank)
        updated = replace(
            memory,
            status="active",
            confidence=sure,
            provenance=provenance,
            turns=(*memory.turns, self._turn.id),
            updated_at=self._now,
            valid_from=min(memory.valid_from, self._turn.at),
        )
        self._put("reinforce", updated, "repeated")

    def _revive(self, closed: Sequence[Memory], candidate: Candidate) -> None:
        """Let the latest closed memory of this value hold again, in the words of now."""
        self._give_way(closed)
        latest = max(
            closed,
            key=lambda memory: (not memory.metadata.get(TOMBSTONE), memory.valid_to or memory.updated_at, memory.id),
        )
        for memory in closed:
            holds = revive(memory, at=self._turn.at, now=self._now)
            holds = replace(holds, turns=(*memory.turns, self._turn.id))
            if memory.metadata.get(TOMBSTONE) or not memory.text:
                holds = replace(
                    holds, text=candidate.text, quote=candidate.quote, kind=candidate.kind, relation=candidate.relation
                )
            if memory.id == latest.id:
                self._put("restore", holds, "stated again")

    def _give_way(self, back: Sequence[Memory]) -> None:
        """Close what had taken the place of a value that holds again."""
        ends = {
            (memory.valid_to, fold(memory.subject))
            for memory in back
            if memory.status == "superseded" or memory.metadata.get(REPLACED)
        }
        for memory in sorted(self._rows.values(), key=lambda row: row.id):
            took_over = memory.status == "active" and (memory.valid_from, fold(memory.subject)) in ends
            if took_over and memory.metadata.get(SUCCEEDS) and memory.valid_from < self._turn.at:
                self._put(
                    "supersede",
                    replace(memory, status="superseded", valid_to=self._turn.at, updated_at=self._now),
                    "gave way again",
                )

    def _add(self, fresh: Memory, candidate: Candidate) -> None:
        if self._added >= self._limits.max_added:
            return
        if not self._yields(fresh, candidate):
            return
        self._added += 1
        self._put("add", fresh, "stated")
        if not self._is_live(candidate):
            self._from_history.add(fresh.id)

    def _yields(self, fresh: Memory, candidate: Candidate) -> bool:
        """Close what a single-valued relation held until now; False where the older or stronger value stays."""
        if not candidate.single:
            return True
        rivals = [
            memory
            for memory in self._rows.values()
            if memory.status == "active" and memory.id != fresh.id and is_rival(memory, candidate)
        ]
        for memory in sorted(rivals, key=lambda rival: rival.id):
            if memory.valid_from > self._turn.at or not self._may_end(memory, candidate):
                since = min(fresh.valid_from, memory.valid_from)
                late = replace(fresh, status="superseded", valid_from=since, valid_to=memory.valid_from)
                self._put("add", late, "older than the present value")
                return False
            if self._rank(candidate) < PROVENANCE_RANK[memory.provenance]:
                self._put("review", replace(fresh, status="review"), "outranked")
                return False
            self._put(
                "supersede",
                replace(memory, status="superseded", valid_to=self._turn.at, updated_at=self._now),
                "replaced",
            )
        return True

    def _propose(self, candidate: Candidate, reason: str) -> None:
        waiting = replace(
            self._memory(candidate, key="proposal"), status="review", metadata={"proposes": candidate.action}
        )
        if waiting.id not in self._rows:
            self._put("review", waiting, reason)

    def _memory(self, candidate: Candidate, *, key: str = "") -> Memory:
        origin = candidate.message_id or self._turn.id
        owner, value = self._turn.scope, candidate.object or candidate.text
        return Memory(
            id=memory_id(owner, origin + key, candidate.subject, candidate.relation, value),
            kind=candidate.kind,
            text=candidate.text,
            created_at=self._now,
            updated_at=self._now,
            valid_from=self._turn.at,
            subject=candidate.subject,
            relation=candidate.relation,
            object=candidate.object,
            quote=candidate.quote,
            source=f"turn:{self._turn.id}",
            confidence=candidate.confidence,
            provenance=self._provenance_of(candidate),
            agent=owner.agent,
            session=owner.session,
            turns=(self._turn.id,),
            single=candidate.single,
            metadata=extra(candidate),
        )

    def _provenance_of(self, candidate: Candidate) -> Provenance:
        if self._provenance is not None:
            return self._provenance
        said = self._said.get(candidate.message_id)
        return "assistant" if said is not None and said.role == "assistant" else "user"

    def _rank(self, candidate: Candidate) -> int:
        return PROVENANCE_RANK[self._provenance_of(candidate)]

    def _is_live(self, candidate: Candidate) -> bool:
        said = self._said.get(candidate.message_id)
        return said is None or said.live

    def _put(self, action: Action, memory: Memory, reason: str) -> None:
        self._rows[memory.id] = memory
        self._changes[memory.id] = Change(action, memory, self._before.get(memory.id), self._turn.id, reason)


def _closing(candidate: Candidate) -> tuple[Status, Action]:
    return ("superseded", "supersede") if candidate.action == "replace" else ("retracted", "retract")

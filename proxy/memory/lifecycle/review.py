"""Changes and questions that wait for a person: list, decide, answer, expire. Pure.

No model receives a question, and a question withholds nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any, Literal

from proxy.memory.plan.changes import ASKED, DECISION, ENDING, PROPOSED, PROPOSES, Change, is_ending, undo_changes
from proxy.types import Memory

Decision = Literal["approve", "decline", "edit"]
State = Literal["open", "approved", "declined", "edited", "expired"]

_STATES: dict[str, State] = {"approve": "approved", "decline": "declined", "edit": "edited", "expire": "expired"}

ANSWER = "answer"  # proposed by a question: to be answered
_YES: Mapping[Decision, str] = {"approve": "approved", "decline": "declined"}


def reviews_in(memories: Iterable[Memory]) -> list[Memory]:
    """Return the rows that propose a change, decided ones included, newest first."""
    found = [row for row in memories if row.metadata.get(PROPOSES)]
    return sorted(found, key=lambda row: (row.created_at, row.id), reverse=True)


def state_of(review: Memory) -> State:
    """Return the state of a review; one whose batch was undone is declined."""
    if review.status == "archived" and review.metadata.get(DECISION) != "edit":
        return "declined"
    return _STATES.get(str(review.metadata.get(DECISION, "")), "open")


def concerned(review: Memory, memories: Iterable[Memory]) -> list[Memory]:
    """Return the memories that the proposed change would close, in their present state."""
    ids = review.metadata.get(PROPOSED, ()) if state_of(review) != "open" else ()
    return [row for row in memories if not is_ending(row) and (row.batch == review.id or row.id in ids)]


def approve_changes(
    review: Memory, memories: Sequence[Memory], now: datetime, *, decision: str = "approve"
) -> list[Change]:
    """Return the changes that close the memories of a review; ``undo`` reverses them."""
    changes = [
        Change("close", replace(row, status="closed", updated_at=now), row, "", decision)
        for row in memories
        if row.batch == review.id and row.status == "review" and not is_ending(row)
    ]
    decided = _decided(review, memories, decision, now)
    return [*changes, Change("close", replace(decided, status="closed", valid_to=now), review, "", decision)]


def decline_changes(
    review: Memory, memories: Sequence[Memory], now: datetime, *, decision: str = "decline"
) -> list[Change]:
    """Return the changes that restore all memories that a review withholds."""
    changes = [replace(change, reason=decision) for change in undo_changes(review.id, memories, now)]
    decided = replace(_decided(review, memories, decision, now), status="archived")
    return [replace(one, memory=decided) if one.memory.id == review.id else one for one in changes]


def expired_changes(memories: Sequence[Memory], now: datetime, days: float) -> list[Change]:
    """Return the changes that approve undecided requests to forget after the deadline: they stay withheld."""
    return [
        change
        for row in expired(memories, now, days)
        for change in approve_changes(row, memories, now, decision="expire")
    ]


def expired(memories: Iterable[Memory], now: datetime, days: float) -> Iterator[Memory]:
    """Yield the open reviews older than ``days``; none if ``days`` is 0."""
    for row in reviews_in(memories) if days else ():
        if state_of(row) == "open" and now - row.created_at >= timedelta(days=days):
            yield row


def _decided(review: Memory, memories: Iterable[Memory], decision: str, now: datetime) -> Memory:
    ids = sorted(row.id for row in concerned(review, memories))
    return replace(review, updated_at=now, metadata={**review.metadata, DECISION: decision, PROPOSED: ids})


@dataclass(frozen=True, slots=True)
class Question:
    """A question to a person.

    Args:
        text: The question.
        choices: Suggested answers; a person may answer otherwise.
        context: Background that a person needs to answer.
        agent: The asking agent, as the client names it.
        answer: The answer, None until then.
    """

    text: str
    choices: tuple[str, ...] = ()
    context: str = ""
    agent: str = ""
    answer: str | None = None

    def row(self, id_: str, agent: str, now: datetime) -> Memory:
        """Return the row that stores the question."""
        asked = {"choices": list(self.choices), "context": self.context, "agent": self.agent}
        metadata = {ENDING: id_, PROPOSES: ANSWER, ASKED: asked}
        return Memory(
            id_, "task", self.text, now, now, now, source="api", status="review", agent=agent, metadata=metadata
        )


def question_of(review: Memory) -> Question | None:
    """Return the question of a review, None if it proposes a change of memory."""
    asked: Any = review.metadata.get(ASKED)
    if not isinstance(asked, dict):
        return None
    return Question(review.text, tuple(asked["choices"]), asked["context"], asked["agent"], asked.get("answer"))


def answer_changes(review: Memory, decision: Decision, answer: str, now: datetime) -> Sequence[Change]:
    """Return the change that answers a question; to approve or decline it is an answer as well."""
    asked = {**review.metadata[ASKED], "answer": answer or _YES[decision]}
    metadata = {**review.metadata, DECISION: decision, ASKED: asked}
    return [Change("close", replace(review, status="closed", updated_at=now, metadata=metadata), review, "", decision)]

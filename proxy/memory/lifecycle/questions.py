"""Questions to a person, which wait among the reviews; no model sees them, and they withhold nothing. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from proxy.memory.lifecycle.review import Decision
from proxy.memory.plan.changes import ASKED, DECISION, ENDING, PROPOSES, Change
from proxy.types import Memory

ANSWER = "answer"  # that a question proposes: to be answered
_YES: Mapping[Decision, str] = {"approve": "approved", "decline": "declined"}


@dataclass(frozen=True, slots=True)
class Question:
    """A question to a person.

    Args:
        text: What is asked.
        choices: Answers to choose from; a person may say something else.
        context: What a person needs to know to answer.
        agent: Who asks, as the client names it.
        answer: What was answered, None until then.
    """

    text: str
    choices: tuple[str, ...] = ()
    context: str = ""
    agent: str = ""
    answer: str | None = None

    def row(self, id_: str, agent: str, now: datetime) -> Memory:
        """Return the row that keeps the question."""
        asked = {"choices": list(self.choices), "context": self.context, "agent": self.agent}
        metadata = {ENDING: id_, PROPOSES: ANSWER, ASKED: asked}
        return Memory(
            id_, "task", self.text, now, now, now, source="api", status="review", agent=agent, metadata=metadata
        )


def question_of(review: Memory) -> Question | None:
    """Return the question that a review is, None where it proposes a change of memory."""
    asked: Any = review.metadata.get(ASKED)
    if not isinstance(asked, dict):
        return None
    return Question(review.text, tuple(asked["choices"]), asked["context"], asked["agent"], asked.get("answer"))


def answer_changes(review: Memory, decision: Decision, answer: str, now: datetime) -> Sequence[Change]:
    """Return the change that answers a question; to approve or decline it is an answer as well."""
    asked = {**review.metadata[ASKED], "answer": answer or _YES[decision]}
    metadata = {**review.metadata, DECISION: decision, ASKED: asked}
    return [Change("close", replace(review, status="closed", updated_at=now, metadata=metadata), review, "", decision)]

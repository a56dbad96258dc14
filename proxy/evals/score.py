"""Scores of one question: share of its evidence that was injected, and that was ranked high."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from proxy.evals.dataset import Dataset, Line, Question, Session
from proxy.evals.metrics import Gold, Injected, mean, words
from proxy.evals.replay import Moment
from proxy.evals.verdict import LATER_HOLDS

TOP, FEW = 10, 5
_MIN_WORDS = 4  # shorter messages occur in any text


@dataclass(frozen=True, slots=True)
class Update:
    """Presence of a new message and of the outdated one that it replaced.

    Attributes:
        kept: True if the new one is injected.
        resolved: True if also the old one is absent, or the new one is where the block says that it holds: first, or
            last if the later line holds.
        strict: True if the new one is injected and the old one is absent.
        first: True if the new one comes before the old one.
    """

    kept: bool
    resolved: bool
    strict: bool
    first: bool


@dataclass(frozen=True, slots=True)
class Score:
    """Scores of one question at one budget; None without evidence or answer to compare with.

    Args:
        foreign: Number of injected 8-grams that only other users wrote.
        outcome: First word of ``X-Memory``, with its reason.
        missed: Evidence that is not injected.
        injected: Injected text; kept only if evidence was missed.
    """

    question: Question
    budget: int
    tokens: int
    wall_ms: float
    foreign: int
    outcome: str
    evidence: float | None
    random_evidence: float | None
    oracle_evidence: float | None
    answer: bool | None
    random_answer: bool | None
    oracle_answer: bool | None
    update: Update | None = None
    missed: tuple[str, ...] = ()
    injected: str = ""

    def record(self) -> dict[str, Any]:
        """Return the scores for the JSON report."""
        return {
            "part": "recall",
            "question": self.question.id,
            "category": self.question.category,
            "budget": self.budget,
            "evidence": self.evidence,
            "answer": self.answer,
            "tokens": self.tokens,
            "outcome": self.outcome,
            "ms": round(self.wall_ms, 2),
        }


@dataclass(frozen=True, slots=True)
class Rank:
    """Share of a question's evidence among the best entries of its receipt.

    Args:
        turns: Share of the evidence in the ten best entries.
        sessions: Share of the gold sessions among the first ten different ones, as LongMemEval does (Wu et al., 2024).
        sessions_in_ten: Share of the gold sessions among the sessions of the ten best entries.
        any_in_five: Whether any gold session is among the first five different ones.
    """

    question: Question
    turns: float | None
    sessions: float | None
    sessions_in_ten: float | None
    any_in_five: float | None


def gold_of(dataset: Dataset, moment: Moment) -> Gold | None:
    """Return the question's evidence among the messages stored so far, None if the labels match no text."""
    if dataset.gold_is_sessions:
        wanted = moment.question.gold_sessions
        groups = [tuple(line.content for session, line in moment.stored if session.id == one) for one in wanted]
    else:
        cited = set(moment.question.gold)
        groups = [(line.content,) for _, line in moment.stored if cited.intersection(line.labels)]
    found = tuple(dict.fromkeys(group for group in groups if any(words(message) for message in group)))
    return Gold(found) if found else None


def rank(dataset: Dataset, moment: Moment, gold: Gold, entries: Sequence[dict[str, Any]]) -> Rank:
    """Return the share of the evidence in the best entries of a receipt; ``entries`` are all entries, best first."""
    cited = set(moment.question.gold)
    sessions = moment.question.gold_sessions or tuple(
        dict.fromkeys(session.id for session, line in moment.stored if cited.intersection(line.labels))
    )
    by_session: dict[str, list[Line]] = {}
    for session, line in moment.stored:
        by_session.setdefault(session.id, []).append(line)
    known = [one for one in sessions if one in by_session]
    best = [_Entry(entry) for entry in entries[:TOP]]
    ten, five = (_of_different_sessions(entries, most) for most in (TOP, FEW))
    shares = [[_is_among(one, by_session[one], some) for one in known] for some in (ten, best, five)]
    turns = None if dataset.gold_is_sessions else gold.found([entry.text for entry in best])
    return Rank(moment.question, turns, mean(shares[0]), mean(shares[1]), float(any(shares[2])) if known else None)


class _Entry:
    """An entry of a receipt: its text and its session."""

    def __init__(self, entry: Mapping[str, Any]) -> None:
        self.text = Injected(str(entry.get("text") or ""))
        self.session = str(entry.get("session") or "")


def _of_different_sessions(entries: Sequence[dict[str, Any]], most: int) -> list[_Entry]:
    """Return the best entries that together come from at most ``most`` sessions."""
    met: set[str] = set()
    found: list[_Entry] = []
    for entry in map(_Entry, entries):
        met.add(entry.session)
        if len(met - {""}) > most:
            break
        found.append(entry)
    return found


def _is_among(session: str, lines: Sequence[Line], entries: Sequence[_Entry]) -> bool:
    return any(entry.session == session for entry in entries) or _stands(lines, [entry.text for entry in entries])


def _stands(lines: Sequence[Line], texts: Sequence[Injected]) -> bool:
    telling = [line.content for line in lines if len(words(line.content)) >= _MIN_WORDS]
    return any(text.holds(message) for text in texts for message in telling)


def updated(moment: Moment, text: Injected) -> Update | None:
    """Return the presence of an outdated and a new message, None if the question does not name two different ones."""
    question = moment.question
    old_texts, new_texts = (_texts(moment.stored, labels) for labels in (question.outdated, question.updated))
    old, new = "\n".join(old_texts), "\n".join(new_texts)
    if not old or not new or old == new:
        return None
    old_in, new_in = (any(map(text.holds, texts)) for texts in (old_texts, new_texts))
    old_at, new_at = text.position(old, new), text.position(new, old)
    is_first = new_in and new_at is not None and (not old_in or old_at is None or new_at < old_at)
    is_last = old_at is not None and new_at is not None and old_at < new_at
    is_marked = is_last if LATER_HOLDS.search(text.text) else is_first
    return Update(
        kept=new_in, resolved=new_in and (not old_in or is_marked), strict=new_in and not old_in, first=is_first
    )


def _texts(stored: Sequence[tuple[Session, Line]], labels: Sequence[str]) -> list[str]:
    wanted = set(labels)
    return [line.content for _, line in stored if wanted.intersection(line.labels)]

"""Decides whether anything found is worth injecting: nothing relevant, nothing injected; pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

DENSE_FLOOR = 0.36  # cosine of the best hit that admits on its own
DENSE_HINT = 0.24  # cosine that admits together with a lexical match
COVERAGE_FLOOR = 0.5  # share of the query's rare words found in one text that admits without any vector
COVERAGE_HINT = 0.3


@dataclass(frozen=True, slots=True)
class Evidence:
    """How well the best of one source fits the query.

    Args:
        cosine: Of the best hit; None where query or rows have no vector.
        coverage: Share of the query's telling words, weighted by rarity, that the best text holds; in [0, 1].
    """

    cosine: float | None = None
    coverage: float = 0.0


@dataclass(frozen=True, slots=True)
class Verdict:
    """Whether anything is injected, and the word that the receipt gives for it."""

    admitted: bool
    reason: str


def admit(evidence: Sequence[Evidence]) -> Verdict:
    """Judge what the sources found; BM25's own score says nothing about relevance and is not asked."""
    if not evidence:
        return Verdict(admitted=False, reason="empty")
    cosines = [one.cosine for one in evidence if one.cosine is not None]
    cosine = max(cosines, default=None)
    coverage = max(one.coverage for one in evidence)
    if cosine is not None and cosine >= DENSE_FLOOR:
        return Verdict(admitted=True, reason="similar")
    if cosine is not None and cosine >= DENSE_HINT and coverage >= COVERAGE_HINT:
        return Verdict(admitted=True, reason="similar_words")
    if coverage >= COVERAGE_FLOOR:
        return Verdict(admitted=True, reason="words")
    return Verdict(admitted=False, reason="irrelevant")

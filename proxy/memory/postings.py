"""Term frequencies of a growing set of texts, scored by BM25 over any visible part of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain

import numpy as np
from numpy.typing import NDArray

Scores = NDArray[np.float32]
Lines = NDArray[np.int64]
Mask = NDArray[np.bool_]
Hashes = NDArray[np.int64]

K1 = 1.1
B = 0.3  # measured on conversations: lengths say little there


@dataclass(frozen=True, slots=True)
class Neighbours:
    """The line before and after each line in its conversation; -1 where there is none."""

    before: Lines
    after: Lines

    def spread(self, values: Scores) -> Scores:
        """Return each line's value plus those of its neighbours."""
        padded = np.append(values, np.float32(0))  # line -1
        spread: Scores = values + padded[self.before] + padded[self.after]
        return spread


@dataclass(frozen=True, slots=True)
class _Run:
    """Which lines hold which terms and how often, ordered by the terms' hashes."""

    hashes: Hashes
    lines: NDArray[np.int32]
    counts: Scores

    @property
    def size_bytes(self) -> int:
        return self.hashes.nbytes + self.lines.nbytes + self.counts.nbytes

    def merged(self, other: _Run) -> _Run:
        hashes = np.concatenate((self.hashes, other.hashes))
        order = np.argsort(hashes, kind="stable")
        lines, counts = np.concatenate((self.lines, other.lines)), np.concatenate((self.counts, other.counts))
        return _Run(hashes[order], lines[order], counts[order])


class Postings:
    """An inverted index whose lines are numbered from 0 in the order in which they are added.

    Terms are known by the 64-bit hash that Python keeps with a string. What is added is one sorted run; runs of like
    size are merged, so that there are few (a log-structured merge, O'Neil et al., 1996).
    """

    def __init__(self) -> None:
        self._runs: list[_Run] = []
        self._lengths: Scores = np.zeros(0, dtype=np.float32)

    def __len__(self) -> int:
        return len(self._lengths)

    @property
    def size_bytes(self) -> int:
        """About how much memory this takes."""
        return sum(run.size_bytes for run in self._runs) + self._lengths.nbytes

    def extend(self, texts: Sequence[Sequence[str]]) -> None:
        """Append texts, each as its terms."""
        if not texts:
            return
        lengths = np.fromiter(map(len, texts), dtype=np.int64, count=len(texts))
        hashes = np.fromiter(map(hash, chain.from_iterable(texts)), dtype=np.int64, count=int(lengths.sum()))
        lines = np.repeat(np.arange(len(self), len(self) + len(texts), dtype=np.int32), lengths)
        self._lengths = np.concatenate((self._lengths, lengths.astype(np.float32)))
        if not len(hashes):
            return
        order = np.lexsort((lines, hashes))
        hashes, lines = hashes[order], lines[order]
        starts = np.flatnonzero(np.concatenate(([True], (np.diff(hashes) != 0) | (np.diff(lines) != 0))))
        counts = np.diff(np.append(starts, len(hashes))).astype(np.float32)
        run = _Run(hashes[starts], lines[starts], counts)
        while self._runs and len(self._runs[-1].hashes) < 2 * len(run.hashes):
            run = self._runs.pop().merged(run)
        self._runs.append(run)

    def holders(self, terms: Sequence[str]) -> list[Lines]:
        """Return for each term the lines that hold it."""
        numbers, lines, _ = self._matches(terms)
        return [lines[numbers == number] for number in range(len(terms))]

    def bm25(
        self,
        weights: Mapping[str, float],
        mask: Mask,
        *,
        neighbours: Neighbours | None = None,
    ) -> Scores:
        """Score every line against a query (Robertson and Zaragoza, 2009); 0 where nothing matches.

        Args:
            weights: Each distinct term of the query and how much it counts.
            mask: The visible lines. All statistics are taken over these, so that what is invisible cannot show.
            neighbours: If given, a line stands for the window of itself and its neighbours.
        """
        texts = int(mask.sum())
        if not texts or not weights:
            return np.zeros(len(self), dtype=np.float32)
        lengths = np.where(mask, self._lengths, np.float32(0))
        terms, lines, counts = self._matches(list(weights))
        seen = mask[lines]
        terms, lines, counts = terms[seen], lines[seen], counts[seen]
        if neighbours is not None:
            lengths = neighbours.spread(lengths)
            terms, lines, counts = _reaching(terms, lines, counts, neighbours)
            seen = mask[lines]
            terms, lines, counts = terms[seen], lines[seen], counts[seen]
        norms = K1 * (1 - B + B * lengths / max(float(lengths[mask].mean()), 1.0))
        found_in = np.bincount(terms, minlength=len(weights))
        idf = np.log1p(np.maximum(texts - found_in + 0.5, 0) / (found_in + 0.5))
        worth = np.fromiter(weights.values(), dtype=np.float64, count=len(weights)) * idf
        parts = worth[terms] * counts * (K1 + 1) / (counts + norms[lines])
        scores: Scores = np.bincount(lines, weights=parts, minlength=len(self)).astype(np.float32)
        scores[~mask] = 0
        return scores

    def _matches(self, terms: Sequence[str]) -> tuple[Lines, Lines, Scores]:
        """Return for each line that holds one of ``terms``: which one, the line, and how often."""
        wanted = np.fromiter(map(hash, terms), dtype=np.int64, count=len(terms))
        found = []
        for run in self._runs:
            first = np.searchsorted(run.hashes, wanted, side="left")
            many = np.searchsorted(run.hashes, wanted, side="right") - first
            places = np.repeat(first - (np.cumsum(many) - many), many) + np.arange(int(many.sum()))
            found.append((np.repeat(np.arange(len(wanted)), many), run.lines[places], run.counts[places]))
        if not found:
            return np.zeros(0, np.int64), np.zeros(0, np.int64), np.zeros(0, np.float32)
        numbers, lines, counts = (np.concatenate(column) for column in zip(*found, strict=True))
        return numbers, lines.astype(np.int64), counts


def _reaching(terms: Lines, lines: Lines, counts: Scores, neighbours: Neighbours) -> tuple[Lines, Lines, Scores]:
    """Return matches by window: each counts for its own line and for those beside it."""
    reach = np.concatenate((lines, neighbours.before[lines], neighbours.after[lines]))
    inside = reach >= 0
    keys = np.tile(terms, 3)[inside] * len(neighbours.before) + reach[inside]
    keys, places = np.unique(keys, return_inverse=True)
    sums = np.bincount(places, weights=np.tile(counts, 3)[inside]).astype(np.float32)
    terms, lines = np.divmod(keys, max(1, len(neighbours.before)))
    return terms, lines, sums

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
_MAX_COUNTED = 255
_MANY = 1000  # lines, from which on it is worth asking whether they need to be scored


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
    """Postings of a run of lines, ordered by the terms' hashes.

    Args:
        terms: Distinct hashes, ascending.
        starts: Where the lines of each begin, and where the last ones end.
        lines: Of all terms, one after the other.
        counts: How often the term stands in the line, up to 255.
    """

    terms: Hashes
    starts: Lines
    lines: NDArray[np.int32]
    counts: NDArray[np.uint8]

    @classmethod
    def of(cls, hashes: Hashes, lines: NDArray[np.int32], counts: NDArray[np.uint8]) -> _Run:
        """Return a run of postings that are in order already."""
        starts = np.flatnonzero(np.concatenate(([True], np.diff(hashes) != 0)))
        return cls(hashes[starts], np.append(starts, len(hashes)), lines, counts)

    @property
    def size_bytes(self) -> int:
        return self.terms.nbytes + self.starts.nbytes + self.lines.nbytes + self.counts.nbytes

    def place(self, term: int) -> tuple[int, int]:
        """Return where the lines of a term begin and end; they ascend."""
        at = int(np.searchsorted(self.terms, term))
        if at == len(self.terms) or self.terms[at] != term:
            return 0, 0
        return int(self.starts[at]), int(self.starts[at + 1])

    def merged(self, other: _Run) -> _Run:
        hashes = np.concatenate([np.repeat(run.terms, np.diff(run.starts)) for run in (self, other)])
        order = np.argsort(hashes, kind="stable")
        lines, counts = np.concatenate((self.lines, other.lines)), np.concatenate((self.counts, other.counts))
        return _Run.of(hashes[order], lines[order], counts[order])


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
        counts = np.minimum(np.diff(np.append(starts, len(hashes))), _MAX_COUNTED).astype(np.uint8)
        run = _Run.of(hashes[starts], lines[starts], counts)
        while self._runs and len(self._runs[-1].lines) < 2 * len(run.lines):
            run = self._runs.pop().merged(run)
        self._runs.append(run)

    def holders(self, terms: Sequence[str]) -> tuple[Lines, Lines]:
        """Return each match of one of ``terms`` once: the number of the term, and the line that holds it."""
        numbers, lines, _ = self._matches(terms)
        return numbers, lines

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
        texts = int(np.count_nonzero(mask))
        if not texts or not weights:
            return np.zeros(len(self), dtype=np.float32)
        terms, lines, counts = _visible(*self._matches(list(weights)), mask)
        lengths = self._lengths
        if neighbours is not None:
            lengths = neighbours.spread(np.where(mask, lengths, np.float32(0)))
            terms, lines, counts = _visible(*_reaching(terms, lines, counts, neighbours), mask)
        found_in = np.bincount(terms, minlength=len(weights))
        worth = np.fromiter(weights.values(), dtype=np.float64, count=len(weights)) * _idf(texts, found_in)
        parts = worth[terms] * _saturated(counts, lengths[lines], _mean(lengths, mask, texts))
        return np.bincount(lines, weights=parts, minlength=len(self)).astype(np.float32)

    def top(self, weights: Mapping[str, float], mask: Mask, limit: int) -> dict[int, float]:
        """Return ``limit`` lines with their scores by ``bm25``: the best half, and then the best with rare terms.

        Lines that hold nothing but common terms are many and seldom among the best: mostly, what the rare ones of the
        query find rules them out before they are scored (MaxScore, Turtle and Flood, 1995).
        """
        half = -(-limit // 2)
        texts = int(np.count_nonzero(mask))
        mean = _mean(self._lengths, mask, texts)
        held = {term: self._held(term, None if texts == len(self) else mask) for term in weights}
        terms = sorted((term for term in weights if len(held[term][0])), key=lambda term: len(held[term][0]))
        worth = {term: weights[term] * float(_idf(texts, len(held[term][0]))) for term in terms}
        scores = np.zeros(len(self), dtype=np.float32)
        for at, term in enumerate(terms):
            lines, counts = held[term]
            scores[lines] += worth[term] * _saturated(counts, self._lengths[lines], mean)
            common = terms[at + 1 :]
            if not common or len(held[common[0]][0]) < _MANY:
                continue
            found = np.flatnonzero(scores > 0)
            least = float(np.partition(scores[found], -half)[-half]) if len(found) >= half else 0.0
            most = sum(worth[other] * _most(held[other][1]) for other in common)
            if most > least:
                continue
            found = found[scores[found] >= least - most]
            for other in common:
                counts = _counted(*held[other], found)
                scores[found] += worth[other] * _saturated(counts, self._lengths[found], mean)
            return _best(scores, found, limit)
        return _best(scores, np.flatnonzero(scores > 0), limit)

    def _held(self, term: str, mask: Mask | None) -> tuple[NDArray[np.int32], NDArray[np.uint8]]:
        """Return the lines of ``mask``, or all, that hold a term, ascending, and how often each does."""
        key = hash(term)
        places = [(run, begin, end) for run in self._runs for begin, end in (run.place(key),) if begin < end]
        if len(places) == 1:
            run, begin, end = places[0]
            lines, counts = run.lines[begin:end], run.counts[begin:end]
        else:
            lines = np.concatenate([np.zeros(0, np.int32), *(run.lines[begin:end] for run, begin, end in places)])
            counts = np.concatenate([np.zeros(0, np.uint8), *(run.counts[begin:end] for run, begin, end in places)])
        return (lines, counts) if mask is None else (lines[mask[lines]], counts[mask[lines]])

    def _matches(self, terms: Sequence[str]) -> tuple[Lines, Lines, Scores]:
        """Return for each line that holds one of ``terms``: which one, the line, and how often."""
        wanted = np.fromiter(map(hash, terms), dtype=np.int64, count=len(terms))
        found = []
        for run in self._runs:
            at = np.minimum(np.searchsorted(run.terms, wanted), len(run.terms) - 1)
            first = run.starts[at]
            many = np.where(run.terms[at] == wanted, run.starts[at + 1] - first, 0)
            places = np.repeat(first - (np.cumsum(many) - many), many) + np.arange(int(many.sum()))
            found.append((np.repeat(np.arange(len(wanted)), many), run.lines[places], run.counts[places]))
        if not found:
            return np.zeros(0, np.int64), np.zeros(0, np.int64), np.zeros(0, np.float32)
        numbers, lines, counts = (np.concatenate(column) for column in zip(*found, strict=True))
        return numbers, lines.astype(np.int64), counts.astype(np.float32)


def _most(counts: NDArray[np.uint8]) -> float:
    """Return what a term is worth where it stands most often, however short the text."""
    return float(_saturated(counts.max(keepdims=True), np.zeros(1, np.float32), 1.0)[0])


def _counted(lines: NDArray[np.int32], counts: NDArray[np.uint8], wanted: Lines) -> NDArray[np.uint8]:
    """Return how often a term stands in each of some lines, given where it stands at all."""
    at = np.minimum(np.searchsorted(lines, wanted), len(lines) - 1)
    return np.where(lines[at] == wanted, counts[at], np.uint8(0))


def _best(scores: Scores, lines: Lines, limit: int) -> dict[int, float]:
    if len(lines) > limit:
        lines = lines[np.argpartition(scores[lines], -limit)[-limit:]]
    return dict(zip(lines.tolist(), scores[lines].tolist(), strict=True))


def _idf(texts: int, found_in: NDArray[np.int64] | int) -> NDArray[np.float64]:
    """Return how telling terms are that stand in so many of the texts."""
    idf: NDArray[np.float64] = np.log1p(np.maximum(texts - found_in + 0.5, 0) / (found_in + 0.5))
    return idf


def _mean(lengths: Scores, mask: Mask, texts: int) -> float:
    total = lengths.sum() if texts == len(lengths) else lengths[mask].sum()
    return max(float(total) / max(1, texts), 1.0)


def _saturated(counts: Scores | NDArray[np.uint8], lengths: Scores, mean: float) -> Scores:
    """Return what so many occurrences in texts of such lengths are worth, less than ``K1 + 1``."""
    norms = K1 * (1 - B) + (K1 * B / mean) * lengths
    often = counts.astype(np.float32, copy=False)
    return np.asarray(often * np.float32(K1 + 1) / (often + norms), dtype=np.float32)


def _visible(terms: Lines, lines: Lines, counts: Scores, mask: Mask) -> tuple[Lines, Lines, Scores]:
    """Return those matches whose line is visible."""
    seen = mask[lines]
    return (terms, lines, counts) if seen.all() else (terms[seen], lines[seen], counts[seen])


def _reaching(terms: Lines, lines: Lines, counts: Scores, neighbours: Neighbours) -> tuple[Lines, Lines, Scores]:
    """Return matches by window: each counts for its own line and for those beside it."""
    reach = np.concatenate((lines, neighbours.before[lines], neighbours.after[lines]))
    inside = reach >= 0
    keys = np.tile(terms, 3)[inside] * len(neighbours.before) + reach[inside]
    keys, places = np.unique(keys, return_inverse=True)
    sums = np.bincount(places, weights=np.tile(counts, 3)[inside]).astype(np.float32)
    terms, lines = np.divmod(keys, max(1, len(neighbours.before)))
    return terms, lines, sums

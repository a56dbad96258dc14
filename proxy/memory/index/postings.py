"""Inverted index of a growing set of texts, scored by BM25 over any visible part of them."""

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
B = 0.3  # measured on conversations: text length says little there
_MAX_COUNTED = 255
_MANY = 1000  # minimum lines of a term for which the check whether to score them pays off


@dataclass(frozen=True, slots=True)
class Neighbours:
    """Lines before and after each line in its session; -1 where there is none."""

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
        starts: Offset of each term's first line, and the end of the last term's lines.
        lines: Lines of all terms, concatenated.
        counts: Occurrences of the term in the line, at most 255.
    """

    terms: Hashes
    starts: Lines
    lines: NDArray[np.int32]
    counts: NDArray[np.uint8]

    @classmethod
    def of(cls, hashes: Hashes, lines: NDArray[np.int32], counts: NDArray[np.uint8]) -> _Run:
        """Return a run of postings that are sorted already."""
        starts = np.flatnonzero(np.concatenate(([True], np.diff(hashes) != 0)))
        return cls(hashes[starts], np.append(starts, len(hashes)), lines, counts)

    @property
    def size_bytes(self) -> int:
        return self.terms.nbytes + self.starts.nbytes + self.lines.nbytes + self.counts.nbytes

    def place(self, term: int) -> tuple[int, int]:
        """Return the start and end offsets of a term's lines, which ascend."""
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

    Terms are identified by the 64-bit hash that Python keeps with a string. Each addition is one sorted run; runs of
    similar size are merged, so that there are few (a log-structured merge, O'Neil et al., 1996).
    """

    def __init__(self) -> None:
        self._runs: list[_Run] = []
        self._lengths: Scores = np.zeros(0, dtype=np.float32)

    def __len__(self) -> int:
        return len(self._lengths)

    @property
    def size_bytes(self) -> int:
        """Approximate memory in use."""
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
        """Return the matches of ``terms`` as two arrays: the term's number, and the line that holds it."""
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
            weights: Weight of each distinct term of the query.
            mask: The visible lines. All statistics use these alone, so that scores reveal nothing about other rows.
            neighbours: If given, each line is scored as the window of itself and its neighbours.
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

        Lines that hold only common terms are many and seldom among the best: mostly, the scores by the rare terms of
        the query rule them out before they are scored (MaxScore, Turtle and Flood, 1995).
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
        """Return the lines of ``mask``, or of all, that hold a term, ascending, and the term's count in each."""
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
        """Return the matches of ``terms`` as three arrays: the term's number, the line and the count."""
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
    """Return an upper bound of a term's saturated counts: the highest count, in a text of no length."""
    return float(_saturated(counts.max(keepdims=True), np.zeros(1, np.float32), 1.0)[0])


def _counted(lines: NDArray[np.int32], counts: NDArray[np.uint8], wanted: Lines) -> NDArray[np.uint8]:
    """Return a term's count in each ``wanted`` line, given the lines that hold it."""
    at = np.minimum(np.searchsorted(lines, wanted), len(lines) - 1)
    return np.where(lines[at] == wanted, counts[at], np.uint8(0))


def _best(scores: Scores, lines: Lines, limit: int) -> dict[int, float]:
    if len(lines) > limit:
        lines = lines[np.argpartition(scores[lines], -limit)[-limit:]]
    return dict(zip(lines.tolist(), scores[lines].tolist(), strict=True))


def _idf(texts: int, found_in: NDArray[np.int64] | int) -> NDArray[np.float64]:
    """Return the inverse document frequency of terms that are in ``found_in`` of ``texts``."""
    idf: NDArray[np.float64] = np.log1p(np.maximum(texts - found_in + 0.5, 0) / (found_in + 0.5))
    return idf


def _mean(lengths: Scores, mask: Mask, texts: int) -> float:
    total = lengths.sum() if texts == len(lengths) else lengths[mask].sum()
    return max(float(total) / max(1, texts), 1.0)


def _saturated(counts: Scores | NDArray[np.uint8], lengths: Scores, mean: float) -> Scores:
    """Return BM25's saturated counts, normalised by text length, each below ``K1 + 1``."""
    norms = K1 * (1 - B) + (K1 * B / mean) * lengths
    often = counts.astype(np.float32, copy=False)
    return np.asarray(often * np.float32(K1 + 1) / (often + norms), dtype=np.float32)


def _visible(terms: Lines, lines: Lines, counts: Scores, mask: Mask) -> tuple[Lines, Lines, Scores]:
    """Return the matches in visible lines."""
    seen = mask[lines]
    return (terms, lines, counts) if seen.all() else (terms[seen], lines[seen], counts[seen])


def _reaching(terms: Lines, lines: Lines, counts: Scores, neighbours: Neighbours) -> tuple[Lines, Lines, Scores]:
    """Return matches by window: each counts for its line and for the neighbours of that."""
    reach = np.concatenate((lines, neighbours.before[lines], neighbours.after[lines]))
    inside = reach >= 0
    keys = np.tile(terms, 3)[inside] * len(neighbours.before) + reach[inside]
    keys, places = np.unique(keys, return_inverse=True)
    sums = np.bincount(places, weights=np.tile(counts, 3)[inside]).astype(np.float32)
    terms, lines = np.divmod(keys, max(1, len(neighbours.before)))
    return terms, lines, sums

"""Term frequencies of a growing set of texts, scored by BM25 over any visible part of them."""

from __future__ import annotations

import sys
from array import array
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Scores = NDArray[np.float32]
Lines = NDArray[np.int64]
Mask = NDArray[np.bool_]

_COUNT_BITS = 16
_MOST_COUNTED = 2**_COUNT_BITS - 1

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


class Postings:
    """An inverted index whose lines are numbered from 0 in the order of ``add``."""

    def __init__(self) -> None:
        self._entries: dict[str, int | array[int]] = {}  # most terms occur once and need no array
        self._lengths = array("f")
        self._count = 0

    def __len__(self) -> int:
        return len(self._lengths)

    @property
    def size_bytes(self) -> int:
        """About how much memory this takes."""
        return 200 * len(self._entries) + 8 * self._count + 4 * len(self._lengths)

    def add(self, terms: Sequence[str]) -> None:
        """Append one text."""
        counts: dict[str, int] = {}
        for term in terms:
            counts[term] = counts.get(term, 0) + 1
        entries, line = self._entries, len(self._lengths) << _COUNT_BITS
        for term, count in counts.items():
            entry = line | min(count, _MOST_COUNTED)
            known = entries.get(term)
            if known is None:
                entries[sys.intern(term)] = entry  # owners share most of their words
            elif isinstance(known, int):
                entries[term] = array("Q", (known, entry))
            else:
                known.append(entry)
        self._count += len(counts)
        self._lengths.append(len(terms))

    def rarity(self, term: str, mask: Mask) -> int:
        """Return how many visible texts hold ``term``."""
        packed = self._packed(term)
        return 0 if packed is None else int(mask[packed >> _COUNT_BITS].sum())

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
        scores = np.zeros(len(self), dtype=np.float32)
        if not texts:
            return scores
        lengths = np.where(mask, np.array(self._lengths, dtype=np.float32), np.float32(0))
        if neighbours is not None:
            lengths = neighbours.spread(lengths)
        norms = K1 * (1 - B + B * lengths / max(float(lengths[mask].mean()), 1.0))
        for term, weight in weights.items():
            frequencies = self._frequencies(term, mask, neighbours)
            if frequencies is None:
                continue
            lines, counts = frequencies
            idf = np.log1p((texts - len(lines) + 0.5) / (len(lines) + 0.5))
            scores[lines] += weight * idf * counts * (K1 + 1) / (counts + norms[lines])
        scores[~mask] = 0
        return scores

    def _frequencies(self, term: str, mask: Mask, neighbours: Neighbours | None) -> tuple[Lines, Scores] | None:
        packed = self._packed(term)
        if packed is None:
            return None
        lines = packed >> _COUNT_BITS
        counts = (packed & _MOST_COUNTED).astype(np.float32)
        seen = mask[lines]
        lines, counts = lines[seen], counts[seen]
        if neighbours is None:
            return (lines, counts) if len(lines) else None
        dense = np.zeros(len(self), dtype=np.float32)
        dense[lines] = counts
        reach = np.concatenate((lines, neighbours.before[lines], neighbours.after[lines]))
        reach = np.unique(reach[reach >= 0])
        return (reach, neighbours.spread(dense)[reach]) if len(lines) else None

    def _packed(self, term: str) -> Lines | None:
        """Return line and count of each text that holds ``term``, in one number."""
        entry = self._entries.get(term)
        if entry is None:
            return None
        return np.array([entry] if isinstance(entry, int) else entry, dtype=np.int64)

"""Relevance features of the top hits for the admission gate: best cosine and IDF-weighted term coverage; pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from proxy.memory.index.postings import Lines, Mask, Scores
from proxy.memory.index.shelf import Shelf
from proxy.memory.recall import tuning
from proxy.memory.recall.gate import Evidence
from proxy.memory.recall.rank import best
from proxy.store.passages import lexical_text
from proxy.text.lexical import tokens
from proxy.types import Chunk, Episode, Memory

AnyShelf = Shelf[Memory] | Shelf[Episode] | Shelf[Chunk]


def weigh(shelf: AnyShelf, terms: Mapping[str, float], mask: Mask, lexical: Scores, dense: Scores) -> Evidence:
    """Return the evidence in the scores of all lines of a shelf."""
    covered = coverage(shelf, terms, mask, lexical)
    if np.isnan(dense).all():
        return Evidence(None, 0.0, covered)
    texts = tuning.LARGE_TABLE_TEXTS if shelf.is_sample else int(mask.sum())
    typical, usual = shelf.typical(dense)
    return Evidence(float(np.nanmax(dense)), typical, covered, texts=texts, usual=usual)


def coverage(shelf: AnyShelf, terms: Mapping[str, float], mask: Mask, lexical: Scores) -> float:
    """Return the share of the query's telling words, weighted by rarity, that one of the best-matching texts holds.

    Words that are common here prove little even if they are all there is. Pairs of characters of a script without
    spaces mostly straddle words, so that fewer of them can be met.
    """
    texts = int(mask.sum())
    telling = [term for term, weight in terms.items() if weight >= tuning.TELLING_WEIGHT]
    if not telling or not lexical.any():
        return 0.0
    top = best(lexical, tuning.COVERING_TEXTS)
    if shelf.is_sample:
        texts = tuning.LARGE_TABLE_TEXTS
        numbers, lines, holders = _sampled(shelf, telling, lexical)
    else:
        numbers, lines = shelf.postings.holders(telling)
        holders = np.bincount(numbers[mask[lines]], minlength=len(telling)).astype(np.float32)
    masses = np.array([terms[term] for term in telling]) * np.log1p(texts / (1 + np.maximum(1, holders)))
    held = [masses[numbers[lines == line]] for line in top]
    share = max(float(found.sum()) for found in held) / float(masses.sum())
    rarest = max((float(found.max()) for found in held if len(found)), default=0.0)
    pairs = sum(len(term) == 2 and not term.isascii() for term in telling)
    generosity = 1 + tuning.PAIR_GENEROSITY * pairs / len(telling)
    return min(1.0, generosity * share) * min(1.0, rarest / (tuning.RARE_SHARE * float(np.log1p(texts / 2))))


def _sampled(shelf: AnyShelf, telling: Sequence[str], lexical: Scores) -> tuple[Lines, Lines, Scores]:
    """Return the same matches on a shelf of candidates, whose terms are in the store, and about how many hold each.

    Read are the texts that match best: a word that most of them hold is common, however few of them are here.
    """
    read = best(lexical, tuning.SAMPLED_TEXTS)
    terms = [frozenset(tokens(lexical_text(shelf.items[line]))) for line in read]
    pairs = [
        (number, line)
        for line, held in zip(read, terms, strict=True)
        for number, term in enumerate(telling)
        if term in held
    ]
    numbers, lines = np.array(pairs, dtype=np.int64).reshape(-1, 2).T
    holders = np.bincount(numbers, minlength=len(telling)).astype(np.float32)
    in_all = holders * tuning.LARGE_TABLE_TEXTS / tuning.SAMPLED_TEXTS
    return numbers, lines, np.where(holders > tuning.COVERING_TEXTS, in_all, holders)

"""Fusion and diversification of rankings. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from proxy.memory.index.postings import Mask, Scores
from proxy.memory.recall import tuning


def fuse(lists: Sequence[tuple[Scores, float | Scores]], mask: Mask) -> Scores:
    """Merge score lists over the same lines by weighted min-max normalisation.

    Args:
        lists: Scores and weight of each list, one for all lines or one per line; NaN marks a line that the list
            cannot judge, which is then scored by the other lists alone.
        mask: The lines that count.

    Returns:
        A score in [0, 1] per line, 0 outside the mask.
    """
    total = np.zeros(len(mask), dtype=np.float32)
    weight = np.zeros(len(mask), dtype=np.float32)
    for scores, share in lists:
        judged = mask & ~np.isnan(scores)
        if not judged.any():
            continue
        # The scale starts at 0 if no score is below: the lowest of a few lines must not score 0.
        low, high = min(float(scores[judged].min()), 0.0), float(scores[judged].max())
        if high <= low:
            continue
        shares = share if isinstance(share, float) else share[judged]
        total[judged] += shares * ((scores[judged] - low) / (high - low))
        weight[judged] += shares
    return np.divide(total, weight, out=np.zeros_like(total), where=weight > 0)


def best(scores: Scores, limit: int) -> list[int]:
    """Return the lines with the highest positive scores, best first; of equals, the newer line."""
    lines = np.flatnonzero(scores > 0)
    if len(lines) > limit:
        lines = lines[np.argpartition(-scores[lines], limit - 1)[:limit]]
    return [int(line) for line in lines[np.lexsort((-lines, -scores[lines]))]]


def priors(
    *, confidence: Sequence[float], uses: Sequence[int], ages_days: Sequence[float], pinned: Sequence[bool]
) -> Scores:
    """Return factors around 1 for confidence, uses, recency and pins; too weak to reverse a clear ranking."""
    unsure = 1 - np.clip(np.asarray(confidence, dtype=np.float32), 0, 1)
    doublings = np.minimum(np.log2(1 + np.asarray(uses, dtype=np.float32)), tuning.MAX_DOUBLINGS)
    half_lives = np.maximum(np.asarray(ages_days, dtype=np.float32), 0) / tuning.NEW_HALF_LIFE_DAYS
    sure = 1 - tuning.CONFIDENCE_WEIGHT * unsure
    used = 1 + tuning.USE_BONUS * doublings
    recent = 1 + tuning.NEW_BONUS * np.exp2(-half_lives)
    kept = 1 + tuning.PINNED_BONUS * np.asarray(pinned, dtype=np.float32)
    factors: Scores = (sure * used * recent * kept).astype(np.float32)
    return factors


def economy(lengths: NDArray[np.int32], by_user: Mask) -> Scores:
    """Return factors that discount long assistant text: it takes the tokens of many turns and is seldom evidence."""
    excess = np.clip((lengths - tuning.SHORT_REPLY) / (tuning.LONG_REPLY - tuning.SHORT_REPLY), 0, 1)
    return np.where(by_user, 1.0, 1.0 - tuning.LONG_REPLY_DISCOUNT * excess).astype(np.float32)


def thinned(scores: Sequence[float], groups: Sequence[str], sizes: Mapping[str, int]) -> list[float]:
    """Discount each further entry of a group by the share of the group ranked before it.

    Args:
        scores: Best first.
        groups: Group of each entry.
        sizes: Total number of entries of each group.
    """

    def worth(group: str, taken: int) -> float:
        return float(tuning.CONVERSATION_DECAY ** (taken / max(sizes.get(group, 0), tuning.MIN_CONVERSATION)))

    return _fading(scores, groups, worth)


def shared_out(scores: Sequence[float], groups: Sequence[str]) -> list[float]:
    """Discount each further entry of a group, however large the group, so that every group fits into the budget.

    Args:
        scores: Best first.
        groups: Group of each entry.
    """
    return _fading(scores, groups, lambda _, taken: tuning.ACROSS_DECAY**taken)


def varied(groups: Sequence[str], lead: int, until: int) -> list[int]:
    """Return the indexes of entries in a new order: from ``lead`` to ``until``, entries of new groups come first.

    Args:
        groups: Group of each entry, best first.
        lead: Number of entries that stay first.
        until: Position from which the other entries follow in their old order.
    """
    front = list(range(min(lead, len(groups))))
    met = {groups[at] for at in front}
    for at in range(len(front), len(groups)):
        if len(front) >= until:
            break
        if groups[at] not in met:
            met.add(groups[at])
            front.append(at)
    taken = set(front)
    return front + [at for at in range(len(groups)) if at not in taken]


def newest_first(scores: Sequence[float], ages: Sequence[float], similar: NDArray[np.bool_]) -> list[float]:
    """Give the newest of each group of similar statements the group's best score.

    Relevance alone ranks the stale statement first as often as the new one; a general recency weight spoils the rest.

    Args:
        scores: Best first.
        ages: Any measure that is smaller for newer statements.
        similar: True for the pairs that state much the same.
    """
    mended = list(scores)
    settled: set[int] = set()
    for lead in np.flatnonzero(similar.sum(axis=1) > 1).tolist():
        if lead in settled:
            continue
        group = [int(at) for at in np.flatnonzero(similar[lead]) if int(at) not in settled]
        settled.update(group)
        values = sorted((mended[at] for at in group), reverse=True)
        for at, value in zip(sorted(group, key=lambda at: ages[at]), values, strict=True):
            mended[at] = value
    return mended


def _fading(scores: Sequence[float], groups: Sequence[str], worth: Callable[[str, int], float]) -> list[float]:
    """Return the scores times ``worth`` of the group and of the number of its entries ranked before."""
    taken: Counter[str] = Counter()
    left = []
    for score, group in zip(scores, groups, strict=True):
        left.append(score * worth(group, taken[group]))
        taken[group] += 1
    return left

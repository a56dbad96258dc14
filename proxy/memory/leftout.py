"""Finds what was said in messages that a request leaves out and that no index has, by words, pure.

Megabytes that came with a single request cannot be indexed before the first token. Each word's stem is looked for as it
stands, at the speed of ``str.count``; only the messages that hold the rare ones are read closely.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

from proxy.lexical import tokens, weights
from proxy.memory.secrets import redact
from proxy.memory.summarize import Utterance
from proxy.memory.transcript import pieces_of

_MOST_TERMS = 12
_READ = 40  # messages that are read closely
_MOST_READ = 200_000  # characters of one message
_SHORT_STEM = 3
_LEAST_LETTERS = 4  # of all telling words together: "go on" asks for nothing
_LEAST_SHARE = 0.34  # of the weight of what is asked
_NEAR_BEST = 0.5
_BY_OTHERS = 0.85
_K, _B = 1.2, 0.3  # BM25's, as for stored turns


@dataclass(frozen=True, slots=True)
class Passage:
    """A part of a message that fits a query.

    Args:
        number: Of the message.
        piece: Which of its parts.
        score: 1 for a passage with every word of the query, about.
    """

    number: int
    role: str
    piece: int
    text: str
    score: float


def search(query: str, said: Sequence[Utterance], limit: int, *, context: str = "") -> list[Passage]:
    """Return the passages that fit a query, best first; none where nothing fits.

    Args:
        query: What the user says now.
        said: The messages that were left out.
        limit: Most passages.
        context: What the query leans on; counts less.
    """
    terms = _terms(query, context)
    if not said or sum(len(term) for term, weight in terms.items() if weight >= 1) < _LEAST_LETTERS:
        return []
    folded = [_folded(one.text) for one in said]
    forms = _forms(terms)
    counts = {term: [text.count(form) for text in folded] for term, form in forms.items()}
    spread = {term: sum(n > 0 for n in found) for term, found in counts.items()}
    present = {term: terms[term] * _rarity(spread[term], len(said)) for term in counts if spread[term]}
    average = sum(map(len, folded)) / len(folded) + 1
    scores = [0.0] * len(said)
    for term, weight in present.items():
        for at, n in enumerate(counts[term]):
            if n:
                scores[at] += weight * n * (_K + 1) / (n + _K * (1 - _B + _B * len(folded[at]) / average))
    best = heapq.nlargest(_READ, (at for at in range(len(said)) if scores[at] > 0), key=scores.__getitem__)
    whole = sum(terms[term] * _rarity(spread.get(term, 0), len(said)) for term in terms)
    found = [passage for at in best for passage in _passages(said[at], terms, forms, spread, len(said), whole)]
    found.sort(key=lambda one: (-one.score, -one.number, one.piece))
    least = max(_LEAST_SHARE, _NEAR_BEST * found[0].score) if found else 0.0
    return _clean([one for one in found if one.score >= least][:limit], said)


def _terms(query: str, context: str) -> dict[str, float]:
    terms = {term: weight for term, weight in weights(query).items() if weight >= 0.25}
    for term, weight in weights(context).items():
        if weight >= 1:
            terms.setdefault(term, 0.35)
    return dict(heapq.nlargest(_MOST_TERMS, terms.items(), key=lambda pair: (pair[1], len(pair[0]))))


def _forms(terms: dict[str, float]) -> dict[str, str]:
    """Return what to look for: a stem is the start of its words, save for an ending that the stemmer changed."""
    return {term: term[:-1] if len(term) > _SHORT_STEM + 1 and term[-1] in "iy" else term for term in terms}


def _rarity(spread: int, many: int) -> float:
    return math.log1p((many - spread + 0.5) / (spread + 0.5))


def _passages(
    one: Utterance, terms: dict[str, float], forms: dict[str, str], spread: dict[str, int], many: int, whole: float
) -> list[Passage]:
    found = []
    said_by_user = 1.0 if one.role == "user" else _BY_OTHERS
    for piece, text in enumerate(pieces_of(one.role, one.text[:_MOST_READ].strip())):
        folded = _folded(text)
        if not any(form in folded for form in forms.values()):
            continue
        words = set(tokens(text))
        score = sum(weight * _rarity(spread.get(term, 0), many) for term, weight in terms.items() if term in words)
        if score > 0:
            found.append(Passage(one.number, one.role, piece, text, said_by_user * score / whole))
    return found


def _clean(found: Sequence[Passage], said: Sequence[Utterance]) -> list[Passage]:
    """Return passages without secrets, cut as they are stored; a secret may reach over where a message is cut."""
    wanted = {one.number for one in found}
    texts = {one.number: one.text[:_MOST_READ] for one in said if one.number in wanted}
    clean = {number: redact(text) for number, text in texts.items()}
    pieces = {
        one.number: pieces_of(one.role, clean[one.number].strip())
        for one in found
        if clean[one.number] != texts[one.number]
    }
    kept = [(one, pieces.get(one.number, ())) for one in found]
    return [
        replace(one, text=parts[one.piece]) if parts else one
        for one, parts in kept
        if not parts or one.piece < len(parts)
    ]


def _folded(text: str) -> str:
    return text.lower() if text.isascii() else text.casefold()

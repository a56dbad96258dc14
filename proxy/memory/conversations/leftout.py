"""Lexical search of messages that a request drops and that no index has. Pure.

Megabytes of a single request cannot be indexed before the first token. The search counts each word's stem as a
substring, at the speed of ``str.count``; only the messages that hold the rare ones are searched piece by piece.
"""

from __future__ import annotations

import heapq
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from proxy.memory.conversations.summarize import Utterance
from proxy.memory.conversations.transcript import pieces_of
from proxy.text.lexical import weights
from proxy.text.secrets import redact

_MAX_TERMS = 12
_READ = 150  # messages that are searched piece by piece
_MAX_READ = 200_000  # characters of one message
_MAX_OF_ONE = 2  # passages of one message
_SHORT_STEM = 3
_MIN_LETTERS = 4  # of all content words together: "go on" asks for nothing
_MIN_SHARE = 0.2  # of the weight of the query
_NEAR_BEST = 0.35
_BY_OTHERS = 0.7
_BY_MESSAGE = 0.3  # weight of the whole message's score beside the passage's
_USUAL_LENGTH = 700
_K, _B = 1.2, 0.3  # BM25's, as for stored turns

# Thresholds of relevance, as a score and as a cosine. Of questions about long chats 96 % pass, of unrelated prompts
# 10-15 % (two thirds of which share some words with a thousand messages about everything).
_CERTAIN, _CERTAIN_OF_ONESELF = 0.85, 0.3
_WITHOUT_VECTORS = 0.6
_RELEVANT, _SCORE_SHARE = 0.5, 0.3
HEADS, HEAD_CHARACTERS = 3, 250  # passages that are compared by cosine, and their characters


@dataclass(frozen=True, slots=True)
class Passage:
    """A part of a message that matches a query.

    Args:
        number: Number of the message.
        piece: Number of the part.
        score: About 1 for a passage with every word of the query, more for a shorter one.
    """

    number: int
    role: str
    piece: int
    text: str
    score: float


def search(query: str, said: Sequence[Utterance], limit: int, *, context: str = "") -> list[Passage]:
    """Return the passages that match a query, best first; none if nothing matches.

    Args:
        query: The user's current message.
        said: The dropped messages.
        limit: Maximum number of passages.
        context: Context of the query; counts less.
    """
    terms = _terms(query, context)
    if not said or sum(len(term) for term, weight in terms.items() if weight >= 1) < _MIN_LETTERS:
        return []
    folded = [_folded(one.text) for one in said]
    forms = _forms(terms)
    counts = {term: [text.count(form) for text in folded] for term, form in forms.items()}
    rarity = {term: terms[term] * _rarity(sum(n > 0 for n in found), len(said)) for term, found in counts.items()}
    scores = _scores(said, folded, counts, rarity)
    best = heapq.nlargest(_READ, (at for at in range(len(said)) if scores[at] > 0), key=scores.__getitem__)
    if not best:
        return []
    words = [(form, _pattern(form), rarity[term]) for term, form in forms.items()]
    sought = _Sought(words, sum(rarity.values()))
    found = [passage for at in best for passage in sought.passages(said[at], scores[at] / scores[best[0]])]
    found.sort(key=lambda one: (-one.score, -one.number, one.piece))
    least = max(_MIN_SHARE, _NEAR_BEST * found[0].score) if found else 0.0
    return _clean([one for one in found if one.score >= least][:limit], said)


def is_relevant(passages: Sequence[Passage], *, personal: bool, cosine: float | None = None) -> bool | None:
    """Return whether the passages are relevant to the query; None if only a cosine can decide.

    Args:
        passages: Best first.
        personal: True if users ask about themselves.
        cosine: Best cosine of the query with the first passages; NaN if there are no vectors.
    """
    score = passages[0].score if passages else 0.0
    if score >= (_CERTAIN_OF_ONESELF if personal else _CERTAIN):
        return True
    if cosine is None:
        return None if passages else False
    return score >= _WITHOUT_VECTORS if math.isnan(cosine) else cosine + _SCORE_SHARE * score >= _RELEVANT


def _scores(
    said: Sequence[Utterance], folded: Sequence[str], counts: Mapping[str, Sequence[int]], rarity: Mapping[str, float]
) -> list[float]:
    """Return the messages' BM25 scores; the user's messages count more."""
    average = sum(map(len, folded)) / len(folded) + 1
    scores = [0.0] * len(said)
    for term, weight in rarity.items():
        for at, n in enumerate(counts[term]):
            if n:
                scores[at] += weight * n * (_K + 1) / (n + _K * (1 - _B + _B * len(folded[at]) / average))
    return [score if one.role == "user" else score * _BY_OTHERS for score, one in zip(scores, said, strict=True)]


@dataclass(frozen=True, slots=True)
class _Sought:
    """Search terms of a query in messages.

    Args:
        words: Each with its pattern at the start of a word, and its weight.
        whole: Sum of their weights.
    """

    words: Sequence[tuple[str, re.Pattern[str], float]]
    whole: float

    def passages(self, one: Utterance, share: float) -> list[Passage]:
        """Return the best pieces of a message whose score is ``share`` of the best message's."""
        found = []
        by = 1.0 if one.role == "user" else _BY_OTHERS
        for piece, text in enumerate(pieces_of(one.role, one.text[:_MAX_READ].strip())):
            folded = _folded(text)
            holds = sum(weight for word, begins, weight in self.words if word in folded and begins.search(folded))
            if holds > 0:
                covered = holds / self.whole / (1 - _B + _B * len(text) / _USUAL_LENGTH)
                score = by * ((1 - _BY_MESSAGE) * covered + _BY_MESSAGE * share)
                found.append(Passage(one.number, one.role, piece, text, score))
        return heapq.nlargest(_MAX_OF_ONE, found, key=lambda passage: passage.score)


def _terms(query: str, context: str) -> dict[str, float]:
    terms = {term: weight for term, weight in weights(query).items() if weight >= 0.25}
    for term, weight in weights(context).items():
        if weight >= 1:
            terms.setdefault(term, 0.35)
    return dict(heapq.nlargest(_MAX_TERMS, terms.items(), key=lambda pair: (pair[1], len(pair[0]))))


def _forms(terms: dict[str, float]) -> dict[str, str]:
    """Return the substring to search for each term: its stem, without a last letter that the stemmer changed."""
    return {term: term[:-1] if len(term) > _SHORT_STEM + 1 and term[-1] in "iy" else term for term in terms}


def _rarity(spread: int, many: int) -> float:
    return math.log1p((many - spread + 0.5) / (spread + 0.5))


def _pattern(form: str) -> re.Pattern[str]:
    """Return the pattern of a form at the start of a word; scripts without spaces do not mark word starts."""
    return re.compile((r"\b" if form.isascii() else "") + re.escape(form))


def _clean(found: Sequence[Passage], said: Sequence[Utterance]) -> list[Passage]:
    """Return passages without secrets, split as they are stored; a secret may span two pieces of a message."""
    wanted = {one.number for one in found}
    texts = {one.number: one.text[:_MAX_READ] for one in said if one.number in wanted}
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

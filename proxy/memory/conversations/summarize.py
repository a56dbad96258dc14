"""Extractive summaries of a session by its best sentences, in any language, without a model. Pure.

A sentence is scored by how central its words are to the whole (Radev et al., "Centroid-based summarization", 2004), by
its names and numbers, its speaker and its place; one that repeats chosen sentences is skipped (after Carbonell and
Goldstein, MMR, SIGIR 1998).
"""

from __future__ import annotations

import heapq
import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from proxy.text.quoted import quoted_spans
from proxy.text.words import HAS_CJK

Count = Callable[[str], int]

_SENTENCE = re.compile(r"(?:[^.!?。！？؟…\n]|[.!?…](?=[^\s\"'”»)]))+[.!?。！？؟…]*[\"'”»）)」]*")
_WORD = re.compile(r"[^\W_]+")
_ENTITY = re.compile(r"(?<=[\w,;:()\"'-] )[A-ZÀ-ÞА-Я][\w-]+|\d[\d.,:%€$£]*\d|\d")
_BLOCK = re.compile(r"```.*?(?:```|\Z)|<memory[^<>]*+>.*?(?:</memory>|\Z)", re.DOTALL)
_MAX_CHARACTERS = 100_000  # read of one part of a session; of a longer one, the start of each message
_MIN_HEAD = 160
_MAX = 300  # characters of a sentence that are shown
_MIN = 12
_BY_ASSISTANT = 0.6
_REPEATED = 0.75  # share of words that makes a sentence a repetition
_MAX_CANDIDATES = 400
_COMMON = 0.25  # a word in a larger share of the sentences does not count
_TOPICS = 6

QUOTING = "user, quoting"  # the role of a sentence that is not the user's own words


@dataclass(frozen=True, slots=True)
class Utterance:
    """One message: its number in the session, its role and its text."""

    number: int
    role: str
    text: str


@dataclass(frozen=True, slots=True)
class Extract:
    """One sentence of a summary.

    Args:
        number: Number of its message.
        role: Role of its message; ``QUOTING`` if the user quotes it.
        text: Verbatim text, shortened if it is very long.
        rank: 0 for the best sentence.
    """

    number: int
    role: str
    text: str
    rank: int = 0


@dataclass(frozen=True, slots=True)
class _Sentence:
    utterance: Utterance
    role: str
    text: str
    words: frozenset[str]
    place: int


def extract(said: Sequence[Utterance], most_tokens: int, count: Count, *, most: int = 60) -> list[Extract]:
    """Return the best sentences, in the order of the session.

    Args:
        said: The messages.
        most_tokens: Maximum tokens of all sentences together.
        count: Counts tokens.
        most: Maximum number of sentences.
    """
    sentences = list(_sentences(said))
    if not sentences:
        return []
    spread = Counter(word for sentence in sentences for word in sentence.words)
    limit = max(2, len(sentences) * _COMMON)
    centre = {word: math.log1p(n) for word, n in spread.items() if 1 < n <= limit}
    scored = [(_score(sentence, centre), -at) for at, sentence in enumerate(sentences)]
    best = heapq.nlargest(_MAX_CANDIDATES, scored)
    chosen: list[_Sentence] = []
    left, covered = most_tokens, Counter[str]()
    for _, at in best:
        sentence = sentences[-at]
        if len(chosen) >= most or left < 8:
            break
        if sum(covered[word] > 0 for word in sentence.words) >= _REPEATED * len(sentence.words):
            continue
        tokens = count(sentence.text) + 6
        if tokens <= left:
            left -= tokens
            covered.update(sentence.words)
            chosen.append(sentence)
    ranked = [Extract(one.utterance.number, one.role, one.text, rank) for rank, one in enumerate(chosen)]
    return sorted(ranked, key=lambda one: (one.number, one.rank))


def topics(groups: Sequence[Sequence[Utterance]]) -> list[tuple[str, ...]]:
    """Return, for each group of messages, the few words that are most specific to it."""
    written = [[word for one in group for word in terms(one.text)] for group in groups]
    counts = [Counter(word.casefold() for word in words) for words in written]
    whole: Counter[str] = Counter()
    for one in counts:
        whole.update(one)
    return [_telling(one, words, whole) for one, words in zip(counts, written, strict=True)]


def _telling(counts: Counter[str], written: Sequence[str], whole: Counter[str]) -> tuple[str, ...]:
    forms = {word.casefold(): word for word in reversed(written)}
    scores = {
        word: n / (2 + whole[word]) * (1.5 if forms[word][0].isupper() or word[0].isdigit() else 1) * math.log1p(n)
        for word, n in counts.items()
    }
    best = heapq.nlargest(_TOPICS, scores, key=lambda word: (scores[word], word))
    return tuple(forms[word] for word in best)


def sampled(said: Sequence[Utterance]) -> Sequence[Utterance]:
    """Return a bounded sample of the messages: all, the start of each, or the start of every n-th."""
    total = sum(len(one.text) for one in said)
    if total <= _MAX_CHARACTERS:
        return said
    step = max(1, -(-len(said) * _MIN_HEAD // _MAX_CHARACTERS))
    some = said[::step]
    head = max(_MIN_HEAD, _MAX_CHARACTERS // max(1, len(some)))
    return [Utterance(one.number, one.role, one.text[:head]) for one in some]


def terms(text: str) -> list[str]:
    """Return the words of a text that may name its topics."""
    if HAS_CJK.search(text):
        runs = _WORD.findall(text)
        return [run[at : at + 2] for run in runs for at in range(0, len(run) - 1, 2)]
    return [word for word in _WORD.findall(text) if len(word) > 4 or (len(word) > 2 and word[0].isupper())]


def _sentences(said: Iterable[Utterance]) -> Iterable[_Sentence]:
    for one in said:
        text = _BLOCK.sub("\n", one.text) if "```" in one.text or "<memory" in one.text else one.text
        quoted = iter(quoted_spans(text) if one.role == "user" else ())
        span = next(quoted, None)
        for place, match in enumerate(_SENTENCE.finditer(text)):
            while span is not None and span[1] <= match.start():
                span = next(quoted, None)
            sentence = " ".join(match[0].split())
            if len(sentence) < _MIN and not HAS_CJK.search(sentence):
                continue
            shown = sentence if len(sentence) <= _MAX else sentence[:_MAX].rsplit(" ", 1)[0] + " …"
            words = frozenset(word.casefold() for word in terms(shown))
            if words:
                role = QUOTING if span is not None and span[0] < match.end() else one.role
                yield _Sentence(one, role, shown, words, place)


def _score(sentence: _Sentence, centre: dict[str, float]) -> float:
    """Return the score of a sentence as a summary of the whole."""
    central = sum(centre.get(word, 0.0) for word in sentence.words) / (4 + len(sentence.words))
    entities = min(4, len(set(_ENTITY.findall(sentence.text))))
    opens = 0.3 if sentence.place == 0 else 0.0
    asks = 0.6 if sentence.text.endswith(("?", "？", "؟")) else 1.0
    speaker = 1.0 if sentence.utterance.role == "user" else _BY_ASSISTANT
    return (central + 0.45 * entities + opens) * asks * speaker

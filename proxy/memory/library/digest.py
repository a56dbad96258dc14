"""Extractive summary of a document; pure."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

from proxy.text.lexical import content

_SENTENCE = re.compile(r"[^.!?。！？\n]+[.!?。！？]+(?=\s|$|[\u4e00-\u9fff])|[^\n]+")
_MAX_SENTENCES = 1500
_SPACE = re.compile(r"\s+")
_MIN, _MAX = 30, 400
_MAX_CHARACTERS = 700
_LEAD = 40  # sentences at the start, where a document states its subject
_LEAD_BONUS = 1.3


def digest(texts: Sequence[str], most_characters: int = _MAX_CHARACTERS) -> str:
    """Return the highest-scoring sentences by SumBasic (Nenkova and Vanderwende, 2005), in document order.

    A text without sentences (code, a table, a list) is represented by its beginning: only an empty text has an empty
    digest.

    Args:
        texts: The pages.
        most_characters: Maximum length of the whole digest.
    """
    sentences = _sentences(texts)
    words = [frozenset(content(sentence)) for sentence in sentences]
    counts = Counter(word for found in words for word in found)
    total = sum(counts.values()) or 1
    shares = {word: number / total for word, number in counts.items()}
    chosen: list[int] = []
    left = most_characters
    open_ = {at for at, found in enumerate(words) if found}
    while open_:
        at = max(open_, key=lambda one: (_worth(words[one], shares, one), -one))
        open_.discard(at)
        if len(sentences[at]) > left:
            break
        left -= len(sentences[at]) + 1
        chosen.append(at)
        for word in words[at]:
            shares[word] **= 2  # words that a chosen sentence holds need no repetition
    return " ".join(sentences[at] for at in sorted(chosen)) or _beginning("\n".join(texts).strip(), most_characters)


def _beginning(text: str, most: int) -> str:
    """Return the start of a text, cut at a line, else at a word."""
    if len(text) <= most:
        return text
    head = text[: most + 1]
    line = head.rfind("\n", most // 2)
    word = max((space.start() for space in _SPACE.finditer(head)), default=most)
    return head[: line if line > 0 else word].rstrip()


def _worth(words: frozenset[str], shares: dict[str, float], at: int) -> float:
    return sum(shares[word] for word in words) / len(words) * (_LEAD_BONUS if at < _LEAD else 1.0)


def _sentences(texts: Sequence[str]) -> list[str]:
    found: list[str] = []
    for text in texts:
        for line in text.splitlines():
            if line.lstrip().startswith(("#", "|")):
                continue
            found += [one.strip() for one in _SENTENCE.findall(line) if _MIN <= len(one.strip()) <= _MAX]
        if len(found) >= _MAX_SENTENCES:
            break
    return list(dict.fromkeys(found[:_MAX_SENTENCES]))

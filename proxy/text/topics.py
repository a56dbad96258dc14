"""Removal of sentences about topics that the operator excludes from memory, by their words.

The topics are those of article 9 of the GDPR; their words are data, in ``languages/life``.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass
from functools import cache

from proxy.text.languages import codes, table
from proxy.text.segment import sentences
from proxy.text.words import HAS_CJK, flat

_WORD = re.compile(r"[^\W_]+")
_ENDS = range(2, 24)  # lengths of stems


def without(text: str, topics: Collection[str]) -> str:
    """Return a text without the sentences that hold a word of these topics, in any language that has a file.

    >>> without("My sister is Ana. She has diabetes.", ["health"])
    'My sister is Ana.'
    """
    if not is_about(text, topics):
        return text
    kept, end = "", 0
    for start, stop in sentences(text):
        if is_about(text[start:stop], topics):
            kept += text[end:start]
            end = stop + (text[stop : stop + 1] == " ")
    return (kept + text[end:]).strip()


def is_about(text: str, topics: Collection[str]) -> bool:
    """Return whether a text holds a word of these topics."""
    return bool(topics) and _words(frozenset(topics)).stand_in(flat(text))


@dataclass(frozen=True, slots=True)
class _Words:
    """Words of some topics.

    Attributes:
        whole: Whole words.
        stems: Beginnings of words.
        phrases: Several words.
        pieces: Words of a script without spaces.
    """

    whole: frozenset[str]
    stems: frozenset[str]
    phrases: frozenset[str]
    pieces: frozenset[str]

    def stand_in(self, text: str) -> bool:
        """Return whether a flattened text holds one of them."""
        found = _WORD.findall(text)
        known = set(found)
        if not self.whole.isdisjoint(known) or any(word[:end] in self.stems for word in known for end in _ENDS):
            return True
        in_row = f" {' '.join(found)} "
        return any(f" {phrase} " in in_row for phrase in self.phrases) or any(piece in text for piece in self.pieces)


@cache
def _words(topics: frozenset[str]) -> _Words:
    found = {
        flat(word)
        for code in codes()
        for topic, words in table(code).get("leave_out", {}).items()
        if topic in topics
        for word in words.split()
    }
    pieces = {word for word in found if HAS_CJK.search(word)}
    stems = {word for word in found if word.endswith("*")}
    phrases = {word for word in found if "-" in word}
    return _Words(
        frozenset(found - pieces - stems - phrases),
        frozenset(word.removesuffix("*") for word in stems),
        frozenset(word.replace("-", " ") for word in phrases),
        frozenset(pieces),
    )

"""Puts in what an author left out in haste: capitals and apostrophes."""

from __future__ import annotations

import bisect
from collections.abc import Sequence
from dataclasses import dataclass, replace

from proxy.memory.learn.extract_builtin.casing import cased, unclipped
from proxy.memory.learn.extract_builtin.lexicons import LEXICONS
from proxy.memory.learn.extract_builtin.reading import language
from proxy.types import Memory, Said


@dataclass(frozen=True, slots=True)
class Spelt:
    """A message and those before it with the capitals and apostrophes that their author left out.

    Args:
        said: The message.
        earlier: What was said before.
        added: Where apostrophes were put into the message.
    """

    said: Said
    earlier: list[str]
    added: list[int]

    def typed(self, quote: str, text: str) -> str:
        """Return a quote as it stands in what the user typed."""
        start = self.said.text.find(quote)
        if start < 0:
            return quote
        first, last = (place - bisect.bisect_left(self.added, place) for place in (start, start + len(quote)))
        return text[first:last]


def as_spelt(said: Said, known: Sequence[Memory], earlier: Sequence[str]) -> Spelt:
    """Return a message as it would be spelt with care, and what was said before likewise."""
    lexicon = LEXICONS[language(said.text, LEXICONS, hint=language(earlier[-1], LEXICONS) if earlier else "en")]
    is_english = lexicon.code == "en"
    before = [cased(unclipped(text)[0] if is_english else text, (), lexicon) for text in earlier]
    text, added = unclipped(said.text) if is_english else (said.text, [])
    text = cased(text, [*(memory.text for memory in known), *before], lexicon)
    return Spelt(said if text == said.text else replace(said, text=text), before, added)

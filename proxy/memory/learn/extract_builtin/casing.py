"""Writes a message typed in haste as its author would with time: capitals where names are known, apostrophes in English."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable
from functools import lru_cache

from proxy.memory.learn.extract_builtin.lazy import lazy
from proxy.memory.learn.extract_builtin.lexicon import Lexicon
from proxy.text.words import TEXTS_KEPT

_WORD = lazy(r"[^\W_]+(?:['’+&.-][^\W_]+)*")
_PRONOUN = lazy(r"\bI\b")
_TITLED = lazy(  # behind which a name stands
    r"\b(?:mr|mrs|ms|miss|dr|prof|professor|sr|sra|don|doña|señor|señora|doctor|doctora|herrn?|frau)\.? (?P<name>[^\W\d_])"
)
_CALLED = lazy(r"\b(?:called|named|namens|heiß(?:t|en)|se llaman?|llamad[oa]s?) (?P<name>[^\W\d_])")
_QUOTED = lazy(r"[«“„《](?P<name>[^\W\d_])")
_GERMAN_NOUN = lazy(  # behind an article, its adjectives between, or a preposition; or what one is called
    r"\b(?:(?:de[rmns]|die|das|eine?[mnrs]?|ne[nrm]?|(?:mein|dein|sein|unser|kein|ihr)(?:e[mnrs]?)?|zu[rm]|im|am|beim|vom|ins) (?:[a-zäöüß]{3,}(?:e[mnrs]?) (?=[a-zäöüß]))*|"
    r"(?:nach|bei|in|von|auf|aus|mit|durch|gegen|als|heiß(?:t|en|e)|namens) )(?P<name>[a-zäöüß])(?=[a-zäöüß]{2})"
)
_CLIPPED = lazy(  # of English contractions those that are no other word
    r"\b(?:(?:do|does|did|is|are|was|were|has|have|had|would|could|should|ca|wo|ai|must|need)n(?=t\b)|i(?=(?:m|ve)\b)|"
    r"(?:you|they|we|should|could|would|must)(?=ve\b)|(?:you|they)(?=(?:re|ll)\b)|(?:that|what|there|here|she|he|who|where)(?=s\b))",
    re.IGNORECASE,
)
_OPENS = lazy(r"(?:^|[.!?:…\n][\s\"'“”«»(*-]*)$")
_LEAST = 2  # letters


def cased(text: str, earlier: Iterable[str], lexicon: Lexicon) -> str:
    """Return a message without capitals with those that its names were given before; any other message as it is.

    Args:
        text: What the user says now.
        earlier: What they said before.
        lexicon: Of the language of the message.
    """
    if any(char.isupper() for char in _PRONOUN.sub("i", text)):
        return text
    known: dict[str, str] = {}
    plain: set[str] = set()
    for other in earlier:
        names, lower = _written(other)
        known.update(names)
        plain |= lower
    idle = lexicon.stop | lexicon.generic | plain

    def recased(match: re.Match[str]) -> str:
        name = known.get(match[0], match[0])
        return name if match[0] not in idle and len(name) == len(match[0]) else match[0]

    named = _WORD.sub(recased, text)
    patterns = (_TITLED, _CALLED, _QUOTED, *((_GERMAN_NOUN,) if lexicon.code == "de" else ()))
    for match in [match for pattern in patterns for match in pattern.finditer(named)]:
        start = match.start("name")
        capital = named[start].upper()
        if len(capital) == 1 and _WORD.match(named, start)[0] not in lexicon.stop:  # type: ignore[index]
            named = named[:start] + capital + named[start + 1 :]
    return named


def unclipped(text: str) -> tuple[str, list[int]]:
    """Return an English message typed without apostrophes with those of its contractions, and where they were put."""
    if "'" in text or "’" in text:
        return text, []
    ends = [match.end() for match in _CLIPPED.finditer(text)]
    pieces = [text[start:end] for start, end in itertools.pairwise((0, *ends, len(text)))]
    return "'".join(pieces), [end + number for number, end in enumerate(ends)]


@lru_cache(maxsize=TEXTS_KEPT)
def _written(text: str) -> tuple[dict[str, str], frozenset[str]]:
    """Return the words that a text writes with capitals within its sentences, by their small letters, and those it writes without."""
    names: dict[str, str] = {}
    plain: set[str] = set()
    for match in _WORD.finditer(text):
        word = match[0]
        if word.islower():
            plain.add(word)
        elif len(word) >= _LEAST and not _OPENS.search(text, 0, match.start()):
            names[word.lower()] = word
    return names, frozenset(plain)

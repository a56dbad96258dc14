"""Tells words met in passing from values: those of a longer name, of somebody else's, or that point at the talk itself."""

from __future__ import annotations

from proxy.memory.learn.extract_builtin.lazy import lazy
from proxy.memory.learn.extract_builtin.mentions import NAME, Mention
from proxy.memory.learn.extract_builtin.reading import Reading, Sentence
from proxy.text.words import words

_POINTED_AT = lazy(
    r"\b(?:these|your|such|every|each|any)\s+(?:\w+\s+)?$|\b(?:which|what)\s+(?:(?!the\b|my\b|our\b)\w+\s+)?$"
)
_OF_ANOTHER = lazy(r"\b(\w+)['’]s\s+$")
_NEXT = lazy(r" ([A-Z][\w'-]+)")
_BEFORE = lazy(r"\b([A-Z][\w'-]+) $")


def is_passing(mention: Mention, sentence: Sentence, reading: Reading) -> bool:
    """Whether an English word that was said before names no value of the speaker's here."""
    if reading.lexicon.code != "en":
        return False
    before, after = sentence.text[: mention.start - sentence.start], sentence.text[mention.end - sentence.start :]
    if (mention.rank < NAME or mention.surface.islower()) and _POINTED_AT.search(before.lower()):
        return True  # "these percentages don't work for me"
    owner = _OF_ANOTHER.search(before.lower())
    if mention.rank < NAME and owner and not reading.lexicon.kin.fullmatch(owner[1]):
        return True  # "my gym's generator"
    return _is_part_of_name(mention, before, after)


def _is_part_of_name(mention: Mention, before: str, after: str) -> bool:
    """Whether a word, said as a common noun before, belongs to a longer name now ("business", "Facebook Business Manager")."""
    if mention.surface[:1].isupper() and _NEXT.match(after) and _BEFORE.search(before):
        return not any(f"{_BEFORE.search(before)[1]} {mention.surface}" in text for text in mention.said)  # type: ignore[index]
    if not mention.surface[:1].isupper() or not (_NEXT.match(after) or (_BEFORE.search(before) and before.strip())):
        return False
    found = words(mention.surface)
    common = [
        text
        for text in mention.said
        if not any(text[w.start].isupper() and any(w.text == own.text for own in found) for w in words(text))
    ]
    return len(common) == len(mention.said) and mention.surface != mention.surface.lower() and len(found) == 1

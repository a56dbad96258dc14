"""Finds the value that follows an attribute, and whether the two are equated."""

from __future__ import annotations

import re
from collections.abc import Sequence

from proxy.memory.learn.extract_builtin.lazy import lazy
from proxy.memory.learn.extract_builtin.lexicon import Lexicon
from proxy.memory.learn.extract_builtin.reading import Reading, Sentence
from proxy.text.words import Span, Word

QUOTED = lazy(r"[«“„\"《]([^»“”\"《》]{1,60})[»“”\"》]")
QUALIFIERS = frozenset(("of", "aller", "de", "del", "von", "im", "для", "на", "по", "in", "on", "at", "en", "auf", "в"))
BREAK = lazy(r"[.!?;()]")
_MAX_LINKS = 5
_MAX_VALUE_WORDS = 4
_MAX_PLAIN_WORDS = 3
_MIN_DIGITS = 3
_MEASURED = lazy(r"\s?[%°€$£]|[-\s][^\W\d]|[.,]\d")
_NEUTRAL = frozenset(
    (
        "the",
        "a",
        "an",
        "number",
        "no",
        "nr",
        "der",
        "die",
        "das",
        "den",
        "nummer",
        "el",
        "la",
        "los",
        "número",
        "номер",
        "id",
    )
)
_ARTICLES = frozenset(("der", "die", "ein", "eine", "el", "la"))
_EQUATES = lazy(r"[:：—–]|\s-\s")
_APPOSED = lazy(
    r"(?:(?:el|la|der|die) )?(?:(?:Mr|Mrs|Ms|Dr|Herr|Frau|señora?|doctora?|licenciad[oa]|profesora?|ingenier[oa]|don|doña)\.? )?[A-ZÄÖÜА-ЯÁÉÍÓÚÑ][\w'-]+(?: [A-ZÄÖÜА-ЯÁÉÍÓÚÑ][\w'-]+)?(?=\s*(?:[,.!?]|$))"
)
_ROLE = lazy(  # whom one has one of at a time
    r"psicólog[oa]|terapeuta|dentista|pediatra|ginecólog[oa]|fisio(?:terapeuta)?|peluquer[oa]|entrenadora?|matrona|nutricionista|psiquiatra|analista|abogad[oa]|gestora?|asesora?|médic[oa]|oculista|casero|casera|profesora?|tutora?|canguro|"
    r"\w*(?:arzt|ärztin|therapeut(?:in)?|lehrer(?:in)?|trainer(?:in)?|berater(?:in)?|friseur(?:in)?|vermieter(?:in)?|makler(?:in)?|anwalt|anwältin|hebamme|leiter(?:in)?|betreuer(?:in)?)"
)


# "tidy my website's layout", which is no "my website is layout"
_OF_AN_OBJECT = lazy(
    r"\b(?!and|but|so|because|since|that|as|if|when|while|well|yes|no|also|now)[a-z]+ (?:my|our)(?: [a-z]+)?\s*$"
)


def value_after(sentence: Sentence, index: int, reading: Reading, *, is_slot: bool = False) -> Span | None:
    """Return the value that follows word ``index - 1``, with or without a link between.

    Args:
        sentence: Where it stands.
        index: Of the word after the attribute.
        reading: The message.
        is_slot: The attribute holds one value, however that is written ("my favourite colour is teal").
    """
    found = sentence.words
    place = _after_links(found, index, reading)
    if place >= len(found) or index == 0:
        return None
    gaps = [
        reading.text[left.end : right.start]
        for left, right in zip(found[index - 1 : place], found[index : place + 1], strict=True)
    ]
    if any(
        BREAK.search(gap) and not _is_title(left.text) for left, gap in zip(found[index - 1 : place], gaps, strict=True)
    ):
        return None
    if (
        any("," in gap for gap in gaps)
        and not _is_code(found[place].text)
        and not _is_apposition(found, place, reading)
        and not (reading.lexicon.code == "ru" and any(word.text in ("это", "зовут") for word in found[index:place]))
    ):
        return None
    quoted = QUOTED.match(reading.text, found[place].start - 1)
    if quoted:
        return quoted.span(1)
    if _is_title(found[place].text) and place + 1 < len(found):
        place += 1
    last = _run_end(found, place, sentence, reading)
    if last == place:
        gap = reading.text[found[place - 1].end : found[place].start]
        equated = is_slot and (
            any(reading.lexicon.copula.fullmatch(word.text) for word in found[index:place]) or _EQUATES.search(gap)
        )
        return _plain_value(found, place, sentence, reading) if equated else None
    if last - place == 1 and found[place].text.isdigit() and _counts(reading.text, found[last - 1].end):
        return None
    return found[place].start, found[last - 1].end


def _after_links(found: Sequence[Word], index: int, reading: Reading) -> int:
    """Return the place after the links that start at ``index``, and after who somebody is that is named next."""
    place = index
    while place < min(len(found), index + _MAX_LINKS) and is_link(found[place], reading.lexicon):
        if _is_letter(found, place, reading):
            break
        place += 1
    return place + _is_introduced(found, place, reading)


def _run_end(found: Sequence[Word], place: int, sentence: Sentence, reading: Reading) -> int:
    """Return the place after the words from ``place`` on that are written like a value; ``place`` itself where none is."""
    last = place
    while (
        last < len(found) and last - place < _MAX_VALUE_WORDS and _is_valuelike(found, last, place, sentence, reading)
    ):
        last += 1
    if (
        last - place == 1
        and len(found[place].text) == 1
        and found[place].text.isalpha()
        and reading.lexicon.code == "en"
    ):
        is_followed = last < len(found) and found[last].start - found[place].end == 1
        return last + 1 if is_followed else place  # "A negative": a letter by itself is no value
    return last


def _is_letter(found: Sequence[Word], place: int, reading: Reading) -> bool:
    """Whether what looks like an article is a letter in the middle of a sentence ("blood group is A negative")."""
    word = found[place]
    return reading.text[word.start : word.end] == "A" and place > 0 and reading.lexicon.code == "en"


def _is_introduced(found: Sequence[Word], place: int, reading: Reading) -> bool:
    """Whether the name of somebody follows who they are ("my contact is my brother Desmond")."""
    if place + 1 >= len(found) or place == 0 or found[place - 1].text not in ("my", "our"):
        return False
    name = found[place + 1]
    return (
        reading.lexicon.kin.fullmatch(found[place].text) is not None
        and reading.text[name.start].isupper()
        and name.start - found[place].end == 1
    )


def _plain_value(found: Sequence[Word], place: int, sentence: Sentence, reading: Reading) -> Span | None:
    """Return the common words of a value, up to the end of its clause or a word that is no part of one."""
    unit = next((unit for unit in sentence.units if unit.start <= found[place].start < unit.end), None)
    last = place
    while last < len(found) and last - place < _MAX_PLAIN_WORDS and unit is not None and found[last].end <= unit.end:
        if found[last].text in reading.lexicon.stop:
            break
        last += 1
    return (found[place].start, found[last - 1].end) if last > place else None


def _is_valuelike(found: Sequence[Word], place: int, first: int, sentence: Sentence, reading: Reading) -> bool:
    word = found[place]
    if place > first and word.start - found[place - 1].end > 1:
        return False
    if _is_code(word.text) or (word.text.isdigit() and place > first):
        return True
    surface = reading.text[word.start : word.end]
    is_plain = word.text in reading.lexicon.stop and not (place == first and _is_letter(found, place, reading))
    return surface[0].isupper() and word.start > sentence.start and not is_plain


def is_stated(sentence: Sentence, start: int, span: Span, reading: Reading) -> bool:
    """Whether a link equates the attribute at ``start`` with the value, or the value is a code."""
    between = [word for word in sentence.words if start <= word.start < span[0]]
    links = [word.text for word in between if reading.lexicon.copula.fullmatch(word.text)]
    is_object = _OF_AN_OBJECT.search(sentence.flat[: start - sentence.start]) is not None
    if links and not (links == ["s"] and is_object):
        return True
    if _is_code(reading.text[span[0] : span[1]].lower()):
        joins = [word.text for word in between if is_link(word, reading.lexicon)]
        is_used = is_object and "on" in joins  # "test my website on Chrome 112"
        return not is_used and all(word in _NEUTRAL or word in QUALIFIERS for word in joins)
    return bool(between) and re.search("[:：—–]|\\s-\\s", reading.text[between[-1].end : span[0]]) is not None


def _is_apposition(found: Sequence[Word], place: int, reading: Reading) -> bool:
    """Whether a person is named between commas ("my boss, Ms. Lindqvist, …")."""
    who = place - 1
    if who > 0 and reading.lexicon.code in ("de", "es") and found[who].text in _ARTICLES:  # "my boss, la señora Ruiz"
        who -= 1
    is_role = reading.lexicon.code in ("de", "es") and who >= 0 and _ROLE.fullmatch(found[who].text) is not None
    if who < 0 or not (is_role or reading.lexicon.kin.fullmatch(found[who].text)):
        return False
    return _APPOSED.match(reading.text, found[place].start) is not None


def is_slot_of(attribute: Sequence[str], lexicon: Lexicon) -> bool:
    """Whether an attribute holds one value, however that is written."""
    return any(lexicon.slot.fullmatch(word) for word in attribute)


def _is_title(word: str) -> bool:
    return word in (
        "dr",
        "mr",
        "mrs",
        "ms",
        "prof",
        "sr",
        "sra",
        "herr",
        "frau",
        "señor",
        "señora",
        "doctor",
        "doctora",
        "don",
        "doña",
        "licenciado",
        "licenciada",
        "profesora",
    )


def _is_code(word: str) -> bool:
    if " " in word or "-" in word:
        return any(_is_code(part) for part in re.split("[ -]", word))
    digits = sum(char.isdigit() for char in word)
    return digits > 0 and (digits >= _MIN_DIGITS or not word.isdigit())


def _counts(text: str, end: int) -> bool:
    """Whether a number is a measure ("75 %", "1,200 words"), not a name of something."""
    return _MEASURED.match(text, end) is not None


def is_link(word: Word, lexicon: Lexicon) -> bool:
    """Whether a word may stand between an attribute and its value."""
    return lexicon.link.fullmatch(word.text) is not None

"""Reads a message as sentences and clauses of a known language, without what its author did not state."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache

from proxy.memory.learn.extract_builtin.lazy import lazy
from proxy.memory.learn.extract_builtin.lexicon import Lexicon
from proxy.memory.learn.statements import user_spans
from proxy.text.clauses import Unit, is_question, sentences, units
from proxy.text.words import TEXTS_KEPT, Word, flat, words

_CYRILLIC = lazy(r"[а-яё]+", re.IGNORECASE)
_HAN = lazy(r"[\u4e00-\u9fff]")
_LATIN = lazy(r"[a-zà-ÿ]+", re.IGNORECASE)
_LETTERS = {"de": lazy("[äöüß]", re.IGNORECASE), "es": lazy("[ñ¿¡áéíóú]", re.IGNORECASE)}
_TASK = lazy(  # asks to its end, with or without a mark
    r"\W*(?:how (?:can|could|should|do|does|would|might) |what(?:'s| is| are) the |what (?:can|should|could|steps) |"
    r"wie (?:kann|könnte|soll|sollte) |was (?:kann|soll|ist der|ist die) |cómo (?:puedo|podría|debo) |cuál es |"
    r"как (?:мне |я могу|можно|лучше)|что мне )"
)
_AFTERTHOUGHT = lazy(  # "I swim on Mondays, any tips?"
    r"(?:any |some |a |your |good |quick |more )*(?:advice|tips?|tricks?|suggestions?|ideas?|thoughts?|recommendations?|recs?|help|opinions?|brands?|pointers|hints?|deal|ok|okay|k|right|yeah|yes|no|alright|all right|please|pls|agreed|cool|huh|eh|innit|"
    r"got it|understood|thx|thanks|yea)\b(?: (?:on|for|about|please|pls|with)\b.*)?\W*$"
)
_TAG = lazy(r"\b(?:ok|okay|gell|gelle|klar|kapiert|verstanden|vale|estamos|sale)\W*$")  # asks for a nod only
_MAX_SENTENCES = 60  # of a message; what is longer is a document
_MAX_CHARACTERS = 1000  # of a sentence; what is longer is code, or a list without an end
_BRIEF = 40
_TALK = 3  # times as long
_MATERIAL = lazy(
    r"```|\*\*|`[^`]+`|https?://|[{};<>=]{2}|^\s*(?:[-*•#>]|\d+[.)])\s|^\w[\w ]{1,30}:\s*\n|(?:\n\s*\n.*){2}",
    re.MULTILINE,
)
_WORDIER = {"zh": 2.0, "es": 1.2}  # what a language takes for the same, in its words or characters


@dataclass(frozen=True, slots=True)
class Clause:
    """A clause: where it stands in the message, its flat text, and whether it asks."""

    start: int
    end: int
    flat: str
    asks: bool


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence of a message; offsets are those of the message.

    Args:
        start: Offset in the message.
        end: Offset after it.
        text: As written.
        flat: In lower case, same length.
        clauses: Its clauses and list members.
        units: The same, as cut.
        asks: It is a question as a whole.
        words: Its words, offsets of the message.
    """

    start: int
    end: int
    text: str
    flat: str
    clauses: tuple[Clause, ...]
    units: tuple[Unit, ...]
    asks: bool
    words: tuple[Word, ...]


@dataclass(frozen=True, slots=True)
class Reading:
    """A message, read."""

    text: str
    lexicon: Lexicon
    sentences: tuple[Sentence, ...]


def is_brief(reading: Reading) -> bool:
    """Whether a message has the length at which people say that something changed, and not that of a task or story."""
    return sum(len(sentence.words) for sentence in reading.sentences) <= longest_brief(reading.lexicon)


def is_talk(reading: Reading) -> bool:
    """Whether a longer message is told like a brief one, and is no task, list or paste."""
    size = sum(len(sentence.words) for sentence in reading.sentences)
    return size <= _TALK * longest_brief(reading.lexicon) and _MATERIAL.search(reading.text) is None


def longest_brief(lexicon: Lexicon) -> int:
    """Return the most words of what is told briefly; a character of Chinese counts as half a word."""
    return int(_BRIEF * _WORDIER.get(lexicon.code, 1.0))


def read(text: str, lexicons: Mapping[str, Lexicon], *, hint: str = "en") -> Reading:
    """Read ``text`` in the language that it is written in, ``hint`` where that is not clear."""
    return _read(text, lexicons[language(text, lexicons, hint=hint)])


def _read(text: str, lexicon: Lexicon) -> Reading:
    masked = [" "] * len(text)
    for start, end in user_spans(text):
        masked[start:end] = text[start:end]
    own = "".join(masked)
    spans = [(start, end) for start, end in sentences(own) if end - start <= _MAX_CHARACTERS]
    found = [_sentence(own, span, lexicon) for span in spans[:_MAX_SENTENCES]]
    return Reading(text, lexicon, tuple(found))


@lru_cache(maxsize=TEXTS_KEPT)
def read_as(text: str, lexicon: Lexicon) -> Reading:
    """Read an earlier message in a known language."""
    return _read(text, lexicon)


def language(text: str, lexicons: Mapping[str, Lexicon], *, hint: str = "en") -> str:
    """Return the code of the language in which ``text`` is written, by its script and its small words."""
    latin = len(_LATIN.findall(text))
    if len(_CYRILLIC.findall(text)) >= max(1, latin):
        return "ru"
    if len(_HAN.findall(text)) >= max(2, latin):
        return "zh"
    found = [word.text for word in words(text[:1000])]
    scores = {
        code: sum(word in lexicons[code].stop for word in found) for code in ("en", "de", "es") if code in lexicons
    }
    for code, letters in _LETTERS.items():
        scores[code] += letters.search(text) is not None
    best = max(scores, key=lambda code: (scores[code], code == hint))
    return best if scores[best] else (hint if hint in scores else "en")


def _sentence(text: str, span: tuple[int, int], lexicon: Lexicon) -> Sentence:
    start, end = span
    found = units(text, span)
    whole = text[start:end]
    asking = _asking(text, found, lexicon, marked=is_question(whole))
    clauses = [
        Clause(unit.start, unit.end, flat(text[unit.start : unit.end]), asks)
        for unit, asks in zip(found, asking, strict=True)
    ]
    moved = tuple(Word(word.text, word.start + start, word.end + start) for word in words(whole))
    return Sentence(start, end, whole, flat(whole), tuple(clauses), tuple(found), bool(asking) and all(asking), moved)


def _asking(text: str, found: list[Unit], lexicon: Lexicon, *, marked: bool) -> list[bool]:
    """Return for each clause whether it asks: from the first that opens like a question to the mark."""
    opens = [lexicon.asks.match(flat(text[unit.start : unit.end]).lstrip("¿¡ \"'")) is not None for unit in found]
    marks = ["¿" in text[unit.start : unit.end] for unit in found]
    if not marked:
        is_task = bool(found) and _TASK.match(flat(text[found[0].start :])) is not None
        return [opens[0] and (index == 0 or is_task) for index in range(len(found))]
    if found and not any(opens) and not any(marks) and _TAG.search(flat(text[found[-1].start : found[-1].end])):
        return [False] * len(found)
    first = next((index for index, opened in enumerate(opens) if opened or marks[index]), None)
    if first is None and len(found) > 1 and lexicon.code == "en" and _AFTERTHOUGHT.match(flat(text[found[-1].start :])):
        first = len(found) - 1
    if first is None:
        first = _last_clause(found)
    return [index >= first for index in range(len(found))]


def _last_clause(found: list[Unit]) -> int:
    """Return where the last full clause starts; list members belong to the clause before them."""
    index = len(found) - 1
    while index > 0 and found[index].member:
        index -= 1
    return index

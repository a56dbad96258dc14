"""States facts: one per object of a sentence whose head we know."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

from proxy.memory.cuts import cut
from proxy.memory.extract_builtin.lexicon import Lexicon, Statement
from proxy.memory.extract_builtin.reading import Clause, Reading, Sentence, read
from proxy.memory.words import HAS_CJK, Span, flat, words

MAX_FACTS = 6
_MAX_OBJECT_WORDS = 6
_MAX_CJK_CHARS = 14
_TAIL = re.compile(
    r"\s(?:in|on|at|with|for|from|to|as|of|near|by|during|when|while|every|each|all|since|because|but|so|after|before|"
    r"until|till|that|which|who|where|and|if|than|about|right|again|now|too|also|myself|lately|these|this|most|almost|"
    r"twice|once|three times|yesterday|today|"
    r"auf|mit|für|von|aus|bei|zu|zum|zur|nach|im|am|an|seit|als|jeden|jede|wenn|weil|dass|wo|um|und|oder|wieder|noch|schon|"
    r"para|por|con|en|como|desde|cuando|porque|que|a|al|y|o|los|las|cada|todos|todas|"
    r"в|во|на|с|со|для|из|от|по|к|у|как|когда|чтобы|потому|уже|каждый|каждую|и|или)\s"
)
_LEAD = re.compile(
    r"(?:(?:a|an|the|my|our|some|both|either|only|mainly|mostly|also|still|just|"
    r"der|die|das|den|dem|ein|eine|einen|einem|einer|mein|meine|meinen|meinem|unser|unsere|auch|noch|"
    r"el|la|los|las|un|una|unos|unas|mi|mis|también|"
    r"тоже|также|ещё|еще|свой|свою|мой|мою)\s+)+"
)
_NOT_A_VALUE = re.compile(
    r"(?:it|that|this|them|these|those|one|ones|him|her|you|me|us|something|anything|nothing|everything|someone|lot|lots|more|"
    r"much|many|some|any|all|things?|stuff|es|das|ihn|sie|ihm|mir|etwas|nichts|alles|viel|mehr|eso|esto|algo|nada|todo|"
    r"mucho|más|lo|la|это|то|его|её|ее|их|что|все|всё|ничего|много|больше|"
    r"what|how|why|where|who|when|was|wie|warum|wo|wer|que|qué|cómo|какой|как|где)\b"
)


@dataclass(frozen=True, slots=True)
class Stated:
    """One object of a statement.

    Args:
        statement: The head that stated it.
        subject: "user", or the noun of the person or thing it is about.
        object: As written.
        text: The sentence with this object alone.
        span: Where the object stands in the message.
        sentence: The sentence.
    """

    statement: Statement
    subject: str
    object: str
    text: str
    span: Span
    sentence: Sentence


def stated(reading: Reading) -> Iterator[Stated]:
    """Yield what the statements of a message say, question and thought left out."""
    for sentence in reading.sentences:
        for statement in reading.lexicon.statements:
            yield from _by(statement, sentence, reading)


@lru_cache(maxsize=2_000)
def stated_in(text: str, lexicon: Lexicon) -> tuple[Stated, ...]:
    """Return what an earlier message of the user states."""
    return tuple(stated(read(text, {lexicon.code: lexicon, "en": lexicon, "de": lexicon, "es": lexicon})))


def _by(statement: Statement, sentence: Sentence, reading: Reading) -> Iterator[Stated]:
    for match in statement.head.finditer(sentence.flat):
        place = sentence.start + match.start()
        clause = next((clause for clause in sentence.clauses if clause.start <= place < clause.end + 1), None)
        if clause is None or not _asserts(clause, reading.lexicon, sentence, match.span()):
            continue
        start = sentence.start + (match.start("v") if "v" in match.re.groupindex and match["v"] else match.end())
        end = sentence.start + match.end("v") if "v" in match.re.groupindex and match["v"] else None
        subject = (match.groupdict().get("who") or "").strip() or "user"
        members = list(_members(sentence, start, end, reading))
        if statement.single:
            members = members[:1]
        first, last = clause.start, max((_clause_end(sentence, span) for span in members), default=clause.end)
        whole = reading.text[first:last]
        for span in members:
            others = [(other[0] - first, other[1] - first) for other in members if other != span]
            text = cut(whole, others, held=[(span[0] - first, span[1] - first)])
            yield Stated(statement, subject, reading.text[slice(*span)], _plain(text or whole), span, sentence)
        return


def _clause_end(sentence: Sentence, span: Span) -> int:
    return next((unit.end for unit in sentence.units if unit.start <= span[0] < unit.end), sentence.end)


def _asserts(clause: Clause, lexicon: Lexicon, sentence: Sentence, head: Span) -> bool:
    before = sentence.flat[max(0, head[0] - 40) : head[1]]
    if clause.asks:
        return False
    return not (lexicon.hedge.search(before) or lexicon.ended.search(clause.flat) or lexicon.past.search(clause.flat))


def _members(sentence: Sentence, start: int, end: int | None, reading: Reading) -> Iterator[Span]:
    """Yield the objects from ``start`` on: the rest of its clause and the list members that follow."""
    if end is not None:
        yield from _trimmed(reading, start, end)
        return
    first = True
    for unit in sentence.units:
        if unit.end <= start:
            continue
        if unit.start > start and (first or not (unit.member and unit.coordinated)):
            break
        found = list(_trimmed(reading, max(unit.start, start), unit.end))
        if not found and not first:
            break
        yield from found
        first = False


def _trimmed(reading: Reading, start: int, end: int) -> Iterator[Span]:
    piece = flat(reading.text[start:end])
    lead = _LEAD.match(piece)
    offset = lead.end() if lead else 0
    tail = _TAIL.search(piece + " ", offset)
    stop = tail.start() if tail else len(piece)
    body = piece[offset:stop]
    offset += len(body) - len(body.lstrip(" \"'«“„《*_"))
    stop = offset + len(piece[offset:stop].rstrip(" .!?。！？\"'»”》*_:)"))
    if _is_value(piece[offset:stop], reading.lexicon):
        yield start + offset, start + stop


def _is_value(body: str, lexicon: Lexicon) -> bool:
    found = words(body)
    if not found or _NOT_A_VALUE.match(body) or all(word.text in lexicon.stop for word in found):
        return False
    if HAS_CJK.search(body):
        return len(body) <= _MAX_CJK_CHARS
    return len(found) <= _MAX_OBJECT_WORDS


def _plain(text: str) -> str:
    return text.strip().rstrip(",;: ")

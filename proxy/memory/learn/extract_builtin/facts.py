"""States facts: one per object of a sentence whose head we know."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

from proxy.memory.learn.extract_builtin.lazy import lazy
from proxy.memory.learn.extract_builtin.lexicon import Lexicon, Statement, group_of
from proxy.memory.learn.extract_builtin.reading import Clause, Reading, Sentence, read_as
from proxy.memory.learn.extract_builtin.slots import QUOTED
from proxy.memory.learn.extract_builtin.typed import is_year_of
from proxy.text.clauses import Unit
from proxy.text.words import HAS_CJK, TEXTS_KEPT, Span, flat, words

HABITS = frozenset(
    ("eat", "drink", "read", "watch", "listen to", "follow", "collect", "shop at", "make")
)  # unless it was once
_ONCE = lazy(
    r"\b(?:today|tonight|yesterday|right now|just now|at the moment|this|later|again and again|heute|gerade|gestern|gleich|diese[nrs]?|hoy|ayer|anoche|"
    r"ahora mismo|est[ae]|сегодня|вчера|сейчас|эт[ауо]\w?)\b|今天|昨天|刚|正在|这"
)
_OF = lazy(r"\s+(?:of|with|von|mit|der|des|de|del|con|с)\b")  # belongs to the last of a list alone
MAX_FACTS = 6
_MAX_OBJECT_WORDS = 6
_MAX_CJK_CHARS = 14
_TAIL = lazy(
    r"\s(?:in|on|at|with|for|from|to|as|of|near|by|during|when|while|every|each|all|since|because|but|so|after|before|"
    r"until|till|that|which|who|where|and|if|than|about|right|again|now|too|also|myself|lately|these|this|most|almost|"
    r"twice|once|three times|yesterday|today|last(?=\s(?:week|month|year|night|weekend|summer|spring|autumn|fall|winter|\w+day)\b)|"
    r"auf|mit|für|von|aus|bei|zu|zum|zur|nach|im|am|an|seit|als|jeden|jede|wenn|weil|dass|wo|um|und|oder|wieder|noch|schon|"
    r"el(?=\s(?:mes|año|lunes|martes|miércoles|jueves|viernes|sábado|domingo|verano|invierno|fin)\b)|la(?=\ssemana\b)|hace|ayer|"
    r"para|por|con|en|como|desde|cuando|porque|que|a|al|y|o|los|las|cada|todos|todas|"
    r"в|во|на|с|со|для|из|от|по|к|у|как|когда|чтобы|потому|уже|каждый|каждую|и|или)\s"
)
_CJK_LIST = lazy("[、和跟与及]|以及|还有")
_LEAD = lazy(
    r"(?:(?:a|an|the|my|our|some|both|either|only|mainly|mostly|also|still|just|"
    r"der|die|das|den|dem|ein|eine|einen|einem|einer|mein|meine|meinen|meinem|unser|unsere|auch|noch|"
    r"el|la|los|las|un|una|unos|unas|mi|mis|también|"
    r"тоже|также|ещё|еще|свой|свою|мой|мою)\s+)+"
)
_NEGATED = lazy(r"\s*(?:(?:gar|auch|leider|really|even|все|вовсе) )?(?:not|no|nicht|kein\w*|nie|не|нет|没|不)\b")
_NOT_A_VALUE = lazy(
    r"(?:it|that|this|them|these|those|one|ones|him|her|you|me|us|something|anything|nothing|everything|someone|lot|lots|more|"
    r"much|many|some|any|all|things?|stuff|es|das|ihn|sie|ihm|mir|etwas|nichts|alles|viel|mehr|eso|esto|algo|nada|todo|"
    r"mucho|más|lo|la|это|то|его|её|ее|их|что|все|всё|ничего|много|больше|"
    r"in|im|on|at|am|an|auf|mit|to|for|from|with|bei|von|nach|zu|zum|zur|en|con|para|por|de|a|al|в|на|с|для|по|без|из|от|о|"
    r"not|no|nicht|kein\w*|gar|не|нет|"
    r"is|are|has|does|can|could|will|would|makes|means|gives|keeps|takes|brings|"
    r"i|we|you|he|she|they|i'm|we'll|i'll|ton|tons|bit|good|time|fun|idea|"
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


@lru_cache(maxsize=TEXTS_KEPT)
def stated_in(text: str, lexicon: Lexicon) -> tuple[Stated, ...]:
    """Return what an earlier message of the user states."""
    return tuple(stated(read_as(text, lexicon)))


def _by(statement: Statement, sentence: Sentence, reading: Reading) -> Iterator[Stated]:
    for match in statement.head.finditer(sentence.flat):
        place = sentence.start + match.start()
        clause = next((clause for clause in sentence.clauses if clause.start <= place < clause.end + 1), None)
        if statement.reach == "sentence":
            clause = sentence.clauses[-1]  # "When I ask for numbers, ..."
        if clause is None or not _asserts(clause, reading.lexicon, sentence, match.span()):
            continue
        value = group_of(match, "v")
        start = sentence.start + (value[0] if value else match.end())
        end = sentence.start + value[1] if value else None
        subject = _subject(match, sentence, reading)
        if statement.reach == "object":
            members = list(_members(sentence, start, end, reading))
        else:
            last = sentence.end if statement.reach == "sentence" else clause.end
            members = [(start, end or start + len(reading.text[start:last].rstrip(" \n.!。！")))]
        if statement.single:
            members = members[:1]
        is_habit = statement.relation in HABITS
        if (statement.kind == "preference" or is_habit) and _DEICTIC.match(sentence.flat, match.end()):
            return
        if is_habit and (reading.lexicon.limited.search(clause.flat) or _ONCE.search(clause.flat)):
            return
        if not members:
            return
        lead = reading.text[min(clause.start, members[0][0]) : members[0][0]]
        for span in members:
            surface = reading.text[slice(*span)]
            text = _plain(lead + surface + _tail(sentence, span, members[-1], reading))
            yield Stated(statement, subject, surface, text, span, sentence)
        return


def _subject(match: re.Match[str], sentence: Sentence, reading: Reading) -> str:
    """Return whose statement it is: a pronoun stands for the last person named before."""
    who = group_of(match, "who") or group_of(match, "whose")
    if who is None:
        return "user"
    surface = match.string[slice(*who)]
    if reading.lexicon.kin.fullmatch(surface):
        return surface
    before = flat(reading.text[: sentence.start + who[0]])
    named = [found[0] for found in reading.lexicon.kin.finditer(before)]
    return named[-1] if named else "user"


def _tail(sentence: Sentence, span: Span, last: Span, reading: Reading) -> str:
    """Return what is said of one object of a list: what hangs on it alone, else what hangs on them all."""
    end, last_end = _unit_of(sentence, span), _unit_of(sentence, last)
    own, common = reading.text[span[1] : end], reading.text[last[1] : last_end]
    has_own = span == last or (end != last_end and bool(words(own)))
    return own if has_own or _OF.match(common) else common


def _unit_of(sentence: Sentence, span: Span) -> int:
    """Return where the unit of a span ends."""
    return next((unit.end for unit in sentence.units if unit.start <= span[0] < unit.end), sentence.end)


def _asserts(clause: Clause, lexicon: Lexicon, sentence: Sentence, head: Span) -> bool:
    before = sentence.flat[max(0, head[0] - 40) : head[1]]
    if clause.asks:
        return False
    if _NEGATED.match(sentence.flat[head[1] :]):
        return False
    start = clause.start - sentence.start
    cues = [*lexicon.ended.finditer(clause.flat), *lexicon.past.finditer(clause.flat)]
    return not lexicon.hedge.search(before) and all(
        head[0] <= start + cue.start() and start + cue.end() <= head[1]
        for cue in cues  # "has moved to"
    )


def _members(sentence: Sentence, start: int, end: int | None, reading: Reading) -> Iterator[Span]:
    """Yield the objects from ``start`` on: the rest of its clause and the list members that follow."""
    if end is not None:
        place = start
        for match in _CJK_LIST.finditer(reading.text, start, end):
            yield from _trimmed(reading, place, match.start())
            place = match.end()
        yield from _trimmed(reading, place, end)
        return
    run = _run(sentence, start, reading)
    joined = max((place for place, (unit, _) in enumerate(run) if unit.joined), default=0)
    for place, (_, span) in enumerate(run):
        if place > joined and not all(_is_name(reading, run[k][1]) for k in (0, place)):
            break
        yield span


def _run(sentence: Sentence, start: int, reading: Reading) -> list[tuple[Unit, Span]]:
    """Return what follows as a list, a date with its year as one."""
    run: list[tuple[Unit, Span]] = []
    for unit in sentence.units:
        if unit.end <= start:
            continue
        if unit.start > start and not (run and unit.member and unit.coordinated):
            break
        found = next(_trimmed(reading, max(unit.start, start), unit.end), None)
        if found is None:
            break
        surface = reading.text[slice(*found)]
        if run and is_year_of(surface, reading.text[: found[0]]):
            run[-1] = (run[-1][0], (run[-1][1][0], found[1]))
        elif run and (surface.isdigit() or not _is_beside(reading, run[-1], (unit, found))):
            break  # a number is the age of who was named
        else:
            run.append((unit, found))
    return run


def _is_beside(reading: Reading, before: tuple[Unit, Span], member: tuple[Unit, Span]) -> bool:
    """Whether a member goes on the list, and not what was said of its last one ("Figma for layout and design")."""
    hung = _hung(reading, *before)
    return not hung or _is_name(reading, member[1]) or _hung(reading, *member) == hung


def _hung(reading: Reading, unit: Unit, span: Span) -> str:
    """Return the word with which something hangs on a member."""
    return next((word.text for word in words(reading.text[span[1] : unit.end])), "")


def _is_name(reading: Reading, span: Span) -> bool:
    return reading.text[span[0]].isupper() or reading.text[span[0]].isdigit()


def _trimmed(reading: Reading, start: int, end: int) -> Iterator[Span]:
    piece = flat(reading.text[start:end])
    lead = _LEAD.match(piece)
    offset = lead.end() if lead else 0
    tail = _TAIL.search(piece + " ", offset)
    stop = tail.start() if tail else len(piece)
    if HAS_CJK.search(piece) and "的" in piece[offset + 1 :]:
        stop = min(stop, piece.index("的", offset + 1))
    quoted = QUOTED.match(piece, offset)
    stop = quoted.end() if quoted else stop
    body = piece[offset:stop]
    offset += len(body) - len(body.lstrip(" \"'«“„《*_"))
    stop = offset + len(piece[offset:stop].rstrip(" .!?。！？\"'»”“》*_:)"))
    if _is_value(piece[offset:stop], reading.lexicon):
        yield start + offset, start + stop


# What one has for the length of a chat.
_VAGUE = lazy(
    r"^(?:\w+ )?(?:questions?|problems?|issues?|ideas?|doubts?|requests?|favou?r|bug|errors?|script|feeling|hunch|suggestions?|options?|choices?|reasons?|steps?|thoughts?|while|minute|second|look|break|"
    r"(?:an)?fragen?|probleme?|ideen?|möglichkeit(?:en)?|option(?:en)?|wahl|gründe?|bitte|fehler|gefühl|preguntas?|problemas?|dudas?|opci(?:ón|ones)|alternativas?|motivos?|consultas?|error|"
    r"вопрос\w*|вариант\w*|выбор\w*|причин\w*|проблем\w*|иде[яию]|просьб\w|ошибк\w|времени|время)\b|^(?:选择|选项|办法|方案)|(?:问题|选择|选项|疑问|想法|疑惑|bug|事)$"
)
_DEICTIC = lazy(r"(?:the|your|their|his|her|its|that|this|these|those|how|when|such|it|being able|seeing)\s")


def _is_value(body: str, lexicon: Lexicon) -> bool:
    found = words(body)
    if not found or _NOT_A_VALUE.match(body) or _VAGUE.search(body) or all(word.text in lexicon.stop for word in found):
        return False
    if HAS_CJK.search(body):
        return len(body) <= _MAX_CJK_CHARS
    return len(found) <= _MAX_OBJECT_WORDS


def _plain(text: str) -> str:
    return text.strip().rstrip(",;: ")

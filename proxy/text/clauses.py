"""Cuts a text into sentences and units (clauses, members of a list) in the languages that we read."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from proxy.text.words import CJK, WORD, Span, fold, word_set

_ABBREVIATION = re.compile(
    r"(?:(?<!['’])\b(?:[A-Za-zА-Яа-я]|Mr|Mrs|Ms|Dr|Prof|St|vs|etc|e\.g|i\.e|No|approx|ca|bzw|usw|Nr|Str|Hr|Fr|z\.\s?B|d\.\s?h|"
    r"Sr|Sra|Dra|Ud|Uds|núm|aprox|ул|стр|др|т\.\s?д|т\.\s?е|т\.\s?п|руб|тыс))\.$"
)
_ORDINAL = re.compile(r"(?<![\d.,])\d{1,2}\.$")
_DAY_NAMED = re.compile(
    r" (?:Januar|Februar|März|April|Mai|Juni|Juli|August|September|Oktober|November|Dezember|Stock|Klasse|Etage|Geburtstag|[a-zäöü]+ (?:Mal|Stock))\b"
)
_SENTENCE_END = re.compile(r"(?:[.!?…]+[\"'»”)\]]*(?=\s|$)|[。！？]+[”」』）]*|(?<=[а-яё])\)+(?=\s+[А-ЯЁ])|\n+)")
_COORDINATORS = (
    "and|or|but|plus|&|und|oder|aber|sowie|sondern|außerdem|y|e|o|u|pero|sino|además|и|а|но|или|да|либо|еще|ещё"
)
_SUBORDINATORS = (
    "because|although|though|while|whereas|weil|obwohl|während|porque|aunque|así que|mientras|"
    "потому что|так что|хотя|поэтому"
)
_IDIOMS = r"\s+(?:не пах|рядом не|близко не|в помине|след простыл|дело с концом)"  # "there is no trace of it"
_SEPARATOR = re.compile(
    r"\s*(?:[;()\[\]，；：（）、]|[,:](?!\d)|(?<!\d)[,:])\s*(?:(?:" + _COORDINATORS + r")(?=\s))?\s*"
    r"|\s+[-–—]+\s+|\s*——\s*"
    r"|\s+(?P<coordinator>" + _COORDINATORS + r")(?=\s)(?!" + _IDIOMS + r")\s*"
    r"|\s+(?=(?:" + _SUBORDINATORS + r")\s)"
    r"|\s+(?=so\s(?:(?:i|i'm|i've|i'd|we|we're|we've|my|our|he|he's|she|she's|it|it's|they|they're|the|this|there)\s|(?-i:[A-Z]\w)))"
    rf"|(?<=[{CJK}A-Za-z0-9])(?P<han>还有|以及)(?=[{CJK}A-Za-z0-9])",
    re.IGNORECASE,
)
# A member of a list starts with a noun or its article; a clause starts with one of these.
_CLAUSE_OPENERS = word_set(
    """i i'm i've i'd i'll im ive we we're we've you he she it they my our his her their your this that these those
    there here which who whom whose where when what why how if because so since then now not don't didn't haven't
    can could will would is are was were am be been have has had do does did let please just never still even maybe
    actually always often usually sometimes thus ich wir du er sie es mein meine meinen meinem meiner meins unser
    unsere unserem unseren unserer sein seine seinem ihr ihre ihrem dein deine das ist sind war bin hat habe haben
    hab der die den dem welche welcher wenn weil dass da dort hier jetzt nun dann nicht kein keine bitte wo wie
    warum wer immer oft nie meistens danach trotzdem yo tú él ella nosotros mi mis nuestro nuestra su sus me te se
    nos lo le ya no que quien donde cuando como si porque son era soy estoy está están ha hemos tengo tiene tenemos
    hay voy va uso vivo trabajo quiero necesito sigo siempre nunca luego entonces я мы ты он она оно они мой моя мое
    мои моего моей моем наш наша наше наши его ее их это тот та те который которая которое которые где когда что
    чтобы если потому так не нет был была было были есть у меня мне тебя сам сама само теперь сейчас уже всегда
    никогда потом 我 你 他 她 它 咱 这 那 不 没 是 有 在"""
)
_PREPOSITION = re.compile(
    r"\b(?:in|on|at|with|for|from|to|of|near|by|during|when|while|an|auf|mit|für|von|aus|bei|zu|zum|zur|nach|im|am|seit|"
    r"en|con|para|por|de|del|desde|a|al|в|во|на|с|со|для|из|от|по|к|у|о)\b",
    re.IGNORECASE,
)
_ARTICLES = word_set("der die das den dem mein meine meinen unser unsere unseren")
_DOING = re.compile(r"[а-я]{2,}[ая]ю(?:сь)?")  # "I decipher": a Russian verb needs no "I"
_MAX_MEMBER = 4  # words of a list's member before its first preposition


@dataclass(frozen=True, slots=True)
class Unit:
    """A clause or a list's member within a sentence.

    Args:
        start: Offset in the text.
        end: Offset after it, without the separator.
        member: It looks like a member of a list, not like a clause.
        coordinated: The separator before it is one that lists use ("," "and").
        joined: That separator is a word ("and").
    """

    start: int
    end: int
    member: bool
    coordinated: bool
    joined: bool = False


def sentences(text: str) -> list[Span]:
    """Return the spans of the sentences of ``text``, without surrounding white space."""
    spans: list[Span] = []
    start = 0
    for match in _SENTENCE_END.finditer(text):
        if match[0] == "." and _is_within(text, match.end()):
            continue
        if match[0][0] == ")" and "(" in text[start : match.start()]:  # no smile
            continue
        _append(spans, text, start, match.end())
        start = match.end()
    _append(spans, text, start, len(text))
    return spans


def _is_within(text: str, end: int) -> bool:
    """Whether the full stop before ``end`` belongs to an abbreviation or an ordinal number ("8. Mai")."""
    if _ABBREVIATION.search(text, max(0, end - 8), end):
        return True
    return _ORDINAL.search(text, max(0, end - 4), end) is not None and _DAY_NAMED.match(text, end) is not None


def units(text: str, sentence: Span) -> list[Unit]:
    """Return the clauses and list members of one sentence."""
    found: list[Unit] = []
    start, listed, joined = sentence[0], False, False
    last = sentence[0] + len(text[slice(*sentence)].rstrip(".!?…。！？ "))
    for match in _SEPARATOR.finditer(text, sentence[0], last):
        _append_unit(found, text, (start, match.start()), listed=listed, joined=joined)
        joined = bool(re.search(r"\w|&", match[0]))
        start, listed = match.end(), joined or bool(re.search(r"[,，、]", match[0]))
    _append_unit(found, text, (start, last), listed=listed, joined=joined)
    return found


def is_question(text: str) -> bool:
    """Whether a sentence is written as a question."""
    return text.rstrip(" \"'»”)").endswith(("?", "？"))


def _append(spans: list[Span], text: str, start: int, end: int) -> None:
    piece = text[start:end]
    if piece.strip():
        spans.append((start + len(piece) - len(piece.lstrip()), end - len(piece) + len(piece.rstrip())))


def _append_unit(found: list[Unit], text: str, span: Span, *, listed: bool, joined: bool) -> None:
    piece = text[slice(*span)]
    if WORD.search(piece):
        found.append(
            Unit(
                *span,
                member=bool(found) and _is_member(piece, enumerated=joined or text[span[0] - 1] == "、"),
                coordinated=bool(found) and listed,
                joined=joined,
            )
        )


def _is_member(piece: str, *, enumerated: bool) -> bool:
    head: Sequence[str] = [fold(word) for word in re.findall(r"[\w'’]+", piece[: _end_of_head(piece)])]
    first = fold(re.findall(r"[\w'’]+", piece)[0])
    if enumerated and first in _ARTICLES and len(head) <= _MAX_MEMBER - 1 and re.match(r"\w+ [A-ZÄÖÜ]", piece.lstrip()):
        return True
    if first in _CLAUSE_OPENERS or (first[:1] in _CLAUSE_OPENERS and re.match(f"[{CJK}]", first)):
        return False
    if re.match(f"[{CJK}]", first):
        return enumerated and len(first) <= 12
    return len(head) <= _MAX_MEMBER and _DOING.fullmatch(first) is None


def _end_of_head(piece: str) -> int:
    match = _PREPOSITION.search(piece, 1)
    return match.start() if match else len(piece)

"""Finds values that are known by their form (dates, times, years, numbers) and values that stand in the same frame of words."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from proxy.memory.learn.extract_builtin.lazy import lazy
from proxy.memory.learn.extract_builtin.lexicon import Lexicon
from proxy.memory.learn.extract_builtin.numbers import NUMBER_WORD
from proxy.memory.learn.extract_builtin.reading import read_as
from proxy.text.words import HAS_CJK, TEXTS_KEPT, Word, flat, same_word, stems, word_set, words

_MONTH = (
    r"(?:january|february|march|april|may|june|july|august|september|october|november|december|"
    r"januar|februar|märz|mai|juni|juli|oktober|dezember|"
    r"enero|febrero|marzo|abril|mayo|junio|julio|agosto|se?ptiembre|octubre|noviembre|diciembre|"
    r"январ[яьюе]|феврал[яьюе]|март[ауе]?|апрел[яьюе]|ма[йяюе]|июн[яьюе]|июл[яьюе]|август[ауе]?|сентябр[яьюе]|октябр[яьюе]|ноябр[яьюе]|декабр[яьюе])"
)
_WEEKDAY = (
    r"(?:(?:mon|tues|wednes|thurs|fri|satur|sun)days?|(?:mon|diens|donners|frei|sams|sonn)tags?|mittwochs?|sonnabends?|"
    r"lunes|martes|miércoles|jueves|viernes|sábados?|domingos?|"
    r"понедельник\w{0,2}|вторник\w{0,2}|сред(?:[ауые]|ам)|четверг\w{0,2}|пятниц(?:[ауые]|ам)|суббот(?:[ауые]|ам)|воскресень(?:[еяю]|ям))"
)
_ORDINAL = (
    r"(?:\d{1,2}(?:st|nd|rd|th)\b|(?:первого|второго|третьего|(?:четверт|пят|шест|седьм|восьм|девят|десят|\w+надцат|двадцат|тридцат)ого)\b|"
    r"(?:first|second|third|fourth|fifth|sixth|seventh|eighth|ninth|tenth|eleventh|twelfth|\w+teenth|twentieth)\b(?= of))"
)
_ORDINALS = (
    r"(?:first|second|third|fourth|fifth|sixth|seventh|eighth|ninth|tenth|eleventh|twelfth|\w+teenth|"
    r"(?:erst|zweit|dritt|viert|fünft|sechst|siebt|acht|neunt|zehnt|elft|zwölft)e[nrms]?|"
    r"(?:primer|segund|tercer|cuart|quint|sext|séptim|octav|noven|décim)[oa]?|"
    r"(?:перв|втор|четверт|пят|шест|седьм|восьм|девят|десят)(?:ый|ой|ая|ом|ую|ого)|трет(?:ий|ья|ьем|ью))"
)
_FORMS = (
    (
        "date",
        lazy(
            rf"\b\d{{1,2}}(?:\.|st|nd|rd|th| de| of)? ?{_MONTH}\b|\b{_MONTH} \d{{1,2}}(?:st|nd|rd|th)?\b|(?<!\d)(?:\d{{1,2}}|[一二三四五六七八九十]{{1,2}})月(?:(?:\d{{1,2}}|[一二三四五六七八九十廿]{{1,3}})[号日])?|"
            rf"(?<!\d)\d{{1,2}}[号日]|\b\d{{1,2}}\.\d{{1,2}}\.|\b{_ORDINAL}"
        ),
    ),
    ("length", lazy(r"(?<![\d.])\d+(?:\.\d+)?米\d{0,2}(?!\d)")),
    ("year", lazy(r"(?<!\d)(?:19|20)\d\d(?!\d)")),
    (
        "time",
        lazy(
            r"(?<![\d.,:])\d{1,2}(?::\d\d)? ?(?:am|pm|a\.m\.|p\.m\.|uhr|o'clock|час\w*|h)\b|(?<![\d.,:])\d{1,2}:\d\d(?!\d)|[上下]午[\d一二三四五六七八九十两]+点半?|[\d一二三四五六七八九十两]+点半?"
        ),
    ),
    (
        "ordinal",
        lazy(rf"\b{_ORDINALS}\b|[一二三四五六七八九十\d]+(?=[楼层号班期路])"),
    ),
    ("weekday", lazy(rf"\b{_WEEKDAY}\b|(?:周|星期|礼拜)[一二三四五六日天]")),
    ("month", lazy(rf"(?<!\d )(?<!\d\. )\b{_MONTH}\b")),
    (
        "number",
        lazy(
            rf"(?<![\w.])\d{{1,3}}(?:[., ]\d{{3}})+(?!\w)|(?<![\w.,])\d+(?:[.,]\d+)?(?![\w%])|\b{NUMBER_WORD}\b|[一二两三四五六七八九十百]+(?=[个只条人位岁年口张份本公斤])|\d+(?=[\u4e00-\u9fff])|(?<=[\u4e00-\u9fff])\d+(?:\.\d+)?(?![\w%])"
        ),
    ),
)
_DAY = lazy(
    rf"\b{_MONTH}(?:\.? \d{{1,2}}(?:st|nd|rd|th)?)?,? ?$|\b\d{{1,2}}\.? (?:de )?{_MONTH} (?:de )?$", re.IGNORECASE
)
_YEAR = lazy(r"(?:19|20)\d\d")
_COUNTERS = "个只条人位岁年口张份本公斤码"
_STRESSED = word_set("not no nicht kein keine no sino не нет")


def is_year_of(value: str, before: str) -> bool:
    """Whether a value is the year of the date, or of the month, that ends the text before it ("March 15, 2024")."""
    return _YEAR.fullmatch(value) is not None and _DAY.search(before) is not None


_NAMES = lazy(r"called|named|heißt|llama|зовут|называется|叫")
_MAX_NAME = 3  # words
_MAX_NAMING = 9  # words before a name
_HAS_TYPED = lazy(rf"\d|[一二两三四五六七八九十]|\b(?:{NUMBER_WORD}|{_WEEKDAY}|{_MONTH}|{_ORDINALS})\b", re.IGNORECASE)

_OWN_HAN = lazy(r"^我(?:的|家)?(?:现在|目前)?|(?:[定改约安排]+)?[是为有在到]$")
_MEASURE_HAN = lazy(r"^(?:鞋码|鞋号|尺码|体重|身高|腰围|胸围|血型|工号|学号|月薪|年薪|工资|年龄|视力)$")
_SCHEDULED = ("date", "weekday", "time")
_NOT_LATIN = lazy(r"\W*[а-яё\u4e00-\u9fff]", re.IGNORECASE)
Frame = tuple[str, tuple[str, ...], tuple[str, ...]]
_OURS = word_set("mein meine unser unsere mi nuestro nuestra")
_BY_NOW = word_set("jetzt nun inzwischen mittlerweile neuerdings ya ahora actualmente")
_LEAST_TOPIC = 2
_LEAST_FRAME = 3  # words (characters of Chinese) that two clauses must share


@dataclass(frozen=True, slots=True)
class Typed:
    """A value whose form says what it is.

    Args:
        kind: "date", "year", "time", "weekday", "month" or "number".
        surface: As written.
        start: Offset in the text.
        end: Offset after it.
        unit: The word after a number, folded, "" for none.
    """

    kind: str
    surface: str
    start: int
    end: int
    unit: str = ""


@lru_cache(maxsize=TEXTS_KEPT)  # the same clauses are asked about turn after turn
def typed(text: str) -> tuple[Typed, ...]:
    """Return the values of ``text`` that are known by their form, none inside another."""
    lowered = flat(text)
    taken: list[tuple[int, int]] = []
    found: list[Typed] = []
    for kind, pattern in _FORMS:
        for match in pattern.finditer(lowered):
            start, end = match.span()
            if any(start < right and left < end for left, right in taken):
                continue
            taken.append((start, end))
            unit = _unit(lowered, end) if kind == "number" else ""
            found.append(Typed(kind, text[start:end], start, end, unit))
    return tuple(sorted(found, key=lambda value: value.start))


def _unit(text: str, end: int) -> str:
    if text[end : end + 1] and text[end] in _COUNTERS:
        return text[end]
    match = re.compile(r" ([^\W\d_]+)").match(text, end)
    return match[1] if match else ""


def counterpart(new: Typed, earlier: str) -> Typed | None:
    """Return the one value of ``earlier`` that ``new`` may put right: same form, same unit."""
    alike = [
        old
        for old in typed(earlier)
        if old.kind == new.kind and (not old.unit or not new.unit or same_word(old.unit, new.unit))
    ]
    alike = [old for old in alike if flat(old.surface) != flat(new.surface)]
    if len(alike) > 1 and new.unit:
        alike = [old for old in alike if old.unit and same_word(old.unit, new.unit)]
    return alike[0] if len(alike) == 1 else None


# What happened once may happen again with another number.
PAST = lazy(
    r"\b(?:yesterday|today|ago|last|\w{2,}ed|ran|went|paid|ate|bought|had|was|were|got|did|took|saw|made|came|slept|woke|spent|drank|wrote|read|gestern|heute|"
    r"hab|habe|hatte|war|waren|ge\w{2,}(?:t|en)|ayer|hoy|anoche|(?!(?:pag|est|cobr|gan|tard|llev)amos\b)\w{2,}(?:é|ó|amos|imos)|he|hemos|вчера|сегодня|(?!кило|дел|школ|нача|мыл|одеял|тел)\w+[аеиыуя]л(?:а|и|о|ся|ась|ись)?)\b|昨|今天|刚才|过了"
)


def told_of(clause: str) -> tuple[Frame, str] | None:
    """Return what a clause tells beside its one typed value, or before the name that it gives, and that value or name."""
    values = typed(clause) if _HAS_TYPED.search(clause) else ()
    if len(values) == 1:
        value = values[0]
        head, tail = _telling(clause[: value.start]), _telling(clause[value.end :])
        if head and HAS_CJK.match(head[0]):
            head = (_OWN_HAN.sub("", "".join(head)),)
        size = len(words(" ".join((*head, *tail))))
        if (
            size >= _LEAST_FRAME
            or (value.kind in _SCHEDULED and _NOT_LATIN.match(clause))
            or (head and _MEASURE_HAN.search(head[0]))
        ):
            return (value.kind, head, tail), value.surface
    found = words(clause)
    for size in range(2, min(len(found), _MAX_NAMING)):
        if _NAMES.fullmatch(found[size - 1].text) and len(found) - size <= _MAX_NAME:
            name = clause[found[size].start :].strip(" .!")
            return (("name", _telling(clause[: found[size - 1].end]), ()), name) if name[:1].isupper() else None
    return None


@lru_cache(maxsize=TEXTS_KEPT)
def frames_in(text: str, lexicon: Lexicon) -> Mapping[Frame, str]:
    """Return what the clauses of an earlier message tell, see ``told_of``."""
    clauses = (c for sentence in read_as(text, lexicon).sentences for c in sentence.clauses if not c.asks)
    told = dict(told for clause in clauses if (told := told_of(text[clause.start : clause.end])) is not None)
    told = {key: value for frame, value in told.items() if (key := start_of(frame, lexicon))} | told
    return {topic: value for frame, value in told.items() if (topic := topic_of(frame, lexicon))} | told


def start_of(frame: Frame, lexicon: Lexicon) -> Frame | None:
    """Return what the speaker tells of themselves up to a value, whatever follows it ("I get up at …"); a number goes with its unit."""
    kind, head, tail = frame
    is_telling = len(head) > _LEAST_FRAME or any(word not in lexicon.stop for word in head)
    is_own = (lexicon.code == "en" and head[:1] == ("i",) and is_telling) or not _OURS.isdisjoint(head[:1])
    if not is_own or len(head) < _LEAST_FRAME or kind not in ("time", "date", "year", "number", "ordinal"):
        return None
    return (kind, head, ("…", *(tail[:1] if kind in ("number", "ordinal") else ())))


def topic_of(frame: Frame, lexicon: Lexicon) -> Frame | None:
    """Return the telling words of what is told of something of the speaker's, in no order ("our son's bedtime", "bedtime for our son")."""
    kind, head, tail = frame
    found = {word for word in (*head, *tail) if word not in lexicon.stop and len(word) > 1}
    if lexicon.code in ("ru", "zh"):
        telling = tuple(sorted({stem for word in found for stem in stems(word)}))
        return (kind, telling, ("",)) if telling and kind in _SCHEDULED else None
    is_own = lexicon.code == "en" and not {"my", "our"}.isdisjoint((*head, *tail))
    return (kind, tuple(sorted(found)), ("",)) if is_own and len(found) >= _LEAST_TOPIC else None


def _telling(text: str) -> tuple[str, ...]:
    return tuple(word.text for word in words(text) if word.text not in _BY_NOW)


def framed(new: str, old: str, lexicon: Lexicon) -> Iterator[tuple[int, int]]:
    """Yield where values start in two clauses that say the same up to there ("I live in | Leeds", "I live in | York").

    Args:
        new: A clause.
        old: An earlier one.
        lexicon: Of their language.
    """
    ours, theirs = words(new), words(old)
    least = 2
    for i in range(least, len(ours)):
        for j in range(least, len(theirs)):
            if not _may_start(ours[i], lexicon) or not _may_start(theirs[j], lexicon):
                continue
            if same_word(ours[i].text, theirs[j].text) or not _agree(ours, i, theirs, j, lexicon):
                continue
            yield ours[i].start, theirs[j].start


def _agree(ours: Sequence[Word], i: int, theirs: Sequence[Word], j: int, lexicon: Lexicon) -> bool:
    """Whether the words before two places agree, a telling one among them."""
    size, telling = 0, False
    while size < min(i, j) and same_word(ours[i - 1 - size].text, theirs[j - 1 - size].text):
        word = ours[i - 1 - size].text
        telling = telling or bool(HAS_CJK.match(word)) or word not in lexicon.stop
        size += 1
    return size >= (3 if HAS_CJK.match(ours[i - 1].text) else 2) and (telling or size > 2)


def _may_start(word: Word, lexicon: Lexicon) -> bool:
    return word.text not in lexicon.stop and word.text not in _STRESSED


def told_within(frame: Frame, earlier: Mapping[Frame, str], lexicon: Lexicon, *, least: int) -> str | None:
    """Return the value that was told with all telling words of a clause, ``least`` at least, and more."""
    wanted = _stems_of(frame, lexicon)
    for known, value in earlier.items():
        if len(wanted) >= least and known[0] == frame[0] and wanted <= _stems_of(known, lexicon):
            return value
    return None


def _stems_of(frame: Frame, lexicon: Lexicon) -> set[str]:
    return {stem for word in (*frame[1], *frame[2]) if word and word not in lexicon.stop for stem in stems(word)}

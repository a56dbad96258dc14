"""Finds attributes and their values ("my desk is 3F-204"), and new values of attributes that were given before."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from proxy.memory.extract_builtin.lexicon import Lexicon, group_of
from proxy.memory.extract_builtin.reading import Reading, Sentence, read_as
from proxy.memory.words import HAS_CJK, Span, Word, same_value, same_word

_QUOTED = re.compile(r"[«“„\"《]([^»“”\"《》]{1,60})[»“”\"》]")
_QUALIFIERS = frozenset(("of", "aller", "de", "del", "von", "im", "для", "на", "in", "on", "at", "en", "auf", "в"))
_MAX_ATTRIBUTE_WORDS = 3
_MAX_LINKS = 5
_MAX_VALUE_WORDS = 4
_MAX_PLAIN_WORDS = 3
_MIN_DIGITS = 3
_MEASURED = re.compile(r"\s?[%°€$£]|[-\s][^\W\d]|[.,]\d")
_DATED = re.compile(  # names of months and days make no attribute
    r"(?:jan(?:uar[y]?)?|feb(?:ruar[y]?)?|mar(?:ch|z|zo)?|apr(?:il)?|may|mai|june?|juni|july?|juli|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?|"
    r"okt(?:ober)?|nov(?:ember)?|de[cz](?:ember)?|enero|febrero|märz|abril|mayo|junio|julio|agosto|se?ptiembre|octubre|noviembre|diciembre|"
    r"(?:mon|tues|wednes|thurs|fri|satur|sun)day|(?:январ|феврал|март|апрел|ма|июн|июл|август|сентябр|октябр|ноябр|декабр)[ьяейю]?)$"
)
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
_ARTICLES = frozenset(("der", "die", "el", "la"))
_EQUATES = re.compile(r"[:：—–]|\s-\s")
_APPOSED = re.compile(
    r"(?:(?:el|la|der|die) )?(?:(?:Mr|Mrs|Ms|Dr|Herr|Frau|señora?|doctora?)\.? )?[A-ZÄÖÜА-ЯÁÉÍÓÚÑ][\w'-]+(?: [A-ZÄÖÜА-ЯÁÉÍÓÚÑ][\w'-]+)?(?=\s*(?:[,.!?]|$))"
)
_HAN_NAME = re.compile(  # a common family name and a given one, or a title
    r"[王李张刘陈杨黄赵吴周徐孙马朱胡郭何林罗高郑梁谢宋唐许韩冯邓曹彭曾肖田董潘袁蔡蒋余于杜叶程魏苏吕丁任卢姚沈钟姜崔谭陆范汪廖石金韦贾夏付方邹熊白孟秦邱侯江尹薛闫段雷龙黎史陶贺毛郝顾龚邵万覃武钱戴严莫孔向常汤欧]"
    r"[\u4e00-\u9fff]{1,2}|[小老阿][\u4e00-\u9fff]{1,2}|[\u4e00-\u9fff]{1,3}(?:先生|女士|老师|医生|师傅|教授|经理|总|姐|哥|叔|姨)"
)
_ROLE = re.compile(  # whom one has one of at a time
    r"psicólog[oa]|terapeuta|dentista|pediatra|ginecólog[oa]|fisio(?:terapeuta)?|peluquer[oa]|entrenadora?|matrona|nutricionista|psiquiatra"
)
_TITLED = re.compile(
    r"\b(?:Herrn?|Frau|Dr|Prof|señora?|Sra?|doctora?|Dra?|don|doña|profesora?|licenciad[oa]|ingenier[oa])\.?\s+$"
)
_BREAK = re.compile(r"[.!?;()]")
_COLOUR = re.compile(r"色的?$|^[红黄蓝绿白黑灰紫粉橙棕]的$")
_MANNER = re.compile(
    r"^(?:靠|带|很|挺|比较|非常|特别|有点|早.{1,2}晚)|^(?:新|旧|大|小|圆|方|长|短|二手|单|双|折叠|自动|手动)[^，。]{0,5}的$"
)
_HAN_VALUE = re.compile(
    r"(?:的|号码?|名字|现在|已经|目前)*(?:改?(?:是|叫做?|在|为|姓|成了?|换成了?|变成了?|：|:)\s*(?:一?[名位个]|《)?"
    r"(?P<v>[^，。！？；、,!?;\s》了吗呢吧]{1,14})"
    r"|(?P<code>[A-Za-z0-9][A-Za-z0-9-]*)|(?P<name>[\u4e00-\u9fff]{2,3}?)(?=给|说|让|要|把|跟|对|教|帮|建议|觉得|带|发|想|今天|昨天))"
)


@dataclass(frozen=True, slots=True)
class Pair:
    """An attribute of the user (or of somebody around them) and its value.

    Args:
        attribute: The words between "my" and the link, folded.
        value: As written.
        qualifier: What stands between attribute and link ("of all time").
        start: Where the attribute starts in the message.
        is_stated: A link equates them, or the value is a code; else they merely stand side by side.
        span: Where the value stands in the message.
        sentence: Its sentence.
    """

    attribute: tuple[str, ...]
    value: str
    start: int
    span: Span
    sentence: Sentence
    qualifier: tuple[str, ...] = ()
    is_stated: bool = True

    @property
    def text(self) -> str:
        """The clauses that state it."""
        units = self.sentence.units
        start = max((unit.start for unit in units if unit.start <= self.start), default=self.sentence.start)
        end = min((unit.end for unit in units if unit.end >= self.span[1]), default=self.sentence.end)
        return self.sentence.text[start - self.sentence.start : end - self.sentence.start].strip().rstrip(",;: ")


def pairs(reading: Reading) -> Iterator[Pair]:
    """Yield the pairs that a message states with a possessive."""
    for sentence in reading.sentences:
        for match in reading.lexicon.owned.finditer(sentence.flat):
            if reading.lexicon.code == "zh":
                pair = _han_pair(match, sentence, reading)
            else:
                pair = _pair_after(sentence, sentence.start + match.end(), reading)
            if pair is not None:
                yield pair


@lru_cache(maxsize=2_048)
def pairs_in(text: str, lexicon: Lexicon) -> tuple[Pair, ...]:
    """Return the pairs of an earlier message of the user."""
    return tuple(pairs(read_as(text, lexicon)))


def renewed(reading: Reading, earlier: Sequence[Pair]) -> Iterator[tuple[Pair, Pair]]:
    """Yield (old, new) where a message gives an attribute of ``earlier`` another value."""
    for sentence in reading.sentences:
        for old in earlier:
            new = _same_attribute(sentence, old, reading)
            told = new is not None and (old.is_stated or new.is_stated or _are_apposed(old, new, reading))
            if new is None or is_of_another_sort(new.value, old.value):
                continue
            if told and not same_value(new.value, old.value):
                yield old, new


def _are_apposed(old: Pair, new: Pair, reading: Reading) -> bool:
    """Whether both name the same one, both by family name ("my boss, Mrs X, …", "my boss, Mrs Y, …"): a first name may be hers too."""
    before = [pair.sentence.text[: pair.span[0] - pair.sentence.start] for pair in (old, new)]
    titled = [_TITLED.search(text) is not None for text in before]
    is_one = reading.lexicon.kin.fullmatch(old.attribute[-1]) is not None and reading.lexicon.code in ("de", "es")
    if not is_one or not all(is_called(pair.value) for pair in (old, new)):
        return False
    return all(titled) or (reading.lexicon.code == "es" and not any(titled))


def is_called(value: str) -> bool:
    """Whether a value is written like the name of a person, and not like what they are or where."""
    return _HAN_NAME.fullmatch(value) is not None if HAS_CJK.search(value) else value[:1].isupper()


def is_of_another_sort(value: str, other: str) -> bool:
    """Whether only one of two values tells a colour or a manner ("my phone is a X", "my phone is black")."""
    return any((sort.search(value) is None) != (sort.search(other) is None) for sort in (_COLOUR, _MANNER))


def is_description(value: str) -> bool:
    """Whether a value tells how something is, beside which it is much else."""
    return _COLOUR.search(value) is not None or _MANNER.search(value) is not None


def _han_pair(match: re.Match[str], sentence: Sentence, reading: Reading) -> Pair | None:
    attribute, value = group_of(match, "attr"), group_of(match, "v")
    if attribute is None or value is None:
        return None
    span = (sentence.start + value[0], sentence.start + value[1])
    name = match.string[slice(*attribute)]
    return Pair((name,), reading.text[slice(*span)], sentence.start + match.start(), span, sentence)


def _same_attribute(sentence: Sentence, old: Pair, reading: Reading) -> Pair | None:
    if reading.lexicon.code == "zh":
        return _same_han_attribute(sentence, old, reading)
    found = sentence.words
    for wanted in reversed(old.attribute):
        for place, word in enumerate(found):
            if not same_word(word.text, wanted):
                continue
            skip = place + 1
            for other in old.qualifier:
                skip += skip < len(found) and same_word(found[skip].text, other)
            span = _value_after(sentence, skip, reading, is_slot=_is_slot(old.attribute, reading.lexicon))
            if span is not None:
                return Pair(
                    old.attribute,
                    reading.text[slice(*span)],
                    word.start,
                    span,
                    sentence,
                    old.qualifier,
                    _is_stated(sentence, word.start, span, reading),
                )
    return None


def _same_han_attribute(sentence: Sentence, old: Pair, reading: Reading) -> Pair | None:
    place = sentence.flat.find(old.attribute[-1])
    if place < 0:
        return None
    match = _HAN_VALUE.match(sentence.text, place + len(old.attribute[-1]))
    value = match and (group_of(match, "v") or group_of(match, "code") or group_of(match, "name"))
    if not value:
        return None
    span = (sentence.start + value[0], sentence.start + value[1])
    return Pair(old.attribute, reading.text[slice(*span)], sentence.start + place, span, sentence)


def _pair_after(sentence: Sentence, start: int, reading: Reading) -> Pair | None:
    """Read an attribute that starts at ``start``, then its value."""
    found = [index for index, word in enumerate(sentence.words) if word.start >= start]
    attribute: list[str] = []
    qualifier: list[str] = []  # "of all time" of "my favourite film of all time"
    is_person = False  # "my wife"
    for index in found[: _MAX_ATTRIBUTE_WORDS + 4]:
        word = sentence.words[index]
        if attribute:
            span = _value_after(sentence, index, reading, is_slot=_is_slot(attribute, reading.lexicon))
            if span is not None:
                return Pair(
                    tuple(attribute),
                    reading.text[slice(*span)],
                    start,
                    span,
                    sentence,
                    tuple(qualifier),
                    _is_stated(sentence, start, span, reading),
                )
            is_further = reading.lexicon.code == "es" and (
                bool(qualifier) or word.text in ("de", "del")
            )  # "of the twins"
            if (is_person and not is_further) or _BREAK.search(
                reading.text[sentence.words[index - 1].end : word.start]
            ):
                return None
        if qualifier or (attribute and word.text in _QUALIFIERS):
            qualifier.append(word.text)
            continue
        is_noun = not attribute and word.text in reading.lexicon.generic
        linked = _is_link(word, reading.lexicon) or word.text in reading.lexicon.stop
        if (
            (linked and not is_noun)
            or not word.text.isalpha()
            or _DATED.match(word.text)
            or len(attribute) > _MAX_ATTRIBUTE_WORDS
        ):
            return None
        attribute.append(word.text)
        is_person = reading.lexicon.kin.fullmatch(word.text) is not None
    return None


def _value_after(sentence: Sentence, index: int, reading: Reading, *, is_slot: bool = False) -> Span | None:
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
        _BREAK.search(gap) and not _is_title(left.text)
        for left, gap in zip(found[index - 1 : place], gaps, strict=True)
    ):
        return None
    if (
        any("," in gap for gap in gaps)
        and not _is_code(found[place].text)
        and not _is_apposition(found, place, reading)
    ):
        return None
    quoted = _QUOTED.match(reading.text, found[place].start - 1)
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
    while place < min(len(found), index + _MAX_LINKS) and _is_link(found[place], reading.lexicon):
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


def _is_stated(sentence: Sentence, start: int, span: Span, reading: Reading) -> bool:
    between = [word for word in sentence.words if start <= word.start < span[0]]
    if any(reading.lexicon.copula.fullmatch(word.text) for word in between):
        return True
    if _is_code(reading.text[span[0] : span[1]].lower()):
        links = [word for word in between if _is_link(word, reading.lexicon) and word.text not in _QUALIFIERS]
        return all(word.text in _NEUTRAL for word in links)
    return bool(between) and re.search("[:：—–]|\\s-\\s", reading.text[between[-1].end : span[0]]) is not None


def _is_apposition(found: Sequence[Word], place: int, reading: Reading) -> bool:
    """Whether a person is named between commas ("my boss, Ms. Lindqvist, …")."""
    who = place - 1
    if who > 0 and reading.lexicon.code in ("de", "es") and found[who].text in _ARTICLES:  # "my boss, la señora Ruiz"
        who -= 1
    is_role = reading.lexicon.code == "es" and who >= 0 and _ROLE.fullmatch(found[who].text) is not None
    if who < 0 or not (is_role or reading.lexicon.kin.fullmatch(found[who].text)):
        return False
    return _APPOSED.match(reading.text, found[place].start) is not None


def _is_slot(attribute: Sequence[str], lexicon: Lexicon) -> bool:
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
    )


def _is_code(word: str) -> bool:
    if " " in word or "-" in word:
        return any(_is_code(part) for part in re.split("[ -]", word))
    digits = sum(char.isdigit() for char in word)
    return digits > 0 and (digits >= _MIN_DIGITS or not word.isdigit())


def _counts(text: str, end: int) -> bool:
    """Whether a number is a measure ("75 %", "1,200 words"), not a name of something."""
    return _MEASURED.match(text, end) is not None


def _is_link(word: Word, lexicon: Lexicon) -> bool:
    return lexicon.link.fullmatch(word.text) is not None

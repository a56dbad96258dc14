"""Finds attributes and their values ("my desk is 3F-204"), and new values of attributes that were given before."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from proxy.memory.learn.extract_builtin.chinese_facts import HAN_NAME
from proxy.memory.learn.extract_builtin.lazy import lazy
from proxy.memory.learn.extract_builtin.lexicon import Lexicon, group_of
from proxy.memory.learn.extract_builtin.reading import Reading, Sentence, read_as
from proxy.memory.learn.extract_builtin.slots import BREAK, QUALIFIERS, is_link, is_slot_of, is_stated, value_after
from proxy.text.words import HAS_CJK, TEXTS_KEPT, Span, same_value, same_word

_MAX_ATTRIBUTE_WORDS = 3
_SUPPOSED = lazy(r"\b(?:if|whether)\s+$")
_DATED = lazy(  # names of months and days make no attribute
    r"(?:jan(?:uar[y]?)?|feb(?:ruar[y]?)?|mar(?:ch|z|zo)?|apr(?:il)?|may|mai|june?|juni|july?|juli|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?|"
    r"okt(?:ober)?|nov(?:ember)?|de[cz](?:ember)?|enero|febrero|märz|abril|mayo|junio|julio|agosto|se?ptiembre|octubre|noviembre|diciembre|"
    r"(?:mon|tues|wednes|thurs|fri|satur|sun)day|(?:январ|феврал|март|апрел|ма|июн|июл|август|сентябр|октябр|ноябр|декабр)[ьяейю]?)$"
)
_HAN_NAMED = lazy(HAN_NAME)
_NEW = lazy(r"\b(?:new|neue[nrms]?|nuev[oa]|нов(?:ая|ый|ую|ого|ой|ым))\s+$")
_NEW_AFTER = lazy(r"\w+\s+nuev[oa]\b")
_NEW_HAN = lazy(r"(?:换了?一?[个位名]?(?:新的?)?|新的?|新来的)$")
_NAMED_AFTER = lazy(
    r"\w+(?:\s+nuev[oa])?(?:,|:|\s+[—–-])?\s+(?:(?:is|called|named|ist|heißt|namens|es|se llama|que se llama|llamad[oa]|зовут|это)\s+){0,2}"
    r"(?P<v>(?:(?:Dr|Mrs?|Ms|Frau|Herr|Sra?)\.?\s+)?[A-ZА-ЯЁÄÖÜÁÉÍÓÚÑ][\w'-]+(?:\s+[A-ZА-ЯЁÄÖÜÁÉÍÓÚÑ][\w'-]+)?)(?=\s*(?:$|[.,;!?)]))"
)
_NAMED_AFTER_HAN = lazy(
    r"[\u4e00-\u9fff]{1,4}?[，,]?(?:现在)?(?:名字)?(?:是|叫)(?P<v>[\u4e00-\u9fff]{2,4}?)(?=$|[，。！,!了])"
)
_TITLED = lazy(
    r"\b(?:Herrn?|Frau|Dr|Prof|señora?|Sra?|doctora?|Dra?|don|doña|profesora?|licenciad[oa]|ingenier[oa])\.?\s+$"
)
OF_A_PEOPLE = lazy(
    r"(?i:\w+(?:ish|ese)|dutch|french|welsh|german|greek|italian|american|canadian|australian|russian|ukrainian|indian|brazilian|mexican|norwegian|austrian|belgian|swiss|thai|czech|korean|african|asian|european|catholic|muslim|jewish|christian(?! \w)|hindu|buddhist|quaker|nigerian|ghanaian|kenyan|egyptian|iranian|iraqi|israeli|pakistani|filipino|peruvian|colombian|argentinian|hungarian|romanian|bulgarian|croatian|serbian|estonian|latvian|lithuanian|icelandic|londoner|geordie|scouse\w*|brummie)$"
)
_COLOUR = lazy(r"色的?$|^[红黄蓝绿白黑灰紫粉橙棕]的$")
_MANNER = lazy(
    r"^(?:靠|带|很|挺|比较|非常|特别|有点|早.{1,2}晚)|^(?:新|旧|大|小|圆|方|长|短|二手|单|双|折叠|自动|手动)[^，。]{0,5}的$"
)
_HAN_VALUE = lazy(
    r"(?:的|号码?|名字|现在|已经|目前)*(?:改?(?:是|叫做?|在|为|姓|成了?|换成了?|变成了?|：|:)\s*(?:一?[名位个](?!人)|《)?"
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
            if _SUPPOSED.search(sentence.flat[: match.start()]):
                continue
            if reading.lexicon.code == "zh":
                pair = _han_pair(match, sentence, reading)
            else:
                pair = _pair_after(sentence, sentence.start + match.end(), reading)
            if pair is not None:
                yield pair


@lru_cache(maxsize=TEXTS_KEPT)
def pairs_in(text: str, lexicon: Lexicon) -> tuple[Pair, ...]:
    """Return the pairs of an earlier message of the user."""
    return tuple(pairs(read_as(text, lexicon)))


def renewed(reading: Reading, earlier: Sequence[Pair]) -> Iterator[tuple[Pair, Pair]]:
    """Yield (old, new) where a message gives an attribute of ``earlier`` another value."""
    for sentence in reading.sentences:
        for old in earlier:
            new = _same_attribute(sentence, old, reading) or _new_one(sentence, old, reading)
            told = new is not None and (old.is_stated or new.is_stated or _are_apposed(old, new, reading))
            if new is None or is_of_another_sort(new.value, old.value):
                continue
            if told and not same_value(new.value, old.value):
                yield old, new


def _new_one(sentence: Sentence, old: Pair, reading: Reading) -> Pair | None:
    """Return who a sentence names as the new one of those of whom there was one ("we have a new nanny, Ines")."""
    code, noun = reading.lexicon.code, old.attribute[-1]
    place = sentence.flat.find(noun[:-1] if code == "ru" else noun)
    if place < 0 or not is_called(old.value) or sentence.asks:
        return None
    before, after = sentence.flat[:place], sentence.text[place:]
    named = _NAMED_AFTER_HAN.match(after) if code == "zh" else _NAMED_AFTER.match(after)
    is_new = (_NEW_HAN if code == "zh" else _NEW).search(before) or _NEW_AFTER.match(sentence.flat, place)
    if named is None or not is_new:
        return None
    start = sentence.start + place
    return Pair(old.attribute, named["v"], start, (start + named.start("v"), start + named.end("v")), sentence)


def _are_apposed(old: Pair, new: Pair, reading: Reading) -> bool:
    """Whether both name the same one, both by family name ("my boss, Mrs X, …", "my boss, Mrs Y, …"): a first name may be hers too."""
    before = [pair.sentence.text[: pair.span[0] - pair.sentence.start] for pair in (old, new)]
    titled = [_TITLED.search(text) is not None for text in before]
    if reading.lexicon.code == "ru":  # "my barber X", "my barber Y"
        adjoins = [
            pair.value in pair.sentence.text.partition(pair.attribute[-1])[2][: len(pair.value) + 1]
            for pair in (old, new)
        ]
        return all(adjoins) and not reading.lexicon.many.match(" ".join(old.attribute))
    is_one = reading.lexicon.kin.fullmatch(old.attribute[-1]) is not None and reading.lexicon.code in ("de", "es")
    if not is_one or not all(is_called(pair.value) for pair in (old, new)):
        return False
    return all(titled) or (reading.lexicon.code == "es" and not any(titled))


def is_called(value: str) -> bool:
    """Whether a value is written like the name of a person, and not like what they are or where."""
    return _HAN_NAMED.fullmatch(value) is not None if HAS_CJK.search(value) else value[:1].isupper()


def is_of_another_sort(value: str, other: str) -> bool:
    """Whether only one of two values tells a colour or a manner ("my phone is a X", "my phone is black")."""
    return any((sort.search(value) is None) != (sort.search(other) is None) for sort in (_COLOUR, _MANNER, OF_A_PEOPLE))


def is_description(value: str) -> bool:
    """Whether a value tells how something is, beside which it is much else."""
    return any(sort.search(value) is not None for sort in (_COLOUR, _MANNER, OF_A_PEOPLE))


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
            if not same_word(word.text, wanted) or _is_in_name(sentence, place, reading):
                continue
            skip = place + 1
            for other in old.qualifier:
                skip += skip < len(found) and same_word(found[skip].text, other)
            span = value_after(sentence, skip, reading, is_slot=is_slot_of(old.attribute, reading.lexicon))
            if span is not None:
                return Pair(
                    old.attribute,
                    reading.text[slice(*span)],
                    word.start,
                    span,
                    sentence,
                    old.qualifier,
                    is_stated(sentence, word.start, span, reading),
                )
    return None


def _is_in_name(sentence: Sentence, place: int, reading: Reading) -> bool:
    """Whether an English word stands within a longer name ("Facebook Business Manager")."""
    found = sentence.words
    if reading.lexicon.code != "en" or not 0 < place < len(found) - 1:
        return False
    return all(reading.text[word.start].isupper() for word in found[place - 1 : place + 2])


def _same_han_attribute(sentence: Sentence, old: Pair, reading: Reading) -> Pair | None:
    place = sentence.flat.find(old.attribute[-1])
    if place < 0:
        return None
    match = _HAN_VALUE.match(sentence.flat, place + len(old.attribute[-1]))
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
            span = value_after(sentence, index, reading, is_slot=is_slot_of(attribute, reading.lexicon))
            if span is not None:
                return Pair(
                    tuple(attribute),
                    reading.text[slice(*span)],
                    start,
                    span,
                    sentence,
                    tuple(qualifier),
                    is_stated(sentence, start, span, reading),
                )
            is_further = reading.lexicon.code == "es" and (
                bool(qualifier) or word.text in ("de", "del")
            )  # "of the twins"
            if (is_person and not is_further) or BREAK.search(reading.text[sentence.words[index - 1].end : word.start]):
                return None
        if qualifier or (attribute and word.text in QUALIFIERS):
            qualifier.append(word.text)
            continue
        is_noun = not attribute and word.text in reading.lexicon.generic
        linked = is_link(word, reading.lexicon) or word.text in reading.lexicon.stop
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

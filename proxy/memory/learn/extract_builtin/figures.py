"""Finds figures that a Russian or Chinese message gives anew: another number of the same unit for the same thing."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from proxy.memory.learn.extract_builtin.lazy import lazy
from proxy.memory.learn.extract_builtin.lexicon import Lexicon
from proxy.memory.learn.extract_builtin.numbers import NUMBER_WORD
from proxy.memory.learn.extract_builtin.reading import Clause, Reading, Sentence, read_as
from proxy.memory.learn.extract_builtin.typed import PAST
from proxy.text.words import TEXTS_KEPT, same_word, stems, words

_FIGURE = {
    "ru": lazy(
        rf"(?<![\w.,:/-])(?P<n>\d+(?:[ .,]\d+)*|{NUMBER_WORD}|дв(?:ое|оих)|тро(?:е|их)|четверо|пятеро|шестеро|сорок|\w+(?:надцать|десят|ста|сот)|перв\w+|втор\w+|трет\w+|четверт\w+|пят\w+|шест\w+|седьм\w+|восьм\w+|девят\w+)"
        r"(?: (?P<k>тысяч\w?|тыс|млн|миллион\w*|тыщ))?\.?(?: ?(?P<u>%|₽|\$|€|[а-яa-z]+))?"
    ),
    "zh": lazy(
        r"(?<![\da-z.:-])(?P<n>\d+(?:\.\d+)?|[一二两三四五六七八九十百零]{1,5})(?P<k>万|千|百)?(?P<u>公斤|千克|厘米|公里|平米|平方米|平方|公分|个月|人民币|元|块钱|块|平|米|斤|度|兆|人|岁|名|个[^，。\d]{0,2}|年级|码|楼|层|寸|升|分钟|小时|页|集|章|户|桌|头|亩|吨|万|天|周|点|%)?(?P<t>\d{1,2}|[一二三四五六七八九]{1,2})?(?![\d一二三四五六七八九十])"
    ),
}
_SAME_UNIT = (
    frozenset(("кг", "кило", "килограмм", "килограммов", "килограмма", "kg")),
    frozenset(("см", "сантиметров", "сантиметра")),
    frozenset(("м", "метр", "метров", "метра", "кв", "квадрат", "квадратов", "квадратных", "м²")),
    frozenset(("лет", "год", "года", "годика", "годиков")),
    frozenset(("руб", "рублей", "рубля", "р", "₽")),
    frozenset(("час", "часа", "часов")),
    frozenset(("公斤", "千克")),
    frozenset(("平", "平米", "平方", "平方米")),
    frozenset(("元", "块", "块钱", "人民币", "")),
)
_UNITLESS = lazy(r"(?:на|в|во|и|а|но|у|к|с|со|от|до|по|за|уже|не|я|мы|это|раз|раза|штук\w?)$")
_PART = lazy(  # of a bound, a share or a change, not of the whole
    r"\b(?:до|от|около|через|спустя|после|каждые|по|минимум|максимум|примерно|почти|еще|лишь|за|плюс|минус|осталось|хочу|надо|нужно|лучше)\s*$|(?:到|至|再|还|差|多|少|每隔|超过|不到|最多|最少|大概要|涨了?|降了?|瘦了?|胖了?|省|加|减|花|第|前|后|过|剩)$"
)
_HELD = {
    "ru": lazy(
        r"\b(?:мо[йяеиюё]|моего|моей|моем|моему|моим|моих|наш\w{0,3}|у меня|у нас|я|мы|мне|нам)\b|(?:^|[,;:] )(?:и |а |но )?[а-я]{3,}(?:ю|у|юсь|усь|ем|им)\b|\bу (?:сын|доч|муж|жен|дочк|реб[её]нк|мам|пап)\w*"
    ),
    "zh": lazy(r"[我咱]"),
}
SHOWN = {  # what people find out by
    "ru": lazy(
        r"\b(?:выписк|справк|анализ|замер|перемер|обмер|взвес|весы|весах|медосмотр|посадочн|билет|паспорт|свидетельств|полис|договор|квитанц|приказ|расписани|переписк|смс|смск|письм|документ|инженер|эксперт|лаборатор|узи|рентген|табло|бирк|этикетк|инструкц|повестк|приглашени|чек)\w*\b"
        r".*\b(?:показал|оказал|пришл|приш|вышл|стоит|указан|написан|значит|намерил|насчитал|глянул|посмотрел|выдал|поменял|прислал|приезжал|писал|говорит|черным по белому)\w*|"
        r"\b(?:пришл|пришел|показал|принес|глянул|посмотрел|пересмотрел|перечитал|открыл|поднял|достал|получил|сдал|сверил|проверил|уточнил|перемерил|перевесил|пересчитал|измерил|замерил|взвесил|приезжал)\w*\b.*(?::|—|–|\b(?:там|что|в|показал|оказал|выписк|справк|анализ)\w*)"
    ),
    "zh": lazy(
        r"(?:结果|报告|化验单|单子|房本|合同|通知|短信|邮件|工资条|票|证|检查|体检|尺|秤|仪|师傅|医生|财务|客服|中介)[^，。]{0,8}(?:出来|量|测|查|发|写|说|显示|标|核|打电话|重新)|(?:量|测|查|核|称|数|看|问)(?:了|出来|完|过|了一下|清楚)"
    ),
}
_THING = lazy(r"[它其]")
_ORDINAL_RU = lazy(r"(?:перв|втор|трет|четверт|пят|шест|седьм|восьм|девят)(?:ый|ой|ая|ую|ом|ого|ий|ья|ью|ьем)$")
_ANOTHERS = lazy(
    r"\b(?:сосед|чуж|подруг|друг[ау]?\b|коллег|знаком|приятел|начальни|однокласс|однокурсн)\w*|(?:同事|邻居|朋友|同学|别人|人家|侄子|侄女|表[哥姐弟妹]|堂[哥姐弟妹]|闺蜜|室友)(?!的?房)"
)
_PRONOUN = lazy(r"\b(?:он|она|ему|ей|его|ее)\b|[他她它]")
_ASKS = lazy(
    r"\b(?:ли|сколько|как|что|чем|где|когда|куда|зачем|почему|какой|какая|какую|какие|стоит|можно)\b|[吗呢么]|多少|几|怎|哪|什么|够不|能不"
)
_LEAST_LETTERS = 4
_LONGEST = {"ru": 16, "zh": 30}
_BIGRAM = 2
_IDLE_HAN = lazy(
    r"[我咱的了是有在就都也还又再把被让给从到对和跟与这那不没很太最每现目前已经大概约一个今年其实你他她它吗呢吧啊要会能想可以去来上下里说，、\d一二两三四五六七八九十百千万零]"
)


@dataclass(frozen=True, slots=True)
class Figure:
    """A figure with what it counts, and the words in which it is told.

    Args:
        number: As written, folded.
        unit: What it counts, folded; "" for none.
        value: As written, with its unit.
        topic: The telling stems (pairs of characters) of its clause.
        own: Whether it is told of the speaker or theirs.
        kin: Whose it is, if somebody else's.
        is_part: Whether it is a bound or a share.
        is_past: Whether its clause tells of what was.
        sentence: Where it stands.
    """

    number: str
    unit: str
    value: str
    topic: frozenset[str]
    own: bool
    kin: frozenset[str]
    is_part: bool
    is_past: bool
    sentence: Sentence


def refigured(reading: Reading, earlier: Sequence[str]) -> Iterator[tuple[Figure, Figure, str]]:
    """Yield (new, old, the text of old) where a message tells a figure of the speaker's anew, or puts one right."""
    code = reading.lexicon.code
    if code not in _FIGURE or not earlier:
        return
    told = list(_figures(reading))
    corrects = any(
        cue.search(one.flat)
        for cue in (reading.lexicon.correction, SHOWN[code])
        for one in reading.sentences
        if not one.asks
    )
    done: set[str] = set()
    for new in told:
        if new.is_part or new.value in done:
            continue
        for text in earlier:
            before = _figures_in(text, reading.lexicon)
            if any(old.number == new.number and _is_same_unit(old.unit, new.unit) for old in before):
                continue
            alike = [old for old in before if _is_same_unit(old.unit, new.unit) and old.kin == new.kin]
            shared = [old for old in alike if old.topic & new.topic and not old.is_past]
            if len(shared) == 1 and not new.is_past and new.own and shared[0].own and _goes_on(new, shared[0]):
                done.add(new.value)
                yield new, shared[0], text
            elif corrects and new.unit and len(alike) == 1 and (shared or code == "ru") and _is_alone(new, told):
                done.add(new.value)
                yield new, alike[0], text


def _is_alone(new: Figure, told: Sequence[Figure]) -> bool:
    return len([other for other in told if other.unit == new.unit]) <= _BIGRAM


def _goes_on(new: Figure, old: Figure) -> bool:
    """Whether a figure is told of in the words of before, and of hardly anything else."""
    return len(new.topic & old.topic) * 2 >= min(len(new.topic), len(old.topic))


@lru_cache(maxsize=TEXTS_KEPT)
def _figures_in(text: str, lexicon: Lexicon) -> tuple[Figure, ...]:
    return tuple(_figures(read_as(text, lexicon)))


def _figures(reading: Reading) -> Iterator[Figure]:
    lexicon = reading.lexicon
    idle = (lexicon.hedge, lexicon.additive, lexicon.past, lexicon.limited)
    for sentence in reading.sentences:
        for clause in sentence.clauses:
            found = list(_FIGURE[lexicon.code].finditer(clause.flat))
            found = [match for match in found if _counts(match, lexicon)]
            asks = clause.asks and (_ASKS.search(clause.flat) or not _HELD[lexicon.code].search(clause.flat))
            if not 0 < len(found) <= _BIGRAM or asks or len(words(clause.flat)) > _LONGEST[lexicon.code]:
                continue
            told = clause.flat.removeprefix("если ")  # "… , if I pay 7100?"
            if any(pattern.search(told) for pattern in idle):
                continue
            for match in found:
                yield _figure(match, clause, sentence, reading)


def _figure(match: re.Match[str], clause: Clause, sentence: Sentence, reading: Reading) -> Figure:
    lexicon = reading.lexicon
    unit = match["u"] or ("元" if lexicon.code == "zh" and match["k"] else "")
    if lexicon.code == "ru" and (unit in lexicon.stop or _UNITLESS.fullmatch(unit)):
        unit = ""
    end = match.end() if unit or lexicon.code == "zh" else match.end("k" if match["k"] else "n")
    start, stop = clause.start + match.start(), clause.start + end
    before, after = clause.flat[: match.start()], clause.flat[end:]
    whose = sentence.flat if _PRONOUN.search(clause.flat) else clause.flat
    kin = frozenset(found[0][:4] for found in lexicon.kin.finditer(whose))
    others = _ANOTHERS.search(clause.flat)
    kin |= frozenset((others[0],)) if others else frozenset()
    return Figure(
        match["n"],
        ("№" if _ORDINAL_RU.match(match["n"]) else "") + unit
        or ("тысяч" if match["k"] and lexicon.code == "ru" else ""),
        reading.text[start:stop].strip(),
        _telling(before + "，" + after, lexicon) - _telling(unit, lexicon),
        _is_own(clause, sentence, kin, lexicon),
        kin,
        _PART.search(before) is not None,
        lexicon.code == "ru" and PAST.search(clause.flat) is not None,
        sentence,
    )


def _is_own(clause: Clause, sentence: Sentence, kin: frozenset[str], lexicon: Lexicon) -> bool:
    """Whether a clause tells of the speaker or of theirs, be it with a pronoun for somebody named beside it."""
    held = _HELD[lexicon.code]
    if _PRONOUN.search(clause.flat):
        return bool(kin) and not _THING.search(clause.flat)
    return bool(kin) or bool(held.search(clause.flat)) or (lexicon.code == "ru" and bool(held.search(sentence.flat)))


def _counts(match: re.Match[str], lexicon: Lexicon) -> bool:
    """Whether a figure says how many or much, and is no bare "one"."""
    if lexicon.code == "zh":
        return bool(match["k"] or match["t"]) or (bool(match["u"]) and match["n"] not in ("一", "两", "半"))
    return match["n"].lower() not in ("один", "одна", "одно", "одну")


def _is_same_unit(unit: str, other: str) -> bool:
    if unit == other or any(unit in names and other in names for names in _SAME_UNIT):
        return True
    return bool(unit and other) and same_word(unit, other)


@lru_cache(maxsize=1_024)
def _telling(text: str, lexicon: Lexicon) -> frozenset[str]:
    if lexicon.code == "zh":
        runs = _IDLE_HAN.sub(" ", text).split()
        return frozenset(run[i : i + _BIGRAM] for run in runs for i in range(len(run) - 1))
    found = [word.text for word in words(text) if word.text not in lexicon.stop and len(word.text) >= _LEAST_LETTERS]
    return frozenset(stem for word in found if not word.isdigit() for stem in stems(word))

"""Finds what a message gives another value than before in the same words, as people do who take the change for known."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from proxy.memory.learn.extract_builtin.chinese_facts import KIN as KIN_HAN
from proxy.memory.learn.extract_builtin.lazy import lazy
from proxy.memory.learn.extract_builtin.lexicon import Lexicon
from proxy.memory.learn.extract_builtin.pairs import is_of_another_sort
from proxy.memory.learn.extract_builtin.persons import told_of_persons
from proxy.memory.learn.extract_builtin.reading import Clause, Reading, Sentence, read_as
from proxy.memory.learn.extract_builtin.replacement import overlap
from proxy.memory.learn.extract_builtin.typed import PAST
from proxy.text.words import TEXTS_KEPT, Word, same_word, words

_OWNER = r"(?:(?:我们?|咱们?)(?:家里?|公司|这边|这儿)?的?|家里?的?)"
_ALWAYS = (
    r"(?:一直|现在|目前|如今|眼下|平时|平常|通常|一般|主要|基本|每天|每次|向来|都|就|还|也|已经|全|只|常|多半|固定|,)"
)
_NOUN = r"[^，。！？；、：:,!?;\s我你他她它这那哪谁您咱是叫姓不没有]"
_DOES = r"用|吃|喝|坐|骑|开|靠|走|请|找|订|看|听|穿|戴|选|住"
_ITEM = r"用|吃|喝|坐|骑|开|靠|穿|住"  # of which one has one at a time
_VALUE = r"(?P<v>(?:《[^》]{1,20}》|[^，。！？；、：:,!?;\s的了吗呢吧]{1,12}))(?=的?(?:[，。！；：:,!;\s]|$))"
_STATES = lazy(  # "my budget (I put at) is", "what I drive is", "for commuting I take"
    rf"(?P<own>{_OWNER})?(?P<attr>{_NOUN}{{2,9}}?)(?P<mine>我|咱|我们)?{_ALWAYS}*"
    rf"(?:(?:{_DOES}|定|报|写|挂|留|填|约|排|设|买|养|学|跟|做|带|养)?的?(?:是|为)|[叫姓]|[定改约放排设](?:在|到|为|成))(?:一?[名位个款]|[《“])?{_VALUE}"
)
_CODED = lazy(  # "the front desk's number 0571-88126677"
    rf"(?P<own>{_OWNER})?(?P<attr>{_NOUN}{{2,8}}?){_ALWAYS}*(?:是|为|号|码|:)*(?P<v>[a-z]*\d[\da-z-]{{3,}})$"
)
_USES = lazy(
    rf"(?P<own>{_OWNER}){_ALWAYS}*(?P<attr>{_NOUN}{{2,4}}?){_ALWAYS}*(?P<verb>{_ITEM})(?:的)?(?!得|不|过|完|着|了|起|到|上|出){_VALUE}"
)
_AT = lazy(  # "I get up at half past six"
    rf"(?P<own>{_OWNER})?{_ALWAYS}*(?P<attr>早上|早晨|清早|上午|中午|下午|傍晚|晚上|夜里|半夜|凌晨|工作日|周末)?{_ALWAYS}*"
    r"(?P<v>[\d一二三四五六七八九十两]{1,3}点(?:半|[一三]刻|[\d一二三四五六七八九十零]{1,3}分?)?)(?:左右|就|才|准时|前|多)*(?P<verb>(?![^，。]*了)[^，。！？；、,!?;\s]{2})"
)
_COSTS = lazy(  # "the rent, 3,200": of which a speaker has their own
    rf"(?P<own>{_OWNER})?{_ALWAYS}*(?P<attr>房租|租金|房贷|月供|车贷|物业费|学费|工资|月薪|年薪|底薪|预算|体重|身高|鞋码|腰围)(?:是|有|为|约|大概|,)?"
    r"(?P<v>\d[\d.,]*(?:万|千|百|元|块|公斤|斤|厘米|码|kg|cm)*)(?=$|[，。！；、,;\s])"
)
_PLACED_HAN = lazy(  # "my husband works at X"
    rf"(?:我|咱|我们)(?:家的?|的)?(?P<who>{KIN_HAN}|闺女|娃|老妈|老爸|媳妇|爱人|妹|弟|姐|哥|爸|妈)?{_ALWAYS}*在(?P<v>[^，。！？；、,!?;\s的]{{2,10}}?)(?P<verb>上班|工作|任职|上学|读书|念书|实习|当[^，。]{{1,6}}|做[^，。]{{1,6}}|打工)(?=$|[，。！；,;])"
)
_NEAREST = lazy(
    r"房租|租金|房贷|月供|车贷|物业费|学费|工资|月薪|年薪|底薪|预算|体重|身高|鞋码|腰围|老妈|老爸|娃|闺女|媳妇|爱人|老伴|小孩|宝贝|孙子|孙女|公司|单位|学校|班里"
)
_HEAD_HAN = lazy(r"^.*的(?=..)")  # "of our company"
_IDLE = lazy(  # says of itself that it is no attribute of a person's
    r"^(?:今天|昨天|明天|最近|目的|意思|问题|原因|感觉|觉得|其实|可能|应该|结果|重点|建议|要求|题目|主题|任务|答案|关键|情况|事情|主要|特别|第.|.{0,3}(?:楼[上下]|附近|旁边|对面|隔壁|门口|周围)$|(?:一直|现在|目前|平时|平常|通常|一般|主要|每天|每次|天天)$)|[说想觉得问知道以为希望]$"
)
_POSSESSED = lazy(
    r"\b(?:мо[йяеиюё]|моего|моей|моем|моему|моим|наш\w{0,3}|у меня|у нас)\b|^(?:я|мы) (?!(?:чита|смотр|слуша|зна|уч|изуча|игра|собира|хоч|дума|счита)\w+)\w+(?:ю|у|юсь|усь|ем|им)\b|^(?!(?:чита|смотр|слуша|зна|уч|изуча|игра|собира|хоч|дума|счита|люб|обожа|ем|пью|еду|ед[еу]|иду|лечу|лети|покупа|куп|ищ|жду|жд|вижу|пиш|помн|прош|пойд|поед|бу[дт]|мог|може|пользу|пробу|плани|мечта|вспомин|рекоменд|коллекц|говор)\w*)[а-я]{3,}(?:ю|у|юсь|усь|ем|им)\b"
)
_SEVERAL_RU = lazy(
    r"\b(?:друж\w+|люб\w+|знаком\w+|обожа\w+|нрав\w+|быва\w+|друг|друзья|подруг\w+|коллег\w+|ездит|ходит)\b"
)
_MEASURED_RU = lazy(
    r"\b(?:вешу|мо[йеюяи]|моих|моем|моими?|моего|моей|мне|рост[ае]?|ношу|размер\w?)(?: (?:уже|теперь|сейчас|сейчас уже|целых|все|всего|примерно|около|рост|вес|ростом|весом|росте|весе|размер|на|в|у|меня)){0,3} "
    r"(?P<v>\d+(?:[.,]\d)? ?-?(?P<unit>кг|кило|см|лет|год|года|размер))(?:а|е|ом|у|грамм\w*)?\b"
)
_GREW_RU = lazy(  # "I have shot up to 175", "my height is 168"
    r"\b(?P<см>(?:я |уже )?(?:вымахал|вырос|дорос|подрос|вытянул)\w*(?: \w+){0,2} до|(?:мой )?рост(?: у меня| мой)?(?: уже| теперь)?) (?P<v_см>[12]\d\d)(?!\d| ?(?:кг|лет|руб))"
    r"|\b(?P<кг>(?:похудел|схуднул|поправил|потолстел|раздобрел|отъел|сбросил|скинул|набрал|усох)\w*(?: \w+){0,2} до|(?:мой )?вес(?: у меня| мой)?(?: уже| теперь)?|вешу) (?P<v_кг>\d{2,3})(?!\d| ?(?:см|лет|руб))"
)
_GREW_HAN = lazy(
    r"(?:身高|(?:蹿|长|窜|拔|高)到了?)(?:是|有|约)?(?P<身高>1\d\d|2[01]\d)(?!\d|块|元|斤)|(?:体重|(?:瘦|减|胖|掉|涨|降)到了?)(?:是|有|约)?(?P<体重>\d{2,3}(?:\.\d)?(?:公斤|斤|kg)?)(?!\d|块|元|分|名)"
)
_FILLERS_RU = frozenset(("я", "мы", "уже", "теперь", "сейчас", "если", "и", "а", "ну", "вот", "раз", "пока", "давно"))
_LEAST_WORDS, _MOST_WORDS = 3, 7  # of Russian before a name


@dataclass(frozen=True, slots=True)
class Restated:
    """What a clause says of an attribute.

    Args:
        key: The attribute, without what may be left out.
        value: As written.
        own: Whether it says whose it is.
        sentence: Where it stands.
        told: The value with the particle after it.
    """

    key: tuple[str, ...]
    value: str
    own: bool
    sentence: Sentence
    told: str = ""


def restated(reading: Reading, earlier: Sequence[str]) -> Iterator[tuple[Restated, Restated, str]]:
    """Yield (new, old, its text) where a message gives an attribute of the speaker's another value than before."""
    if reading.lexicon.code not in ("ru", "zh"):
        return
    for new in _told(reading):
        for text in earlier:
            for old in _told_in(text, reading.lexicon):
                if old.key != new.key or not (old.own or new.own) or overlap(new.value, old.value):
                    continue
                if not is_of_another_sort(new.told, old.told):
                    yield new, old, text


@lru_cache(maxsize=TEXTS_KEPT)
def _told_in(text: str, lexicon: Lexicon) -> tuple[Restated, ...]:
    return tuple(_told(read_as(text, lexicon)))


def _told(reading: Reading) -> Iterator[Restated]:
    lexicon = reading.lexicon
    thought = (lexicon.past, lexicon.additive)
    idle = (lexicon.hedge, lexicon.limited, PAST)
    for sentence in reading.sentences:
        for clause in sentence.clauses:
            if lexicon.code == "ru":
                yield from _measured(clause, sentence, reading)  # in a question too
            if clause.asks or any(pattern.search(clause.flat) for pattern in thought):
                continue
            for told in told_of_persons(clause, sentence, reading):
                yield Restated(told.key, told.value, told.own, sentence)
            told_of = clause.flat.removeprefix("если ")  # "… , if my plan is X?"
            if not any(pattern.search(told_of) for pattern in idle):
                found = _in_han if lexicon.code == "zh" else _in_russian
                yield from found(clause, sentence, reading)


def _in_han(clause: Clause, sentence: Sentence, reading: Reading) -> Iterator[Restated]:
    others = reading.lexicon.kin.search(clause.flat) is not None
    for grown in () if others else _GREW_HAN.finditer(clause.flat):
        sort = grown.lastgroup or ""
        value = reading.text[slice(*(clause.start + place for place in grown.span(sort)))]
        yield Restated((sort, ""), value, own=True, sentence=sentence)
    text, told = clause.flat.strip(), reading.text[clause.start : clause.end].strip()
    placed = _PLACED_HAN.match(text)
    if placed:
        value = told[slice(*placed.span("v"))]
        yield Restated((placed["who"] or "我", "在" + placed["verb"][:2]), value, own=True, sentence=sentence)
    for pattern in (_STATES, _USES, _AT, _COSTS, _CODED):
        match = pattern.match(text)
        if match is None or _IDLE.search(match["attr"] or ""):
            continue
        attribute, lexicon = match["attr"] or "", reading.lexicon
        whose = _HEAD_HAN.match(attribute)
        if whose and not any(kin.search(whose[0]) for kin in (lexicon.kin, _NEAREST)):
            attribute = attribute[whose.end() :]
        attribute = attribute.replace("的", "")
        several = lexicon.many.match(attribute) and not lexicon.slot.match(attribute)
        if several or lexicon.kin.fullmatch(attribute):
            continue
        own = bool(match["own"] or match.groupdict().get("mine")) or any(
            kin.match(attribute) for kin in (lexicon.kin, _NEAREST)
        )
        verb = match.groupdict().get("verb") or ""
        value = told[slice(*match.span("v"))]
        sort = value + ("的" if text.startswith("的", match.end("v")) else "")
        yield Restated((attribute, verb), value.strip("《》“”"), own, sentence, sort)


def _in_russian(clause: Clause, sentence: Sentence, reading: Reading) -> Iterator[Restated]:
    """Yield the name that ends a clause about something of the speaker's ("my dog eats X")."""
    found = words(reading.text[clause.start : clause.end])
    text = reading.text[clause.start : clause.end]
    first = next((place for place, word in enumerate(found) if place and _is_name(text, word)), None)
    if first is None or not _LEAST_WORDS <= first <= _MOST_WORDS:
        return
    head = text[: found[first].start].lower().removeprefix("если ")
    if not _POSSESSED.search(head) or _SEVERAL_RU.search(head):
        return
    last = first
    while last + 1 < len(found) and _is_name(text, found[last + 1]):
        last += 1
    if last + 1 == len(found) or not same_word(found[last].text, found[last + 1].text):
        key = tuple(word.text for word in found[:first] if word.text not in _FILLERS_RU)
        yield Restated(key, text[found[first].start : found[last].end], own=True, sentence=sentence)


def _measured(clause: Clause, sentence: Sentence, reading: Reading) -> Iterator[Restated]:
    """Yield what the speaker says in passing to measure, or to be of age ("with my 84 kg", where "I weigh 92 kg" was said)."""
    if reading.lexicon.kin.search(clause.flat):
        return
    for match in _GREW_RU.finditer(clause.flat):
        sort = next(name for name in ("см", "кг") if match[name])
        span = match.span(f"v_{sort}")
        yield Restated(
            (sort,), reading.text[clause.start + span[0] : clause.start + span[1]], own=True, sentence=sentence
        )
    for match in _MEASURED_RU.finditer(clause.flat):
        value = reading.text[slice(*(clause.start + place for place in match.span("v")))]
        unit = {"год": "лет", "года": "лет", "кило": "кг"}.get(match["unit"], match["unit"])
        yield Restated((unit,), value, own=True, sentence=sentence)


def _is_name(text: str, word: Word) -> bool:
    return text[word.start].isupper() or (word.text.isascii() and word.text.isalpha())

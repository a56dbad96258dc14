"""Finds what is told of persons around the speaker: who holds an office, what somebody does for a living, what they measure."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from proxy.memory.learn.extract_builtin.chinese_facts import HAN_NAME
from proxy.memory.learn.extract_builtin.chinese_facts import KIN as KIN_HAN
from proxy.memory.learn.extract_builtin.lazy import lazy
from proxy.memory.learn.extract_builtin.reading import Clause, Reading, Sentence
from proxy.memory.learn.extract_builtin.russian_facts import KIN as KIN_RU

_OFFICE_RU = lazy(
    r"\b(?:(?P<sort>научн|классн|генеральн|финансов|участков|лечащ|непосредственн|семейн|детск)\w+ )?(?P<office>руководител|начальни[кц]|директор|классн(?=ая|ой|ую|ый|ого|ым)|тренер|репетитор|"
    r"педиатр|терапевт|стоматолог|гинеколог|невролог|кардиолог|эндокринолог|ортодонт|логопед|психолог|психотерапевт|ветеринар|врач|доктор|парикмахер|маникюрш|бухгалтер|нотариус|адвокат|юрист|риелтор|нян[яиюе]|сиделк|"
    r"куратор|инструктор|преподавател|учител|воспитател|наставни[кц]|староста|завуч|хозя(?:йк|ин)|арендодател|квартирант|домработниц|уборщиц|дирижер|хормейстер|вожат|завкафедрой|шеф|босс|редактор|агент|секретар)[а-я]{0,4}(?P<of> по [а-я]+)?\b"
)
_BETWEEN_RU = lazy(
    r"(?:\s*(?:[-–—:]|\b(?:у (?:нас|меня|него|нее|сына|дочки|дочери|детей|ребенка)|теперь|сейчас|зовут|это|его|ее|новый|новая|новую|нового|сына|дочери|дочки|мой|моя|наш|наша|стал|стала|ныне|в этом году|группы|курса|класса|отдела|кафедры|проекта|участка|смены|хора|садика|школы)(?=\s|$)))*\s*"
)
_NAME_RU = lazy(r"[А-ЯЁ][а-яё]+(?:[- ][А-ЯЁ][а-яё]+){0,2}")
_TRADE_RU = (
    r"(?P<v>(?:[а-я]{2,}(?:ист|истк|тел|тельниц|щик|щиц|чик|чиц|ник|ниц|нер|тер|дер|вер|лер|мер|жер|сер|ор|яр|ар|лог|граф|ант|ент|евт|атр|ач|вец|рург|пед|вод|вед|вар|дел|ур|льер|евод|олаз|смен|мейстер)"
    r"|врач|повар|шве|нян|медсестр|медбрат|адвокат|нотариус|моряк|пилот|юрист|кузнец|ткач|акушерк|сиделк|стюардесс|балерин|актрис|поэт|судь|портн|бортпроводник)(?:а|я|и|ь|ом|ем|ой|ей|ею|ью|ым)?)"
)
_TRADES_RU = lazy(
    rf"\b(?P<kin>{KIN_RU}|свекор|тесть|тещ\w|свекровь|внук|внучка)(?:,| у меня| у нас| мо[йя]| теперь| сейчас| нынче| уже| по профессии| по специальности| недавно| давно| всю жизнь| с недавних пор| с \w+а)*"
    rf"(?: [-–—] (?:теперь |сейчас )?| (?:работает|трудится|служит|устроил\w+|пашет|стала?|подрабатывает)(?: теперь| сейчас| уже| у нас)* (?!в |на )| (?=[а-я]+(?:,|$| по | в | на | [а-я]+(?:$|[,.])))){_TRADE_RU}(?=$|[,.!;:)]| (?:по|в|на|и|у|с|при|теперь|сейчас)\b| [а-я]+(?:$|[,.!]))"
)
_NO_TRADE_RU = lazy(
    r"(?:характер|размер|номер|вечер|мотор|телевизор|компьютер|свитер|доллар|кошмар|товар|пожар|базар|гитар|пример|клевер|ковер|сервер|ветер|договор|забор|разговор|прибор|выбор|мусор|холодильник|чайник|учебник|понедельник|вторник|праздник)[а-я]{0,2}$"
)
_FORMER_RU = lazy(r"\b(?:бывш|прежн|прошл|стар|предыдущ|экс)\w* ?")
_OURS_RU = lazy(r"\b(?:мо[йяеию]|моего|моей|моему|моим|наш\w{0,3}|у меня|у нас)\b")
_HIS = lazy(r"\b(?:его|ее|их|твой|твоя|ваш\w?|чей-то|чужой|чужая|соседск\w+)\s*$")
_OFFICE_HAN = lazy(
    r"(?P<office>班主任|导师|教练|主管|经理|老板|房东|领导|组长|主任|校长|园长|师傅|保姆|月嫂|家教|私教|主治医生|医生|大夫|牙医|咨询师|理发师|发型师|责编|编辑|律师|会计|中介|管家|[\u4e00-\u9fff]{2}老师|老师|秘书|助理)(?:现在|如今|已经)?"
    rf"(?:叫|是|姓|换成了?|换了|变成了?|改成了?)?(?P<v>[A-Za-z]+|(?!马上|高兴|常常|方便|白天|严格|于是|夏天|万一|任何|向来|金额|江湖|方案|方式|方法|高级|白菜|石头|金牌|许多|何时|何必){HAN_NAME})(?=[，。！；、,!;\s]|$|[说给让要把跟对带教发很人想也就的服态负真挺这那回来去打做写讲上请催又还都已每昨今刚老总叫劝推剪帮问不太答约开量查洗补用]|特别|建议|觉得|今天|昨天|老师)"
)
_MEASURED_HAN = lazy(
    rf"(?:(?P<own>我|咱)(?:们?家)?(?:的)?)?(?P<who>{KIN_HAN}|闺女|娃|宝贝|媳妇|爱人|老伴|小孩|孙子|孙女|老大|老二|老妈|老爸|婆娘)?[^，。\d]{{0,6}}?(?P<verb>穿|戴|读|上|念|重|高|睡|住|坐|喝|吃|跑|走|量)(?:的?(?:是|到|了|有)?)(?P<v>(?:\d+(?:\.\d+)?|[一二三四五六七八九十]{{1,3}})(?P<unit>码|号|公斤|斤|厘米|公分|年级|班|级|楼|层|路|号线|毫升|毫克|片|粒|度|公里|步))(?!到|至|-|的时候)"
)


@dataclass(frozen=True, slots=True)
class Told:
    """What a clause tells of a person.

    Args:
        key: Of whom, and what.
        value: As written.
        own: Whether it is plain that the speaker has to do with them.
    """

    key: tuple[str, ...]
    value: str
    own: bool


def told_of_persons(clause: Clause, sentence: Sentence, reading: Reading) -> Iterator[Told]:
    """Yield what a Russian or Chinese clause tells of persons."""
    text = reading.text[clause.start : clause.end]
    if reading.lexicon.code == "zh":
        yield from _in_han(clause, sentence, text)
    else:
        yield from _in_russian(clause, sentence, reading)


def _in_russian(clause: Clause, sentence: Sentence, reading: Reading) -> Iterator[Told]:
    flat, text = clause.flat, reading.text[clause.start : sentence.end]
    whole = sentence.flat[clause.start - sentence.start :]
    for match in () if _FORMER_RU.search(flat) else _OFFICE_RU.finditer(flat):
        between = _BETWEEN_RU.match(whole, match.end())
        name = _NAME_RU.match(text, between.end() if between else match.end())
        if name:
            own = _OURS_RU.search(sentence.flat) or reading.lexicon.kin.search(sentence.flat)
            yield Told((match["office"][:6], match["of"] or ""), name[0], own is not None)
            return
    for match in _TRADES_RU.finditer(whole[: len(flat) + 40]):
        if match.start() < len(flat) and not _NO_TRADE_RU.search(match["v"]) and not _HIS.search(flat[: match.start()]):
            yield Told(("trade", match["kin"][:3]), text[slice(*match.span("v"))], own=True)
            return


def _in_han(clause: Clause, sentence: Sentence, text: str) -> Iterator[Told]:
    office = _OFFICE_HAN.search(clause.flat)
    if office:
        own = re.search(r"[我咱]|孩子|女儿|儿子|娃|公司|单位", sentence.flat) is not None
        yield Told(("office", office["office"]), text[slice(*office.span("v"))], own)
    measured = _MEASURED_HAN.search(clause.flat)
    if measured and (measured["own"] or measured["who"]):
        key = ("measure", measured["who"] or "", measured["verb"] + measured["unit"])
        yield Told(key, text[slice(*measured.span("v"))], own=True)

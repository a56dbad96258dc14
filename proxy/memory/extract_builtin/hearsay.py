"""Knows what a message tells of that did not happen, or only once: rumours denied, what-ifs, a lesson called off."""

from __future__ import annotations

import re

from proxy.memory.extract_builtin.reading import Clause, Reading, Sentence

_REPORTED = {
    "ru": re.compile(
        r"\b(?:слух\w*|шеп(?:чут|тал)\w*|сплетн\w*|сплетнича\w+|молв\w|поговаривают|болтают|судачат|треплют\w*|(?:рас|на)трезвонил\w*|растрепал\w*|разболтал\w*|разнес(?:ла|ли)? (?:весть|по)|"
        r"пустил\w? (?:слух|утку|сплетню)|кто-то (?:\w+ )?(?:пустил|решил|сказал|ляпнул|написал|распустил)\w*|(?:все|родня|родные|соседи|соседка|коллеги|друзья|народ|кругом|тетя|тетка|свекровь|теща|некоторые) (?:\w+ )?"
        r"(?:думают|думает|решил\w?|уверен\w?|считают|считает|говорят|твердят|твердит|похоронил\w?|уже)|якобы|фейк\w*|утка)\b"
    ),
    "zh": re.compile(
        r"(?:谁|有人|群里|外面|外头|他们|她们|大家|别人|同事|邻居|亲戚|同学|网上|到处|全[村网公单]\S?)[^，。我]{0,8}(?:在?传|造谣|瞎说|乱说|胡说|嚼舌|八卦|说我|说咱|以为我|以为咱|当我)|谣言|传言|传闻|流言|风言风语|风声|误传|谣传|讹传|以讹传讹|辟谣|被传"
    ),
}
_REFUTED = {
    "ru": re.compile(
        r"\b(?:преувеличен\w*|неправд\w|вранье|вранья|врут|враки|ложь|ерунд\w|чушь|бред\w*|ничего подобного|ничего такого|брехн\w|домысл\w+|выдумк\w|утка|фейк|"
        r"никуда (?:я |мы |он |она )?не \w+|(?:и )?не (?:думал|собирал|планировал)\w*|и в мыслях не\w*|не верь\w*|не соответству\w+|на месте|как (?:жил|был|ходил|пил|работал|играл)\w*,? так и|по-прежнему|все так же|с места не|остаюсь|остаемся)\b"
    ),
    "zh": re.compile(
        r"没有的事|没(?:有)?(?:这|那)(?:么)?(?:一)?(?:回|码)?事|没影|假的|不实|不是真的|子虚乌有|瞎传|胡说|胡扯|瞎扯|瞎编|造谣|谣言|辟谣|误会|一步(?:都|也)?没|压根(?:就)?没|根本(?:就)?没|并没有?|哪(?:儿|里)?(?:都|也)没|好好的|照(?:旧|样|常)|没(?:动|挪|换|走|离开|搬|停|断|分|退|变)|别信|还(?:在|住|用|吃|是)"
    ),
}
_GOES_ON = {  # the speaker's own goes on, said in a sentence of its own
    "ru": re.compile(
        r"^\W*(?:(?:ну|а|но|и|сам[аи]?|лично|при этом|у меня|у нас) )*(?:я|мы|мой|моя|мое|мои|наш|наша|наши|сам|сама|сами|у меня|у нас)(?:-то)?\b.{0,30}\b(?:по-прежнему|исправно|продолжа\w+|все так же|никуда не \w+|и не думал\w*|как (?:жил|был|ходил|пил|работал|играл)\w*,? так и|остаюсь|остаемся|не бросал\w?|не менял\w?|не пропускал\w?|не собираюсь)\b"
    ),
    "zh": re.compile(
        r"我(?:自个儿|自己|本人|这边|家里?|们)*(?:可|倒|的)?(?:是)?[^，。]{0,5}(?:一[顿天次步回片粒](?:都|也)?没|没(?:落|断|停|动|搬|换过|退|耽误)|照[吃用喝住常旧样]|还(?:在[吃用喝住学上练]|是老样子|好好)|天天[吃用喝练]|好好的)"
    ),
}
_ONCE = {  # one meeting of many is called off or put off
    "ru": re.compile(
        r"\b(?:сегодняшн|завтрашн|вчерашн|ближайш|субботн|воскресн|очередн)\w+ (?:\w+ )?(?:урок|заняти|тренировк|сеанс|прием|встреч|репетици|лекци|пар[уыа]|семинар|созвон|собрани|рейс|матч|игр|концерт|визит|запис|консультаци|смен)\w*|"
        r"\bперен(?:ес|ос)\w* (?:\w+ ){0,4}на (?:следующ|друг|завтра|понедельник|вторник|сред|четверг|пятниц|суббот|воскресень|вечер|утро|\d|потом)\w*|\bсдвин\w+ на\b|\bотлож\w+ (?:\w+ ){0,3}(?:на|до)\b|"
        r"\b(?:закрыт|закрыл)\w*(?: \w+){0,4} на (?:ремонт|учет|переучет|обед|карантин|каникул|санитарн|профилактик|праздник|выходн|реконструкц|дезинфекц|инвентаризац)\w*|"
        r"\b(?:эт(?:от|у|о)|один|одну|одно) (?:урок|заняти\w|тренировк\w|сеанс|прием|встреч\w|репетици\w|раз)\b"
    ),
    "zh": re.compile(
        r"(?:今[天晚早儿]|明[天早晚儿]|后天|昨[天晚]|这[次周节堂场回期]|本[周次期]|下(?:周|次|节|个?星期)|上周)[^，。]{0,5}(?:课|训练|练习|排练|活动|约|预约|见面|聚会|聚餐|比赛|例会|会|值班|门诊|演出|直播|航班|饭局|局|体检|复诊|拜访)[^，。]{0,8}(?:取消|停|推|改|延|黄|泡汤|不上|不来|没来|请假|调|挪)|"
        r"(?:取消|停|推掉|推迟|改|调)(?:了|掉)?(?:今[天晚早]|明[天早晚]|后天|这[次周节堂场]|本周|下周)[^，。]{0,6}(?:课|训练|排练|活动|约|见面|聚|比赛|会|班|门诊|演出|直播)|顺延|改期|延期到|推迟到|[改挪延调]到(?:周|星期|礼拜|下|明|后)|(?:装修|检修|维护|盘点|消毒|放假|停电|停水|休整)[^，。]{0,6}(?:停|关|休|歇)|(?:停|关|休|歇)[^，。]{0,3}(?:一|两|三|半|几|\d)(?:次|[天个]|周)|补课|下次再补|择日|另约|改天再"
    ),
}
_WHAT_IF = re.compile(
    r"会(?:怎|有|不会|出|发生|影响|死|咋)|有(?:什么|啥|没有)(?:后果|影响|风险|副作用|坏处|危险)|(?:可以|行|能|好|安全|要紧|危险|合适|划算|犯法|违法)(?:吗|么|不)|咋样|怎么样|后果"
)
_TELLS_DONE = re.compile(r"[了过已刚]|我|咱")


HEARSAY = frozenset(_REPORTED)  # the languages of which this is known


def is_hearsay(reading: Reading, place: int) -> bool:
    """Whether a sentence of one of ``HEARSAY`` tells of what others say and the speaker denies, of one meeting only, or what the next one says goes on."""
    code, sentence = reading.lexicon.code, reading.sentences[place]
    if _ONCE[code].search(sentence.flat):
        return True
    near = reading.sentences[max(0, place - 1) : place + 3]
    if any(_REPORTED[code].search(one.flat) for one in near[:3]) and any(
        _REFUTED[code].search(one.flat) for one in near
    ):
        return True
    after = reading.sentences[place + 1 : place + 3]
    return any(_GOES_ON[code].search(one.flat) for one in after if not one.asks)


def is_supposed(sentence: Sentence, clause: Clause, code: str) -> bool:
    """Whether a Chinese clause is what a question asks the consequences of ("stopping X all at once, what would happen?")."""
    if code != "zh" or not sentence.text.endswith(("?", "？")) or clause is sentence.clauses[-1]:
        return False
    asks = [other for other in sentence.clauses if other.asks and other.start > clause.start]
    return any(_WHAT_IF.search(other.flat) for other in asks) and not _TELLS_DONE.search(clause.flat)

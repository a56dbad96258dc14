"""Reads in Russian and Chinese that what a clause is about has left the speaker: given, taken, wrecked, spent, or gone to live elsewhere."""

from __future__ import annotations

import re

from proxy.memory.learn.extract_builtin.lazy import lazy
from proxy.memory.learn.extract_builtin.lexicon import one_of
from proxy.memory.learn.extract_builtin.mentions import NOUN, Mention
from proxy.memory.learn.extract_builtin.reading import Clause, Sentence
from proxy.memory.learn.extract_builtin.scan import Scan
from proxy.text.words import flat, words

_WHOM_RU = (
    r"(?:брат|сестр|сын|доч|внук|внучк|племянни|сосед|друг|друзь|подруг|коллег|знаком|мам|пап|отц|отец|мат[еь]|родител|тет|дяд|тещ|тест|свекр|свекров|кум|крестни|шурин|зят|невестк|бывш|"
    r"хозя|владел|парен|парн|мужик|девушк|женщин|перекуп|покупател|студент|школ|детск|музе|прию|церк|храм|фонд|библиотек|государств|банк|пристав|нов\w+ (?:хозя|владел)|друг\w+ (?:хозя|владел|люд))\w*"
)
_ADVERBS_RU = r"(?:(?:я|мы|мне|нам|у|меня|нас|теперь|уже|вчера|недавно|наконец|все-таки|давно|тоже|в|итоге|потом|сам|сама|само|просто|на|прошлой|неделе|днях|\w+ом|\w+ой) ){0,4}?"
_GONE_RU = one_of(  # right behind a thing, its name or its class
    rf"(?:ушел|ушла|ушло|ушли|улетел\w?|разлетел\w+) (?:за (?:\w+ ){{0,3}}?(?:тысяч\w*|тыщ\w*|руб\w*|штук\w*|косар\w*|копейк\w*|бесценок|гроши|\d+\w*)|с торгов|по объявлению|{_WHOM_RU}|в (?:хорошие|добрые|чужие|надежные) руки)",
    rf"(?:переш(?:ел|ла|ло|ли)|перекочевал\w?|достал(?:ся|ась|ось|ись)|продал(?:ся|ась|ось|ись)|принадлежит|отош(?:ел|ла|ло|ли)|уехал[аои]?|переехал[аои]?) (?:\w+ )?(?:к |в руки |во владение |в собственность )?{_WHOM_RU}|продал(?:ся|ась|ось|ись)\b",
    rf"(?:{_WHOM_RU} (?:\w+ )?)?(?:забрал|увез|взял|унес|увел|прибрал|купил|приютил|присвоил)\w* (?:\w+ ){{0,2}}?(?:к себе|себе|насовсем|навсегда|{_WHOM_RU})|(?:выкупил|отсудил|отжал|конфисковал|изъял)[аи]?\b",
    r"(?:стащил|украл|спер|сперл|стибрил|раскурочил|разворовал|растащил|разломал|расколотил|угробил|изничтожил|сожр|сгрыз|сожг|спалил|сожрал|размолотил|разнес|разнесл|раздавил|расплющил)[аои]?\b",
    r"(?:унес|смы|сдуло|сдул|снес|повали|раздави|засыпа|завали|разби)л?[ао]\b|разбил\w* вдребезги|(?:утону|затону|рухну|рассыпа|развали|разлете|истле|проржаве|расплави|сгоре)л[аои]?(?:с[ья])?\b",
    r"(?:пошел|пошла|пошло|пошли|ушел|ушла|ушло|ушли|отправил\w+|дош(?:ел|ла|ло|ли)|полетел[аои]?|приехал\w?|улетел\w?|сдан\w?|пущен\w?) (?:\w+ )?(?:на|в|во|под|до) (?:лом|металлолом\w*|слом|свалк\w|помойк\w|мусорк\w|мусорн\w+|дров\w|тряпк\w|тряпочк\w|запчаст\w|растопк\w|макулатур\w|утил\w+|переплавк\w|разбор\w*|списани\w|снос|нож|печ\w|печк\w|топк\w|костер|компост|окно|ведро|бак|контейнер)\b",
    r"(?:заглох|сдулс|скис|увял|накрыл|схлопнул|прогорел|рассосал|выдохс|выдохл|закис|захирел|загнул|прикрыт|разошл)\w*\b|не (?:прижил|окупил|взошел|взошл|пережил|выстоял)\w*",
    r"не (?:мой|моя|мое|мои|наш|наша|наше|наши)\b|у (?:нов\w+|друг\w+) (?:хозя|владел|люд)\w*|(?:ездит|живет|стоит|служит|бегает|работает) (?:под|у|на) (?:друг|нов|чуж|сосед|племян|брат|сестр)\w*|без (?:меня|нас)\b(?= *$)|чуж(?:ой|ая|ое|ие)\b",
    r"остал(?:ся|ась|ось|ись) (?:\w+ )?в (?:прошл|прежн|той|старой|другой)\w*(?: \w+)?|(?:вернул|возвратил)[аи]? (?:\w+ ){0,2}?(?:владел|хозя|прежн|в прокат|в пункт|туда,? где)\w*|лег(?:ла|ло|ли)? (?:\w+ )?(?:на|в) (?:полк|дальн|архив)\w*",
    r"(?:мне |нам |ей |ему |сыну |дочке |дочери )?(?:больше |теперь |уже |стал[аои]? )+(?:мне |нам )?(?:не нуж(?:ен|на|но|ны)|ни к чему|без надобности)\b|не (?:набирает|набрал\w*|набира\w+)(?:с[ья])?\b",
    r"(?:спел|сыграл|отыграл|провел|провела|отработал|откатал|отслужил|отдежурил|выпустил|записал|отпахал|отвел|отвела|сдал|внес|внесла|доиграл|отвез|отвезла)а? (?:\w+ ){0,2}?(?:последн|прощальн)\w+|(?:дошил|доходил|допел|доигра|довез|дотяну|доплати|донос)л?[аи]? .{0,25}(?:и все|и хватит|и на этом все|и точка)\b",
    r"(?:доктор|врач|\w+олог|\w+евт|психиатр|педиатр) (?:\w+ )?(?:зачеркнул|вычеркнул|снял|убрал|исключил|отменил|запретил|заменил|вывел)\w*|мне (?:сняли|отменили|убрали|запретили|зачеркнули)\b|(?:исключил|зачеркнул|вычеркнул|распустил|прикрыл|упразднил|разогнал)[аи]?\b",
)
_AROUND_RU = tuple(  # what stands before it, and what behind
    (lazy(before), lazy(behind))
    for before, behind in (
        (
            r"\b(?:лишил(?:ся|ась|ись)|лишен\w?) (?:я |мы )?(?:сво\w+ )?$|\bне(?:ту|т) (?:у (?:меня|нас) )?(?:больше|уже|теперь) (?:ни )?$",
            r"",
        ),
        (
            r"\bне (?:(?:уберег|убереч|спас|сберег|выходил|удержал|отстоял|доглядел|углядел|сохранил|вытянул|осилил|дотянул)\w*) (?:я |мы |мне |нам )?(?:сво\w+ |наш\w+ |мо\w+ )?$",
            r"",
        ),
        (r"\bот (?:мо\w+ |наш\w+ |сво\w+ )?$", r"(?: \w+){0,2} (?:оста(?:л|ли)\w*|отуч\w+|отваж\w+|отлуч\w+)\b"),
        (
            r"\b(?:обхожусь|обходимся|живу|живем|сплю|справляюсь|справляемся) (?:\w+ )?без $",
            r".*\b(?:уже|теперь|давно|месяц|недел\w+|год)\b|\W*$",
        ),
        (
            r"\b(?:курс|последнюю пачку|упаковку) $",
            r"(?: \w+){0,2} (?:я |мы )?(?:прош|пропил|допил|заверш|законч|окончен|пройден|закрыл|доел|выпил)\w*",
        ),
        (
            r"\b(?:с|со) (?:мо\w+ |наш\w+ |сво\w+ )?$",
            r"(?: \w+){0,3}? (?:слез|спрыгнул|соскочил|сош(?:ел|л)|рассчитал(?:с|а)|разбежал|разош|разъехал|распрощал|расплевал|не сложил|не срос|не пошло|не вышло|завяз)\w*",
        ),
        (r"\bна (?:мо\w+ |наш\w+ |сво\w+ )?$", r"(?: \w+){0,2} (?:забил|плюнул|махнул)а?(?= *$)"),
        (
            r"\b(?:в|во) (?:мо\w+ |наш\w+ |сво\w+ )?$",
            r"(?: \w+){0,3}? (?:спел|сыграл|отыграл|провел|провела|отработал|откатал|отслужил|отдежурил|отвел|отвела)а? (?:\w+ ){0,2}?(?:последн|прощальн)\w+|.*\bи (?:на этом все|хватит|точка)\b",
        ),
    )
)
_LEFT_HOME_RU = lazy(
    r"(?:упорхнул|выпорхнул|доучил|выпустил|съехал|переехал|перебрал|выехал|уехал|отчалил|эмигрировал|свалил|слинял|улетел|укатил|отселил|сбежал|выселил|отбыл|умотал|вылетел|перекочевал)[аи]?(?:с[ья])?\b|(?:собрал|упаковал)[аи]? (?:\w+ )?(?:чемодан|вещ|манатк|сумк|рюкзак)\w*|"
    r"(?:наш[её]л|нашла|снял[аи]?|купил[аи]?|получил[аи]?|взял[аи]?) (?:\w+ )?(?:себе )?(?:сво\w+|отдельн\w+|студи\w+|однушк\w+|жиль\w+|квартир\w+|комнат\w+|угол|ипотек\w+)|(?:забрали|призвали|ушел|ушла|загребли) (?:\w+ )?(?:в армию|служить|на службу)|"
    r"живет (?:теперь |сейчас |уже )*(?:отдельно|своей|один|одна|с \w+|у \w+|в другом|в своей)|освободил[аи]? (?:\w+ )?(?:комнат|квартир|угол|мест)\w*|(?:сам|сама) по себе\b|(?:ушел|ушла|ушли)\b(?! (?:в магазин|на работу|спать|гулять|на смену|погулять|за ))|(?:соскочил|отвалил|охладел|остыл|выдохс|выдохл|устроил|передумал)\w*\b|выш(?:ла|ел) замуж\b|женил(?:ся|ись)\b"
)
_SHARES_RU = lazy(
    r"\b(?:жив(?:у|ем|ет|ут)|снима\w+|квартир\w+|комнат\w+|общаг\w+|общежити\w+|коммунал\w+|сосед\w*|пополам|под одной крышей|вместе|вдвоем|дуэтом|напарни\w+|компаньон\w*|на пару|партнер\w*)\b"
)
_AWHILE_RU = lazy(
    r"\bна (?:недел|месяц|пару|лето|каникул|выходн|врем|день|два|три|\d|полгода|сессию|дачу|праздник|нескольк)\w*|\b(?:отпуск|командировк|санатор|лагер|больниц|гост[ияе]|погост|вернет|вернут|возвращ|скоро будет|временно|пока не)\w*|\bдо (?:осени|весны|зимы|лета|конца|понедельника)"
)
_LEAD_HAN = (
    r"(?:的(?:事儿?|活儿?|工作|委托|位置|名额)?|那[台辆张个只条份边头家口位件摊间瓶盒]?|这[台辆张个只条份边头家口位件]?|窗口|摊位|岗位|也|就|都|已经|现在|如今|早就|早|后来|终于|总算|上周|前天|昨天|上个?月|这学期|我|咱|们|最后|直接|还是|只好|只能|索性|干脆|全|"
    r"(?:被|让|给|叫)[^，。]{1,6}?|连[^，。]{1,3}一起|因为[^，。]{1,8}?|搬家(?:的时候|时)?|月底|年底|到期){0,4}"
)
_NOT_ME = r"(?!我(?![姐哥弟妹爸妈姨叔舅姑婆前表堂老同侄外])|咱|自己|你|您)"
_GONE_HAN = lazy(  # right behind a thing
    _LEAD_HAN
    + rf"(?:把(?:剩下|剩余|余下)的?(?:也|都|全)*(?:倒|扔|送|丢|卖|捐|退)(?:了|掉)|归(?!置|位|类|拢|档|纳){_NOT_ME}[^，。]{{1,6}}了"
    r"|(?:捐|送|丢|扔|倒|放|运|拉|拖)(?:到|去|进|在)了?[^，。]{0,10}(?:社区|马桶|垃圾|下水道|回收|废品|废铁|收容|救助|放生|寺|庙|乡下|老家|农场|学校|图书馆|公益|拆解|河里|湖里|养殖场|旧货)[^，。]{0,4}|送(?:去)?(?:拆解|报废|回收)"
    r"|(?:带|搬|留)[^，。]{0,6}没(?:要|带|拿)|没(?:再)?(?:带|搬|拿|要|租|签|续|养)(?:过来|走|回来|过|了)?(?=$|[，。])"
    r"|(?:直接)?(?:报废|全损|废|泡汤|散架|毁|没救|保不住|撬|铲|刨|砸|推平|拉走|拖走|抬走|牵走|抱走|领走|运走|拿走|收走|摘|拔|抢走|骑走|开走|弄丢|搞丢|丢失|烧没|烧毁|泡坏|泡烂|倒)了|全(?:撬|拆|铲|砸|倒)了"
    r"|(?:收|要|拿|搬|拉|牵|抱|买|领)(?:去|走)(?:做|当|了|养|用)|没人[碰用管去看]了|物归原主|易主|(?:是|成了?)别人的|不归我|不是我的|不属于我|抵债|抵了|拿去抵|让出去|交出去|让出来|交了出去|推(?:了|掉)|请辞|退下来|打了?退堂鼓|退居二线|全?送(?:了)?(?:同事|朋友|邻居|亲戚|人)|处理给|减到零|归零|收手|用不着|没坚持(?:下来|住)|(?:不让|不许|不准|不要|不收|不用)(?:我|我们)[^，。]{0,4}了?)"
)
_GIVEN_HAN = lazy(
    _LEAD_HAN
    + rf"(?:(?:给|抵|退|转|让|送|捐|处理|卖|交|托付|留|过继|移交|出|赔)(?:了|给了?){_NOT_ME}[^，。了]{{1,10}}|还给{_NOT_ME}[^，。]{{1,8}}了)"
)
_SPENT_HAN = lazy(  # behind a thing, by what came of it
    _LEAD_HAN
    + r"[^，。的把说想给]{0,8}?(?:掉|[烧冲刮淹卷]没|塌|倒|烂|碎|垮|黄|散|丢|跑路|消失|作废|失效|下线|停摆|解体|关停|散架|分家)了(?=$|[，。！；])"
)
_BEFORE_HAN = lazy(r"(?:从|跟|和|与|把|将|撤了?|退了?|辞了?|推了?|断了?|停了?|再也没[去用吃喝上]过?)$")
_BEHIND_HAN = lazy(
    r"(?:那边|那儿|的)?(?:出来|撤出来|脱身|退出来|走人|毁约|解除合作|终止合作|结束合作|缘分(?:到头|尽)|全(?:撬|拆|铲|砸|倒|扔|删|卸|退|停)|(?:折价)?抵(?:给|了)|的?(?:委托|合同|名额|会员|账号|申请|岗位|工作)?$)"
)
_LEFT_HOME_HAN = lazy(
    r"(?:已经|也|就|上周|上个?月|昨天|前天|最近|终于|后来|被[^，。]{1,4}|跟[^，。]{1,5}|把[^，。]{1,4})*(?:(?:去|到|回)(?!公司|单位|学校|超市|医院|厕所|外面|外地出|吃|买|玩|看|楼|健身|上班|家)[^，。]{1,8}(?:工作|念书|读研|读书|发展|定居|当兵|同居|成家|养老|打工|了)|考上(?!驾照|证|岗)[^，。]{0,6}(?:研|大学|博|编|公务员|院|校|师范)|去(?:了)?(?!公司|单位)[^，。]{1,6}上班|参军|当兵|入伍|结婚|成家|嫁人|收拾(?:好|了|完)?(?:行李|东西|铺盖)|(?:还给|交还|交给|还)[^，。]{0,2}房东|同居|走人|上岸|转行|改行|单干|另起炉灶|撤股|不玩了|去当[^，。]{1,6}|有了?自己的(?:家|窝|房|小窝)|搬(?:去|到|回|了))"
)
_SHARES_HAN = lazy(
    r"合[租住]|室友|舍友|同住|一起住|跟我住|住一起|同屋|租客|房客|一起[做开拍搞弄干]|合伙|搭档|组队|住(?:在)?(?:我|咱)家|宿舍"
)
_AWHILE_HAN = lazy(
    r"[几两三一半\d](?:天|周|个?星期|个?礼拜)|出差|旅[游行]|探亲|暑假|寒假|过年|放假|度假|住院|培训|就回|回来|临时|暂|先"
)
_PET_HAN = lazy(r"[养喂]|[只条头匹]")
_TITLED_HAN = lazy(r"(?:老师|教练|医生|大夫|师傅|阿姨|叔叔?|姐|哥|总|经理|主任|老板)$")
_ELLIPTIC_HAN = 12
_CUTS = lazy(r"[，。！？；,.;!?]")
_MOST_BEFORE = {"ru": 3, "zh": 3}  # words (characters) before what a clause is about


class Leavings(Scan):
    """Reads what has left the speaker."""

    def _left(self, sentence: Sentence, clause: Clause) -> re.Match[str] | None:
        """Return where a clause says that the value it is about has gone for good."""
        code = self._lexicon.code
        if code not in _MOST_BEFORE or self._lexicon.limited.search(clause.flat):
            return None
        if self._lexicon.again.search(clause.flat):
            return None
        for mention in self._within(clause, sentence):
            before = clause.flat[: mention.start - clause.start]
            opens = len(words(before)) <= _MOST_BEFORE[code] or before.endswith(("把", "将"))
            if mention.rank >= NOUN and opens and (found := self._leaves(mention, clause, sentence)):
                return found
        return self._goes_without_saying(sentence, clause)

    def _goes_without_saying(self, sentence: Sentence, clause: Clause) -> re.Match[str] | None:
        """Return where a Chinese clause that names nothing says that what was named before it has gone."""
        named = [m for m in self._within(clause, sentence) if m.rank >= NOUN]
        if self._lexicon.code != "zh" or named or clause is sentence.clauses[0] or len(clause.flat) > _ELLIPTIC_HAN:
            return None
        return _GONE_HAN.match(clause.flat) or _GIVEN_HAN.match(clause.flat)

    def _leaves(self, mention: Mention, clause: Clause, sentence: Sentence) -> re.Match[str] | None:
        place = mention.end - clause.start
        is_russian = self._lexicon.code == "ru"
        shares = _SHARES_RU if is_russian else _SHARES_HAN
        told = [part for text in mention.said for part in _CUTS.split(flat(text)) if flat(mention.surface)[:4] in part]
        if any(shares.search(part) for part in told) and self._is_somebody(mention):
            awhile, goes = (_AWHILE_RU, _LEFT_HOME_RU) if is_russian else (_AWHILE_HAN, _LEFT_HOME_HAN)
            if not awhile.search(sentence.flat) and (found := self._behind(goes, clause, place)):
                return found
        return self._leaves_russian(mention, clause) if is_russian else self._leaves_han(mention, clause)

    def _behind(self, pattern: re.Pattern[str], clause: Clause, place: int) -> re.Match[str] | None:
        """Return where a pattern stands right behind a place, or a few words after it."""
        if self._lexicon.code == "zh":
            return pattern.match(clause.flat, place)
        led = re.compile(rf"[»”\"]?,? (?:{_ADVERBS_RU})(?={pattern.pattern})").match(clause.flat, place)
        return pattern.match(clause.flat, led.end()) if led else None

    def _is_somebody(self, mention: Mention) -> bool:
        return self._is_a_being(mention) or mention.surface[:1].isupper()

    def _leaves_russian(self, mention: Mention, clause: Clause) -> re.Match[str] | None:
        place = mention.end - clause.start
        before = clause.flat[: mention.start - clause.start].rstrip('«"„“')
        place += len(clause.flat[place:]) - len(clause.flat[place:].lstrip('»"“'))
        for lead, behind in _AROUND_RU:
            led, found = lead.search(before), behind.match(clause.flat, place)
            if led and found:
                return found if found[0].strip() else led
        if before.endswith((" в ", " из ", " на ", " с ", " у ")) or self._lexicon.negation.search(before):
            return None
        return self._behind(_GONE_RU, clause, place)

    def _leaves_han(self, mention: Mention, clause: Clause) -> re.Match[str] | None:
        place = mention.end - clause.start
        if _BEFORE_HAN.search(clause.flat[: mention.start - clause.start]):
            found = _BEHIND_HAN.match(clause.flat, place)
            if found:
                return found
        given = None if self._is_person_han(mention) else _GIVEN_HAN.match(clause.flat, place)
        spent = None if self._is_person_han(mention) else _SPENT_HAN.match(clause.flat, place)
        return _GONE_HAN.match(clause.flat, place) or given or spent

    def _is_person_han(self, mention: Mention) -> bool:
        """Whether a Chinese name is that of a person, who gives rather than is given."""
        is_pet = any(_PET_HAN.search(text) for text in mention.said)
        return (self._is_a_being(mention) and not is_pet) or _TITLED_HAN.search(mention.surface) is not None

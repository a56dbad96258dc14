"""What a sign of an ending is about: which of the things said before, and whether it is the speaker's own."""

from __future__ import annotations

import re
from collections.abc import Sequence

from proxy.memory.learn.extract_builtin.lazy import lazy
from proxy.memory.learn.extract_builtin.leaning import Leaning
from proxy.memory.learn.extract_builtin.mentions import NAME, NOUN, Mention
from proxy.memory.learn.extract_builtin.narrower import ITS_OBJECT
from proxy.memory.learn.extract_builtin.reading import Clause, Sentence, read_as
from proxy.memory.learn.extract_builtin.scan import SPEAKER
from proxy.memory.learn.extract_builtin.switches import ARRIVES, GAINS, NOW
from proxy.text.words import flat, same_word, words

_WEAK = lazy(
    r"^(?:removed|deleted|closed|ended(?! up)|dropped|returned|cut|wiped|ran out|expired|shut down)"
)  # of things at work too
_NEAR_WORDS = 5
_ANOTHERS = lazy(
    r"\b(?:соседск|чуж|мамин|папин|сестрин|подругин|бабушкин|дедушкин)\w*$|(?:隔壁|别人|人家|邻居|同事|楼[上下]|对门)(?:家)?(?:的|那)?.{0,3}$"
)
_WHOSE = lazy(
    r"\b(?:подруг[аи]|друг|друзья|сестра|брат|мама|папа|мать|отец|муж|жена|сын|дочь|дочка|бабушка|дед|дедушка|коллег[аи]|сосед\w*|тетя|дядя|начальни\w+|парень|девушка|родители|родственни\w+)$"
)
_GIVES_UP = lazy(r"[а-я]+л(?P<ending>[аи]?)")  # agrees with who does it
_MAY_DO_IT = {"а": lazy(r"[аяь]$"), "": lazy(r"[^уюа]$"), "и": lazy(r"[иыеа]$")}  # of either number
_HANDS_ON = lazy(r"отда|прода|подари|раздари|пристрои|сда|переда|верну|уступи|сплави|сбагри")  # to somebody
_DOES_HAN = lazy(
    r"(?!我|咱)(?:老师|教练|医生|大夫|师傅|老板|姐|哥|总|他们|她们|那边|官方|平台|公司)?[^，。]{0,6}?(?:把|将)(?!我|咱|卡|班|课|团|队|组|群|合同|账|会员|订阅|号|门店|店|服务|它|这)"
)
_SHUNS_HAN = lazy(r"(?:现在|已经|再也|都|也)*不[^，。]([^，。了]{2,})了")
_PET_HAN = lazy(r"[狗猫鸟兔龟鱼]|鹦鹉|仓鼠|儿子|女儿|宝宝")
_OWN_DEED = {  # what somebody gives up is no end of them
    "ru": lazy(
        r"^ (?:\w+ )?(?:перестал|бросил|забросил|уволил|отказал|завязал|прекратил|сменил|поменял|закончил|продал|сдал|избавил|удалил|отменил|забил|плюнул|махнул|провалил|вышл?[еа]?л? (?:из|на)|ушл?[еа]?л? (?:из|с) (?!меня)|развел|расстал)\w*|^ (?:\w+ )?(?:больше|уже) не \w+(?:ет|ит|ся)\b"
    ),
    "zh": lazy(
        r"^(?:昨天|今天|最近|已经|又|也|终于|上周|上个?月|刚)*(?:放弃|逃|翘|辞|戒|换了|改了|停了|退了|删|卸|卖|扔|离职|离婚|分手|(?:跟|和)(?![我咱])[^，。]{1,5}(?:分|离|散|掰)|不(?:再)?[吃喝玩抓咬挠去学练用理叫睡看抽])"
    ),
}
_WITH_ME = lazy(r"\b(?:мн[еой]+|меня|нас|нам|нами)\b|[我咱]")
_MEMBER_HAN = r"(?:的|的?[老新前副大小]|的?一[个位名])(?:团长|指挥|老师|教练|同事|店长|老板娘?|经理|会长|队长|主唱|领队|组长|主任|园长|校长|主持|成员|队友|同学|骑手|员工|服务员|厨师|邻居|主编|编辑|助理|猫砂|猫粮|狗粮|罐头|玩具)"
_ITS_PART_HAN = lazy(
    rf"{_MEMBER_HAN}|"
    r"(?:的)?(?:冬胎|轮胎|机油|电池|电瓶|钥匙|盒子|包装|说明书|食堂|菜单|招牌|空调|屏幕|屏|外壳|耳机|数据线|充电器|咖啡机|前台|会计|保洁|保安|门锁|窗户|座椅|座位|手机号|号码|头像|发型|名字|密码|壁纸|主题|界面|图标|皮肤|字体|logo|瓶子|瓶盖|滤芯|刷头)[^，。]{0,4}(?:换|卸|丢|扔|坏|停|撤|拆|涨|删|改|掉|没)|"
    r"(?:也|又|已经|都|终于)?(?:换|改)了(?:新的?|个|块|副|套|条|一)*(?:谱子|曲目|教材|场地|指挥|团长|队服|校服|招牌|机油|轮胎|电池|手机号|号码|头像|发型|名字|密码|屏|锁|logo|门面|装修|座位|时间|地点|教室|封面|包装|菜单|老板娘?|前台|制服|工服)|(?:撤|拆|砍|开|招|发|搬|卸)了(?:个|台|新|一)*[\u4e00-\u9fff]{2,4}(?=$|[，。])|发了"
)
_PART_HAN = lazy(
    r"[》”\"]?(?:里|上|中|家|楼下|门口|的|那)*(?:一?[篇个条家间款本张])?[^，。]{0,8}(?:app|专区|功能|页面|频道|栏目|分店|门店|活动|客服|帖|稿|文章|照片|按钮|版本|视频|评论|草稿|直播)"
)
_STRANGER = lazy(
    r"\b(?:a|an|some|this|one|another|most|many|other|those|any)\s(?:\w+\s){0,2}?(?:guys?|m[ae]n|wom[ae]n|persons?|people|girls?|boys?|lad(?:y|ies)|dudes?|blokes?|users?|folks|friends?|mates?|colleagues?|"
    r"celebrit(?:y|ies)|influencers?|actors?|singers?|players?|athletes?|runners?|students?|patients?|customers?|someone|reviewers?|commenters?|youtubers?|bloggers?|neighbou?rs?|cousins?)"
    r"(?:\s(?:who|that|has|have|had|just|finally|all|recently|suddenly|'ve|'s))*\s*$"
    r"|\b(?:half|most|all|some|none|many|both|two|three) (?:of )?(?:my|our|the|his|her|their|them)(?:\s\w+){1,2}?(?:\s(?:who|has|have|had|just|finally|all|recently))*\s*$"
    r"|\b(?:someone|somebody|everybody|everyone|people|folks|nobody)(?:\s(?:who|that|has|have|had|just|finally|all|recently|suddenly))*\s*$"
)
_HAS_OBJECT = lazy(
    r"\s+(?!(?:on|in|at|for|after|before|last|this|next|today|yesterday|tonight|because|since|so|and|but|or|due|down|up|out|off|away|over|to|from|by|with|when|while|as|if|though|"
    r"although|until|till|again|back|me|us|themselves|itself|completely|entirely|altogether|finally|officially|now|anyway|too|already|suddenly|here|there|then|ages|a|two|three|several|"
    r"\d+|\w+ly|\w+day(?!')|\w+ (?:ago|weeks?|months?|years?|days?)|its (?:doors|gates|shutters)|(?:my|our) (?:\w+ )?(?:account|membership|subscription|contract|policy|card|place|job|position)|"
    r"(?:the|our|my) (?:\w+ )?(?:band|group|team|club|choir|company|firm|flat|house|project|class|course|squad|crew|orchestra|practice|surgery|salon|agency|show|podcast|programme|program|league|committee|board|business|school|office|"
    r"country|city|town|area|building))s?\b)\w"
    r"|\s+(?:a|an|two|three|several) (?!(?:\w+ )?(?:week|month|year|day|while|few|couple|long)s?\b)"
)
_ACTS = lazy(
    r"(?:has |have |had |'ve |just |finally |recently )?(?:delet|dropp|cancel|remov|clos|stopp|sold|quit|gave|lost|wip|ended|threw|shut|ditch|dump|return|scrapp|let |cut|discontinu|broke|left|phased|rid of)\w*"
)
_OURS = lazy(r"\s+(?:me and )?(?:my|our) (?:\w+ )?(\w+)")
_OBJECT = lazy(  # "left my umbrella in X": not X
    r"\s*(?:me |us )?(?:my|our|a|an|the|some|his|her|one|two|three|all|\d+|\w+ty|\w+teen|four|five|six|seven|eight|nine|ten|eleven|twelve|dozens of|lots of|loads of|several|many|tons of|half)\s(?:[\w'-]+\s){0,4}?(?P<what>[\w'-]+)\s(?:in|on|at|from|inside|by|near|with|off|under|of|outside|behind|for|about|to)\s(?:(?:the|my|our|her|his|their|a|an)\s)?$"
)
_OWNED = lazy(
    r"['’]s? (?!off\b|out\b|over\b|gone\b|done\b|been\b|not\b|no\b|too\b|so\b|the\b|an?\b|my\b|our\b|closed|closing|shut|dead|history|finished|retired|left|moved|today|yesterday|tonight|last|this|next|now|again|for|in|on|at|because|after|completely|entirely|\w+ly\b|\w+day\b)(?:[\w'-]+ ){0,2}?(?P<what>[\w'-]+)(?= *(?:$|[,.;!]|(?:on|in|at|for|because|after|since|so|and|last|this|from|into|onto|to|with|off|out|by|before|when|while|as|but)\b))"
)
_SUBORDINATE = lazy(
    r"\b(?:now that|since|because|so that|as soon as|although|though|while|whereas|even though) (?:my |our |the )?$"
)
_HEAD = lazy(
    r"\W*(?:so |and |but |well |then )?(?:the|a|my|our|this|that|one|some) (?:(?!(?:was|is|were|are|has|had|got|felt|went|gave|feels|gets)\b)[\w'-]+ ){0,2}?(?P<what>[\w'-]+) (?:on|of|for|at|in|from|with|by|to|about) (?:(?:the|my|our) )?$"
)
_TIES = lazy(  # what binds one to a value, and ends with it
    r"(?:subscriptions?|accounts?|memberships?|contracts?|polic(?:y|ies)|jobs?|positions?|seats?|places?|roles?|posts?|lessons?|class(?:es)?|courses?|cards?|plans?|pass(?:es)?|tickets?|time|days|work|tenanc(?:y|ies)|leases?|flats?|house|home|room|standing orders?|"
    r"orders?|debits?|apps?|profiles?|evenings?|hours|shifts?|slots?|stints?|sessions?|training|practice|stake|shares?|allotment|column|show|gig|spot|deal|agreement|trial|bookings?|reservations?|appointments?|treatment|relationship|friendship|partnership|ties|habit|"
    r"names?|applications?|bids?|candidacy|interest|support|custom|business|money|savings|investments?|pension|kids?|sons?|daughters?|children|rights|access|duties|responsibilit(?:y|ies)|licen[cs]e|login|"
    r"lot|rest|last|end|use|back|idea|thing|whole|entire|notice|resignation|keys?|badge|letter|plug|towel|door|curtain|line|stop|cancellation)$"
)
_GIVES_UP_OWN = lazy(
    r"\b(?:g[ai]ven? up|giving up|handed (?:back|in|over)|given back|gave back|surrendered|relinquished|resigned|renounced)$"
)
_LOSES = lazy(r"(?:\w+ )?(?:delet|lost|wip|broke|threw|remov|let|left|return)\w*")  # things within it
_DOES = lazy(
    r"\W*(?:(?:got|gets|app|thing|people|guys|team|site|server|company|has|have|had|just|also|recently|suddenly|now|'s|'ve|finally|accidentally|somehow|apparently) ?)*"
)
_HAS_OWN = lazy(
    r"\s+(?:hat|haben)(?! mich| wir| ich)(?: (?!mich|wir|ich)\w+){0,2} (?:(?:sein|ihr)(?:e[nmrs]?)? (?:\w+e[nrs]? )(?:job|stelle|kurs|verein|studium|ausbildung)\b|(?:de[nr]|die|das|eine?n?|alle|sein|ihr|seine[nmrs]?|ihre[nmrs]?) (?!(?:\w+e[nrs]? )?(?:besitzer|eigentümer|halter|zuhause|käufer|herrchen|frauchen|uni|universität|studium|ausbildung|lehre|vertrag|verträge|abo|abos|konto|job|stelle|kurs|kurse|zusammenarbeit|tarif|geist|löffel|handtuch|arbeit|firma|schule|stadt|land|verein|geschäft\w*|gruppe|band|chor|dienst|produktion|koffer|sachen|segel|nase|welt|betrieb|türen|pforten|praxis|laden|läden|filiale\w*|dienst|geschäft|anteil|platz|posten|schalter|abschied|mitgliedschaft|winter|sommer|frost|nacht|op|umzug|operation|hitze|kälte)\b)(?:\w+e[nrs]? )?\w+)"
    r"|\s+(?:me|nos) (?:quitó|sacó|cambió|retiró|canceló|tiró) (?:el|la|un|una|los|las) (?!(?:contrato|cuenta|suscripción|trabajo|puesto|beca|licencia|pase)\b)\w+"
    r"|\s+(?:ha|han)(?: (?!me\b|nos\b|pasado|muerto|cerrado)\w+)? (?:el|la|los|las|un|una) (?!(?:carrera|universidad|grado|máster|contrato|cuenta|cuentas|suscripción|puertas?|negocio|local|tienda|persiana|cierre|telón|trabajo|puesto|club|equipo|grupo|banda|país|ciudad|piso|casa|hospital|colegio|curso|clase|consulta|taller|academia|salón|empresa|peluquería|toalla|pata|vida|mundo)\b)\w+"
    r"|\s+(?:ha|han|dejó|vendió|cerró|canceló|perdió|abandonó|regaló|borró)(?: \w+){0,2} sus? (?!(?:puertas|negocio|parte|tienda|puesto|plaza|consulta|local|persiana|sitio)\b)\w+"
)
_WITHOUT = lazy(
    r"(?:\b(?:without|ohne|sin|(?<!лся )(?<!лась )(?<!лись )без)\s+(?:\w+\s+){0,2}|(?:没有|没了|离开|离了|少了))$"
)


MALFUNCTIONS = lazy(  # it no longer opens, and is still theirs
    r"\b(?:geht|gehen|lässt sich|springt|schaltet sich|macht|kriege?|bekomme?|klappt) .{0,30}\b(?:nicht|net|ned|nimmer|nöd) ?(?:mehr )?(?:auf|an|zu|ein|aus|richtig|rein|raus|ab|hoch|runter|los|schließen|öffnen|einschalten|starten|laden)\b|"
    r"\b(?:funktioniert|startet|lädt|reagiert|klingelt|druckt|leuchtet|schließt|öffnet|heizt|kühlt|spült|schleudert|piept|zündet|bremst|hält dicht) .{0,20}\b(?:nicht|nimmer|ned|nöd)\b|"
    r"\b(?:ya no|no) (?:me |se |nos )?(?:abre|cierra|enciende|prende|carga|arranca|funciona|responde|suena|imprime|calienta|enfría|gira|frena|marca|lee|reconoce|conecta|anda|jala|va bien|traba)\b"
)


NOT_ALONE = lazy(
    r"\b(?:ya )?no est\w+ (?:tan )?sol[oa]s?\b|\bnicht (?:mehr|länger) (?:so )?(?:allein|alleine|einsam)\b|\bno longer (?:alone|lonely|an only)\b"
)
_SUFFERS = lazy(r"\b(?:den|dem|einen|einem|meinen|meinem|unseren|unserem|al|a)\s+$")  # no subject
_ERRAND = lazy(
    r"\b(?:de[nr]|die|das|eine?n?|el|la|los|las|una?|mi)\s+(?P<what>(?!\w+(?:amos|imos|emos)\b)\w+)\s+(?:(?:enter|nuev|viej|últim|primer|segund)[oa]\s+)?(?:bei|beim|von|vom|an|in|im|auf|en|de|del|al?)\s+(?:(?:der|dem|den|la|el|los|las)\s+)?$"
)
_TIE = lazy(  # what binds one to it
    r"\w*(?:vertrag|konto|abo|abonnement|mitgliedschaft|job|stelle|kurs|tarif|depot|versicherung|police|platz|dienst|dienste|zeit|arbeit|posten|amt|ausbildung|studium|unterricht|training|zusammenarbeit|beziehung|ehe|nummer|schlüssel|karte|account|zugang|anschluss|genehmigung|lizenz|erlaubnis|stand|"
    r"cuenta|suscripción|contrato|plaza|membresía|abono|trabajo|puesto|curso|clases?|empleo|carnet|tarjeta|póliza|seguro|matrícula|beca|relación|cargo|casa|piso|marca|perfil|línea|plan|servicio|llaves?|casco|permiso|licencia|fibra|alta|carrera|grado|cuota|voluntariado|donación|aportación|spende|patenschaft|abonnement|"
    r"gallo|gato|perro|gata|perra|señor|señora|doctor|doctora|grupo|club|taller|liga|app|canal|revista|periódico|podcast|serie|libro|novela|receta|pastillas?|gotas|crema|jarabe|hund|kater|katze|app|serie|podcast|buch|zeitung|tabletten|tropfen|salbe|verein|chor|band|gruppe|firma|klinik|praxis|schule)"
)
_TIE_ENDS = lazy(  # what only a tie can undergo
    r"\b(?:aus(?:ge)?laufen|läuft .{0,40}aus|\w*künd\w+|verlänger\w+|fortgeführt|fortgesetzt|weitergeführt|aufgelöst|ausgetreten|ausgestiegen|quittiert|niedergelegt|"
    r"prorrog\w+|renov\w+|rescind\w+|venci(?:ó|do)|expir\w+|caduc\w+|(?:di|dimos|dado) de baja|se (?:me |nos )?(?:terminó|acabó|ha terminado|ha acabado))\b"
)
_OFFERS = lazy(  # somebody has something of theirs no more: that ends, not they
    r"\s+(?:hat|haben|bietet|bieten|macht|machen|führt|führen|verkauft|verkaufen|produziert|nimmt|nehmen|gibt|geben|serviert|backt|bäckt)\b(?=.*\bkein\w* )"
    r"|\s+ya no (?:tiene|ofrece|vende|hace|da|saca|sirve|pone|trae|produce|fabrica|publica|acepta|admite|reparte|abre|prepara|imparte|cuenta con|trabaja con)n?\b(?= \w)"
)
_OUT_OF = lazy(r"\bfuera del?\s+(?:(?:la|los|las|mi)\s+)?$")
_SCENE = 20  # characters before where something happens
_AT = lazy(r"^\W*(?:und |y )?(?:bei|beim|in|im|auf|an|am|en)(?: (?:der|dem|den|el|la|los|las))?(?: \w+)? $")
_DO_IT = lazy(
    r" (?:haben|hat|wurde|wird) (?:sie|die|man|jemand)? ?(?:\w+ )?(?:de[rnm]|das|die|eine?n?|alle|unsere?n?|zwei|drei|mehrere) \w+ .*|"
    r" (?:han|ha|hubo|se) (?!ido\b|acabado\b|terminado\b)\w+ (?:al? |el |la |los |las |un |una |dos |varios |a varios )\w+"
)


class Targets(Leaning):
    """Finds what a clause that ends something ends."""

    def _is_of_another(self, mention: Mention, clause: Clause) -> bool:
        """Whether a clause names somebody else's thing of the same name ("the neighbour's X was towed")."""
        before = clause.flat[: mention.start - clause.start].rstrip(' «"„“')
        if self._lexicon.code == "ru" and _WHOSE.search(before) and self._is_genitive(mention):
            return True
        return self._lexicon.code in ("ru", "zh") and _ANOTHERS.search(before) is not None

    def _is_genitive(self, mention: Mention) -> bool:
        """Whether a Russian name has the form of whom something is ("the friend of Polina")."""
        last, stem = mention.surface[-1:], mention.surface[:-1]
        return last in "ыи" or (last in "ая" and any(re.search(rf"\b{stem}\b", text) for text in mention.said))

    def _does_it(self, mention: Mention, clause: Clause, cue: tuple[int, int]) -> bool:
        """Whether the one mentioned is who gives something else up ("Natalia cancelled the lesson", "the cat shuns the sofa")."""
        if mention.start != clause.start or mention.end > cue[0]:
            return False
        if self._is_a_being(mention) and _OWN_DEED[self._lexicon.code].search(
            clause.flat[mention.end - clause.start :]
        ):
            return not _WITH_ME.search(clause.flat)
        said = self._reading.text[slice(*cue)].lower()
        if self._lexicon.code == "zh":
            shuns = _SHUNS_HAN.fullmatch(said) is not None and any(_PET_HAN.search(text) for text in mention.said)
            return shuns or _DOES_HAN.match(clause.flat, mention.end - clause.start) is not None
        verb = _GIVES_UP.fullmatch(said) if self._lexicon.code == "ru" else None
        given = verb and ITS_OBJECT.match(clause.flat, cue[1] - clause.start)
        if not verb or not given or _HANDS_ON.match(said) or mention.surface[-1:] in "ую":
            return False
        if len(words(self._reading.text[mention.end : cue[0]])) > 1:
            return False
        if verb["ending"] == "а" and mention.surface[-1:] in "ая":
            return True
        return not _MAY_DO_IT[verb["ending"]].search(given["noun"])

    def _is_part(self, mention: Mention, clause: Clause, end: int) -> bool:
        """Whether something within the value ends, and not the value itself ("deleted a post from X")."""
        after = clause.flat[mention.end - clause.start :]
        if self._lexicon.code == "zh":
            return _PART_HAN.match(after) is not None or _ITS_PART_HAN.match(after) is not None
        if self._lexicon.code == "en":
            before = clause.flat[: mention.start - clause.start]
            if mention.start >= end and _SUBORDINATE.search(before):
                return True  # "sold my old one now that X does it all"
            takes = _OURS.match(clause.flat, end - clause.start)
            head = _HEAD.match(before) if mention.start < end and takes is None else None
            if head is not None and not _TIES.match(head["what"]):
                return True  # "the recall on X got cancelled"
            between = _OBJECT.match(clause.flat[end - clause.start : mention.start - clause.start])
            if between is not None and _GIVES_UP_OWN.search(clause.flat[: end - clause.start]):
                between = None  # whatever of one's own one gives up at a place binds one to it
            owned = _OWNED.match(clause.flat, mention.end - clause.start)
            if owned is not None and not _TIES.match(owned["what"]):
                return True  # "we scrapped the band's second song"
            return between is not None and not _TIES.match(between["what"])
        if self._lexicon.code in ("de", "es"):
            return self._is_scene(mention, clause) or (
                self._is_errand(mention, clause) and not _TIE_ENDS.search(clause.flat)
            )
        return self._lexicon.code == "ru" and self._is_part_in_russian(mention, clause, end)

    def _is_scene(self, mention: Mention, clause: Clause) -> bool:
        """Whether a value is but where others do it to somebody or something else ("at X they have fired the cook")."""
        if mention.start - clause.start > _SCENE or self._lexicon.first.search(clause.flat):
            return False
        before, after = clause.flat[: mention.start - clause.start], clause.flat[mention.end - clause.start :]
        return _AT.search(before) is not None and _DO_IT.match(after) is not None

    def _is_errand(self, mention: Mention, clause: Clause) -> bool:
        """Whether something small with or at the value ends ("withdrew the request at the bank")."""
        found = _ERRAND.search(clause.flat[: mention.start - clause.start])
        return found is not None and not _TIE.fullmatch(found["what"])

    def _targets(
        self, place: int, sentence: Sentence, index: int, clause: Clause, cue: tuple[int, int]
    ) -> list[Mention]:
        """Return what ends: named in the clause, else in the clauses around it, else in the sentence before."""
        around = [clause, *reversed(sentence.clauses[:index]), *sentence.clauses[index + 1 : index + 2]]
        for candidate in around:
            is_free = (
                candidate is clause or self._lexicon.code in ("de", "zh") or self._takes_up(clause, candidate, sentence)
            )
            floor = NOUN if is_free or len(words(clause.flat)) == 1 else NAME  # "farewell, X"
            if candidate.asks or (candidate is not clause and not self._leans(clause, candidate)):
                continue
            within = [m for m in self._within(candidate, sentence) if not self._is_needed(m, candidate)]
            if self._lexicon.code in ("de", "es"):  # "vendido" is what ends it
                within = [m for m in within if not self._lexicon.ceased.fullmatch(m.surface.lower())]
                within = [m for m in self._nouns(within) if not self._offers(m, candidate, sentence)]
                within = [m for m in within if not _OUT_OF.search(candidate.flat[: m.start - candidate.start])]
                within = self._given_up_by(within, cue)
            targets = self._nearest(self._best(within, floor=floor), cue)
            if _WEAK.search(self._reading.text[slice(*cue)].lower()):
                targets = [m for m in targets if m.rank >= NAME or (self._lexicon.code == "en" and self._is_theirs(m))]
            targets = [m for m in targets if m.rank >= NAME or candidate is not clause or self._is_tight(m, cue)]
            if any(candidate is clause and self._is_doing(m, cue) for m in targets):
                return []
            if targets and candidate is not clause and self._has_its_own(clause, cue, candidate):
                return []
            if targets:
                return targets
        if place and len(self._reading.sentences[place].words) <= 12 and self._points(sentence):
            before = self._reading.sentences[place - 1]
            if not before.asks:
                floor = NOUN if self._lexicon.code in ("de", "zh") else NAME
                return self._nearest(self._best(self._mentions[before.start], floor=floor), cue)
        return []

    def _nouns(self, found: list[Mention]) -> list[Mention]:
        """Return the mentions of a German text that are written as nouns, all where none is or all are values."""
        nouns = [m for m in found if m.surface[:1].isupper() or m.rank >= NAME]
        return nouns if nouns and self._lexicon.code == "de" else found

    def _given_up_by(self, found: list[Mention], cue: tuple[int, int]) -> list[Mention]:
        """Return what somebody gives up that was told of as theirs ("Lola has quit judo", after "Lola does judo"), else all."""
        doers = [m for m in found if m.rank >= NOUN and self._is_doing(m, cue)]
        theirs = [
            m
            for m in found
            if m not in doers and m.rank >= NOUN and any(self._is_told_of(m, doer) for doer in doers if doer.said)
        ]
        return theirs or found

    def _of_kin(self, clause: Clause, sentence: Sentence, cue: tuple[int, int]) -> list[Mention]:
        """Return what one of the family gives up that was told of as theirs ("our son quit judo")."""
        found = self._within(clause, sentence) if self._lexicon.code in ("en", "ru") else []
        kin = [m for m in found if m.end <= cue[0] and self._lexicon.kin.fullmatch(m.surface.lower())]
        things = [m for m in found if m.start >= cue[1] and m.rank >= NOUN and self._is_tight(m, cue)]
        return [m for m in things if any(self._is_told_of(m, doer) for doer in kin)]

    def _is_told_of(self, mention: Mention, doer: Mention) -> bool:
        """Whether an earlier clause, of nobody else, tells of both."""
        for text in mention.said:
            for near in read_as(text, self._lexicon).sentences:
                for clause in near.clauses:
                    told = [word.text for word in words(clause.flat)]
                    names = [word.text for value in (mention, doer) for word in words(value.surface)]
                    if all(any(same_word(name, word) for word in told) for name in names):
                        told_by = SPEAKER if self._lexicon.code == "en" else self._lexicon.first
                        return not told_by.search(clause.flat)
        return False

    def _offers(self, mention: Mention, clause: Clause, sentence: Sentence) -> bool:
        """Whether a value is who has or does something no more ("the bakery makes no X any more"), and nothing came in its place."""
        if _OFFERS.match(clause.flat, mention.end - clause.start) is None:
            return False
        others = [c for c in sentence.clauses if c is not clause and self._lexicon.first.search(c.flat)]
        return not any(cue.search(c.flat) for c in others for cue in (GAINS, NOW, ARRIVES))

    def _is_strangers(self, clause: Clause, start: int, targets: Sequence[Mention]) -> bool:
        """Whether somebody of whom nothing is known does it ("a thread where a guy quit it")."""
        return _STRANGER.search(clause.flat[: start - clause.start]) is not None and not any(
            clause.start <= m.start < start and self._reading.text[m.end : start].count(" ") <= 1 for m in targets
        )

    def _is_needed(self, mention: Mention, clause: Clause) -> bool:
        """Whether a clause says how it would be without the value ("without it I can't work any more")."""
        return _WITHOUT.search(clause.flat[: mention.start - clause.start]) is not None

    def _is_doing(self, mention: Mention, cue: tuple[int, int]) -> bool:
        """Whether a value is what does the deleting or dropping, to something else."""
        text = flat(self._reading.text)
        if self._lexicon.code in ("de", "es"):
            if _SUFFERS.search(text[: mention.start]):
                return False
            return mention.start < cue[0] and _HAS_OWN.match(text, mention.end) is not None
        if self._lexicon.code != "en" or mention.start >= cue[0] or not _ACTS.match(text, cue[0]):
            return False
        if _DOES.fullmatch(text, mention.end, cue[0]) is None or _HAS_OBJECT.match(text, cue[1]) is None:
            return False
        ours = _OURS.match(text, cue[1])  # "X dropped my column", where the column was said to be at X
        return (
            ours is None
            or not any(same_word(word.text, ours[1]) for said in mention.said for word in words(said))
            or _LOSES.match(text, cue[0]) is not None
        )

    def _is_tight(self, mention: Mention, cue: tuple[int, int]) -> bool:
        """Whether a common word stands next to the cue; where nouns are written apart, German, it need not."""
        text = self._reading.text
        if self._lexicon.code in ("de", "zh"):
            return self._lexicon.code == "zh" or mention.surface[:1].isupper()
        if mention.start < cue[0]:
            return len(words(text[mention.end : cue[0]])) <= _NEAR_WORDS
        gap = text[cue[1] : mention.start]
        between = [word for word in words(gap) if word.text not in self._lexicon.stop]
        return len(between) <= 1

"""Finds old values that a message sets against new ones without a word of ending ("X went to pieces, bought a Y")."""

from __future__ import annotations

from collections.abc import Iterator

from proxy.memory.learn.extract_builtin.lazy import lazy
from proxy.memory.learn.extract_builtin.mentions import GENERIC, NAME, NOUN, Mention
from proxy.memory.learn.extract_builtin.reading import Clause, Sentence, is_brief
from proxy.memory.learn.extract_builtin.replacement import names_in, overlapping
from proxy.memory.learn.extract_builtin.scan import Ending, Reason
from proxy.memory.learn.extract_builtin.switches import GAINS, NOW, Switches
from proxy.memory.learn.extract_builtin.targets import Targets
from proxy.text.words import words

_LANGUAGES = ("ru", "zh")
_OPENING_WORDS = {"ru": 4, "zh": 5}  # before a value that a clause is about
_MAX_AFTER = 2  # clauses of the next sentence that may tell of the new value
_SINCE = lazy(
    r"\bсо? (?:\w+ )?(?:четверти|семестра|сезона|недели|месяца|смены|числа)\b|\bс (?:январ|феврал|март|апрел|ма|июн|июл|август|сентябр|октябр|ноябр|декабр|понедельник|вторник|сред|четверг|пятниц|"
    r"суббот|воскресень|осен|весн|зим|лет|нового|этого|прошло)\w*|\b(?:второй|третий|четвертый|пятый|уже) (?:день|месяц|год|\w+)\b|\b(?:отныне|впредь|этим летом|этой (?:зимой|осенью|весной))\b|\bу (?:меня|нас)\b"
)
_PRAISES = lazy(r"\b(?:нравит|обожа|восхити|отличн|прекрасн|супер)\w*|真心|不错|满意|漂亮|舒服得|好用|推荐|棒|完美")
_SAYS_AGAIN = lazy(
    r"\bостал(?:ся|ась|ось|ись)\b(?! в прошлом)|\bоста(?:ется|ются|вил\w?)\b|\b(?:снова|опять|зато|по-прежнему|все еще)\b|又|还是|依然|仍|照[去吃喝用练上读看住常旧]|留着|留给|好在|幸好|还好|不过"
)
_NOW_HAS = lazy(rf"(?:{NOW.pattern}|已经|早就|清一色)[^，。]{{0,6}}?[是用喝吃骑开住在穿戴喂抱玩听看练学跟找去坐读追养]")
_INTO_RU = lazy(  # "from X to Y", "swapped X for Y", "X was replaced by Y"
    r"[»”\"]? (?:(?:в|во|на|к|ко) [«„\"]?(?P<new>[A-ZА-ЯЁ][\w'-]+(?: [A-ZА-ЯЁ][\w'-]+)?)|(?:\w+ ){0,3}(?:заменил|сменил)\w* (?:на )?[«„\"]?(?P<by>\w[\w'-]+)(?=\W*$)|(?:\w+ )?(?:про|об|раз|с|по)менял\w* на [«„\"]?(?P<other>[A-ZА-ЯЁ][\w'-]+))"
)
_TELLS_HAN = lazy(
    r"(?:[是叫姓]|现在|如今|眼下|目前|[换改]成了?)(?:[用喝吃骑开住在穿戴养听看学跟找去坐读追])?(?P<new>[\u4e00-\u9fffa-z\d]{2,8})"
)
_LONG = 40  # words (characters) of a sentence that sets one thing against another
_OBJECT = lazy(
    r"(?:了|到|成|在|去|给|的是|是|用|上)*(?:一?[台辆个部只双条家款名位本张])?(?P<new>[\u4e00-\u9fffA-Za-z]{2,8})"
)


_SOUR = {  # what is told of something on its way out
    "ru": lazy(
        r"\b(?:далек|дорог|платн|пыл[ия]|скучн|неудобн|тесн|очеред|задрал|подорожа|дорожа|подня(?:л|ла|ли|ло) цен|груб|хам|сып|изжог|тошн|аллерги|бол[ие]|натер|жмет|тормоз|глюч|лага|висн|вис[еия]|закончил|кончил|плох|невкусн|противн|отстой|достал|беси|раздража|душ[ие]|задуш|лимит|реклам|вырос|выросл|"
        r"за тридевять|на другом конце|был[аио]? (?:час|далек|дорог|в|очень|слишком)|не (?:сложил|срос|понрав|устро|помог|хват|сошл|тян|держ|лов|гре|леч|пош|подош|заш)|слаб|медленн|сдал|протек|тек|пот[её]к|облез|сел|стар)\w*|\bслишком\b|\bуже не т\w+|^\W*(?:раньше |прежде |до этого )?(?:был|была|было|были)\b"
    ),
    "zh": lazy(
        r"太(?:多|少|慢|卡|远|贵|吵|挤|小|大|甜|辣|咸|苦|硬|软|差|烂|难|旧|重|麻烦|复杂|偏|忙)|限制|吃灰|落灰|不行|不灵|没谈拢|谈崩|下岗|下台|出局|过去式|过去时|老黄历|旧爱|前任|历史|过敏|给[^，。]{1,4}[开用穿骑戴玩]了|退园|退学|办了?退|排(?:队|号|到|一个)|难(?:吃|喝|用)|^\W*(?:以前|原来|原先|之前|过去|从前|本来|早先|最早)(?:都|就|一直)?(?:是|用|吃|喝|在|找|去|跟|开|骑|穿|看)|(?:^|[，！])再见|告别|拜拜"
    ),
}
_UP = {  # of what is so instead
    "ru": lazy(
        r"\b(?:ста(?:л|ла|ло|ли)|так что|поэтому|потому|здравствуй|рулит|выруча\w+|спаса\w+|остановил\w*|распробовал\w*|посоветовал\w*|познакомил\w*|сосватал\w*|жив[уе]\w*|красуется|стоит|дал[аи]?|досталось|достал\w*)\b|\b(?:его|ее|их|там|у нее|у него) и\b|\b(?:я|мы) (?:у|с|в|на)\b|\b(?!всем|этим|чем|тем|моим|своим|ним|им)[а-я]{2,}(?:ем|им|емся|имся|ю|юсь)\b"
    ),
    "zh": lazy(
        r"(?:现在|如今|眼下|目前|早就|已经|都|就|我|天天|每天|全|改|只)[^，。]{0,4}(?:在|是|用|喝|吃|找|去|挂|开|骑|穿|看|跟|住|上|听|学|练|泡|投|跑|交给|转给)|[停坐开骑穿用喝吃看跟抱戴泡玩住]的是|上岗|上位|当家|你好|欢迎|(?:分|派|调|转|划|推荐|介绍|交|跑|投|挪|搬|签|托|租|订|借|定)(?:到|去|给|了|进|在)|这边|报了|(?:到|去)[^，。]{1,8}(?:报到|上班|上岗|入职|办手续|上课|试课|训练)|(?:独家|全|都|直接)?(?:委托)?给了|录用|录取|拿到|铺(?:上|了)|装(?:上|了)|接手|接的是|接[它他她]的?班|顶上|起[喝吃用穿住上学练去看骑开找]"
    ),
}
_TAKEN_TO = lazy(r"\b(?:остановил|распробовал|подсел|пристрастил|приучил|привык|полюбил|прижил)\w*|\b(?:его|ее|их) и\b")
_NEW_HAN = lazy(r"[\u4e00-\u9fffA-Za-z]{2}")
_FRESH_WORD = 4  # letters


class Rivals(Targets, Switches):
    """Reads old values against new ones."""

    def _rivalled(self, place: int, sentence: Sentence) -> Iterator[Ending]:
        """Find what a sentence opens with, where what follows tells of something new that came."""
        lexicon = self._lexicon
        if lexicon.code not in _LANGUAGES or sentence.asks or len(sentence.words) > _LONG:
            return
        for old in self._mentions[sentence.start]:
            clause = self._clause_at(sentence, old)
            if not self._is_topic_of(old, clause) or self._is_idle(sentence, old) or self._keeps(sentence, clause):
                continue
            if self._is_part(old, clause, old.end) or self._does_it(old, clause, (clause.end, clause.end)):
                continue
            if self._is_long_ago(sentence, clause) or self._third(sentence, clause, [old]) != "user":
                continue
            following = [c for c in sentence.clauses if c.start > clause.start]
            rest = sentence.flat[clause.end - sentence.start :]
            near = next((c for c in following if self._brings(c, sentence, rest)), None)
            if lexicon.additive.search(sentence.flat[: near.end - sentence.start] if near else sentence.flat):
                continue  # what is added after the new value may be of another thing
            after = self._reading.sentences[place + 1 : place + 2]
            far = [c for other in after for c in other.clauses[:_MAX_AFTER] if self._brings(c, other, other.flat)]
            if near is not None or far:
                reason: Reason = "beside" if near is not None else "retract"
                yield Ending(old.surface, reason, sentence, old)
                return

    def _soured(self, place: int, sentence: Sentence) -> Iterator[Ending]:
        """Find what is spoken ill of beside something new that is so instead ("X is too far, we are at Y now")."""
        lexicon = self._lexicon
        if lexicon.code not in _LANGUAGES or sentence.asks or not is_brief(self._reading):
            return
        sour = _SOUR[lexicon.code]
        for old in self._mentions[sentence.start]:
            clause = self._clause_at(sentence, old)
            if old.rank < NOUN or not self._is_personal(old) or not sour.search(clause.flat) or clause.asks:
                continue
            if (
                self._is_hedged(sentence, clause)
                or self._keeps(sentence, clause)
                or lexicon.additive.search(sentence.flat)
            ):
                continue
            if self._is_part(old, clause, old.end) or self._does_it(old, clause, (clause.end, clause.end)):
                continue
            subject = self._third(sentence, clause, [old])
            others = [(c, sentence) for c in sentence.clauses if c is not clause]
            after = self._reading.sentences[place + 1 : place + 2]
            others += [(c, near) for near in after for c in near.clauses[:_MAX_AFTER]]
            for other, near in others if subject else []:
                if self._tells_instead(other, near):
                    yield Ending(
                        old.surface, "beside" if near is sentence else "retract", sentence, old, subject or "user"
                    )
                    return

    def _tells_instead(self, clause: Clause, sentence: Sentence) -> bool:
        """Whether a clause tells of something new as what is so now."""
        if self._lexicon.code not in _LANGUAGES or not self._may_come(clause, sentence):
            return False
        is_up = _UP[self._lexicon.code].search(clause.flat) is not None or self._comes(clause.flat)
        return is_up and self._is_new(clause)

    def _comes(self, text: str) -> bool:
        """Whether a text tells of something that came."""
        cues = (GAINS, self._lexicon.gained, NOW, self._lexicon.switch, _SINCE, _TAKEN_TO)
        return any(cue.search(text) for cue in cues)

    def _may_come(self, clause: Clause, sentence: Sentence) -> bool:
        lexicon = self._lexicon
        if clause.asks or self._is_hedged(sentence, clause) or self._keeps(sentence, clause):
            return False
        return not any(p.search(clause.flat) for p in (lexicon.additive, lexicon.limited, lexicon.negation))

    def _is_new(self, clause: Clause) -> bool:
        """Whether a clause names something never heard of; in Russian a common word must be said with "now" or the like."""
        text = self._reading.text[clause.start : clause.end]
        if self._lexicon.code == "zh":
            return any(not self._heard.holds(found[0]) for found in overlapping(_NEW_HAN, _UP["zh"].sub("，", text)))
        if any(not self._heard.holds(name) for name in names_in("a " + text)):
            return True
        fresh = [w for w in words(text) if len(w.text) >= _FRESH_WORD and w.text not in self._lexicon.stop]
        return self._comes(clause.flat) and any(not self._heard.holds(w.text) for w in fresh)

    def _is_topic_of(self, old: Mention, clause: Clause) -> bool:
        floor = NAME if self._lexicon.code == "ru" else NOUN
        if old.rank < floor or old.rank == GENERIC or not self._is_personal(old):
            return False
        before = words(self._reading.text[clause.start : old.start])
        return len(before) <= _OPENING_WORDS[self._lexicon.code]

    def _keeps(self, sentence: Sentence, clause: Clause) -> bool:
        cues = (self._lexicon.again, _SAYS_AGAIN, _PRAISES)
        return any(cue.search(clause.flat) for cue in cues) or self._is_made_up(sentence, clause)

    def _given_to(self, rest: str) -> str:
        """Return the new name that the words after an old Russian one give its place to."""
        match = _INTO_RU.match(rest) if self._lexicon.code == "ru" else None
        new = (match["new"] or match["by"] or match["other"]) if match else ""
        return new if new and not self._heard.holds(new) else ""

    def _tells_else(self, clause: Clause) -> bool:
        """Whether a Chinese clause tells what something is that was never heard of."""
        match = None if clause.asks or self._lexicon.code != "zh" else _TELLS_HAN.search(clause.flat)
        text = self._reading.text[clause.start : clause.end]
        return match is not None and not self._heard.holds(text[slice(*match.span("new"))])

    def _dates_from(self, clause: Clause) -> bool:
        """Whether a Russian clause says since when something is so."""
        return self._lexicon.code == "ru" and not clause.asks and _SINCE.search(clause.flat) is not None

    def _brings(self, clause: Clause, sentence: Sentence, told: str) -> bool:
        """Whether a clause names something never heard of, in a text that tells of what came."""
        lexicon = self._lexicon
        if clause.asks or self._is_hedged(sentence, clause) or self._keeps(sentence, clause):
            return False
        if any(p.search(clause.flat) for p in (lexicon.additive, lexicon.limited, lexicon.past, lexicon.negation)):
            return False
        text = self._reading.text[clause.start : clause.end]
        if lexicon.code == "zh":
            return self._brings_han(clause, text)
        gains = any(cue.search(told) for cue in (GAINS, lexicon.gained, NOW, lexicon.switch, _SINCE))
        opens = clause.start == sentence.start
        written = ". " + text if opens else "a " + text
        return gains and any(not self._heard.holds(name) for name in names_in(written))

    def _brings_han(self, clause: Clause, text: str) -> bool:
        for cue in (self._lexicon.gained, _NOW_HAS, self._lexicon.switch):
            match = cue.search(clause.flat)
            found = match and _OBJECT.match(text, match.end())
            if found and not self._heard.holds(found["new"]):
                return True
        return False

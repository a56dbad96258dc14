"""Finds the wrong value that a message lets fall beside the right one: "X has nothing to do with it, it is called Y"."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

from proxy.memory.learn.extract_builtin.lazy import lazy
from proxy.memory.learn.extract_builtin.mentions import CODE, NAME, NOUN, Mention
from proxy.memory.learn.extract_builtin.reading import Clause, Sentence, is_brief, read_as
from proxy.memory.learn.extract_builtin.replacement import names_in
from proxy.memory.learn.extract_builtin.scan import Ending, Reason, Scan
from proxy.memory.learn.extract_builtin.typed import typed
from proxy.text.words import TEXTS_KEPT, Word, flat, same_word, words

_LANGUAGES = ("ru", "zh")
_FEW = 3  # telling words
_LONG = 20  # words (characters) of a clause that says so
_BY_THE_WAY = (
    r"\s*[»”\"]?\s*,?\s*(?:(?:тут|здесь|там|вообще|вообще-то|конечно|вовсе|совсем|правда|"
    r"в этой истории|на самом деле|оказывается|оказалось|и|же|как выяснилось) )*"
)
_FALLS = {  # says of what stands before it that it is wrong, whatever is right
    "ru": lazy(
        _BY_THE_WAY
        + r"(?:н[ие] при чем|ни при делах|отменя(?:ется|ются)|отпада(?:ет|ют)|не существу(?:ет|ют)|не быва(?:ет|ют)|вычеркива(?:ем|й|йте|ю)|выдум\w+|плод\b|"
        r"приснил\w+|померещил\w+|почудил\w+|послышал\w+|привидел\w+|(?:[-–—] )?(?:это )?(?:не оттуда|из (?:друго\w+|прошл\w+|сериал\w|книг\w|фильм\w|кино|анекдот\w|песн\w|мультик\w|мультфильм\w|роман\w|игр\w|рекламы|новостей|соседн\w+)|"
        r"опечатк\w|описк\w|ошибк\w|недоразумени\w|автозамен\w|т9|фантом|глюк|мимо|(?:моя |чистая )?(?:фантази\w|выдумк\w)|ерунд\w|чушь|бред|вранье)|нет и (?:никогда )?не было|не было и нет|и (?:рядом|близко) не|рядом не|"
        r"(?:следует |надо |нужно |прошу )?(?:читать|считать) (?:как|ошиб\w+|неверн\w+|недействит\w+)|недействител\w+|неверн\w+|ошибочн\w+|взял\w* (?:я )?(?:с потолка|из головы|неизвестно|непонятно|невесть|черт))"
    ),
    "zh": lazy(
        r"[》”\"]?(?:这个?|那个?)?(?:名字|人|地方|东西|说法|写法|数字?|型号|品种)?(?:其实|完全|根本|压根|统统|全|都|才|倒|可|纯|就)*"
        r"(?:查无此[人物]|不存在|是我(?:自己)?(?:按|照|凭|拿|从)[^，。]{1,10}的|是我(?:自己)?(?:脑补|瞎|编|幻想|猜|记|听|看|抄)[^，。]{0,4}的|是?我?(?:记|听|看|写|打|说|认|喊|叫|搞|弄|抄|念|输|填|报)(?:得|了)?[错岔串混反漏]|是?手[滑误快抖残]|是?(?:脑补|瞎编|杜撰)|纯属|没这(?:个?人|回事|号|个?东西)|有误|[错岔串]了?(?=$|[，。！])|作废|不[对算](?=$|[，。！])|"
        r"八竿子|八杆子|不沾边|不搭界|没(?:半毛钱|啥|什么|任何|一点)?关系|是(?:上|去|前)[^，。]{1,6}的|是(?:别人|人家|隔壁|同事|邻居|同学|朋友|亲戚|她|他|老婆|老公|我[妈爸哥姐弟妹])[^，。]{0,6}的?(?=$|[，。！])|是另[一外]|[^，。]{0,8}(?:从|打|由|自)?(?:哪里?|哪儿)[^，。]{0,3}(?:听|看|来|学|记|冒|抄)|是[^，。]{0,6}(?:糊弄|骗|忽悠|坑|蒙|逗|诓)我)"
    ),
}
_DISOWNS = lazy(  # what a wrong value turns out to be
    r"\s*[»”\"]?\s*(?:[-–—]|у (?:него|нее|них|моего|моей|папы|мамы|брата|сестры|соседа|соседки|коллеги|подруги|друга|мужа|жены|тещи|свекрови)\b|это\b|был[аио]?\b)|"
    r"\s*[》”\"]?(?:这个)?(?:说法)?(?:那|才|倒)?是"
)
_IS_ANOTHERS = lazy(
    r"[»”\"]?,? ?(?:[-–—] )?(?:это |ведь |же )*(?:у (?:них|нее|него) по |(?:его|ее|их|другой|другая|другое|прошл\w+|сосед\w*|стар\w+|бывш\w+|наш\w* (?:стар|прошл|бывш)\w+|другого|другой|из друг\w+)\b)"
)
_DISDAINS = lazy(  # "what X?"
    r"^\W*(?:[你这那]?(?:什么|啥|哪来的|哪门子|哪有什么|哪里?是什么)|(?:какой|какая|какое|какие|что за)(?: (?:там|еще|такой|такая|такое|к черту|на фиг|нафиг))?)\s*$"
)
_IS_HAN = lazy(
    r"(?:的(?:照片|图|花|东西)?是|(?:其实|明明|原来|应该|确实|才|就)是|那?[是叫]|姓)(?P<new>[\u4e00-\u9fffA-Za-z]{2,8})"
)
_IS_ATTRIBUTE = lazy(
    r"(?:的(?:名字|全名|大名)?)?(?:其实|应该|原来|现在|明明|本来|真名|全名|确实|一直)*[是叫姓为](?![^，。]*的$)"
)
_RUN = lazy(r"\d+|[a-z]+|[а-я]+")
_HAN = lazy("[\u4e00-\u9fff]")


_NEVER_DID = lazy(
    r"\s*[»”\"]?,? (?:я |мы |он |она |у нас |у меня )?(?:\w+ ){0,2}(?:вообще|вовсе|никогда|сроду|отродясь|в жизни|и близко|даже)(?: и| \w+)? не (?:\w+л[аио]?(?:с[ья])?|был\w?)\b"
)


class Mistakes(Scan):
    """Reads wrong values that stand beside right ones."""

    def _mistaken(self, place: int, sentence: Sentence) -> Iterator[Ending]:
        """Find the value that falls: said to be wrong, or a correction tells another one of the same thing."""
        if self._lexicon.code not in _LANGUAGES or sentence.asks:
            return
        for old in self._best(self._mentions[sentence.start], floor=NOUN):
            clause = self._clause_at(sentence, old)
            if self._is_idle(sentence, old) or not self._opens(old, clause) or self._names_what(old, clause):
                continue
            if self._is_wrong(old, clause, sentence):
                yield Ending(old.surface, "beside", sentence, old)
                continue
            apart = self._sets_apart(old, sentence)
            near_by = self._reading.sentences[max(0, place - 1) : place + 1 + apart] if self._corrects or apart else ()
            around = [(c, near) for near in near_by for c in near.clauses if c is not clause]
            frame, falls = self._told_with(old), self._is_let_fall(old, clause, sentence)
            right = [
                near
                for c, near in around
                if (falls or self._renames(c)) and self._tells_other(c, near, frame, bare=falls and near is sentence)
            ]
            if right:
                reason: Reason = "beside" if sentence in right else "correct"
                yield Ending(old.surface, reason, sentence, old)

    def _recoded(self, sentence: Sentence) -> Iterator[Ending]:
        """Find the code or figure that stands beside the one new one of its form ("no 7:42 any more, I take the 7:55")."""
        if self._lexicon.code not in _LANGUAGES or sentence.asks or self._lexicon.additive.search(sentence.flat):
            return
        yield from self._refigured(sentence)
        old = [m for m in self._mentions[sentence.start] if m.rank == CODE and not self._is_asked(sentence, m)]
        if len(old) != 1 or self._is_hedged(sentence, self._clause_at(sentence, old[0])):
            return
        start, end = old[0].start - sentence.start, old[0].end - sentence.start
        found = _alike(flat(old[0].surface)).finditer(sentence.flat)
        others = {sentence.text[slice(*m.span())] for m in found if m.end() <= start or m.start() >= end}
        if len(others) == 1 and not self._heard.holds(new := others.pop()):
            yield Ending(old[0].surface, "correct", sentence, old[0], new=new)

    def _refigured(self, sentence: Sentence) -> Iterator[Ending]:
        """Find the date, time or figure said before beside the one new one of its kind, in a message that corrects."""
        if not (self._corrects and is_brief(self._reading)):
            return
        found = [(near, value) for near in self._reading.sentences if not near.asks for value in typed(near.text)]
        said = [(near, value) for near, value in found if any(value.surface in text for text in self._heard.texts)]
        for near, old in said:
            others = {value.surface for _, value in found if value.kind == old.kind} - {
                value.surface for _, value in said
            }
            if near is sentence and old.kind != "number" and len(others) == 1 and len(said) == 1:
                yield Ending(old.surface, "correct", sentence, None, new=others.pop())

    def _opens(self, old: Mention, clause: Clause) -> bool:
        """Whether a value opens its clause, or follows what says that one thinks nothing of it ("what X?")."""
        before = clause.flat[: old.start - clause.start]
        return len(words(before)) <= 1 or _DISDAINS.match(before) is not None

    def _is_wrong(self, old: Mention, clause: Clause, sentence: Sentence) -> bool:
        """Whether a clause says of a value of the speaker's that it is wrong."""
        if len(words(clause.flat)) > _LONG or not self._is_personal(old):
            return False
        if _FALLS[self._lexicon.code].match(sentence.flat, old.end - sentence.start):
            return True
        told = (
            self._corrects and self._lexicon.code == "ru" and _NEVER_DID.match(sentence.flat, old.end - sentence.start)
        )
        if told and any(self._renames(c) for c in sentence.clauses if c is not clause):
            return True
        is_bare = len(words(clause.flat[old.end - clause.start :])) <= 1
        if not is_bare or not _DISDAINS.match(clause.flat[: old.start - clause.start]):
            return False
        return any(self._renames(c) for c in sentence.clauses if c is not clause and not c.asks)

    def _sets_apart(self, old: Mention, sentence: Sentence) -> bool:
        """Whether a brief Russian message opens by saying whose or what else a name is ("X is her deputy. The boss is Y")."""
        is_first = old.rank >= NAME and old.start == self._reading.sentences[0].start
        told = sentence.flat[old.end - sentence.start :]
        return (
            self._lexicon.code == "ru" and is_first and _IS_ANOTHERS.match(told) is not None and is_brief(self._reading)
        )

    def _is_let_fall(self, old: Mention, clause: Clause, sentence: Sentence) -> bool:
        """Whether a clause, about the value alone, says what it is otherwise."""
        before = clause.flat[: old.start - clause.start]
        if len(words(before)) > 1 or any(word.text not in self._lexicon.stop for word in words(before)):
            return False
        return _DISOWNS.match(sentence.flat, old.end - sentence.start) is not None

    def _renames(self, clause: Clause) -> bool:
        """Whether a clause gives a name that was never heard."""
        text = self._reading.text[clause.start : clause.end]
        if self._lexicon.code == "zh":
            match = _IS_HAN.search(clause.flat)
            return match is not None and not self._heard.holds(text[slice(*match.span("new"))])
        return any(not self._heard.holds(name) for name in names_in(". " + text))

    def _names_what(self, old: Mention, clause: Clause) -> bool:
        """Whether a common word is what something was told of, and not what was told ("grandma is from Y")."""
        is_kin = self._lexicon.kin.fullmatch(flat(old.surface)) is not None
        if old.rank >= NAME and not is_kin:
            return False
        surface, told = re.escape(flat(old.surface)), [flat(text) for text in old.said]
        if self._lexicon.code == "zh":
            topic = rf"(?:^|[，。！？；、,!?;]|我(?:们)?(?:家)?(?:的)?){surface}"
            is_attribute = old.rank == NOUN and _IS_ATTRIBUTE.match(clause.flat, old.end - clause.start) is not None
            ends = rf"{surface}(?:$|[，。！？；、,!?;的了吧呢啊])"
            if (is_attribute and not any(re.search(ends, text) for text in told)) or all(
                re.search(topic, text) for text in told
            ):
                return True
        after = surface + r"(?:\s*[-–—]|\s+это\b|的?.{0,2}(?:[是叫在姓为]|定在))"
        return is_kin or any(re.search(after, text) for text in told)

    def _told_with(self, old: Mention) -> list[Word]:
        """Return the telling words of the clauses in which the value was said before."""
        own = {word.text for word in words(old.surface)}
        told: list[Word] = []
        for text in old.said:
            for near in read_as(text, self._lexicon).sentences:
                if any(same_word(word.text, other) for word in near.words for other in own):
                    told += [w for w in near.words if w.text not in own and w.text not in self._lexicon.stop]
        return told

    def _tells_other(self, clause: Clause, sentence: Sentence, frame: list[Word], *, bare: bool = False) -> bool:
        """Whether a clause tells something unheard with a word of the frame, or ``bare``, in few words."""
        if clause.asks or (self._is_hedged(sentence, clause) and not self._lexicon.correction.search(clause.flat)):
            return False
        found = [word for word in words(flat(clause.flat)) if word.text not in self._lexicon.stop]
        shares = any(same_word(word.text, other.text) for word in found for other in frame)
        shares = shares or (bare and len(found) <= _FEW)
        is_named = self._lexicon.code == "zh" and self._renames(clause)
        return (shares or is_named) and any(not self._heard.holds(word.text) for word in found)


@lru_cache(maxsize=TEXTS_KEPT)
def _alike(code: str) -> re.Pattern[str]:
    """Return a pattern of what is written like a code, by its runs of digits and of letters."""
    form, at = "", 0
    for run in _RUN.finditer(code):
        form += re.escape(code[at : run.start()]) + (r"\d+" if run[0].isdigit() else "[a-zа-я]+")
        at = run.end()
    form += re.escape(code[at:])
    return re.compile(form if _HAN.search(code) else rf"(?<![\da-zа-я.,:/-]){form}(?![\da-zа-я/-])")

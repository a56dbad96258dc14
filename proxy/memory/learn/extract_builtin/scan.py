"""What every search for an ending shares: mentions, whose they are, and which of them is meant."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from proxy.memory.learn.extract_builtin.english_facts import KIN
from proxy.memory.learn.extract_builtin.lazy import lazy
from proxy.memory.learn.extract_builtin.lexicon import Lexicon, group_of
from proxy.memory.learn.extract_builtin.mentions import NAME, NOUN, Mention
from proxy.memory.learn.extract_builtin.reading import Clause, Sentence
from proxy.memory.learn.extract_builtin.told import Told
from proxy.text.words import HAS_CJK, Span, flat, words

_NEAR = 40  # characters between a subject and what it does
SPEAKER = lazy(r"\b(?:i|we|ich|wir|yo|nosotr[oa]s|я|мы)\b|我")
# Somebody else does it, to the speaker ("the doctor took me off it").
_DONE_TOSPEAKER = lazy(
    r"\b(?:puts?|tak(?:es?|en|ing)|took|ma[dk]es?|ha[sd]|got|getting|talked|forced|mov(?:ed|ing)|switch(?:ed|ing)|kick(?:ed)?|bann(?:ed|ing)|barred|swapped|"
    r"changed|let|sacked|fired|dropped|transferred|promoted|wean(?:ed|ing)|pulled|prescribed|g[ai]ven?|convinced|persuaded|helped|drove|signed|booked|threw|"
    r"chucked|ordered|forbade|forbidden|stopp(?:ed|ing)|cut|sent|steered|reassigned|converted)(?: \w+)? (?:me|us)\b"
    r"|\b(?:sold|cancell?ed|closed|gave|threw|took|scrapped|binned|got rid of|ended|terminated|shut down|confiscated|repossessed) (?:my|our)\b|\boff (?:my|our) hands\b"
    r"|\b(?:hat|haben|wurde|wird|will|ließ|lässt|nahm|nimmt|strich|verbot|setzte|kündigte|schickte|warf)(?: \w+){0,2} (?:mich|mir|uns|meine[nmrs]?|unsere[nmrs]?)\b(?!.*\b(?:gesagt|erzählt|gefragt|geschrieben|berichtet|gezeigt|sein\w*|ihre?[nmrs]?)\b)"
    r"|л[аи]?(?:с[ья])? (?:\w+ )?(?:меня|мне|нас|нам|мо[йюяи]|наш\w?)\b|^ (?:\w+ )?(?:меня|мне|нас|нам) (?:\w+ )?\w+л[аи]?\b"
    r"|\b(?:me|nos) (?:ha|han|había|hizo|quitó|retiró|suspendió|prohibió|cambió|echó|mandó|pasó|movió|trasladó|ascendió|convenció|obligó|puso|sacó|dio|canceló|cerró|expulsó|despidió)\b(?! (?:dicho|contado|preguntado|escrito|enseñado|su\b))"
)
_IF = lazy(
    r"\W*(?:(?:and|but|so|und|aber|y|pero|и|а|но|even|auch|incluso|даже) )?(?:if(?! (?:you|it|anyone)\b)|unless|whenever|falls|wenn|jedes mal wenn|sobald|si(?! (?:te|le|lo) )|si (?:lo|la|le|me) \w+(?:ara|era|iera)|если|каждый раз|всякий раз)\b"
    r"|[^，。]{0,4}(?:如果|要是|假如|假使|倘若|若是|万一|一旦|哪怕)|(?:每次|每当|等我?哪天|哪天)"
)
_IMPERSONAL = lazy(
    r"\bне (?:будет|бывать|видать|светит|состоится|стало)\b"
)  # has no subject that an earlier clause may lend
_KEEPER = lazy(
    r"[妈爸父母]|老师|医生|大夫|教练|老板|公司|学校|老公|老婆|医院|店家|客服|тренер|учител|преподавател|хозя|директор|начальни|врач|доктор|шеф|босс|мам|мать|пап|отец|родител|бывш"
)  # who decides for the speaker
_DISPOSES = lazy(
    r"(?:把|将)[^，。]{1,10}(?:退|停|取消|断|没收|卖|扔|送|拔|砍|撤|掐|辞|关|销|删|换|解散|裁|封|毙|清|收|划)|^(?!.*\bсво).*\b(?:закры|сверну|отмени|прекрати|распусти|разогна|расформирова|упраздни|запрети|зарубил|отобра|забра|отсуди|вычеркну|исключи|выброси|выкину|отжа|изъя|сня)л?[аи]?\b"
)
_FRAU = lazy(r"(?<!meine )(?<!seine )(?<!Meine )(?<!unsere )\bFrau (?:Dr\. |Prof\. )?[A-ZÄÖÜ]")
_JUDGES_HAN = lazy(r"(?:说|看了|觉得|认为|讲|表示|查了|一听|一看)")
_HANGS = lazy(r"\W*(?:that|dass|daß|que|что|чтобы|как)\b")
_LONG_AGO = lazy(  # what holds was said since
    r"\bvor (?:\w+ ){0,3}jahr(?:en|zehnten)\b|\b(?:anno|im jahr|\w*anfang|ende|mitte) (?:19|20)\d\d\b|^\W*(?:und |aber )?(?:in )?(?:19|20)\d\d (?:hatte|habe?|war|bin)\b|"
    r"\bhatte (?:ich|wir) .{0,60}\b(?:mal|schon einmal|zwischendurch|zwischenzeitlich|kurzzeitig|eine zeit ?lang|vorübergehend)\b|"
    r"\bhace (?:\w+ ){0,3}(?:años|décadas)\b|\b(?:en|por|allá por|desde) (?:el |el año )?(?:19|20)\d\d\b|\bcuando (?:nació|nacieron|era|éramos|estudiaba|vivía|tenía \w+ años|iba al?)\b|\buna (?:vez|temporada)\b(?! más)|"
    r"\b(?:\w+ )?(?:years|decades) ago\b|\bback in (?:19|20)\d\d\b"
)
_CAME_BACK = lazy(
    r"\bausgehalten\b|\bdurchgehalten\b|\brückfällig\b|\breumütig\b|\bbereut\b|\bgehalten hat (?:das|es)\b|\bwieder (?:angefangen|eingestiegen|zurück|dabei|da|drin|damit)\b|\bseitdem (?:\w+ ){0,3}wieder\b|"
    r"\bdur(?:é|amos)\b|\baguant(?:é|amos)\b|\bvolví\b(?! a (?:dejar|romper))|\brecaí\b|\bregresé\b|\bme arrepentí\b|\bretom(?:é|amos)\b|"
    r"\bвернул(?:ся|ась|ись)\b(?! (?:к|на|в)\b)|\bнаш(?:ел|л[аи])с[ья]\b|\bнашл[аи]\b(?= (?:его|ее|их|под|в|за|на|у))|\bпомирил\w+|\bвосстановил\w*|\bпочинил\w*|(?<![要讨拿退收])回来了|找(?:到|回来)的?|和好|修好|恢复了|"
    r"\b(?:lasted|got back into|went back to it|picked it (?:back )?up again)\b"
)

HABITUAL = lazy(  # no slip just now
    r"\b(?:always|often|usually|constantly|keep|kept) (?:\w+ )?(?:mix|confus)\w*"
)
REQUEST = lazy(
    r"(?:\W|please |bitte |por favor |пожалуйста |ok |and |und |y |и )*(?:can you|could you|would you|write|make|give|show|use|translate|explain|do it|send|put|draft|create|generate|provide|list|continue|"
    r"finish|analy[sz]e|summari[sz]e|rewrite|suggest|recommend|compare|describe|build|fix|convert|calculate|outline|compose|revise|expand|shorten|"
    r"kannst du|könntest|schreib|mach|zeig|nimm|gib|puedes|podrías|escribe|haz|usa|dame|pon|можешь|напиши|сделай|используй|дай|покажи|переведи)\b|(?:请|帮我|给我|用|写)"
)
_SET_LONG_AGO = lazy(
    r"\b(?:в (?:детстве|школе|юности|молодости|армии|институте|садике|\w+ классе)|студент(?:ом|кой)|(?:когда|пока) (?:я )?был\w? (?:мал|реб|студ|школь)\w+)\b|"
    r"小时候|那会儿|那年|当年|儿时|年轻的?时候|上学(?:那会|的时候)|(?:小学|初中|高中|大学)(?:那会|时|的时候|那阵)"
)
_BY_NOW = lazy(r"\b(?:теперь|сейчас)\b|现在|如今")

Reason = Literal["retract", "forget", "replace", "correct", "beside", "succeeded"]


@dataclass(frozen=True, slots=True)
class Ending:
    """A value that a message ends.

    Args:
        value: As written in the message.
        reason: Why it ends.
        sentence: Where that is said.
        mention: What it refers back to, None where nothing of it was heard.
        subject: Whose value it is.
        new: The value in its place, "" where that is still to be found.
    """

    value: str
    reason: Reason
    sentence: Sentence
    mention: Mention | None
    subject: str = "user"
    new: str = ""


_QUOTED = lazy(r"«[^»]*»")  # a title may hold any word


_FRIENDS = lazy(
    r"\b(?:друж\w+|приятел\w+|подруж\w+|жив(?:у|ем) (?:\w+ ){0,3}со?)\b|朋友|闺蜜|哥们|养了?|搭子|室友|舍友|宿舍|合[住租]|同住"
)


class Scan(Told):
    """The mentions of one message and what stands around them."""

    def _is_made_up(self, sentence: Sentence, clause: Clause) -> bool:
        """Whether a clause belongs to what the assistant is asked to write, and not to the speaker."""
        return REQUEST.match(sentence.flat) is not None and not self._lexicon.first.search(clause.flat)

    def _is_hedged(self, sentence: Sentence, clause: Clause) -> bool:
        """Whether a clause is a mere thought, or hangs on one ("I never said that …")."""
        if self._lexicon.hedge.search(clause.flat) or any(_IF.match(other.flat) for other in sentence.clauses):
            return True
        if not _HANGS.match(clause.flat):
            return False
        before = [other for other in sentence.clauses if other.end <= clause.start]
        return bool(before) and self._is_hedged(sentence, before[-1])

    def _is_undone(self, sentence: Sentence, clause: Clause) -> bool:
        """Whether what a clause tells was so years ago, or was taken back since: what holds was said after it."""
        return not self._corrects and (_LONG_AGO.search(clause.flat) is not None or self._came_back(sentence, clause))

    def _came_back(self, sentence: Sentence, clause: Clause) -> bool:
        """Whether what is told after a clause undoes it and names nothing else ("gave it up, lasted a week")."""
        found = self._reading.sentences
        place = found.index(sentence)
        after = [(sentence, other) for other in sentence.clauses if other.start > clause.start]
        after += [(near, other) for near in found[place + 1 : place + 3] for other in near.clauses]
        named = {m.surface.casefold() for m in self._mentions[sentence.start] if m.start < clause.end}
        for near, other in after:
            if other.asks or not _CAME_BACK.search(other.flat):
                continue
            inside = [m for m in self._within(other, near) if m.rank >= NOUN and m.surface.casefold() not in named]
            if not inside:
                return True
        return False

    def _is_long_ago(self, sentence: Sentence, clause: Clause) -> bool:
        """Whether an earlier clause set a time long gone, and this one does not come back from it."""
        if _BY_NOW.search(clause.flat):
            return False
        return any(_SET_LONG_AGO.search(other.flat) for other in sentence.clauses if other.start < clause.start)

    def _is_negated(self, clause: Clause, place: int) -> bool:
        """Whether a clause denies what stands at ``place``; in English a negation after it is of something else."""
        if self._lexicon.code != "en":
            return (
                self._lexicon.negation.search(_QUOTED.sub(lambda title: " " * len(title[0]), clause.flat)) is not None
            )
        return self._lexicon.negation.search(clause.flat, 0, place) is not None

    def _is_a_being(self, mention: Mention) -> bool:
        """Whether a Russian or Chinese message gave a name to somebody or to a pet."""
        if self._lexicon.code not in ("ru", "zh"):
            return False
        return any(self._lexicon.kin.search(flat(text)) or _FRIENDS.search(flat(text)) for text in mention.said)

    def _is_asked(self, sentence: Sentence, mention: Mention) -> bool:
        return self._clause_at(sentence, mention).asks

    def _is_idle(self, sentence: Sentence, mention: Mention) -> bool:
        clause = self._clause_at(sentence, mention)
        if clause.asks or self._is_hedged(sentence, clause):
            return True
        return any(pattern.search(clause.flat) for pattern in (self._lexicon.past, self._lexicon.limited))

    def _third(self, sentence: Sentence, clause: Clause, targets: Sequence[Mention]) -> str | None:
        """Return whose value ends: "user", a person's noun said with it before, None for somebody else's."""
        match = self._lexicon.third.search(clause.flat)
        if match is None and not self._lexicon.first.search(clause.flat) and not _IMPERSONAL.search(clause.flat):
            match = self._inherited(sentence, clause)
        if match is not None and self._is_whoever(sentence, clause, match):
            return "user"
        if match is None or (self._lexicon.code == "ru" and match[0][-1] in "ую"):  # "took our daughter out of X"
            return "user"
        if match.string is clause.flat and self._is_titled(clause, match):
            return "user"
        where = group_of(match, "who") or group_of(match, "whom") or match.span()
        if match.string is clause.flat and (self._acts(clause, where[1], targets) or self._undergoes(clause, where[1])):
            return "user"
        keeper = match.string[slice(*where)]
        if _KEEPER.search(keeper) and keeper[-1] not in "еую" and _DISPOSES.search(clause.flat):
            return "user"
        if match.string is clause.flat and _KEEPER.search(keeper) and _JUDGES_HAN.match(clause.flat, where[1]):
            return "user"
        if match.string is clause.flat and self._stands_for(sentence, clause, where, targets):
            return "user"
        who = clause.flat[slice(*where)] if match.string is clause.flat else match.string[slice(*where)]
        if any(
            mention.start < clause.start + match.end() and mention.end > clause.start + where[0] - 1
            for mention in targets
            if mention.rank >= NAME and clause.start <= mention.start < clause.end
        ):
            return "user"
        return _known_as(who, targets, self._lexicon)

    def _is_titled(self, clause: Clause, match: re.Match[str]) -> bool:
        """Whether a German "wife" is but the title of whoever is named next ("Frau Weber has retired")."""
        titled = _FRAU.search(self._reading.text, clause.start + match.start(), clause.end)
        return self._lexicon.code == "de" and match[0].endswith("frau") and titled is not None

    def _is_whoever(self, sentence: Sentence, clause: Clause, match: re.Match[str]) -> bool:
        """Whether an English "they" stands for nobody named ("they've closed the waiting list")."""
        if self._lexicon.code != "en":
            return False
        who = group_of(match, "whom")
        if who is None or match.string[slice(*who)] != "they" or self._lexicon.limited.search(clause.flat):
            return False
        return self._lexicon.kin.search(self._reading.text[: clause.start].lower()) is None

    def _acts(self, clause: Clause, start: int, targets: Sequence[Mention]) -> bool:
        """Whether the speaker is the subject between somebody else and the value."""
        stop = min((m.start for m in targets if clause.start + start <= m.start < clause.end), default=clause.end)
        return SPEAKER.search(clause.flat[start : stop - clause.start]) is not None

    def _stands_for(self, sentence: Sentence, clause: Clause, where: Span, targets: Sequence[Mention]) -> bool:
        """Whether the pronoun of a clause is the one named at the start of the clause before ("Ann moved, so she can't come")."""
        if clause.flat[slice(*where)] not in ("he", "she", "they") or not targets:
            return False
        before = [other for other in sentence.clauses if other.end <= clause.start]
        return bool(before) and all(
            m.rank >= NAME
            and before[-1].start <= m.start < before[-1].end
            and not words(before[-1].flat[: m.start - before[-1].start])
            for m in targets
        )

    def _undergoes(self, clause: Clause, start: int) -> bool:
        """Whether what somebody else does is done to the speaker."""
        return _DONE_TOSPEAKER.search(clause.flat, start, start + _NEAR) is not None

    def _inherited(self, sentence: Sentence, clause: Clause) -> re.Match[str] | None:
        """Return the somebody of an earlier clause where this one names no subject of its own."""
        for earlier in reversed([other for other in sentence.clauses if other.end <= clause.start]):
            match = self._lexicon.third.search(earlier.flat)
            if match is not None and match.end() < len(earlier.flat.rstrip()):  # not "because of the baby"
                is_patient = self._lexicon.code == "ru" and self._undergoes(earlier, match.end())
                return None if is_patient else match
            if self._lexicon.first.search(earlier.flat):
                return None
        return None


_HE = frozenset(("he", "she", "they"))
_OF_MINE = lazy(rf"\b(?:my|our) (?:\w+ )?({KIN})\b")
_SAME_PERSON = (  # other words for the same one of a family
    frozenset(("hija", "niña", "nena", "peque", "cría", "pequeña", "mayor", "chiquilla")),
    frozenset(("hijo", "niño", "nene", "peque", "crío", "pequeño", "mayor", "chaval", "chiquillo")),
    frozenset(("mujer", "esposa", "señora", "parienta")),
    frozenset(("marido", "esposo")),
    frozenset(("padre", "papá", "viejo")),
    frozenset(("madre", "mamá", "vieja")),
    frozenset(("tochter", "kleine", "mädchen", "mädel", "große", "kind", "töchterchen")),
    frozenset(
        ("sohn", "kleiner", "kleine", "junge", "bub", "großer", "große", "kind", "filius", "jüngster", "ältester")
    ),
    frozenset(("mann", "ehemann", "gatte", "göttergatte")),
    frozenset(("frau", "ehefrau", "gattin")),
    frozenset(("vater", "papa", "vati")),
    frozenset(("mutter", "mama", "mutti")),
    frozenset(("oma", "großmutter", "omi")),
    frozenset(("opa", "großvater", "opi")),
)


_PRONOUNS = frozenset(("er", "sie", "él", "ella"))


def _known_as(who: str, targets: Sequence[Mention], lexicon: Lexicon) -> str | None:
    """Return the noun under which a person was told of together with one of ``targets``."""
    for mention in targets:
        for text in mention.said:
            if HAS_CJK.search(who) and who in text:
                return who
            if lexicon.code == "en" and who in _HE and (found := _OF_MINE.search(text.lower())):
                return found[1]
            if who in _PRONOUNS and (kin := lexicon.kin.search(text.lower())):
                return kin[0]
            for word in words(text):
                if _same_person(word.text, who):
                    return word.text if lexicon.kin.fullmatch(word.text) else who
    return None


def _same_person(word: str, who: str) -> bool:
    if any(word in names and who in names for names in _SAME_PERSON):
        return True
    return word == who or (
        who not in _HE and len(who) > 3 and word[: len(who) - 1] == who[:-1] and abs(len(word) - len(who)) <= 2
    )

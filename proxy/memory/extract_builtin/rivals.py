"""Finds old values that a message sets against new ones without a word of ending ("X went to pieces, bought a Y")."""

from __future__ import annotations

import re
from collections.abc import Iterator

from proxy.memory.extract_builtin.mentions import GENERIC, NAME, NOUN, Mention
from proxy.memory.extract_builtin.reading import Clause, Sentence
from proxy.memory.extract_builtin.replacement import names_in
from proxy.memory.extract_builtin.scan import Ending, Reason
from proxy.memory.extract_builtin.switches import GAINS, NOW, Switches
from proxy.memory.words import words

_LANGUAGES = ("ru", "zh")
_OPENING_WORDS = {"ru": 4, "zh": 5}  # before a value that a clause is about
_MAX_AFTER = 2  # clauses of the next sentence that may tell of the new value
_SINCE = re.compile(
    r"\bсо? (?:\w+ )?(?:четверти|семестра|сезона|недели|месяца|смены|числа)\b|\bс (?:январ|феврал|март|апрел|ма|июн|июл|август|сентябр|октябр|ноябр|декабр|понедельник|вторник|сред|четверг|пятниц|"
    r"суббот|воскресень|осен|весн|зим|лет|нового|этого|прошло)\w*|\b(?:второй|третий|четвертый|пятый|уже) (?:день|месяц|год|\w+)\b|\b(?:отныне|впредь|этим летом|этой (?:зимой|осенью|весной))\b|\bу (?:меня|нас)\b"
)
_PRAISES = re.compile(
    r"\b(?:нравит|обожа|восхити|отличн|прекрасн|супер)\w*|真心|不错|满意|漂亮|舒服得|好用|推荐|棒|完美"
)
_SAYS_AGAIN = re.compile(
    r"\bостал(?:ся|ась|ось|ись)\b(?! в прошлом)|\bоста(?:ется|ются|вил\w?)\b|\b(?:снова|опять|зато|по-прежнему|все еще)\b|又|还是|依然|仍|照[去吃喝用练上读看住常旧]|留着|留给"
)
_NOW_HAS = re.compile(
    rf"(?:{NOW.pattern}|已经|早就|清一色)[^，。]{{0,6}}?[是用喝吃骑开住在穿戴喂抱玩听看练学跟找去坐读追养]"
)
_LONG = 40  # words (characters) of a sentence that sets one thing against another
_OBJECT = re.compile(
    r"(?:了|到|成|在|去|给|的是|是|用|上)*(?:一?[台辆个部只双条家款名位本张])?(?P<new>[\u4e00-\u9fffA-Za-z]{2,8})"
)


class Rivals(Switches):
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

    def _is_topic_of(self, old: Mention, clause: Clause) -> bool:
        floor = NAME if self._lexicon.code == "ru" else NOUN
        if old.rank < floor or old.rank == GENERIC or not self._is_personal(old):
            return False
        before = words(self._reading.text[clause.start : old.start])
        return len(before) <= _OPENING_WORDS[self._lexicon.code]

    def _keeps(self, sentence: Sentence, clause: Clause) -> bool:
        cues = (self._lexicon.again, _SAYS_AGAIN, _PRAISES)
        return any(cue.search(clause.flat) for cue in cues) or self._is_made_up(sentence, clause)

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

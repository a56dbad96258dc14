"""Finds Russian and Chinese values that gave their place to something unheard: told in the words in which the old one was told."""

from __future__ import annotations

import re
from collections.abc import Iterator

from proxy.memory.learn.extract_builtin.lazy import lazy
from proxy.memory.learn.extract_builtin.mentions import GENERIC, NAME, NOUN, Mention
from proxy.memory.learn.extract_builtin.reading import Clause, Sentence, is_brief, read_as
from proxy.memory.learn.extract_builtin.replacement import names_in
from proxy.memory.learn.extract_builtin.rivals import Rivals
from proxy.memory.learn.extract_builtin.scan import Ending
from proxy.text.words import flat, same_word, words

_HAPPENS = {  # something became of it, or is said against it
    "ru": lazy(
        r"\b(?!был\b|была\b|было\b|были\b)[а-я]{2,}(?:л|ла|ло|ли)(?:с[ья])?\b|\bне \w+|\bбольше\b|\b(?:отда|прода|закры|убра|снят|сдан)[а-я]{0,2}\b"
    ),
    "zh": lazy(r"了|不|没|涨|太|给|被|完|掉|老是|总是"),
}
_ASIDE = {  # the old one goes on, or is but spoken of
    "ru": lazy(
        r"\b(?:посоветовал|порекомендовал|сказал(?! \w+(?:ть|ти|чь)\b)(?!а \w+(?:ть|ти|чь)\b)|похвалил|передал привет|прислал|подарил|помог|научил|показал|объяснил|разрешил|обещал|спросил|написал|позвонил|понравил|хвалил|рассказал|пригласил|предложил|поздравил|купил|взял|завел|родил|начал)\w*\b"
    ),
    "zh": lazy(
        r"说(?!不)|推荐|建议|告诉|教(?:了|会)|夸|送(?:了)?我|给我|帮|请我|叫我|约我|还(?:是|在|用|吃|喝)|也|生日|表扬|考了|得了|学会|长大|买了"
    ),
}
_TOO = lazy(r"\b(?:тоже|также|еще|вдобавок|кроме)\b|[也还]|除了")
_SET_OFF_HAN = lazy(r"(?:^|[把将被让给从由在跟和与的了我家说原]|后来|现在|中途|昨天|上周|最近)$")
_PAIR_HAN = 2
_IDLE_HAN = lazy(r"[我咱你他她它的了是有在就都也还又再把被让给从到对和跟与这那没不很太最每现目前已经一个个今]")
_TELLS_HAN = lazy(
    r"(?:的是|[投报选用喝吃穿戴]的|是|叫|姓|换成了?|改成了?|换了|由|归|找了?|请了?|去了?|到了?|吃|喝|用|穿|骑|开|坐|学|练|住|看|订了?|定了?|买了?)(?P<new>[\u4e00-\u9fffA-Za-z\d]{2,8})"
)
_LONG = {"ru": 30, "zh": 60}
_LEAST_LETTERS = 4


class Heirs(Rivals):
    """Reads what an old value gave its place to."""

    def _handed_down(self, place: int, sentence: Sentence) -> Iterator[Ending]:
        """Find the one old value of a clause in which something becomes of it, where another clause tells the same of something new."""
        code = self._lexicon.code
        if code not in _LONG or sentence.asks or len(sentence.words) > _LONG[code] or not is_brief(self._reading):
            return
        for old in self._mentions[sentence.start]:
            clause = self._clause_at(sentence, old)
            if not self._may_give_way(old, clause, sentence):
                continue
            after = self._reading.sentences[place + 1 : place + 2]
            others = [(c, sentence) for c in sentence.clauses if c is not clause]
            others += [(c, near) for near in after for c in near.clauses[:2]]
            frame = self._told_beside(old)
            if any(self._takes_its_part(c, near, frame) for c, near in others):
                yield Ending(old.surface, "beside", sentence, old)
                return

    def _may_give_way(self, old: Mention, clause: Clause, sentence: Sentence) -> bool:
        is_written = old.surface[:1].isupper() and old.start != sentence.start
        floor = NAME if self._lexicon.code == "ru" and is_written else NOUN
        if old.rank < floor or old.rank == GENERIC or not self._is_personal(old):
            return False
        if self._is_idle(sentence, old) or self._keeps(sentence, clause) or _TOO.search(clause.flat):
            return False
        if self._lexicon.kin.fullmatch(flat(old.surface)) or _ASIDE[self._lexicon.code].search(clause.flat):
            return False
        if not _HAPPENS[self._lexicon.code].search(clause.flat) or self._third(sentence, clause, [old]) != "user":
            return False
        if self._lexicon.code == "zh" and not _SET_OFF_HAN.search(clause.flat[: old.start - clause.start]):
            return False
        if self._lexicon.code == "zh" and not any(self._is_whole(old, text) for text in old.said):
            return False
        return not self._is_part(old, clause, old.end) and not self._is_of_another(old, clause)

    def _is_whole(self, old: Mention, text: str) -> bool:
        """Whether a text names a Chinese value as a word of its own."""
        return (
            re.search(re.escape(flat(old.surface)) + r"(?:$|[，。！？；、,!?;的了和跟来在给])", flat(text)) is not None
        )

    def _takes_its_part(self, clause: Clause, sentence: Sentence, frame: list[str]) -> bool:
        """Whether a clause tells something never heard of in a word of the frame."""
        if not self._may_come(clause, sentence) or self._lexicon.past.search(clause.flat):
            return False
        text = self._reading.text[clause.start : clause.end]
        if self._lexicon.code == "zh":
            new = next((m for m in _TELLS_HAN.finditer(clause.flat) if not self._heard.holds(m["new"])), None)
            return new is not None and any(pair in clause.flat for pair in frame)
        found = words(text)
        shared = [word for word in found if any(_is_akin(word.text, other) for other in frame)]
        fresh = [name for name in names_in("a " + text) if not self._heard.holds(name)]
        plain = [w for w in found if len(w.text) >= _LEAST_LETTERS and w.text not in self._lexicon.stop]
        is_new = bool(fresh) or (self._comes(clause.flat) and any(not self._heard.holds(w.text) for w in plain))
        return bool(shared) and is_new

    def _told_beside(self, old: Mention) -> list[str]:
        """Return the telling words (pairs of characters) of the clauses in which a value was said before."""
        own = {word.text for word in words(old.surface)}
        told: list[str] = []
        for text in old.said:
            for near in read_as(text, self._lexicon).sentences:
                for clause in near.clauses:
                    if flat(old.surface)[:4] in clause.flat:
                        told.append(clause.flat.replace(flat(old.surface), "，"))
        if self._lexicon.code == "zh":
            runs = _IDLE_HAN.sub("，", "，".join(told)).split("，")
            return [run[i : i + _PAIR_HAN] for run in runs for i in range(len(run) - 1)]
        idle = self._lexicon.stop
        return [
            w.text for part in told for w in words(part) if w.text not in idle | own and len(w.text) >= _LEAST_LETTERS
        ]


def _is_akin(word: str, other: str) -> bool:
    """Whether two words are forms of one another or of one root ("supper", "I have for supper")."""
    alike = min(len(word), len(other)) >= _LEAST_LETTERS and word[:_LEAST_LETTERS] == other[:_LEAST_LETTERS]
    return same_word(word, other) or (alike and abs(len(word) - len(other)) <= _LEAST_LETTERS)

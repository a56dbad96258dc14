"""Finds old values that a message sets against new ones without a word of ending ("X went to pieces, bought a Y")."""

from __future__ import annotations

import re
from collections.abc import Iterator

from proxy.memory.extract_builtin.mentions import CODE, GENERIC, NAME, NOUN, Mention
from proxy.memory.extract_builtin.reading import Clause, Sentence, read_as
from proxy.memory.extract_builtin.replacement import names_in
from proxy.memory.extract_builtin.scan import Ending, Reason
from proxy.memory.extract_builtin.switches import GAINS, NOW, Switches
from proxy.memory.words import Word, flat, same_word, words

_LANGUAGES = ("ru", "zh")
_OPENING_WORDS = {"ru": 4, "zh": 5}  # before a value that a clause is about
_MAX_AFTER = 2  # clauses of the next sentence that may tell of the new value
_SINCE = re.compile(
    r"\bс (?:январ|феврал|март|апрел|ма|июн|июл|август|сентябр|октябр|ноябр|декабр|понедельник|вторник|сред|четверг|пятниц|"
    r"суббот|воскресень|осен|весн|зим|лет|нового|этого|прошло)\w*|\b(?:второй|третий|четвертый|пятый|уже) (?:день|месяц|год|\w+)\b|\b(?:отныне|впредь|этим летом|этой (?:зимой|осенью|весной))\b|\bу (?:меня|нас)\b"
)
_DISOWNS = re.compile(  # what a wrong value turns out to be
    r"\s*[»”\"]?\s*(?:[-–—]|у (?:него|нее|них|моего|моей|папы|мамы|брата|сестры|соседа|соседки|коллеги|подруги|друга|мужа|жены|тещи|свекрови)\b|это\b|был[аио]?\b)|"
    r"\s*[》”\"]?(?:这个)?(?:说法)?(?:那|才|倒)?是"
)
_PRAISES = re.compile(
    r"\b(?:нравит|обожа|восхити|отличн|прекрасн|супер)\w*|真心|不错|满意|漂亮|舒服得|好用|推荐|棒|完美"
)
_SAYS_AGAIN = re.compile(
    r"\bостал(?:ся|ась|ось|ись)\b(?! в прошлом)|\bоста(?:ется|ются|вил\w?)\b|\b(?:снова|опять|зато|по-прежнему|все еще)\b|又|还是|依然|仍|留着|留给"
)
_NOW_HAS = re.compile(rf"(?:{NOW.pattern})[^，。]{{0,6}}?[是用喝吃骑开住在穿戴喂抱玩听看练学跟找去坐读追养]")
_IS_HAN = re.compile(r"(?:的是|那?是|叫|姓)(?P<new>[\u4e00-\u9fffA-Za-z]{2,8})")
_FIGURE = re.compile(r"\d[\d:.,/-]*\d|\d")
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

    def _mistaken(self, place: int, sentence: Sentence) -> Iterator[Ending]:
        """Find the value that a correction lets fall, where it tells another one of the same thing ("X is her cousin's")."""
        if self._lexicon.code not in _LANGUAGES or not self._corrects or sentence.asks:
            return
        for old in self._best(self._mentions[sentence.start], floor=NOUN):
            clause = self._clause_at(sentence, old)
            if self._is_idle(sentence, old):
                continue
            if self._names_what(old) or len(words(self._reading.text[clause.start : old.start])) > 1:
                continue
            near_by = self._reading.sentences[max(0, place - 1) : place + 1]
            around = [(c, near) for near in near_by for c in near.clauses if c is not clause]
            frame, falls = self._told_with(old), self._is_let_fall(old, clause, sentence)
            right = [near for c, near in around if (falls or self._renames(c)) and self._tells_other(c, near, frame)]
            if right:
                reason: Reason = "beside" if sentence in right else "correct"
                yield Ending(old.surface, reason, sentence, old)

    def _recoded(self, sentence: Sentence) -> Iterator[Ending]:
        """Find the code or figure that stands beside the one new one of its form ("no 7:42 any more, I take the 7:55")."""
        if self._lexicon.code not in _LANGUAGES or sentence.asks or self._lexicon.additive.search(sentence.flat):
            return
        old = [m for m in self._mentions[sentence.start] if m.rank == CODE and not self._is_asked(sentence, m)]
        if len(old) != 1 or self._is_hedged(sentence, self._clause_at(sentence, old[0])):
            return
        others = [m[0] for m in _FIGURE.finditer(sentence.flat) if m[0] not in flat(old[0].surface)]
        form = re.sub(r"\d", "0", "".join(_FIGURE.findall(flat(old[0].surface))))
        if len(others) == 1 and re.sub(r"\d", "0", others[0]) == form and not self._heard.holds(others[0]):
            yield Ending(old[0].surface, "correct", sentence, old[0])

    def _is_topic_of(self, old: Mention, clause: Clause) -> bool:
        floor = NAME if self._lexicon.code == "ru" else NOUN
        if old.rank < floor or old.rank == GENERIC or not self._is_personal(old):
            return False
        before = words(self._reading.text[clause.start : old.start])
        return len(before) <= _OPENING_WORDS[self._lexicon.code]

    def _keeps(self, sentence: Sentence, clause: Clause) -> bool:
        cues = (self._lexicon.again, _SAYS_AGAIN, _PRAISES)
        return any(cue.search(clause.flat) for cue in cues) or self._is_made_up(sentence, clause)

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
            match = _IS_HAN.search(text)
            return match is not None and not self._heard.holds(match["new"])
        return any(not self._heard.holds(name) for name in names_in(". " + text))

    def _names_what(self, old: Mention) -> bool:
        """Whether a common word is what something was told of, and not what was told ("grandma is from Y")."""
        if old.rank >= NAME and not self._lexicon.kin.fullmatch(flat(old.surface)):
            return False
        if self._lexicon.code == "zh" and all(
            re.search(rf"(?:^|[，。！？；、,!?;]|我(?:的|家|们)?){re.escape(old.surface)}", text) for text in old.said
        ):
            return True
        after = re.escape(flat(old.surface)) + r"(?:\s*[-–—]|\s+это\b|的?.{0,2}(?:[是叫在姓为]|定在))"
        return self._lexicon.kin.fullmatch(flat(old.surface)) is not None or any(
            re.search(after, flat(text)) for text in old.said
        )

    def _told_with(self, old: Mention) -> list[Word]:
        """Return the telling words of the clauses in which the value was said before."""
        own = {word.text for word in words(old.surface)}
        told: list[Word] = []
        for text in old.said:
            for near in read_as(text, self._lexicon).sentences:
                if any(same_word(word.text, other) for word in near.words for other in own):
                    told += [w for w in near.words if w.text not in own and w.text not in self._lexicon.stop]
        return told

    def _tells_other(self, clause: Clause, sentence: Sentence, frame: list[Word]) -> bool:
        """Whether a clause tells something unheard with a word of the frame."""
        if clause.asks or (self._is_hedged(sentence, clause) and not self._lexicon.correction.search(clause.flat)):
            return False
        found = [word for word in words(flat(clause.flat)) if word.text not in self._lexicon.stop]
        shares = any(same_word(word.text, other.text) for word in found for other in frame)
        is_named = self._lexicon.code == "zh" and self._renames(clause)
        return (shares or is_named) and any(not self._heard.holds(word.text) for word in found)

"""Finds which values of the past a message ends: no longer so, forgotten on request, corrected or replaced."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from proxy.memory.extract_builtin.lexicon import Lexicon, group_of
from proxy.memory.extract_builtin.mentions import GENERIC, NAME, NOUN, VALUE, Heard, Mention
from proxy.memory.extract_builtin.reading import Clause, Reading, Sentence, read
from proxy.memory.words import HAS_CJK, Value, words

Reason = Literal["retract", "forget", "replace", "correct"]
_ELLIPTIC_WORDS = 6
_POINTS = re.compile(
    r"\b(?:it|them|that|him|her|those|this|es|ihn|sie|ihm|das|den|damit|davon|daran|lo|la|los|las|le|ello|eso|"
    r"его|ее|их|ней|ним|ими|нем|нею|это|этим|этого|там)\b|[它他她这那]|(?:lo|la|los|las)$"
)
# Halting can be for certain times only ("stopped using it on Sundays"); selling cannot.
_HALTS = re.compile(r".*(?:stop|quit|gave|give|aufgehört|hör|dej|перестал|брос|отказ|停)")
# Something came in its place.
_GAINS = re.compile(
    r"\b(?:bought|got (?:a|an|myself)|joined|started (?:at|with|using)|gekauft|geholt|zugelegt|angefangen bei|compr(?:é|ado|amos)|"
    r"купил\w?|взял\w?|завел\w?|приобрел\w?)\b|买了|入手|换了|换成|改[吃喝用骑开学练看听去]"
)
_DELETES = re.compile(
    r"delet|eras|wip|scrub|purg|strik|expung|clear|remov|drop|lösch|entfern|streich|tilg|radier|borr|elimin|quit|suprim|limpi|"
    r"tach|удал|сотр|стер|стира|убер|убр|вычерк|очист|выкин|[删清抹擦移剔划]"
)
_WEAK = re.compile(
    r"^(?:removed|deleted|closed|ended|dropped|returned|cut|wiped|ran out|expired|shut down)"
)  # of things at work too
_SHORT = 10  # words of a sentence that needs no "I" to be about the speaker ("the wedding is in Lisbon")
_LONG = 30  # words; a correction or a switch is told in fewer
_FROM = re.compile(r"(?:\b(?:from|de|del|von|vom|из|с|со)\s+(?:\w+\s+){0,2}|从)$")
_TOWARDS = re.compile(r"\s*(?:\w+ )?(?:(?:to|into|a|al|auf|zu|zur|zum|nach|in|на|в|к)\b|\w*(?:换|改|搬|转|跳|迁|调))")
_INSTEAD = re.compile(r"(?:instead of|rather than|statt|anstatt|en vez de|en lugar de|вместо|不[吃喝用])\s*(?:\w+\s)?$")
_NEAR_WORDS = 3
_DENIAL_WORDS = 4
_MAX_PLAIN = 8  # words (characters of Chinese) of the new value in "Y, not X"
_MAX_COMMON = 3  # common nouns that one request to forget may name
_SPEAKER = re.compile(r"\b(?:i|we|ich|wir|yo|nosotr[oa]s|я|мы)\b|我")
_LIST = re.compile(r"\s*(?:,|and|or|&|und|oder|y|e|o|и|или|、|和|跟|,? and)\s*(?:the |my |die |den |das |el |la )?")


@dataclass(frozen=True, slots=True)
class Ending:
    """A value that a message ends.

    Args:
        value: As written in the message.
        reason: Why it ends.
        sentence: Where that is said.
        mention: What it refers back to, None where nothing of it was heard.
        subject: Whose value it is.
    """

    value: str
    reason: Reason
    sentence: Sentence
    mention: Mention | None
    subject: str = "user"


class Endings:
    """Reads the endings of one message."""

    def __init__(self, reading: Reading, heard: Heard) -> None:
        self._reading, self._lexicon = reading, reading.lexicon
        self._mentions = {
            sentence.start: heard.mentions(sentence, reading.text, reading.lexicon) for sentence in reading.sentences
        }
        self._heard = heard
        self._corrects = self._murmurs = False

    def find(self) -> list[Ending]:
        """Return the endings, each value once."""
        found: dict[str, Ending] = {}
        self._corrects = any(self._lexicon.correction.search(sentence.flat) for sentence in self._reading.sentences)
        self._murmurs = any(self._lexicon.murmur.search(sentence.flat) for sentence in self._reading.sentences)
        for place, sentence in enumerate(self._reading.sentences):
            for ending in self._of(place, sentence):
                found.setdefault(ending.value.casefold(), ending)
        return list(found.values())

    def _of(self, place: int, sentence: Sentence) -> Iterator[Ending]:
        if self._asks_to_forget(sentence):
            yield from self._forgotten(place, sentence)
            return
        yield from self._contrasted(sentence)
        if self._corrects or self._murmurs:
            yield from self._disowned(place, sentence)
        yield from self._switched(sentence)
        for index, clause in enumerate(sentence.clauses):
            yield from self._ended(place, sentence, index, clause)

    # --- asked to be forgotten

    def _asks_to_forget(self, sentence: Sentence) -> bool:
        lexicon = self._lexicon
        if lexicon.remember.search(sentence.flat):
            return False
        texts = [*(clause.flat for clause in sentence.clauses), sentence.flat]
        match = next((found for text in texts if (found := lexicon.forget.search(text))), None)
        if match is None:
            return False
        # One deletes files and paragraphs too: the memory must be meant.
        return not _DELETES.search(match[0]) or lexicon.memory.search(sentence.flat) is not None

    def _forgotten(self, place: int, sentence: Sentence) -> Iterator[Ending]:
        best = self._best(self._mentions[sentence.start], floor=NAME)
        if not best:
            near = self._reading.sentences[max(0, place - 1) : place + 2]
            best = self._best([m for other in near for m in self._mentions[other.start]], floor=NAME)
        if not best:
            best = [m for m in self._mentions[sentence.start] if m.rank == NOUN and self._is_personal(m)][:_MAX_COMMON]
        for mention in best:
            yield Ending(mention.surface, "forget", sentence, mention)

    # --- corrected

    def _contrasted(self, sentence: Sentence) -> Iterator[Ending]:
        """Find "Callum, not Colin" where Colin was said before."""
        for pattern in self._lexicon.contrast:
            for match in pattern.finditer(sentence.flat):
                old = group_of(match, "old") or match.span()
                start, end = (sentence.start + offset for offset in old)
                for mention in self._mentions[sentence.start]:
                    if not start <= mention.start < end or self._is_idle(sentence, mention):
                        continue
                    plain = (
                        mention.rank == NOUN
                        and self._is_personal(mention)
                        and self._is_plain_contrast(mention, match, end)
                    )
                    if mention.rank >= NAME or plain:
                        yield Ending(mention.surface, "correct", sentence, mention)

    def _is_plain_contrast(self, mention: Mention, match: re.Match[str], end: int) -> bool:
        """Whether a common word is all that is denied, in a message that corrects something."""
        if not (self._corrects or self._murmurs or self._lexicon.code in ("de", "zh", "ru")):
            return False
        new = group_of(match, "new") or match.span()
        rest = self._reading.text[mention.end : end].split()
        return len(rest) <= 1 and len(words(match.string[slice(*new)])) <= _MAX_PLAIN

    def _disowned(self, place: int, sentence: Sentence) -> Iterator[Ending]:
        near = self._reading.sentences[max(0, place - 1) : place + 2]
        corrects = any(self._lexicon.correction.search(other.flat) for other in near)
        idle = (self._lexicon.ceased, self._lexicon.limited, self._lexicon.hedge)
        for clause in sentence.clauses:
            if clause.asks or any(pattern.search(clause.flat) for pattern in idle):
                continue
            for mention in self._disowned_in(clause, sentence, corrects=corrects):
                yield Ending(mention.surface, "correct", sentence, mention)

    def _disowned_in(self, clause: Clause, sentence: Sentence, *, corrects: bool) -> list[Mention]:
        inside = self._within(clause, sentence)
        if not (self._lexicon.slip.search(clause.flat) or self._is_anothers(clause, sentence)):
            inside = [m for m in inside if self._lexicon.denial.search(clause.flat[: m.start - clause.start])]
        elif corrects and not inside:
            inside = [m for m in self._mentions[sentence.start] if m.end <= clause.start and m.rank >= NAME]
        denies = len(words(clause.flat)) <= _DENIAL_WORDS  # "not Lisbon"
        if len(sentence.words) > _LONG and self._lexicon.code != "zh":
            inside = [m for m in inside if m.rank == VALUE]
        best = self._best(inside, floor=NAME if corrects or denies else VALUE)
        if not best and corrects and len(inside) == 1 and inside[0].rank == NOUN and self._is_personal(inside[0]):
            best = inside
        return best

    def _is_anothers(self, clause: Clause, sentence: Sentence) -> bool:
        """Whether a clause gives a known value to somebody else ("metoprolol is what my father takes")."""
        known = [m for m in self._within(clause, sentence) if m.rank >= VALUE]
        return bool(known) and self._lexicon.kin.search(clause.flat) is not None

    # --- given up for another

    def _switched(self, sentence: Sentence) -> Iterator[Ending]:
        if not self._lexicon.switch.search(sentence.flat):
            return
        for mention in self._mentions[sentence.start]:
            if mention.rank == GENERIC or self._is_asked(sentence, mention):
                continue
            before = sentence.flat[: mention.start - sentence.start]
            after = sentence.flat[mention.end - sentence.start :]
            marked = self._lexicon.source.search(before) or self._lexicon.source_after.search(after)
            if not (marked and self._is_exchange(mention, after)) and not self._is_left_behind(sentence, mention):
                continue
            clause = self._clause_at(sentence, mention)
            subject = self._third(sentence, clause, [mention])
            negated = self._lexicon.negation.search(before[clause.start - sentence.start :])
            if negated and not self._lexicon.ended.search(clause.flat):
                continue
            if subject is not None and not self._lexicon.hedge.search(clause.flat):
                yield Ending(mention.surface, "replace", sentence, mention, subject)

    # --- ended

    def _ended(self, place: int, sentence: Sentence, index: int, clause: Clause) -> Iterator[Ending]:
        cue = self._cue(clause, sentence, index)
        if cue is None:
            return
        start, end, mutual = cue
        targets = self._targets(place, sentence, index, clause, (start, end))
        subject = self._third(sentence, clause, targets)
        if subject is None and not mutual:
            return
        for mention in targets:
            reason: Reason = "replace" if _GAINS.search(sentence.flat) else "retract"
            yield Ending(mention.surface, reason, sentence, mention, subject or "user")

    def _cue(self, clause: Clause, sentence: Sentence, index: int) -> tuple[int, int, bool] | None:
        lexicon = self._lexicon
        if clause.asks or lexicon.hedge.search(clause.flat) or lexicon.past.search(clause.flat):
            return None
        parted = lexicon.parted.search(clause.flat)
        if parted and not lexicon.negation.search(clause.flat[: parted.start()]):
            return clause.start + parted.start(), clause.start + parted.end(), True
        limited = lexicon.limited.search(clause.flat) is not None
        ended = lexicon.ended.search(clause.flat)
        if ended and not limited:
            return clause.start + ended.start(), clause.start + ended.end(), False
        ceased = lexicon.ceased.search(clause.flat)
        if ceased and not lexicon.negation.search(clause.flat) and not (limited and _HALTS.match(ceased[0])):
            return clause.start + ceased.start(), clause.start + ceased.end(), False
        return None

    def _targets(
        self, place: int, sentence: Sentence, index: int, clause: Clause, cue: tuple[int, int]
    ) -> list[Mention]:
        """Return what ends: named in the clause, else in the clauses around it, else in the sentence before."""
        around = [clause, *reversed(sentence.clauses[:index]), *sentence.clauses[index + 1 : index + 2]]
        for candidate in around:
            floor = NOUN if candidate is clause or self._lexicon.code in ("de", "zh") else NAME
            if candidate.asks or (candidate is not clause and not self._leans(clause, candidate)):
                continue
            targets = self._nearest(self._best(self._within(candidate, sentence), floor=floor), cue)
            if _WEAK.search(self._reading.text[slice(*cue)].lower()):
                targets = [m for m in targets if m.rank >= NAME]
            targets = [m for m in targets if m.rank >= NAME or self._is_tight(m, cue)]
            if targets:
                return targets
        if place and len(self._reading.sentences[place].words) <= 12 and _POINTS.search(sentence.flat):
            before = self._reading.sentences[place - 1]
            if not before.asks:
                floor = NOUN if self._lexicon.code in ("de", "zh") else NAME
                return self._nearest(self._best(self._mentions[before.start], floor=floor), cue)
        return []

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

    def _leans(self, clause: Clause, named: Clause) -> bool:
        """Whether a clause leaves it to another one to name what ends."""
        if any(p.search(named.flat) for p in (self._lexicon.limited, self._lexicon.hedge, self._lexicon.negation)):
            return False
        return len(words(clause.flat)) <= _ELLIPTIC_WORDS or _POINTS.search(clause.flat) is not None

    def _nearest(self, mentions: Sequence[Mention], cue: tuple[int, int]) -> list[Mention]:
        """Return the mention nearest to the cue and those listed with it."""
        if not mentions:
            return []
        ordered = sorted(mentions, key=lambda m: m.start)
        closest = min(ordered, key=lambda m: max(m.start - cue[1], cue[0] - m.end, 0))
        chosen, at = [closest], ordered.index(closest)
        for step in (-1, 1):
            index = at + step
            while 0 <= index < len(ordered):
                left, right = sorted((ordered[index], ordered[index - step]), key=lambda m: m.start)
                if not _LIST.fullmatch(self._reading.text[left.end : right.start].lower()):
                    break
                chosen.append(ordered[index])
                index += step
        return chosen

    def _is_personal(self, mention: Mention) -> bool:
        """Whether the speaker said of themselves, or of theirs, what a common word names."""
        return mention.rank >= NAME or any(_is_own(text, mention.surface, self._lexicon) for text in mention.said)

    # --- shared

    def _within(self, clause: Clause, sentence: Sentence) -> list[Mention]:
        return [m for m in self._mentions[sentence.start] if clause.start <= m.start < clause.end]

    def _best(self, mentions: Sequence[Mention], *, floor: int) -> list[Mention]:
        rank = max((m.rank for m in mentions), default=0)
        return [m for m in mentions if m.rank == rank and self._is_personal(m)] if rank >= floor else []

    def _clause_at(self, sentence: Sentence, mention: Mention) -> Clause:
        return next(
            (clause for clause in sentence.clauses if clause.start <= mention.start < clause.end), sentence.clauses[0]
        )

    def _is_exchange(self, mention: Mention, after: str) -> bool:
        """Whether something comes in place of a common word; a name needs no such proof."""
        if not self._is_personal(mention):
            return False
        before = self._reading.text[: mention.start].lower()
        given_up = _INSTEAD.search(before) is not None
        if mention.rank < NAME and not given_up and _FROM.search(before):
            return _TOWARDS.match(after) is not None
        return given_up or mention.rank >= NAME or self._lexicon.target.search(after) is not None

    def _is_left_behind(self, sentence: Sentence, mention: Mention) -> bool:
        """Whether another clause of the sentence moves to something new and this is the only old value in it."""
        clause = self._clause_at(sentence, mention)
        rivals = [m for m in self._mentions[sentence.start] if m.rank >= NAME]
        if mention.rank < NAME or len(rivals) != 1 or self._lexicon.switch.search(clause.flat):
            return False
        if len(words(self._reading.text[clause.start : mention.start])) > 1 or len(sentence.words) > _LONG:
            return False
        for other in sentence.clauses:
            if (
                other is clause
                or other.asks
                or not self._lexicon.switch.search(other.flat)
                or self._lexicon.hedge.search(other.flat)
            ):
                continue
            if self._lexicon.first.search(other.flat) and self._lexicon.target.search(other.flat):
                return True
        return False

    def _is_idle(self, sentence: Sentence, mention: Mention) -> bool:
        clause = self._clause_at(sentence, mention)
        return clause.asks or any(
            pattern.search(clause.flat) for pattern in (self._lexicon.hedge, self._lexicon.past, self._lexicon.limited)
        )

    def _is_asked(self, sentence: Sentence, mention: Mention) -> bool:
        return self._clause_at(sentence, mention).asks

    def _third(self, sentence: Sentence, clause: Clause, targets: Sequence[Mention]) -> str | None:
        """Return whose value ends: "user", a person's noun said with it before, None for somebody else's."""
        match = self._lexicon.third.search(clause.flat)
        if match is None and not self._lexicon.first.search(clause.flat):
            match = self._inherited(sentence, clause)
        if match is None:
            return "user"
        where = group_of(match, "who") or group_of(match, "whom") or match.span()
        if match.string is clause.flat and self._acts(clause, where[1], targets):
            return "user"
        who = clause.flat[slice(*where)] if match.string is clause.flat else match.string[slice(*where)]
        if any(
            mention.start < clause.start + match.end() and mention.end > clause.start + where[0] - 1
            for mention in targets
            if mention.rank >= NAME and clause.start <= mention.start < clause.end
        ):
            return "user"
        for mention in targets:
            for text in mention.said:
                if any(_same_person(word.text, who) for word in words(text)) or (HAS_CJK.search(who) and who in text):
                    return who
        return None

    def _acts(self, clause: Clause, start: int, targets: Sequence[Mention]) -> bool:
        """Whether the speaker is the subject between somebody else and the value."""
        stop = min((m.start for m in targets if clause.start + start <= m.start < clause.end), default=clause.end)
        return _SPEAKER.search(clause.flat[start : stop - clause.start]) is not None

    def _inherited(self, sentence: Sentence, clause: Clause) -> re.Match[str] | None:
        """Return the somebody of an earlier clause where this one names no subject of its own."""
        for earlier in reversed([other for other in sentence.clauses if other.end <= clause.start]):
            match = self._lexicon.third.search(earlier.flat)
            if match is not None:
                return match
            if self._lexicon.first.search(earlier.flat):
                return None
        return None


def _same_person(word: str, who: str) -> bool:
    return word == who or (len(who) > 3 and word[: len(who) - 1] == who[:-1] and abs(len(word) - len(who)) <= 2)


@lru_cache(maxsize=512)
def _is_own(text: str, surface: str, lexicon: Lexicon) -> bool:
    """Whether ``text`` names ``surface`` in a short statement of the speaker."""
    wanted = Value.of(surface)
    for sentence in read(text, dict.fromkeys(("en", "de", "es", "ru", "zh"), lexicon)).sentences:
        for start, _ in wanted.find(words(sentence.text)):
            clause = next((c for c in sentence.clauses if c.start <= sentence.start + start < c.end), None)
            if clause is None or clause.asks or lexicon.hedge.search(clause.flat):
                continue
            if (
                lexicon.first.search(sentence.flat[: start + 1])
                or lexicon.first.search(clause.flat)
                or lexicon.code == "zh"
            ):
                return len(words(clause.flat)) <= _LONG
            if lexicon.kin.search(clause.flat) or len(sentence.words) <= _SHORT:
                return True
    return False

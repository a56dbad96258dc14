"""Finds which values of the past a message ends: no longer so, forgotten on request, corrected or replaced."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from proxy.memory.extract_builtin.lexicon import group_of
from proxy.memory.extract_builtin.mentions import GENERIC, NAME, NOUN, VALUE, Heard, Mention
from proxy.memory.extract_builtin.reading import Clause, Reading, Sentence
from proxy.memory.words import HAS_CJK, words

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
    r"купил\w?|взял\w?|завел\w?|приобрел\w?)\b|买了|入手|换了|换成"
)
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

    def find(self) -> list[Ending]:
        """Return the endings, each value once."""
        found: dict[str, Ending] = {}
        corrects = any(self._lexicon.correction.search(sentence.flat) for sentence in self._reading.sentences)
        for place, sentence in enumerate(self._reading.sentences):
            for ending in self._of(place, sentence, corrects=corrects):
                found.setdefault(ending.value.casefold(), ending)
        return list(found.values())

    def _of(self, place: int, sentence: Sentence, *, corrects: bool) -> Iterator[Ending]:
        if self._lexicon.forget.search(sentence.flat) and not self._lexicon.remember.search(sentence.flat):
            yield from self._forgotten(place, sentence)
            return
        yield from self._contrasted(sentence)
        if corrects:
            yield from self._disowned(sentence)
        yield from self._switched(sentence)
        for index, clause in enumerate(sentence.clauses):
            yield from self._ended(place, sentence, index, clause)

    # --- asked to be forgotten

    def _forgotten(self, place: int, sentence: Sentence) -> Iterator[Ending]:
        best = self._best(self._mentions[sentence.start], floor=NAME)
        if not best:
            near = self._reading.sentences[max(0, place - 1) : place + 2]
            best = self._best([m for other in near for m in self._mentions[other.start]], floor=NAME)
        if not best:
            best = [m for m in self._mentions[sentence.start] if m.rank == NOUN]
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
                    if (
                        start <= mention.start < end
                        and mention.rank > GENERIC
                        and not self._is_asked(sentence, mention)
                    ):
                        yield Ending(mention.surface, "correct", sentence, mention)

    def _disowned(self, sentence: Sentence) -> Iterator[Ending]:
        for clause in sentence.clauses:
            if clause.asks or not (self._lexicon.slip.search(clause.flat) or self._is_anothers(clause, sentence)):
                continue
            inside = self._within(clause, sentence)
            inside = inside or [m for m in self._mentions[sentence.start] if m.end <= clause.start and m.rank >= NAME]
            best = self._best(inside, floor=NAME) or [m for m in inside if m.rank == NOUN and len(inside) == 1]
            for mention in best:
                yield Ending(mention.surface, "correct", sentence, mention)

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
            if not marked and not self._is_left_behind(sentence, mention):
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
            if candidate.asks or (candidate is not clause and not self._leans(clause, candidate)):
                continue
            targets = self._nearest(self._best(self._within(candidate, sentence), floor=NOUN), cue)
            if targets:
                return targets
        if place and len(self._reading.sentences[place].words) <= 12 and _POINTS.search(sentence.flat):
            before = self._reading.sentences[place - 1]
            if not before.asks:
                return self._nearest(self._best(self._mentions[before.start], floor=NOUN), cue)
        return []

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

    # --- shared

    def _within(self, clause: Clause, sentence: Sentence) -> list[Mention]:
        return [m for m in self._mentions[sentence.start] if clause.start <= m.start < clause.end]

    def _best(self, mentions: Sequence[Mention], *, floor: int) -> list[Mention]:
        rank = max((m.rank for m in mentions), default=0)
        return [m for m in mentions if m.rank == rank] if rank >= floor else []

    def _clause_at(self, sentence: Sentence, mention: Mention) -> Clause:
        return next(
            (clause for clause in sentence.clauses if clause.start <= mention.start < clause.end), sentence.clauses[0]
        )

    def _is_left_behind(self, sentence: Sentence, mention: Mention) -> bool:
        """Whether another clause of the sentence moves to something new and this is the only old value in it."""
        clause = self._clause_at(sentence, mention)
        rivals = [m for m in self._mentions[sentence.start] if m.rank >= NAME]
        if mention.rank < NAME or len(rivals) != 1 or self._lexicon.switch.search(clause.flat):
            return False
        for other in sentence.clauses:
            if other is clause or other.asks or not self._lexicon.switch.search(other.flat):
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

"""Turns the user's messages of a turn into candidates, by rules over sentences."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from datetime import timedelta

from proxy.memory.learn.extract_builtin.amendments import FACT_CONFIDENCE
from proxy.memory.learn.extract_builtin.dates import event_time
from proxy.memory.learn.extract_builtin.endings import Endings
from proxy.memory.learn.extract_builtin.facts import MAX_FACTS, Stated, stated, stated_in
from proxy.memory.learn.extract_builtin.lazy import lazy
from proxy.memory.learn.extract_builtin.lexicons import LEXICONS
from proxy.memory.learn.extract_builtin.mentions import NOUN, Heard
from proxy.memory.learn.extract_builtin.numbers import is_cut
from proxy.memory.learn.extract_builtin.pairs import Pair, is_called, is_description, pairs, pairs_in, renewed
from proxy.memory.learn.extract_builtin.reading import (
    Clause,
    Sentence,
    is_brief,
    is_talk,
    language,
    longest_brief,
    read,
)
from proxy.memory.learn.extract_builtin.replacement import is_of_its_sort, overlap, recast, touches
from proxy.memory.learn.extract_builtin.spelling import as_spelt
from proxy.memory.learn.extract_builtin.switches import NOW
from proxy.memory.learn.extract_builtin.weighing import MOST_EARLIER, Weighing, unique
from proxy.text.words import Span, flat, fold, same_value, words
from proxy.types import Candidate, Episode, Memory, Said, Turn

_PET = lazy(
    r"^(?:dog|cat|puppy|kitten|parrot|rabbit|horse|hund|hündin|katze|kater|papagei|pferd|perr[oa]|gat[oa]|loro|caballo|собак\w|кошк\w|кот\w?|пес|пса|попуга\w)$|[狗猫鹦鹉兔]$"
)
_MODIFIES = frozenset(("another", "other", "second", "third", "both"))  # of the noun beside them only
# ", not eleven"
_HIM_AGAIN = lazy(r"\bя (?:снова|опять|вновь) (?:у|с|к|на|в) (?:нее|него|ней|нему|ним|нем)\b")
_HIS = lazy(r"\b(?:seine?[nmrs]?|ihre?[nmrs]?|sus?)\s*$")
_SAME_CONVERSATION = timedelta(hours=1)
_MAX_AFTERTHOUGHT = 2  # words, ", too"


class BuiltinExtractor:
    """Finds facts, endings, corrections and requests to forget without calling a model."""

    def __init__(self, *, weighs: bool = True) -> None:
        """Take rules and learned weights; ``weighs`` off leaves the rules alone, from which weights are learned."""
        self._weighs = weighs

    def extract(self, turn: Turn, known: Sequence[Memory], heard: Sequence[Episode]) -> list[Candidate]:
        """Return what the user's messages of ``turn`` state and end.

        Args:
            turn: The exchange to learn from.
            known: The user's active memories.
            heard: Earlier utterances of the user that share a word with this turn.
        """
        candidates: list[Candidate] = []
        told = sorted((one for one in heard if one.role == "user"), key=lambda one: (one.at, one.seq))
        earlier = [episode.text for episode in told]
        last_at = told[-1].at if told else turn.at
        for said in turn.messages:
            if said.role == "user":
                spelt = as_spelt(said, known, earlier[-MOST_EARLIER:])
                just_before = spelt.earlier[-1] if earlier and turn.at - last_at <= _SAME_CONVERSATION else ""
                found = _Extraction(spelt.said, known, spelt.earlier, just_before).candidates(weighs=self._weighs)
                told_before = "\n".join((*spelt.earlier, *(memory.text for memory in known)))
                whole = [
                    candidate
                    for candidate in found
                    if not is_cut(candidate.object, candidate.quote)
                    and not any(is_cut(old, told_before) for old in candidate.replaces)
                ]
                typed = [replace(candidate, quote=spelt.typed(candidate.quote, said.text)) for candidate in whole]
                candidates += [_dated(candidate, turn) for candidate in typed]
                earlier.append(said.text)
                last_at = turn.at
        return candidates


def _without(candidate: Candidate, gone: Sequence[str]) -> Candidate:
    """Return a change, as a mere end where what it would put in place is one of the values that end."""
    others = [value for value in gone if value not in candidate.replaces]
    if candidate.action != "replace" or not any(touches(candidate.object or candidate.text, value) for value in others):
        return candidate
    ended = candidate.replaces[0]
    return replace(candidate, action="retract", text=ended, object=ended, relation="", single=False)


class _Extraction(Weighing):
    """The reading of one message against what was said before."""

    def __init__(self, said: Said, known: Sequence[Memory], earlier: Sequence[str], just_before: str = "") -> None:
        hint = language(earlier[-1], LEXICONS) if earlier else "en"
        super().__init__(said, read(said.text, LEXICONS, hint=hint), earlier, known)
        self._just_before = just_before
        self._stated_before = [fact for text in self._earlier for fact in stated_in(text, self._lexicon)]
        self._pairs_before = [pair for text in self._earlier for pair in pairs_in(text, self._lexicon)]

    def candidates(self, *, weighs: bool) -> list[Candidate]:
        """Return the candidates, endings first."""
        values = [memory.object for memory in self._known] + [fact.object for fact in self._stated_before]
        values += [pair.value for pair in self._pairs_before]
        heard = Heard([*self._earlier, *(memory.text for memory in self._known)], values, self._said.text)
        scan = Endings(self._reading, heard)
        endings = scan.find()
        closing = [self._closing(ending) for ending in endings]
        if all(
            ending.reason == "correct" and c.action == "retract" for ending, c in zip(endings, closing, strict=True)
        ):
            closing = list(self._plainly(self._amended())) or closing
        gone = [ending.value for ending in endings]
        ended = [ending.value for ending in endings if ending.reason == "retract"]
        closing = [_without(candidate, ended) for candidate in closing]
        come = [candidate.object for candidate in closing if candidate.action == "replace"]
        updates = [
            c
            for c in self._plainly(self._updates(), is_frame=True)
            if not any(touches(c.object, value) for value in (*gone, *come))
        ]
        facts = list(
            self._facts(
                [*gone, *come], {sentence.start for sentence in (e.sentence for e in endings if e.reason == "forget")}
            )
        )
        back = list(self._back(heard, gone))
        found = unique([*_not_stated([*closing, *updates], facts), *facts, *back][: MAX_FACTS * 3])
        return self._weighed(found, scan) if weighs and (self._earlier or self._known) else found

    def _plainly(self, candidates: Iterable[Candidate], *, is_frame: bool = False) -> Iterator[Candidate]:
        """Yield the changes that are told as people tell one: briefly, or of what is known to be theirs.

        Args:
            candidates: The changes.
            is_frame: They say again what was said before, which in a longer message takes a short sentence.
        """
        is_told = is_frame and is_talk(self._reading)
        for candidate in candidates:
            if not all(is_of_its_sort(candidate.object, old) for old in candidate.replaces):
                continue
            is_short = is_told and 2 * len(words(candidate.quote)) <= longest_brief(self._lexicon)
            if (
                is_short
                or is_brief(self._reading)
                or any(same_value(memory.object, old) for memory in self._known for old in candidate.replaces)
            ):
                yield candidate

    # --- what holds again

    def _back(self, heard: Heard, gone: Sequence[str]) -> Iterator[Candidate]:
        """Yield the values said before that a clause says to hold again."""
        lexicon = self._lexicon
        for sentence in self._reading.sentences:
            if not lexicon.again.search(sentence.flat):
                continue
            mentions = heard.mentions(sentence, self._said.text, lexicon)
            for clause in sentence.clauses:
                blocked = clause.asks or any(
                    pattern.search(clause.flat)
                    for pattern in (lexicon.hedge, lexicon.ended, lexicon.ceased, lexicon.parted)
                )
                if blocked or not lexicon.again.search(clause.flat):
                    continue
                told = self._held_in(clause, sentence)
                after = next((c for c in sentence.clauses if c.start >= told.end), told)  # "…, Degoo"
                end = told.end if after.asks or len(words(after.flat)) > _MAX_AFTERTHOUGHT else after.end
                inside = [m for m in mentions if told.start <= m.start < end and m.rank >= NOUN]
                top = max((m.rank for m in inside), default=0)
                for mention in inside:
                    if mention.rank == top and not any(touches(mention.surface, value) for value in gone):
                        text = self._said.text[told.start : max(told.end, mention.end)].strip()
                        yield Candidate(
                            "add",
                            "fact",
                            text,
                            sentence.text,
                            self._said.id,
                            object=mention.surface,
                            confidence=FACT_CONFIDENCE,
                            again=True,
                        )

    def _held_in(self, clause: Clause, sentence: Sentence) -> Clause:
        """Return the clause that holds again; a mere "as before" goes with the one before it."""
        before = [other for other in sentence.clauses if other.end <= clause.start]
        if not before or self._lexicon.code not in ("ru", "zh"):
            return clause
        leans = self._lexicon.again.fullmatch(clause.flat) or _HIM_AGAIN.search(clause.flat)
        return before[-1] if leans else clause

    # --- what changes

    def _updates(self) -> Iterator[Candidate]:
        for old, new in renewed(self._reading, self._pairs_before):
            is_slot = any(self._lexicon.slot.fullmatch(word) for word in old.attribute)
            is_many = self._lexicon.many.match(" ".join(old.attribute)) and not (is_slot or _is_renamed(old, new))
            if self._is_person(old) and is_called(old.value) != is_called(new.value):
                continue  # "my boss is a lawyer" says nothing of how she is called
            if (
                self._is_person(old)
                and self._lexicon.code == "zh"
                and not _is_named(old)
                and not self._tells_change(new.sentence)
            ):
                continue  # where she works, and what she is
            if self._is_anothers(new, old) or {_verb_of(old), _verb_of(new)} == {"叫", "是"}:
                continue  # how somebody is called, and what they are
            if is_many or self._is_additive(new.sentence, new.span):
                continue
            subject, relation = self._slot(old)
            yield Candidate(
                "replace",
                "fact",
                new.text,
                new.sentence.text,
                self._said.id,
                subject=subject,
                relation=relation,
                object=new.value,
                replaces=(old.value,),
                single=True,
                confidence=FACT_CONFIDENCE,
            )

        yield from self._rejoined()
        yield from self._retimed()
        yield from self._rescheduled()
        yield from self._redefined()
        yield from self._recounted()
        yield from self._reshaped()
        yield from self._restated()

    def _is_anothers(self, new: Pair, old: Pair) -> bool:
        """Whether "his" and "her" stand for somebody whom the sentence names, and what was told was the speaker's."""
        told = new.sentence.flat[: new.start - new.sentence.start]
        if self._lexicon.code not in ("de", "es") or not _HIS.search(told):
            return False
        return self._lexicon.third.search(told) is not None and not self._lexicon.third.search(old.sentence.flat)

    def _tells_change(self, sentence: Sentence) -> bool:
        cues = (self._lexicon.switch, self._lexicon.correction, self._lexicon.murmur, NOW)
        return any(cue.search(sentence.flat) for cue in cues)

    def _is_additive(self, sentence: Sentence, span: Span) -> bool:
        """Whether what stands at ``span`` comes on top: said in or before its clause, or in a word or two after it."""
        end = sentence.end
        for clause in sentence.clauses:
            if clause.start > span[0] and len(words(clause.flat)) > _MAX_AFTERTHOUGHT:
                end = clause.start
                break
        told = sentence.flat[: end - sentence.start]
        return any(
            match[0] not in _MODIFIES or self._stands_in(match.start() + sentence.start, span, sentence)
            for match in self._lexicon.additive.finditer(told)
        )

    def _stands_in(self, place: int, span: Span, sentence: Sentence) -> bool:
        """Whether a word stands in the clause of what is at ``span``."""
        return any(
            clause.start <= place < clause.end and clause.start <= span[0] < clause.end for clause in sentence.clauses
        )

    # --- what is stated

    def _facts(self, gone: Sequence[str], private: set[int]) -> Iterator[Candidate]:
        """Yield what is stated, each object once, without what the same message ends or asks to forget."""
        found = [(fact.span, fact.sentence, fact.object, self._fact(fact)) for fact in stated(self._reading)]
        found += [
            (pair.span, pair.sentence, pair.value, self._pair(pair))
            for pair in pairs(self._reading)
            if self._is_told(pair)
        ]
        taken: list[tuple[int, int]] = []
        for span, sentence, value, candidate in found:
            if sentence.asks or sentence.start in private or any(touches(value, other) for other in gone):
                continue
            if len(taken) < MAX_FACTS and not any(start < span[1] and span[0] < end for start, end in taken):
                taken.append(span)
                yield candidate

    def _is_told(self, pair: Pair) -> bool:
        if any(self._is_anothers(pair, old) for old in self._pairs_before if old.attribute == pair.attribute):
            return False
        return pair.is_stated or self._is_person(pair)

    def _fact(self, fact: Stated) -> Candidate:
        statement, additive = fact.statement, self._is_additive(fact.sentence, fact.span)
        replaces: tuple[str, ...] = ()
        is_new = self._lexicon.code in ("ru", "zh") and NOW.search(fact.sentence.flat) is not None
        if not additive and (statement.single or is_new):
            replaces = tuple(
                before.object
                for before in self._stated_before
                if before.statement.relation == statement.relation
                and same_value(before.subject, fact.subject)
                and not overlap(before.object, fact.object)
                and (statement.single or recast(before.object, fact.object, self._lexicon))  # "now X tea", for "Y tea"
            )
        return Candidate(
            "replace" if replaces else "add",
            statement.kind,
            fact.text,
            fact.sentence.text,
            self._said.id,
            subject=fact.subject,
            relation=statement.relation,
            object=fact.object,
            replaces=replaces,
            confidence=FACT_CONFIDENCE,
            single=statement.single and not additive,
            again=self._lexicon.again.search(fact.sentence.flat) is not None,
            profile=statement.profile,
        )

    def _pair(self, pair: Pair) -> Candidate:
        subject, relation = self._slot(pair)
        several = self._lexicon.many.match(" ".join(pair.attribute)) is not None
        several = several and not any(self._lexicon.slot.fullmatch(word) for word in pair.attribute)
        is_slot = any(self._lexicon.slot.fullmatch(word) for word in pair.attribute)
        several = several or (is_description(pair.value) and not is_slot)
        several = several or (self._is_person(pair) and not is_called(pair.value))
        return Candidate(
            "add",
            "fact",
            pair.text,
            pair.sentence.text,
            self._said.id,
            subject=subject,
            relation=relation,
            object=pair.value,
            confidence=FACT_CONFIDENCE,
            single=not several and not self._is_additive(pair.sentence, pair.span),
            again=self._lexicon.again.search(pair.sentence.flat) is not None,
        )

    def _slot(self, pair: Pair) -> tuple[str, str]:
        """Return subject and relation of an attribute: a person of the user's, or something of the user."""
        if self._is_person(pair):
            return pair.attribute[-1], "is" if is_called(pair.value) else ""
        return "user", " ".join(pair.attribute)

    def _is_person(self, pair: Pair) -> bool:
        return self._lexicon.kin.fullmatch(pair.attribute[-1]) is not None


def _verb_of(pair: Pair) -> str:
    """Return by which verb a Chinese clause gives an attribute its value."""
    before = pair.sentence.text[: pair.span[0] - pair.sentence.start].rstrip("个位名做干当")
    return before[-1:] if before.endswith(("叫", "是")) and not before.endswith("名字是") else ""


def _is_named(pair: Pair) -> bool:
    before = pair.sentence.text[: pair.span[0] - pair.sentence.start]
    return is_called(pair.value) or before.endswith(("叫", "叫做", "姓", "名字是"))


def _is_renamed(old: Pair, new: Pair) -> bool:
    """Whether the one pet of an owner was named twice."""
    return old.is_stated and new.is_stated and _PET.search(old.attribute[-1]) is not None


def _dated(candidate: Candidate, turn: Turn) -> Candidate:
    """Return the candidate with the day that its sentence names; what is had on a day to come is an event."""
    at = event_time(flat(candidate.quote), turn.at, turn.zone) if candidate.action == "add" else None
    if at is None:
        return candidate
    is_event = candidate.kind == "fact" and candidate.relation == "have" and at.date() >= turn.at.date()
    return replace(candidate, at=at, kind="event" if is_event else candidate.kind)


def _not_stated(changes: Iterable[Candidate], facts: Sequence[Candidate]) -> list[Candidate]:
    """Return changes without those that a fact makes as well, which knows more of what changes."""
    stated = {(fold(fact.object), fold(old)) for fact in facts for old in fact.replaces}
    return [
        change
        for change in changes
        if change.relation
        or not change.replaces
        or {(fold(change.object), fold(old)) for old in change.replaces} - stated
    ]

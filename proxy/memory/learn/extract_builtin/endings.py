"""Finds which values of the past a message ends: no longer so, forgotten on request, corrected or replaced."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import lru_cache

from proxy.memory.learn.extract_builtin.aliases import is_pointed_at, name_of
from proxy.memory.learn.extract_builtin.bystanders import Bystanders
from proxy.memory.learn.extract_builtin.corrections import WHENCE, Corrections, is_of_date
from proxy.memory.learn.extract_builtin.displaced import Displaced
from proxy.memory.learn.extract_builtin.disproved import Disproved
from proxy.memory.learn.extract_builtin.exchanges import Exchanges
from proxy.memory.learn.extract_builtin.facts import stated_in
from proxy.memory.learn.extract_builtin.hearsay import HEARSAY, is_hearsay, is_supposed
from proxy.memory.learn.extract_builtin.lazy import lazy
from proxy.memory.learn.extract_builtin.lexicon import Lexicon
from proxy.memory.learn.extract_builtin.likely import Likely
from proxy.memory.learn.extract_builtin.likewise import goes_along
from proxy.memory.learn.extract_builtin.mentions import GENERIC, NAME, NOUN, VALUE, Mention
from proxy.memory.learn.extract_builtin.mistakes import Mistakes
from proxy.memory.learn.extract_builtin.reading import Clause, Sentence
from proxy.memory.learn.extract_builtin.replacement import recast
from proxy.memory.learn.extract_builtin.scan import Ending, Reason
from proxy.memory.learn.extract_builtin.signs import Signs
from proxy.memory.learn.extract_builtin.successors import Successors
from proxy.memory.learn.extract_builtin.switches import NOW
from proxy.text.words import TEXTS_KEPT, Span, flat, mentions, words

_ASKED_OF_ONESELF = lazy(r"what (?:am|was) i\b")
_WRONG_THING = lazy(  # "sent me the wrong bill"
    r"\b(?:sent|gave|delivered|brought|charged|shipped|served|handed|posted|made|issued|sold)(?: (?:me|us|it|them|him|her))? (?:to )?(?:the|a) wrong\b"
)
_FAVOURED = lazy(
    r"\b(?:zugunsten|zu Gunsten|en favor|en beneficio)\s+(?:von|vom|des|der|del?)(?:\s+(?:der|dem|la|las|los|el))?\s+(?P<new>[A-ZÄÖÜÁÉÍÓÚÑ][\w&.'-]*\w(?:\s+[A-ZÄÖÜÁÉÍÓÚÑ0-9][\w'-]*)*)"
)
_MINE = lazy(r"(?:my|our) (?:\w+ )?")
_CLOSE = 4  # words
_PLAIN_END = lazy(
    r"gestorben|verstorben|eingeschläfert|verkauft|verschenkt|gekündigt|aufgelöst|dichtgemacht|geschlossen|verlassen|aufgegeben|ausgetreten|entlaufen|tot\b|gelöscht|stillgelegt|murió|muerto|falleció|vend|cancel|cerr|dej|borr|regal|jubil|despid|despedí|escap"
)
_NO_MORE = lazy(r"(?:and |just |so )*no more .{1,40}")  # "No more delays."
_UNABLE = lazy(r"\b(?:can't|cannot|can not|couldn't) (?:\w+ )?$")
_SUGGESTED = lazy(r"\byou(?:'ve| have)? (?:just )?(?:mentioned|suggested|listed|recommended|proposed)\b")
_RAN_OUT = lazy(r"\b(?:over|finished|(?:all )?done)\b(?! (?:with|for))")
_OLD = lazy(r"\b(?:alte[nrms]?|viej[oa]s?|antigu[oa]s?|old)\s*$")
_OLD_AFTER = lazy(r"^\s*(?:viej[oa]s?|antigu[oa]s?)\b")
_ANOTHER = lazy(  # of the same kind: "a bigger one is ordered"
    r"\b(?:eine?n?s?|das|die|den) (?:neue[ns]?|größere[ns]?|kleinere[ns]?|bessere[ns]?|gebrauchte[ns]?)(?= *(?:$|[,.!]|\w*[a-zäöüß]))(?! \w*(?:marke|sorte))|"
    r"\bun[oa] (?:más \w+|nuev[oa]|mejor|de segunda mano)\b|\ba (?:new|bigger|smaller|better|used) one\b"
)
_HABIT = lazy(
    r"(?:^|\b(?:i|we|i'm|we're|and|now) )(?:now |just |only )?(?:write|drive|use|take|eat|drink|play|read|sleep|cook|work|bank|shop|train|go|ride|wear|watch|listen|cycle|swim|sing|live|sit|run|bake|brew|paint|shoot|film|travel|commute|stay)"
    r" (?:on|in|with|at|to|from|by|a|an)\b|\b(?:are|is) for (?!me\b|us\b|sale\b|good\b|now\b)\w|^in (?:came|comes|went)\b"
)
_SELLS = lazy(r"\bsell(?:s|ing)?\b|\bverkauf(?:e|en|t)?\b|\bvend(?:o|e|emos|iendo)\b|\bпрода(?:ю|ем|ет)\b")
# "Jens has quit his job": his job ended, not Jens.


class Endings(
    Bystanders,
    Corrections,
    Displaced,
    Disproved,
    Exchanges,
    Likely,
    Mistakes,
    Signs,
    Successors,
):
    """Reads the endings of one message."""

    def find(self) -> list[Ending]:
        """Return the endings, each value once."""
        found: dict[str, Ending] = {}
        self._corrects = any(self._corrected(sentence) for sentence in self._reading.sentences)
        self._murmurs = any(self._lexicon.murmur.search(sentence.flat) for sentence in self._reading.sentences)
        for place, sentence in enumerate(self._reading.sentences):
            for ending in self._of(place, sentence):
                is_kin = ending.reason in ("replace", "beside") and self._lexicon.kin.fullmatch(ending.value.lower())
                start = ending.mention.start - sentence.start if ending.mention is not None else -1
                opens = start == 0 or (self._lexicon.code == "en" and _MINE.fullmatch(sentence.flat[: max(0, start)]))
                if is_kin and (self._lexicon.code in ("de", "es") or (opens and self._lexicon.code in ("ru", "en"))):
                    continue  # "my son sold his bike and wants a moped"
                if self._is_stated_of(ending):
                    continue  # "my sister has moved to Bonn"
                if self._ends_nothing(place, ending):
                    continue
                if self._is_told_plainly(ending) and not self._is_mere_talk(place, ending):
                    found.setdefault(ending.value.casefold(), ending)
                    for named in self._named_by(ending):
                        found.setdefault(named.value.casefold(), named)
        return list(found.values())

    def _is_stated_of(self, ending: Ending) -> bool:
        """Whether the message states something of the person that it would end, or newly states more than the word."""
        if ending.mention is None or ending.reason in ("correct", "forget"):
            return False
        start, end = ending.mention.start, ending.mention.end
        return any(
            (fact.sentence.start == ending.sentence.start and flat(fact.subject) in flat(ending.value))
            or (fact.span != (start, end) and fact.span[0] <= start and end <= fact.span[1])  # "Bad" of "Bad Tölz"
            for fact in stated_in(self._reading.text, self._lexicon)
        )

    def _named_by(self, ending: Ending) -> Iterator[Ending]:
        """Yield the name of what ends, where only what it is was said ("the tomcat" of "our tomcat, Max")."""
        mention = ending.mention
        if mention is None or ending.reason in ("correct", "forget"):
            return
        before = ending.sentence.flat[: max(0, mention.start - ending.sentence.start)]
        name = name_of(mention.surface, mention.said, self._lexicon.code)
        is_other = self._lexicon.kin.fullmatch(flat(name)) is not None or self._is_spoken_of(name)
        if name and is_pointed_at(before, self._lexicon.code) and not is_other:
            yield replace(ending, value=name, reason="retract")

    def _class_words(self, clause: Clause, sentence: Sentence, cue: Span) -> list[Mention]:
        """Return the word for what something is beside a plain end ("the dog died"), where one of its kind has a name."""
        if not _PLAIN_END.search(self._reading.text[slice(*cue)].lower()):
            return []
        found = [m for m in self._within(clause, sentence) if m.rank == GENERIC]
        near = [m for m in found if len(words(self._reading.text[min(m.end, cue[1]) : max(m.start, cue[0])])) <= _CLOSE]
        code = self._lexicon.code
        return [
            m
            for m in near
            if is_pointed_at(clause.flat[: m.start - clause.start], code) and name_of(m.surface, m.said, code)
        ]

    def _is_spoken_of(self, name: str) -> bool:
        """Whether a message says a name itself."""
        return flat(name) in flat(self._reading.text)

    def _is_mere_talk(self, place: int, ending: Ending) -> bool:
        """Whether a sentence only tells of what is not so, or asks what would be."""
        if self._lexicon.code not in HEARSAY or ending.reason == "forget":
            return False
        clause = self._clause_at(ending.sentence, ending.mention) if ending.mention else None
        return is_hearsay(self._reading, place) or (
            clause is not None and is_supposed(ending.sentence, clause, self._lexicon.code)
        )

    def _corrected(self, sentence: Sentence) -> bool:
        if any(WHENCE.search(clause.flat) for clause in sentence.clauses):
            return True
        found = self._lexicon.correction.search(sentence.flat)
        if found is not None and found[0] == "wrong" and _WRONG_THING.search(sentence.flat):
            return False
        return found is not None and (not sentence.asks or _ASKED_OF_ONESELF.match(found[0]) is not None)

    def _of(self, place: int, sentence: Sentence) -> Iterator[Ending]:
        if self._asks_to_forget(sentence):
            yield from self._forgotten(place, sentence)
            return
        if self._lexicon.kept.search(sentence.flat) and any(map(self._asks_to_forget, self._reading.sentences)):
            return  # "X has nothing to do with it and may stay"
        yield from self._contrasted(sentence)
        yield from self._denied(sentence)
        if self._corrects or self._murmurs:
            found = self._disowned(place, sentence)
            yield from (one for one in found if one.mention is None or not is_of_date(one.mention, one.sentence))
        yield from self._succeeded(place, sentence)
        yield from self._switched(sentence)
        yield from self._outdone(sentence)
        yield from self._departed(sentence)
        yield from self._displaced(sentence)
        yield from self._moved_out(sentence)
        yield from self._replaced_after(place, sentence)
        yield from self._overtaken(sentence)
        yield from self._exchanged(sentence)
        for index, clause in enumerate(sentence.clauses):
            yield from self._ended(place, sentence, index, clause)
        yield from self._mistaken(place, sentence)
        yield from self._disproved(place, sentence)
        yield from self._recoded(sentence)
        yield from self._rivalled(place, sentence)
        yield from self._soured(place, sentence)
        yield from self._likewise(place, sentence)
        yield from self._handed_down(place, sentence)

    def _ended(self, place: int, sentence: Sentence, index: int, clause: Clause) -> Iterator[Ending]:
        near = self._reading.sentences[max(0, place - 1) : place + 1]
        if not any(self._mentions[one.start] for one in near):
            return
        cue = self._cue(clause, sentence, index)
        if cue is None:
            return
        start, end, mutual = cue
        targets = self._of_kin(clause, sentence, (start, end))
        targets = targets or self._targets(place, sentence, index, clause, (start, end))
        targets = targets or self._class_words(clause, sentence, (start, end))
        subject = self._third(sentence, clause, targets)
        if subject is None and not (mutual and self._is_between_us(clause, start, targets)):
            return
        if not mutual and self._lexicon.code == "en" and self._is_strangers(clause, start, targets):
            return
        for mention in targets:
            if (
                (mention.rank < NAME or " " not in mention.surface.strip())
                and mention.surface.islower()
                and self._lexicon.code == "en"
                and _RAN_OUT.search(self._reading.text[start:end].lower())
            ):
                continue  # "the exam is over": it took place
            if self._is_renewed(mention, sentence) or self._is_part(mention, clause, end):
                continue
            of_another = self._is_of_another(mention, clause) or self._is_of_the_task(
                mention, sentence, clause, (start, end)
            )
            if of_another or self._sells_on(mention, (start, end)):
                continue
            if self._does_it(mention, clause, (start, end)) or self._stands(
                mention, place, sentence, clause, (start, end)
            ):
                continue
            new = self._passed_to(mention, sentence)
            reason: Reason = "replace" if new else self._reason(mention, sentence, clause, subject)
            yield Ending(self._as_said(mention), reason, sentence, mention, subject or "user", new)

    def _likewise(self, place: int, sentence: Sentence) -> Iterator[Ending]:
        """Find what goes the way of what ended right before it ("and the choir too")."""
        if self._lexicon.code not in ("de", "es"):
            return
        before = self._reading.sentences[place - 1] if place else None
        for index, clause in enumerate(sentence.clauses):
            found = [m for m in self._within(clause, sentence) if m.rank >= NOUN and self._is_personal(m)]
            along = [m for m in found if goes_along(clause.flat, m.start - clause.start, m.end - clause.start)]
            if clause.asks or not along or self._is_hedged(sentence, clause):
                continue
            told = [(c, sentence) for c in sentence.clauses[:index]]
            told = told or ([(c, before) for c in before.clauses] if before else [])
            if any(self._cue(c, near, near.clauses.index(c)) for c, near in told):
                yield from (Ending(m.surface, "retract", sentence, m) for m in along)

    def _is_of_the_task(self, mention: Mention, sentence: Sentence, clause: Clause, cue: Span) -> bool:
        """Whether something ends that was to be done or is the assistant's, and nothing of the user's."""
        if self._lexicon.code != "en":
            return False
        told = self._reading.text[slice(*cue)].lower()
        is_elsewhere = not clause.start <= mention.start < clause.end
        if is_elsewhere and (mention.surface.isdigit() or _RAN_OUT.search(told)):
            return True  # "I installed it. It's done."
        is_common = mention.surface.islower() and mention.rank < VALUE
        complains = all(_NO_MORE.fullmatch(other.flat) for other in sentence.clauses)
        if is_common and (complains or self._is_verb(mention, clause)):
            return True
        return mention.rank < VALUE and _SUGGESTED.search(sentence.flat) is not None

    def _is_verb(self, mention: Mention, clause: Clause) -> bool:
        """Whether a common word is what one cannot do ("can't afford to wait")."""
        before, after = clause.flat[: mention.start - clause.start], clause.flat[mention.end - clause.start :]
        return after.startswith(" to ") and _UNABLE.search(before) is not None

    def _sells_on(self, mention: Mention, cue: Span) -> bool:
        """Whether something is sold that was told of as sold: who sells candles goes on to have some."""
        sold = _SELLS.search(self._reading.text[slice(*cue)].lower()) is not None
        return sold and any(_SELLS.search(flat(text)) for text in mention.said)

    def _reason(self, mention: Mention, sentence: Sentence, clause: Clause, subject: str | None) -> Reason:
        """Return whether something is told to come in place of what ends, or beside it."""
        gains = self._gains(sentence.flat) or any(
            NOW.search(other.flat) for other in sentence.clauses if other is not clause and not other.asks
        )
        if gains or (self._lexicon.code == "en" and recast(mention.surface, sentence.text, self._lexicon)):
            return "replace"
        named_in = self._clause_at(sentence, mention)
        if self._lexicon.code == "en" and any(
            c is not named_in and not c.asks and self._is_habit(c) for c in sentence.clauses
        ):
            return "beside"
        theirs = subject not in (None, "user") and self._lexicon.code == "en"
        beside = any(
            other is not named_in
            and (
                self._tells_new(other)
                or self._tells_else(other)
                or self._dates_from(other)
                or self._tells_instead(other, sentence)
                or (theirs and self._tells_of_theirs(other))
            )
            for other in sentence.clauses
        )
        return "beside" if beside else "retract"

    def _is_habit(self, clause: Clause) -> bool:
        """Whether an English clause tells, with a word never heard, what the speaker does as a rule ("I write on a X")."""
        idle = self._lexicon.stop | self._lexicon.generic
        fresh = [w for w in words(clause.flat) if w.text not in idle and not self._heard.holds(w.text)]
        return bool(fresh) and _HABIT.search(clause.flat) is not None

    def _is_between_us(self, clause: Clause, start: int, targets: Sequence[Mention]) -> bool:
        """Whether somebody parts from the speaker, and not from where they live ("my cousin moved out of X")."""
        is_place = clause.flat.startswith("moved out", start - clause.start) and self._lexicon.code == "en"
        return not (is_place and all(m.start > start for m in targets))

    def _passed_to(self, mention: Mention, sentence: Sentence) -> str:
        """Return the new name that something old is told to have given way to in the same breath ("from X to Y")."""
        rest = sentence.text[mention.end - sentence.start :]
        favoured = _FAVOURED.search(rest)
        if favoured and not self._heard.holds(favoured["new"]):
            return favoured["new"]
        return self._given_to(rest)

    def _tells_of_theirs(self, clause: Clause) -> bool:
        """Whether a clause names something never heard of, be it somebody else's."""
        return not clause.asks and bool(self._fresh(clause))

    def _outdone(self, sentence: Sentence) -> Iterator[Ending]:
        """Find what gives way to a value that holds again ("Y is awful, back to X"), where one was told to follow the other."""
        back = [c for c in sentence.clauses if self._lexicon.again.search(c.flat) and not c.asks]
        back = [c for c in back if not self._is_hedged(sentence, c)]
        floor = NOUN if self._lexicon.code == "zh" else NAME
        restored = [m for c in back for m in self._within(c, sentence) if m.rank >= floor]
        place = self._reading.sentences.index(sentence)
        for near in self._reading.sentences[max(0, place - 1) : place + 1]:
            for mention in self._mentions[near.start]:
                clause = self._clause_at(near, mention)
                if mention.rank < floor or clause in back or self._is_idle(near, mention):
                    continue
                if self._lexicon.additive.search(clause.flat):
                    continue
                exchanged = [text for text in mention.said if self._exchanges(text)]
                if any(mentions(text, m.surface) for m in restored for text in exchanged if m is not mention) or any(
                    self._came_after(mention, m) or (exchanged and self._was_before(m, mention)) for m in restored
                ):
                    yield Ending(mention.surface, "beside", near, mention)

    def _came_after(self, mention: Mention, first: Mention) -> bool:
        """Whether a name was first told of beside another one that had been told of alone before."""
        if self._lexicon.code not in ("ru", "zh") or mention.surface == first.surface or not mention.said:
            return False
        alone = [text for text in first.said if not mentions(text, mention.surface)]
        return bool(alone) and mentions(mention.said[0], first.surface)

    def _was_before(self, first: Mention, mention: Mention) -> bool:
        """Whether one value was told of before the other was told to come in place of something."""
        if self._lexicon.code not in ("ru", "zh") or first.surface == mention.surface or not first.said:
            return False
        texts = self._heard.texts
        came = [text for text in mention.said if self._lexicon.switch.search(flat(text)) or self._exchanges(text)]
        return bool(came) and texts.index(first.said[0]) < texts.index(came[0])

    def _exchanges(self, text: str) -> bool:
        """Whether an earlier text tells that one thing came in place of another."""
        return _tells_exchange(text, self._lexicon)

    def _is_renewed(self, mention: Mention, sentence: Sentence) -> bool:
        """Whether an old thing made room for another of its kind ("sold the old oboe, a bigger one is ordered")."""
        before, after = sentence.flat[: mention.start - sentence.start], sentence.flat[mention.end - sentence.start :]
        is_old = _OLD.search(before) or _OLD_AFTER.match(after)
        return is_old is not None and _ANOTHER.search(sentence.flat) is not None


@lru_cache(maxsize=TEXTS_KEPT)  # the same texts are asked about turn after turn
def _tells_exchange(text: str, lexicon: Lexicon) -> bool:
    told = flat(text)
    cues = (lexicon.switch, lexicon.source, lexicon.parted, lexicon.ended, lexicon.ceased, lexicon.loose, NOW)
    return any(cue.search(told) for cue in cues)

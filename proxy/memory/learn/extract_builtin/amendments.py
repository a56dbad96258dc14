"""Puts right what was said before: a new value alone, in the frame of the old one, or for the same attribute."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from proxy.memory.learn.extract_builtin.facts import stated_in
from proxy.memory.learn.extract_builtin.figures import SHOWN
from proxy.memory.learn.extract_builtin.lazy import lazy
from proxy.memory.learn.extract_builtin.lexicon import group_of
from proxy.memory.learn.extract_builtin.mentions import is_name
from proxy.memory.learn.extract_builtin.pairs import pairs_in
from proxy.memory.learn.extract_builtin.reading import Clause, Reading, Sentence, is_brief, read_as
from proxy.memory.learn.extract_builtin.reframed import cleft
from proxy.memory.learn.extract_builtin.replacement import (
    clipped,
    is_of_its_sort,
    is_spelt_like,
    names_in,
    overlap,
    placed,
    recast,
    remodelled,
)
from proxy.memory.learn.extract_builtin.scan import HABITUAL, REQUEST
from proxy.memory.learn.extract_builtin.slips import corrects_han, put_right_in_han
from proxy.memory.learn.extract_builtin.typed import (
    counterpart,
    framed,
    typed,
)
from proxy.text.words import contains_value, flat, same_value, same_word, stems, words
from proxy.types import Candidate, Memory, Said

FACT_CONFIDENCE = 0.8
_MAX_AMENDMENT = 24  # words of a sentence that corrects something (characters of Chinese)
_MAX_QUOTED = 10  # words
_HEARS = lazy(
    r"(?:\b(?:mir|me|nos) )?\b(?:sagt|meint|schreibt|ruft|verbessert|korrigiert|dicen?|corrige|avisa|recuerda|grita|cuenta)\b(?: (?:gerade|grad|eben|mir|uns|mich|dazwischen))*,?(?=(?: (?:er|sie|es|dass|que|mi|el|la)\b|,))(?: que)?|"
    r", (?:sagt|meint|dice) (?:(?:die|der|meine?|mi|la|el) )?\w+\b"
)
_BARE = lazy(  # "Sorry, Dr. Okonkwo!"
    r"(?:sorry|oops|whoops|no|wait|ugh|ah|oh|i mean|ups|nein|nee|quatsch|halt|perdón|perdona|ay|uy|digo|извини|извините|ой|нет|тьфу|стоп|抱歉|不对|哎|不|不好意思|啊)"
    r"(?:[\s,.!—–，。！-]+(?:sorry|no|nein|ich meine|digo|нет|то есть|不对|是))*[\s,.!—–，。！-]+(?:是|the |der |die |das |el |la )?"
    r"(?P<new>[\w.'-]+(?: [\w.'-]+){0,3})[.!。！]*"
)
_SINCE = lazy(r"\b(?:since|until|till|last) $")  # when it happened, and no value
_REPORTS = lazy(
    r"\b(?:говорит|говорят|сказал[аи]?|кричит|подсказывает|рассказыва\w+)\b|说(?=[他她它])"
)  # who puts one right
_ON_TOP = lazy(r"\b(?:as well|too|also)(?=\W*$|[,;])")
_DENIES = lazy(r"(?:(?:and|und|y|а) )?(?:not|nicht|kein\w*|no|не)(?: [\w-]+){1,3}$|(?:而)?不是[^，。]{1,8}$")


_COMPOUND = lazy(r"-[^\W\d]")  # "my 6-month goal"
_REGARDING = lazy(
    r"\W*(?:(?:actually|well|oh|and|so|also),? )*(?:regarding|concerning|as for|speaking of|on the subject of)\b"
)


class Amendments:
    """The amendments of one message against what was said before."""

    def __init__(self, said: Said, reading: Reading, earlier: Sequence[str], known: Sequence[Memory] = ()) -> None:
        self._known = known
        self._said, self._reading, self._lexicon = said, reading, reading.lexicon
        self._earlier = [text for text in earlier if text != said.text]
        self._correcting: dict[int, bool] = {}  # by where a sentence starts
        self._just_before = ""

    def _amended(self) -> Iterator[Candidate]:
        """Yield what a correction puts right that names the new value alone ("actually it is Berlin")."""
        for sentence in self._reading.sentences:
            cue = (
                any(self._is_correcting(near) for near in self._around(sentence))
                or self._lexicon.murmur.search(sentence.flat)
                or any(_DENIES.match(clause.flat) for clause in sentence.clauses[1:])
                or self._is_told_better(sentence)
            )
            shown = cue or any(self._is_shown(near) for near in self._around(sentence))
            if (
                sentence.asks
                or not shown
                or REQUEST.match(sentence.flat)
                or len(sentence.words) > _MAX_AMENDMENT
                or self._is_thought(sentence)
                or self._adds(sentence)
                or _REGARDING.match(sentence.flat)
            ):
                continue
            found = next(self._put_right(sentence) if cue else self._put_right_as_shown(sentence), None)
            if found is not None:
                yield self._amendment(sentence, *found)
                return

    def _is_told_better(self, sentence: Sentence) -> bool:
        """Whether somebody near is quoted in a few words, as who knows better ("Grandma says he'll be 93")."""
        quoted = _HEARS.search(sentence.flat) if self._lexicon.code in ("de", "es") else None
        is_short = len(self._reading.sentences) == 1 and len(sentence.words) <= _MAX_QUOTED
        return quoted is not None and is_short and self._lexicon.kin.search(sentence.flat) is not None

    def _is_correcting(self, sentence: Sentence) -> bool:
        known = self._correcting.get(sentence.start)
        if known is None:
            known = self._correcting[sentence.start] = self._lexicon.correction.search(
                sentence.flat
            ) is not None and not HABITUAL.search(sentence.flat)
        return known

    def _is_shown(self, sentence: Sentence) -> bool:
        """Whether a Russian or Chinese sentence tells how one found something out, or slipped."""
        shown = SHOWN.get(self._lexicon.code)
        return shown is not None and (shown.search(sentence.flat) is not None or corrects_han(sentence, self._lexicon))

    def _is_thought(self, sentence: Sentence) -> bool:
        """Whether a sentence is a mere thought; of an English one, that is, each clause that could tell a value."""
        if self._lexicon.code != "en":
            murmurs = self._lexicon.murmur.search(sentence.flat) is not None
            told = _REPORTS.sub(" ", sentence.flat) if murmurs else sentence.flat
            told = _HEARS.sub(" ", told) if self._is_told_better(sentence) else told
            return self._lexicon.hedge.search(told) is not None
        telling = [c for c in sentence.clauses if any(w.isdigit() or w[:1].isupper() for w in self._told(c))]
        return all(self._lexicon.hedge.search(c.flat) is not None for c in telling or sentence.clauses)

    def _adds(self, sentence: Sentence) -> bool:
        """Whether a sentence ends by saying that something comes on top ("I'm allergic to penicillin as well")."""
        return self._lexicon.code == "en" and _ON_TOP.search(sentence.flat) is not None

    def _told(self, clause: Clause) -> list[str]:
        return self._said.text[clause.start : clause.end].split()

    def _around(self, sentence: Sentence) -> Sequence[Sentence]:
        """Return a sentence and the one beside it that may say that it corrects ("It's Niamh. I always mix them up")."""
        place = self._reading.sentences.index(sentence)
        if self._lexicon.code in ("en", "ru", "zh") and is_brief(self._reading):
            beside = self._reading.sentences[max(0, place - 1) : place + 2]
            return [near for near in beside if near is sentence or not near.asks]
        after = [near for near in self._reading.sentences[place + 1 : place + 2] if not near.asks]
        return (sentence, *(after if self._lexicon.amend.search(sentence.flat) else ()))

    def _put_right(self, sentence: Sentence) -> Iterator[tuple[str, str, str, str]]:
        """Yield (new, old, the earlier text, relation): by a named value, by its form, by the words before it."""
        new = self._new_name(sentence) or self._only_new_name(sentence)
        old = new and self._meant_before(sentence, new)
        if new and old and is_of_its_sort(new, old[0]) and (not new[0].isdigit() or any(map(str.isdigit, old[0]))):
            yield new, *old
        yield from self._put_right_by_form(sentence)
        yield from self._put_right_by_spelling(sentence)
        yield from self._put_right_by_verb(sentence)
        yield from self._put_right_by_mould(sentence)
        yield from self._put_right_by_frame(sentence)
        yield from self._put_right_by_place(sentence)
        for text in self._by_topic(sentence)[:3]:
            yield from ((new, old, text, "") for new, old in cleft(sentence, text, self._lexicon))

    def _put_right_as_shown(self, sentence: Sentence) -> Iterator[tuple[str, str, str, str]]:
        """Yield what a sentence puts right that only tells how one found out: by its form, or by the verb of before."""
        yield from self._put_right_by_form(sentence)
        yield from self._put_right_by_verb(sentence)

    def _put_right_by_verb(self, sentence: Sentence) -> Iterator[tuple[str, str, str, str]]:
        for text in self._by_topic(sentence)[:2]:
            yield from ((n, o, text, "") for n, o in put_right_in_han(sentence, self._said.text, text, self._lexicon))

    def _put_right_by_form(self, sentence: Sentence) -> Iterator[tuple[str, str, str, str]]:
        place = self._reading.sentences.index(sentence)
        for near in self._reading.sentences[place : place + 2]:
            asked = [clause for clause in near.clauses if clause.asks]
            values = [v for v in typed(near.text) if not any(c.start <= near.start + v.start < c.end for c in asked)]
            values = [v for v in values if not _COMPOUND.match(near.text, v.end)]
            for value in values:
                for text in self._by_topic(sentence)[:3]:
                    old = counterpart(value, text)
                    is_kept = old is not None and (
                        self._still_says(near, old.surface) or _SINCE.search(flat(near.text[: value.start])) is not None
                    )
                    if old is not None and not is_kept and value.surface.lower() not in text.lower():
                        yield value.surface, old.surface, text, ""

    def _put_right_by_spelling(self, sentence: Sentence) -> Iterator[tuple[str, str, str, str]]:
        """Yield a name that nobody said before and is spelt much like one that was given: people mix those up."""
        if self._lexicon.code == "zh":
            return
        place = self._reading.sentences.index(sentence)
        known = [memory.quote or memory.text for memory in self._known]
        said = {word.text for text in (*self._earlier, *known) for word in words(text)}
        for near in self._reading.sentences[place : place + 2]:
            if near.asks:
                continue
            fresh = [w for w in near.words if self._said.text[w.start].isupper() and w.text not in said]
            for text in dict.fromkeys((*self._by_topic(sentence)[:3], *known)):
                values = [fact.object for fact in stated_in(text, self._lexicon)]
                values += [pair.value for pair in pairs_in(text, self._lexicon)]
                for old in (word for value in values for word in words(value) if value[word.start].isupper()):
                    for new in fresh:
                        if is_spelt_like(new.text, old.text) and not same_word(new.text, old.text):
                            surface = next(w for w in words(text) if w.text == old.text)
                            yield self._said.text[new.start : new.end], text[surface.start : surface.end], text, ""

    def _put_right_by_mould(self, sentence: Sentence) -> Iterator[tuple[str, str, str, str]]:
        """Yield what stands in the mould of a value of several words ("Pablo Reyes", after "Pablo Ruiz")."""
        if self._lexicon.code not in ("de", "es"):
            return
        for text in self._by_topic(sentence)[:3]:
            values = [fact.object for fact in stated_in(text, self._lexicon)]
            values += [*(pair.value for pair in pairs_in(text, self._lexicon)), *names_in(text)]
            for old in dict.fromkeys(values):
                new = recast(old, sentence.text, self._lexicon)
                if new and new[:1].isupper() == old[:1].isupper() and flat(new) not in flat(text):
                    yield new, old, text, ""

    def _put_right_by_place(self, sentence: Sentence) -> Iterator[tuple[str, str, str, str]]:
        """Yield the one name after a preposition that another name stood after before ("to Corfu", "to Crete")."""
        if self._lexicon.code not in ("de", "es"):
            return
        place = self._reading.sentences.index(sentence)
        near = " ".join(one.text for one in self._reading.sentences[place : place + 2] if not one.asks)
        now = placed(near)
        for text in self._by_topic(sentence)[:3]:
            before = placed(text)
            for preposition, new in now.items():
                old = before.get(preposition, "")
                if new and old and not overlap(new, old) and not any(new in earlier for earlier in self._earlier):
                    yield new, old, text, ""

    def _still_says(self, sentence: Sentence, old: str) -> bool:
        """Whether a sentence names a value without taking it back ("June's book is …")."""
        named = [clause.flat for clause in sentence.clauses if flat(old) in clause.flat]
        doubts = (self._lexicon.slip, self._lexicon.correction, self._lexicon.negation)
        return bool(named) and self._lexicon.code == "en" and not any(p.search(text) for p in doubts for text in named)

    def _put_right_by_frame(self, sentence: Sentence) -> Iterator[tuple[str, str, str, str]]:
        place = self._reading.sentences.index(sentence)
        clauses = [c for near in self._reading.sentences[place : place + 2] for c in near.clauses if not c.asks]
        for text in self._by_topic(sentence)[:3]:
            for earlier in (c for other in read_as(text, self._lexicon).sentences for c in other.clauses):
                before = text[earlier.start : earlier.end]
                for clause in clauses:
                    now = self._said.text[clause.start : clause.end]
                    for start, at in framed(now, before, self._lexicon):
                        new, old = clipped(now[start:], self._lexicon), clipped(before[at:], self._lexicon)
                        if new and old and not overlap(new, old):
                            yield new, old, text, ""

    def _amendment(self, sentence: Sentence, new: str, old: str, earlier: str, relation: str) -> Candidate:
        held = [memory for memory in self._known if same_value(memory.object, old)]
        whole = (
            {memory.object for memory in self._known if contains_value(memory.object, old)}
            if self._lexicon.code in ("ru", "zh") and typed(old)
            else set[str]()
        )
        owned = held[0] if len({memory.subject for memory in held}) == 1 and held[0].subject != "user" else None
        return Candidate(
            "replace",
            "fact",
            remodelled(earlier, old, new, self._lexicon) or sentence.text,
            self._said.text[sentence.start :] if new not in sentence.text else sentence.text,
            self._said.id,
            subject=owned.subject if owned else "user",
            object=new,
            replaces=(old, *sorted(value for value in whole if value in earlier)),
            relation=owned.relation if owned else relation,
            confidence=FACT_CONFIDENCE,
        )

    def _new_name(self, sentence: Sentence) -> str:
        for clause in sentence.clauses:
            match = self._lexicon.amend.search(clause.flat) or _BARE.fullmatch(sentence.flat)
            where = match and group_of(match, "new")
            if match and match.string is sentence.flat and where:
                where = (where[0] + sentence.start - clause.start, where[1] + sentence.start - clause.start)
            if clause.asks or not where:
                continue
            value = clipped(self._said.text[clause.start + where[0] : clause.start + where[1]], self._lexicon)
            if value and (
                is_name(value, self._lexicon.code) or value[0].isdigit() or self._lexicon.code in ("de", "zh")
            ):
                return value
        return ""

    def _only_new_name(self, sentence: Sentence) -> str:
        """Return the one name that a correction brings up, where it goes on about what was said before."""
        told = self._around(sentence) if self._lexicon.code == "en" else (sentence,)
        is_told = any(self._is_correcting(near) for near in told)
        is_told = is_told and not self._lexicon.additive.search(sentence.flat)
        if (
            not is_told
            or self._lexicon.code in ("de", "zh")
            or not self._by_topic(sentence)
            or not self._shares_topic(sentence)
        ):
            return ""
        fresh = [name for name in names_in(sentence.text) if not any(name in text for text in self._earlier)]
        return fresh[0] if len(fresh) == 1 else ""

    def _shares_topic(self, sentence: Sentence) -> bool:
        latest = {stem for word in words(self._by_topic(sentence)[0]) for stem in stems(word.text)}
        told = self._around(sentence) if self._lexicon.code == "en" else (sentence,)
        found = (word.text for near in told for word in near.words if word.text not in self._lexicon.stop)
        return any(latest & set(stems(word)) for word in found)

    def _meant_before(self, sentence: Sentence, new: str) -> tuple[str, str, str] | None:
        """Return the one value (with its text and relation) that the latest fitting utterance gave."""
        for text in self._by_topic(sentence)[:1]:
            values = {fact.object: fact.statement.relation for fact in stated_in(text, self._lexicon)}
            values.update({pair.value: " ".join(pair.attribute) for pair in pairs_in(text, self._lexicon)})
            again = flat(self._said.text) if self._lexicon.code == "en" else ""  # "not Oregon: Portland, Maine"
            found = [(value, text, relation) for value, relation in values.items() if not overlap(value, new)]
            if not found and self._lexicon.code == "de":
                found = [(name, text, "") for name in placed(text).values() if name and not overlap(name, new)]
            if not found and self._lexicon.code not in ("de", "zh"):
                names = [name for name in names_in(text) if flat(name) not in again]
                found = [(name, text, "") for name in names if not overlap(name, new)]
            if len(found) == 1:
                return found[0]
        return None

    def _by_topic(self, sentence: Sentence) -> list[str]:
        """Return what was said before, what shares a telling word with the sentence first, the latest first."""
        topic = {stem for word in sentence.words if word.text not in self._lexicon.stop for stem in stems(word.text)}
        ordered = sorted(
            enumerate(self._earlier),
            key=lambda entry: (any(topic & set(stems(word.text)) for word in words(entry[1])), entry[0]),
            reverse=True,
        )
        return [text for _, text in ordered]

"""Finds what a message tells anew of what was told before: figures, times, codes, frames and definitions."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence

from proxy.memory.learn.extract_builtin.amendments import FACT_CONFIDENCE, Amendments
from proxy.memory.learn.extract_builtin.english_retold import retold_in_english
from proxy.memory.learn.extract_builtin.figures import refigured
from proxy.memory.learn.extract_builtin.lazy import lazy
from proxy.memory.learn.extract_builtin.measures import remeasured
from proxy.memory.learn.extract_builtin.numbers import NUMBER_WORD
from proxy.memory.learn.extract_builtin.reading import Reading, Sentence, is_brief, read_as
from proxy.memory.learn.extract_builtin.reframed import reframed
from proxy.memory.learn.extract_builtin.rejoinders import rejoined
from proxy.memory.learn.extract_builtin.replacement import (
    overlap,
    remodelled,
)
from proxy.memory.learn.extract_builtin.rescheduled import rescheduled
from proxy.memory.learn.extract_builtin.restated import restated
from proxy.memory.learn.extract_builtin.retold import retold
from proxy.memory.learn.extract_builtin.scan import REQUEST
from proxy.memory.learn.extract_builtin.shapes import reshaped
from proxy.memory.learn.extract_builtin.typed import (
    PAST,
    frames_in,
    start_of,
    told_of,
    told_within,
    topic_of,
)
from proxy.text.words import Word, flat, same_word, words
from proxy.types import Candidate

_LEAST_SHARED, _LEAST_ALIKE = 2, 4  # telling words of a clause with another figure; words of one that is said again
_DASH = lazy(r"[-–—]|\s*[-–—]\s*это|:")
_MEASURE = lazy(
    r"\b(?:площад|рост|вес|размер|зарплат|оклад|бюджет|ставк|тариф|стаж|возраст|пробег|длин|ширин|высот|объем|цен|номер|давлени|этаж|курс|класс|месяц|недел)\w{0,3}\b"
)
_FIGURES = lazy(
    rf"\d+|[一二两三四五六七八九十]|{NUMBER_WORD}|(?:перв|втор|трет|четверт|пят|шест|седьм|восьм|девят|десят)\w{{1,3}}"
)
_UNIT_HAN = lazy(r"[\u4e00-\u9fff]{1,2}")
_UNIT = lazy(r" \w+")
_MAX_KEY = 5  # words of either side of a dash
_LEANS = lazy(
    r"\W*(?:(?:and|und|y|и|а) )?(?:(?:its?|his|her|their|he|she|they|seine?|ihre?|er|sie|sus?|él|ella|его|ее|их|он|она|они)\b|[其它他她该此这那])"
)


class Updates(Amendments):
    """The changes of one message that name no old value."""

    def _rejoined(self) -> Iterator[Candidate]:
        """Yield what a short message puts right of the one just before it ("Ah, from Luton it says here")."""
        for found in rejoined(self._reading, self._just_before):
            yield self._amendment(found.sentence, found.new, found.old, self._just_before, "")

    def _redefined(self) -> Iterator[Candidate]:
        """Yield what is put on a level with something else than before ("ник — Волк", "ник — Степняк")."""
        for key, new, sentence in _defined(self._reading):
            if sentence.asks or self._lexicon.hedge.search(sentence.flat):
                continue
            for text in self._earlier:
                for known, old, _ in _defined(read_as(text, self._lexicon)):
                    if not overlap(new, old) and _is_same(key, known):
                        yield self._amendment(sentence, new, old, text, "")

    def _retimed(self) -> Iterator[Candidate]:
        """Yield what is said again in the very words of before, but for one number, time or the like."""
        for sentence in self._reading.sentences:
            is_request = REQUEST.match(sentence.flat) is not None
            beside = self._lexicon.code in ("ru", "zh")  # "help me choose, I wear size 39"
            for clause in (
                sentence.clauses[1 if beside else len(sentence.clauses) :] if is_request else sentence.clauses
            ):
                told = told_of(self._said.text[clause.start : clause.end])
                if _LEANS.match(clause.flat) and len(sentence.clauses) > 1:
                    continue  # of whom it is told stands in another clause
                if told is None or clause.asks or self._lexicon.hedge.search(clause.flat) or PAST.search(clause.flat):
                    continue
                if self._lexicon.code == "en" and self._lexicon.additive.search(clause.flat):
                    continue
                frame, new = told
                if frame[0] == "ordinal" and not is_brief(self._reading):
                    continue  # "the fourth topic", after the third
                is_open = self._lexicon.code == "en" or any(
                    self._lexicon.correction.search(near.flat) for near in self._reading.sentences
                )
                topic = topic_of(frame, self._lexicon) if is_open else None
                start = start_of(frame, self._lexicon)
                for text in self._earlier:
                    frames = frames_in(text, self._lexicon)
                    old = frames.get(frame) or (topic and frames.get(topic)) or (start and frames.get(start))
                    if old is None and self._lexicon.code == "ru":
                        is_open = is_open or _MEASURE.search(clause.flat) is not None
                        old = told_within(frame, frames, self._lexicon, least=1 if is_open else _LEAST_SHARED)
                    if old is not None and flat(old) != flat(new):
                        yield self._amendment(sentence, new, old, text, "")

    def _rescheduled(self) -> Iterator[Candidate]:
        """Yield what takes place on another day or at another hour than before."""
        for found in rescheduled(self._reading, self._earlier):
            yield self._amendment(found.sentence, found.new, found.old, found.text, "")

    def _recounted(self) -> Iterator[Candidate]:
        """Yield what is said again word for word but for one figure, beside others ("class 5 B", "class 6 B")."""
        if self._lexicon.code not in ("ru", "zh"):
            return
        for sentence in self._reading.sentences:
            for clause in sentence.clauses:
                ours = words(self._said.text[clause.start : clause.end])
                leans = _LEANS.match(clause.flat) and len(sentence.clauses) > 1
                if clause.asks or leans or len(ours) < _LEAST_ALIKE or PAST.search(clause.flat):
                    continue
                for text in self._earlier:
                    for other in (c for near in read_as(text, self._lexicon).sentences for c in near.clauses):
                        theirs = words(text[other.start : other.end])
                        apart = [(a, b) for a, b in zip(ours, theirs, strict=False) if not same_word(a.text, b.text)]
                        if len(ours) != len(theirs) or len(apart) != 1 or other.asks:
                            continue
                        new, old = apart[0]
                        if _FIGURES.fullmatch(new.text) and _FIGURES.fullmatch(old.text):
                            now, before = self._said.text[clause.start : clause.end], text[other.start : other.end]
                            yield self._amendment(sentence, _counted(now, new), _counted(before, old), text, "")

    def _restated(self) -> Iterator[Candidate]:
        """Yield what an attribute is said to be in the words of before ("the class teacher is X", later "… is Y")."""
        held = [memory.quote or memory.text for memory in self._known]
        for new, old, text in restated(self._reading, [*self._earlier, *held]):
            yield self._amendment(new.sentence, new.value, old.value, text, "")
        for fresh, before, text in reframed(self._reading, self._earlier) if is_brief(self._reading) else ():
            yield self._amendment(fresh.sentence, fresh.value, before.value, text, "")
        for now, once, text in remeasured(self._reading, self._earlier):
            yield self._amendment(now.sentence, now.value, once.value, text, "")
        for figure, former, text in refigured(self._reading, self._earlier):
            yield self._amendment(figure.sentence, figure.value, former.value, text, "")
        for told, other, text in retold_in_english(self._reading, self._earlier) if is_brief(self._reading) else ():
            yield self._amendment(told.sentence, told.value, other.value, text, "")
        for anew, known, text in retold(self._reading, self._earlier):
            yield self._amendment(anew.sentence, anew.value, known.value, text, "")

    def _reshaped(self) -> Iterator[Candidate]:
        """Yield the codes and figures that an attribute has anew."""
        for old, text, new, quote in reshaped(self._reading, self._earlier):
            yield Candidate(
                "replace",
                "fact",
                remodelled(text, old.code, new, self._lexicon) or quote,
                quote,
                self._said.id,
                relation=" ".join(old.attribute),
                object=new,
                replaces=(old.code,),
                single=True,
                confidence=FACT_CONFIDENCE,
            )


def _defined(reading: Reading) -> Iterator[tuple[tuple[str, ...], str, Sentence]]:
    """Yield (words of the subject, predicate, sentence) of sentences that a dash makes of two nouns, as Russian does."""
    if reading.lexicon.code != "ru":
        return
    for sentence in reading.sentences:
        for left, right in itertools.pairwise(sentence.clauses):
            if not _DASH.fullmatch(reading.text[left.end : right.start].strip(' «"„“')) or right.asks:
                continue
            lexicon = reading.lexicon
            key = tuple(word.text for word in words(left.flat) if not lexicon.owned.fullmatch(word.text))
            value = reading.text[right.start : right.end].strip(' «»"„“.!')
            is_many = key and lexicon.many.match(" ".join(key)) and not lexicon.slot.search(" ".join(key))
            fits = (
                0 < len(key) <= _MAX_KEY
                and 0 < len(words(value)) <= _MAX_KEY
                and not lexicon.first.search(value.lower())
            )
            if fits and not is_many and not all(word in lexicon.stop for word in key):
                yield key, value, sentence


def _counted(text: str, figure: Word) -> str:
    """Return a figure with what it counts."""
    unit = _UNIT_HAN.match(text, figure.end) or _UNIT.match(text, figure.end)
    return text[figure.start : unit.end() if unit else figure.end]


def _is_same(ours: Sequence[str], theirs: Sequence[str]) -> bool:
    return len(ours) == len(theirs) and all(same_word(a, b) for a, b in zip(ours, theirs, strict=True))

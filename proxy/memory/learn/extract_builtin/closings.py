"""Forms what becomes of an ended value: taken back, or replaced by one that the message names."""

from __future__ import annotations

import re
from dataclasses import replace

from proxy.memory.learn.extract_builtin.amendments import FACT_CONFIDENCE
from proxy.memory.learn.extract_builtin.lazy import lazy
from proxy.memory.learn.extract_builtin.lexicon import group_of
from proxy.memory.learn.extract_builtin.numbers import uncut
from proxy.memory.learn.extract_builtin.reading import Sentence
from proxy.memory.learn.extract_builtin.replacement import (
    clipped,
    names_in,
    overlap,
    overlapping,
    recast,
    remodelled,
    touches,
)
from proxy.memory.learn.extract_builtin.scan import Ending
from proxy.memory.learn.extract_builtin.switches import GAINS, NOW
from proxy.memory.learn.extract_builtin.updates import Updates
from proxy.text.cuts import cut
from proxy.text.words import Value, flat, same_value, words
from proxy.types import Candidate

_ENDING_CONFIDENCE = 0.85
_IT_IS = lazy(r"\b(?:it's|its|it is|that's|he's|she's|they're|should be)\b")


class Closings(Updates):
    """The endings of one message as candidates."""

    def _closing(self, ending: Ending) -> Candidate:
        quote = ending.sentence.text
        base = Candidate(
            "retract",
            "fact",
            ending.value,
            quote,
            self._said.id,
            subject=self._subject_of(ending),
            object=ending.value,
            replaces=(ending.value,),
            confidence=_ENDING_CONFIDENCE,
            forget=ending.reason == "forget",
        )
        if ending.reason == "succeeded":
            return self._succession(ending, base)
        if ending.reason not in ("replace", "correct", "beside"):
            return base
        new, text, quote = self._named_beside(ending) or (*self._replacement(ending), quote)
        if ending.reason == "correct" and not new:
            new, text, quote = self._put_nearby(ending) or (new, text, quote)
        if not text:
            return base
        return Candidate(
            "replace",
            "fact",
            text,
            quote,
            self._said.id,
            subject=base.subject,
            object=new,
            relation=self._relation_of(ending),
            replaces=(ending.value,),
            confidence=FACT_CONFIDENCE,
        )

    def _succession(self, ending: Ending, base: Candidate) -> Candidate:
        """Return the change to a new value: what was told with it in place of the old, else what is told now."""
        told = ending.mention.said if ending.mention is not None else ()
        text = next(filter(None, (remodelled(one, ending.value, ending.new, self._lexicon) for one in told)), "")
        if not text:
            quote = ending.sentence.text
            old, new = (list(Value.of(value).find(words(quote))) for value in (ending.value, ending.new))
            text = (cut(quote, old, held=new) or "") if old else quote
        if not text:
            return base
        relation = self._relation_of(ending)
        return replace(
            base, action="replace", text=text, object=ending.new, relation=relation, confidence=FACT_CONFIDENCE
        )

    @property
    def _since(self) -> tuple[re.Pattern[str], ...]:
        return (NOW,) if self._lexicon.code == "zh" else ()

    def _subject_of(self, ending: Ending) -> str:
        if ending.subject != "user":
            return ending.subject
        owners = {memory.subject for memory in self._known if same_value(memory.object, ending.value)}
        if not owners and self._lexicon.code != "en":  # "grammar school Raduga"
            owners = {memory.subject for memory in self._known if touches(memory.object, ending.value)}
        return owners.pop() if len(owners) == 1 else "user"

    def _relation_of(self, ending: Ending) -> str:
        relations = {memory.relation for memory in self._known if same_value(memory.object, ending.value)}
        return relations.pop() if len(relations) == 1 else ""

    def _replacement(self, ending: Ending) -> tuple[str, str]:
        """Return the value that takes the place of an ended one, and a sentence that states it."""
        sentence = ending.sentence
        local = list(Value.of(ending.value).find(words(sentence.text)))
        new = ending.new or ("" if ending.reason == "beside" else self._new_value(ending, sentence))
        if new and ending.mention is not None:
            for earlier in ending.mention.said:
                text = remodelled(earlier, ending.value, new, self._lexicon)
                if text:
                    return new, text
        rest = cut(sentence.text, local, held=list(Value.of(new).find(words(sentence.text))) if new else [])
        tells = (
            self._lexicon.first,
            self._lexicon.kin,
            *((self._lexicon.copula,) if self._lexicon.code == "zh" else ()),
        )
        if ending.reason == "correct":
            its = (_IT_IS,) if self._lexicon.code == "en" else ()
            tells = () if self._lexicon.code in ("ru", "zh") else (*tells, self._lexicon.third, *its)
        tells = (
            ()
            if ending.reason == "beside"
            or any(cue.search(flat(rest or "")) for cue in (GAINS, self._lexicon.gained, *self._since))
            else tells
        )
        if not rest or not (new or not tells or any(pattern.search(flat(rest)) for pattern in tells)):
            return new, ""
        return new, rest

    def _named_beside(self, ending: Ending) -> tuple[str, str, str] | None:
        """Return the right value, a sentence that states it and its quote, where a sentence beside the one that disowns a value gives it alone."""
        found = self._reading.sentences
        place = found.index(ending.sentence)
        for near in (*found[max(0, place - 1) : place], *found[place + 1 : place + 2]):
            is_alone = self._lexicon.code == "en" and ending.reason == "correct" and not near.asks
            new = "" if not is_alone else self._new_name(near)
            if new and not overlap(new, ending.value) and _is_alike(new, ending.value):
                said = ending.mention.said if ending.mention is not None else ()
                text = next(filter(None, (remodelled(t, ending.value, new, self._lexicon) for t in said)), "")
                start, end = min(near.start, ending.sentence.start), max(near.end, ending.sentence.end)
                return new, text or near.text, self._said.text[start:end]
        return None

    def _put_nearby(self, ending: Ending) -> tuple[str, str, str] | None:
        """Return the right value, its sentence and quote where the sentence beside the one that disowns a value tells it."""
        found = self._reading.sentences
        place = found.index(ending.sentence)
        for near in (*found[max(0, place - 1) : place], *found[place + 1 : place + 2]):
            if near.asks:
                continue
            new = self._new_value(ending, near)
            text = new and next(
                filter(None, (remodelled(t, ending.value, new, self._lexicon) for t in self._earlier)), ""
            )
            if new and text:
                start, end = min(near.start, ending.sentence.start), max(near.end, ending.sentence.end)
                return new, text, self._said.text[start:end]
        return None

    def _coded(self, value: str, ending: Ending, sentence: Sentence) -> str:
        """Return a Russian value as it stands for a code: the code alone, and all of it."""
        if self._lexicon.code != "ru":
            return value
        if not any(map(str.isdigit, ending.value)):
            return uncut(value, sentence.text)
        figures = [word for word in value.split() if any(map(str.isdigit, word))]
        return uncut(figures[-1], sentence.text) if figures else value

    def _new_value(self, ending: Ending, sentence: Sentence) -> str:
        """Return what is named as the new value, after the old one if possible."""
        if self._lexicon.code == "en" and (alike := recast(ending.value, sentence.text, self._lexicon)):
            return alike
        corrects_name = ending.reason == "correct" and self._lexicon.code == "en" and ending.value[:1].isupper()
        spans = list(Value.of(ending.value).find(words(sentence.text)))
        after = spans[-1][1] if spans else 0
        found: list[tuple[bool, bool, bool, str]] = []
        for pattern in (*self._lexicon.contrast, self._lexicon.target):
            for match in overlapping(pattern, sentence.flat):
                start, end = group_of(match, "new") or match.span()
                value = self._coded(clipped(sentence.text[start:end], self._lexicon), ending, sentence)
                is_kind = not value and bool(value := clipped(sentence.text[start:end], self._lexicon, is_kind=True))
                if corrects_name and value.islower() and self._said.text[:1].isupper():
                    continue  # "never took one through X, so how am I to start"
                if value and not overlap(value, ending.value) and _is_alike(value, ending.value):
                    plain = not (
                        value[0].isupper() or value[0].isdigit() or (self._lexicon.code == "ru" and value[0].isascii())
                    )
                    found.append((is_kind, plain, start < after, value))
        if found:
            return min(found, key=lambda entry: entry[:3])[3]
        is_latin = self._lexicon.code == "ru" and sentence.text[:1].isascii()  # opens with a name
        fresh = [
            name
            for name in names_in("a " * is_latin + sentence.text)
            if not any(name in text for text in self._earlier)
        ]
        fresh = [name for name in fresh if not overlap(name, ending.value)]
        return fresh[0] if len(fresh) == 1 else ""


def _is_alike(new: str, old: str) -> bool:
    """Whether a number gives way to a number."""
    if new[:1].isdigit() and not any(char.isdigit() for char in old) and old.islower():
        return False
    return any(char.isdigit() for char in new) or not old[:1].isdigit()

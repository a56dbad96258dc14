"""Weighs, by signs whose bearing was learned from examples, whether a message ends a value that it names."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from importlib.resources import files

from proxy.memory.extract_builtin.lexicon import Lexicon
from proxy.memory.extract_builtin.mentions import NOUN, Mention
from proxy.memory.extract_builtin.reading import Sentence, read_as
from proxy.memory.extract_builtin.scan import Ending, Reason
from proxy.memory.extract_builtin.switches import ARRIVES, GAINS, NOW, Switches
from proxy.memory.extract_builtin.targets import NOT_ALONE, Targets
from proxy.memory.words import flat, same_word, words

_CUES = (
    *("first", "third", "ended", "ceased", "negation", "parted", "hedge", "past", "limited", "again", "additive"),
    *("forget", "remember", "correction", "murmur", "memory", "slip", "source", "switch", "target", "kin", "kept"),
    *("loose", "gained"),
)
_AFFIX = 5  # letters: the first ones of a verb say what is done, the last ones when
_ENDING = 3
_SHORTEST_PART = 5  # letters of the first part of a compound
_SURE, _TOLD = 0.6, 0.5
BIAS = "BIAS"
_LANGUAGES = ("de", "es", "ru")
_TELLS = (
    *("ENDED", "CEASED", "PARTED", "NEGATION", "SLIP", "SOURCE", "SWITCH", "NOW", "ARRIVES", "GAINS", "GAINED"),
    "LOOSE",
)
_EVIDENCE = frozenset(  # without one of them nothing ends, however likely it is
    (
        *(where + cue for where in ("", "rest ") for cue in _TELLS),
        *(where + cue for where in ("", "rest ", "last ", "next ") for cue in ("FORGET", "CORRECTION")),
    )
)


class Stance(Targets, Switches):
    """Reads which of the values that a message names it gives up, where no rule has told."""

    def _given_up(self) -> Iterator[Ending]:
        """Find the value that most signs speak against, and those listed with it."""
        weighed: list[tuple[float, int, Mention]] = []
        if self._lexicon.code not in _LANGUAGES:
            return
        for place, mention in self.named():
            sentence = self._reading.sentences[place]
            if not self._is_asked(sentence, mention) and self._is_worth(mention) and self._suffers(sentence, mention):
                signs = self.signs(place, mention)
                if signs & _EVIDENCE:
                    weighed.append((_likelihood(signs), place, mention))
        if not weighed or max(entry[0] for entry in weighed) < _SURE:
            return
        _, place, mention = max(weighed, key=lambda entry: entry[0])
        sentence = self._reading.sentences[place]
        beside = [m for _, where, m in weighed if where == place]
        for one in self._nearest(beside, (mention.start, mention.end)):
            yield Ending(self._as_said(one), "beside", sentence, one)

    def _suffers(self, sentence: Sentence, mention: Mention) -> bool:
        """Whether what a clause tells befalls the value itself, and nothing that it does something to."""
        clause = self._clause_at(sentence, mention)
        if self._lexicon.ceased.search(clause.flat) and self._lexicon.negation.search(clause.flat):
            return False  # "I never gave it up"
        if self._lexicon.code == "ru" and (
            self._does_it(mention, clause, (clause.end, clause.end))
            or self._third(sentence, clause, [mention]) is None
            or self._is_hedged(sentence, clause)
            or self._is_undone(sentence, clause)
        ):
            return False  # "Anna has quit", "I would quit"
        if self._lexicon.additive.search(clause.flat) or self._lexicon.remember.search(sentence.flat):
            return False
        if NOT_ALONE.search(clause.flat):
            return False
        return not (self._is_doing(mention, (clause.end, clause.end)) or self._is_part(mention, clause, mention.end))

    def _is_worth(self, mention: Mention) -> bool:
        """Whether a mention is what was told, and not what it was told of."""
        return self._is_personal(mention) and _likelihood(self.marks(mention)) >= _TOLD

    def _compounds(self, ending: Ending) -> Iterator[Ending]:
        """Yield what is named with an ended German value as the first part of a compound ("Pellets", "Pelletsanlage")."""
        value = ending.value
        if self._lexicon.code != "de" or len(value) < _SHORTEST_PART or " " in value:
            return
        for sentence in self._reading.sentences:
            for word in sentence.words:
                surface = self._reading.text[word.start : word.end]
                if surface.startswith(value) and len(surface) > len(value) + 2 and not sentence.asks:
                    reason: Reason = "replace" if self._lexicon.switch.search(sentence.flat) else "beside"
                    yield Ending(surface, reason, sentence, None)

    def named(self) -> Iterator[tuple[int, Mention]]:
        """Yield the mentions that may be values, with the number of their sentence."""
        for place, sentence in enumerate(self._reading.sentences):
            yield from ((place, mention) for mention in self._mentions[sentence.start] if mention.rank >= NOUN)

    def marks(self, mention: Mention) -> set[str]:
        """Return what a mention looks like, and what stood around it where it was first said."""
        code, surface = self._lexicon.code, mention.surface
        letters = "a" if surface[:1].islower() else "Aa"
        written = letters if not mention.said[0].islower() else "as all"  # who writes all in lower case marks nothing
        seen = {f"RANK {mention.rank}", f"{code} {written}", f"WORDS {len(words(surface))}"}
        if self._lexicon.kin.search(surface.lower()):
            seen.add("KIN")
        wanted = [word.text for word in words(surface)]
        seen.add(f"{code} -{wanted[-1][-_ENDING:]}")
        for told, place in self._places(mention.said[0], wanted[0]):
            found = [word.text for word in words(told)]
            seen |= {f"{code} {word} …" for word in found[:place]}
            seen.add(f"{code} {found[place - 1] if place else '^'} _")
            seen.add(f"{code} _ {next(iter(found[place + len(wanted) :]), '$')}")
            if self._lexicon.first.search(flat(told)):
                seen.add("FIRST")
            break
        return {f"= {mark}" for mark in (BIAS, *seen)}

    def _places(self, text: str, word: str) -> Iterator[tuple[str, int]]:
        """Yield the clauses of an earlier text that hold a word, and its number in them."""
        for sentence in read_as(text, self._lexicon).sentences:
            for clause in sentence.clauses:
                told = text[clause.start : clause.end]
                yield from ((told, n) for n, one in enumerate(words(told)) if same_word(one.text, word))

    def signs(self, place: int, mention: Mention) -> set[str]:
        """Return what can be seen of a mention: the words around it by where they stand, and what they are known to say."""
        found = self._reading.sentences
        sentence = found[place]
        clause, text = self._clause_at(sentence, mention), self._reading.text
        before, after = text[clause.start : mention.start], text[mention.end : clause.end]
        rest = " ".join(c.flat for c in sentence.clauses if c is not clause and not c.asks)
        last, following = _told(found[max(0, place - 1) : place]), _told(found[place + 1 : place + 2])
        seen = {f"RANK {mention.rank}", BIAS, *(["ASKS"] if clause.asks else ())}
        for where, near in (("", [sentence]), ("next ", found[place + 1 : place + 2])):
            if any(self._fresh(other) for one in near for other in one.clauses if not other.asks):
                seen.add(f"{where}FRESH")
        for where, told in (("", clause.flat), ("rest ", rest), ("last ", last), ("next ", following)):
            seen |= {where + cue for cue in _cues(told, self._lexicon)}
        parts = (("<", before), (">", after), ("rest ", rest), ("last ", last), ("next ", following))
        spoken = {where + part for where, told in parts for part in _parts(told)}
        spoken |= {"all " + part for _, told in parts for part in _parts(told)} | set(_beside(before, after))
        return seen | {f"{self._lexicon.code} {sign}" for sign in spoken}


def _told(sentences: Iterable[Sentence]) -> str:
    return " ".join(clause.flat for sentence in sentences for clause in sentence.clauses if not clause.asks)


@lru_cache(maxsize=512)  # the same clauses stand around every mention of a message
def _cues(told: str, lexicon: Lexicon) -> frozenset[str]:
    named = {"NOW": NOW, "ARRIVES": ARRIVES, "GAINS": GAINS, **{cue.upper(): getattr(lexicon, cue) for cue in _CUES}}
    return frozenset(name for name, pattern in named.items() if pattern.search(told))


def _parts(told: str) -> Iterator[str]:
    """Yield the words of a text, and the beginnings and ends of the long ones."""
    for word in words(told):
        yield word.text
        if len(word.text) > _AFFIX:
            yield word.text[:_AFFIX] + "-"
            yield "-" + word.text[-_AFFIX:]


def _beside(before: str, after: str) -> Iterator[str]:
    """Yield the two words on each side of a mention, alone and together."""
    left, right = [word.text for word in words(before)][-2:], [word.text for word in words(after)][:2]
    yield f"{left[-1] if left else '^'} _"
    yield f"_ {right[0] if right else '$'}"
    if len(left) > 1:
        yield f"{' '.join(left)} _"
    if len(right) > 1:
        yield f"_ {' '.join(right)}"


@lru_cache(maxsize=1)
def _weights() -> Mapping[str, float]:
    """Return what each sign speaks for; see ``deploy/learn_stance.py``."""
    lines = files(__package__).joinpath("stance.txt").read_text("utf-8").splitlines()
    return {sign: float(weight) for weight, _, sign in (line.partition("\t") for line in lines)}


def _likelihood(signs: Iterable[str]) -> float:
    """Return how likely a value with these signs has ended."""
    weights = _weights()
    return 1 / (1 + math.exp(-sum(weights.get(sign, 0.0) for sign in signs)))

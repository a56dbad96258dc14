"""Weighs what a message ends of what its author told before, by weights that ``deploy/learn_endings.py`` learned.

The rules know what is said in so many words; the weights know what endings look like on the whole, and take what the
rules found as one trait among many. They are those of logistic regressions over traits (Cox, 1958), three in each
language: whether a value ends that the message names, whether one ends that it does not name, and whether something
new takes the place of what ends. Where they are in doubt, a small network that reads both texts has a word as well.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from proxy.memory.learn.extract_builtin.facts import stated_in
from proxy.memory.learn.extract_builtin.lazy import lazy
from proxy.memory.learn.extract_builtin.looks import Held, Look, Told, held_as, held_in, places_of
from proxy.memory.learn.extract_builtin.network import MOST_PLACES, network
from proxy.memory.learn.extract_builtin.reading import Reading, is_brief, is_talk, longest_brief
from proxy.memory.learn.extract_builtin.replacement import is_alike, overlap, touches
from proxy.memory.learn.extract_builtin.spots import spots_in
from proxy.memory.learn.extract_builtin.traits import (
    PART,
    message_traits,
    new_traits,
    ruled_traits,
    spot_traits,
    traits_of,
)
from proxy.memory.learn.extract_builtin.weights import NAMED, NEW, UNNAMED, Weights, logistic, weights_of
from proxy.text.words import Span, flat, word_set, words

# From here on a value ends that no rule says to end: one that the message names, one that it does not, such a figure.
LIKELY, LIKELY_UNNAMED, LIKELY_FIGURE = 0.68, 0.6, 0.7
# How much the network's word counts beside that of the weights.
SHARE = 1.2
DOUBT = 3.0  # how much it counts at most against what a rule says
LEAST_READ, MOST_READ = -4.5, 6.0  # sums of weights beyond which the network would change next to nothing
MOST_CLAUSES = 8  # of which values are weighed that the message does not name
MOST_PAIRS = 3  # of earlier messages that the network reads, the latest; each takes some 10 ms
LEAST_TOTAL = -3.0  # what the message says of a clause weighs this at least where something of the clause ends
SURE_UNNAMED = 0.8  # from here on a value ends that is not named, whatever else the message tells
CLEAR = 0.9  # from here on a value may be one that was not told as the speaker's in so many words
POSSIBLE = 0.3  # from here on a named value may be meant, and so none that is not named
MOST_TELLINGS = 3  # of a value that are weighed, the latest: what comes up again and again is told alike
UNLIKELY = 0.08  # below it a value stays that a rule says to end
LIKELY_NEW = 0.35  # from here on something new takes the place of what ends
# From here on it does instead of what a rule takes for it, where it is so many times as likely as that.
LEAST_NEW, TIMES_AS_LIKELY = 0.05, 4
_TAKING_BACK, _CLOSING = word_set("forget correction slip murmur"), word_set("ended ceased parted loose switch")  # cues
_NOW = word_set("now")
_ONLY = lazy(
    r"(?:\b(?:only|nur|bloß|lediglich|s[oó]lo|solamente|únicamente|только|лишь)\s+"
    r"(?:(?:to|the|my|at|on|in|of|gegen|die|der|das|den|meine?|auf|a|al|el|las?|los|mis?|на|в|с|к|по|от)\s+){0,2}|[只仅](?:有|是|对)?)$"
)


@dataclass(frozen=True, slots=True)
class Verdict:
    """A value told before, and how likely it is that a message ends it.

    Args:
        value: As it was told.
        odds: From 0 to 1.
        text: Where it was told.
        places: Where the message names it.
    """

    value: str
    odds: float
    text: str
    places: tuple[Span, ...]


class Verdicts:
    """One message against what its author told before."""

    def __init__(self, reading: Reading, texts: Sequence[str]) -> None:
        """Prepare to weigh ``texts``, the latest last; against a task or a paste nothing is weighed."""
        self._look, self._lexicon = Look(reading), reading.lexicon
        size = sum(len(sentence.words) for sentence in reading.sentences)
        self._is_short = 4 * size <= 3 * longest_brief(reading.lexicon)
        self._is_brief = is_brief(reading)
        self._texts = list(dict.fromkeys(reversed(texts))) if is_talk(reading) else []
        self._weights = weights_of(reading.lexicon.code)
        self._tellings: Counter[str] = Counter()
        self._named_at: dict[str, list[Span]] = {}
        self._news: dict[str, dict[str, float]] = {}
        self._read: dict[str, dict[Span, float]] = {}
        self._meant: dict[_Clause, list[Held]] = {}

    def odds(self, value: str, *, ruled: bool) -> float | None:
        """Return how likely it is that the message ends a value, None where it was never told.

        Args:
            value: As written in the message or before.
            ruled: A rule says that it ends.
        """
        held = self._held(value)
        return None if held is None else self._odds(held, ruled=ruled)

    def successor(self, value: str, taken: str = "") -> str:
        """Return what the message most likely tells in the place of a value that ends, "" for nothing.

        Args:
            value: As it was told.
            taken: What a rule takes for it; it stays unless it is unlikely.
        """
        held = self._held(value)
        if held is None:
            return taken
        if value not in self._news:
            self._news[value] = self._new_for(held)
        found = self._news[value]
        new = max(found, key=lambda spot: found[spot], default="")
        if not new or (not taken and found[new] < LIKELY_NEW):
            return taken
        if not taken or (touches(new, taken) and found[new] >= LIKELY_NEW):  # "8:20", for a rule's "8"
            return new
        rival = max((odds for spot, odds in found.items() if overlap(spot, taken)), default=0.0)
        return new if found[new] >= max(LEAST_NEW, TIMES_AS_LIKELY * rival) else taken

    def _new_for(self, held: Held) -> dict[str, float]:
        """Return how likely each thing that the message newly tells takes the place of a value."""
        return {
            spot: self._weights[NEW].odds(new_traits(self._look, held, (start, end)))
            for spot, start, end in spots_in(self._look.reading.text, self._lexicon)
            if not places_of(spot, held.told.text)
        }

    def likely(self, surfaces: Iterable[str] = ()) -> list[Verdict]:
        """Return what the message likely ends, the likeliest first: of what it does not name, one value at most.

        Args:
            surfaces: What else it names of what was told.
        """
        others = (held for surface in surfaces if (held := self._held(surface)))
        named = [*self._named(others), *(verdict for text in self._texts for verdict in self._in(text))]
        most = max((verdict.odds for verdict in named), default=0.0)
        if most < LIKELY:
            unnamed = (verdict for verdict in self._unnamed() if verdict.odds > most)
            return sorted(unnamed, key=lambda one: -one.odds)[:1]
        chosen: list[Verdict] = []
        for verdict in sorted(named, key=lambda one: -one.odds):
            if verdict.odds >= LIKELY and not any(_overlap(verdict, other) for other in chosen):
                chosen.append(verdict)
        return chosen

    def _in(self, text: str) -> Iterator[Verdict]:
        """Yield what may end of an earlier message that is named; keep what may without, by its clause.

        Most messages say nothing of it, so the cheapest is asked first.
        """
        if not self._is_brief and self._starts.isdisjoint(word.text[:2] for word in words(text)):
            return
        clauses: dict[int, _Clause] = {}
        for held in held_in(text, self._lexicon):
            if self._may_name(held.value) and self._places(held.value):
                if self._tellings[held.value] < MOST_TELLINGS:
                    self._tellings[held.value] += held.may_end
                    yield from (one for one in self._named([held]) if held.may_end or one.odds >= CLEAR)
            elif self._is_brief:
                clause = clauses.setdefault(held.told.clause.start, _Clause(self._look, held.told))
                if clause.total(self._weights[UNNAMED]) >= LEAST_TOTAL:
                    self._meant.setdefault(clause, []).append(held)

    def _unnamed(self) -> Iterator[Verdict]:
        """Yield what may end without being named, of the clauses of which the message says most of an end."""
        weights = self._weights[UNNAMED]
        for clause in sorted(self._meant, key=lambda one: -one.total(weights))[:MOST_CLAUSES]:
            for held in self._meant[clause]:
                odds = self._with_network(held, clause.total(weights) + weights.total(spot_traits(self._look, held)))
                if odds < LIKELY_UNNAMED:
                    continue
                if odds >= self._least_odds(held, clause) and (held.may_end or self._has_alike(held) or odds >= CLEAR):
                    yield Verdict(held.value, odds, held.told.text, ())

    def _least_odds(self, held: Held, clause: _Clause) -> float:
        """Return how likely a value that is not named must be to end; more than can be, where it is another's or one of more."""
        new = self.successor(held.value)
        if new and (self._is_of_another(held, new) or self._is_one_more(held, new)):
            return math.inf
        if "additive" in self._look.cues and not self._look.cues & _TAKING_BACK:
            return math.inf
        if not (self._means_unnamed and self._may_mean(held, clause) and self._is_meant(held)):
            return SURE_UNNAMED
        return LIKELY_FIGURE if held.sort == "number" or not held.may_end else LIKELY_UNNAMED

    def _named(self, found: Iterable[Held]) -> Iterator[Verdict]:
        for held in found:
            places = self._places(held.value)
            if places and (odds := self._odds(held, ruled=False)) >= POSSIBLE:
                yield Verdict(held.value, odds, held.told.text, tuple(places))

    def _odds(self, held: Held, *, ruled: bool) -> float:
        places = self._places(held.value)
        found = traits_of(self._look, held, places)
        question = NAMED if places else UNNAMED
        if PART in found or (places and all(self._is_all_that_is_left(place) for place in places)):
            return 0.0
        total = self._weights[question].total(found | ruled_traits(found, ruled=ruled))
        return self._with_network(held, total, most_against=DOUBT if ruled else math.inf)

    def _is_all_that_is_left(self, place: Span) -> bool:
        """Whether a value is named as the only one that stays ("not to dill after all, only to rye")."""
        return _ONLY.search(self._look.reading.text[: place[0]].lower()) is not None

    def _with_network(self, held: Held, total: float, *, most_against: float = math.inf) -> float:
        """Return the odds of a value by the weights and the network, which is asked where it can change something."""
        if not self._is_brief or not LEAST_READ <= total <= MOST_READ:
            return logistic(total)
        text = held.told.text
        if text not in self._read:
            if len(self._read) >= MOST_PAIRS:
                return logistic(total)
            self._read[text] = self._totals(text, held_in(text, self._lexicon))
        if held.place not in self._read[text]:
            self._read[text] |= self._totals(text, (held,))

        return logistic(total + max(-most_against, SHARE * self._read[text][held.place]))

    def _totals(self, text: str, found: Sequence[Held]) -> dict[Span, float]:
        stands = {held.place: self._places(held.value)[:MOST_PLACES] for held in found}
        reader = network()
        if not stands or reader is None:
            return dict.fromkeys(stands, 0.0)
        totals = reader.totals(text, self._look.reading.text, self._lexicon.code, list(stands.items()))
        return dict(zip(stands, totals, strict=True))

    @cached_property
    def _means_unnamed(self) -> bool:
        """Whether the message may end what it does not name: it is short, and tells an end, a mistake or something new."""
        return self._is_short and bool(self._look.cues & (_TAKING_BACK | _CLOSING) or self._look.named)

    def _may_mean(self, held: Held, clause: _Clause) -> bool:
        """Whether the message may end a value that it does not name: it takes something back, or tells an end or something new of it."""
        if self._look.cues & _TAKING_BACK:
            return True
        if not (held.is_given or clause.is_meant):
            return self._has_alike(held)
        return bool(self._look.cues & _CLOSING) or not self._look.named <= held.told.stems

    def _is_meant(self, held: Held) -> bool:
        """Whether what likely ends is also taken back, told to end, or has something of its sort in its place."""
        cues = self._look.cues
        if cues & _TAKING_BACK:
            return True
        new = self.successor(held.value)
        if new:
            return held.sort != "number" or is_alike(new, held.value)
        is_touched = any(
            token.sort == "name" and token.stem in self._look.stems for token in held.told.tokens_of(held.place)
        )
        return _Clause(self._look, held.told).is_meant and not is_touched and bool(cues & _CLOSING)

    def _has_alike(self, held: Held) -> bool:
        """Whether something new is told of the form of a value: a day for a day, a time for a time."""
        new = self.successor(held.value)
        return bool(new) and is_alike(new, held.value)

    def _is_of_another(self, held: Held, new: str) -> bool:
        """Whether something new is told of somebody of whom the old was not told ("my aunt is 38")."""
        sentence = next((one for one in self._look.reading.sentences if new in one.text), None)
        kin = self._lexicon.kin.finditer(sentence.flat) if sentence is not None else ()
        return any(match[0] not in flat(held.told.text) for match in kin)

    def _is_one_more(self, held: Held, new: str) -> bool:
        """Whether something new is stated as the old was, of what there may be several ("I use Krita for drawing")."""
        if self._look.cues & (_CLOSING | _NOW):
            return False
        before = {fact.statement for fact in stated_in(held.told.text, self._lexicon) if fact.object == held.value}
        return any(
            fact.object == new and not fact.statement.single and fact.statement in before
            for fact in stated_in(self._look.reading.text, self._lexicon)
        )

    def _may_name(self, value: str) -> bool:
        return all(word.text[:2] in self._starts for word in words(value))

    @cached_property
    def _starts(self) -> frozenset[str]:
        return frozenset(word.text[:2] for word in words(self._look.reading.text))

    def _places(self, value: str) -> list[Span]:
        if value not in self._named_at:
            self._named_at[value] = places_of(value, self._look.reading.text)
        return self._named_at[value]

    def _held(self, value: str) -> Held | None:
        return next((held for text in self._texts if (held := held_as(value, text, self._lexicon))), None)


class _Clause:
    """A clause of an earlier message in the eyes of a later one, for all values that it tells."""

    def __init__(self, look: Look, told: Told) -> None:
        self._look, self._told = look, told
        self._total: float | None = None

    @cached_property
    def is_meant(self) -> bool:
        """Whether the message is about what the clause tells."""
        return any(part.telling & self._told.beside for part in self._look.parts)

    def total(self, weights: Weights) -> float:
        """Return what the message says of an end of something that the clause tells."""
        if self._total is None:
            self._total = weights.total(message_traits(self._look, self._told))
        return self._total


def _overlap(verdict: Verdict, other: Verdict) -> bool:
    return any(a < d and c < b for a, b in verdict.places for c, d in other.places)

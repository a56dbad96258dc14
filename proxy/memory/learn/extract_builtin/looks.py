"""Prepares a message, and the earlier ones that it may refer to, to be described by traits: clauses, words, values."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import NamedTuple

from proxy.memory.learn.extract_builtin.facts import stated_in
from proxy.memory.learn.extract_builtin.lexicon import Lexicon
from proxy.memory.learn.extract_builtin.pairs import pairs_in
from proxy.memory.learn.extract_builtin.reading import Clause, Reading, Sentence, read_as
from proxy.memory.learn.extract_builtin.spots import spots_in
from proxy.memory.learn.extract_builtin.switches import GAINS, NOW
from proxy.memory.learn.extract_builtin.told import is_named_in, is_own
from proxy.memory.learn.extract_builtin.typed import typed
from proxy.text.words import HAS_CJK, Span, Value, flat, stems, words

_CUES = (
    *("ended", "ceased", "parted", "loose", "forget", "negation", "hedge", "past", "limited", "again", "additive"),
    *("correction", "slip", "switch", "source", "source_after", "third", "first", "kin", "denial", "kept", "gained"),
    "murmur",
)
_STEMMER = {"en": 0, "de": 1, "es": 2}
_TEXTS_KEPT = 96  # earlier messages of a few users
_LONGEST_TOLD = 120  # words of a message; what is longer is a task or a paste
_SHORT = 2  # words of a clause that tells nothing by itself
_LEAST_TOLD = 3  # words of a clause that tells something, the value among them
_LEAST_LETTERS = 3  # of a word that tells something


class Token(NamedTuple):
    """A word of a message.

    Args:
        stem: Of its folded form.
        start: Offset in the message.
        end: Offset after it.
        sort: "number", "name", or "" for a plain word.
    """

    stem: str
    start: int
    end: int
    sort: str


@dataclass(frozen=True, slots=True)
class Part:
    """A clause of a message: its words, its cues, and the stems of what it tells."""

    clause: Clause
    sentence: Sentence
    tokens: tuple[Token, ...]
    cues: frozenset[str]
    telling: frozenset[str]


@dataclass(frozen=True)
class Look:
    """A message, prepared to be described."""

    reading: Reading

    @cached_property
    def parts(self) -> tuple[Part, ...]:
        """Its clauses."""
        lexicon = self.reading.lexicon
        return tuple(
            Part(
                clause,
                sentence,
                _tokens(self.reading, clause, sentence),
                cues_of(clause.flat, lexicon),
                telling(self.reading.text[clause.start : clause.end], lexicon),
            )
            for sentence in self.reading.sentences
            for clause in sentence.clauses
        )

    @cached_property
    def formed(self) -> tuple[Span, ...]:
        """Where it gives dates, figures and the like."""
        return tuple((value.start, value.end) for value in typed(self.reading.text))

    @cached_property
    def cues(self) -> frozenset[str]:
        """The cues of the whole message."""
        return cues_of(" ".join(sentence.flat for sentence in self.reading.sentences), self.reading.lexicon)

    @cached_property
    def stems(self) -> frozenset[str]:
        """The stems of all its words."""
        return frozenset(token.stem for part in self.parts for token in part.tokens)

    @cached_property
    def named(self) -> frozenset[str]:
        """The stems of the names and figures that it gives, but for questions."""
        return frozenset(t.stem for part in self.parts if not part.clause.asks for t in part.tokens if t.sort)


@dataclass(frozen=True, slots=True)
class Told:
    """A clause of an earlier message.

    Args:
        text: The message.
        clause: The clause.
        tokens: Its words; those of the whole sentence where it has but one or two.
        stems: Of what the message tells.
        beside: Of what its sentence tells.
        given: Where the message gives something as a value.
        is_listed: It is a member of a list.
        lexicon: Of its language.
    """

    text: str
    clause: Clause
    tokens: tuple[Token, ...]
    stems: frozenset[str]
    beside: frozenset[str]
    given: frozenset[Span]
    is_listed: bool
    lexicon: Lexicon

    def tokens_of(self, place: Span) -> tuple[Token, ...]:
        """The words at a place of it."""
        return tuple(token for token in self.tokens if token.start < place[1] and place[0] < token.end)


class Held(NamedTuple):
    """A value of an earlier message: as written, where it stands, and the clause that tells it."""

    value: str
    place: Span
    told: Told

    @property
    def sort(self) -> str:
        """What it looks like: "number", "name" or "word"."""
        return sort_of(self.value, self.told.lexicon)

    @property
    def is_given(self) -> bool:
        """Whether it was given as a value."""
        return self.place in self.told.given

    @property
    def may_end(self) -> bool:
        """Whether it was told as the speaker's: given as a value, by its name, or as one of several."""
        told, lexicon = self.told, self.told.lexicon
        if self.is_given:
            return True
        if told.clause.asks or len(told.tokens) < _LEAST_TOLD or not is_own(told.text, self.value, lexicon):
            return False
        if self.sort != "word" or told.is_listed or lexicon.code == "zh":
            return True
        return is_named_in(told.text, self.value, lexicon)


@lru_cache(maxsize=_TEXTS_KEPT)
def held_in(text: str, lexicon: Lexicon) -> tuple[Held, ...]:
    """Return what may be a value in an earlier message; they may overlap."""
    if len(words(text)) > _LONGEST_TOLD:
        return ()
    return tuple(
        Held(value, (start, end), told)
        for value, start, end in spots_in(text, lexicon)
        if (told := _at(text, start, lexicon))
    )


def held_as(value: str, text: str, lexicon: Lexicon) -> Held | None:
    """Return a value as an earlier message first names it, None where it does not."""
    place = next(iter(places_of(value, text)), None) if flat(value)[:2] in flat(text) else None
    told = _at(text, place[0], lexicon) if place else None
    return Held(value, place, told) if place and told else None


def _at(text: str, start: int, lexicon: Lexicon) -> Told | None:
    found = told_in(text, lexicon)
    return next((told for told in found if told.clause.start <= start < told.clause.end), found[0] if found else None)


@lru_cache(maxsize=_TEXTS_KEPT)
def told_in(text: str, lexicon: Lexicon) -> tuple[Told, ...]:
    """Return the clauses of an earlier message."""
    reading, told = read_as(text, lexicon), telling(text, lexicon)
    values = {fact.object for fact in stated_in(text, lexicon)} | {pair.value for pair in pairs_in(text, lexicon)}
    given = frozenset(place for value in values for place in places_of(value, text))
    found: list[Told] = []
    for sentence in reading.sentences:
        members = {unit.start for unit in sentence.units if unit.member}
        beside = telling(sentence.text, lexicon)
        whole = Clause(sentence.start, sentence.end, sentence.flat, asks=False)
        for clause in sentence.clauses:
            is_listed = bool(members) and (clause.start in members or clause.end + 2 >= min(members) >= clause.end)
            tokens = _tokens(reading, clause if len(words(clause.flat)) > _SHORT else whole, sentence)
            found.append(Told(text, clause, tokens, told, beside, given, is_listed, lexicon))
    return tuple(found)


def cues_of(text: str, lexicon: Lexicon) -> frozenset[str]:
    """Return which cues of a lexicon stand in a flat text."""
    found = (cue for cue in _CUES if getattr(lexicon, cue).search(text))
    return frozenset((*found, *(name for name, cue in (("now", NOW), ("gains", GAINS)) if cue.search(text))))


def places_of(value: str, text: str) -> list[Span]:
    """Return where a text names a value, whatever its form."""
    found = list(Value.of(value).find(words(text)))
    if found:
        return found
    told, wanted = flat(text), flat(value)
    start = told.find(wanted)
    while wanted and start >= 0:
        found.append((start, start + len(wanted)))
        start = told.find(wanted, start + 1)
    return found


def sort_of(value: str, lexicon: Lexicon) -> str:
    """Return what a value looks like: "number", "name" or "word"; German writes every noun like a name."""
    if any(map(str.isdigit, value)):
        return "number"
    is_name = value[:1].isascii() if lexicon.code == "zh" else value[:1].isupper() and lexicon.code != "de"
    return "name" if is_name else "word"


def telling(text: str, lexicon: Lexicon) -> frozenset[str]:
    """Return the stems of the words that tell something; of Chinese, pairs of characters."""
    found = words(text)
    if lexicon.code == "zh":
        pairs = itertools.pairwise(word.text for word in found)
        return frozenset(a + b for a, b in pairs if HAS_CJK.match(a) and HAS_CJK.match(b))
    told = (word.text for word in found if word.text not in lexicon.stop and len(word.text) >= _LEAST_LETTERS)
    return frozenset(_stem(word, lexicon) for word in told)


def _stem(word: str, lexicon: Lexicon) -> str:
    found, at = stems(word), _STEMMER.get(lexicon.code, 0)
    return found[at] if len(found) > at else found[0]


def _tokens(reading: Reading, clause: Clause, sentence: Sentence) -> tuple[Token, ...]:
    lexicon = reading.lexicon
    found: list[Token] = []
    for word in words(reading.text[clause.start : clause.end]):
        start = clause.start + word.start
        sort = ""
        if any(map(str.isdigit, word.text)):
            sort = "number"
        elif word.text not in lexicon.stop and not HAS_CJK.match(word.text):
            opens = start == sentence.start and lexicon.code != "zh"
            sort = "name" if not opens and sort_of(reading.text[start], lexicon) == "name" else ""
        found.append(Token(_stem(word.text, lexicon), start, clause.start + word.end, sort))
    return tuple(found)

"""The shape of a language's tables: what its speakers say when something ends, changes, begins or is a mere thought."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field
from typing import Literal

from proxy.memory.learn.extract_builtin.lazy import lazy
from proxy.text.words import Span
from proxy.types import Kind


def one_of(*alternatives: str) -> re.Pattern[str]:
    """Return one pattern of alternatives over lower-case text.

    White space in them is any white space; a group may be named in several alternatives, see ``group_of``.
    """
    joined = "|".join(f"(?:{part})" for part in alternatives if part)
    counts: Counter[str] = Counter()

    def numbered(match: re.Match[str]) -> str:
        counts[match[1]] += 1
        return f"(?P<{match[1]}>" if counts[match[1]] == 1 else f"(?P<{match[1]}_{counts[match[1]]}>"

    return lazy(re.sub(r"\(\?P<(\w+)>", numbered, re.sub(r" (?![?*+{])", r"\\s+", joined)))


def group_of(match: re.Match[str], name: str) -> Span | None:
    """Return where the group ``name`` of whichever alternative matched stands, None where it has none."""
    for key in match.re.groupindex:
        if (key == name or key.startswith(name + "_")) and match[key] is not None:
            return match.span(key)
    return None


_NEVER = lazy(r"(?!)")


@dataclass(frozen=True, slots=True, eq=False)
class Statement:
    """A way to state something: a head (subject and verb) before, around or after its objects.

    Args:
        relation: What the head says, the same for every wording.
        head: Pattern over flat text; the objects start where it ends, or are its group ``v``.
        kind: Of the memory that comes of it.
        single: One value at a time.
        profile: Belongs in every prompt.
        reach: How far what is stated goes: "sentence" is for what is told with its conditions and exceptions.
    """

    relation: str
    head: re.Pattern[str]
    kind: Kind = "fact"
    single: bool = False
    profile: bool = False
    reach: Literal["object", "clause", "sentence"] = "object"


@dataclass(frozen=True, slots=True, eq=False)
class Lexicon:
    """One language's tables; all patterns match flat (lower-case) text.

    Args:
        code: ISO 639-1.
        stop: Words that are never a value by themselves.
        generic: Nouns that name a kind of thing ("subscription"), never the thing.
        first: The speaker as subject.
        third: Somebody else as subject, at the start of a clause.
        ended: Says that something no longer is; a negation is part of it.
        ceased: Verbs that end something; a negation undoes them.
        negation: What undoes ``ceased``.
        parted: Ends between the speaker and a person; the other may be the subject.
        hedge: A thought, a wish, a question, not a fact.
        past: Speaks of a time long gone.
        limited: Ends only at certain times.
        again: Holds once more.
        additive: Comes on top of what was.
        forget: Asks to delete or not to keep.
        remember: Asks not to forget.
        correction: Announces that something said was wrong.
        murmur: May announce a correction, or nothing at all ("sorry", "wait").
        memory: Speaks of what the assistant has stored.
        copula: Those of the links that equate.
        slip: Disowns a value within a clause.
        denial: A negation right before the value that it denies.
        amend: Names the right value alone, group ``new`` ("I meant Ghent").
        contrast: Names both values, ``new`` and ``old``, as groups.
        source: Text right before a value that is given up for another.
        source_after: Text right after such a value.
        switch: Verbs of changing over.
        target: Names the value changed to, group ``new``.
        asks: How a question starts that lacks its mark.
        kin: Nouns of persons and animals around the speaker, as they occur in "my …".
        many: Nouns of which one may have several at a time.
        slot: Words of an attribute that holds one value, even one that is written like any word ("favourite").
        loose: Says that something is worn out or unwelcome; it ends where something else came in its place.
        gained: Something came in its place, beside what ``endings.GAINS`` knows.
        kept: Lets something stay while something else is to be forgotten.
        statements: Ways to state facts.
        link: Between an attribute and its value ("is called").
        owned: "my" and its like before an attribute.
    """

    code: str
    stop: frozenset[str]
    generic: frozenset[str]
    first: re.Pattern[str]
    third: re.Pattern[str]
    ended: re.Pattern[str]
    ceased: re.Pattern[str]
    negation: re.Pattern[str]
    parted: re.Pattern[str]
    hedge: re.Pattern[str]
    past: re.Pattern[str]
    limited: re.Pattern[str]
    again: re.Pattern[str]
    additive: re.Pattern[str]
    forget: re.Pattern[str]
    remember: re.Pattern[str]
    correction: re.Pattern[str]
    murmur: re.Pattern[str]
    memory: re.Pattern[str]
    copula: re.Pattern[str]
    slip: re.Pattern[str]
    denial: re.Pattern[str]
    amend: re.Pattern[str]
    contrast: tuple[re.Pattern[str], ...]
    source: re.Pattern[str]
    source_after: re.Pattern[str]
    switch: re.Pattern[str]
    target: re.Pattern[str]
    asks: re.Pattern[str]
    kin: re.Pattern[str]
    many: re.Pattern[str]
    slot: re.Pattern[str]
    link: re.Pattern[str]
    owned: re.Pattern[str]
    loose: re.Pattern[str] = _NEVER
    kept: re.Pattern[str] = _NEVER
    gained: re.Pattern[str] = _NEVER
    statements: tuple[Statement, ...] = field(default=())

"""Words of each language as data, one TOML file a language; a new file adds a language.

``Language`` compiles one file; ``ALL`` are those of the package. Open first: this file. Imports: ``lexical``.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache, lru_cache
from importlib import resources
from importlib.resources.abc import Traversable
from typing import Any

from proxy.text.lexical import tongue
from proxy.text.words import unaccented

KEPT = frozenset(("mí", "tú", "él", "sé", "né"))  # without the accent these are other words
WORDS_OF_GAP = 5  # maximum that "*" or "{gap}" matches
OPENS = "^"  # prefix of a phrase that matches only at the beginning of a text
CHARACTERS_OF_GAP = 14  # the same limit in a script without spaces
_SCRIPTS = {
    "cyrillic": re.compile("[\u0400-\u052f]"),
    "han": re.compile("[\u3400-\u4dbf\u4e00-\u9fff]"),
    "latin": re.compile("[a-zA-Z\u00c0-\u024f]"),
}
_UNSPACED = re.compile(r"[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af]")
# Many users omit accents and apostrophes: "deje de fumar", "fuer", "jai".
_ELIDED = re.compile(r"(?<!\w)([jncdlmts])'(?=[aeéèêhiouyàâîôû])")
_OMITTED = re.compile(r"(?<=n)'(?=t(?!\w))|(?<=(?<!\w)i)'(?=(?:m|ve)(?!\w))")  # "dont", "im", "ive"
_ACCENTED = re.compile("['ß-öø-ÿœ]")
_LETTERS = re.compile("[a-zß-öø-ÿœ]+")
_PLACE = re.compile(r"\{(\w+)\}|(?<!\S)(\*)(?!\S)")
# Bounded, so that a phrase stays linear on any text.
_WORD = r"[^\s,;!?.…。，；！？]{1,40}+(?>(?:[.,][^\s,;!?.…。，；！？]{1,40}+){0,8})"


_ANY_WORDS = rf"(?:{_WORD},?\s{{1,3}}){{0,{WORDS_OF_GAP}}}?"
_UNSPACED_GAP = rf"[^，。；！？,;!?\n]{{0,{CHARACTERS_OF_GAP}}}?"


FOLDER: Traversable = resources.files(__name__)  # read at each first use of a language, so that tests can replace it

LIFE: Traversable = resources.files(__name__).joinpath("life")  # cues of tasks and forgetting, by language


@cache
def table(code: str) -> Mapping[str, Any]:
    """Return the TOML table of a language, empty if it has no file."""
    if not (code.isascii() and code.isalpha()):
        return {}
    found = _read(FOLDER.joinpath(f"{code}.toml"))
    more = _read(LIFE.joinpath(f"{code}.toml")) if found else {}
    return found | {name: {**found.get(name, {}), **lists} for name, lists in more.items()}


def _read(file: Traversable) -> dict[str, Any]:
    return tomllib.loads(file.read_text("utf-8")) if file.is_file() else {}


@cache
def codes() -> tuple[str, ...]:
    """Return the codes of the languages that have a file, sorted."""
    names = (file.name for file in FOLDER.iterdir())
    return tuple(sorted(name.removesuffix(".toml") for name in names if name.endswith(".toml")))


class Phrase:
    """A phrase, compiled when a text first holds its longest word; most are never compiled.

    Attributes:
        anchor: The longest literal word: a text without it is not searched.
    """

    __slots__ = ("_pattern", "_written", "anchor")

    def __init__(self, written: str) -> None:
        self.anchor = _anchor(written)
        self._written = written
        self._pattern: re.Pattern[str] | None = None

    @property
    def pattern(self) -> re.Pattern[str]:
        """Pattern over flattened text."""
        if self._pattern is None:
            self._pattern = re.compile(_bounded(self._written))
        return self._pattern


@dataclass(frozen=True, slots=True)
class Language:
    """Compiled tables of one language.

    Attributes:
        words: Word lists by name, each a set of folded words.
        cues: Phrase lists by name.
        slots: Patterns of statements that hold one value at a time, by name; group ``new`` is the value.
        single: Forms of "my {key} is {new}".
    """

    code: str
    words: Mapping[str, frozenset[str]]
    cues: Mapping[str, tuple[Phrase, ...]] = field(default_factory=dict)
    slots: Mapping[str, tuple[Phrase, ...]] = field(default_factory=dict)
    single: tuple[Phrase, ...] = ()

    def find(self, name: str, text: str) -> Iterator[re.Match[str]]:
        """Yield the matches of a phrase list in flattened ``text``."""
        return matches(self.cues.get(name, ()), text)

    def has(self, name: str, text: str) -> bool:
        """Return whether flattened ``text`` holds a phrase of the list."""
        return any(one.anchor in text and one.pattern.search(text) for one in self.cues.get(name, ()))


def matches(phrases: Iterable[Phrase], text: str) -> Iterator[re.Match[str]]:
    """Yield the matches of phrases in flattened ``text``."""
    for one in phrases:
        if one.anchor in text:
            yield from one.pattern.finditer(text)


@cache
def language(code: str) -> Language:
    """Return the compiled tables of a language; all empty if it has no file."""
    return compiled(code, table(code))


def compiled(code: str, raw: Mapping[str, Any]) -> Language:
    """Compile a language from its TOML table."""
    single = raw.get("single", {})
    words = {name: frozenset(text.split()) for name, text in raw.get("words", {}).items()}
    words["single"] = frozenset(single.get("nouns", "").split())
    return Language(
        code,
        words,
        {name: _patterns(_listed(phrases)) for name, phrases in raw.get("cues", {}).items()},
        {name: _patterns(phrases) for name, phrases in raw.get("slots", {}).items()},
        _patterns(_listed(single.get("is", ""))),
    )


@cache
def languages() -> tuple[Language, ...]:
    """Return all languages that have cues."""
    return tuple(found for code in codes() if (found := language(code)).cues)


@lru_cache(maxsize=1_000)
def languages_in(text: str) -> tuple[Language, ...]:
    """Return the languages with cues whose script occurs in ``text``."""
    found = {name for name, letter in _SCRIPTS.items() if letter.search(text)}
    return tuple(one for one in languages() if _script_of(one.code) in found)


@cache
def _script_of(code: str) -> str:
    sample = " ".join(language(code).words.get("first", ()))
    return next((name for name, letter in _SCRIPTS.items() if letter.search(sample)), "latin")


def has_cue(name: str, low: str) -> bool:
    """Return whether a flattened text holds a cue of that name in one of its languages."""
    return any(one.has(name, low) for one in languages_in(low))


def languages_of(text: str) -> tuple[Language, ...]:
    """Return the language of ``text``, or all languages if it has no tables."""
    own = language(_tongue(text))
    return (own,) if own.cues else languages()


def words(name: str) -> frozenset[str]:
    """Return the union of a word list over all languages."""
    return _joined(name)


def words_for(name: str, text: str) -> frozenset[str]:
    """Return a word list of the language of ``text``, or of all languages if it has no tables."""
    own = language(_tongue(text)).words
    return own.get(name, frozenset()) if own else _joined(name)


@lru_cache(maxsize=1_000)
def _tongue(text: str) -> str:
    return tongue(text)


@cache
def _joined(name: str) -> frozenset[str]:
    return frozenset[str]().union(*(one.words.get(name, frozenset()) for one in languages()))


def _listed(phrases: str | list[str]) -> list[str]:
    if isinstance(phrases, str):
        return [phrase for line in phrases.split("|") if (phrase := line.strip())]
    return phrases


def _patterns(phrases: list[str]) -> tuple[Phrase, ...]:
    return tuple(map(Phrase, phrases))


def _anchor(phrase: str) -> str:
    """Return the longest literal part of a phrase that has only one spelling."""
    return max(_ACCENTED.sub(" ", _PLACE.sub(" ", phrase)).replace("*", " ").lstrip(OPENS).split(), key=len, default="")


def _bounded(phrase: str) -> str:
    """Return a phrase as a pattern over flattened text; whole words, places bounded in length."""
    if phrase.startswith(OPENS):
        return r"\A\W*" + _bounded(phrase.removeprefix(OPENS))
    is_unspaced = _UNSPACED.search(phrase) is not None
    parts, at = [], 0
    for place in _PLACE.finditer(phrase):
        parts.append(_literal(phrase[at : place.start()]))
        at = place.end()
        if place[1]:
            parts.append(_gap(place[1], is_last=at == len(phrase), is_unspaced=is_unspaced))
        else:  # a few words, or none
            parts.append(_UNSPACED_GAP if is_unspaced else _ANY_WORDS)
            at += not is_unspaced
    parts.append(_literal(phrase[at:]))
    body = "".join(parts)
    if is_unspaced:
        return body
    start = r"(?<!\w)" if phrase.lstrip("*")[0].isalnum() else ""
    return start + body + (r"(?!\w)" if phrase[-1].isalnum() else "")


def _literal(text: str) -> str:
    found = _OMITTED.sub("'?", _ELIDED.sub(r"\1'?", re.escape(text))).replace(r"\ ", r",?\s+").replace(r"\*", r"\w*")
    return _LETTERS.sub(_or_bare, found)


def _or_bare(word: re.Match[str]) -> str:
    """Return a word as a pattern whose letters may lack their accents: "dej(?:é|e)", "f(?:ü|ue)r"."""
    letters = ((letter, unaccented(letter)) for letter in word[0])
    return word[0] if word[0] in KEPT else "".join(a if a == b else f"(?:{a}|{b})" for a, b in letters)


def _gap(name: str, *, is_last: bool, is_unspaced: bool) -> str:
    """Return the group of a named place; the last one is greedy."""
    lazy = "" if is_last else "?"
    if is_unspaced:
        return f"(?P<{name}>{_UNSPACED_GAP.removesuffix('?')}{lazy})"
    return rf"(?P<{name}>{_WORD}(?:,?\s{{1,3}}{_WORD}){{0,{WORDS_OF_GAP}}}{lazy})"

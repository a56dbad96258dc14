"""Telling terms of a clause, and texts that hold them; whole words in any inflection. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple

from proxy.text.languages import words as listed
from proxy.text.lexical import content
from proxy.text.segment import clauses
from proxy.text.words import HAS_CJK, fold, stems, unaccented, words

MIN_LETTERS = 2  # of a telling word that is no name
MAX_NAME_WORDS = 3
MAX_NAME_CJK = 4  # characters
SUBJECT_WORDS = 4  # of a clause, among which its subject is
MIN_CJK_SHARE = 0.6  # of a run's character pairs; a verb or measure word may separate them
_CJK_RUN = re.compile(r"[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff]+")
_OTHERS = ("people", "third")
_IDLE = ("first", "mine", "third", "article", "preposition", "and", "but", "light", "generic", "time", "ask", "also")


class Term(NamedTuple):
    """A telling word: its forms, and whether it is written as a name or code."""

    text: str
    forms: frozenset[str]
    is_name: bool


def terms_in(text: str, start: int = 0, end: int | None = None) -> list[Term]:
    """Return the telling words of ``text[start:end]`` in order; neither function words nor everyday verbs."""
    end = len(text) if end is None else end
    found: list[Term] = []
    has_cjk = HAS_CJK.search(text) is not None
    for word in words(text):
        if word.start < start or word.end > end or HAS_CJK.match(word.text):
            continue
        written = text[word.start : word.end]
        is_first = not any(char.isalnum() for char in text[: word.start])
        is_name = (written[0].isupper() and not is_first) or any(map(str.isdigit, written)) or has_cjk
        is_code = is_name and len(written) > 1 and written.isupper()
        if (is_idle(word.text) and not is_code) or len(word.text) < (1 if is_name else MIN_LETTERS):
            continue
        found.append(Term(word.text, forms_of(word.text), is_name))
    for run in _CJK_RUN.finditer(text, start, end):
        found += [Term(part, frozenset(_pairs(part)), is_name=False) for part in _telling(run[0])]
    return found


def called_in(clause: str) -> list[Term]:
    """Return the name that ends a clause without spaces: "赵建国" of "我老板叫赵建国"."""
    match = _called_cjk().search(clause)
    if match is None or _telling(match[1]) != [match[1]]:  # "叫了一声" names no person
        return []
    return [Term(match[1], frozenset(_pairs(match[1])), is_name=True)]


def names_beside(text: str, terms: Sequence[Term]) -> list[Term]:
    """Return names that go with a term in a sentence: "my ex Fermín", "my kids are called Ana and Tom"."""
    found: list[Term] = []
    for start, end in clauses(text):
        clause = text[start:end]
        held = [term for term in terms if holds(clause, term) and (not term.is_name or term.text in listed("people"))]
        if not held:
            continue
        ordered = words(clause)
        places = [at for at, word in enumerate(ordered) if any(word.text in term.forms for term in held)]
        called = [at for at, word in enumerate(ordered) if word.text in listed("called")]
        for term in [term for term in terms_in(clause) if term.is_name and term not in held]:
            at = next((at for at, word in enumerate(ordered) if word.text == term.text), -1)
            joints = listed("and") | {one.text for one in found}
            between = [{word.text for word in ordered[place + 1 : at]} for place in places + called if place < at]
            if any(them <= joints for them in between):
                found.append(term)
        found += called_in(clause)
    return found


def person_in(clause: str) -> str:
    """Return the words for a person in the opening of a clause, with the name: "My brother Tom"; "" without one.

    For a team or company that includes the author, it is the whole opening.
    """
    if HAS_CJK.search(clause):
        head = clause[: SUBJECT_WORDS + 2]
        opening = [(head.find(one), one) for name in _OTHERS for one in listed(name) if HAS_CJK.match(one)]
        found = sorted((at, -len(one), one) for at, one in opening if at >= 0)
        spans = [(one, at + len(one)) for at, _, one in found]
    else:
        first = words(clause)[:SUBJECT_WORDS]
        head = clause[: first[-1].end] if first else ""
        spans = [(word.text, word.end) for name in _OTHERS for word in first if word.text in listed(name)]
    if not spans:
        return ""
    noun, end = spans[0]
    return head if noun in listed("groups") else _with_name(clause, end)


def _with_name(clause: str, end: int) -> str:
    """Return a clause up to the noun for a person that ends at ``end``, and the name: "My wife is called Ana"."""
    if HAS_CJK.match(clause[end - 1]):
        called = _calling_cjk().match(clause, end)
        start = called.end() if called else end
        run = _CJK_RUN.match(clause, start)
        name = next(iter(_idle_characters().split(run[0], 1)), "") if run else ""
        return clause[:start] + name[:MAX_NAME_CJK]
    is_called = is_named = False
    for word in (word for word in words(clause) if word.start >= end):
        is_capital = clause[word.start].isupper() and not is_idle(word.text)
        if is_called or is_capital:
            end, is_called, is_named = word.end, False, True
        elif is_named or not any(word.text in listed(name) for name in ("called", "copula", "generic")):
            break
        else:
            is_called = word.text in listed("called") and word.text not in listed("copula")
    return clause[:end]


def people_in(part: str, end: int) -> list[Term]:
    """Return the nouns for people before ``end``."""
    nouns = [word.text for word in words(part) if word.end <= end and word.text in listed("people")]
    nouns += [noun for noun in listed("people") if HAS_CJK.match(noun) and noun in part[:end]]
    return [Term(noun, forms_of(noun), is_name=False) for noun in nouns]


def is_named(item: str) -> bool:
    """Return whether an item is a proper name, an article aside."""
    found = [word for word in words(item) if word.text not in listed("article")]
    is_latin = any(not item[word.start].isascii() for word in found)
    return 0 < len(found) <= MAX_NAME_WORDS and all(
        (item[word.start].isupper() or (is_latin and word.text.isascii() and word.text.isalpha()))
        and word.text not in listed("time")
        for word in found
    )


def generic_in(part: str, start: int, end: int) -> list[Term]:
    """Return words that identify something only as the user's: "my name", "my address"."""
    found = [word for word in words(part) if start <= word.start and word.end <= end]
    own = [right for left, right in pairwise(found) if left.text in listed("mine") and right.text in listed("generic")]
    return [Term(word.text, forms_of(word.text), is_name=False) for word in own]


def says_nothing(text: str) -> bool:
    """Return whether a text is only a greeting, thanks or consent: "Good morning!", "谢谢"."""
    return all(word.text in listed("thanks") for word in words(text))


@lru_cache(maxsize=20_000)
def is_idle(word: str) -> bool:
    """Return whether a folded word is too common to identify anything."""
    return any(word in listed(name) for name in _IDLE) or not content(word)


@lru_cache(maxsize=20_000)
def forms_of(word: str) -> frozenset[str]:
    """Return a folded word with its stems."""
    bare = unaccented(word)  # many users write "cafe"
    return frozenset((word, *stems(word), *(stems(bare) if bare != word else ())))


def with_alike(term: Term) -> Term:
    """Return a term with the forms of related words: "weight" with "weigh"."""
    groups = [frozenset[str]().union(*map(forms_of, group.split("/"))) for group in listed("alike")]
    return term._replace(forms=term.forms.union(*(group for group in groups if group & term.forms)))


@lru_cache(maxsize=4_000)
def forms(text: str) -> frozenset[str]:
    """Return the forms of all words of ``text``; of scripts without spaces, pairs of characters."""
    found: set[str] = set()
    for word in words(text):
        found |= forms_of(word.text)
    for run in _CJK_RUN.findall(text):
        found.update(_pairs(run))
    return frozenset(found)


def holds(text: str, term: Term) -> bool:
    """Return whether ``text`` holds a term."""
    have = forms(text)
    if HAS_CJK.search(term.text):
        return len(term.forms & have) >= MIN_CJK_SHARE * len(term.forms)
    return not term.forms.isdisjoint(have)


def holds_all(text: str, terms: Iterable[Term]) -> bool:
    """Return whether ``text`` holds every term."""
    return all(holds(text, term) for term in terms)


def shared(left: str, right: str) -> int:
    """Return the number of telling words of ``left`` that ``right`` holds."""
    return sum(holds(right, term) for term in terms_in(left))


def plain(text: str) -> str:
    """Return a sentence in the form for comparison: folded, without punctuation at its ends."""
    return fold(text).strip(" .,;:!?…。！？，；\"'()-*#>")


def _pairs(run: str) -> list[str]:
    return [run[at : at + 2] for at in range(len(run) - 1)] or [run]


def _telling(run: str) -> Sequence[str]:
    """Return the parts of a run of characters between its function characters."""
    return [part for part in _idle_characters().split(run) if len(part) > 1]


@lru_cache(maxsize=1)
def _called_cjk() -> re.Pattern[str]:
    return re.compile(rf"(?:{_calling_cjk().pattern})({_CJK_RUN.pattern[:-1]}{{2,4}})\W*$")


@lru_cache(maxsize=1)
def _calling_cjk() -> re.Pattern[str]:
    called = sorted((word for word in listed("called") if HAS_CJK.match(word)), key=len, reverse=True)
    return re.compile("|".join(called))


@lru_cache(maxsize=1)
def _idle_characters() -> re.Pattern[str]:
    idle = {word for name in _IDLE for word in listed(name) if HAS_CJK.match(word)}
    ordered = sorted(idle, key=lambda word: (-len(word), word))
    return re.compile("|".join(map(_outside, ordered)) or r"(?!)")


def _outside(word: str) -> str:
    """Return a pattern of a function character that skips words ending with it: "他", not in "吉他"."""
    heads = [whole.removesuffix(word) for whole in sorted(listed("whole")) if whole.endswith(word)]
    return "".join(f"(?<!{head})" for head in heads) + re.escape(word)

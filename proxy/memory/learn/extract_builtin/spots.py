"""Finds the runs of words in an earlier message that may be a value: facts, figures, codes, names, plain words."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import NamedTuple

from proxy.memory.learn.extract_builtin.facts import stated_in
from proxy.memory.learn.extract_builtin.lazy import lazy
from proxy.memory.learn.extract_builtin.lexicon import Lexicon
from proxy.memory.learn.extract_builtin.pairs import pairs_in
from proxy.memory.learn.extract_builtin.reading import Clause, read_as
from proxy.memory.learn.extract_builtin.typed import typed
from proxy.text.words import HAS_CJK, TEXTS_KEPT, Span, Word, flat, words

_CODE = lazy(r"[^\s,;:!?()\"«»“”]*(?:@|\d[a-z]|[a-z]\d|[a-z]_[a-z])[^\s,;:!?()\"«»“”]*\w")
_LONGEST = 3  # words of a value that is no name
_LONGEST_CLAUSE = 24  # words; what is told of in more gives no value
_HAN_PER_WORD = 2
_HAN = lazy(  # runs of characters between those that are never a value by themselves
    r"[^我你他她它咱您的了是在就都也又还再把被让给从到对和跟与这那有没不很太个只条吗呢吧啊呀啦哦嘛着过会要想能可说叫用吃喝学玩打练骑做买看听读弹住养每"
    r"\s、，。！？；：,.!?;:《》“”\"（）()~a-z0-9]{2,6}"
)


class Spot(NamedTuple):
    """A run of words that may be a value: as written, and where it stands in the message."""

    value: str
    start: int
    end: int


@lru_cache(maxsize=TEXTS_KEPT)
def spots_in(text: str, lexicon: Lexicon) -> tuple[Spot, ...]:
    """Return what may be a value in an earlier message; runs may overlap."""
    reading = read_as(text, lexicon)
    found: dict[str, Spot] = {}
    for value in (*(f.object for f in stated_in(text, lexicon)), *(p.value for p in pairs_in(text, lexicon))):
        start = flat(text).find(flat(value))
        if start >= 0:
            found.setdefault(value, Spot(value, start, start + len(value)))
    scale = _HAN_PER_WORD if lexicon.code == "zh" else 1
    for sentence in reading.sentences:
        for clause in sentence.clauses:
            if len(words(clause.flat)) <= scale * _LONGEST_CLAUSE:
                for start, end in _runs_in(text, clause, lexicon):
                    value = text[clause.start + start : clause.start + end]
                    found.setdefault(value, Spot(value, clause.start + start, clause.start + end))
    return tuple(found.values())


def _runs_in(text: str, clause: Clause, lexicon: Lexicon) -> Iterator[Span]:
    """Yield what may be a value in a clause, as offsets in it."""
    told = text[clause.start : clause.end]
    formed = [match.span() for match in _CODE.finditer(flat(told))]
    formed += [(v.start, v.end) for v in typed(told) if not any(a < v.end and v.start < b for a, b in formed)]
    yield from formed
    if lexicon.code == "zh":
        yield from (match.span() for match in _HAN.finditer(flat(told)))
    found = words(told)
    numbered = [
        (found[place - 1].start, word.end)
        for place, word in enumerate(found)
        if place and any(a == word.start for a, _ in formed) and told[found[place - 1].start].isupper()
    ]
    yield from numbered  # "Year 4", "Pixel 6"
    free = [
        place
        for place, word in enumerate(found)
        if _tells(word, lexicon) and not any(a < word.end and word.start < b for a, b in formed)
    ]
    names = [place for place in free if told[found[place].start].isupper() and lexicon.code != "de"]
    for run in (*_runs(names), *_runs([place for place in free if place not in names])):
        if run[1] - run[0] < _LONGEST or run[0] in names:
            yield found[run[0]].start, found[run[1]].end
        if run[0] not in names and run[0] != run[1]:
            yield from ((found[place].start, found[place].end) for place in range(run[0], run[1] + 1))


def _tells(word: Word, lexicon: Lexicon) -> bool:
    return word.text not in lexicon.stop and len(word.text) > 2 and not HAS_CJK.match(word.text)


def _runs(places: Sequence[int]) -> list[Span]:
    """Return stretches of words that follow one another, as (first, last)."""
    found: list[Span] = []
    for place in places:
        if found and place == found[-1][1] + 1:
            found[-1] = (found[-1][0], place)
        else:
            found.append((place, place))
    return found

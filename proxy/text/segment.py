"""Cut a text into sentences, clauses and lists, as offsets; words of languages come from ``languages``."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

from proxy.text.languages import language, languages_in, words_for
from proxy.text.languages import words as listed
from proxy.text.lexical import tongue
from proxy.text.words import CJK, HAS_CJK, Span, Word, flat, words

MAX_CHARACTERS = 8_000  # of one text; the rest counts as one more sentence
MAX_ITEM_WORDS = 6
MIN_CLAUSE_WORDS = 3  # "Ana and I" is a subject, no clause
MAX_ITEMS = 12
_ABBREVIATION = 12  # characters before a full stop that are checked for an abbreviation
_READ = 200  # characters that determine a sentence's language

_END = re.compile(rf"[.!?…]{{1,8}}+[\"'»”)\]]{{0,3}}(?=\s|$|[{CJK}])" r"|[。！？]{1,8}+[”」』）]{0,3}|\n+")
_ABBREVIATED = re.compile(r"(?:^|[\s(])([^\W\d_]{1,8}(?:\.[^\W\d_]{1,3})?)\.$")
_ORDINAL = re.compile(r"(?:^|\s)\d{1,2}\.$")
COMMA = re.compile(r"[,;:，；：。]")
_COMMA = re.compile(r"(?:(?<!\s)\s++)?[,，、]\s*(?!\d)")
_STRONG = re.compile(r"\s*[;；：]\s*|:\s+|\s+[-–—]{1,2}\s+|——|，|,\s+|\s*[()（）]\s*|\s+")


@lru_cache(maxsize=512)
def sentences(text: str) -> tuple[Span, ...]:
    """Return the sentences of ``text`` without the white space around them, in order."""
    found: list[Span] = []
    start = 0
    for match in _END.finditer(text, 0, MAX_CHARACTERS):
        if match[0] == "." and _is_inside(
            text[max(start, match.end() - _READ) : match.end()], text[match.end() : match.end() + _READ]
        ):
            continue
        _keep(found, text, start, match.end())
        start = match.end()
    _keep(found, text, start, len(text))
    return tuple(found)


def _keep(found: list[Span], text: str, start: int, end: int) -> None:
    piece = text[start:end]
    begin = start + len(piece) - len(piece.lstrip())
    stop = start + len(piece.rstrip())
    if any(char.isalnum() for char in text[begin:stop]):
        found.append((begin, stop))
    elif found and begin < stop and begin - found[-1][1] <= 2:  # a smiley belongs to the text before it
        found[-1] = (found[-1][0], stop)


def _is_inside(sentence: str, after: str) -> bool:
    """Return whether a full stop ends an abbreviation, an initial or an ordinal rather than a sentence."""
    before = sentence[-_ABBREVIATION:]
    if _ORDINAL.search(before):  # "am 3. Mai", but "size 40. My feet …"
        codes = (tongue(sentence), tongue(sentence + after))
        is_marked = any(not code or "." in language(code).words.get("ordinal_mark", ()) for code in codes)
        return after[1:2].isupper() and is_marked
    match = _ABBREVIATED.search(before)
    if match is None:
        return False
    word = match[1].casefold()
    return word in listed("abbreviation") or (len(word) == 1 and word.isalpha() and match[1].isupper()) or "." in word


def is_question(text: str, low: str) -> bool:
    """Return whether a sentence asks, with or without a question mark."""
    if text.rstrip(" \"'»”)").endswith(("?", "？")):
        return True
    if HAS_CJK.search(text):
        return low.rstrip("。.!！ ").endswith(("吗", "呢", "么", "か"))
    found = [word.text for word in words(low)][:2]
    return (
        bool(found)
        and found[0] in words_for("ask", low)
        and len(words(low)) > 2
        and not any(one.has("instruct", low) for one in languages_in(low))
    )


@lru_cache(maxsize=512)
def clauses(sentence: str) -> tuple[Span, ...]:
    """Return the clauses of a sentence: its parts between separators that a new subject or verb follows."""
    low = flat(sentence)
    spans: list[Span] = []
    start = 0
    for match in _STRONG.finditer(low):
        cut = _cut_at(low, match)
        if cut is None or cut[0] < start:
            continue
        is_marked = any(char in ",;:，；：()（）" for char in sentence[slice(*cut)])
        if is_marked or _is_clause(sentence[start : cut[0]]):
            spans.append((start, cut[0]))
            start = cut[1]
    spans.append((start, len(sentence)))
    kept = tuple((a, b) for a, b in spans if any(char.isalnum() for char in sentence[a:b]))
    return kept or ((0, len(sentence)),)


@lru_cache(maxsize=512)
def phrases(sentence: str) -> tuple[Span, ...]:
    """Return the parts of a sentence between commas and the like, and between clauses that a bare "and" joins."""
    spans = []
    for start, end in clauses(sentence):
        at = start
        for match in _COMMA.finditer(sentence, start, end):
            spans.append((at, match.start()))
            at = match.end()
        spans.append((at, end))
    return tuple((a, b) for a, b in spans if any(char.isalnum() for char in sentence[a:b]))


def sides(text: str) -> list[str]:
    """Return the parts of a sentence between commas and "and"."""
    cuts = [word for word in words(text) if word.text in listed("and")]
    ends = [0, *(place for word in cuts for place in (word.start, word.end)), len(text)]
    return [part for start, end in zip(ends[::2], ends[1::2], strict=True) for part in COMMA.split(text[start:end])]


def blanked(text: str, spans: Sequence[Span]) -> str:
    """Return ``text`` with spans replaced by blanks of the same length."""
    for start, end in spans:
        text = text[:start] + " " * (end - start) + text[end:]
    return text


def things(part: str, start: int, end: int) -> list[Span]:
    """Return the parts of a list of the user's things: "my landline and my address"."""
    found = [word for word in words(part) if start <= word.start and word.end <= end]
    cuts = [at for at, word in enumerate(found) if word.text in listed("and")]
    spans = [(a, b) for a, b in zip([0, *(at + 1 for at in cuts)], [*cuts, len(found)], strict=True) if a < b]
    is_each = all(found[a].text in listed("mine") or HAS_CJK.match(found[a].text) for a, _ in spans)
    return [(found[a].start, found[b - 1].end) for a, b in spans] if is_each else []


def _is_clause(text: str) -> bool:
    """Return whether the words before a bare "and" are a clause, not a part of its subject: "My sister and I"."""
    found = [word.text for word in words(text)]
    verbs = listed("first") | listed("ask") | listed("light") | listed("verbs")
    return len(found) > MIN_CLAUSE_WORDS or (len(found) > 1 and not verbs.isdisjoint(found))


def _cut_at(low: str, match: re.Match[str]) -> Span | None:
    """Return the span between two clauses at a separator, None if no clause begins after it."""
    ahead = low[match.end() : match.end() + 80]
    head = ahead.split(None, 2)[:2]
    first = head[0].strip(",.") if head else ""
    is_blank, is_comma = match[0].isspace(), match[0].strip() == ","  # a full-width one separates clauses, "、" items
    is_so = is_blank and first in listed("opener")  # "it is so loud", but "so I moved"
    if len(head) > 1 and first in listed("but") and (not is_so or _opens(head[1].strip(",."))):
        return match.span()
    if len(head) > 1 and first in listed("and") and _opens(head[1].strip(",.")):
        return match.start(), match.end() + ahead.index(head[1], len(first))
    if is_blank or first in listed("but") or first in listed("and"):
        return None
    return match.span() if not is_comma or _opens(first) or _opens_unspaced(ahead) else None


def _opens(word: str) -> bool:
    """Return whether a word opens a clause: a pronoun, a possessive, a verb that implies "I" or shares its subject."""
    return any(word in listed(name) for name in ("opener", "first", "mine", "verbs", "shares_subject"))


def _opens_unspaced(ahead: str) -> bool:
    """Return whether a clause of a script without spaces begins."""
    openers = (word for word in listed("opener") if HAS_CJK.match(word))
    return bool(HAS_CJK.match(ahead[:1])) and any(map(ahead.startswith, openers))


@dataclass(frozen=True, slots=True)
class Items:
    """A list inside a clause.

    Attributes:
        spans: Its items, in order.
    """

    spans: tuple[Span, ...]

    def without(self, text: str, dropped: Collection[int]) -> str:
        """Return ``text`` without some items: a subsequence of its words."""
        kept = [at for at in range(len(self.spans)) if at not in dropped]
        parts = [text[: self.spans[0][0]]]
        for place, at in enumerate(kept):
            if place:  # an item keeps the separator before it, so that no word moves
                parts.append(text[self.spans[at - 1][1] : self.spans[at][0]])
            parts.append(text[slice(*self.spans[at])])
        return "".join([*parts, text[self.spans[-1][1] :]])


@lru_cache(maxsize=512)
def items(clause: str) -> Items | None:
    """Return the coordinated list of a clause, None if there is none or its bounds are unclear."""
    found = words(clause)
    best: Items | None = None
    run: list[Separator] = []
    for one in [*_separators(clause, found), Separator(10**9, 10**9, is_final=False)]:
        is_closed = bool(run) and run[-1].is_final and not one.is_final
        if run and not is_closed and _is_item(found, run[-1].after, one.before):
            run.append(one)
            continue
        made = _list_of(clause, found, run)
        if made is not None and (best is None or len(made.spans) > len(best.spans)):
            best = made
        run = [one]
    return best


class Separator(NamedTuple):
    """A comma or "and", by the end of the item before it and the start of the next, as word numbers."""

    before: int
    after: int
    is_final: bool
    is_double: bool = False  # a comma and an "and", which no list of two has


def _separators(text: str, found: Sequence[Word]) -> list[Separator]:
    ands = listed("and")
    made = []
    for at in range(len(found) - 1):
        left, right = found[at], found[at + 1]
        between = text[left.end : right.start]
        is_comma = between.strip() in (",", "、", "，", "&", "/")
        if right.text in ands and at + 2 < len(found) and (between.isspace() or is_comma or not between):
            made.append(Separator(at + 1, at + 2, is_final=True, is_double=is_comma))
        elif is_comma and left.text not in ands:
            made.append(Separator(at + 1, at + 1, is_final=between.strip() == "、"))
    return made


def _is_item(found: Sequence[Word], start: int, end: int) -> bool:
    """Return whether the words between two separators may be one item: few, and no clause."""
    inner = [word.text for word in found[start:end]]
    return 0 < len(inner) <= MAX_ITEM_WORDS and not (inner[0] in listed("opener") and inner[0] not in listed("article"))


def _list_of(text: str, found: Sequence[Word], run: Sequence[Separator]) -> Items | None:
    if not run or not run[-1].is_final or len(run) >= MAX_ITEMS or (len(run) == 1 and run[0].is_double):
        return None
    middle = [(run[at].after, run[at + 1].before) for at in range(len(run) - 1)]
    last = _last_item(text, found, run[-1].after, is_alone=not middle)
    first = _first_item(text, found, run[0].before, middle[0] if middle else last) if last else None
    if first is None or last is None:
        return None
    second = found[(middle or [last])[0][0]]
    if (
        middle
        and found[first[0]].text in listed("article")
        and second.text not in listed("article")
        and _is_name(text, second)
    ):
        return None  # "two kids, Ana and Tom" are two, not three
    return Items(tuple((found[a].start, found[b - 1].end) for a, b in (first, *middle, last)))


def _last_item(text: str, found: Sequence[Word], start: int, *, is_alone: bool) -> tuple[int, int] | None:
    """Return the words of the last item: to the end of a name, else to the next preposition or punctuation."""
    if start >= len(found) or (found[start].text in listed("opener") and found[start].text not in listed("article")):
        return None
    end = start
    while end < len(found) and found[end].text in listed("article"):
        end += 1
    is_name = end < len(found) and _is_name(text, found[end])
    if found[start].text in listed("light") and not is_name:
        return None  # "I live in Leeds and work at Bosch" lists nothing
    while end < len(found) and end - start < MAX_ITEM_WORDS:
        if end > start and _breaks(text, found[end - 1], found[end]):
            break
        word = found[end].text
        if end > start and (word in listed("preposition") or word in listed("but") or word in listed("time")):
            break
        if is_name and end > start and not _is_name(text, found[end]) and found[end - 1].text not in listed("article"):
            break
        end += 1
    return (start, end) if end > start else None


def _first_item(text: str, found: Sequence[Word], end: int, second: tuple[int, int]) -> tuple[int, int] | None:
    """Return the words of the first item, to the left: shaped like the second, else a name with its article."""
    if end <= 0:
        return None
    articles, prepositions = listed("article"), listed("preposition")
    size = second[1] - second[0]
    joint = next((at for at in range(second[0] + 1, second[1]) if found[at].text in prepositions), None)
    if joint is not None and end - size >= 0 and found[end - (second[1] - joint)].text in prepositions:
        return end - size, end
    start = end - 1
    if HAS_CJK.match(found[start].text):
        start = end - size
        return (start, end) if start > 0 else None
    if _is_name(text, found[start]):
        while start > 1 and _is_name(text, found[start - 1]) and not _breaks(text, found[start - 1], found[start]):
            start -= 1
    elif found[second[0]].text in articles:
        start = next(
            (at for at in range(start, max(-1, end - MAX_ITEM_WORDS), -1) if found[at].text in articles), start
        )
    if start > 0 and found[start - 1].text in articles and not _breaks(text, found[start - 1], found[start]):
        start -= 1
    return start, end


def _is_name(text: str, word: Word) -> bool:
    first = text[word.start]
    return first.isupper() or first.isdigit() or (word.text.isascii() and HAS_CJK.search(text) is not None)


def _breaks(text: str, left: Word, right: Word) -> bool:
    return any(char in ".,;:!?()。，；：！？（）" for char in text[left.end : right.start])

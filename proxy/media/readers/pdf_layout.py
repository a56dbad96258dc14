"""Layout of PDF lines: headings by size or outline, paragraphs by distance, running heads and feet only once."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import median

from proxy.media.readers.pdf_lines import Line
from proxy.media.readers.pdf_tables import Found, aligned

_LARGER, _SLIGHTLY = 1.18, 1.06  # ratio to the body's line height: of a heading, and of a numbered heading
_MAX_HEADING_CHARS = 150
_MAX_HEADING_LINES = 3
_MAX_BOLD_CHARS = 90
_MAX_LEVEL = 4
_MAX_SHARE = 0.3  # of lines that are headings; with more, size is no evidence
_NUMBERED = re.compile(r"\A(\d++(?:\.\d++){0,4})\.?\s++[^\W\d_a-z]")
_LETTERS = re.compile(r"[^\W\d_]{2}")
_APART = 1.4  # ratio to the usual line distance that separates paragraphs
_LEADERS = re.compile(r"(?:\s?[.·…_]){5,}\s?")
BROKEN = "\ufffe"  # pdfium's mark for a word broken at the end of a line
_DIGITS = re.compile(r"\d+")
_MIN_PAGES = 4
_MAX_PAGES = 0.6
_ENDED = re.compile(r"""[.!?:…。！？]["'”’»)\]]*$""")


@dataclass(frozen=True, slots=True)
class Mark:
    """An entry of the document's outline."""

    title: str
    level: int
    page: int


class Layout:
    """Layout shared by the pages of a document.

    Args:
        pages: The lines of each page.
        marks: The outline.
    """

    def __init__(self, pages: Sequence[Sequence[Line]], marks: Sequence[Mark]) -> None:
        sizes = Counter[float]()
        for line in (line for page in pages for line in page):
            sizes[round(line.height, 1)] += len(line.text)
        self._body = _weighted_median(sizes)
        self._marks: dict[int, dict[str, int]] = {}
        for mark in marks:
            self._marks.setdefault(mark.page, {})[_plain(mark.title)] = min(mark.level, _MAX_LEVEL)
        self._repeated = _repeated(pages)
        self._seen: set[str] = set()
        headings = [line for page in pages for line in page if self._is_large(line)]
        count = sum(map(len, pages))
        self._has_few_bold = sum(line.is_bold for page in pages for line in page) <= _MAX_SHARE * count
        is_telling = count > 3 and len(headings) <= max(_MAX_SHARE * count, 1)
        ranks = sorted({_size(line) for line in headings}, reverse=True) if is_telling else []
        self._levels = {size: min(rank, _MAX_LEVEL - 1) for rank, size in enumerate(ranks, 1)}

    def text(self, number: int, lines: Sequence[Line], tables: Sequence[Found] = ()) -> str:
        """Return the text of a page; ``number`` counts from 1."""
        outer = {id(line) for line in _outer(lines)}
        kept = [line for line in lines if id(line) not in outer or not self._is_said_before(line)]
        left, placed = _without(kept, tables)
        grids = {first: (after, text) for first, after, text in aligned(left)}
        pitch = _pitch(left)
        out: list[str] = []
        index, before = 0, None
        while index < len(left):
            out += [f"\n{text}\n" for text in placed.get(index, ())]
            if index in grids:
                index, text = grids[index]
                out.append(f"\n{text}\n")
                before = None
                continue
            line = left[index]
            is_apart = before is None or _is_apart(before, line, pitch)
            index, text, is_heading = self._piece(number, left, index, is_apart=is_apart)
            if before is not None and is_apart:
                out.append("")
            out.append(f"\n{text}\n" if is_heading else text)
            before = None if is_heading else left[index - 1]
        out += [f"\n{text}\n" for text in placed.get(len(left), ())]
        return "\n".join(out)

    def _piece(self, number: int, lines: Sequence[Line], index: int, *, is_apart: bool) -> tuple[int, str, bool]:
        """Return the index after a piece, its text, and whether it is a heading; a heading may have several lines."""
        line, after = lines[index], index + 1
        level = self._level(number, line)
        if not level and is_apart and self._is_bold_title(line, lines[after] if after < len(lines) else None):
            level = min(len(self._levels) + 1, _MAX_LEVEL)
        if not level:
            return after, _LEADERS.sub(" … ", line.text), False
        while after < len(lines) and self._goes_on(number, lines[after - 1], lines[after]):
            after += 1
        texts = [one.text for one in lines[index:after]]
        if after - index > _MAX_HEADING_LINES or sum(map(len, texts)) > _MAX_HEADING_CHARS:
            return after, "\n".join(texts), False  # a paragraph in larger letters
        return after, "#" * level + " " + " ".join(texts), True

    def _is_bold_title(self, line: Line, after: Line | None) -> bool:
        """Return whether a line, the first of a paragraph, is a short bold title before a line that is not bold."""
        is_title = line.is_bold and self._has_few_bold and len(line.text) <= _MAX_BOLD_CHARS
        is_short = is_title and len(line.segments) <= 2 and _LETTERS.search(line.text) is not None
        return is_short and line.text[-1] not in ".,;" and after is not None and not after.is_bold

    def _goes_on(self, number: int, line: Line, after: Line) -> bool:
        """Return whether a heading continues in the next line."""
        is_same = _size(line) == _size(after) and self._is_large(after) and not _NUMBERED.match(after.text)
        is_own = _plain(after.text) in self._marks.get(number, {})
        return is_same and not is_own and 0 < line.bottom - after.bottom < 2 * line.height

    def _level(self, number: int, line: Line) -> int:
        marks = self._marks.get(number)
        if marks and (level := _marked(marks, line)):
            return level
        if not self._levels or len(line.text) > _MAX_HEADING_CHARS:
            return 0
        if self._is_large(line):
            return self._levels.get(_size(line), 0)
        numbered = _NUMBERED.match(line.text)
        is_set_off = line.is_bold or line.height >= _SLIGHTLY * self._body
        if numbered and is_set_off and len(line.text) < 80 and len(line.segments) <= 2 and not _ENDED.search(line.text):
            return min(2 + numbered[1].count("."), _MAX_LEVEL)
        return 0

    def _is_large(self, line: Line) -> bool:
        is_title = len(line.text) <= _MAX_HEADING_CHARS and _LETTERS.search(line.text) is not None
        return is_title and line.height >= _LARGER * self._body > 0

    def _is_said_before(self, line: Line) -> bool:
        """Return whether a line is a running head or foot that an earlier page already had."""
        shape = _DIGITS.sub("0", line.text)
        if shape not in self._repeated:
            return False
        if shape in self._seen:
            return True
        self._seen.add(shape)
        return False


def _marked(marks: Mapping[str, int], line: Line) -> int:
    """Return the level of the outline entry that matches a line, with or without its number; 0 for none."""
    said = _plain(line.text)
    return marks.get(said) or marks.get(re.sub(r"^[\d.]+\s*|^(?:chapter|section) ", "", said)) or 0


def _plain(text: str) -> str:
    return " ".join(text.casefold().split())


def _size(line: Line) -> float:
    return round(line.height * 2) / 2


def _repeated(pages: Sequence[Sequence[Line]]) -> frozenset[str]:
    """Return the first and last lines that most pages share, with digits replaced by 0."""
    if len(pages) < _MIN_PAGES:
        return frozenset()
    shapes = Counter(shape for page in pages for shape in {_DIGITS.sub("0", line.text) for line in _outer(page)})
    return frozenset(shape for shape, count in shapes.items() if count >= _MAX_PAGES * len(pages))


def _outer(page: Sequence[Line]) -> Iterator[Line]:
    yield from page[:2]
    yield from page[-2:]


def _without(lines: Sequence[Line], tables: Sequence[Found]) -> tuple[list[Line], dict[int, list[str]]]:
    """Return the lines outside tables, and the tables by the index of the line that follows them."""
    left: list[Line] = []
    placed: dict[int, list[str]] = {}
    waiting = list(tables)
    for line in lines:
        inside = next((one for one in tables if line.height and one.holds(line)), None)
        if inside is None:
            left.append(line)
        elif inside in waiting:
            waiting.remove(inside)
            placed.setdefault(len(left), []).append(inside.text)
    return left, placed


def _weighted_median(weights: Counter[float]) -> float:
    passed, half = 0, weights.total() / 2
    for value in sorted(weights):
        passed += weights[value]
        if passed >= half:
            return value
    return 0.0


def _pitch(lines: Sequence[Line]) -> float:
    """Return the usual distance between lines."""
    steps = [one.bottom - other.bottom for one, other in pairwise(lines) if 0 < one.bottom - other.bottom < 40]
    return median(steps) if steps else 0.0


def _is_apart(line: Line, after: Line, pitch: float) -> bool:
    """Return whether a paragraph ends between two lines."""
    step = line.bottom - after.bottom - pitch * line.text.count(BROKEN)
    if not line.height or not after.height or not pitch:
        return False
    if step < -after.height:  # the next column
        return bool(_ENDED.search(line.text))
    return step > _APART * max(pitch, 0.9 * line.height)

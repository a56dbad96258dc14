"""Lines of a PDF page with positions and sizes, from pdfium."""

from __future__ import annotations

import ctypes
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import pypdfium2.raw as pdfium

_MAX_CUTS = 60
_WIDE = 0.9  # ratio of gap to height: wider than spaces in prose, even in justified prose
_BOLD = ("bold", "black", "heavy", "semibold")


@dataclass(frozen=True, slots=True)
class Segment:
    """A run of text within a line, between wide gaps."""

    text: str
    left: float
    right: float


@dataclass(frozen=True, slots=True)
class Line:
    """A line in content stream order; y grows upwards, ``height`` is the font's.

    Args:
        segments: Its runs of text if wide gaps separate them, otherwise empty.
    """

    text: str
    left: float = 0.0
    bottom: float = 0.0
    height: float = 0.0
    is_bold: bool = False
    segments: tuple[Segment, ...] = ()


def lines_of(textpage: Any, *, is_upright: bool = True) -> list[Line]:
    """Return the lines of a page; for rotated pages only their text."""
    text = textpage.get_text_range()
    found, at = [], 0
    box = pdfium.FS_RECTF()
    for raw in text.splitlines(keepends=True):
        said, first = raw.strip(), at + len(raw) - len(raw.lstrip())
        at += len(raw)
        if not said:
            continue
        index = pdfium.FPDFText_GetCharIndexFromTextIndex(textpage, first)
        if not is_upright or index < 0 or not pdfium.FPDFText_GetLooseCharBox(textpage, index, box):
            found.append(Line(said))
            continue
        height = box.top - box.bottom
        segments = _segments(textpage, index, said, height)
        found.append(Line(said, box.left, box.bottom, height, _is_bold(textpage, index), segments))
    return found


def _is_bold(textpage: Any, index: int) -> bool:
    if pdfium.FPDFText_GetFontWeight(textpage, index) >= 600:
        return True
    name, flags = ctypes.create_string_buffer(128), ctypes.c_int()
    pdfium.FPDFText_GetFontInfo(textpage, index, name, 128, flags)
    return any(word in name.value.decode("utf-8", "replace").lower() for word in _BOLD)


def _segments(textpage: Any, index: int, said: str, height: float) -> tuple[Segment, ...]:
    """Return the runs of a line between gaps wider than the letters are high, empty without such gaps."""
    cuts = [at for at, sign in enumerate(said) if sign == " " and _gap(textpage, index + at) > _WIDE * height]
    if not cuts or len(cuts) > _MAX_CUTS:
        return ()
    runs, start = [], 0
    for stop in [*cuts, len(said)]:
        left, right = _across(textpage, index + start)[0], _across(textpage, index + stop - 1)[1]
        runs.append(Segment(said[start:stop].strip(), left, right))
        start = stop + 1
    in_order = all(before.right <= after.left for before, after in pairwise(runs))
    return tuple(runs) if in_order and all(run.text for run in runs) else ()


def _gap(textpage: Any, index: int) -> float:
    return _across(textpage, index + 1)[0] - _across(textpage, index - 1)[1]


def _across(textpage: Any, index: int) -> tuple[float, float]:
    """Return the left and right edge of a character."""
    left, right, bottom, top = _EDGES
    pdfium.FPDFText_GetCharBox(textpage, index, left, right, bottom, top)
    return left.value, right.value


_EDGES = tuple(ctypes.c_double() for _ in range(4))  # reused for each character, in one thread

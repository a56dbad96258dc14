"""Reading order of text boxes on a page: columns, table rows, vertical lines."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from statistics import median

_MIN_LINES = 4  # per column
_PROSE_CHARS = 12  # of a column's usual line; shorter ones are table cells, read row by row
_FILLED = 0.55  # share of the column's width that its usual line covers
_FILLED_BY_SEVERAL = 0.18  # the same, if more columns may follow to the right
_CROSSING = 0.2  # maximum share of boxes that span two columns: titles, captions
_TALL = 1.5
_MAX_DEPTH = 6


@dataclass(frozen=True, slots=True)
class Box:
    """A run of text and its edges; y grows downwards."""

    text: str
    left: float
    top: float
    right: float
    bottom: float

    @property
    def middle(self) -> float:
        """Vertical centre of the box."""
        return (self.top + self.bottom) / 2

    @property
    def is_tall(self) -> bool:
        """Return whether the box is a vertical line of several characters."""
        return len(self.text) > 1 and self.bottom - self.top > _TALL * (self.right - self.left)


def lines(boxes: Sequence[Box]) -> list[str]:
    """Return the text line by line; boxes side by side form a line, unless they are columns of prose."""
    if boxes and sum(box.is_tall for box in boxes) > len(boxes) / 2:
        return [box.text for box in sorted(boxes, key=lambda box: -box.right)]
    return list(_read(list(boxes), 0))


def _read(boxes: list[Box], depth: int) -> Iterator[str]:
    gutter = _gutter(boxes) if depth < _MAX_DEPTH else None
    if gutter is None:
        yield from _rows(boxes)
        return
    across = sorted((box for box in boxes if box.left < gutter < box.right), key=lambda box: box.middle)
    beside = [box for box in boxes if not box.left < gutter < box.right]
    for above, below in zip([None, *across], [*across, None], strict=True):
        band = [
            box
            for box in beside
            if (above is None or box.middle >= above.middle) and (below is None or box.middle < below.middle)
        ]
        yield from _read([box for box in band if box.right <= gutter], depth + 1)
        yield from _read([box for box in band if box.left >= gutter], depth + 1)
        if below is not None:
            yield below.text.strip()


def _gutter(boxes: Sequence[Box]) -> float | None:
    """Return the x position between two columns of prose, None if there is none."""
    if len(boxes) < 2 * _MIN_LINES:
        return None
    best: tuple[int, int, float] | None = None
    for place in sorted({box.left - 0.5 for box in boxes}):
        left = [box for box in boxes if box.right <= place]
        right = [box for box in boxes if box.left >= place]
        crossing = len(boxes) - len(left) - len(right)
        if min(len(left), len(right)) < _MIN_LINES or crossing > _CROSSING * len(boxes):
            continue
        if (
            _is_prose(left, _FILLED)
            and _is_prose(right, _FILLED_BY_SEVERAL)
            and (best is None or (crossing, -len(right)) < best[:2])
        ):
            best = (crossing, -len(right), place)
    return best[2] if best else None


def _is_prose(column: Sequence[Box], filled: float) -> bool:
    width = max(box.right for box in column) - min(box.left for box in column)
    usual = median(box.right - box.left for box in column)
    return usual >= filled * width and median(len(box.text) for box in column) >= _PROSE_CHARS


def _rows(boxes: Sequence[Box]) -> Iterator[str]:
    rows: list[list[Box]] = []
    for box in sorted(boxes, key=lambda box: box.middle):
        if rows and all(_is_beside(other, box) for other in rows[-1]):
            rows[-1].append(box)
        else:
            rows.append([box])
    for row in rows:
        yield "  ".join(box.text.strip() for box in sorted(row, key=lambda box: box.left))


def _is_beside(one: Box, other: Box) -> bool:
    shared = min(one.bottom, other.bottom) - max(one.top, other.top)
    is_apart = one.right <= other.left + 1 or other.right <= one.left + 1
    return is_apart and shared > 0.5 * min(one.bottom - one.top, other.bottom - other.top)

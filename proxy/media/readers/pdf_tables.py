"""Tables on a PDF page: ruled ones by pdfplumber, others by the alignment of their columns."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from proxy.media.readers.markdown import table
from proxy.media.readers.pdf_lines import Line, Segment

_MIN_ROWS, _MIN_COLUMNS = 3, 3
_MIN_SHARE = 0.5  # of a table's cells must be filled


@dataclass(frozen=True, slots=True)
class Found:
    """A table and its bounds; y grows upwards."""

    text: str
    left: float
    bottom: float
    right: float
    top: float

    def holds(self, line: Line) -> bool:
        """Return whether a line of the page is in the table."""
        middle = line.bottom + line.height / 2
        return self.left - 2 <= line.left <= self.right + 2 and self.bottom - 2 <= middle <= self.top + 2


def ruled(path: Path, numbers: Sequence[int]) -> Iterator[tuple[int, list[Found]]]:
    """Yield the tables with ruled lines of some pages, by number from 1."""
    import pdfplumber  # noqa: PLC0415 -- only for pages that look like tables

    with pdfplumber.open(path, pages=list(numbers)) as document:
        for page in document.pages:
            tables = [_found(one, page.height) for one in page.find_tables()]
            yield page.page_number, [one for one in tables if one is not None]
            page.close()


def _found(one: Any, height: float) -> Found | None:
    rows = [[cell or "" for cell in row] for row in one.extract()]
    filled = sum(bool(cell.strip()) for row in rows for cell in row)
    cells = sum(map(len, rows))
    if len(rows) < 2 or len(rows[0]) < 2 or filled < _MIN_SHARE * cells:
        return None  # a frame, not a table
    text = table(rows)
    if text.partition("\n")[0].count(" | ") < 1 or text.count("\n") < 2:
        return None  # a single column or row
    left, top, right, bottom = one.bbox
    return Found(text, left, height - bottom, right, height - top)


def aligned(lines: Sequence[Line]) -> Iterator[tuple[int, int, str]]:
    """Yield runs of lines with aligned columns, as (first index, index after the last, Markdown)."""
    first = 0
    while first < len(lines):
        after = first
        while after < len(lines) and _may_be_row(lines, first, after):
            after += 1
        rows = lines[first:after]
        if len(rows) >= _MIN_ROWS and (text := _table(rows)):
            yield first, after, text
        first = max(after, first + 1)


def _may_be_row(lines: Sequence[Line], first: int, index: int) -> bool:
    line = lines[index]
    if not line.segments:
        return False
    return index == first or 0 < lines[index - 1].bottom - line.bottom < 4 * max(line.height, 1)


def _table(rows: Sequence[Line]) -> str:
    columns = _columns([segment for row in rows for segment in row.segments])
    if len(columns) < _MIN_COLUMNS:
        return ""
    cells = []
    for row in rows:
        placed = [""] * len(columns)
        for segment in row.segments:
            at = next(at for at, (left, right) in enumerate(columns) if left <= segment.left and segment.right <= right)
            if placed[at]:
                return ""  # two segments of a row in one column: not a table
            placed[at] = segment.text
        cells.append(placed)
    filled = sum(bool(cell) for row in cells for cell in row)
    return table(cells) if filled >= _MIN_SHARE * len(cells) * len(columns) else ""


def _columns(segments: Sequence[Segment]) -> list[tuple[float, float]]:
    """Return the columns: segments that overlap horizontally form one column."""
    columns: list[tuple[float, float]] = []
    for segment in sorted(segments, key=lambda segment: segment.left):
        if columns and segment.left < columns[-1][1]:
            columns[-1] = (columns[-1][0], max(columns[-1][1], segment.right))
        else:
            columns.append((segment.left, segment.right))
    return columns

"""Markdown output of the readers: tables, and conversion of HTML."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

_SPACE = re.compile(r"\s+")
_IMAGE = re.compile(  # no part spans another image, so many unclosed ones take linear time
    r"!\[([^\]!]*+(?>(?:!(?!\[)[^\]!]*+)*))\]\([^)!]*+(?>(?:!(?!\[)[^)!]*+)*)\)"
)


def table(rows: Iterable[Sequence[object]]) -> str:
    """Return rows as a Markdown table with the first row as header, without empty rows and columns."""
    cells = [[_cell(value) for value in row] for row in rows]
    cells = [row for row in cells if any(row)]
    if not cells:
        return ""
    width = max(len(row) for row in cells)
    cells = [row + [""] * (width - len(row)) for row in cells]
    used = [column for column in range(width) if any(row[column] for row in cells)]
    lines = ["| " + " | ".join(row[column] for column in used) + " |" for row in cells]
    return "\n".join([lines[0], "|" + " --- |" * len(used), *lines[1:]])


def from_html(html: str) -> str:
    """Return HTML as Markdown, with pictures replaced by their alternative texts."""
    from markdownify import MarkdownConverter  # noqa: PLC0415 -- only for readers that need it

    converter = MarkdownConverter(
        heading_style="ATX",
        bullets="-",
        strip=["script", "style", "a", "b", "strong", "i", "em", "cite", "sup", "sub", "u"],
        escape_asterisks=False,
        escape_underscores=False,
        escape_misc=False,
        table_infer_header=True,
    )
    return _IMAGE.sub(r"\1", str(converter.convert(html)))


def _cell(value: object) -> str:
    if value is None:
        return ""
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e15:
        value = int(value)
    return _SPACE.sub(" ", str(value)).strip().replace("|", "\\|")

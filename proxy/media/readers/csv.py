"""Reader of tables in plain text, with cells separated by commas, tabs or semicolons."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable
from itertools import islice
from pathlib import Path

from proxy.media.base import Content, Page, Sniffed
from proxy.media.limits import Limits
from proxy.media.readers.markdown import table
from proxy.media.readers.plain import decoded

_SAMPLE_CHARS = 20_000
_DELIMITERS = ",;\t|"


def read(path: Path, sniffed: Sniffed, limits: Limits, tell: Callable[[float], None]) -> Content:
    """Return the table as Markdown."""
    del tell
    text = decoded(path.read_bytes())
    csv.field_size_limit(2**20)
    cells, rows, notes = 0, list[list[str]](), tuple[str, ...]()
    reader = csv.reader(io.StringIO(text), delimiter=_delimiter(text[:_SAMPLE_CHARS], sniffed))
    for row in reader:
        cells += len(row)
        if cells > limits.max_cells:
            notes = (f"only the first {len(rows):,} rows were read (media.limits)",)
            break
        rows.append(row)
    return Content(sniffed.media_type, (Page(1, table(rows)),), notes=notes)


def _delimiter(sample: str, sniffed: Sniffed) -> str:
    """Return the delimiter that splits most lines into the same number of cells."""
    if sniffed.media_type == "text/tab-separated-values":
        return "\t"

    def evenness(sign: str) -> tuple[int, int]:
        counts = [len(row) for row in islice(csv.reader(io.StringIO(sample), delimiter=sign), 50) if row]
        usual = max(set(counts), key=counts.count, default=1)
        return (counts.count(usual) if usual > 1 else 0, usual)

    best = max(_DELIMITERS, key=evenness)
    # In a table without a header, "Rent;1,50;2,50", the decimal commas part the lines evenly as well.
    return ";" if best == "," and evenness(";")[0] == evenness(",")[0] > 0 else best

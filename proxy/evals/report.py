"""What an eval found: tables for people, JSON for machines, one HTML file for sending around."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

import orjson

from proxy.evals.figures import Chart, Miss, Table, shown
from proxy.evals.page import page


@dataclass(slots=True)
class Report:
    """All tables of a run, and one record for each question or case behind them."""

    settings: dict[str, Any] = field(default_factory=dict)
    tables: list[Table] = field(default_factory=list)
    items: list[dict[str, Any]] = field(default_factory=list)
    charts: list[Chart] = field(default_factory=list)
    misses: list[Miss] = field(default_factory=list)

    def add(self, other: Report) -> None:
        """Take over another part's tables, records, plots and misses."""
        self.tables += other.tables
        self.items += other.items
        self.charts += other.charts
        self.misses += other.misses

    def text(self) -> str:
        """Return the tables as plain text."""
        return "\n\n".join(_text(table) for table in self.tables)

    def json(self) -> bytes:
        """Return everything as JSON."""
        body = {"settings": self.settings, "tables": [asdict(one) for one in self.tables], "items": self.items}
        return orjson.dumps(body, option=orjson.OPT_INDENT_2)

    def html(self) -> str:
        """Return everything as one self-contained page."""
        return page(self)


def _text(table: Table) -> str:
    rows = [table.columns, *([shown(cell) for cell in row] for row in table.rows)]
    widths = [max(len(row[at]) for row in rows) for at in range(len(table.columns))]
    lines = [_aligned(row, widths) for row in rows]
    lines.insert(1, "  ".join("-" * width for width in widths))
    return "\n".join([table.title, *lines, *(f"  {note}" for note in table.notes)])


def _aligned(row: Sequence[str], widths: Sequence[int]) -> str:
    first, *rest = (
        cell.ljust(width) if at == 0 else cell.rjust(width)
        for at, (cell, width) in enumerate(zip(row, widths, strict=True))
    )
    return "  ".join([first, *rest]).rstrip()

"""What an eval found: tables for people, JSON for machines, one HTML file for sending around."""

from __future__ import annotations

import html
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

import orjson

Cell = str | int | float | None


@dataclass(frozen=True, slots=True)
class Table:
    """Figures with a heading; fractions are floats in 0..1 unless the column's name holds a unit."""

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    notes: tuple[str, ...] = ()


@dataclass(slots=True)
class Report:
    """All tables of a run, and one record for each question or case behind them."""

    settings: dict[str, Any] = field(default_factory=dict)
    tables: list[Table] = field(default_factory=list)
    items: list[dict[str, Any]] = field(default_factory=list)

    def add(self, other: Report) -> None:
        """Take over another part's tables and records."""
        self.tables += other.tables
        self.items += other.items

    def text(self) -> str:
        """Return the tables as plain text."""
        return "\n\n".join(_text(table) for table in self.tables)

    def json(self) -> bytes:
        """Return everything as JSON."""
        body = {"settings": self.settings, "tables": [asdict(one) for one in self.tables], "items": self.items}
        return orjson.dumps(body, option=orjson.OPT_INDENT_2)

    def html(self) -> str:
        """Return the tables as one self-contained page."""
        settings = html.escape(", ".join(f"{name}: {value}" for name, value in self.settings.items()))
        body = "\n".join(_html(table) for table in self.tables)
        return _PAGE.format(settings=settings, body=body)


def shown(value: Cell) -> str:
    """Return a cell as text: fractions with three digits, larger numbers with one, nothing as a dash."""
    if value is None:
        return "-"
    if isinstance(value, float):
        return f"{value:.3f}" if abs(value) <= 1 else f"{value:,.1f}"
    return f"{value:,}" if isinstance(value, int) else value


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


def _html(table: Table) -> str:
    head = "".join(f"<th>{html.escape(name)}</th>" for name in table.columns)
    rows = "\n".join(
        "<tr>" + "".join(f"<td>{html.escape(shown(cell))}</td>" for cell in row) + "</tr>" for row in table.rows
    )
    notes = "".join(f"<p>{html.escape(note)}</p>" for note in table.notes)
    return f"<h2>{html.escape(table.title)}</h2>\n<table><tr>{head}</tr>\n{rows}</table>{notes}"


_PAGE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>Throughline eval</title>
<style>
body {{ font: 15px/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 70rem; padding: 0 1rem; color: #1c2330; }}
table {{ border-collapse: collapse; font-variant-numeric: tabular-nums; }}
th, td {{ padding: .25rem .7rem; border-bottom: 1px solid #d8dde6; text-align: right; }}
th:first-child, td:first-child {{ text-align: left; }}
p {{ color: #5a6474; margin: .3rem 0; }}
</style></head><body>
<h1>Throughline eval</h1><p>{settings}</p>
{body}
</body></html>
"""

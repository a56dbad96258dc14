"""Report of an eval: text tables, JSON, and one self-contained HTML page."""

from __future__ import annotations

import html
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

import orjson

Cell = str | int | float | None
MAX_MISSES = 300
_COLOURS = ("#2f6fde", "#16a394", "#d97a1f", "#8b5fd6", "#c2385b")
_WIDTH, _ROW, _BAR, _LABELS = 860, 8, 12, 190  # pixels
_HEIGHT, _MARGIN = 280, 48


@dataclass(frozen=True, slots=True)
class Table:
    """Figures with a title; fractions are floats in 0..1 unless the column's name contains a unit."""

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Chart:
    """Fractions by label or over a quantity.

    Args:
        series: Points by series name; each point is a label or position, and the fraction.
        unit: Unit of the positions; "" if the points have labels.
    """

    title: str
    series: Mapping[str, Sequence[tuple[str | float, float]]]
    unit: str = ""


@dataclass(frozen=True, slots=True)
class Miss:
    """A failed question or case, with explanations as (heading, text)."""

    group: str
    title: str
    shows: tuple[tuple[str, str], ...]


def shown(value: Cell) -> str:
    """Return a cell as text: fractions with three digits, larger numbers with one, None as a dash."""
    if value is None:
        return "-"
    if isinstance(value, float):
        return f"{value:.3f}" if abs(value) <= 1 else f"{value:,.1f}"
    return f"{value:,}" if isinstance(value, int) else value


@dataclass(slots=True)
class Report:
    """All tables of a run, and one record for each question or case."""

    settings: dict[str, Any] = field(default_factory=dict)
    tables: list[Table] = field(default_factory=list)
    items: list[dict[str, Any]] = field(default_factory=list)
    charts: list[Chart] = field(default_factory=list)
    misses: list[Miss] = field(default_factory=list)

    def add(self, other: Report) -> None:
        """Append another part's tables, records, charts and misses."""
        self.tables += other.tables
        self.items += other.items
        self.charts += other.charts
        self.misses += other.misses

    def text(self) -> str:
        """Return the tables as plain text."""
        return "\n\n".join(_text(table) for table in self.tables)

    def json(self) -> bytes:
        """Return settings, tables and records as JSON."""
        body = {"settings": self.settings, "tables": [asdict(one) for one in self.tables], "items": self.items}
        return orjson.dumps(body, option=orjson.OPT_INDENT_2)

    def html(self) -> str:
        """Return the report as one self-contained page."""
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


def page(report: Report) -> str:
    """Return the HTML page; it loads no resources."""
    settings = ", ".join(f"{name}: {value}" for name, value in report.settings.items())
    parts = [_chart(chart) for chart in report.charts]
    parts += [_table(table) for table in report.tables]
    parts.append(_misses(report.misses))
    return _PAGE.format(settings=html.escape(settings), body="\n".join(filter(None, parts)))


def _table(table: Table) -> str:
    head = "".join(f"<th>{html.escape(name)}</th>" for name in table.columns)
    rows = "\n".join(
        "<tr>" + "".join(f"<td>{html.escape(shown(cell))}</td>" for cell in row) + "</tr>" for row in table.rows
    )
    notes = "".join(f"<p>{html.escape(note)}</p>" for note in table.notes)
    return f"<h2>{html.escape(table.title)}</h2>\n<table><tr>{head}</tr>\n{rows}</table>{notes}"


def _chart(chart: Chart) -> str:
    drawn = _lines(chart) if chart.unit else _bars(chart)
    names = "".join(
        f'<span><i style="background:{_COLOURS[at % len(_COLOURS)]}"></i>{html.escape(name)}</span>'
        for at, name in enumerate(chart.series)
    )
    return f'<h2>{html.escape(chart.title)}</h2>\n<p class="legend">{names}</p>\n{drawn}'


def _bars(chart: Chart) -> str:
    """Return fractions as horizontal bars in SVG, one group per label."""
    labels = list(dict.fromkeys(str(label) for points in chart.series.values() for label, _ in points))
    step = _BAR * len(chart.series) + _ROW
    scale = (_WIDTH - _LABELS - 60) / 1.0
    marks = []
    for row, label in enumerate(labels):
        top = row * step
        marks.append(f'<text x="{_LABELS - 8}" y="{top + step / 2}" text-anchor="end">{html.escape(label)}</text>')
        for at, points in enumerate(chart.series.values()):
            value = next((value for name, value in points if str(name) == label), None)
            if value is None:
                continue
            y = top + at * _BAR
            colour = _COLOURS[at % len(_COLOURS)]
            wide = max(1.0, value * scale)
            marks.append(
                f'<rect x="{_LABELS}" y="{y}" width="{wide:.1f}" height="{_BAR - 2}" fill="{colour}"/>'
                f'<text x="{_LABELS + value * scale + 6:.1f}" y="{y + _BAR - 3}">{100 * value:.1f} %</text>'
            )
    return _svg(chart.title, len(labels) * step, marks)


def _lines(chart: Chart) -> str:
    """Return fractions over a quantity as lines in SVG, one per series."""
    points = [point for series in chart.series.values() for point in series]
    most = max((float(place) for place, _ in points), default=1.0) or 1.0
    across, up = (_WIDTH - 2 * _MARGIN) / most, _HEIGHT - 2 * _MARGIN
    marks = [
        f'<line x1="{_MARGIN}" x2="{_WIDTH - _MARGIN}" y1="{y:.1f}" y2="{y:.1f}" class="grid"/>'
        f'<text x="{_MARGIN - 6}" y="{y + 4:.1f}" text-anchor="end">{share} %</text>'
        for share in range(0, 101, 25)
        for y in [_HEIGHT - _MARGIN - up * share / 100]
    ]
    for place in sorted({float(place) for place, _ in points}):
        marks.append(f'<text x="{_MARGIN + place * across:.1f}" y="{_HEIGHT - _MARGIN + 18}">{place:,.0f}</text>')
    marks.append(f'<text x="{_WIDTH / 2}" y="{_HEIGHT - 8}" text-anchor="middle">{html.escape(chart.unit)}</text>')
    for at, series in enumerate(chart.series.values()):
        colour = _COLOURS[at % len(_COLOURS)]
        spots = [(_MARGIN + float(place) * across, _HEIGHT - _MARGIN - up * value) for place, value in sorted(series)]
        path = " ".join(f"{x:.1f},{y:.1f}" for x, y in spots)
        marks.append(f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="2"/>')
        marks += [f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3.5" fill="{colour}"/>' for x, y in spots]
    return _svg(chart.title, _HEIGHT, marks)


def _svg(title: str, height: float, marks: Sequence[str]) -> str:
    return (
        f'<svg role="img" aria-label="{html.escape(title)}" width="{_WIDTH}" height="{height:.0f}" '
        f'viewBox="0 0 {_WIDTH} {height:.0f}">{"".join(marks)}</svg>'
    )


def _misses(misses: Sequence[Miss]) -> str:
    if not misses:
        return ""
    listed = "\n".join(
        f"<details><summary><b>{html.escape(miss.group)}</b> {html.escape(miss.title)}</summary>"
        + "".join(f"<h3>{html.escape(name)}</h3><pre>{html.escape(text)}</pre>" for name, text in miss.shows)
        + "</details>"
        for miss in misses[:MAX_MISSES]
    )
    left = len(misses) - MAX_MISSES
    more = f"<p>{left} more are in the JSON.</p>" if left > 0 else ""
    return f"<h2>Missed ({len(misses)})</h2>\n{listed}{more}"


_PAGE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>Throughline eval</title>
<style>
body {{ font: 15px/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 70rem; padding: 0 1rem; color: #1c2330; }}
table {{ border-collapse: collapse; font-variant-numeric: tabular-nums; }}
th, td {{ padding: .25rem .7rem; border-bottom: 1px solid #d8dde6; text-align: right; }}
th:first-child, td:first-child {{ text-align: left; }}
p {{ color: #5a6474; margin: .3rem 0; }}
svg {{ max-width: 100%; height: auto; font: 12px system-ui, sans-serif; fill: #1c2330; }}
.grid {{ stroke: #d8dde6; }}
.legend span {{ margin-right: 1.2rem; }}
.legend i {{ display: inline-block; width: .8rem; height: .8rem; margin-right: .4rem; border-radius: 2px; }}
details {{ border-bottom: 1px solid #d8dde6; padding: .3rem 0; }}
summary {{ cursor: pointer; }}
h3 {{ font-size: .85rem; margin: .6rem 0 .2rem; color: #5a6474; }}
pre {{ white-space: pre-wrap; background: #f4f6fa; padding: .6rem; margin: 0; font-size: .85rem; }}
</style></head><body>
<h1>Throughline eval</h1><p>{settings}</p>
{body}
</body></html>
"""

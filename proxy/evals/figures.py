"""What an eval shows: tables, plots, and what went wrong."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

Cell = str | int | float | None


@dataclass(frozen=True, slots=True)
class Table:
    """Figures with a heading; fractions are floats in 0..1 unless the column's name holds a unit."""

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Chart:
    """Fractions by name or over a quantity.

    Args:
        series: By name, each point its label or place, and the fraction.
        unit: Of the places; "" where the points have labels.
    """

    title: str
    series: Mapping[str, Sequence[tuple[str | float, float]]]
    unit: str = ""


@dataclass(frozen=True, slots=True)
class Miss:
    """A question or case that went wrong, with what explains it: heading and text."""

    group: str
    title: str
    shows: tuple[tuple[str, str], ...]


def shown(value: Cell) -> str:
    """Return a cell as text: fractions with three digits, larger numbers with one, nothing as a dash."""
    if value is None:
        return "-"
    if isinstance(value, float):
        return f"{value:.3f}" if abs(value) <= 1 else f"{value:,.1f}"
    return f"{value:,}" if isinstance(value, int) else value

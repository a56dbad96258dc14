"""Boxes of text on a page put into the order in which one reads them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Box:
    """A run of text and its edges; y grows downwards."""

    text: str
    left: float
    top: float
    right: float
    bottom: float


def lines(boxes: Sequence[Box]) -> list[str]:
    """Return the text line by line, top to bottom; boxes at the same height form a line."""
    rows: list[list[Box]] = []
    for box in sorted(boxes, key=lambda box: (box.top + box.bottom) / 2):
        if rows and _is_beside(rows[-1][-1], box):
            rows[-1].append(box)
        else:
            rows.append([box])
    return ["  ".join(box.text.strip() for box in sorted(row, key=lambda box: box.left)) for row in rows]


def _is_beside(one: Box, other: Box) -> bool:
    shared = min(one.bottom, other.bottom) - max(one.top, other.top)
    return shared > 0.5 * min(one.bottom - one.top, other.bottom - other.top)

"""Charts as SVG, drawn on the server; beside each stands a table with the same numbers. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

_WIDTH, _HEIGHT, _GAP, _FOOT = 640, 160, 2, 18
_MOST_LABELS = 8


def bars(title: str, points: Sequence[tuple[str, float]]) -> str:
    """Return one bar a point, with names below as far as there is room.

    Args:
        title: Read out in place of the picture.
        points: Names and values, oldest first.
    """
    if not points:
        return ""
    top = max(value for _, value in points) or 1.0
    step = _WIDTH / len(points)
    room = _HEIGHT - _FOOT
    every = -(-len(points) // _MOST_LABELS)
    parts = []
    for at, (name, value) in enumerate(points):
        height = value / top * (room - 4)
        left, width = at * step + _GAP / 2, max(step - _GAP, 1.0)
        parts.append(
            f'<rect x="{left:.1f}" y="{room - height:.1f}" width="{width:.1f}" height="{height:.1f}" rx="1.5">'
            f"<title>{escape(name)}: {value:g}</title></rect>"
        )
        if at % every == 0:
            parts.append(f'<text x="{left + width / 2:.1f}" y="{_HEIGHT - 4}">{escape(name[-5:])}</text>')
    return (
        f'<svg class="chart" viewBox="0 0 {_WIDTH} {_HEIGHT}" role="img" aria-label="{escape(title)}">'
        f"{''.join(parts)}</svg>"
    )

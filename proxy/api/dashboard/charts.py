"""Charts as SVG, rendered on the server, each next to a table of the same numbers. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

_WIDTH, _HEIGHT, _GAP, _FOOT, _HEAD = 640, 170, 2, 18, 14
_MAX_LABELS = 8
_WIDEST = 60
_ROW, _NAME, _VALUE = 22, 150, 140
_HALF_LABEL = 20


def bars(title: str, points: Sequence[tuple[str, float]]) -> str:
    """Return one bar a point, with as many names below as fit, and the greatest value above.

    Args:
        title: Text alternative of the picture.
        points: Names and values, oldest first.
    """
    if not points:
        return ""
    most = max(value for _, value in points)
    top, step, foot = most or 1.0, _WIDTH / len(points), _HEIGHT - _FOOT
    every = -(-len(points) // _MAX_LABELS)
    parts = [f'<line x1="0" y1="{foot}" x2="{_WIDTH}" y2="{foot}"/>']
    for at, (name, value) in enumerate(points):
        height = value / top * (foot - _HEAD - 4)
        width = min(max(step - _GAP, 1.0), _WIDEST)
        left = at * step + (step - width) / 2
        parts.append(
            f'<rect x="{left:.1f}" y="{foot - height:.1f}" width="{width:.1f}" height="{height:.1f}" rx="1.5">'
            f"<title>{escape(name)}: {value:g}</title></rect>"
        )
        middle = min(max(left + width / 2, _HALF_LABEL), _WIDTH - _HALF_LABEL)
        if at % every == 0:
            parts.append(f'<text x="{middle:.1f}" y="{_HEIGHT - 4}">{escape(name[-5:])}</text>')
    parts.append(f'<text class="top" x="{_WIDTH}" y="10">{_told(most)}</text>')
    return _picture(title, _HEIGHT, parts)


def rows(title: str, points: Sequence[tuple[str, float, float]], unit: str) -> str:
    """Return a horizontal bar a point: full up to the first value, pale up to the second.

    Args:
        title: Text alternative of the picture.
        points: Name and two values, the second not smaller; equal values make one bar.
        unit: Of the values.
    """
    if not points:
        return ""
    top, room = max(second for _, _, second in points) or 1.0, _WIDTH - _NAME - _VALUE
    parts = []
    for at, (name, first, second) in enumerate(points):
        y, middle = at * _ROW + 3, at * _ROW + 15
        shown = f"{first:.4g} {unit}" if first == second else f"{first:.3g} / {second:.3g} {unit}"
        parts.append(f'<text class="name" x="{_NAME - 8}" y="{middle}">{escape(name[:22])}</text>')
        for kind, value in (("pale", second), ("full", first)):
            parts.append(
                f'<rect class="{kind}" x="{_NAME}" y="{y}" width="{value / top * room:.1f}" height="16" rx="2"/>'
            )
        end = _NAME + second / top * room + 6
        parts.append(f'<text class="value" x="{end:.1f}" y="{middle}">{escape(shown)}</text>')
    return _picture(title, len(points) * _ROW, parts)


def _told(value: float) -> str:
    """Return a number for display: integers in full, small values with three digits."""
    return f"{value:,.6g}" if value >= 1 else f"{value:.3g}"


def _picture(title: str, height: int, parts: Sequence[str]) -> str:
    return (
        f'<svg class="chart" viewBox="0 0 {_WIDTH} {height}" role="img" aria-label="{escape(title)}">'
        f"{''.join(parts)}</svg>"
    )

"""Lists and tables below a heading that holds a cue ("Passwords:", a column "password"); pure."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Sequence

from proxy.text.secrets.cues import Cue, Kind

_MAX_LINES = 200
_MAX_HEADING = 120
_ITEM = re.compile(r"\A[ \t]*+(?:[-*•+–|>]|\d{1,3}[.)]|[\w .@-]{1,60}+[:=|,\t])")
_DELIMITERS = ("|", ";", "\t", ",")


def headed(text: str, cues: Sequence[Cue]) -> tuple[list[int], dict[int, Kind]]:
    """Return where lines start, and the cue for each line that belongs to a heading with one."""
    lines = [0, *(match.end() for match in re.finditer("\n", text))]
    surest: dict[int, Kind] = {}  # by line
    for cue in cues:
        if cue.kind in (Kind.PASSWORD, Kind.TOKEN):
            at = bisect_right(lines, cue.start) - 1
            surest[at] = min(surest.get(at, cue.kind), cue.kind)
    found: dict[int, Kind] = {}
    for at, kind in surest.items():
        for line in _below(text, lines, at) if kind < found.get(at, Kind.TOOL) else ():
            found[line] = min(kind, found.get(line, kind))
    return lines, found


def _below(text: str, lines: Sequence[int], at: int) -> list[int]:
    """Return the numbers of the lines of a list or table below a line."""
    heading = _line(text, lines, at)
    if len(heading) > _MAX_HEADING:
        return []
    bare = heading.strip().rstrip("*_")
    delimiter = next((one for one in _DELIMITERS if one in bare), "")
    is_list = bare.endswith((":", "：")) or bare.startswith("#")
    is_table = (
        bool(delimiter) and not is_list and all(len(cell) <= 40 for cell in bare.split(delimiter)) and "." not in bare
    )
    if not is_list and not is_table:
        return []
    below: list[int] = []
    for number in range(at + 1, min(at + 1 + _MAX_LINES, len(lines))):
        line = _line(text, lines, number)
        if not line.strip():
            if below:
                break
            continue
        if is_table and line.count(delimiter) != heading.count(delimiter):
            break
        if is_list and not _ITEM.match(line):
            break
        below.append(number)
    return below


def _line(text: str, lines: Sequence[int], at: int) -> str:
    end = lines[at + 1] - 1 if at + 1 < len(lines) else len(text)
    return text[lines[at] : min(end, lines[at] + 1000)]

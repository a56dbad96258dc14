"""Words that announce a secret: password, Kennwort, пароль, 密码, PIN, API key; pure."""

from __future__ import annotations

import re
from bisect import bisect_left
from enum import IntEnum
from typing import NamedTuple

from proxy.text.secrets.data import phrases, rarest, section, words

_MAX_ENDING = 24
_TOOL_ENDINGS = ("manager", "managers", "generator", "richtlinie", "richtlinien", "verwaltung")
_FIRST_UNSPACED = "\u0e00"  # Thai, CJK: scripts that write words without blanks


class Kind(IntEnum):
    """Kind of secret that a cue names, the surest first."""

    PASSWORD = 0
    NUMBER = 1
    TOKEN = 2
    WEAK = 3
    TOOL = 4  # a word about passwords that announces none: a password manager


class Cue(NamedTuple):
    """A cue in a text, including the ending of its word."""

    start: int
    end: int
    kind: Kind


def _table() -> list[tuple[str, str, Kind, bool]]:
    rows: list[tuple[str, str, Kind, bool]] = []
    for kind, name in ((one, one.name.lower()) for one in Kind if one is not Kind.TOOL):
        table = section("cues", name)
        rows += [(rarest(stem), stem, kind, False) for stem in phrases(table.get("stems", ""))]
        rows += [(rarest(word), word, kind, True) for word in table["words"].split()]
    return rows


_CUES = _table()
_TOOLS, _OPEN_KEYS = words("cues", "tools"), words("cues", "open")
_NEXT_WORD, _WORD_BEFORE = (
    re.compile(r"[ -]?(?:of |de |für |для )?([^\W\d_]{1,16}+)(?![^\W\d_])"),
    re.compile(r"([^\W\d_]{1,20}+)[ -]\Z"),
)
_ASCII_CUES = [row for row in _CUES if row[1].isascii()]


def lower(text: str) -> str:
    """Return ``text`` in lower case, with every offset unchanged."""
    lowered = text.lower()
    return lowered if len(lowered) == len(text) else "".join(char.lower()[0] for char in text)


def cues_in(text: str, lowered: str) -> list[Cue]:
    """Return the cues of a text in order; of overlapping ones the first to begin, then the surest."""
    found: list[Cue] = []
    characters = set(lowered)
    for mark, word, kind, is_whole in _ASCII_CUES if lowered.isascii() else _CUES:
        if mark not in characters:
            continue
        at = lowered.find(word)
        while at >= 0:
            end = _whole(text, at, at + len(word), kind) if is_whole else _ended(text, at + len(word))
            if end and not (kind is not Kind.PASSWORD and _goes_on(text, end)):
                is_name = text[at - 1 : at] == "_" or text[end : end + 3].lstrip().startswith((":", "="))
                is_field = word == "pass" and is_name
                found.append(Cue(at, end, Kind.PASSWORD if is_field else _sort(lowered, at, end, kind)))
            at = lowered.find(word, at + len(word))
    found.sort(key=lambda cue: (cue.start, cue.kind, -cue.end))
    kept: list[Cue] = []
    for cue in found:
        if not kept or cue.start >= kept[-1].end:
            kept.append(cue)
    return kept


def _sort(lowered: str, start: int, end: int, kind: Kind) -> Kind:
    """Return the kind of a cue among its neighbours: a password manager is no password, a public key no secret."""
    if kind is Kind.PASSWORD:
        behind = _NEXT_WORD.match(lowered, end)
        is_tool = (behind is not None and behind[1] in _TOOLS) or lowered[start:end].endswith(_TOOL_ENDINGS)
        return Kind.TOOL if is_tool else kind
    if kind is Kind.WEAK:
        before = _WORD_BEFORE.search(lowered, max(0, start - 24), start)
        return Kind.TOOL if before is not None and before[1] in _OPEN_KEYS else kind
    return kind


class Around:
    """Index of the cues of a text by place."""

    def __init__(self, cues: list[Cue]) -> None:
        self._cues = cues
        self._starts = [cue.start for cue in cues]

    def before(self, at: int, most: int, reach: int) -> list[Cue]:
        """Return the last few cues that end before a place, the nearest first."""
        end = bisect_left(self._starts, at)
        near = self._cues[max(0, end - most) : end]
        return [cue for cue in reversed(near) if cue.end <= at and at - cue.end <= reach]

    def behind(self, at: int, most: int, reach: int) -> list[Cue]:
        """Return the first few cues that start at a place or after it."""
        start = bisect_left(self._starts, at)
        return [cue for cue in self._cues[start : start + most] if cue.start - at <= reach]


def _whole(text: str, start: int, end: int, kind: Kind) -> int:
    """Return the end of a word that is separate, or a part of a name in code; 0 if it is inside another word."""
    if text[start] >= _FIRST_UNSPACED:
        return end
    before = text[start - 1] if start else " "
    is_begun = before.isalpha() and before < _FIRST_UNSPACED and not (text[start].isupper() and before.islower())
    if is_begun:
        return 0
    if end - start > 2 and text[end : end + 1] in ("s", "S") and kind is not Kind.NUMBER:
        end += 1
    following = text[end : end + 1]
    is_hump = following.isupper() and text[end - 1].islower()
    return end if not following.isalpha() or is_hump or following >= _FIRST_UNSPACED else 0


def _ended(text: str, end: int) -> int:
    if text[end - 1] >= _FIRST_UNSPACED:
        return end
    stop = end + _MAX_ENDING
    while end < min(stop, len(text)) and text[end].isalpha() and text[end] < _FIRST_UNSPACED:
        end += 1
    return end


def _goes_on(text: str, end: int) -> bool:
    """Return whether a name continues after a cue, as in ``token_count``, ``keyId`` and ``key-value``."""
    first, second = text[end : end + 1], text[end + 1 : end + 2]
    return (first in ("_", "-") and second.isalpha()) or (first.isupper() and first.isalpha())

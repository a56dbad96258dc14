"""Secrets that a cue gives away: which words near "password" or "PIN" look like one, and how they are bound to it; pure."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from proxy.text.secrets.bonds import Bond, bond_before, bond_behind
from proxy.text.secrets.cues import Around, Cue, Kind, cues_in, lower
from proxy.text.secrets.data import words
from proxy.text.secrets.headings import headed
from proxy.text.secrets.pieces import Piece, pieces_in
from proxy.text.secrets.shapes import Strength, turns

Span = tuple[int, int]

_REACH = 240  # characters between a cue and its secret
_MOST_BEFORE, _MOST_BEHIND = 3, 2
_LABELS = words("labels", "words")
_HASHES = words("labels", "hashes")
_HEX = re.compile(r"(?:0x)?[0-9a-fA-F-]++")
_IS = re.compile(r"[\"'`\])}>]{0,3}[ \t]{0,3}(?:[:=]=?>?|is|was|ist|lautet|es|est|é|è|это|是|:)?[ \t]{0,3}[\"'`]?")
_LAST_WORDS = re.compile(r"[^\W\d_][\w-]*+")
_EDGE = r"A-Za-z0-9_\u00c0-\u04ff€$£"  # Chinese has no blanks around a number
_NUMBER = re.compile(rf"(?<![{_EDGE}.,/#+-])\d(?:[ \u00a0-]?\d){{2,7}}+(?![{_EDGE}%°]|[.,:/-]\d)")
_LONG_NUMBER = re.compile(rf"(?<![{_EDGE}.,/#+-])\d{{4,16}}+(?![{_EDGE}%°]|[.,:/-]\d)")
_UNITS = re.compile(
    rf"[ \u00a0-]?(?:{'|'.join(re.escape(one) for one in sorted(words('technical', 'units'), key=len, reverse=True) if len(one) > 2)}|attempts|users|times|people|items|entries|accounts)(?![^\W\d_])"
)


@dataclass(frozen=True, slots=True)
class _Text:
    text: str
    lowered: str
    cues: Sequence[Cue]
    around: Around
    headed: dict[int, Kind]
    lines: Sequence[int]

    def heading(self, at: int) -> Kind | None:
        """Return the cue in the heading above the list or table that a place is in."""
        return self.headed.get(bisect_right(self.lines, at) - 1) if self.headed else None


def spans(text: str) -> Iterator[Span]:
    """Yield where words stand that a cue makes secrets; they may overlap."""
    lowered = lower(text)
    cues = cues_in(text, lowered)
    if not cues:
        return
    lines, headings = headed(text, cues)
    seen = _Text(text, lowered, cues, Around(cues), headings, lines)
    for start, end in _zones(text, cues, lines, headings):
        for piece in pieces_in(text, start, end):
            if _is_secret(seen, piece):
                yield piece.start, piece.end
    yield from _numbers(seen)


def _zones(text: str, cues: Sequence[Cue], lines: Sequence[int], headings: dict[int, Kind]) -> Iterator[Span]:
    """Yield the parts of the text that are near a cue, in order and without overlap."""
    parts = [(max(0, cue.start - _REACH), min(len(text), cue.end + _REACH)) for cue in cues]
    parts += [(lines[at], lines[at + 1] if at + 1 < len(lines) else len(text)) for at in headings]
    parts.sort()
    begin, stop = parts[0]
    for start, end in parts[1:]:
        if start <= stop:
            stop = max(stop, end)
        else:
            yield begin, stop
            begin, stop = start, end
    yield begin, stop


def _is_secret(seen: _Text, piece: Piece) -> bool:
    if piece.strength <= Strength.DIGITS and not piece.is_quoted:
        return False
    text = seen.text
    for cue in seen.around.before(piece.start, _MOST_BEFORE, _REACH):
        bond = bond_before(seen.text, seen.lowered, cue, piece.start, piece.strength)
        if piece.is_quoted and piece.strength <= Strength.DIGITS and not _IS.fullmatch(seen.lowered, cue.end, piece.start):
            continue
        if _holds(seen, piece, cue.kind, bond):
            return True
    if piece.strength <= Strength.DIGITS:
        return False
    for cue in seen.around.behind(piece.end, _MOST_BEHIND, _REACH):
        bond = bond_behind(text, seen.lowered, piece.end, cue, piece.strength)
        if _holds(seen, piece, cue.kind, bond):
            return True
    kind = seen.heading(piece.start)
    return kind is not None and _holds(seen, piece, kind, Bond.BOUND if kind is Kind.PASSWORD else Bond.SENTENCE)


def _holds(seen: _Text, piece: Piece, kind: Kind, bond: Bond) -> bool:
    """Return whether shape and bond are enough for a cue of this kind."""
    shape, length = piece.strength, piece.end - piece.start
    if bond is Bond.NONE or (bond is not Bond.BOUND and _is_explained(seen, piece)):
        return False
    if kind is Kind.PASSWORD or kind is Kind.NUMBER:
        if piece.is_quoted and shape <= Strength.DIGITS:
            return bond is Bond.BOUND and kind is Kind.PASSWORD
        if kind is Kind.NUMBER:
            return bond is Bond.BOUND and shape >= Strength.FAIR
        return shape >= (Strength.WEAK if bond is Bond.BOUND else Strength.FAIR)
    if kind is Kind.TOKEN:
        return shape >= (Strength.FAIR if bond is Bond.BOUND else Strength.STRONG) and (bond is not Bond.NEAR or length >= 12) or (
            bond is Bond.BOUND and shape is Strength.WEAK and length >= 30
        )
    if bond is not Bond.BOUND:
        return bond is Bond.SENTENCE and shape is Strength.STRONG and length >= 20
    return shape is Strength.STRONG or (shape is Strength.FAIR and (turns(piece.text) >= 2 or length >= 7 or not piece.text.isalnum()))


def _is_explained(seen: _Text, piece: Piece) -> bool:
    """Return whether the words before say what it is: a user name, a ticket, a commit."""
    before = [match[0] for match in _LAST_WORDS.finditer(seen.lowered, max(0, piece.start - 48), piece.start)][-3:]
    if piece.strength <= Strength.FAIR and before and before[-1] in _LABELS:
        return True
    if piece.strength <= Strength.FAIR and len(before) > 1 and before[-2] in _LABELS and before[-1] in ("is", "ist", "es", "est", "é", "this", "the", "my"):
        return True
    return _HEX.fullmatch(piece.text) is not None and any(word in _HASHES for word in before)


def _numbers(seen: _Text) -> Iterator[Span]:
    text = seen.text
    for cue in seen.cues:
        if cue.kind not in (Kind.NUMBER, Kind.PASSWORD) and not _is_named(text, cue):
            continue
        pattern = _NUMBER if cue.kind is Kind.NUMBER else _LONG_NUMBER
        for match in pattern.finditer(text, cue.end, min(len(text), cue.end + 120)):
            is_chip = text[cue.start : cue.end] in ("pin", "pins") and match.end() - match.start() == 3
            if _UNITS.match(seen.lowered, match.end()) or (is_chip and not text[cue.end : match.start()].strip()):
                continue
            if bond_before(text, seen.lowered, cue, match.start(), Strength.DIGITS) is Bond.BOUND:
                yield match.span()
        for match in pattern.finditer(text, max(0, cue.start - 60), cue.start):
            if bond_behind(text, seen.lowered, match.end(), cue, Strength.DIGITS) is Bond.BOUND:
                yield match.span()


def _is_named(text: str, cue: Cue) -> bool:
    return cue.kind is Kind.WEAK and text[cue.start : cue.end].lower() == "pass"

"""Secrets by cue: words near "password" or "PIN" that look like a secret and are bound to the cue; pure."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from proxy.text.scan import holds, scan
from proxy.text.secrets.bonds import Bond, bond_before, bond_behind, is_list_gap
from proxy.text.secrets.cues import Around, Cue, Kind, cues_in, lower
from proxy.text.secrets.data import words
from proxy.text.secrets.pieces import Piece, pieces_in
from proxy.text.secrets.shapes import Strength, has_symbols, turns

Span = tuple[int, int]

_REACH = 240  # characters between a cue and its secret
_REACH_NUMBER, _REACH_BACK = 120, 40
_LONG_TOKEN = 30
_MAX_BEFORE, _MAX_BEHIND, _MAX_NUMBERS = 3, 2, 3
_OF_CODES, _OF_PASSWORDS = frozenset({Kind.NUMBER}), frozenset({Kind.PASSWORD})
_ARTICLES = frozenset({"is", "ist", "es", "est", "é", "this", "the", "my"})
_TELLING = re.compile(r"[\d#$%^*~@€£§\\|\"`=&+]|[!?]\w|[A-Za-z]{16}")  # a secret has at least one of these
_LABELS = words("labels", "words")
_HASHES = words("labels", "hashes")
_HEX = re.compile(r"(?:0x)?[0-9a-fA-F-]++")
_IS = re.compile(r"[\"'`\])}>]{0,3}[ \t]{0,3}(?:[:=]=?>?|is|was|ist|lautet|es|est|é|è|это|是|:)?[ \t]{0,3}[\"'`]?")
_BASE64, _MIN_HASH = re.compile(r"[A-Za-z0-9+/]{1,512}+={0,2}"), 20
_LAST_WORDS = re.compile(r"[^\W\d_][\w-]*+")
_EDGE = r"A-Za-z0-9_\u00c0-\u04ff€$£"  # Chinese has no blanks around a number
_NUMBER = re.compile(rf"(?<![{_EDGE}.,/#+])(?<![\d\s]-)\d(?>(?:[ \u00a0-]?\d){{2,7}})(?![{_EDGE}%°]|[.,:/-]\d)")
_LONG_NUMBER = re.compile(rf"(?<![{_EDGE}.,/#+-])\d{{4,16}}+(?![{_EDGE}%°]|[.,:/-]\d)")
_UNITS = re.compile(
    rf"[ \u00a0-]?(?:{'|'.join(re.escape(one) for one in sorted(words('technical', 'units'), key=len, reverse=True) if len(one) > 2)}|attempts|users|times|people|items|entries|accounts)(?![^\W\d_])"
)

_MAX_LINES = 200
_MAX_HEADING = 120
_ITEM = re.compile(r"\A[ \t]*+(?:[-*•+–|>]|\d{1,3}[.)]|[\w .@-]{1,60}+[:=|,\t])")
_DELIMITERS = ("|", ";", "\t", ",")


@dataclass(frozen=True, slots=True)
class _Text:
    text: str
    lowered: str
    cues: Sequence[Cue]
    around: Around
    headed: dict[int, Kind]
    lines: Sequence[int]

    def heading(self, at: int) -> Kind | None:
        """Return the cue in the heading above the list or table of a place."""
        return self.headed.get(bisect_right(self.lines, at) - 1) if self.headed else None


def spans(text: str) -> Iterator[Span]:
    """Yield the spans of words that a cue makes secrets; they may overlap."""
    if not holds(_TELLING, text):
        return
    lowered = lower(text)
    cues = cues_in(text, lowered)
    if not cues:
        return
    lines, headings = _headed(text, cues)
    seen = _Text(text, lowered, cues, Around(cues), headings, lines)
    for start, end in _zones(text, cues, lines, headings):
        last = -1
        for piece in pieces_in(text, start, end):
            is_next = last >= 0 and piece.strength >= Strength.WEAK and is_list_gap(lowered[last : piece.start])
            if is_next or _is_secret(seen, piece):
                last = piece.end
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
    is_plain = piece.strength <= Strength.DIGITS
    if is_plain and not piece.is_quoted:
        return False
    for cue in seen.around.before(piece.start, _MAX_BEFORE, _REACH):
        if not _may_hold(piece, cue.kind) or (is_plain and not _is_value(seen, cue, piece)):
            continue
        bond = bond_before(seen.text, seen.lowered, cue, piece.start, piece.strength)
        if _holds(seen, piece, cue.kind, bond):
            return True
    if is_plain:
        return False
    for cue in seen.around.behind(piece.end, _MAX_BEHIND, _REACH):
        if _may_hold(piece, cue.kind):
            bond = bond_behind(seen.text, seen.lowered, piece.end, cue, piece.strength)
            if _holds(seen, piece, cue.kind, bond):
                return True
    kind = seen.heading(piece.start)
    return kind is not None and _holds(seen, piece, kind, Bond.BOUND if kind is Kind.PASSWORD else Bond.SENTENCE)


def _is_value(seen: _Text, cue: Cue, piece: Piece) -> bool:
    """Return whether a quoted word is the value of a name in data; ``credentials`` of a browser's call is a mode."""
    is_mode = seen.lowered.startswith("cred", cue.start)
    return not is_mode and _IS.fullmatch(seen.lowered, cue.end, piece.start) is not None


def _may_hold(piece: Piece, kind: Kind) -> bool:
    """Return whether a word's shape suffices, given the closest bond."""
    if kind is Kind.PASSWORD:
        return True
    return piece.strength >= Strength.FAIR or (kind is Kind.TOKEN and piece.end - piece.start >= _LONG_TOKEN)


def _holds(seen: _Text, piece: Piece, kind: Kind, bond: Bond) -> bool:
    """Return whether shape and bond suffice for a cue of this kind."""
    if bond is Bond.NONE or (bond is not Bond.BOUND and _is_labelled(seen, piece)):
        return False
    is_sure = bond is Bond.BOUND and kind not in (Kind.WEAK, Kind.TOOL)
    if not is_sure and _is_hash(seen, piece):
        return False
    return _RULES[kind](piece, bond)


def _is_password(piece: Piece, bond: Bond) -> bool:
    if bond is Bond.BOUND:
        return piece.strength >= Strength.WEAK or piece.is_quoted
    return piece.strength >= Strength.FAIR


def _is_code(piece: Piece, bond: Bond) -> bool:
    return bond is Bond.BOUND and piece.strength >= Strength.FAIR


def _is_token(piece: Piece, bond: Bond) -> bool:
    length = piece.end - piece.start
    if bond is Bond.BOUND:
        return piece.strength >= Strength.FAIR or (piece.strength is Strength.WEAK and length >= _LONG_TOKEN)
    return piece.strength is Strength.STRONG and (bond is Bond.SENTENCE or length >= 12)


def _is_of_weak_cue(piece: Piece, bond: Bond) -> bool:
    length = piece.end - piece.start
    if bond is not Bond.BOUND:
        is_hard = length >= 20 or has_symbols(piece.text)
        return bond is Bond.SENTENCE and piece.strength is Strength.STRONG and is_hard
    is_telling = turns(piece.text) >= 2 or length >= 7 or not piece.text.isalnum()
    return piece.strength is Strength.STRONG or (piece.strength is Strength.FAIR and is_telling)


def _is_of_tool(piece: Piece, bond: Bond) -> bool:
    return bond >= Bond.SENTENCE and (
        has_symbols(piece.text) or (bond is Bond.BOUND and piece.strength is Strength.STRONG)
    )


_RULES: dict[Kind, Callable[[Piece, Bond], bool]] = {
    Kind.PASSWORD: _is_password,
    Kind.NUMBER: _is_code,
    Kind.TOKEN: _is_token,
    Kind.WEAK: _is_of_weak_cue,
    Kind.TOOL: _is_of_tool,
}


def _is_labelled(seen: _Text, piece: Piece) -> bool:
    """Return whether the word before labels it: a user name, a ticket, a flight."""
    before = _words_before(seen, piece) if piece.strength <= Strength.FAIR else []
    named = before[:-1] if before and before[-1] in _ARTICLES else before
    return bool(named) and named[-1] in _LABELS


def _is_hash(seen: _Text, piece: Piece) -> bool:
    """Return whether a word looks like a hash, and one of the words before calls it one."""
    is_long = len(piece.text) >= _MIN_HASH and _BASE64.fullmatch(piece.text) is not None
    if not is_long and not _HEX.fullmatch(piece.text):
        return False
    return any(word in _HASHES for word in _words_before(seen, piece))


def _words_before(seen: _Text, piece: Piece) -> list[str]:
    return [match[0] for match in _LAST_WORDS.finditer(seen.lowered, max(0, piece.start - 48), piece.start)][-3:]


def _numbers(seen: _Text) -> Iterator[Span]:
    for kinds, pattern in ((_OF_CODES, _NUMBER), (_OF_PASSWORDS, _LONG_NUMBER)):
        cues = [cue for cue in seen.cues if cue.kind in kinds]
        found = [match.span() for match in scan(pattern, seen.text)] if cues else []
        starts = [start for start, _ in found]
        for cue in cues if found else ():
            at = bisect_left(starts, cue.end)
            last = -1
            for span in found[at : at + _MAX_NUMBERS]:
                is_next = last >= 0 and is_list_gap(seen.lowered[last : span[0]])
                if is_next or _is_number_behind(seen, cue, span):
                    last = span[1]
                    yield span
            if at and _is_number_before(seen, cue, found[at - 1]):
                yield found[at - 1]


def _is_number_behind(seen: _Text, cue: Cue, span: Span) -> bool:
    start, end = span
    is_chip = seen.text[cue.start : cue.end] in ("pin", "pins") and end - start == 3
    if start - cue.end > _REACH_NUMBER or _UNITS.match(seen.lowered, end):
        return False
    if is_chip and not seen.text[cue.end : start].strip():
        return False
    return bond_before(seen.text, seen.lowered, cue, start, Strength.DIGITS) is Bond.BOUND


def _is_number_before(seen: _Text, cue: Cue, span: Span) -> bool:
    if not span[1] <= cue.start <= span[1] + _REACH_BACK:
        return False
    return bond_behind(seen.text, seen.lowered, span[1], cue, Strength.DIGITS) is Bond.BOUND


def _headed(text: str, cues: Sequence[Cue]) -> tuple[list[int], dict[int, Kind]]:
    """Return the offsets of the lines, and the cue of each line under a heading with one."""
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

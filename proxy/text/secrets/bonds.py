"""Classify the bond between a word and a cue: its value, in one sentence with it, or near it. Pure."""

from __future__ import annotations

import re
from enum import IntEnum

from proxy.text.secrets.cues import Cue, Kind
from proxy.text.secrets.data import section, words
from proxy.text.secrets.shapes import Strength

_AFTER, _BEFORE, _FILLERS = (words("joins", name) for name in ("after", "before", "fillers"))
_ENDINGS = tuple(section("joins")["endings"].strip(":"))
_SIGNS = (":", "=", ">", "→", "-", "–", "—", "/", "|", "：", "＝", "(", "（", ",", "，")
_OPENING = " \t\u00a0\"'`“”„‚‘’«»‹›「『（(*<[{_~"
_SENTENCE_END = re.compile(r"[.!?…][\"'”’»)\]*]{0,3}(?=\s)|[。！？]|\n")
_CLOSED = re.compile(r"[!?.]{1,3}[\"'`”’»]? (?=[^\W\d_])(?![A-Z])")
_WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)?")
_TAIL = re.compile(r"([^\W\d_]{1,30}+(?>(?:['’-][^\W\d_]{1,30}+){0,3}))[,:]?\s{0,9}\Z")
_FENCE = re.compile(r"(?<![ \t])[ \t]*+(?:```|~~~|---|===|\+--)")
_MAX_WORDS = {Kind.PASSWORD: 7, Kind.NUMBER: 7, Kind.TOKEN: 6, Kind.WEAK: 4, Kind.TOOL: 6}
_MAX_FILLERS, _MAX_WORDS_TO_FROM = 4, 2
_NEAR_SENTENCES = 2


_AND = re.compile(
    rf"[\s\"'`“”]{{0,3}}(?:{'|'.join(sorted(map(re.escape, words('lists', 'and')), key=len, reverse=True))}|,)(?:\s(?:{'|'.join(sorted(map(re.escape, (one for one in words('lists', 'and') if one.isalpha())), key=len, reverse=True))}))?[\s\"'`“”]{{0,3}}"
)


def is_list_gap(gap: str) -> bool:
    """Return whether the text between two words makes them items of one list."""
    return len(gap) <= 12 and _AND.fullmatch(gap) is not None


class Bond(IntEnum):
    """Closeness of a word to a cue."""

    NONE = 0
    NEAR = 1
    SENTENCE = 2
    BOUND = 3


def bond_before(text: str, lowered: str, cue: Cue, start: int, shape: Strength) -> Bond:
    """Return the bond of a word that starts at ``start`` to a cue before it."""
    gap = lowered[cue.end : start]
    if "\n" in gap:
        return _across(gap, cue.kind)
    if _SENTENCE_END.search(gap):
        if not gap.strip(_ASKED):
            return Bond.BOUND
        return Bond.NEAR if len(_SENTENCE_END.findall(gap)) <= _NEAR_SENTENCES else Bond.NONE
    if shape is Strength.DIGITS and (any(map(str.isdigit, gap)) or " * " in gap):
        return Bond.SENTENCE
    many = len(_WORD.findall(gap))
    if many <= _MAX_WORDS[cue.kind] and _is_joined(gap, cue, text, shape):
        return Bond.BOUND
    return Bond.SENTENCE


def bond_behind(text: str, lowered: str, end: int, cue: Cue, shape: Strength) -> Bond:
    """Return the bond of a word that ends at ``end`` to a cue after it."""
    gap = lowered[end : cue.start]
    if _CLOSED.match(text, end):  # "Zebra_2041! as the password" is one sentence
        gap = gap.lstrip("!?.")
    lines = gap.split("\n")
    if len(lines) > 1:
        is_alone = not _WORD.search(lines[0]) and not any(_WORD.search(line) for line in lines[1:-1])
        return Bond.NEAR if is_alone and len(_WORD.findall(lines[-1])) <= 6 else Bond.NONE
    ends = len(_SENTENCE_END.findall(gap))
    found = _WORD.findall(gap)
    if not ends:
        bare = gap.lstrip(" \t\"'`“”„’»」』)*.,!?")
        most = 5 if shape > Strength.WEAK else 4 if shape is Strength.DIGITS else 3
        is_said = bool(found) and len(found) <= most and found[0] in _BEFORE
        is_marked = bare.startswith(("=", "-", "–", "—", "←", "<-", "(", "（")) and len(found) <= 4
        is_unspaced = bare.startswith(("是", "就是", "は", "が", "이", "가", "为", "為", "(", "（")) and len(gap) <= 14
        return Bond.BOUND if is_said or is_marked or is_unspaced else Bond.SENTENCE
    return Bond.NEAR if ends <= _NEAR_SENTENCES else Bond.NONE


def _is_joined(gap: str, cue: Cue, text: str, shape: Strength) -> bool:
    """Return whether the text between a cue and a word makes the word the cue's value."""
    if gap.rstrip(" \"'`").endswith(("(", "（")) and cue.kind in (Kind.PASSWORD, Kind.NUMBER):
        return True
    tail = gap.rstrip(_OPENING)
    for _ in range(_MAX_FILLERS):
        last = _TAIL.search(tail[-40:])
        if last is None or last[1] not in _FILLERS:
            break
        tail = tail[: len(tail) - len(last[0])].rstrip(_OPENING)
    if tail.strip(_OPENING) in ("", "'s", "’s", "s"):
        is_named = cue.kind in (Kind.PASSWORD, Kind.TOKEN) and shape > Strength.DIGITS
        return is_named or tail != "" or _is_number_cue(text, cue)
    if _OTHER_NAME.search(tail[-60:]):
        return False
    if tail.endswith(_SIGNS):
        return not (shape is Strength.DIGITS and tail.endswith((",", "-", "/", "，")))
    if tail.endswith(_ENDINGS):
        return True
    last = _TAIL.search(tail[-40:])
    if last is None or cue.kind in (Kind.WEAK, Kind.TOOL):
        return last is not None and last[1] in _BEFORE
    if (
        shape is Strength.DIGITS and last[1] in _NOT_OF_NUMBERS
    ):  # "pin changed from 4831", not "pin your posts from 2023"
        return cue.kind is Kind.NUMBER and len(_WORD.findall(gap)) <= _MAX_WORDS_TO_FROM
    return last[1] in _AFTER


_ASKED = "?!.:… " + _OPENING  # "My password? hunter22"
_OTHER_NAME = re.compile(r"[\"',;&]\s{0,20}[\"']?[\w-]{1,40}[\"']?\s?[=:]\Z")  # id=… of class="password" id=…
_NOT_OF_NUMBERS = frozenset({"from", "von", "de", "of", "since", "del", "du", "sent", "used", "use", "с"})


def _is_number_cue(text: str, cue: Cue) -> bool:
    """Return whether a number directly after a cue is its value: "PIN 4831", but not "pin 104" of a chip."""
    return cue.kind is Kind.NUMBER


def _across(gap: str, kind: Kind) -> Bond:
    """Return the bond across a line end: the cue must be in the line before, blank lines and fences aside."""
    first, *between, last = gap.split("\n")
    if any(line.strip("-|: \t\r") and not _FENCE.match(line) for line in between):
        return Bond.NONE
    tail = first.rstrip(" \t\r\"'`*_")
    before = _WORD.findall(last)
    is_open = tail.endswith(
        (":", "：", "=", ">", "|", "is", "ist", "es", "est", "是", "это", "é", "は", ",")
    ) or not _WORD.search(tail)
    if is_open and not before and len(_WORD.findall(tail)) <= 8:
        return Bond.BOUND
    if kind is Kind.WEAK:
        return Bond.NONE
    if is_open:
        return Bond.SENTENCE if len(before) <= 8 else Bond.NEAR
    return Bond.NEAR if len(_SENTENCE_END.findall(first + " " + last)) <= _NEAR_SENTENCES else Bond.NONE

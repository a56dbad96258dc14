"""Words of a text that may be secrets, without quotes, assignment names, brackets and adjacent letters; pure."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from proxy.text.secrets.data import section
from proxy.text.secrets.shapes import Strength, core, strength

_UNSPACED = r"\u0e00-\u0e7f\u2028\u2029\u3000-\u303f\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uff08\uff09\uff0c\uff1a\uff1b\uff01\uff1f"
_RUN = re.compile(rf"[^\s{_UNSPACED}]++")
_TELLING = re.compile(r"[\d!#$%^*?~@€£§\\|]|[A-Za-z]{16}")
_STRUCTURE = re.compile(r"[\"`<>{}|]|'(?![^\W_])|(?<![^\W_])'")
_ASSIGNED = re.compile(r"[-$@]{0,2}[\w.@$\[\]-]{0,80}?[\w\])\"'](?:=>?|:=?|->)(?=[^\s/])")
_CALL = re.compile(r"\A@?[A-Za-z_$][\w$.]*+\([^)]*+(?:\)?[.;:,\[(]|\)?\Z)")
_PART = re.compile(r"[^\s\"'`<>{}()\[\],;|]++")
_QUOTED = re.compile(r"[ \t]{0,3}(?::=?|=>?)[ \t]{0,3}[\"'`]([^\s\"'`<>{}$()]{4,80}+)[\"'`]")
_ENV = re.compile(r"(?<![^\s;&\"'`(])[A-Z][A-Z0-9_]{0,60}+=([^\s\"'`<>{}$()]{4,80}+)(?=\s|\Z)")
_SENTENCE = re.compile(r"[ \t]{0,3}(?::=?|=>?)[ \t]{0,3}\"([^\"\n<>{}$]{4,60}+)\"")
_SAYS = re.compile(
    r"(?i)\b(?:must|least|most|min|max|minimum|characters?|chars|digits?|zeichen|caracter|long|between|length|is|are|the|your)\b"
)
_SPOKEN = re.compile(r"[`]([^\s`<>{}$()]{4,80}+)[`]")
_PLACEHOLDERS = frozenset(section("placeholders")["words"].split())
_SYMBOLS = re.compile(r"[!@#$%^*?~+=&]")


@dataclass(frozen=True, slots=True)
class Piece:
    """A word that may be a secret.

    Attributes:
        is_quoted: It is at the place of a value in code or data, where ordinary letters may be a secret too.
    """

    start: int
    end: int
    text: str
    strength: Strength
    is_quoted: bool = False


def pieces_in(text: str, start: int, end: int) -> Iterator[Piece]:
    """Yield the words of a part of the text that may be secrets; words across its edges are whole."""
    if start and not text[start - 1].isspace():
        found = re.compile(r"\s").search(text, start, end)
        start = found.start() if found is not None and found.start() - start <= 80 else start
    for run in _RUN.finditer(text, start, min(len(text), end + 512)):
        if run.start() >= end:
            break
        if _TELLING.search(run[0]) and "[redacted]" not in run[0][:12]:
            yield from _of_run(text, run.start(), run[0])
    for pattern in (_QUOTED, _ENV, _SPOKEN):
        for match in pattern.finditer(text, start, end):
            value = match[1]
            if value.lower() not in _PLACEHOLDERS and _is_plain(value):
                yield Piece(match.start(1), match.end(1), value, strength(value), is_quoted=True)
    for match in _SENTENCE.finditer(text, start, end):
        value = match[1]
        if " " in value and any(map(str.isdigit, value)) and not _SAYS.search(value):
            yield Piece(match.start(1), match.end(1), value, Strength.NONE, is_quoted=True)


def _is_plain(value: str) -> bool:
    """Return whether a value in quotes is one word of letters and digits that is not itself a cue or code."""
    return (
        value.isascii()
        and not value.isdigit()
        and "." not in value
        and "_" not in value
        and "redacted" not in value
        and not value[0].isupper()
        and "/" not in value
    )


def _of_run(text: str, start: int, run: str) -> Iterator[Piece]:
    if "://" in run:
        return
    left, right = core(run)
    whole = run[left:right]
    if not whole:
        return
    assigned = _ASSIGNED.match(whole)
    is_call = _CALL.match(whole) is not None
    if assigned is None and not is_call and not _STRUCTURE.search(whole):
        shape = strength(whole)
        if shape > Strength.NONE:
            yield Piece(start + left, start + right, whole, shape)
            return
        if not re.search(r"[,;()]", whole):
            return
    if assigned is not None and not _STRUCTURE.search(whole):
        yield from _of_value(start + left, whole, assigned.end())
        return
    yield from _parts(start + left, whole)


def _of_value(start: int, whole: str, at: int) -> Iterator[Piece]:
    """Yield the value of ``name=value``, with any symbols in it."""
    while (further := _ASSIGNED.match(whole, at)) is not None and not _SYMBOLS.search(whole[at : further.end() - 1]):
        at = further.end()
    left, right = core(whole[at:])
    value = whole[at + left : at + right]
    if re.search(r"[,;&]", value) and re.search(r"[,;&]\w+=", value):
        for part in re.finditer(r"[^,;&]++", value):
            inner = _ASSIGNED.match(part[0])
            begin = inner.end() if inner else 0
            if (shape := strength(part[0][begin:])) > Strength.NONE:
                yield Piece(
                    start + at + left + part.start() + begin, start + at + left + part.end(), part[0][begin:], shape
                )
        return
    shape = strength(value)
    if shape > Strength.NONE:
        yield Piece(start + at + left, start + at + right, value, shape)


def _parts(start: int, whole: str) -> Iterator[Piece]:
    for part in _PART.finditer(whole):
        begin = 0
        while (assigned := _ASSIGNED.match(part[0], begin)) is not None:
            begin = assigned.end()
        left, right = core(part[0][begin:])
        word = part[0][begin + left : begin + right]
        if (shape := strength(word)) > Strength.NONE:
            yield Piece(start + part.start() + begin + left, start + part.start() + begin + right, word, shape)

"""Offsets of values in a JSON text, and edits that leave every other byte unchanged."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from json import JSONDecoder
from typing import TypeVar

import orjson

Place = TypeVar("Place", str, int)
Visit = Callable[[Place, int], int | None]

_SPACE = re.compile(r"[ \t\n\r]*")

# Its scanner finds ends at C speed; numbers stay text, as Python refuses to convert very long ones.
_decoder = JSONDecoder(parse_int=str, parse_float=str, parse_constant=str, strict=False)


@dataclass(frozen=True, slots=True)
class Span:
    """A value in a text: ``text[start:end]``."""

    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Edit:
    """Replacement of ``text[start:end]`` by ``new``; an insertion if start and end are equal."""

    start: int
    end: int
    new: str


def root(text: str) -> int:
    """Return the start of the text's only value, behind a byte order mark if there is one."""
    return _after_space(text, int(text.startswith("\ufeff")))


def walk_object(text: str, start: int, visit: Visit[str]) -> int:
    """Visit each member of the object at ``start``, repeats included; return the index after the object.

    Args:
        text: Any JSON text.
        start: Index of the opening brace.
        visit: Takes a key and the start of its value; returns the end of the value if known, so that nothing is
            scanned twice, else None.

    Raises:
        ValueError: If there is no object.
    """
    at = _opened(text, start, "{")
    while text[at : at + 1] != "}":
        if text[at : at + 1] != '"':
            raise ValueError(f"no member at {at}")
        key, at = _decoder.raw_decode(text, at)
        at = _after_space(text, at)
        if text[at : at + 1] != ":":
            raise ValueError(f"no value at {at}")
        value = _after_space(text, at + 1)
        end = visit(key, value)
        at = _next(text, value_end(text, value) if end is None else end, "}")
    return at + 1


def walk_array(text: str, start: int, visit: Visit[int]) -> int:
    """Visit each element of the array at ``start`` by its index and its start; else like ``walk_object``.

    Raises:
        ValueError: If there is no array.
    """
    at = _opened(text, start, "[")
    index = 0
    while text[at : at + 1] != "]":
        end = visit(index, at)
        at = _next(text, value_end(text, at) if end is None else end, "]")
        index += 1
    return at + 1


def value_end(text: str, start: int) -> int:
    """Return the index after the value at ``start``.

    Raises:
        ValueError: If there is none.
    """
    if text[start : start + 1] == '"':
        quote = text.find('"', start + 1)
        if quote > 0 and text[quote - 1] != "\\":
            return quote + 1
    _, end = _decoder.raw_decode(text, start)
    return end


def apply(raw: bytes, text: str, edits: Sequence[Edit]) -> bytes:
    """Return ``raw``, of which ``text`` is the decoded form, with the edits made."""
    pieces: list[bytes] = []
    done = 0
    is_ascii = len(raw) == len(text)
    for edit in sorted(edits, key=lambda one: one.start):
        # If every character is one byte, offsets agree, and megabytes need not be encoded again.
        pieces.append(raw[done : edit.start] if is_ascii else text[done : edit.start].encode())
        pieces.append(edit.new.encode())
        done = edit.end
    pieces.append(raw[done:] if is_ascii else text[done:].encode())
    return b"".join(pieces)


def quoted(text: str) -> str:
    """Return a text as a JSON string with its quotes; lone surrogates become question marks."""
    return orjson.dumps(text.encode("utf-8", "replace").decode()).decode()


def _opened(text: str, start: int, bracket: str) -> int:
    if text[start : start + 1] != bracket:
        raise ValueError(f"no {bracket} at {start}")
    return _after_space(text, start + 1)


def _after_space(text: str, at: int) -> int:
    match = _SPACE.match(text, at)
    return match.end() if match else at


def _next(text: str, at: int, close: str) -> int:
    """Return the start of the next item, or the index of the closing bracket."""
    at = _after_space(text, at)
    found = text[at : at + 1]
    if found == close:
        return at
    if found != ",":
        raise ValueError(f"no comma at {at}")
    after = _after_space(text, at + 1)
    if text[after : after + 1] == close:
        raise ValueError(f"no item at {after}")
    return after

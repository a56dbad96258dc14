"""Where values stand in a JSON text, and edits at those places that leave every other byte alone."""

from __future__ import annotations

import re
from collections.abc import Generator, Iterator, Sequence
from dataclasses import dataclass
from json import JSONDecoder

import orjson

_SPACE = re.compile(r"[ \t\n\r]*")

# Its C scanner finds ends at C speed; numbers stay text, as they may be longer than Python converts.
_decoder = JSONDecoder(parse_int=str, parse_float=str, parse_constant=str, strict=False)


@dataclass(frozen=True, slots=True)
class Span:
    """A value in a text: ``text[start:end]``."""

    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Edit:
    """``text[start:end]`` gives way to ``new``; equal ends insert."""

    start: int
    end: int
    new: str


def root(text: str) -> int:
    """Return the start of the one value that the text is."""
    return _after_space(text, 0)


def members(text: str, start: int) -> Generator[tuple[str, int], int | None, None]:
    """Yield key and start of the value of each member of the object at ``start``, repeats included.

    The generator takes, by ``send``, the end of the value where the caller found it, so that none is scanned twice.

    Raises:
        ValueError: If there is no object.
    """
    if text[start : start + 1] != "{":
        raise ValueError(f"no object at {start}")
    at = _after_space(text, start + 1)
    while text[at : at + 1] != "}":
        if text[at : at + 1] != '"':
            raise ValueError(f"no member at {at}")
        key, at = _decoder.raw_decode(text, at)
        at = _after_space(text, at)
        if text[at : at + 1] != ":":
            raise ValueError(f"no value at {at}")
        value = _after_space(text, at + 1)
        end = yield key, value
        at = _next(text, value_end(text, value) if end is None else end, "}")


def elements(text: str, start: int) -> Iterator[Span]:
    """Yield the place of each element of the array at ``start``, at last the closing bracket as an empty span.

    Raises:
        ValueError: If there is no array.
    """
    if text[start : start + 1] != "[":
        raise ValueError(f"no array at {start}")
    at = _after_space(text, start + 1)
    while text[at : at + 1] != "]":
        end = value_end(text, at)
        yield Span(at, end)
        at = _next(text, end, "]")
    yield Span(at, at)


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
        # Where every character is a byte the places agree, and megabytes need not be encoded again.
        pieces.append(raw[done : edit.start] if is_ascii else text[done : edit.start].encode())
        pieces.append(edit.new.encode())
        done = edit.end
    pieces.append(raw[done:] if is_ascii else text[done:].encode())
    return b"".join(pieces)


def quoted(text: str) -> str:
    """Return a text as a JSON string with its quotes; lone surrogates become question marks."""
    return orjson.dumps(text.encode("utf-8", "replace").decode()).decode()


def _after_space(text: str, at: int) -> int:
    match = _SPACE.match(text, at)
    return match.end() if match else at


def _next(text: str, at: int, close: str) -> int:
    """Return the start of the next item, or the place of the closing bracket."""
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

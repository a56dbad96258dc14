"""Find the JSON in a model's reply: within prose, fences and thoughts, truncated, or in non-standard syntax."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Literal

import json_repair

MAX_CHARACTERS = 100_000  # of a reply that are parsed; repairing as many garbled ones takes about 0.5 s of CPU
_MAX_DEPTH = 64
_MAX_LITERAL = len("-Infinity")
_MAX_FAILURES = 64  # broken openings before the rest of a text counts as garbage

_TAGS = r"think(?:ing)?|thoughts?|reasoning|reflection"
_THOUGHT = re.compile(rf"<(?P<tag>{_TAGS})\b[^<>]*>.*?(?:</(?P=tag)\s*>|\Z)", re.DOTALL | re.IGNORECASE)
_THOUGHT_END = re.compile(rf"</(?:{_TAGS})\s*>", re.IGNORECASE)
_FENCE = re.compile(
    r"^[ \t]*(?P<fence>`{3,}|~{3,})[\w-]*[ \t]*\n(?P<inner>.*?)(?:^[ \t]*(?P=fence)|\Z)", re.DOTALL | re.MULTILINE
)
_OPENING = re.compile(r"[\[{]")
_BRACKET = re.compile(r"[\[\]{}]")
_LIKELY = re.compile(r"""\{\s*+["'“]?\w[\w -]*+["'”]?\s*+:|\[\s*+[\[{]""")
_LIST = re.compile(r'\A\s*+(?:\{\s*+"[^"\\]*+"\s*+:\s*+)?\[\s*+')
_SEPARATOR = re.compile(r"[\s,]*")
_decoder = json.JSONDecoder()

Judge = Callable[[Any], Literal["answer", "item"] | None]


@dataclass(frozen=True, slots=True)
class Found:
    """A parsed value.

    Args:
        value: The answer, or the list of items if they come separately.
        is_cut: The text ends within the last item of the list, which is unreliable.
    """

    value: Any
    is_cut: bool = False


def find_json(text: str, judge: Judge) -> Found | None:
    """Return the answer in a model's reply, parsed strictly if possible, else repaired.

    A ``<think>`` block does not count. Of several answers the last one counts: models show examples and repeat their
    input before they answer.

    Args:
        text: The reply; text beyond ``MAX_CHARACTERS`` is ignored.
        judge: Classifies a parsed value as a whole answer, one item of an answer, or neither.
    """
    whole = text[:MAX_CHARACTERS].strip("\ufeff \t\r\n")
    strict = _strict(whole)
    if isinstance(strict, str):  # JSON within a JSON string
        whole, strict = strict, _strict(strict)
    if judge(strict):
        return Found(strict)
    for variant in _without_thoughts(whole):
        for piece in _pieces(variant):
            found = _in_piece(piece, judge)
            if found is not None:
                return found
    return None


def has_json(text: str) -> bool:
    """Return whether anything in a reply, except thoughts, may open JSON."""
    return any(_LIKELY.search(variant) for variant in _without_thoughts(text[:MAX_CHARACTERS]))


def _without_thoughts(text: str) -> Iterator[str]:
    """Yield the readings of a reply: a tag may also be quoted from the user's text."""
    *_, tail = _THOUGHT_END.split(_THOUGHT.sub("", text))  # some chat templates swallow the opening tag
    yield tail
    if tail != text and text[:1] in ("{", "[", "`"):
        yield text


def _pieces(text: str) -> Iterator[str]:
    """Yield the contents of code fences, the last one first, then the whole text."""
    for fence in reversed(list(_FENCE.finditer(text))):
        yield fence["inner"]
    yield text


def _strict(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def _in_piece(text: str, judge: Judge) -> Found | None:
    if _depth(text) > _MAX_DEPTH:
        return None
    strict = _strict(text)
    if judge(strict):
        return Found(strict)
    answer, items, broken = _scan(text, judge)
    repaired = _repaired(text, broken, judge) if broken else None
    if repaired is not None and (answer is None or judge(repaired.value)):
        return repaired
    if answer is not None:
        return Found(answer)
    return Found(items) if items else None


def _scan(text: str, judge: Judge) -> tuple[Any, list[Any], list[int]]:
    """Return the last whole answer, and the items and broken openings after it."""
    answer: Any = None
    items: list[Any] = []
    broken: list[int] = []
    position = failures = 0
    while failures < _MAX_FAILURES and (opening := _OPENING.search(text, position)):
        try:
            value, position = _decoder.raw_decode(text, opening.start())
        except (ValueError, RecursionError):
            broken.append(opening.start())
            position, failures = opening.end(), failures + 1
            continue
        verdict = judge(value) if value else None
        if verdict == "answer":
            answer, items, broken = value, [], []
        elif verdict == "item":
            items.append(value)
    return answer, items, broken


def _repaired(text: str, broken: list[int], judge: Judge) -> Found | None:
    start = next((place for place in broken if _LIKELY.match(text, place)), broken[0])
    region = text[start:].rstrip(" \t\r\n,`")
    if _is_unfinished(region):
        elements = _elements(region)
        if elements is not None:
            return elements
    try:
        value = json_repair.loads(region, skip_json_loads=True)
    except (ValueError, RecursionError, LookupError, TypeError, AttributeError):
        return None
    if not value or not judge(value):
        return None
    is_open = sum(map(region.count, "[{")) > sum(map(region.count, "]}"))
    return Found(value, is_cut=is_open and not region.endswith("}"))


def _is_unfinished(text: str) -> bool:
    """Return whether a text is valid JSON except for its missing end."""
    try:
        json.loads(text)
    except json.JSONDecodeError as error:
        at_end = error.pos >= len(text) - _MAX_LITERAL
        return at_end or error.msg.startswith(("Unterminated string", "Invalid \\"))
    except (ValueError, RecursionError):
        pass
    return False


def _elements(text: str) -> Found | None:
    """Return the elements of an unfinished list, or of the list in an unfinished object; None for one that is cut."""
    opening = _LIST.match(text)
    if opening is None:
        return None
    elements: list[Any] = []
    position = opening.end()
    while position < len(text):
        try:
            element, position = _decoder.raw_decode(text, position)
        except (ValueError, RecursionError):
            break
        elements.append(element)
        separator = _SEPARATOR.match(text, position)
        position = separator.end() if separator else position
    is_cut = position < len(text) or not elements
    return Found([*elements, None] if is_cut else elements, is_cut=is_cut)


def _depth(text: str) -> int:
    depth = deepest = 0
    for bracket in _BRACKET.finditer(text):
        depth = depth + 1 if bracket[0] in "[{" else max(0, depth - 1)
        deepest = max(deepest, depth)
    return deepest

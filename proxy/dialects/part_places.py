"""Offsets of message parts in a body's text, those inside tool results included."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from proxy.dialects import splice

Place = tuple[int, ...]  # index of the message, of the part, and in a result of a tool that of the part in there
Found = tuple[Place, Mapping[str, Any], bool]

_LISTS = ("content", "output")
_ROLES = frozenset({"user", "tool"})
_OUTPUTS = frozenset({"function_call_output", "custom_tool_call_output"})
_RESULT = "tool_result"
_NESTED = 3


def parts_of(index: int, message: Mapping[str, Any]) -> list[Found]:
    """Return the parts of what the user sent or a tool answered: where, what, and whether a tool says it.

    Args:
        index: Of the message in its list.
        message: As parsed, of any wire.
    """
    role, is_output = message.get("role"), message.get("type") in _OUTPUTS
    if role not in _ROLES and not is_output:
        return []
    listed = next((found for name in _LISTS if isinstance(found := message.get(name), list)), [])
    parts: list[Found] = []
    for number, part in enumerate(listed):
        if not isinstance(part, dict):
            continue
        inner = part.get("content") if part.get("type") == _RESULT else None
        if isinstance(inner, list):
            parts += [((index, number, at), one, True) for at, one in enumerate(inner) if isinstance(one, dict)]
        else:
            parts.append(((index, number), part, is_output or role == "tool"))
    return parts


class Finder:
    """Finds where parts stand, in one pass; of repeated keys the last counts, as parsers have it."""

    def __init__(self, text: str, key: str, wanted: Collection[Place]) -> None:
        self._text, self._key = text, key
        self._wanted = wanted
        self._starts = {place[:depth] for place in wanted for depth in (1, 2)}
        self._nested = {place[:2] for place in wanted if len(place) == _NESTED}
        self._at: Place = ()
        self._spans: dict[str, dict[Place, tuple[int, int]]] = {}
        self.found: dict[Place, tuple[int, int]] = {}

    def find(self) -> None:
        """Fill in ``found``: by place, start and end.

        Raises:
            ValueError: If the text is not as it was parsed.
        """
        splice.walk_object(self._text, splice.root(self._text), self._on_top)

    def _on_top(self, key: str, at: int) -> int | None:
        if key != self._key:
            return None
        self.found = {}
        return splice.walk_array(self._text, at, self._on_message)

    def _on_message(self, index: int, at: int) -> int | None:
        if (index,) not in self._starts:
            return None
        self._at, self._spans = (index,), {}
        end = splice.walk_object(self._text, at, self._on_member)
        spans = next((self._spans[name] for name in _LISTS if name in self._spans), {})
        self.found |= {place: span for place, span in spans.items() if place in self._wanted}
        return end

    def _on_member(self, key: str, at: int) -> int | None:
        if key not in _LISTS or self._text[at] != "[":
            return None
        spans = self._spans[key] = {}

        def on_part(number: int, start: int) -> int:
            place = (*self._at, number)
            end = self._inside(place, start, spans) if place in self._nested else splice.value_end(self._text, start)
            spans[place] = (start, end)
            return end

        return splice.walk_array(self._text, at, on_part)

    def _inside(self, place: Place, at: int, spans: dict[Place, tuple[int, int]]) -> int:
        """Note the parts of a tool's result; return where it ends."""

        def on_member(key: str, start: int) -> int | None:
            if key != "content" or self._text[start] != "[":
                return None
            return splice.walk_array(self._text, start, on_part)

        def on_part(number: int, start: int) -> int:
            end = splice.value_end(self._text, start)
            spans[*place, number] = (start, end)
            return end

        return splice.walk_object(self._text, at, on_member)

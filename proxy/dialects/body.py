"""Request bodies: parsed as leniently as providers take them, and edited in place."""

from __future__ import annotations

import json
from collections.abc import Collection
from typing import Any, NoReturn

import orjson

from proxy.dialects import splice
from proxy.dialects.splice import Edit, Span
from proxy.errors import InvalidRequest, MissingModel


def parse(body: bytes) -> dict[str, Any]:
    """Return the object that a body is.

    Raises:
        InvalidRequest: If it is no JSON object.
    """
    try:
        parsed = orjson.loads(body)
    except orjson.JSONDecodeError:
        parsed = _parse_leniently(body)
    if not isinstance(parsed, dict):
        raise InvalidRequest("The body must be a JSON object.")
    return parsed


def model_of(parsed: dict[str, Any]) -> str:
    """Return the model that a body names.

    Raises:
        MissingModel: If it names none.
    """
    model = parsed.get("model")
    if not isinstance(model, str) or not model:
        raise MissingModel("The body needs `model`, a string that names the model.", param="model")
    return model


def replace_model(body: bytes, name: str) -> bytes:
    """Return the body with another model's name, wherever ``model`` stands on the top level."""
    edits: list[Edit] = []

    def replace(key: str, at: int) -> int | None:
        if key != "model":
            return None
        edits.append(Edit(at, splice.value_end(text, at), splice.quoted(name)))
        return edits[-1].end

    try:
        text = body.decode()
        splice.walk_object(text, splice.root(text), replace)
    except (ValueError, RecursionError):
        return body
    return splice.apply(body, text, edits)


def string(value: object) -> str:
    """Return a string as it is, "" for anything else."""
    return value if isinstance(value, str) else ""


def string_or_none(value: object) -> str | None:
    """Return a string that says something, None for anything else."""
    return value if isinstance(value, str) and value else None


class Contents:
    """Finds, in one pass, where the contents of some messages stand.

    Of repeated keys the last counts, as parsers have it.

    Args:
        wanted: Indexes of messages.
        key: Name of the list of messages on the top level.
    """

    def __init__(self, wanted: Collection[int], key: str = "messages") -> None:
        self._wanted = wanted
        self._key = key
        self._text = ""
        self._content: Span | None = None
        self.found: dict[int, Span | None] = {}

    def find(self, text: str) -> None:
        """Fill ``found``.

        Raises:
            ValueError: If the text, or a wanted message, is no JSON object.
        """
        self._text = text
        splice.walk_object(text, splice.root(text), self._on_top)

    def _on_top(self, key: str, at: int) -> int | None:
        if key != self._key:
            return None
        self.found = {}
        return splice.walk_array(self._text, at, self._on_message)

    def _on_message(self, index: int, at: int) -> int | None:
        if index not in self._wanted:
            return None
        self._content = None
        end = splice.walk_object(self._text, at, self._on_member)
        self.found[index] = self._content
        return end

    def _on_member(self, key: str, at: int) -> int | None:
        if key != "content":
            return None
        self._content = Span(at, splice.value_end(self._text, at))
        return self._content.end


def _parse_leniently(body: bytes) -> Any:
    """Parse what orjson refuses and providers may take: huge numbers, lone surrogates, deep nesting."""
    try:
        return _without_surrogates(json.loads(body.decode(), parse_int=_integer, parse_constant=_refuse))
    except (ValueError, RecursionError) as error:
        raise InvalidRequest(f"The body is not valid JSON: {error}.") from error


def _integer(digits: str) -> int | float:
    return int(digits) if len(digits) < 4000 else float(digits)


def _refuse(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is no JSON")


def _without_surrogates(value: Any) -> Any:
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode()
    if isinstance(value, list):
        return [_without_surrogates(one) for one in value]
    if isinstance(value, dict):
        return {_without_surrogates(key): _without_surrogates(one) for key, one in value.items()}
    return value

"""Request bodies: parsed as leniently as by providers, and edited in place."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import Any, NoReturn

import orjson

from proxy.dialects import splice
from proxy.dialects.splice import Edit, Span
from proxy.errors import InvalidJson, InvalidRequest, MissingModel


def parse(body: bytes) -> dict[str, Any]:
    """Return a body's JSON object.

    Raises:
        InvalidRequest: If it is not a JSON object.
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
    """Return the body with another model's name."""
    return replaced(body, "model", name)


def replaced(body: bytes, key: str, value: object) -> bytes:
    """Return the body with the value of a top-level key replaced."""
    new = splice.quoted(value) if isinstance(value, str) else orjson.dumps(value).decode()
    return changed(body, key, lambda _: new)


def changed(body: bytes, key: str, change: Callable[[str], str | None]) -> bytes:
    """Return the body with the JSON of a top-level value changed, at every occurrence of its key.

    Args:
        body: Body of a request.
        key: Name of the value.
        change: Takes the value's JSON; returns the new JSON, or None to leave it unchanged.
    """
    edits: list[Edit] = []

    def visit(name: str, at: int) -> int | None:
        if name != key:
            return None
        end = splice.value_end(text, at)
        if (new := change(text[at:end])) is not None:
            edits.append(Edit(at, end, new))
        return end

    try:
        text = body.decode()
        splice.walk_object(text, splice.root(text), visit)
    except (ValueError, LookupError, RecursionError):
        return body
    return splice.apply(body, text, edits) if edits else body


def string(value: object) -> str:
    """Return a string unchanged, "" for any other type."""
    return value if isinstance(value, str) else ""


def string_or_none(value: object) -> str | None:
    """Return a non-empty string, None for anything else."""
    return value if isinstance(value, str) and value else None


@dataclass(frozen=True, slots=True)
class Insertion:
    """Text to be appended to the content of a message.

    Args:
        message_index: Index in the request's messages.
        text: Text to append.
        apart: Whether it was first inserted as a separate block, whatever form the message has now; None: by the form
            of the message.
    """

    message_index: int
    text: str
    apart: bool | None = None


class Contents:
    """Locator, in one pass, of all messages and of the contents of some of them.

    Of repeated keys the last counts, as in JSON parsers.

    Args:
        wanted: Indexes of messages whose contents are located.
        key: Name of the top-level list of messages.
    """

    def __init__(self, wanted: Collection[int], key: str = "messages") -> None:
        self._wanted = wanted
        self._key = key
        self._text = ""
        self._content: Span | None = None
        self.starts: list[int] = []
        self.found: dict[int, Span | None] = {}

    def find(self, text: str) -> None:
        """Fill ``starts`` and ``found``.

        Raises:
            ValueError: If the text, or a wanted message, is not a JSON object.
        """
        self._text = text
        splice.walk_object(text, splice.root(text), self._on_top)

    def _on_top(self, key: str, at: int) -> int | None:
        if key != self._key:
            return None
        self.starts, self.found = [], {}
        return splice.walk_array(self._text, at, self._on_message)

    def _on_message(self, index: int, at: int) -> int | None:
        self.starts.append(at)
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


def append(
    body: bytes, insertions: Sequence[Insertion], contents_of: Callable[[Collection[int]], Contents], *, kind: str
) -> bytes:
    """Return the body with each text appended to its message's content; every other byte is unchanged.

    A string grows before its closing quote, a list gets a further part. If any of the messages is missing or has
    neither as its content, nothing is inserted, and the result is ``body`` itself.

    Args:
        body: Body of a request.
        insertions: Texts with their messages' indexes.
        contents_of: Returns a locator of message contents for this wire format.
        kind: Type of a text part.
    """
    if not insertions:
        return body
    texts: dict[int, list[str]] = {}
    for insertion in insertions:
        texts.setdefault(insertion.message_index, []).append(insertion.text)
    try:
        text = body.decode()
        contents = contents_of(texts)
        contents.find(text)
        edits = [_growth(text, contents.found[index], added, kind) for index, added in texts.items()]
    except (ValueError, LookupError, RecursionError):
        return body
    return splice.apply(body, text, edits)


def _growth(text: str, content: Span | None, added: Sequence[str], kind: str) -> Edit:
    """Return the edit that appends texts to a content."""
    if content is None or text[content.start] not in '"[':
        raise ValueError("no content that can grow")
    at = content.end - 1
    if text[content.start] == '"':
        return Edit(at, at, "".join(splice.quoted(one)[1:-1] for one in added))
    parts = ",".join(f'{{"type":"{kind}","text":{splice.quoted(one)}}}' for one in added)
    is_empty = not text[content.start + 1 : at].strip(" \t\n\r")
    return Edit(at, at, parts if is_empty else "," + parts)


def leave_out(body: bytes, drop: Collection[int], host: int, text: str, *, key: str, kind: str) -> bytes:
    """Return the body without some messages, or ``body`` itself if that is not possible.

    Args:
        body: Body of a request.
        drop: Indexes of the messages to remove; never the last one.
        host: Index of a message that remains.
        text: Text to prepend to the content of ``host``.
        key: Name of the top-level list of messages.
        kind: Type of a text part in a user's message.
    """
    if not drop and not text:
        return body
    try:
        whole = body.decode()
        contents = Contents({host}, key)
        contents.find(whole)
        edits = _removals(contents.starts, drop)
        if text:
            edits.append(_ahead(whole, contents.found[host], text, kind))
    except (ValueError, LookupError, RecursionError):
        return body
    return splice.apply(body, whole, edits)


def _removals(starts: list[int], drop: Collection[int]) -> list[Edit]:
    """Return an edit for each run of removed messages, up to the start of the next message."""
    edits: list[Edit] = []
    for index in sorted(drop):
        start, end = starts[index], starts[index + 1]
        if edits and edits[-1].end == start:
            start = edits.pop().start
        edits.append(Edit(start, end, ""))
    return edits


def _ahead(whole: str, content: Span | None, text: str, kind: str) -> Edit:
    if content is None or whole[content.start] not in '"[':
        raise ValueError("no content that can grow")
    at = content.start + 1
    if whole[content.start] == '"':
        return Edit(at, at, splice.quoted(text)[1:-1])
    is_empty = not whole[at : content.end - 1].strip(" \t\n\r")
    part = f'{{"type":"{kind}","text":{splice.quoted(text)}}}'
    return Edit(at, at, part if is_empty else part + ",")


def _parse_leniently(body: bytes) -> Any:
    """Parse JSON that orjson refuses but providers may accept: huge numbers, lone surrogates, a byte order mark."""
    try:
        return _without_surrogates(json.loads(body.decode("utf-8-sig"), parse_int=_integer, parse_constant=_refuse))
    except (ValueError, RecursionError) as error:
        raise InvalidJson(error) from error


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

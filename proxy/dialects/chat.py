"""OpenAI's chat completions: read a copy of the request, splice into the original."""

from __future__ import annotations

import json
from collections.abc import Collection, Sequence
from typing import Any, NoReturn

import orjson

from proxy.dialects import splice
from proxy.dialects.base import ChatRequest, Insertion, Message, Part
from proxy.dialects.chat_reply import ReplyAccumulator
from proxy.dialects.splice import Edit, Span
from proxy.dialects.sse import EndWatch
from proxy.errors import InvalidRequest, MissingModel, ProxyError

__all__ = ["EndWatch", "ReplyAccumulator", "accumulator", "ends", "error_body", "insert", "read", "replace_model"]


def read(body: bytes) -> ChatRequest:
    """Return a reading view of a body.

    Raises:
        InvalidRequest: If it is no JSON object.
        MissingModel: If it names no model; whether the messages are right is for the upstream to say.
    """
    parsed = _parse(body)
    model = parsed.get("model")
    if not isinstance(model, str) or not model:
        raise MissingModel("The body needs `model`, a string that names the model.", param="model")
    messages = parsed.get("messages")
    metadata = parsed.get("metadata")
    return ChatRequest(
        model=model,
        stream=parsed.get("stream") is True,
        messages=tuple(_message(i, one) for i, one in enumerate(messages)) if isinstance(messages, list) else (),
        user=_string_or_none(parsed.get("user")),
        safety_identifier=_string_or_none(parsed.get("safety_identifier")),
        prompt_cache_key=_string_or_none(parsed.get("prompt_cache_key")),
        metadata=metadata if isinstance(metadata, dict) else {},
        body=parsed,
    )


def insert(body: bytes, insertions: Sequence[Insertion]) -> bytes:
    """Return the body with each text appended to the content of its message; every other byte stays.

    A string grows before its closing quote, a list gets a further text part. Where any of the messages is missing
    or has no content that can grow, nothing is inserted and ``body`` itself comes back.
    """
    if not insertions:
        return body
    texts: dict[int, list[str]] = {}
    for insertion in insertions:
        texts.setdefault(insertion.message_index, []).append(insertion.text)
    try:
        text = body.decode()
        contents = _Contents(texts)
        contents.find(text)
        edits = [_growth(text, contents.found[index], added) for index, added in texts.items()]
    except (ValueError, LookupError, RecursionError):
        return body
    return splice.apply(body, text, edits)


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


def accumulator() -> ReplyAccumulator:
    """Return a fresh accumulator."""
    return ReplyAccumulator()


def ends(chunk: bytes) -> bool:
    """Whether a piece holds the whole terminal event; see ``EndWatch`` for streams cut anywhere."""
    return EndWatch().feed(chunk)


def error_body(error: ProxyError) -> bytes:
    """Return an error of ours in OpenAI's shape."""
    return orjson.dumps(error.body())


def _parse(body: bytes) -> dict[str, Any]:
    try:
        parsed = orjson.loads(body)
    except orjson.JSONDecodeError:
        parsed = _parse_leniently(body)
    if not isinstance(parsed, dict):
        raise InvalidRequest("The body must be a JSON object.")
    return parsed


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


def _message(index: int, raw: object) -> Message:
    if not isinstance(raw, dict):
        return Message(index, "")
    content, calls = raw.get("content"), raw.get("tool_calls")
    return Message(
        index=index,
        role=_string(raw.get("role")),
        parts=_parts(content),
        name=_string(raw.get("name")),
        tool_calls=tuple(call for call in calls if isinstance(call, dict)) if isinstance(calls, list) else (),
        tool_call_id=_string(raw.get("tool_call_id")),
        is_insertable=isinstance(content, str | list),
    )


def _parts(content: object) -> tuple[Part, ...]:
    if isinstance(content, str):
        return (Part("text", content),)
    if not isinstance(content, list):
        return ()
    return tuple(_part(one) for one in content)


def _part(raw: object) -> Part:
    if isinstance(raw, str):
        return Part("text", raw)
    if not isinstance(raw, dict):
        return Part("")
    kind = _string(raw.get("type"))
    return Part(kind, _string(raw.get("text")) if kind == "text" else "", raw)


def _string(value: object) -> str:
    return value if isinstance(value, str) else ""


def _string_or_none(value: object) -> str | None:
    return value if isinstance(value, str) and value else None


class _Contents:
    """Finds, in one pass, where the contents of some messages stand.

    Of repeated keys the last counts, as parsers have it.
    """

    def __init__(self, wanted: Collection[int]) -> None:
        self._wanted = wanted
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
        if key != "messages":
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


def _growth(text: str, content: Span | None, added: Sequence[str]) -> Edit:
    """Return the edit that appends texts to a content."""
    if content is None or text[content.start] not in '"[':
        raise ValueError("no content that can grow")
    at = content.end - 1
    if text[content.start] == '"':
        return Edit(at, at, "".join(splice.quoted(one)[1:-1] for one in added))
    parts = ",".join(f'{{"type":"text","text":{splice.quoted(one)}}}' for one in added)
    is_empty = not text[content.start + 1 : at].strip(" \t\n\r")
    return Edit(at, at, parts if is_empty else "," + parts)

"""OpenAI's Responses: parse a copy of the request, splice into the original, reassemble the reply."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from typing import Any

import orjson

from proxy.dialects import splice, sse
from proxy.dialects.attachments import RESPONSES
from proxy.dialects.base import ChatRequest, Message, Part
from proxy.dialects.body import (
    Contents,
    Insertion,
    append,
    leave_out,
    model_of,
    parse,
    replace_model,
    string,
    string_or_none,
)
from proxy.dialects.reply import Folding, Reply, Text, parsed
from proxy.dialects.responses_tool import RESPONSES_TOOL
from proxy.dialects.splice import Span
from proxy.dialects.sse import EventWatch
from proxy.errors import ProxyError
from proxy.events import Event

__all__ = ["accumulator", "condense", "end_watch", "error_body", "insert", "read", "replace_model", "tool", "wire"]

_TEXTS = frozenset({"text", "input_text", "output_text"})
_CALLS = frozenset({"function_call", "custom_tool_call"})
# Answers of the client's tools, or of its user at a prompt; nothing may come between an answer and its call.
_RESULTS = frozenset({"mcp_approval_response", "tool_search_output"})

wire = RESPONSES
tool = RESPONSES_TOOL

_HINTS = (b"response.completed", b"response.incomplete", b"response.failed", b"response.cancelled", b"error")
_ENDS = rb"response\.(?:completed|incomplete|failed|cancelled)"
# By the event's name, or by its type if a server sends no names; quotes inside strings are escaped.
_END = sse.Terminal(
    re.compile(
        rb"[\r\n](?:\xef\xbb\xbf)?event: ?(?:" + _ENDS + rb"|error)[ \t]*(?=[\r\n])"
        rb'|(?<!\\)"type"[ \t]*:[ \t]*"' + _ENDS + rb'"'
        rb'|[\r\n](?:\xef\xbb\xbf)?data: ?\{[ \t]*"type"[ \t]*:[ \t]*"error"'
    ),
    b"",
    80,
)
_TERMINAL = frozenset({"response.completed", "response.incomplete", "response.failed", "response.cancelled"})
# A background response ends elsewhere: on this connection it is complete.
_ANSWERED = frozenset({"completed", "incomplete", "queued", "in_progress"})


def read(body: bytes) -> ChatRequest:
    """Return a body as a ``ChatRequest``.

    A string ``input`` is one user message. Items of a list keep their indexes; items other than messages have their
    type as their role, and results of tools the role ``tool``.

    Raises:
        InvalidRequest: If it is not a JSON object.
        MissingModel: If its model is not a string; the upstream decides if one is needed, as a prompt may name it.
    """
    parsed = parse(body)
    conversation = _conversation(parsed.get("conversation"))
    return ChatRequest(
        model="" if parsed.get("model") is None else model_of(parsed),
        stream=parsed.get("stream") is True,
        messages=_messages(parsed.get("input")),
        prompt_cache_key=string_or_none(parsed.get("prompt_cache_key")),
        body=parsed,
        continues=string(parsed.get("previous_response_id")),
        conversation=conversation,
        is_kept=bool(conversation) or parsed.get("store") is not False,
    )


def insert(body: bytes, insertions: Sequence[Insertion]) -> bytes:
    """Return the body with each text appended to its message's content; every other byte is unchanged."""
    return append(body, insertions, _Contents, kind="input_text")


def condense(body: bytes, drop: Collection[int], host: int, text: str) -> bytes:
    """Return the body without messages ``drop``, a text prepended to ``host``; every other byte is unchanged."""
    return leave_out(body, drop, host, text, key="input", kind="input_text")


def accumulator() -> Folding:
    """Return a fresh accumulator."""
    return Folding(_Folded())


def end_watch() -> EventWatch:
    """Return a fresh detector of the end of a stream, which has no ``[DONE]``."""
    return EventWatch(_END, _HINTS)


def error_body(error: ProxyError, request_id: str = "") -> bytes:
    """Return a ProxyError in OpenAI's shape."""
    del request_id
    return orjson.dumps(error.body())


def _conversation(raw: object) -> str:
    return string(raw.get("id")) if isinstance(raw, dict) else string(raw)


def _messages(raw: object) -> tuple[Message, ...]:
    if isinstance(raw, str):
        return (Message(0, "user", (Part("text", raw),), is_insertable=True),)
    return tuple(_message(i, one) for i, one in enumerate(raw)) if isinstance(raw, list) else ()


def _message(index: int, raw: object) -> Message:
    if not isinstance(raw, dict):
        return Message(index, "")
    kind = string(raw.get("type"))
    if kind in ("", "message"):
        content = raw.get("content")
        return Message(index, string(raw.get("role")), _parts(content), is_insertable=isinstance(content, str | list))
    if kind in _CALLS:
        return Message(index, kind, tool_calls=(_call(raw),))
    if kind in _RESULTS or kind.endswith("_call_output"):
        return Message(index, "tool", _result(raw), tool_call_id=string(raw.get("call_id")))
    return Message(index, kind)


def _call(raw: Mapping[str, Any]) -> Mapping[str, Any]:
    arguments = raw.get("arguments", raw.get("input"))
    function = {"name": string(raw.get("name")), "arguments": string(arguments)}
    return {"id": string(raw.get("call_id")), "type": "function", "function": function}


def _result(raw: Mapping[str, Any]) -> tuple[Part, ...]:
    output = raw.get("output")
    if isinstance(output, str | list):
        return _parts(output)
    return (Part(string(raw.get("type")), data=raw),)


def _parts(content: object) -> tuple[Part, ...]:
    if isinstance(content, str):
        return (Part("text", content),)
    return tuple(_part(one) for one in content) if isinstance(content, list) else ()


def _part(raw: object) -> Part:
    if isinstance(raw, str):
        return Part("text", raw)
    if not isinstance(raw, dict):
        return Part("")
    kind = string(raw.get("type"))
    return Part("text", string(raw.get("text")), raw) if kind in _TEXTS else Part(kind, data=raw)


class _Contents(Contents):
    """Locator of contents if ``input`` may also be a string, the content of the only message."""

    def __init__(self, wanted: Collection[int]) -> None:
        super().__init__(wanted, "input")

    def _on_top(self, key: str, at: int) -> int | None:
        if key != "input" or self._text[at] != '"':
            return super()._on_top(key, at)
        self.found = {0: Span(at, splice.value_end(self._text, at))}
        return self.found[0].end if self.found[0] else None


class _Folded:
    """State of one reply while its pieces are added; a piece may be any JSON value."""

    def __init__(self) -> None:
        self._items: dict[object, _Item] = {}
        self._response: dict[str, Any] = {}
        self._status = ""
        self._error: Any = None

    def add_event(self, event: Event) -> None:
        said = parsed(event.data)
        if isinstance(said, dict):
            self._add(said)

    def _add(self, event: dict[str, Any]) -> None:
        kind = string(event.get("type"))
        response = event.get("response")
        if isinstance(response, dict):
            self._add_response(response)
            if kind in _TERMINAL:
                self._status = string(response.get("status")) or kind.partition(".")[2]
        if kind == "error":
            self._error = event.get("error") or {key: value for key, value in event.items() if key != "type"}
        elif kind.startswith("response."):
            self._add_piece(kind, event)

    def add_body(self, body: bytes) -> None:
        said = parsed(body)
        if isinstance(said, dict):
            self._add_whole(said)

    def _add_whole(self, body: dict[str, Any]) -> None:
        self._add_response(body)
        self._status = string(body.get("status")) or ("completed" if isinstance(body.get("output"), list) else "")

    @property
    def is_full(self) -> bool:
        return any(item.is_full for item in self._items.values())

    def reply(self, *, is_whole: bool) -> Reply:
        items = [self._items[place] for place in sorted(self._items, key=_order)]
        details = self._response.get("incomplete_details")
        usage = self._response.get("usage")
        return Reply(
            text="".join(item.text("output_text") for item in items),
            tool_calls=tuple(item.call() for item in items if item.is_call),
            finish_reason=(string(details.get("reason")) if isinstance(details, dict) else "") or self._status or None,
            refusal="".join(item.text("refusal") for item in items),
            usage=usage if isinstance(usage, dict) else None,
            model=string(self._response.get("model")),
            complete=self._status in _ANSWERED and is_whole and self._error is None,
            error=self._error,
            id=string(self._response.get("id")),
        )

    def _add_response(self, response: dict[str, Any]) -> None:
        self._response.update({key: value for key, value in response.items() if value is not None})
        if response.get("error") is not None:
            self._error = response["error"]
        output = response.get("output")
        for place, item in enumerate(output if isinstance(output, list) else ()):
            self._item(place).set(item)

    def _add_piece(self, kind: str, event: Mapping[str, Any]) -> None:
        item = self._item(event.get("output_index"))
        what, _, step = kind.removeprefix("response.").rpartition(".")
        if what == "output_item":
            item.set(event.get("item"))
        elif what in ("output_text", "refusal"):
            said = event.get("delta") if step == "delta" else event.get("text", event.get("refusal"))
            item.add(what, event.get("content_index"), string(said), is_whole=step == "done")
        elif what in ("function_call_arguments", "custom_tool_call_input"):
            said = event.get("delta") if step == "delta" else event.get("arguments", event.get("input"))
            item.add_arguments(string(said), is_whole=step == "done")

    def _item(self, place: object) -> _Item:
        return self._items.setdefault(place if isinstance(place, int) else -1, _Item())


class _Item:
    """One item of the output."""

    def __init__(self) -> None:
        self._texts: dict[tuple[str, int], Text] = {}
        self._head: Mapping[str, Any] = {}
        self._arguments = Text()

    @property
    def is_call(self) -> bool:
        return self._head.get("type") in ("function_call", "custom_tool_call")

    @property
    def is_full(self) -> bool:
        return any(text.is_full for text in self._texts.values())

    def set(self, raw: object) -> None:
        """Set the item as given; fields that it lacks keep the values that came in pieces."""
        if not isinstance(raw, dict):
            return
        self._head = raw
        self.add_arguments(string(raw.get("arguments", raw.get("input"))), is_whole=True)
        content = raw.get("content") if raw.get("type") == "message" else None
        for place, part in enumerate(content if isinstance(content, list) else ()):
            if isinstance(part, dict) and part.get("type") in ("output_text", "refusal"):
                kind = string(part["type"])
                self.add(kind, place, string(part.get("text" if kind == "output_text" else kind)), is_whole=True)

    def add(self, kind: str, place: object, said: str, *, is_whole: bool) -> None:
        text = self._texts.setdefault((kind, place if isinstance(place, int) else 0), Text())
        _take(text, said, is_whole=is_whole)

    def add_arguments(self, said: str, *, is_whole: bool) -> None:
        _take(self._arguments, said, is_whole=is_whole)

    def text(self, kind: str) -> str:
        return "".join(str(self._texts[key]) for key in sorted(self._texts) if key[0] == kind)

    def call(self) -> dict[str, Any]:
        function = {"name": string(self._head.get("name")), "arguments": str(self._arguments)}
        return {"id": string(self._head.get("call_id")), "type": "function", "function": function}


def _take(text: Text, said: str, *, is_whole: bool) -> None:
    """Add a piece, or replace the pieces by the whole text at the end; an empty whole text changes nothing."""
    if not is_whole:
        text.add(said)
    elif said:
        text.become(said)


def _order(place: object) -> int:
    return place if isinstance(place, int) else -1

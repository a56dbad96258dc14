"""OpenAI's chat completions: parse a copy of the request, splice into the original, reassemble the reply."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

import orjson

from proxy.dialects.attachments import CHAT
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
from proxy.dialects.chat_tool import CHAT_TOOL
from proxy.dialects.reply import MAX_BYTES, Folding, Reply, Text, parsed
from proxy.dialects.sse import EndWatch
from proxy.errors import ProxyError
from proxy.events import Event

__all__ = [
    "EndWatch",
    "accumulator",
    "condense",
    "end_watch",
    "error_body",
    "insert",
    "read",
    "replace_model",
    "tool",
    "wire",
]

wire = CHAT
tool = CHAT_TOOL


def read(body: bytes) -> ChatRequest:
    """Return a body as a ``ChatRequest``.

    Raises:
        InvalidRequest: If it is not a JSON object.
        MissingModel: If it names no model; the upstream validates the messages.
    """
    parsed = parse(body)
    messages = parsed.get("messages")
    return ChatRequest(
        model=model_of(parsed),
        stream=parsed.get("stream") is True,
        messages=tuple(_message(i, one) for i, one in enumerate(messages)) if isinstance(messages, list) else (),
        prompt_cache_key=string_or_none(parsed.get("prompt_cache_key")),
        body=parsed,
    )


def insert(body: bytes, insertions: Sequence[Insertion]) -> bytes:
    """Return the body with each text appended to its message's content; every other byte is unchanged."""
    return append(body, insertions, Contents, kind="text")


def condense(body: bytes, drop: Collection[int], host: int, text: str) -> bytes:
    """Return the body without messages ``drop``, a text prepended to ``host``; every other byte is unchanged."""
    return leave_out(body, drop, host, text, key="messages", kind="text")


def accumulator(max_bytes: int = MAX_BYTES) -> Folding:
    """Return a fresh accumulator."""
    return Folding(_Folded(), max_bytes)


def end_watch() -> EndWatch:
    """Return a fresh detector of a stream's terminal event."""
    return EndWatch()


def error_body(error: ProxyError, request_id: str = "") -> bytes:
    """Return a ProxyError in OpenAI's shape, which has no field for the request's id."""
    del request_id
    return orjson.dumps(error.body())


def _message(index: int, raw: object) -> Message:
    if not isinstance(raw, dict):
        return Message(index, "")
    content, calls = raw.get("content"), raw.get("tool_calls")
    return Message(
        index=index,
        role=string(raw.get("role")),
        parts=_parts(content),
        name=string(raw.get("name")),
        tool_calls=tuple(call for call in calls if isinstance(call, dict)) if isinstance(calls, list) else (),
        tool_call_id=string(raw.get("tool_call_id")),
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
    kind = string(raw.get("type"))
    return Part(kind, string(raw.get("text")) if kind == "text" else "", raw)


class _Folded:
    """State of one reply while its pieces are added; a piece may be any JSON value."""

    def __init__(self) -> None:
        self._text = Text()
        self._refusal = Text()
        self._calls: dict[object, _Call] = {}
        self._finish_reason: str | None = None
        self._usage: Mapping[str, Any] | None = None
        self._model = ""
        self._id = ""
        self._error: Any = None
        self._has_ended = False

    def add_event(self, event: Event) -> None:
        if event.data.strip() == b"[DONE]":
            self._has_ended = True
            return
        self._add(parsed(event.data), "delta")

    def add_body(self, body: bytes) -> None:
        whole = parsed(body)
        self._has_ended = isinstance(whole, dict) and bool(whole.get("choices"))
        self._add(whole, "message")

    @property
    def is_full(self) -> bool:
        return self._text.is_full

    def reply(self, *, is_whole: bool) -> Reply:
        ended = self._has_ended or self._finish_reason is not None
        return Reply(
            text=str(self._text),
            tool_calls=tuple(call.shown() for call in self._calls.values()),
            finish_reason=self._finish_reason,
            refusal=str(self._refusal),
            usage=self._usage,
            model=self._model,
            complete=ended and is_whole and self._error is None,
            error=self._error,
            id=self._id,
        )

    def _add(self, chunk: object, key: str) -> None:
        if not isinstance(chunk, dict):
            return
        if chunk.get("error") is not None:
            self._error = chunk["error"]
        if isinstance(chunk.get("model"), str):
            self._model = self._model or chunk["model"]
        self._id = self._id or string(chunk.get("id"))
        if isinstance(chunk.get("usage"), dict):
            self._usage = chunk["usage"]
        choices = chunk.get("choices")
        for choice in choices if isinstance(choices, list) else ():
            if isinstance(choice, dict) and choice.get("index", 0) == 0:
                self._add_choice(choice, key)

    def _add_choice(self, choice: Mapping[str, Any], key: str) -> None:
        if isinstance(choice.get("finish_reason"), str):
            self._finish_reason = choice["finish_reason"]
        said = choice.get(key)
        if not isinstance(said, dict):
            return
        self._text.add(_text(said.get("content")))
        if isinstance(said.get("refusal"), str):
            self._refusal.add(said["refusal"])
        calls = said.get("tool_calls")
        for place, call in enumerate(calls if isinstance(calls, list) else ()):
            self._add_call(call, place if key == "message" else None)
        if isinstance(said.get("function_call"), dict):
            self._add_call({"function": said["function_call"]}, "legacy")

    def _add_call(self, call: object, place: object) -> None:
        if not isinstance(call, dict):
            return
        if place is None:
            index = call.get("index")
            place = index if isinstance(index, int) else len(self._calls) if call.get("id") else len(self._calls) - 1
        kept = self._calls.setdefault(place, _Call())
        kept.id = kept.id or string(call.get("id"))
        function = call.get("function")
        if isinstance(function, dict):
            kept.name.add(string(function.get("name")))
            kept.arguments.add(string(function.get("arguments")))


class _Call:
    """One tool call."""

    def __init__(self) -> None:
        self.id = ""
        self.name = Text()
        self.arguments = Text()

    def shown(self) -> dict[str, Any]:
        function = {"name": str(self.name), "arguments": str(self.arguments)}
        return {"id": self.id, "type": "function", "function": function}


def _text(content: object) -> str:
    if isinstance(content, str):
        return content
    if not isinstance(content, list):
        return ""
    # Some providers answer in parts; their thinking parts do not belong to the answer.
    parts = [part for part in content if isinstance(part, dict) and part.get("type") == "text"]
    return "".join(part["text"] for part in parts if isinstance(part.get("text"), str))

"""OpenAI's Responses: read a copy of the request, splice into the original."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

import orjson

from proxy.dialects import condense as condensing
from proxy.dialects import splice
from proxy.dialects.append import append
from proxy.dialects.attachments import RESPONSES
from proxy.dialects.base import ChatRequest, Insertion, Message, Part
from proxy.dialects.body import Contents, model_of, parse, replace_model, string, string_or_none
from proxy.dialects.responses_reply import END, HINTS, ReplyAccumulator
from proxy.dialects.responses_tool import RESPONSES_TOOL
from proxy.dialects.splice import Span
from proxy.dialects.sse import EventWatch
from proxy.errors import ProxyError

__all__ = ["accumulator", "condense", "end_watch", "error_body", "insert", "read", "replace_model", "tool", "wire"]

_TEXTS = frozenset({"text", "input_text", "output_text"})
_CALLS = frozenset({"function_call", "custom_tool_call"})
# What the client's own tools, or its user at a prompt, answered; nothing may come between it and its call.
_RESULTS = frozenset({"mcp_approval_response", "tool_search_output"})

wire = RESPONSES
tool = RESPONSES_TOOL


def read(body: bytes) -> ChatRequest:
    """Return a reading view of a body.

    A string ``input`` is one user message. Items of a list keep their places; those that are no messages have their
    type as their role, results of tools the role ``tool``.

    Raises:
        InvalidRequest: If it is no JSON object.
        MissingModel: If its model is no name; whether one is needed (a prompt may name it) is for the upstream to say.
    """
    parsed = parse(body)
    metadata = parsed.get("metadata")
    conversation = _conversation(parsed.get("conversation"))
    return ChatRequest(
        model="" if parsed.get("model") is None else model_of(parsed),
        stream=parsed.get("stream") is True,
        messages=_messages(parsed.get("input")),
        user=string_or_none(parsed.get("user")),
        safety_identifier=string_or_none(parsed.get("safety_identifier")),
        prompt_cache_key=string_or_none(parsed.get("prompt_cache_key")),
        metadata=metadata if isinstance(metadata, dict) else {},
        body=parsed,
        continues=string(parsed.get("previous_response_id")),
        conversation=conversation,
        is_kept=bool(conversation) or parsed.get("store") is not False,
    )


def insert(body: bytes, insertions: Sequence[Insertion]) -> bytes:
    """Return the body with each text appended to the content of its message; every other byte stays."""
    return append(body, insertions, _Contents, kind="input_text")


def condense(body: bytes, drop: Collection[int], host: int, text: str) -> bytes:
    """Return the body without some messages and with a text in front of one that stays; every other byte stays."""
    return condensing.condense(body, drop, host, text, key="input", kind="input_text")


def accumulator() -> ReplyAccumulator:
    """Return a fresh accumulator."""
    return ReplyAccumulator()


def end_watch() -> EventWatch:
    """Return a fresh watch for the end of a stream, which has no ``[DONE]``."""
    return EventWatch(END, HINTS)


def error_body(error: ProxyError, request_id: str = "") -> bytes:
    """Return an error of ours in OpenAI's shape."""
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
    """Finds contents where ``input`` may be a string as well, the content of its only message."""

    def __init__(self, wanted: Collection[int]) -> None:
        super().__init__(wanted, "input")

    def _on_top(self, key: str, at: int) -> int | None:
        if key != "input" or self._text[at] != '"':
            return super()._on_top(key, at)
        self.found = {0: Span(at, splice.value_end(self._text, at))}
        return self.found[0].end if self.found[0] else None

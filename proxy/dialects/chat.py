"""OpenAI's chat completions: read a copy of the request, splice into the original."""

from __future__ import annotations

from collections.abc import Collection, Sequence

import orjson

from proxy.dialects import condense as condensing
from proxy.dialects.append import append
from proxy.dialects.attachments import CHAT
from proxy.dialects.base import ChatRequest, Insertion, Message, Part
from proxy.dialects.body import Contents, model_of, parse, replace_model, string, string_or_none
from proxy.dialects.chat_reply import ReplyAccumulator
from proxy.dialects.chat_tool import CHAT_TOOL
from proxy.dialects.sse import EndWatch
from proxy.errors import ProxyError

__all__ = [
    "EndWatch",
    "ReplyAccumulator",
    "accumulator",
    "condense",
    "end_watch",
    "ends",
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
    """Return a reading view of a body.

    Raises:
        InvalidRequest: If it is no JSON object.
        MissingModel: If it names no model; whether the messages are right is for the upstream to say.
    """
    parsed = parse(body)
    messages = parsed.get("messages")
    metadata = parsed.get("metadata")
    return ChatRequest(
        model=model_of(parsed),
        stream=parsed.get("stream") is True,
        messages=tuple(_message(i, one) for i, one in enumerate(messages)) if isinstance(messages, list) else (),
        user=string_or_none(parsed.get("user")),
        safety_identifier=string_or_none(parsed.get("safety_identifier")),
        prompt_cache_key=string_or_none(parsed.get("prompt_cache_key")),
        metadata=metadata if isinstance(metadata, dict) else {},
        body=parsed,
    )


def insert(body: bytes, insertions: Sequence[Insertion]) -> bytes:
    """Return the body with each text appended to the content of its message; every other byte stays."""
    return append(body, insertions, Contents, kind="text")


def condense(body: bytes, drop: Collection[int], host: int, text: str) -> bytes:
    """Return the body without some messages and with a text in front of one that stays; every other byte stays."""
    return condensing.condense(body, drop, host, text, key="messages", kind="text")


def accumulator() -> ReplyAccumulator:
    """Return a fresh accumulator."""
    return ReplyAccumulator()


def end_watch() -> EndWatch:
    """Return a fresh watch for the terminal event of a stream."""
    return EndWatch()


def ends(chunk: bytes) -> bool:
    """Whether a piece holds the whole terminal event; see ``EndWatch`` for streams cut anywhere."""
    return EndWatch().feed(chunk)


def error_body(error: ProxyError, request_id: str = "") -> bytes:
    """Return an error of ours in OpenAI's shape, which has no place for the request's id."""
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

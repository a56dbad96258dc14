"""Translate a chat completion to an Anthropic message: whole, or chunk by chunk to events, block after block."""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

import orjson

from proxy.events import EventSplitter

_REASONS = {
    "stop": "end_turn",
    "length": "max_tokens",
    "tool_calls": "tool_use",
    "function_call": "tool_use",
    "content_filter": "refusal",
}
_ERRORS = {
    400: "invalid_request_error",
    401: "authentication_error",
    402: "billing_error",
    403: "permission_error",
    404: "not_found_error",
    413: "request_too_large",
    422: "invalid_request_error",
    429: "rate_limit_error",
    503: "overloaded_error",
    504: "timeout_error",
    529: "overloaded_error",
}
_CUT = {"message": "The provider's stream ended before its reply did. Send the request again."}


def message_of(completion: Mapping[str, Any], *, thinks: bool) -> dict[str, Any]:
    """Return a chat completion as a message.

    Args:
        completion: Parsed completion; only its first choice counts.
        thinks: Whether the client enabled thinking, so that thinking blocks are included.
    """
    choices = completion.get("choices")
    choice = choices[0] if isinstance(choices, list) and choices and isinstance(choices[0], Mapping) else {}
    said = _dict(choice.get("message"))
    content = _thoughts(said) if thinks else []
    text = text_of(said.get("content")) or text_of(said.get("refusal"))
    content += [{"type": "text", "text": text}] if text else []
    content += [_tool_use(call) for call in listed(said.get("tool_calls"))]
    reason = stop_reason(
        choice.get("finish_reason"), has_calls=bool(said.get("tool_calls")), refuses=bool(said.get("refusal"))
    )
    return {
        **head(completion),
        "content": content,
        "stop_reason": reason,
        "stop_sequence": None,
        "usage": usage_of(completion.get("usage")),
    }


def head(completion: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields before the content."""
    given = completion.get("id")
    name = given if isinstance(given, str) and given else secrets.token_hex(12)
    named = name if name.startswith("msg_") else f"msg_{name}"
    return {"id": named, "type": "message", "role": "assistant", "model": completion.get("model") or ""}


def stop_reason(finish_reason: object, *, has_calls: bool, refuses: bool) -> str:
    """Return Anthropic's stop reason; some servers send ``stop`` together with tool calls."""
    if refuses:
        return "refusal"
    reason = _REASONS.get(str(finish_reason), "end_turn")
    return "tool_use" if has_calls and reason == "end_turn" else reason


def usage_of(counted: object) -> dict[str, Any]:
    """Return the usage in Anthropic's shape, which counts cached tokens separately."""
    given = _dict(counted)
    read = _count(_dict(given.get("prompt_tokens_details")).get("cached_tokens"))
    written = _count(given.get("cache_creation_input_tokens"))
    return {
        "input_tokens": max(0, _count(given.get("prompt_tokens")) - read - written),
        "cache_creation_input_tokens": written,
        "cache_read_input_tokens": read,
        "output_tokens": _count(given.get("completion_tokens")),
    }


def error_of(status: int, body: bytes, request_id: str | None) -> bytes:
    """Return a provider's error in Anthropic's shape, with the provider's message."""
    shaped: dict[str, Any] = {"type": "error", "error": error_object(status, parsed(body) or body)}
    return orjson.dumps({**shaped, "request_id": request_id} if request_id else shaped)


def error_object(status: int, given: object) -> dict[str, Any]:
    """Return the inner object of an error.

    Args:
        status: HTTP status, which decides the error's type.
        given: ``{"error": …}`` in any of its shapes, or other bytes.
    """
    inner = given.get("error", given) if isinstance(given, Mapping) else given
    message = inner.get("message") if isinstance(inner, Mapping) else inner
    if isinstance(message, bytes):
        message = message[:2000].decode("utf-8", "replace")
    kind = _ERRORS.get(status, "invalid_request_error" if status < 500 else "api_error")
    made: dict[str, Any] = {"type": kind, "message": str(message or f"The provider answered {status}.")}
    code = inner.get("code") if isinstance(inner, Mapping) else None
    return {**made, "details": {"error_code": code}} if isinstance(code, str) and code else made


def parsed(body: bytes) -> Any:
    """Return the value of a JSON text, None if it is not valid."""
    try:
        return orjson.loads(body)
    except orjson.JSONDecodeError:
        return None


def text_of(content: object) -> str:
    """Return the text of a message's or a delta's content; some servers answer in parts."""
    if isinstance(content, str):
        return content
    return "".join(
        part["text"] for part in listed(content) if part.get("type") == "text" and isinstance(part.get("text"), str)
    )


def thought_of(said: Mapping[str, Any]) -> str:
    """Return the thinking text in a message or a delta, under any of the servers' field names."""
    given = said.get("reasoning_content") or said.get("reasoning")
    if isinstance(given, str):
        return given
    parts = [part for part in listed(said.get("content")) if part.get("type") == "thinking"]
    return "".join(text_of(part.get("thinking")) for part in parts)


def listed(value: object) -> list[Mapping[str, Any]]:
    """Return the objects in a list; empty if the value is not a list."""
    return [one for one in value if isinstance(one, Mapping)] if isinstance(value, list) else []


def _thoughts(said: Mapping[str, Any]) -> list[dict[str, Any]]:
    signed = [dict(block) for block in listed(said.get("thinking_blocks"))]
    if signed:
        return signed
    thought = thought_of(said)
    return [{"type": "thinking", "thinking": thought, "signature": ""}] if thought else []


def _tool_use(call: Mapping[str, Any]) -> dict[str, Any]:
    function = _dict(call.get("function"))
    arguments = parsed(str(function.get("arguments") or "{}").encode("utf-8", "replace"))
    name = call.get("id") or f"toolu_{secrets.token_hex(12)}"
    made = {"type": "tool_use", "id": name, "name": function.get("name") or ""}
    return {**made, "input": arguments if isinstance(arguments, dict) else {"arguments": function.get("arguments")}}


def _dict(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _count(value: object) -> int:
    return value if isinstance(value, int) else 0


@dataclass(slots=True)
class _Block:
    """An open block of the message."""

    kind: Literal["text", "thinking", "tool_use"]
    index: int
    arguments: str = ""


class MessageWriter:
    """Writer of the events of one message.

    Args:
        thinks: Whether the client enabled thinking, so that thinking blocks are included.
    """

    def __init__(self, *, thinks: bool) -> None:
        self._thinks = thinks
        self._splitter = EventSplitter()
        self._open: list[_Block] = []
        self._calls: dict[int, _Block] = {}
        self._next = 0
        self._has_begun = False
        self._refuses = False
        self._finish: object = None
        self._usage: object = None
        self._has_ended = False

    def feed(self, chunk: bytes) -> bytes:
        """Return the events for a further chunk of the stream."""
        return b"".join(self._event(event.data) for event in self._splitter.feed(chunk))

    def close(self) -> bytes:
        """Return the last events; an error event if the stream ended before its reply did."""
        return b"".join(self._event(event.data) for event in self._splitter.close()) + self._end()

    def _event(self, data: bytes) -> bytes:
        if self._has_ended:
            return b""
        if data.strip() == b"[DONE]":
            return self._end()
        chunk = parsed(data)
        if not isinstance(chunk, Mapping):
            return b""
        if chunk.get("error") is not None:
            return self._fail(chunk)
        return self._begin(chunk) + self._chunk(chunk)

    def _begin(self, chunk: Mapping[str, Any]) -> bytes:
        if self._has_begun:
            return b""
        self._has_begun = True
        usage = usage_of(chunk.get("usage"))
        return _event(
            "message_start",
            message={**head(chunk), "content": [], "stop_reason": None, "stop_sequence": None, "usage": usage},
        )

    def _chunk(self, chunk: Mapping[str, Any]) -> bytes:
        self._usage = chunk.get("usage") or self._usage
        made = b""
        for choice in listed(chunk.get("choices")):
            if choice.get("index", 0) == 0:
                delta = choice.get("delta")
                made += self._delta(delta) if isinstance(delta, Mapping) else b""
                self._finish = choice.get("finish_reason") or self._finish
        return made

    def _delta(self, delta: Mapping[str, Any]) -> bytes:
        made = self._thought(delta) if self._thinks else b""
        refusal = text_of(delta.get("refusal"))
        self._refuses = self._refuses or bool(refusal)
        text = text_of(delta.get("content")) + refusal
        if text:
            opened, block = self._turn_to("text", {"type": "text", "text": ""})
            made += opened + _delta_event(block, {"type": "text_delta", "text": text})
        for place, call in enumerate(listed(delta.get("tool_calls"))):
            made += self._call(place, call)
        return made

    def _thought(self, delta: Mapping[str, Any]) -> bytes:
        made, thought = b"", thought_of(delta)
        if thought:
            opened, block = self._turn_to("thinking", {"type": "thinking", "thinking": "", "signature": ""})
            made += opened + _delta_event(block, {"type": "thinking_delta", "thinking": thought})
        signatures = [one["signature"] for one in listed(delta.get("thinking_blocks")) if one.get("signature")]
        for signature in signatures:
            if self._open and self._open[-1].kind == "thinking":
                made += _delta_event(self._open[-1], {"type": "signature_delta", "signature": signature})
                made += self._stop(self._open[-1])
        return made

    def _call(self, place: int, call: Mapping[str, Any]) -> bytes:
        index = call.get("index")
        number = index if isinstance(index, int) else place
        function = call.get("function")
        function = function if isinstance(function, Mapping) else {}
        made, block = b"", self._calls.get(number)
        if block is None:
            made, block = self._open_call(number, call.get("id"), function.get("name"))
        arguments = function.get("arguments")
        if isinstance(arguments, str) and arguments and block in self._open:
            block.arguments += arguments
            made += _delta_event(block, {"type": "input_json_delta", "partial_json": arguments})
        return made

    def _open_call(self, number: int, name: object, function: object) -> tuple[bytes, _Block]:
        """Open a block for a call; earlier calls stay open only while their arguments are incomplete."""
        done = [one for one in self._open if one.kind != "tool_use" or parsed(one.arguments.encode()) is not None]
        made = b"".join(self._stop(one) for one in done)
        content = {"type": "tool_use", "id": name or f"toolu_{secrets.token_hex(12)}", "name": function or ""}
        block = self._calls[number] = _Block("tool_use", self._next)
        return made + self._start(block, {**content, "input": {}}), block

    def _turn_to(self, kind: Literal["text", "thinking"], content: Mapping[str, Any]) -> tuple[bytes, _Block]:
        """Return the open block of a kind, and the events by which it becomes the only open one."""
        if self._open and self._open[-1].kind == kind:
            return b"", self._open[-1]
        made = b"".join(self._stop(one) for one in list(self._open))
        block = _Block(kind, self._next)
        return made + self._start(block, content), block

    def _start(self, block: _Block, content: Mapping[str, Any]) -> bytes:
        self._next += 1
        self._open.append(block)
        return _event("content_block_start", index=block.index, content_block=content)

    def _stop(self, block: _Block) -> bytes:
        self._open.remove(block)
        return _event("content_block_stop", index=block.index)

    def _end(self) -> bytes:
        if self._has_ended:
            return b""
        if not self._has_begun or self._finish is None:
            return self._fail({"error": _CUT})
        self._has_ended = True
        stops = b"".join(self._stop(one) for one in list(self._open))
        reason = stop_reason(self._finish, has_calls=bool(self._calls), refuses=self._refuses)
        delta = {"stop_reason": reason, "stop_sequence": None}
        return stops + _event("message_delta", delta=delta, usage=usage_of(self._usage)) + _event("message_stop")

    def _fail(self, chunk: Mapping[str, Any]) -> bytes:
        self._has_ended = True
        return _event("error", error=error_object(500, chunk))


def _delta_event(block: _Block, delta: Mapping[str, Any]) -> bytes:
    return _event("content_block_delta", index=block.index, delta=delta)


def _event(kind: str, **fields: Any) -> bytes:
    return b"event: %s\ndata: %s\n\n" % (kind.encode(), orjson.dumps({"type": kind, **fields}))

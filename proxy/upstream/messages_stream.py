"""From a stream of chat completion chunks to the events of a message, one block after the other."""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

import orjson

from proxy.events import EventSplitter
from proxy.upstream.messages_reply import (
    error_object,
    head,
    listed,
    parsed,
    stop_reason,
    text_of,
    thought_of,
    usage_of,
)

_CUT = {"message": "The provider's stream ended before its reply did. Send the request again."}


@dataclass(slots=True)
class _Block:
    """A block of the message while it is open."""

    kind: Literal["text", "thinking", "tool_use"]
    index: int
    arguments: str = ""


class MessageWriter:
    """Writes the events of one message.

    Args:
        thinks: Whether the client asked for thoughts, and gets them.
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
        """Return the events that a further piece of the stream brings."""
        return b"".join(self._event(event.data) for event in self._splitter.feed(chunk))

    def close(self) -> bytes:
        """Return what is left when the stream has ended; one that ended before its reply ends with an error."""
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
        """Open a block for a call; calls before it stay open only while their arguments are still coming."""
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

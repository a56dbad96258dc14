"""Replies of the fake provider on Anthropic's wire: whole messages and stream events."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import orjson

from tests.fakes.provider import Seen
from tests.fakes.replies import Reply, anthropic_event, json_reply

_numbers = itertools.count(1)

LIMITS = (
    ("anthropic-ratelimit-requests-remaining", "49"),
    ("anthropic-ratelimit-tokens-remaining", "39000"),
    ("anthropic-organization-id", "org-fake"),
)


@dataclass(frozen=True)
class Said:
    """Content and form of a reply.

    Args:
        text: No text block if empty.
        calls: ``{"id", "name", "input"}`` of tools, after the text.
        thought: A signed thinking block before the text.
        pieces: Number of deltas per text.
        signature: Signature of the thinking block.
    """

    text: str = "All right."
    calls: Sequence[Mapping[str, Any]] = ()
    thought: str = ""
    pieces: int = 3
    signature: str = "EqQBCgIYAhIM1gbcDa9GJwZA2b3h"

    @property
    def blocks(self) -> list[dict[str, Any]]:
        made: list[dict[str, Any]] = []
        if self.thought:
            made.append({"type": "thinking", "thinking": self.thought, "signature": self.signature})
        if self.text:
            made.append({"type": "text", "text": self.text})
        return [*made, *({"type": "tool_use", **call} for call in self.calls)]


def reply(said: Said, asked: Mapping[str, Any], **more: Any) -> Reply:
    """Return the reply to a request, streamed if requested, with Anthropic's headers and additional members."""
    name = f"msg_{next(_numbers):08x}"
    usage = {
        "input_tokens": 12,
        "cache_creation_input_tokens": 0,
        "cache_read_input_tokens": 0,
        "output_tokens": 7,
        "service_tier": "standard",
    }
    message = {
        "model": asked.get("model", "claude-fake"),
        "id": name,
        "type": "message",
        "role": "assistant",
        "content": said.blocks,
        "stop_reason": "tool_use" if said.calls else "end_turn",
        "stop_sequence": None,
        "usage": usage,
        **more,
    }
    named = (("request-id", f"req_{name}"), *LIMITS)
    if not asked.get("stream"):
        return json_reply(message, headers=(("Content-Type", "application/json"), *named))
    events = _events(message, said.pieces)
    return Reply(
        [anthropic_event(one) for one in events],
        headers=(("Content-Type", "text/event-stream; charset=utf-8"), ("Cache-Control", "no-cache"), *named),
    )


def error(status: int, kind: str, message: str = "no", **headers: str) -> Reply:
    """Return an error in Anthropic's shape; keyword ``retry_after="2"`` becomes the header ``retry-after``."""
    body = {"type": "error", "error": {"type": kind, "message": message}, "request_id": "req_error"}
    extra = tuple((name.replace("_", "-"), value) for name, value in headers.items())
    return json_reply(body, status, (("Content-Type", "application/json"), ("request-id", "req_error"), *extra))


def agreeing(seen: Seen) -> Reply | None:
    """Reply to ``POST /v1/messages`` without a word of the question."""
    return reply(Said(), seen.json) if seen.path.endswith("/messages") else None


def _events(message: dict[str, Any], pieces: int) -> list[dict[str, Any]]:
    started = {**message["usage"], "output_tokens": 1}
    begun = {**message, "content": [], "stop_reason": None, "usage": started}
    events: list[dict[str, Any]] = [{"type": "message_start", "message": begun}]
    for index, block in enumerate(message["content"]):
        events += [{"type": "content_block_start", "index": index, "content_block": _empty(block)}]
        events += [{"type": "ping"}] if index == 0 else []
        deltas = _deltas(block, pieces)
        events += [{"type": "content_block_delta", "index": index, "delta": delta} for delta in deltas]
        events.append({"type": "content_block_stop", "index": index})
    ended = {"stop_reason": message["stop_reason"], "stop_sequence": None}
    return [*events, {"type": "message_delta", "delta": ended, "usage": message["usage"]}, {"type": "message_stop"}]


def _empty(block: Mapping[str, Any]) -> dict[str, Any]:
    """Return a block as it starts in a stream, with empty content."""
    blanks = {"text": "", "thinking": "", "signature": "", "input": {}}
    return {key: blanks.get(key, value) for key, value in block.items()}


def _deltas(block: Mapping[str, Any], pieces: int) -> list[dict[str, Any]]:
    if block["type"] == "text":
        return [{"type": "text_delta", "text": piece} for piece in _cut(block["text"], pieces)]
    if block["type"] == "thinking":
        thoughts = [{"type": "thinking_delta", "thinking": piece} for piece in _cut(block["thinking"], pieces)]
        return [*thoughts, {"type": "signature_delta", "signature": block["signature"]}]
    arguments = orjson.dumps(block["input"]).decode()
    return [{"type": "input_json_delta", "partial_json": piece} for piece in ("", *_cut(arguments, pieces))]


def _cut(text: str, pieces: int) -> list[str]:
    size = max(1, -(-len(text) // pieces))
    return [text[at : at + size] for at in range(0, len(text), size)]

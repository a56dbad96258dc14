"""Anthropic's messages of the acting provider."""

from __future__ import annotations

from typing import Any

import orjson

from tests.fakes import replies
from tests.fakes.acts import Act, Asked, images, pieces, texts
from tests.fakes.replies import SSE_HEADERS, Reply

_USAGE = {
    "input_tokens": 11,
    "output_tokens": 5,
    "cache_creation": None,
    "cache_creation_input_tokens": 0,
    "cache_read_input_tokens": 0,
    "inference_geo": None,
    "output_tokens_details": None,
    "server_tool_use": None,
    "service_tier": "standard",
}


def asked(body: dict[str, Any]) -> Asked:
    users = [one for one in body.get("messages") or [] if one.get("role") == "user"]
    content = users[-1].get("content") if users else ""
    blocks = content if isinstance(content, list) else []
    results = [texts(block.get("content")) for block in blocks if block.get("type") == "tool_result"]
    choice = body.get("tool_choice") or {}
    shape = (body.get("output_config") or {}).get("format") or body.get("output_format") or {}
    return Asked(
        texts(content),
        images(content),
        tuple(results),
        {tool["name"]: tool.get("input_schema") or {} for tool in body.get("tools") or []},
        choice.get("name") or choice.get("type", ""),
        shape.get("schema") if shape.get("type") == "json_schema" else None,
    )


def reply(act: Act, body: dict[str, Any]) -> Reply:
    blocks: list[dict[str, Any]] = [
        {
            "type": "tool_use",
            "caller": {"type": "direct"},
            "id": call.id,
            "name": call.name,
            "input": orjson.loads(call.arguments),
        }
        for call in act.calls
    ] or [{"type": "text", "text": act.text, "citations": None}]
    message = {
        "id": f"msg_{len(body.get('messages') or [])}",  # clients merge messages of one id
        "type": "message",
        "role": "assistant",
        "model": body["model"],
        "content": blocks,
        "stop_reason": "tool_use" if act.calls else "end_turn",
        "stop_sequence": None,
        "stop_details": None,
        "container": None,
        "usage": _USAGE,
    }
    if not body.get("stream"):
        return replies.json_reply(message)
    events: list[dict[str, Any]] = [
        {"type": "message_start", "message": {**message, "content": [], "stop_reason": None}},
        *(event for at, block in enumerate(blocks) for event in _block(at, block)),
        {
            "type": "message_delta",
            "delta": {"stop_reason": message["stop_reason"], "stop_sequence": None},
            "usage": _USAGE,
        },
        {"type": "message_stop"},
    ]
    return Reply([replies.anthropic_event(event) for event in events], headers=SSE_HEADERS)


def _block(index: int, block: dict[str, Any]) -> list[dict[str, Any]]:
    is_text = block["type"] == "text"
    empty = {**block, **({"text": ""} if is_text else {"input": {}})}
    whole = block["text"] if is_text else orjson.dumps(block["input"]).decode()
    kind, key = ("text_delta", "text") if is_text else ("input_json_delta", "partial_json")
    deltas = [
        {"type": "content_block_delta", "index": index, "delta": {"type": kind, key: one}} for one in pieces(whole)
    ]
    return [
        {"type": "content_block_start", "index": index, "content_block": empty},
        *deltas,
        {"type": "content_block_stop", "index": index},
    ]

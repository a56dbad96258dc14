"""Responses of the acting provider."""

from __future__ import annotations

from typing import Any

import orjson

from tests.fakes import replies
from tests.fakes.acts import Act, Asked, images, pieces, texts
from tests.fakes.replies import SSE_HEADERS, Reply

_USAGE = {
    "input_tokens": 9,
    "input_tokens_details": {"cached_tokens": 0},
    "output_tokens": 7,
    "output_tokens_details": {"reasoning_tokens": 0},
    "total_tokens": 16,
}


def asked(body: dict[str, Any]) -> Asked:
    given = body.get("input") or []
    items = [{"role": "user", "content": given}] if isinstance(given, str) else list(given)
    results = []
    while items and items[-1].get("type") == "function_call_output":
        results.insert(0, texts(items.pop().get("output")))
    users = [one for one in items if one.get("role") == "user"]
    content = users[-1].get("content") if users else ""
    tools = [one for one in body.get("tools") or [] if one.get("type") == "function"]
    choice = body.get("tool_choice") or ""
    shape = (body.get("text") or {}).get("format") or {}
    schema = {"type": "object", "properties": {}} if shape.get("type") == "json_object" else None
    return Asked(
        texts(content),
        images(content),
        tuple(results),
        {tool["name"]: tool.get("parameters") or {} for tool in tools},
        choice if isinstance(choice, str) else choice.get("name", ""),
        shape.get("schema", {}) if shape.get("type") == "json_schema" else schema,
    )


def reply(act: Act, body: dict[str, Any]) -> Reply:
    whole = _response(body, _items(act))
    if not body.get("stream"):
        return replies.json_reply(whole)
    numbered = [{**event, "sequence_number": at} for at, event in enumerate(_events(act, body, whole))]
    events = [b"event: " + one["type"].encode() + b"\ndata: " + orjson.dumps(one) + b"\n\n" for one in numbered]
    return Reply(events, headers=SSE_HEADERS)


def _response(body: dict[str, Any], output: list[dict[str, Any]] | None) -> dict[str, Any]:
    done = output is not None
    return {
        "id": "resp_fake",
        "object": "response",
        "created_at": 1_700_000_000,
        "completed_at": 1_700_000_001 if done else None,
        "status": "completed" if done else "in_progress",
        "background": False,
        "error": None,
        "incomplete_details": None,
        "instructions": body.get("instructions"),
        "max_output_tokens": None,
        "max_tool_calls": None,
        "presence_penalty": 0.0,
        "frequency_penalty": 0.0,
        "prompt_cache_key": None,
        "safety_identifier": None,
        "top_logprobs": 0,
        "model": body["model"],
        "output": output or [],
        "parallel_tool_calls": True,
        "previous_response_id": body.get("previous_response_id"),
        "reasoning": {"effort": None, "summary": None},
        "service_tier": "default",
        "store": True,
        "temperature": 1.0,
        "text": body.get("text") or {"format": {"type": "text"}},
        "tool_choice": body.get("tool_choice") or "auto",
        "tools": [{"description": None, "strict": None, **tool} for tool in body.get("tools") or []],
        "top_p": 1.0,
        "truncation": "disabled",
        "usage": _USAGE if done else None,
        "user": None,
        "metadata": {},
    }


def _items(act: Act) -> list[dict[str, Any]]:
    done = {"status": "completed"}
    if act.calls:
        return [
            {
                "id": f"fc_{at}",
                "type": "function_call",
                "call_id": one.id,
                "name": one.name,
                "arguments": one.arguments,
                **done,
            }
            for at, one in enumerate(act.calls)
        ]
    return [{"id": "msg_1", "type": "message", "role": "assistant", "content": [_part(act.text)], **done}]


def _part(text: str) -> dict[str, Any]:
    return {"type": "output_text", "text": text, "annotations": [], "logprobs": []}


def _events(act: Act, body: dict[str, Any], whole: dict[str, Any]) -> list[dict[str, Any]]:
    begun = _response(body, None)
    events = [{"type": f"response.{name}", "response": begun} for name in ("created", "in_progress")]
    for at, item in enumerate(whole["output"]):
        place = {"output_index": at, "item_id": item["id"]}
        empty = {**item, "status": "in_progress", **({"arguments": ""} if act.calls else {"content": []})}
        events.append({"type": "response.output_item.added", "output_index": at, "item": empty})
        events += _arguments(item["arguments"], place) if act.calls else _said(act.text, place)
        events.append({"type": "response.output_item.done", "output_index": at, "item": item})
    return [*events, {"type": "response.completed", "response": whole}]


def _arguments(arguments: str, place: dict[str, Any]) -> list[dict[str, Any]]:
    kind = "response.function_call_arguments"
    deltas = [{"type": f"{kind}.delta", **place, "delta": piece} for piece in pieces(arguments)]
    return [*deltas, {"type": f"{kind}.done", **place, "arguments": arguments}]


def _said(text: str, place: dict[str, Any]) -> list[dict[str, Any]]:
    place = {**place, "content_index": 0}
    deltas = [{"type": "response.output_text.delta", **place, "delta": one, "logprobs": []} for one in pieces(text)]
    return [
        {"type": "response.content_part.added", **place, "part": _part("")},
        *deltas,
        {"type": "response.output_text.done", **place, "text": text, "logprobs": []},
        {"type": "response.content_part.done", **place, "part": _part(text)},
    ]

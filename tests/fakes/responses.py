"""Replies of the fake provider on the Responses wire: whole replies and OpenAI's stream events."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import orjson

from tests.fakes.replies import SSE_HEADERS, Reply, json_reply

_numbers = itertools.count(1)


@dataclass(frozen=True)
class Said:
    """Content and form of a reply.

    Args:
        text: No message if empty.
        calls: ``function_call`` items after the message.
        asked: The request's body, of which the reply repeats some members.
    """

    text: str = ""
    id: str = "resp_fake"
    model: str = "fake-model"
    calls: Sequence[Mapping[str, Any]] = ()
    status: str = "completed"
    asked: Mapping[str, Any] = field(default_factory=dict)


def new_id() -> str:
    return f"resp_{next(_numbers):08x}"


def response(said: Said) -> dict[str, Any]:
    """Return a whole reply."""
    usage = {
        "input_tokens": 9,
        "input_tokens_details": {"cached_tokens": 0},
        "output_tokens": 7,
        "output_tokens_details": {"reasoning_tokens": 0},
        "total_tokens": 16,
    }
    return {**_head(said, said.status), "output": _output(said), "usage": usage}


def stream_events(said: Said) -> list[bytes]:
    """Return the events of a stream, as OpenAI sends them."""
    begun = {**_head(said, "in_progress"), "output": [], "usage": None}
    events: list[dict[str, Any]] = [
        {"type": "response.created", "response": begun},
        {"type": "response.in_progress", "response": begun},
    ]
    for index, item in enumerate(_output(said)):
        events += _message_events(index, item) if item["type"] == "message" else _call_events(index, item)
    events.append({"type": f"response.{said.status}", "response": response(said)})
    return [event({**one, "sequence_number": number}) for number, one in enumerate(events)]


def event(body: Mapping[str, Any]) -> bytes:
    return b"event: " + str(body["type"]).encode() + b"\ndata: " + orjson.dumps(body) + b"\n\n"


def reply(said: Said) -> Reply:
    """Return the reply to a request, streamed if requested."""
    if said.asked.get("stream"):
        return Reply(stream_events(said), headers=SSE_HEADERS)
    return json_reply(response(said))


def echo(body: Mapping[str, Any]) -> Reply:
    """Reply with the last user message."""
    if body.get("model") is None:
        return json_reply(
            {"error": {"message": "Missing required parameter: 'model'.", "type": "invalid_request_error",
                       "param": "model", "code": "missing_required_parameter"}}, 400)  # fmt: skip
    return reply(Said(f"echo: {last_text(body.get('input'))}", new_id(), str(body["model"]), asked=body))


def last_text(given: Any) -> str:
    """Return the text of the last user message of an ``input``."""
    if isinstance(given, str):
        return given
    users = [item for item in given or [] if isinstance(item, dict) and item.get("role") == "user"]
    content = users[-1].get("content") if users else ""
    if isinstance(content, str):
        return content
    return " ".join(str(part.get("text", "")) for part in content or [] if isinstance(part, dict))


def _head(said: Said, status: str) -> dict[str, Any]:
    reasons = {"incomplete": {"reason": "max_output_tokens"}}
    errors = {"failed": {"code": "server_error", "message": "no"}}
    return {
        "id": said.id,
        "object": "response",
        "created_at": 1_700_000_000,
        "status": status,
        "background": False,
        "error": errors.get(status),
        "incomplete_details": reasons.get(status),
        "instructions": said.asked.get("instructions"),
        "max_output_tokens": None,
        "model": said.model,
        "parallel_tool_calls": True,
        "previous_response_id": said.asked.get("previous_response_id"),
        "reasoning": {"effort": None, "summary": None},
        "service_tier": "default",
        "store": said.asked.get("store", True),
        "temperature": 1.0,
        "text": {"format": {"type": "text"}, "verbosity": "medium"},
        "tool_choice": "auto",
        "tools": list(said.asked.get("tools") or []),
        "top_p": 1.0,
        "truncation": "disabled",
        "user": None,
        "metadata": {},
    }


def _output(said: Said) -> list[dict[str, Any]]:
    part = {"type": "output_text", "annotations": [], "logprobs": [], "text": said.text}
    message = {"id": "msg_" + said.id, "type": "message", "status": "completed", "role": "assistant", "content": [part]}
    return [*([message] if said.text else []), *({"status": "completed", **call} for call in said.calls)]


def _message_events(index: int, item: Mapping[str, Any]) -> list[dict[str, Any]]:
    (part,) = item["content"]
    where = {"item_id": item["id"], "output_index": index, "content_index": 0}
    words = [word if at == 0 else f" {word}" for at, word in enumerate(part["text"].split(" "))]
    return [
        {
            "type": "response.output_item.added",
            "output_index": index,
            "item": {**item, "status": "in_progress", "content": []},
        },
        {"type": "response.content_part.added", **where, "part": {**part, "text": ""}},
        *(
            {"type": "response.output_text.delta", **where, "delta": word, "logprobs": [], "obfuscation": "x1Y"}
            for word in words
        ),
        {"type": "response.output_text.done", **where, "text": part["text"], "logprobs": []},
        {"type": "response.content_part.done", **where, "part": part},
        {"type": "response.output_item.done", "output_index": index, "item": item},
    ]


def _call_events(index: int, item: Mapping[str, Any]) -> list[dict[str, Any]]:
    where = {"item_id": item["id"], "output_index": index}
    arguments, middle = item["arguments"], len(item["arguments"]) // 2
    return [
        {
            "type": "response.output_item.added",
            "output_index": index,
            "item": {**item, "arguments": "", "status": "in_progress"},
        },
        *(
            {"type": "response.function_call_arguments.delta", **where, "delta": piece}
            for piece in (arguments[:middle], arguments[middle:])
        ),
        {"type": "response.function_call_arguments.done", **where, "arguments": arguments},
        {"type": "response.output_item.done", "output_index": index, "item": item},
    ]

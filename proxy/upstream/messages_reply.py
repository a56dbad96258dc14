"""From a chat completion back to a message of Anthropic's."""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from typing import Any

import orjson

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


def message_of(completion: Mapping[str, Any], *, thinks: bool) -> dict[str, Any]:
    """Return a chat completion as a message.

    Args:
        completion: As parsed; its first choice counts.
        thinks: Whether the client asked for thoughts, and gets them.
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
    """Return the fields that stand before the content."""
    given = completion.get("id")
    name = given if isinstance(given, str) and given else secrets.token_hex(12)
    named = name if name.startswith("msg_") else f"msg_{name}"
    return {"id": named, "type": "message", "role": "assistant", "model": completion.get("model") or ""}


def stop_reason(finish_reason: object, *, has_calls: bool, refuses: bool) -> str:
    """Return why the model stopped, in Anthropic's words; some servers say ``stop`` beside calls of tools."""
    if refuses:
        return "refusal"
    reason = _REASONS.get(str(finish_reason), "end_turn")
    return "tool_use" if has_calls and reason == "end_turn" else reason


def usage_of(counted: object) -> dict[str, Any]:
    """Return the usage as counted; what came out of a cache is counted apart."""
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
    """Return a provider's error in Anthropic's shape, in the provider's words."""
    shaped: dict[str, Any] = {"type": "error", "error": error_object(status, parsed(body) or body)}
    return orjson.dumps({**shaped, "request_id": request_id} if request_id else shaped)


def error_object(status: int, given: object) -> dict[str, Any]:
    """Return the inner object of an error.

    Args:
        status: Tells its type.
        given: ``{"error": …}`` in whichever of its shapes, or the bytes of something else.
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
    """Return what a JSON text says, None where it is none."""
    try:
        return orjson.loads(body)
    except orjson.JSONDecodeError:
        return None


def text_of(content: object) -> str:
    """Return what a message's or a delta's content says; some servers answer in parts."""
    if isinstance(content, str):
        return content
    return "".join(
        part["text"] for part in listed(content) if part.get("type") == "text" and isinstance(part.get("text"), str)
    )


def thought_of(said: Mapping[str, Any]) -> str:
    """Return the thoughts in a message or a delta, under any name that servers give them."""
    given = said.get("reasoning_content") or said.get("reasoning")
    if isinstance(given, str):
        return given
    parts = [part for part in listed(said.get("content")) if part.get("type") == "thinking"]
    return "".join(text_of(part.get("thinking")) for part in parts)


def listed(value: object) -> list[Mapping[str, Any]]:
    """Return the objects of a list, none where it is no list."""
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

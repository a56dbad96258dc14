"""Translate LiteLLM's objects to OpenAI's wire format, with the required nulls and no others."""

from __future__ import annotations

import secrets
from collections.abc import Iterable, Mapping
from typing import Any

import orjson

from proxy.upstream.headers import HOP_BY_HOP, is_of_memory

DONE = b"data: [DONE]\n\n"

_MESSAGE_EXTRAS = ("reasoning_content", "thinking_blocks", "annotations", "audio", "images")
_NOT_DOWN = HOP_BY_HOP | {"content-encoding", "content-length", "content-type", "date", "server"}
_PROVIDER_PREFIX = "llm_provider-"


def completion(response: Any) -> bytes:
    """Return the body of a whole chat completion."""
    choices = [
        {
            "index": choice.index,
            "message": _message(choice.message),
            "logprobs": plain(getattr(choice, "logprobs", None)),
            "finish_reason": choice.finish_reason,
        }
        for choice in response.choices
    ]
    body = {**_head(response, "chat.completion"), "choices": choices, "usage": usage(response)}
    return orjson.dumps(body, default=str)


class ChunkWriter:
    """Writer of the events of one stream; it sends roles, and ids and names of calls, only once.

    Args:
        include_usage: Whether the client asked for the chunk with the usage.
    """

    def __init__(self, *, include_usage: bool) -> None:
        self._include_usage = include_usage
        self._roles: set[int] = set()
        self._calls: set[tuple[int, int]] = set()
        self._thoughts = 0

    def events(self, chunk: Any) -> list[bytes]:
        """Return the events of a chunk, none for an empty one."""
        head = _head(chunk, "chat.completion.chunk")
        none_yet = {"usage": None} if self._include_usage else {}
        choices = [self._choice(choice) for choice in chunk.choices]
        said = [choice for choice in choices if choice["delta"] or choice["finish_reason"] is not None]
        events = [event({**head, "choices": said, **none_yet})] if said else []
        counted = usage(chunk)
        if counted is not None and self._include_usage:
            events.append(event({**head, "choices": [], "usage": counted}))
        return events

    def _choice(self, choice: Any) -> dict[str, Any]:
        return {
            "index": choice.index,
            "delta": self._delta(choice.index, choice.delta),
            "logprobs": plain(getattr(choice, "logprobs", None)),
            "finish_reason": choice.finish_reason,
        }

    def _delta(self, index: int, delta: Any) -> dict[str, Any]:
        made: dict[str, Any] = {}
        if getattr(delta, "role", None) and index not in self._roles:
            self._roles.add(index)
            made["role"] = delta.role
        if getattr(delta, "content", None) or "role" in made:
            made["content"] = delta.content
        for name in ("refusal", "reasoning_content", "function_call", "annotations", "audio"):
            value = plain(getattr(delta, name, None))
            if value:
                made[name] = value
        if getattr(delta, "images", None):
            made["images"] = _numbered(plain(delta.images))
        if getattr(delta, "thinking_blocks", None):
            made["thinking_blocks"] = self._thinking(plain(delta.thinking_blocks))
        if getattr(delta, "tool_calls", None):
            made["tool_calls"] = [self._call(index, place, call) for place, call in enumerate(delta.tool_calls)]
        return made

    def _call(self, choice: int, place: int, call: Any) -> dict[str, Any]:
        # SDKs concatenate a repeated id or name, and need an index.
        index = call.index if isinstance(getattr(call, "index", None), int) else place
        arguments = call.function.arguments or ""
        if (choice, index) in self._calls:
            return {"index": index, "function": {"arguments": arguments}}
        self._calls.add((choice, index))
        function = {"name": call.function.name or "", "arguments": arguments}
        return {"index": index, "id": call.id, "type": "function", "function": function}

    def _thinking(self, blocks: list[dict[str, Any]]) -> list[dict[str, Any]]:
        # openai-python's accumulator crashes on a list in a delta whose entries have no index.
        numbered = []
        for block in blocks:
            numbered.append({"index": self._thoughts, **block})
            if block.get("signature") or block.get("type") == "redacted_thinking":
                self._thoughts += 1
        return numbered


def event(body: Mapping[str, Any]) -> bytes:
    """Return one server-sent event."""
    return b"data: " + orjson.dumps(body, default=str) + b"\n\n"


def usage(response: Any) -> dict[str, Any] | None:
    """Return the provider's usage, without nulls and without LiteLLM's own cost."""
    counted = getattr(response, "usage", None)
    if counted is None:
        return None
    found = plain(counted)
    return {key: _without_nulls(value) for key, value in found.items() if value is not None and key != "cost"}


def response_headers(response: Any, content_type: str) -> list[tuple[str, str]]:
    """Return the provider's own headers, as far as LiteLLM preserves them."""
    hidden = getattr(response, "_hidden_params", None) or {}
    given = hidden.get("additional_headers") or {}
    own = {
        str(name).removeprefix(_PROVIDER_PREFIX).lower(): str(value)
        for name, value in given.items()
        if str(name).startswith((_PROVIDER_PREFIX, "x-ratelimit-"))
    }
    return [("content-type", content_type), *provider_headers(own.items())]


def provider_headers(given: Iterable[tuple[str, str]]) -> list[tuple[str, str]]:
    """Return the headers of a provider's reply that are meaningful to clients.

    The request id is under OpenAI's name; clients rely on one, so it is generated if LiteLLM preserved none.
    """
    kept = {name.lower(): value for name, value in given if name.lower() not in _NOT_DOWN and not is_of_memory(name)}
    kept.setdefault("x-request-id", kept.get("request-id") or "req_" + secrets.token_hex(16))
    return list(kept.items())


def plain(value: Any) -> Any:
    """Return LiteLLM's model objects as plain dicts and lists."""
    if hasattr(value, "model_dump"):
        return {key: plain(one) for key, one in value.model_dump().items()}
    if isinstance(value, dict):
        return {key: plain(one) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [plain(one) for one in value]
    return value


def _message(message: Any) -> dict[str, Any]:
    made: dict[str, Any] = {
        "role": message.role,
        "content": message.content,
        "refusal": getattr(message, "refusal", None),
    }
    calls = getattr(message, "tool_calls", None)
    if calls:
        made["tool_calls"] = [_call(call) for call in calls]
    function_call = plain(getattr(message, "function_call", None))
    if function_call:
        made["function_call"] = function_call
    for name in _MESSAGE_EXTRAS:
        value = plain(getattr(message, name, None))
        if value:
            made[name] = value
    return made


def _call(call: Any) -> dict[str, Any]:
    function = {"name": call.function.name or "", "arguments": call.function.arguments or ""}
    return {"id": call.id, "type": "function", "function": function}


def _head(response: Any, kind: str) -> dict[str, Any]:
    return {
        "id": response.id,
        "object": kind,
        "created": response.created,
        "model": response.model,
        "system_fingerprint": getattr(response, "system_fingerprint", None),
    }


def _numbered(entries: Any) -> list[Any]:
    return [{"index": i, **entry} if isinstance(entry, dict) else entry for i, entry in enumerate(entries)]


def _without_nulls(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _without_nulls(one) for key, one in value.items() if one is not None}
    return value

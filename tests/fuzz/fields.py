"""Complete requests with JSON values of every kind in every field, one field at a time."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from typing import Any

from tests.fuzz.shapes import Request, packed

VALUES: tuple[Any, ...] = (
    None, True, 0, -1, 10**40, 1.5, "", "x", "\x00\ud83d", "9" * 300, [], [[]], [None], {}, {"x": None}, [{"type": 1}],
)  # fmt: skip

_PARTS = [
    {"type": "text", "text": "I use Shram"},
    {"type": "image_url", "image_url": {"url": "data:image/png;base64,AA==", "detail": "low"}},
    {"type": "file", "file": {"file_id": "file-1", "filename": "a.pdf", "file_data": "data:,x"}},
]
_TOOL = {"type": "function", "function": {"name": "look", "description": "d", "parameters": {"type": "object"}}}
_CALL = {"id": "c1", "type": "function", "function": {"name": "look", "arguments": "{}"}}
_CHAT = {
    "model": "m",
    "messages": [
        {"role": "system", "content": "Be kind.", "name": "n"},
        {"role": "user", "content": _PARTS, "name": "n"},
        {"role": "assistant", "content": None, "tool_calls": [_CALL], "refusal": None},
        {"role": "tool", "content": "done", "tool_call_id": "c1"},
        {"role": "user", "content": "I use Magnet"},
    ],
    "stream": False,
    "stream_options": {"include_usage": True},
    "user": "u",
    "metadata": {"user_id": "u", "conversation_id": "c"},
    "safety_identifier": "s",
    "prompt_cache_key": "p",
    "tools": [_TOOL],
    "tool_choice": "auto",
    "response_format": {"type": "json_schema", "json_schema": {"name": "n", "schema": {}}},
    "max_tokens": 5,
    "n": 1,
    "temperature": 0.5,
    "stop": ["x"],
}
_ITEMS = [
    {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "I use Shram"}]},
    {"type": "function_call", "call_id": "c1", "name": "look", "arguments": "{}"},
    {"type": "function_call_output", "call_id": "c1", "output": "done"},
    {"role": "user", "content": "I use Magnet"},
]
_RESPONSE = {
    "model": "m", "input": _ITEMS, "instructions": "Be kind.", "stream": False, "store": True, "metadata": {"a": "b"},
    "previous_response_id": None, "conversation": None, "tools": [{"type": "function", "name": "look", "parameters": {}}],
    "text": {"format": {"type": "text"}}, "reasoning": {"effort": "low"}, "user": "u", "include": [], "truncation": "auto",
}  # fmt: skip
_BLOCKS = [{"type": "text", "text": "I use Shram", "cache_control": {"type": "ephemeral"}}]
_MESSAGES = {
    "model": "m", "max_tokens": 9, "system": [{"type": "text", "text": "Be kind."}], "stream": False,
    "messages": [
        {"role": "user", "content": _BLOCKS},
        {"role": "assistant", "content": [{"type": "tool_use", "id": "t", "name": "look", "input": {}}]},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t", "content": "done", "is_error": False}]},
    ],
    "metadata": {"user_id": "u"}, "thinking": {"type": "enabled", "budget_tokens": 1024}, "tools": [{"name": "look"}],
}  # fmt: skip
_PATCH = {
    "text": "I like tea", "kind": "fact", "pinned": False, "priority": 1, "expires_at": "2099-01-01T00:00:00Z",
    "object_value": "tea",
}  # fmt: skip
_MEMORY = {**_PATCH, "subject": "user", "relation": "likes", "confidence": 0.5, "metadata": {"a": "b"}}
_SEARCH = {"query": "tea", "limit": 3, "sources": ["fact", "episode"], "as_of": "2024-01-01T00:00:00Z"}

BODIES: dict[str, tuple[str, str, dict[str, Any]]] = {
    "chat": ("POST", "/v1/chat/completions", _CHAT),
    "responses": ("POST", "/v1/responses", _RESPONSE),
    "messages": ("POST", "/v1/messages", _MESSAGES),
    "embeddings": ("POST", "/v1/embeddings", {"model": "m", "input": ["a"], "encoding_format": "float", "dimensions": 3}),
    "memory": ("POST", "/v1/memories", _MEMORY),
    "search": ("POST", "/v1/memories/search", _SEARCH),
    "forget": ("POST", "/v1/memories/forget", {"text": "I like tea", "dry_run": True}),
    "forget by query": ("POST", "/v1/memories/forget", {"query": "tea", "dry_run": False}),
    "forget by id": ("POST", "/v1/memories/forget", {"ids": ["mem_x"], "dry_run": True}),
    "undo": ("POST", "/v1/memories/undo", {"batch": "b"}),
    "patch": ("PATCH", "/v1/memories/{id}", _PATCH),
}  # fmt: skip


def places(value: Any, path: tuple[str | int, ...] = ()) -> Iterator[tuple[str | int, ...]]:
    """Yield the path of every field, at any depth."""
    keyed = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, inner in keyed:
        yield (*path, key)
        yield from places(inner, (*path, key))


def changed(body: dict[str, Any], path: tuple[str | int, ...], value: Any) -> dict[str, Any]:
    """Return a copy of a body with another value in one place."""
    copied: Any = copy.deepcopy(body)
    at = copied
    for key in path[:-1]:
        at = at[key]
    at[path[-1]] = value
    assert isinstance(copied, dict)
    return copied


def every_field(name: str, memory_id: str, *, of: int = 1, first: int = 0) -> Iterator[Request]:
    """Yield the requests of one endpoint.

    Args:
        name: Key in ``BODIES``.
        memory_id: Id of an existing memory.
        of: Yield every ``of``-th request, so that all fields and all kinds occur.
        first: Index of the first request.
    """
    method, path, body = BODIES[name]
    headers = (("authorization", "Bearer sk-fuzz-fields"), ("content-type", "application/json"))
    made = ((place, value) for place in places(body) for value in VALUES)
    for number, (place, value) in enumerate(made):
        if number % of == first % of:
            yield Request(method, path.format(id=memory_id), headers, packed(changed(body, place, value)))

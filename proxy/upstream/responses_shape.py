"""The Responses wire as OpenAI writes it: what every reply has, and its events, numbered."""

from __future__ import annotations

import itertools
import json
import secrets
from collections.abc import Mapping, Sequence
from typing import Any

import orjson

_NO_DETAILS = {"input_tokens_details": {"cached_tokens": 0}, "output_tokens_details": {"reasoning_tokens": 0}}
_ECHOED: Mapping[str, Any] = {
    "background": False,
    "instructions": None,
    "max_output_tokens": None,
    "max_tool_calls": None,
    "parallel_tool_calls": True,
    "previous_response_id": None,
    "reasoning": {"effort": None, "summary": None},
    "service_tier": "default",
    "temperature": 1.0,
    "text": {"format": {"type": "text"}},
    "tool_choice": "auto",
    "tools": [],
    "top_logprobs": 0,
    "top_p": 1.0,
    "truncation": "disabled",
    "user": None,
    "metadata": {},
}


def new_id() -> str:
    """Return a reply's id."""
    return "resp_" + secrets.token_hex(24)


def response(
    body: Mapping[str, Any],
    *,
    id_: str,
    created: float,
    model: str,
    status: str,
    output: Sequence[Mapping[str, Any]] = (),
    usage: Mapping[str, Any] | None = None,
    error: Mapping[str, Any] | None = None,
    incomplete: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """Return a reply, with what the request said repeated in it as OpenAI does."""
    return {
        "id": id_,
        "object": "response",
        "created_at": int(created),
        "status": status,
        "error": error,
        "incomplete_details": incomplete,
        "model": model,
        "output": list(output),
        **{name: default if body.get(name) is None else body[name] for name, default in _ECHOED.items()},
        "store": body.get("store") is not False,
        "usage": None if usage is None else usage_of(usage),
    }


def usage_of(counted: Mapping[str, Any]) -> dict[str, Any]:
    """Return the usage with the counts that clients rely on, without nulls and prices."""
    made: dict[str, Any] = {
        name: int(counted.get(name) or 0) for name in ("input_tokens", "output_tokens", "total_tokens")
    }
    for name, least in _NO_DETAILS.items():
        given = counted.get(name)
        told = {key: one for key, one in given.items() if one is not None} if isinstance(given, dict) else {}
        made[name] = {**least, **told}
    return made


def dumped(value: Any) -> bytes:
    """Return a value as JSON, also with numbers beyond 64 bits."""
    try:
        return orjson.dumps(value, default=str)
    except TypeError:
        return json.dumps(value, default=str).encode("utf-8", "replace")


class EventWriter:
    """Writes the events of one stream."""

    def __init__(self) -> None:
        self._numbers = itertools.count()

    def event(self, body: Mapping[str, Any]) -> bytes:
        """Return one event with its number."""
        numbered = {**body, "sequence_number": next(self._numbers)}
        return b"event: " + str(body["type"]).encode() + b"\ndata: " + dumped(numbered) + b"\n\n"

    def error(self, error: Mapping[str, Any]) -> bytes:
        """Return the event that ends a stream which broke off."""
        told = {name: error.get(name) for name in ("code", "message", "param")}
        return self.event({"type": "error", **told})

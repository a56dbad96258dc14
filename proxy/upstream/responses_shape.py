"""OpenAI's Responses format: the fields of every reply, its numbered events, and replies with one text."""

from __future__ import annotations

import itertools
import json
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
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
_WORDS_PER_DELTA = 4


def new_id() -> str:
    """Return a new id for a reply."""
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
    """Return a reply that echoes the request's fields, as OpenAI's replies do."""
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
    """Return the usage with all counts that clients rely on, without nulls and prices."""
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
    """Writer of one stream's events, with their numbers."""

    def __init__(self) -> None:
        self._numbers = itertools.count()

    def event(self, body: Mapping[str, Any]) -> bytes:
        """Return one event with its number."""
        numbered = {**body, "sequence_number": next(self._numbers)}
        return b"event: " + str(body["type"]).encode() + b"\ndata: " + dumped(numbered) + b"\n\n"

    def error(self, error: Mapping[str, Any]) -> bytes:
        """Return the error event that ends a broken stream."""
        told = {name: error.get(name) for name in ("code", "message", "param")}
        return self.event({"type": "error", **told})


def messages_of(items: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return the items with a role, as chat messages."""
    return [{"role": item["role"], "content": item.get("content")} for item in items if "role" in item]


@dataclass(frozen=True, slots=True)
class DemoReply:
    """One response with a single text, in OpenAI's shape."""

    id: str
    created: int
    model: str
    text: str
    body: Mapping[str, Any]
    asked_characters: int

    @property
    def output(self) -> list[dict[str, Any]]:
        """Items of the reply."""
        return [self._item("completed", [self._part(self.text)])]

    def whole(self) -> bytes:
        """Return the body of a whole reply."""
        return orjson.dumps(self._response("completed"))

    def events(self) -> list[bytes]:
        """Return the events of a stream."""
        (item,), part = self.output, self._part(self.text)
        begun = self._response("in_progress")
        where = {"item_id": item["id"], "output_index": 0, "content_index": 0}
        events: list[dict[str, Any]] = [
            {"type": "response.created", "response": begun},
            {"type": "response.in_progress", "response": begun},
            {"type": "response.output_item.added", "output_index": 0, "item": self._item("in_progress", [])},
            {"type": "response.content_part.added", **where, "part": self._part("")},
            *(
                {"type": "response.output_text.delta", **where, "delta": piece, "logprobs": []}
                for piece in _pieces(self.text)
            ),
            {"type": "response.output_text.done", **where, "text": self.text, "logprobs": []},
            {"type": "response.content_part.done", **where, "part": part},
            {"type": "response.output_item.done", "output_index": 0, "item": item},
            {"type": "response.completed", "response": self._response("completed")},
        ]
        writer = EventWriter()
        return [writer.event(event) for event in events]

    def _item(self, status: str, content: list[dict[str, Any]]) -> dict[str, Any]:
        id_ = "msg_" + self.id.removeprefix("resp_")
        return {"id": id_, "type": "message", "status": status, "role": "assistant", "content": content}

    def _part(self, text: str) -> dict[str, Any]:
        return {"type": "output_text", "annotations": [], "logprobs": [], "text": text}

    def _response(self, status: str) -> dict[str, Any]:
        has_ended = status == "completed"
        output, usage = (self.output, self._usage()) if has_ended else ([], None)
        return response(
            self.body, id_=self.id, created=self.created, model=self.model, status=status, output=output, usage=usage
        )

    def _usage(self) -> dict[str, Any]:
        # These tokens are not billed: four characters count as a token.
        asked, said = self.asked_characters // 4 + 1, len(self.text) // 4 + 1
        return {"input_tokens": asked, "output_tokens": said, "total_tokens": asked + said}


def _pieces(text: str) -> list[str]:
    words = text.split(" ")
    pieces = [" ".join(words[at : at + _WORDS_PER_DELTA]) for at in range(0, len(words), _WORDS_PER_DELTA)]
    return [*(piece + " " for piece in pieces[:-1]), pieces[-1]]

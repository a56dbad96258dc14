"""The built-in model ``demo`` on the Responses wire; it keeps its replies for a while, to be continued."""

from __future__ import annotations

import secrets
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import orjson

from proxy.errors import InvalidRequest, PreviousReplyNotFound
from proxy.upstream.extract import answer

_MOST_KEPT = 1000
_MOST_KEPT_BYTES = 200_000  # of one conversation
_WORDS_PER_DELTA = 4

_Messages = list[dict[str, Any]]


class Kept:
    """What was said up to each of the last replies, by whose key asked and the reply's id."""

    def __init__(self) -> None:
        self._by_id: OrderedDict[tuple[str, str], _Messages] = OrderedDict()

    def before(self, key: str, id_: object) -> _Messages:
        """Return what a continued reply goes on from.

        Raises:
            PreviousReplyNotFound: If it is not known (any more).
        """
        if id_ is None:
            return []
        found = self._by_id.get((key, id_)) if isinstance(id_, str) else None
        if found is None:
            raise PreviousReplyNotFound(
                f"Previous response with id {str(id_)[:80]!r} not found.", param="previous_response_id"
            )
        return found

    def keep(self, key: str, id_: str, messages: _Messages) -> None:
        """Keep a conversation under its last reply's id."""
        if len(orjson.dumps(messages)) > _MOST_KEPT_BYTES:
            return
        self._by_id[key, id_] = messages
        while len(self._by_id) > _MOST_KEPT:
            self._by_id.popitem(last=False)


def messages_of(body: Mapping[str, Any]) -> _Messages:
    """Return what a request says, as chat messages.

    Raises:
        InvalidRequest: If it says nothing.
    """
    given = body.get("input")
    items = [{"role": "user", "content": given}] if isinstance(given, str) else given
    if not isinstance(items, list) or not items or not all(isinstance(one, dict) for one in items):
        raise InvalidRequest("'input' must be a string or a list of at least one item.", param="input")
    return [{"role": item["role"], "content": item.get("content")} for item in items if "role" in item]


def reply_to(body: Mapping[str, Any], messages: Sequence[Mapping[str, Any]], *, model: str, created: int) -> DemoReply:
    """Answer a conversation."""
    return DemoReply("resp_demo_" + secrets.token_hex(16), created, model, answer(messages), body, len(str(messages)))


@dataclass(frozen=True, slots=True)
class DemoReply:
    """One reply in the shape of OpenAI's."""

    id: str
    created: int
    model: str
    text: str
    body: Mapping[str, Any]
    asked_characters: int

    def whole(self) -> bytes:
        """Return the body of a whole reply."""
        return orjson.dumps(self._response("completed", [self._item("completed", [self._part(self.text)])]))

    def events(self) -> list[bytes]:
        """Return the events of a stream."""
        item, part = self._item("completed", [self._part(self.text)]), self._part(self.text)
        begun = self._response("in_progress", [])
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
            {"type": "response.completed", "response": self._response("completed", [item])},
        ]
        return [_event({**event, "sequence_number": number}) for number, event in enumerate(events)]

    def _item(self, status: str, content: list[dict[str, Any]]) -> dict[str, Any]:
        id_ = "msg_" + self.id.removeprefix("resp_")
        return {"id": id_, "type": "message", "status": status, "role": "assistant", "content": content}

    def _part(self, text: str) -> dict[str, Any]:
        return {"type": "output_text", "annotations": [], "logprobs": [], "text": text}

    def _response(self, status: str, output: list[dict[str, Any]]) -> dict[str, Any]:
        metadata = self.body.get("metadata")
        return {
            "id": self.id,
            "object": "response",
            "created_at": self.created,
            "status": status,
            "error": None,
            "incomplete_details": None,
            "instructions": self.body.get("instructions"),
            "max_output_tokens": self.body.get("max_output_tokens"),
            "model": self.model,
            "output": output,
            "parallel_tool_calls": True,
            "previous_response_id": self.body.get("previous_response_id"),
            "reasoning": {"effort": None, "summary": None},
            "store": self.body.get("store") is not False,
            "temperature": 1.0,
            "text": {"format": {"type": "text"}},
            "tool_choice": "auto",
            "tools": [],
            "top_p": 1.0,
            "truncation": "disabled",
            "usage": self._usage() if status == "completed" else None,
            "user": None,
            "metadata": metadata if isinstance(metadata, dict) else {},
        }

    def _usage(self) -> dict[str, Any]:
        # Nobody is billed: four characters count as a token.
        asked, said = self.asked_characters // 4 + 1, len(self.text) // 4 + 1
        return {
            "input_tokens": asked,
            "input_tokens_details": {"cached_tokens": 0},
            "output_tokens": said,
            "output_tokens_details": {"reasoning_tokens": 0},
            "total_tokens": asked + said,
        }


def _pieces(text: str) -> list[str]:
    words = text.split(" ")
    pieces = [" ".join(words[at : at + _WORDS_PER_DELTA]) for at in range(0, len(words), _WORDS_PER_DELTA)]
    return [*(piece + " " for piece in pieces[:-1]), pieces[-1]]


def _event(body: Mapping[str, Any]) -> bytes:
    return b"event: " + str(body["type"]).encode() + b"\ndata: " + orjson.dumps(body) + b"\n\n"

"""Replies of the built-in model ``demo`` on the Responses wire."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import orjson

from proxy.upstream.responses_shape import EventWriter, response

_WORDS_PER_DELTA = 4


def messages_of(items: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return what items say, as chat messages."""
    return [{"role": item["role"], "content": item.get("content")} for item in items if "role" in item]


@dataclass(frozen=True, slots=True)
class DemoReply:
    """One reply in the shape of OpenAI's."""

    id: str
    created: int
    model: str
    text: str
    body: Mapping[str, Any]
    asked_characters: int

    @property
    def output(self) -> list[dict[str, Any]]:
        """Its items."""
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
        # Nobody is billed: four characters count as a token.
        asked, said = self.asked_characters // 4 + 1, len(self.text) // 4 + 1
        return {"input_tokens": asked, "output_tokens": said, "total_tokens": asked + said}


def _pieces(text: str) -> list[str]:
    words = text.split(" ")
    pieces = [" ".join(words[at : at + _WORDS_PER_DELTA]) for at in range(0, len(words), _WORDS_PER_DELTA)]
    return [*(piece + " " for piece in pieces[:-1]), pieces[-1]]

"""Reassemble an Anthropic message from the relayed bytes, of a stream or a whole body."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import orjson

from proxy.dialects.binding import signature_of
from proxy.dialects.body import string
from proxy.dialects.reply import Folding, Reply, Text, parsed
from proxy.events import Event


def accumulator() -> Folding:
    """Return a fresh accumulator."""
    return Folding(_Folded())


class _Folded:
    """State of one reply while its pieces are added; a piece may be any JSON value."""

    def __init__(self) -> None:
        self._blocks: dict[object, dict[str, Any]] = {}
        self._stop_reason: str | None = None
        self._usage: dict[str, Any] = {}
        self._model = ""
        self._id = ""
        self._error: Any = None
        self._has_ended = False

    def add_event(self, event: Event) -> None:
        said = parsed(event.data)
        if isinstance(said, dict):
            self._add(said)

    def _add(self, event: dict[str, Any]) -> None:
        kind = event.get("type")
        if kind == "message_start":
            # If a provider restarts in the middle of a stream, only the restarted message counts.
            self._blocks, self._stop_reason, self._has_ended = {}, None, False
            self._add_message(event.get("message"))
        elif kind == "content_block_start":
            self._add_block(_place(event, len(self._blocks)), event.get("content_block"))
        elif kind == "content_block_delta":
            self._add_delta(_place(event, len(self._blocks) - 1), event.get("delta"))
        elif kind == "message_delta":
            self._add_end(event.get("delta"), event.get("usage"))
        elif kind == "message_stop":
            self._has_ended = True
        elif kind == "error" or event.get("error") is not None:
            self._error = event.get("error") or event

    def add_body(self, body: bytes) -> None:
        said = parsed(body)
        if isinstance(said, dict):
            self._add_whole(said)

    def _add_whole(self, body: dict[str, Any]) -> None:
        if body.get("error") is not None or body.get("type") == "error":
            self._error = body.get("error") or body
        self._add_message(body)
        self._has_ended = isinstance(body.get("content"), list)

    @property
    def is_full(self) -> bool:
        return any(block["text"].is_full for block in self._blocks.values())

    def reply(self, *, is_whole: bool) -> Reply:
        ended = self._has_ended or self._stop_reason is not None
        calls = [block for block in self._blocks.values() if block["type"] == "tool_use"]
        return Reply(
            text=self._text(),
            tool_calls=tuple(_call(block) for block in calls),
            finish_reason=self._stop_reason,
            usage=self._usage or None,
            model=self._model,
            complete=ended and is_whole and self._error is None,
            error=self._error,
            id=self._id,
            signatures=tuple(one for block in self._blocks.values() if (one := str(block["signature"]))),
        )

    def _add_message(self, message: object) -> None:
        if not isinstance(message, dict):
            return
        self._model = string(message.get("model")) or self._model
        self._id = string(message.get("id")) or self._id
        content = message.get("content")
        for place, block in enumerate(content if isinstance(content, list) else ()):
            self._add_block(place, block)
        self._add_end(message, message.get("usage"))

    def _add_block(self, place: object, block: object) -> None:
        if isinstance(block, dict):
            self._blocks[place] = {
                "type": string(block.get("type")),
                "id": string(block.get("id")),
                "name": string(block.get("name")),
                "text": _begun(block.get("text")),
                "input": block.get("input"),
                "json": Text(),
                "signature": _begun(signature_of(block)),
            }

    def _add_delta(self, place: object, delta: object) -> None:
        block = self._blocks.get(place)
        if block is None or not isinstance(delta, dict):
            return
        if delta.get("type") == "text_delta":
            block["text"].add(string(delta.get("text")))
        elif delta.get("type") == "input_json_delta":
            block["json"].add(string(delta.get("partial_json")))
        elif delta.get("type") == "signature_delta":
            block["signature"].add(string(delta.get("signature")))

    def _add_end(self, delta: object, usage: object) -> None:
        if isinstance(delta, dict):
            self._stop_reason = string(delta.get("stop_reason")) or self._stop_reason
        if isinstance(usage, dict):
            self._usage.update({key: value for key, value in usage.items() if value is not None})

    def _text(self) -> str:
        """Return the text: citations split a sentence into blocks, other blocks between texts mark a paragraph."""
        pieces: list[str] = []
        was_text = True
        for block in self._blocks.values():
            is_text = block["type"] == "text"
            if is_text and (text := str(block["text"])):
                pieces += ["\n\n", text] if pieces and not was_text else [text]
            was_text = is_text
        return "".join(pieces)


def _begun(text: object) -> Text:
    begun = Text()
    begun.add(string(text))
    return begun


def _place(event: Mapping[str, Any], otherwise: int) -> object:
    index = event.get("index")
    return index if isinstance(index, int) else otherwise


def _call(block: Mapping[str, Any]) -> dict[str, Any]:
    arguments = str(block["json"]) or _dumped(block["input"])
    return {"id": block["id"], "type": "function", "function": {"name": block["name"], "arguments": arguments}}


def _dumped(value: object) -> str:
    try:
        return orjson.dumps(value if value is not None else {}).decode()
    except orjson.JSONEncodeError:
        return "{}"  # numbers beyond 64 bits

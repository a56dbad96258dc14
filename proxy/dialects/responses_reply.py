"""A reply of the Responses wire put together from the bytes that went by, stream or not."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from proxy.dialects import sse
from proxy.dialects.base import Reply
from proxy.dialects.body import string
from proxy.dialects.copying import MAX_BYTES, parsed
from proxy.dialects.folding import Folding, Text
from proxy.events import Event

HINTS = (b"response.completed", b"response.incomplete", b"response.failed", b"response.cancelled", b"error")
_ENDS = rb"response\.(?:completed|incomplete|failed|cancelled)"
# By the event's name, or by its type where a server sends no names; quotes inside of strings are escaped.
END = sse.Terminal(
    re.compile(
        rb"[\r\n](?:\xef\xbb\xbf)?event: ?(?:" + _ENDS + rb"|error)[ \t]*(?=[\r\n])"
        rb'|(?<!\\)"type"[ \t]*:[ \t]*"' + _ENDS + rb'"'
        rb'|[\r\n](?:\xef\xbb\xbf)?data: ?\{[ \t]*"type"[ \t]*:[ \t]*"error"'
    ),
    b"",
    80,
)
_TERMINAL = frozenset({"response.completed", "response.incomplete", "response.failed", "response.cancelled"})
# What runs in the background ends elsewhere: all that this connection had to say was said.
_ANSWERED = frozenset({"completed", "incomplete", "queued", "in_progress"})


class ReplyAccumulator(Folding):
    """Copies a reply aside while it passes and reads it; never raises."""

    def __init__(self, max_bytes: int = MAX_BYTES) -> None:
        super().__init__(_Folded(), max_bytes)


class _Folded:
    """The state of one reply while its pieces are folded in; every piece may be anything."""

    def __init__(self) -> None:
        self._items: dict[object, _Item] = {}
        self._response: dict[str, Any] = {}
        self._status = ""
        self._error: Any = None

    def add_event(self, event: Event) -> None:
        said = parsed(event.data)
        if isinstance(said, dict):
            self._add(said)

    def _add(self, event: dict[str, Any]) -> None:
        kind = string(event.get("type"))
        response = event.get("response")
        if isinstance(response, dict):
            self._add_response(response)
            if kind in _TERMINAL:
                self._status = string(response.get("status")) or kind.partition(".")[2]
        if kind == "error":
            self._error = event.get("error") or {key: value for key, value in event.items() if key != "type"}
        elif kind.startswith("response."):
            self._add_piece(kind, event)

    def add_body(self, body: bytes) -> None:
        said = parsed(body)
        if isinstance(said, dict):
            self._add_whole(said)

    def _add_whole(self, body: dict[str, Any]) -> None:
        self._add_response(body)
        self._status = string(body.get("status")) or ("completed" if isinstance(body.get("output"), list) else "")

    @property
    def is_full(self) -> bool:
        return any(item.is_full for item in self._items.values())

    def reply(self, *, is_whole: bool) -> Reply:
        items = [self._items[place] for place in sorted(self._items, key=_order)]
        details = self._response.get("incomplete_details")
        usage = self._response.get("usage")
        return Reply(
            text="".join(item.text("output_text") for item in items),
            tool_calls=tuple(item.call() for item in items if item.is_call),
            finish_reason=(string(details.get("reason")) if isinstance(details, dict) else "") or self._status or None,
            refusal="".join(item.text("refusal") for item in items),
            usage=usage if isinstance(usage, dict) else None,
            model=string(self._response.get("model")),
            complete=self._status in _ANSWERED and is_whole and self._error is None,
            error=self._error,
            id=string(self._response.get("id")),
        )

    def _add_response(self, response: dict[str, Any]) -> None:
        self._response.update({key: value for key, value in response.items() if value is not None})
        if response.get("error") is not None:
            self._error = response["error"]
        output = response.get("output")
        for place, item in enumerate(output if isinstance(output, list) else ()):
            self._item(place).set(item)

    def _add_piece(self, kind: str, event: Mapping[str, Any]) -> None:
        item = self._item(event.get("output_index"))
        what, _, step = kind.removeprefix("response.").rpartition(".")
        if what == "output_item":
            item.set(event.get("item"))
        elif what in ("output_text", "refusal"):
            said = event.get("delta") if step == "delta" else event.get("text", event.get("refusal"))
            item.add(what, event.get("content_index"), string(said), is_whole=step == "done")
        elif what in ("function_call_arguments", "custom_tool_call_input"):
            said = event.get("delta") if step == "delta" else event.get("arguments", event.get("input"))
            item.add_arguments(string(said), is_whole=step == "done")

    def _item(self, place: object) -> _Item:
        return self._items.setdefault(place if isinstance(place, int) else -1, _Item())


class _Item:
    """One item of the output."""

    def __init__(self) -> None:
        self._texts: dict[tuple[str, int], Text] = {}
        self._head: Mapping[str, Any] = {}
        self._arguments = Text()

    @property
    def is_call(self) -> bool:
        return self._head.get("type") in ("function_call", "custom_tool_call")

    @property
    def is_full(self) -> bool:
        return any(text.is_full for text in self._texts.values())

    def set(self, raw: object) -> None:
        """Take an item as it stands; what it does not say (yet) is kept as it came in pieces."""
        if not isinstance(raw, dict):
            return
        self._head = raw
        self.add_arguments(string(raw.get("arguments", raw.get("input"))), is_whole=True)
        content = raw.get("content") if raw.get("type") == "message" else None
        for place, part in enumerate(content if isinstance(content, list) else ()):
            if isinstance(part, dict) and part.get("type") in ("output_text", "refusal"):
                kind = string(part["type"])
                self.add(kind, place, string(part.get("text" if kind == "output_text" else kind)), is_whole=True)

    def add(self, kind: str, place: object, said: str, *, is_whole: bool) -> None:
        text = self._texts.setdefault((kind, place if isinstance(place, int) else 0), Text())
        _take(text, said, is_whole=is_whole)

    def add_arguments(self, said: str, *, is_whole: bool) -> None:
        _take(self._arguments, said, is_whole=is_whole)

    def text(self, kind: str) -> str:
        return "".join(str(self._texts[key]) for key in sorted(self._texts) if key[0] == kind)

    def call(self) -> dict[str, Any]:
        function = {"name": string(self._head.get("name")), "arguments": str(self._arguments)}
        return {"id": string(self._head.get("call_id")), "type": "function", "function": function}


def _take(text: Text, said: str, *, is_whole: bool) -> None:
    """Add a piece; a text that comes whole at the end says again what came in pieces, or nothing."""
    if not is_whole:
        text.add(said)
    elif said:
        text.become(said)


def _order(place: object) -> int:
    return place if isinstance(place, int) else -1

"""A reply of the Responses wire put together from the bytes that went by, stream or not."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from proxy.dialects import sse
from proxy.dialects.base import Reply
from proxy.dialects.body import string
from proxy.dialects.copying import Copy, is_stream, parsed

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


class ReplyAccumulator(Copy):
    """Copies a reply aside while it passes and reads it afterwards; never raises."""

    def result(self, *, content_type: str = "", content_encoding: str = "") -> Reply:
        """Return the reply as far as it came.

        Args:
            content_type: Of the response; without one, the bytes are looked at.
            content_encoding: Of the response; others than gzip and deflate give an empty, incomplete reply.
        """
        body = self.decoded(content_encoding)
        folded = _Folded()
        if is_stream(body, content_type):
            for event in sse.split(body):
                folded.add_event(parsed(event.data))
        else:
            folded.add_body(parsed(body))
        return folded.reply(is_whole=self.is_whole)


class _Folded:
    """The state of one reply while its pieces are folded in; every piece may be anything."""

    def __init__(self) -> None:
        self._items: dict[object, _Item] = {}
        self._response: dict[str, Any] = {}
        self._status = ""
        self._error: Any = None

    def add_event(self, event: object) -> None:
        if not isinstance(event, dict):
            return
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

    def add_body(self, body: object) -> None:
        if not isinstance(body, dict):
            return
        self._add_response(body)
        self._status = string(body.get("status")) or ("completed" if isinstance(body.get("output"), list) else "")

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
        self._texts: dict[tuple[str, int], str] = {}
        self._head: Mapping[str, Any] = {}
        self._arguments = ""

    @property
    def is_call(self) -> bool:
        return self._head.get("type") in ("function_call", "custom_tool_call")

    def set(self, raw: object) -> None:
        """Take an item as it stands; what it does not say (yet) is kept as it came in pieces."""
        if not isinstance(raw, dict):
            return
        self._head = raw
        self._arguments = string(raw.get("arguments", raw.get("input"))) or self._arguments
        content = raw.get("content") if raw.get("type") == "message" else None
        for place, part in enumerate(content if isinstance(content, list) else ()):
            if isinstance(part, dict) and part.get("type") in ("output_text", "refusal"):
                kind = string(part["type"])
                self.add(kind, place, string(part.get("text" if kind == "output_text" else kind)), is_whole=True)

    def add(self, kind: str, place: object, said: str, *, is_whole: bool) -> None:
        key = (kind, place if isinstance(place, int) else 0)
        before = self._texts.get(key, "")
        self._texts[key] = (said or before) if is_whole else before + said

    def add_arguments(self, said: str, *, is_whole: bool) -> None:
        self._arguments = (said or self._arguments) if is_whole else self._arguments + said

    def text(self, kind: str) -> str:
        return "".join(said for (one, _), said in sorted(self._texts.items()) if one == kind)

    def call(self) -> dict[str, Any]:
        function = {"name": string(self._head.get("name")), "arguments": self._arguments}
        return {"id": string(self._head.get("call_id")), "type": "function", "function": function}


def _order(place: object) -> int:
    return place if isinstance(place, int) else -1

"""The ``recall`` tool in Anthropic's Messages: added to the request, its calls removed from the reply."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from proxy.dialects.reply import parsed
from proxy.dialects.tool import Call, ReplyFilter, Tool, ToolWire, appended, as_it_came, event_bytes, json_bytes, summed
from proxy.events import Event

_GROWING = {"text_delta": "text", "thinking_delta": "thinking", "signature_delta": "signature"}
_JSON = "partial_json"


def may_offer(body: Mapping[str, Any], name: str) -> bool:
    """Return whether the recall tool can be added: no tool is forced, and its name is free."""
    tools, choice = body.get("tools"), body.get("tool_choice")
    if choice is not None and not (isinstance(choice, dict) and choice.get("type") == "auto"):
        return False
    if tools is not None and not isinstance(tools, list):
        return False
    return not any(isinstance(one, dict) and one.get("name") == name for one in tools or ())


def offered(body: bytes, tool: Tool) -> bytes:
    """Return the body with the tool after the client's own; the same object if it cannot be added."""
    named = {"name": tool.name, "description": tool.description, "input_schema": tool.parameters}
    return appended(body, "tools", [named], is_made=True)


class MessagesFilter(ReplyFilter):
    """Filter that removes ``recall`` calls from messages; the client sees consecutive block indexes."""

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self._id = ""
        self._shown = 0  # number of blocks
        self._before: list[Any] = []  # blocks of earlier whole replies
        self._last: dict[str, Any] = {}
        self._usage: dict[str, Any] = {}  # of the current reply

    def going_on(self, body: bytes, answers: Sequence[str]) -> bytes:
        """Return the next request, with one answer per call."""
        blocks = [one for one in self._blocks.values() if one.get("type") != "text" or one.get("text")]
        results = [
            {"type": "tool_result", "tool_use_id": call.id, "content": answer}
            for call, answer in zip(self.calls, answers, strict=True)
        ]
        said = [{"role": "assistant", "content": blocks}, {"role": "user", "content": results}]
        return appended(body, "messages", said)

    def ending(self, *, is_stream: bool) -> bytes:
        """Return the end of a reply whose last round still calls the tool, but gets no answer."""
        ended = {"stop_reason": "end_turn", "stop_sequence": None}
        if not is_stream:
            content = [*self._before]
            return json_bytes({**self._last, **ended, "id": self._id, "content": content, "usage": self.usage})
        delta = {"type": "message_delta", "delta": ended, "usage": self.usage}
        return event_bytes(delta, b"message_delta") + event_bytes({"type": "message_stop"}, b"message_stop")

    def _start(self) -> None:
        self._blocks: dict[int, dict[str, Any]] = {}
        self._json: dict[int, str] = {}
        self._places: dict[int, int] = {}
        self._total, self._usage = self.usage, {}

    def _whole(self, reply: dict[str, Any]) -> bytes | None:
        content = reply.get("content")
        if not isinstance(content, list):
            return None
        self._id = self._id or str(reply.get("id") or "")
        self._blocks = {at: one for at, one in enumerate(content) if isinstance(one, dict)}
        self._add_usage(reply.get("usage"))
        self._end(reply.get("stop_reason"))
        shown = [one for one in content if not self._is_ours(one)]
        if self.wants_more:
            self._before += shown
            self._last = reply
            return b""
        if len(shown) == len(content) and not self.round:
            return None
        return json_bytes({**reply, "id": self._id, "content": [*self._before, *shown], "usage": self.usage})

    def _event(self, event: Event) -> bytes:
        body = parsed(event.data)
        kind = body.get("type") if isinstance(body, dict) else None
        if kind == "message_start":
            return self._begun(event, body)
        if kind in ("content_block_start", "content_block_delta", "content_block_stop"):
            return self._piece(event, body, kind)
        if kind == "message_delta":
            return self._ended(event, body)
        return b"" if kind == "message_stop" and self.wants_more else as_it_came(event)

    def _begun(self, event: Event, body: Mapping[str, Any]) -> bytes:
        message = body.get("message")
        self._add_usage(message.get("usage") if isinstance(message, dict) else None)
        return b"" if self.round else as_it_came(event)

    def _piece(self, event: Event, body: dict[str, Any], kind: str) -> bytes:
        given = body.get("index")
        at = given if isinstance(given, int) else len(self._blocks)
        if kind == "content_block_start":
            block = body.get("content_block")
            self._blocks[at] = dict(block) if isinstance(block, dict) else {}
            if not self._is_ours(block):
                self._places[at] = self._shown
                self._shown += 1
        elif kind == "content_block_delta":
            self._grow(at, body.get("delta"))
        elif at in self._json:
            self._blocks[at]["input"] = parsed(self._json[at].encode() or b"{}") or {}
        if self._is_ours(self._blocks.get(at)):
            return b""
        place = self._places.get(at, at)
        return as_it_came(event) if place == given else event_bytes({**body, "index": place}, event.name)

    def _grow(self, at: int, delta: object) -> None:
        block = self._blocks.get(at)
        if block is None or not isinstance(delta, dict):
            return
        kind = str(delta.get("type"))
        if kind in _GROWING:
            key = _GROWING[kind]
            block[key] = str(block.get(key) or "") + str(delta.get(key) or "")
        elif kind == "input_json_delta":
            self._json[at] = self._json.get(at, "") + str(delta.get(_JSON) or "")
        elif kind == "citations_delta":
            block["citations"] = [*(block.get("citations") or ()), delta.get("citation")]

    def _ended(self, event: Event, body: dict[str, Any]) -> bytes:
        delta = body.get("delta")
        self._add_usage(body.get("usage"))
        self._end(delta.get("stop_reason") if isinstance(delta, dict) else None)
        if self.wants_more:
            return b""
        return event_bytes({**body, "usage": self.usage}, event.name) if self.round else as_it_came(event)

    def _end(self, reason: object) -> None:
        calls = [one for one in self._blocks.values() if one.get("type") == "tool_use"]
        ours = [one for one in calls if self._is_ours(one)]
        self.calls = [Call(str(one.get("id")), json_bytes(one.get("input") or {}).decode()) for one in ours]
        self.wants_more = reason == "tool_use" and bool(ours) and len(ours) == len(calls)

    def _add_usage(self, usage: object) -> None:
        """Add a reply's usage: counts at its end replace those at its start."""
        if isinstance(usage, dict):
            self._usage.update({key: value for key, value in usage.items() if value is not None})
            self.usage = summed(self._total, self._usage)

    def _is_ours(self, block: object) -> bool:
        return isinstance(block, dict) and block.get("type") == "tool_use" and block.get("name") == self.name


MESSAGES_TOOL = ToolWire(may_offer, offered, MessagesFilter)

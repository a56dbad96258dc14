"""A tool of ours in a chat completion: put into the request, and its calls taken out of the reply."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import orjson

from proxy.dialects import splice
from proxy.dialects.copying import parsed
from proxy.dialects.splice import Edit
from proxy.events import Event, EventSplitter

Tool = Mapping[str, Any]
_DONE = b"[DONE]"


def may_offer(body: Mapping[str, Any], name: str) -> bool:
    """Whether a tool of ours changes nothing that the client asked for: nothing is forced, and the name is free."""
    tools = body.get("tools")
    if body.get("tool_choice") not in (None, "auto") or body.get("n") not in (None, 1) or body.get("functions"):
        return False
    if tools is not None and not isinstance(tools, list):
        return False
    taken = [one.get("function") for one in tools or () if isinstance(one, dict)]
    return not any(isinstance(one, dict) and one.get("name") == name for one in taken)


def with_tool(body: bytes, tool: Tool) -> bytes:
    """Return the body with one more tool behind the client's own; the same object where that cannot be done."""
    return _appended(body, "tools", [tool], is_made=True)


def with_messages(body: bytes, messages: Sequence[Mapping[str, Any]]) -> bytes:
    """Return the body with further messages at the end; the same object where that cannot be done."""
    return _appended(body, "messages", messages, is_made=False)


def _appended(body: bytes, key: str, items: Sequence[Mapping[str, Any]], *, is_made: bool) -> bytes:
    new = ",".join(orjson.dumps(one).decode() for one in items)
    edits: list[Edit] = []

    def visit(name: str, at: int) -> int | None:
        if name != key:
            return None
        end = splice.value_end(text, at)
        if text[at] == "[":
            is_empty = not text[at + 1 : end - 1].strip(" \t\n\r")
            edits[:] = [Edit(end - 1, end - 1, new if is_empty else f",{new}")]
        else:
            edits[:] = [Edit(at, end, f"[{new}]")] if is_made else []
        return end

    try:
        text = body.decode()
        start = splice.root(text)
        splice.walk_object(text, start, visit)
    except (ValueError, LookupError, RecursionError):
        return body
    if not edits and is_made:
        edits = [Edit(start + 1, start + 1, f'"{key}":[{new}],')]
    return splice.apply(body, text, edits) if edits else body


@dataclass(slots=True)
class Call:
    """One call of our tool, put together from its pieces."""

    id: str = ""
    arguments: str = ""


@dataclass(slots=True)
class ReplyFilter:
    """Takes the calls of our tool out of replies that are shown as one: one id, one role, one sum of usage.

    Args:
        name: Of the tool.
    """

    name: str
    calls: list[Call] = field(default_factory=list)
    text: str = ""  # said in the reply that is going on
    wants_more: bool = False  # the reply ended with calls of ours alone
    _first: dict[str, Any] = field(default_factory=dict)
    _usage: dict[str, Any] = field(default_factory=dict)
    _ours: dict[int, Call] = field(default_factory=dict)
    _theirs: dict[int, int] = field(default_factory=dict)
    _round: int = 0
    _has_role: bool = False  # shown to the client
    _splitter: EventSplitter = field(default_factory=EventSplitter)

    def begin(self) -> None:
        """Start the next reply."""
        self._round += 1 if self._first else 0
        self.calls, self.text, self.wants_more = [], "", False
        self._ours, self._theirs = {}, {}
        self._splitter = EventSplitter()

    def feed(self, chunk: bytes) -> bytes:
        """Return what the client sees of a piece of a stream."""
        return b"".join(map(self._event, self._splitter.feed(chunk)))

    def whole(self, body: bytes) -> bytes:
        """Return what the client sees of a whole reply; b"" where it only calls our tool."""
        reply = parsed(body)
        choices = reply.get("choices") if isinstance(reply, dict) else None
        message = choices[0].get("message") if isinstance(choices, list) and choices else None
        if not isinstance(message, dict):
            return body
        calls = [one for one in message.get("tool_calls") or () if isinstance(one, dict)]
        ours = [one for one in calls if _named(one) == self.name]
        self.calls = [Call(str(one.get("id")), str(one["function"].get("arguments") or "")) for one in ours]
        said = message.get("content")
        self.wants_more = bool(ours) and len(ours) == len(calls)
        self._count(reply)
        if self.wants_more:
            self.text = said if isinstance(said, str) else ""
            self._first.setdefault("said", "")
            self._first["said"] += self.text
            return b""
        if not ours and not self._round:
            return body
        if ours:
            message["tool_calls"] = [one for one in calls if _named(one) != self.name]
        before = self._first.get("said", "")
        if before and isinstance(said, str):
            message["content"] = before + said
        return orjson.dumps(self._joined(reply))

    def ending(self, *, is_stream: bool) -> bytes:
        """Return how a reply ends that wants still more, and gets nothing."""
        choice: dict[str, Any] = {"index": 0, "finish_reason": "stop"}
        frame = self._first.get("frame", {})
        if is_stream:
            return _event_bytes({**frame, "choices": [{**choice, "delta": {}}]}) + b"data: [DONE]\n\n"
        message = {"role": "assistant", "content": self._first.get("said", "")}
        return orjson.dumps({**frame, "choices": [{**choice, "message": message}], "usage": self._usage or None})

    def _event(self, event: Event) -> bytes:
        if event.data.strip() == _DONE:
            return b"" if self.wants_more else b"data: [DONE]\n\n"
        chunk = parsed(event.data)
        if not isinstance(chunk, dict) or not isinstance(chunk.get("choices"), list):
            return b"data: " + event.data.replace(b"\n", b"\ndata: ") + b"\n\n"
        self._count(chunk)
        if not chunk["choices"]:
            return b"" if self.wants_more else _event_bytes(self._joined(chunk))
        is_changed = self._round > 0
        for choice in chunk["choices"]:
            is_changed |= isinstance(choice, dict) and self._choice(choice)
        chunk["choices"] = [one for one in chunk["choices"] if not (isinstance(one, dict) and one.pop("gone", False))]
        if not chunk["choices"]:
            return b""
        if not is_changed:
            return b"data: " + event.data.replace(b"\n", b"\ndata: ") + b"\n\n"
        return _event_bytes(self._joined(chunk))

    def _choice(self, choice: dict[str, Any]) -> bool:
        """Take what is ours out of a choice; say whether that changed it."""
        delta = choice.get("delta")
        delta = delta if isinstance(delta, dict) else {}
        had_calls = isinstance(delta.get("tool_calls"), list)
        is_changed = bool(had_calls and self._calls(delta))
        if isinstance(delta.get("content"), str):
            self.text += delta["content"]
        if self._has_role and delta.pop("role", None):
            is_changed = True
        if choice.get("finish_reason") and self._ours and not self._theirs:
            self.calls = list(self._ours.values())
            self.wants_more = True
            choice["gone"] = True
        elif had_calls and not delta.get("tool_calls") and not choice.get("finish_reason"):
            choice["gone"] = not any(value for key, value in delta.items() if key != "role")
        self._has_role |= "role" in delta and not choice.get("gone")
        return is_changed

    def _calls(self, delta: dict[str, Any]) -> bool:
        kept = []
        for one in delta["tool_calls"]:
            given = one.get("index") if isinstance(one, dict) else 0
            index = given if isinstance(given, int) else 0
            if _named(one) == self.name or (index in self._ours and index not in self._theirs):
                call = self._ours.setdefault(index, Call())
                function = one["function"] if isinstance(one.get("function"), dict) else {}
                call.id = call.id or str(one.get("id") or "")
                call.arguments += str(function.get("arguments") or "")
            else:
                place = self._theirs.setdefault(index, len(self._theirs))
                kept.append({**one, "index": place} if isinstance(one, dict) else one)
        is_changed = bool(kept != delta["tool_calls"])
        delta["tool_calls"] = kept
        if not kept:
            del delta["tool_calls"]
        return is_changed

    def _count(self, reply: Mapping[str, Any]) -> None:
        if not self._first.get("frame"):
            self._first["frame"] = {key: reply[key] for key in ("id", "object", "created", "model") if key in reply}
        usage = reply.get("usage")
        if isinstance(usage, dict):
            self._usage = _summed(self._usage, usage)

    def _joined(self, reply: dict[str, Any]) -> dict[str, Any]:
        """Return a reply, or a piece of one, under the first one's id and with all that was used."""
        frame = self._first.get("frame", {})
        shown = {**reply, **{key: frame[key] for key in ("id", "created") if key in frame}}
        if isinstance(reply.get("usage"), dict):
            shown["usage"] = self._usage
        return shown


def _named(call: object) -> str:
    function = call.get("function") if isinstance(call, dict) else None
    return str(function.get("name") or "") if isinstance(function, dict) else ""


def _summed(left: Mapping[str, Any], right: Mapping[str, Any]) -> dict[str, Any]:
    total = dict(left)
    for key, value in right.items():
        before = total.get(key)
        if isinstance(value, dict):
            total[key] = _summed(before if isinstance(before, dict) else {}, value)
        elif isinstance(value, int | float) and isinstance(before, int | float) and not isinstance(value, bool):
            total[key] = before + value
        else:
            total[key] = value
    return total


def _event_bytes(value: Mapping[str, Any]) -> bytes:
    return b"data: " + orjson.dumps(value) + b"\n\n"

"""The ``recall`` tool in chat completions: added to the request, its calls removed from the reply."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from proxy.dialects.reply import parsed
from proxy.dialects.tool import Call, ReplyFilter, Tool, ToolWire, appended, as_it_came, event_bytes, json_bytes, summed
from proxy.events import Event

_DONE = b"[DONE]"
_THOUGHTS = "reasoning_content"  # some providers require it back, together with the calls that followed it


def may_offer(body: Mapping[str, Any], name: str) -> bool:
    """Return whether the recall tool can be added: no tool is forced, and its name is free."""
    tools = body.get("tools")
    if body.get("tool_choice") not in (None, "auto") or body.get("n") not in (None, 1) or body.get("functions"):
        return False
    if tools is not None and not isinstance(tools, list):
        return False
    taken = [one.get("function") for one in tools or () if isinstance(one, dict)]
    return not any(isinstance(one, dict) and one.get("name") == name for one in taken)


def offered(body: bytes, tool: Tool) -> bytes:
    """Return the body with the tool after the client's own; the same object if it cannot be added."""
    function = {"name": tool.name, "description": tool.description, "parameters": tool.parameters}
    return appended(body, "tools", [{"type": "function", "function": function}], is_made=True)


class ChatFilter(ReplyFilter):
    """Filter that removes ``recall`` calls from chat completions."""

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self._frame: dict[str, Any] = {}
        self._before = ""  # text of earlier replies
        self._counted: dict[str, Any] | None = None  # the usage chunk, held back between rounds
        self._has_role = False  # the client has received the role

    def going_on(self, body: bytes, answers: Sequence[str]) -> bytes:
        """Return the next request, with one answer per call."""
        said = {"role": "assistant", "content": self._text or None, **self._beside, "tool_calls": self._heads}
        results = [
            {"role": "tool", "tool_call_id": call.id, "content": answer}
            for call, answer in zip(self.calls, answers, strict=True)
        ]
        return appended(body, "messages", [said, *results])

    def ending(self, *, is_stream: bool) -> bytes:
        """Return the end of a reply whose last round still calls the tool, but gets no answer."""
        choice: dict[str, Any] = {"index": 0, "finish_reason": "stop"}
        if is_stream:
            counted = event_bytes(self._joined(self._counted)) if self._counted else b""
            return event_bytes({**self._frame, "choices": [{**choice, "delta": {}}]}) + counted + b"data: [DONE]\n\n"
        message = {"role": "assistant", "content": self._before}
        return json_bytes({**self._frame, "choices": [{**choice, "message": message}], "usage": self.usage or None})

    def _start(self) -> None:
        self._text = ""  # text of the current reply
        self._beside: dict[str, str] = {}
        self._ours: dict[int, tuple[Call, dict[str, Any]]] = {}
        self._theirs: dict[int, int] = {}
        self._heads: list[dict[str, Any]] = []

    def _whole(self, reply: dict[str, Any]) -> bytes | None:
        choices = reply.get("choices")
        message = choices[0].get("message") if isinstance(choices, list) and choices else None
        if not isinstance(message, dict):
            return None
        calls = [one for one in message.get("tool_calls") or () if isinstance(one, dict)]
        self._heads = [one for one in calls if _named(one) == self.name]
        self.calls = [Call(str(one.get("id")), str(one["function"].get("arguments") or "")) for one in self._heads]
        said = message.get("content")
        self.wants_more = bool(self._heads) and len(self._heads) == len(calls)
        self._count(reply)
        if self.wants_more:
            self._text = said if isinstance(said, str) else ""
            self._beside = {_THOUGHTS: message[_THOUGHTS]} if isinstance(message.get(_THOUGHTS), str) else {}
            self._before += self._text
            return b""
        if not self._heads and not self.round:
            return None
        if self._heads:
            message["tool_calls"] = [one for one in calls if _named(one) != self.name]
        if self._before and (said is None or isinstance(said, str)):
            message["content"] = self._before + (said or "")
        return json_bytes(self._joined(reply))

    def _event(self, event: Event) -> bytes:
        if event.data.strip() == _DONE:
            return b"" if self.wants_more else b"data: [DONE]\n\n"
        chunk = parsed(event.data)
        if not isinstance(chunk, dict) or not isinstance(chunk.get("choices"), list):
            return as_it_came(event)
        self._count(chunk)
        if not chunk["choices"]:
            self._counted = chunk
            if self.wants_more:
                return b""
            return event_bytes(self._joined(chunk)) if self.round else as_it_came(event)
        is_changed = self.round > 0
        for choice in chunk["choices"]:
            is_changed |= isinstance(choice, dict) and self._choice(choice)
        chunk["choices"] = [one for one in chunk["choices"] if not (isinstance(one, dict) and one.pop("gone", False))]
        if not chunk["choices"]:
            return b""
        return event_bytes(self._joined(chunk)) if is_changed else as_it_came(event)

    def _choice(self, choice: dict[str, Any]) -> bool:
        """Remove ``recall`` calls from a choice; return whether that changed it."""
        delta = choice.get("delta")
        delta = delta if isinstance(delta, dict) else {}
        had_calls = isinstance(delta.get("tool_calls"), list)
        is_changed = bool(had_calls and self._calls(delta))
        if isinstance(delta.get("content"), str):
            self._text += delta["content"]
        if isinstance(delta.get(_THOUGHTS), str):
            self._beside[_THOUGHTS] = self._beside.get(_THOUGHTS, "") + delta[_THOUGHTS]
        if self.round and self._has_role and delta.pop("role", None):
            is_changed = True
        if choice.get("finish_reason") and self._ours and not self._theirs:
            self._end()
            choice["gone"] = True
        elif had_calls and not delta.get("tool_calls") and not choice.get("finish_reason"):
            choice["gone"] = not any(value for key, value in delta.items() if key != "role")
        self._has_role |= "role" in delta and not choice.get("gone")
        return is_changed

    def _end(self) -> None:
        """Note that the reply ended with ``recall`` calls only."""
        self.calls = [call for call, _ in self._ours.values()]
        self._heads = [
            {"type": "function", **head, "function": {"name": self.name, "arguments": call.arguments or "{}"}}
            for call, head in self._ours.values()
        ]
        self.wants_more = True

    def _calls(self, delta: dict[str, Any]) -> bool:
        kept = []
        for one in delta["tool_calls"]:
            given = one.get("index") if isinstance(one, dict) else 0
            index = given if isinstance(given, int) else 0
            if _named(one) == self.name or (index in self._ours and index not in self._theirs):
                head: dict[str, Any] = {key: one[key] for key in one if key not in ("index", "function")}
                call, _ = self._ours.setdefault(index, (Call(), head))
                function: dict[str, Any] = one["function"] if isinstance(one.get("function"), dict) else {}
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
        if not self._frame:
            self._frame = {key: reply[key] for key in ("id", "object", "created", "model") if key in reply}
        usage = reply.get("usage")
        if isinstance(usage, dict):
            self.usage = summed(self.usage, usage)

    def _joined(self, reply: Mapping[str, Any]) -> dict[str, Any]:
        """Return a reply, or a chunk of one, with the first reply's id and the usage of all replies."""
        frame: dict[str, Any] = {key: self._frame[key] for key in ("id", "created") if key in self._frame}
        shown = {**reply, **frame}
        if isinstance(reply.get("usage"), dict):
            shown["usage"] = self.usage
        return shown


def _named(call: object) -> str:
    function = call.get("function") if isinstance(call, dict) else None
    return str(function.get("name") or "") if isinstance(function, dict) else ""


CHAT_TOOL = ToolWire(may_offer, offered, ChatFilter)

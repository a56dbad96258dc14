"""A chat completion put together from the bytes that went by, stream or not."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from proxy.dialects.base import Reply
from proxy.dialects.copying import MAX_BYTES, parsed
from proxy.dialects.folding import Folding, Text
from proxy.events import Event


class ReplyAccumulator(Folding):
    """Copies a reply aside while it passes and reads it; never raises."""

    def __init__(self, max_bytes: int = MAX_BYTES) -> None:
        super().__init__(_Folded(), max_bytes)


class _Folded:
    """The state of one reply while its pieces are folded in; every piece may be anything."""

    def __init__(self) -> None:
        self._text = Text()
        self._refusal = Text()
        self._calls: dict[object, _Call] = {}
        self._finish_reason: str | None = None
        self._usage: Mapping[str, Any] | None = None
        self._model = ""
        self._id = ""
        self._error: Any = None
        self._has_ended = False

    def add_event(self, event: Event) -> None:
        if event.data.strip() == b"[DONE]":
            self._has_ended = True
            return
        self._add(parsed(event.data), "delta")

    def add_body(self, body: bytes) -> None:
        whole = parsed(body)
        self._has_ended = isinstance(whole, dict) and bool(whole.get("choices"))
        self._add(whole, "message")

    @property
    def is_full(self) -> bool:
        return self._text.is_full

    def reply(self, *, is_whole: bool) -> Reply:
        ended = self._has_ended or self._finish_reason is not None
        return Reply(
            text=str(self._text),
            tool_calls=tuple(call.shown() for call in self._calls.values()),
            finish_reason=self._finish_reason,
            refusal=str(self._refusal),
            usage=self._usage,
            model=self._model,
            complete=ended and is_whole and self._error is None,
            error=self._error,
            id=self._id,
        )

    def _add(self, chunk: object, key: str) -> None:
        if not isinstance(chunk, dict):
            return
        if chunk.get("error") is not None:
            self._error = chunk["error"]
        if isinstance(chunk.get("model"), str):
            self._model = self._model or chunk["model"]
        self._id = self._id or _string(chunk.get("id"))
        if isinstance(chunk.get("usage"), dict):
            self._usage = chunk["usage"]
        choices = chunk.get("choices")
        for choice in choices if isinstance(choices, list) else ():
            if isinstance(choice, dict) and choice.get("index", 0) == 0:
                self._add_choice(choice, key)

    def _add_choice(self, choice: Mapping[str, Any], key: str) -> None:
        if isinstance(choice.get("finish_reason"), str):
            self._finish_reason = choice["finish_reason"]
        said = choice.get(key)
        if not isinstance(said, dict):
            return
        self._text.add(_text(said.get("content")))
        if isinstance(said.get("refusal"), str):
            self._refusal.add(said["refusal"])
        calls = said.get("tool_calls")
        for place, call in enumerate(calls if isinstance(calls, list) else ()):
            self._add_call(call, place if key == "message" else None)
        if isinstance(said.get("function_call"), dict):
            self._add_call({"function": said["function_call"]}, "legacy")

    def _add_call(self, call: object, place: object) -> None:
        if not isinstance(call, dict):
            return
        if place is None:
            index = call.get("index")
            place = index if isinstance(index, int) else len(self._calls) if call.get("id") else len(self._calls) - 1
        kept = self._calls.setdefault(place, _Call())
        kept.id = kept.id or _string(call.get("id"))
        function = call.get("function")
        if isinstance(function, dict):
            kept.name.add(_string(function.get("name")))
            kept.arguments.add(_string(function.get("arguments")))


class _Call:
    """One tool call."""

    def __init__(self) -> None:
        self.id = ""
        self.name = Text()
        self.arguments = Text()

    def shown(self) -> dict[str, Any]:
        function = {"name": str(self.name), "arguments": str(self.arguments)}
        return {"id": self.id, "type": "function", "function": function}


def _text(content: object) -> str:
    if isinstance(content, str):
        return content
    if not isinstance(content, list):
        return ""
    # Some providers answer in parts; their thoughts are no part of the answer.
    parts = [part for part in content if isinstance(part, dict) and part.get("type") == "text"]
    return "".join(part["text"] for part in parts if isinstance(part.get("text"), str))


def _string(value: object) -> str:
    return value if isinstance(value, str) else ""

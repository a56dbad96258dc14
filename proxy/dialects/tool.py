"""The ``recall`` tool beside the client's tools: the interface of every wire format, and the code they share."""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import orjson

from proxy.dialects import splice
from proxy.dialects.reply import parsed
from proxy.dialects.splice import Edit
from proxy.events import Event, EventSplitter


@dataclass(frozen=True, slots=True)
class Tool:
    """Definition of a tool, independent of the wire format.

    Args:
        name: Name of the function.
        description: Description for the model.
        parameters: JSON schema of its arguments.
    """

    name: str
    description: str
    parameters: Mapping[str, Any]


@dataclass(slots=True)
class Call:
    """One call of the ``recall`` tool, reassembled from its pieces."""

    id: str = ""
    arguments: str = ""


class ReplyFilter(ABC):
    """Filter that removes ``recall`` calls from several replies, shown as one with one id and one usage sum.

    Args:
        name: Name of the tool.

    Attributes:
        wants_more: The reply ended with ``recall`` calls only.
        goes_on_as: Provider's id of the continued response, if the client sees another id.
        open_calls: Ids of ``recall`` calls that stay unanswered, as the client's own calls came with them.
    """

    def __init__(self, name: str) -> None:
        self.name = name
        self.calls: list[Call] = []
        self.wants_more = False
        self.goes_on_as = ""
        self.open_calls: tuple[str, ...] = ()
        self.usage: dict[str, Any] = {}
        self.round = -1
        self._splitter = EventSplitter(keeps_comments=True)

    def begin(self) -> None:
        """Start the next reply."""
        self.round += 1
        self.calls, self.wants_more = [], False
        self._splitter = EventSplitter(keeps_comments=True)
        self._start()

    def feed(self, chunk: bytes) -> bytes:
        """Return the client's bytes for a chunk of a stream."""
        return b"".join(map(self._seen, self._splitter.feed(chunk)))

    def close(self) -> bytes:
        """Return the client's bytes for the end of a stream whose last event lacks the empty line after it."""
        return b"".join(map(self._seen, self._splitter.close()))

    def whole(self, body: bytes) -> bytes:
        """Return the client's bytes for a whole reply; b"" if it only calls the ``recall`` tool."""
        reply = parsed(body)
        shown = self._whole(reply) if isinstance(reply, dict) else None
        return body if shown is None else shown

    def _seen(self, event: Event) -> bytes:
        """Return the client's bytes for an event, or for a comment: providers send these as heartbeats."""
        return event.comment + b"\n\n" if event.comment else self._event(event)

    @abstractmethod
    def going_on(self, body: bytes, answers: Sequence[str]) -> bytes:
        """Return the next request, with one answer per call."""

    @abstractmethod
    def ending(self, *, is_stream: bool) -> bytes:
        """Return the end of a reply whose last round still calls the tool, but gets no answer."""

    @abstractmethod
    def _start(self) -> None:
        """Reset the state of the previous reply."""

    @abstractmethod
    def _event(self, event: Event) -> bytes:
        """Return the client's bytes for an event."""

    @abstractmethod
    def _whole(self, reply: dict[str, Any]) -> bytes | None:
        """Return the client's bytes for a reply; None if unchanged."""


@dataclass(frozen=True, slots=True)
class ToolWire:
    """Throughline's tool in one wire format.

    Args:
        may_offer: Returns whether the tool can be added: no tool is forced, and its name is free.
        offered: Returns the body with the tool after the client's own; the same object if it cannot be added.
        reply_filter: Returns a fresh filter for the replies of one request.
    """

    may_offer: Callable[[Mapping[str, Any], str], bool]
    offered: Callable[[bytes, Tool], bytes]
    reply_filter: Callable[[str], ReplyFilter]


def appended(
    body: bytes,
    key: str,
    items: Sequence[Mapping[str, Any]],
    *,
    is_made: bool = False,
    first: Callable[[str], str] | None = None,
) -> bytes:
    """Return the body with items appended to a top-level list; the same object if that is not possible.

    Args:
        body: Body of a request.
        key: Name of the list.
        items: Items to append.
        is_made: Create a missing list.
        first: Converts a string value, given as its JSON text, into the JSON of the first item.
    """
    new = ",".join(json_bytes(one).decode() for one in items)
    edits: list[Edit] = []

    def visit(name: str, at: int) -> int | None:
        if name != key:
            return None
        end = splice.value_end(text, at)
        if text[at] == "[":
            is_empty = not text[at + 1 : end - 1].strip(" \t\n\r")
            edits[:] = [Edit(end - 1, end - 1, new if is_empty else f",{new}")]
        elif text[at] == '"' and first is not None:
            edits[:] = [Edit(at, end, f"[{first(text[at:end])},{new}]")]
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


def summed(left: Mapping[str, Any], right: Mapping[str, Any]) -> dict[str, Any]:
    """Return the sum of two usage objects; of other values than numbers, the later counts."""
    total = dict(left)
    for key, value in right.items():
        before = total.get(key)
        if isinstance(value, dict):
            total[key] = summed(before if isinstance(before, dict) else {}, value)
        elif isinstance(value, int | float) and isinstance(before, int | float) and not isinstance(value, bool):
            total[key] = before + value
        elif value is not None or key not in total:
            total[key] = value
    return total


def as_it_came(event: Event) -> bytes:
    """Return the bytes of an event."""
    name = b"event: " + event.name + b"\n" if event.name else b""
    return name + b"data: " + event.data.replace(b"\n", b"\ndata: ") + b"\n\n"


def event_bytes(value: Mapping[str, Any], name: bytes = b"") -> bytes:
    """Return the bytes of an event with a JSON value."""
    return as_it_came(Event(json_bytes(value), name))


def json_bytes(value: Mapping[str, Any]) -> bytes:
    """Return a parsed reply as JSON, also with numbers beyond 64 bits and lone surrogates, which orjson refuses."""
    try:
        return orjson.dumps(value)
    except TypeError:
        return json.dumps(value, separators=(",", ":")).encode()

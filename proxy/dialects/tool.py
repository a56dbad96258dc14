"""A tool of ours beside the client's own: what every wire format offers for it, and what they share."""

from __future__ import annotations

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
    """A tool as every wire format can tell of it.

    Args:
        name: Of the function.
        description: For the model.
        parameters: JSON schema of its arguments.
    """

    name: str
    description: str
    parameters: Mapping[str, Any]


@dataclass(slots=True)
class Call:
    """One call of our tool, put together from its pieces."""

    id: str = ""
    arguments: str = ""


class ReplyFilter(ABC):
    """Takes the calls of our tool out of replies that are shown as one: one id, one sum of usage.

    Args:
        name: Of the tool.
    """

    def __init__(self, name: str) -> None:
        self.name = name
        self.calls: list[Call] = []
        self.wants_more = False  # the reply ended with calls of ours alone
        self.goes_on_as = ""  # the provider's id of what follows the reply that is shown under another one
        self.open_calls: tuple[str, ...] = ()  # ids of ours that nobody answers: the client's own stand beside them
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
        """Return what the client sees of a piece of a stream."""
        return b"".join(map(self._seen, self._splitter.feed(chunk)))

    def close(self) -> bytes:
        """Return what the client sees of the end of a stream whose last event lacks the empty line behind it."""
        return b"".join(map(self._seen, self._splitter.close()))

    def whole(self, body: bytes) -> bytes:
        """Return what the client sees of a whole reply; b"" where it only calls our tool."""
        reply = parsed(body)
        shown = self._whole(reply) if isinstance(reply, dict) else None
        return body if shown is None else shown

    def _seen(self, event: Event) -> bytes:
        """Return what the client sees of an event, or of a comment: those are a provider's heartbeats."""
        return event.comment + b"\n\n" if event.comment else self._event(event)

    @abstractmethod
    def going_on(self, body: bytes, answers: Sequence[str]) -> bytes:
        """Return the request that tells the answers to the calls, one each."""

    @abstractmethod
    def ending(self, *, is_stream: bool) -> bytes:
        """Return how a reply ends that wants still more, and gets nothing."""

    @abstractmethod
    def _start(self) -> None:
        """Forget the reply before."""

    @abstractmethod
    def _event(self, event: Event) -> bytes:
        """Return what the client sees of an event."""

    @abstractmethod
    def _whole(self, reply: dict[str, Any]) -> bytes | None:
        """Return what the client sees of a reply; None: what came."""


@dataclass(frozen=True, slots=True)
class ToolWire:
    """Throughline's tool in one wire format.

    Args:
        may_offer: Whether it changes nothing that the client asked for: nothing is forced, and the name is free.
        offered: Returns the body with the tool behind the client's own; the same object where that cannot be done.
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
    """Return the body with items at the end of a list on its top level; the same object where that cannot be done.

    Args:
        body: A request.
        key: Name of the list.
        items: What is added.
        is_made: A list that is not there is made.
        first: Turns a value that is a string, as it stands in the JSON, into the first item.
    """
    new = ",".join(orjson.dumps(one).decode() for one in items)
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
    """Return two counts of usage as one; of what is no number, the later stands."""
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
    """Return an event's bytes again."""
    name = b"event: " + event.name + b"\n" if event.name else b""
    return name + b"data: " + event.data.replace(b"\n", b"\ndata: ") + b"\n\n"


def event_bytes(value: Mapping[str, Any], name: bytes = b"") -> bytes:
    """Return an event that says a value."""
    return as_it_came(Event(orjson.dumps(value), name))

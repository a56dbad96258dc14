"""Protocol of wire formats: a reading view of a request, edits by splice, and the reply put together."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from proxy.dialects.attachments import Wire
from proxy.dialects.body import Insertion
from proxy.dialects.reply import Folding
from proxy.dialects.sse import EndWatch
from proxy.dialects.tool import ToolWire
from proxy.errors import ProxyError


@dataclass(frozen=True, slots=True)
class Part:
    """One content part.

    Args:
        kind: ``text`` for plain text; else as on the wire: ``image_url``, ``input_audio``, ``file``, ``refusal`` …
        text: What it says, "" for other kinds.
        data: The part as parsed; not to be changed.
    """

    kind: str
    text: str = ""
    data: Mapping[str, Any] = field(default_factory=dict, repr=False)


@dataclass(frozen=True, slots=True)
class Message:
    """A reading view of one message.

    Args:
        index: Its place in the request's list, the one that an ``Insertion`` names.
        role: As on the wire.
        parts: A plain string is one text part.
        name: Its ``name`` field.
        tool_calls: As parsed; not to be changed.
        tool_call_id: Of a tool's result.
        is_insertable: Whether text can be appended to its content.
        signature: Of its last thought that its provider binds to what stood before it, "" where it has none.
        is_list: Its content is a list of blocks; read where that makes a difference to what is appended.
    """

    index: int
    role: str
    parts: tuple[Part, ...] = ()
    name: str = ""
    tool_calls: tuple[Mapping[str, Any], ...] = ()
    tool_call_id: str = ""
    is_insertable: bool = False
    signature: str = ""
    is_list: bool = False

    @property
    def text(self) -> str:
        """Its text parts, one a line."""
        return "\n".join(part.text for part in self.parts if part.text)


@dataclass(frozen=True, slots=True)
class ChatRequest:
    """Reading view of a request for memory; the bytes sent are edited by splice.

    Args:
        model: As the client wrote it.
        stream: Whether a stream of events was asked for.
        messages: In order; empty where the list is missing or no list (the upstream judges that).
        prompt_cache_key: Its body field.
        body: The whole body as parsed; not to be changed.
        continues: The provider's id of an earlier reply: it keeps what was said up to it, and only what is new is here.
        conversation: The provider's id of a conversation that it keeps; only what is new is here.
        is_kept: The provider keeps this exchange: a later request may continue it by the reply's id.
        binds: Its reply may hold thoughts that are bound to what stands in the request.
    """

    model: str
    stream: bool = False
    messages: tuple[Message, ...] = ()
    prompt_cache_key: str | None = None
    body: Mapping[str, Any] = field(default_factory=dict, repr=False)
    continues: str = ""
    conversation: str = ""
    is_kept: bool = False
    binds: bool = False


class Dialect(Protocol):
    """One wire format; the modules of this room fit it."""

    wire: Wire  # how images and files are written
    tool: ToolWire  # how a tool of ours stands beside the client's

    def read(self, body: bytes) -> ChatRequest:
        """Return a reading view of a body.

        Raises:
            InvalidRequest: If it is no JSON object or names no model.
        """

    def insert(self, body: bytes, insertions: Sequence[Insertion]) -> bytes:
        """Return the body with texts appended, all of them or (the same object) none."""

    def condense(self, body: bytes, drop: Collection[int], host: int, text: str) -> bytes:
        """Return the body without some messages and with a text in front of one that stays, or the same object."""

    def replace_model(self, body: bytes, name: str) -> bytes:
        """Return the body with another model's name."""

    def accumulator(self) -> Folding:
        """Return a fresh accumulator."""

    def end_watch(self) -> EndWatch:
        """Return a fresh watch for the terminal event of a stream."""

    def error_body(self, error: ProxyError, request_id: str = "") -> bytes:
        """Return an error of ours in the shape of this wire; some have a place for the request's id."""

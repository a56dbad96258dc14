"""Protocol of wire formats: a read-only view of a request, edits by splice, and the reply reassembled."""

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
        text: Text of the part, "" for other kinds.
        data: The parsed part; read-only.
    """

    kind: str
    text: str = ""
    data: Mapping[str, Any] = field(default_factory=dict, repr=False)


@dataclass(frozen=True, slots=True)
class Message:
    """Read-only view of one message.

    Args:
        index: Index in the request's list, as named by an ``Insertion``.
        role: Role as on the wire.
        parts: Content parts; a plain string is one text part.
        name: The ``name`` field.
        tool_calls: Parsed calls; read-only.
        tool_call_id: Id of the call that a tool result answers.
        is_insertable: Whether text can be appended to the content.
        signature: Signature of the last thinking block that the provider binds to its prefix, "" if there is none.
        is_list: Whether the content is a list of blocks; set only in dialects where appended text depends on it.
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
        """The text parts, one a line."""
        return "\n".join(part.text for part in self.parts if part.text)


@dataclass(frozen=True, slots=True)
class ChatRequest:
    """A parsed chat request, read-only; the forwarded bytes are edited by splice.

    Args:
        model: Model as the client wrote it.
        stream: Whether the client asked for a stream of events.
        messages: Messages in order; empty if the field is missing or not a list (the upstream judges that).
        prompt_cache_key: The body field of that name.
        body: The whole parsed body; read-only.
        continues: Provider's id of an earlier stored reply; the request then holds only the messages after it.
        conversation: Provider's id of a stored conversation; the request then holds only new messages.
        is_kept: Whether the provider stores this exchange, so that a later request may continue it by the reply's id.
        binds: Whether the reply may hold thinking blocks that are bound to the request's content.
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
    """One wire format, as the modules of this package implement it.

    Attributes:
        wire: Format of images and files.
        tool: Format of the ``recall`` tool beside the client's tools.
    """

    wire: Wire
    tool: ToolWire

    def read(self, body: bytes) -> ChatRequest:
        """Return a body as a ``ChatRequest``.

        Raises:
            InvalidRequest: If it is not a JSON object or names no model.
        """

    def insert(self, body: bytes, insertions: Sequence[Insertion]) -> bytes:
        """Return the body with all texts appended, or the same object if one cannot be appended."""

    def condense(self, body: bytes, drop: Collection[int], host: int, text: str) -> bytes:
        """Return the body without messages ``drop`` and with a text prepended to ``host``, or the same object."""

    def replace_model(self, body: bytes, name: str) -> bytes:
        """Return the body with another model's name."""

    def accumulator(self) -> Folding:
        """Return a fresh accumulator."""

    def end_watch(self) -> EndWatch:
        """Return a fresh detector of a stream's terminal event."""

    def error_body(self, error: ProxyError, request_id: str = "") -> bytes:
        """Return a ProxyError in this wire format; some formats include the request's id."""

"""Value types that all packages share; standard library only."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime, timedelta, timezone
from typing import Any, Literal

from proxy.types.scope import UNSAID as UNSAID
from proxy.types.scope import Allowance as Allowance
from proxy.types.scope import Scope as Scope
from proxy.types.scope import Team as Team

Kind = Literal["fact", "preference", "event", "task", "instruction", "summary"]
Status = Literal["active", "closed", "review", "quarantined", "archived"]
Mode = Literal["full", "read", "write", "observe", "ephemeral", "off"]
Finish = Literal["complete", "client_closed", "upstream_error"]
Source = Literal["fact", "episode", "chunk", "image", "summary", "task"]
Role = Literal["user", "assistant"]
Provenance = Literal["user", "user_confirmed", "document", "tool", "assistant"]
ReadingStatus = Literal["processing", "ready", "failed"]

BETWEEN_NAMES = " / "  # of one file, where it is cited by several

STATUSES: tuple[Status, ...] = ("active", "closed", "review", "quarantined", "archived")


def local(moment: datetime, offset_minutes: int) -> datetime:
    """Return an aware time at an offset from UTC; at the limits of the calendar, the same time of day there.

    >>> local(datetime(2026, 3, 2, 1, 6, tzinfo=timezone.utc), -180).isoformat()
    '2026-03-01T22:06:00-03:00'
    """
    zone = timezone(timedelta(minutes=offset_minutes))
    try:
        return moment.astimezone(zone)
    except OverflowError:
        return moment.replace(tzinfo=zone)


def offset_of(moment: datetime) -> int:
    """Return the whole minutes of an aware time's offset from UTC, cut off towards 0."""
    return int((moment.utcoffset() or timedelta()) / timedelta(minutes=1))


@dataclass(frozen=True, slots=True)
class Memory:
    """A statement of the user in the user's own words, with its source, validity and history.

    Attributes:
        text: A subsequence of the words of one message, or the text given by API, import or document.
        subject, relation, object: Only where a model or an API call gave them.
        quote: The whole sentence that holds ``text``, verbatim.
        source: ``turn:<id>``, ``api``, ``import`` or ``document:<id>``.
        turns: Ids of the turns that stated it; reinforcing twice from one turn changes nothing.
        context: Verbatim sentence needed to understand ``text``; never a memory itself.
        context_by: Speaker of ``context``.
        dates: Dates that time words of ``text`` resolve to, as shown beside it; "" where there are none.
        message, start, end: The message and the offsets of ``quote`` in it.
        earlier, later: Ids of linked older and newer memories; a closed memory names the closing one in ``later``.
        batch: Id of the ending that closed it or withholds it; "" where there is none.
        offset_minutes: As in ``Turn``.
    """

    id: str
    kind: Kind
    text: str
    created_at: datetime
    updated_at: datetime
    valid_from: datetime
    subject: str = ""
    relation: str = ""
    object: str = ""
    quote: str = ""
    source: str = ""
    confidence: float = 1.0
    provenance: Provenance = "user"
    status: Status = "active"
    valid_to: datetime | None = None
    last_used_at: datetime | None = None
    uses: int = 0
    expires_at: datetime | None = None
    pinned: bool = False
    priority: int = 0
    agent: str = ""
    session: str = ""
    turns: tuple[str, ...] = ()
    context: str = ""
    context_by: Role | Literal[""] = ""
    dates: str = ""
    message: str = ""
    start: int = 0
    end: int = 0
    earlier: tuple[str, ...] = ()
    later: tuple[str, ...] = ()
    batch: str = ""
    offset_minutes: int = 0
    metadata: dict[str, Any] = field(default_factory=dict)

    @property
    def local_from(self) -> datetime:
        """``valid_from`` on the user's own clock."""
        return local(self.valid_from, self.offset_minutes)


@dataclass(frozen=True, slots=True)
class Episode:
    """One message of a session, verbatim; a long message is several episodes.

    Attributes:
        seq: Position within the session; pieces of one message share it.
        live: False for history that came with a request: it may be older than ``at`` says.
        offset_minutes: As in ``Turn``.
    """

    id: str
    session: str
    turn: str
    seq: int
    role: Role
    text: str
    at: datetime
    agent: str = ""
    piece: int = 0
    live: bool = True
    offset_minutes: int = 0

    @property
    def local_at(self) -> datetime:
        """``at`` on the user's own clock."""
        return local(self.at, self.offset_minutes)


@dataclass(frozen=True, slots=True)
class ShownFile:
    """A file that the user showed, whatever it is, and how far it is read.

    Attributes:
        names: Other names under which the same bytes came.
    """

    id: str
    name: str
    media_type: str
    size_bytes: int
    sha256: str
    created_at: datetime
    agent: str = ""
    session: str = ""
    source: str = "upload"
    status: ReadingStatus = "processing"
    fraction: float = 0.0
    reason: str = ""
    error: str = ""
    used_in: tuple[str, ...] = ()  # conversations
    names: tuple[str, ...] = ()

    @property
    def all_names(self) -> str:
        """Every name of it, as it is cited; no file's name has a slash."""
        return BETWEEN_NAMES.join((self.name, *self.names))


@dataclass(frozen=True, slots=True)
class Document(ShownFile):
    """A text document and its content.

    Attributes:
        content_type, priority, metadata: As given over ``/memory-manager``; "", 0 and empty otherwise.
        summarised_by: Model of the summary, "" if the summary is extractive.
    """

    content_type: str = ""
    priority: int = 0
    metadata: dict[str, Any] = field(default_factory=dict)
    pages: int = 0
    title: str = ""
    outline: str = ""
    summary: str = ""
    summarised_by: str = ""
    notes: tuple[str, ...] = ()
    tokens: int = 0
    chunks: int = 0


@dataclass(frozen=True, slots=True)
class Image(ShownFile):
    """An image, with its texts and properties.

    Attributes:
        caption: Caption by a vision model, "" without one.
        place: Latitude and longitude.
        same_as: Id of the same image at another size or quality, whose texts these are.
    """

    caption: str = ""
    captioned_by: str = ""
    objects: tuple[str, ...] = ()
    ocr_text: str = ""
    width: int = 0
    height: int = 0
    phash: str = ""
    taken_at: datetime | None = None
    colours: tuple[str, ...] = ()
    camera: str = ""
    place: tuple[float, float] | None = None
    notes: tuple[str, ...] = ()
    same_as: str = ""


@dataclass(frozen=True, slots=True)
class Chunk:
    """A passage of a document, or the texts of an image.

    Args:
        id: Derived from the document and the place in it; for an image, the image's id.
        kind: ``chunk`` of a document, or ``image``.
        document: Id of the document or image.
        name: Name of the file.
        at: Time at which it was sent; for an image, at which it was taken, if known.
    """

    id: str
    kind: Literal["chunk", "image"]
    document: str
    name: str
    text: str
    at: datetime
    seq: int = 0
    page: int = 0
    pages: int = 0
    heading: str = ""
    agent: str = ""
    session: str = ""
    taken_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class Hit:
    """A ranked entry of any source, ready to be packed into a block or shown in a receipt.

    Attributes:
        seq: Position within its session or document.
        title: Name and page of a document.
        quote: For a memory, the whole sentence that holds ``text``.
        context, context_by, dates: As in ``Memory``.
        author: Member of a team who shared it; "" for the user's own.
        message: Id of the message that holds a memory.
        is_carried: True if the turn of that message may replace it.
        then: Linked newer statements, oldest first; rendered on the same entry, after this one.
        ended_by: Statement that closed this one, if a closed one is shown.
        stands_for: Ids of the memories that this turn replaces.
        quoted: Parts of a user's message that are not the user's words, as the whole message shows.
    """

    source: Source
    id: str
    text: str
    score: float
    tokens: int
    when: datetime | None = None
    session: str = ""
    role: Role | None = None
    kind: Kind | None = None
    confidence: float = 1.0
    seq: int = 0
    live: bool = True
    title: str = ""
    quote: str = ""
    context: str = ""
    context_by: Role | Literal[""] = ""
    dates: str = ""
    author: str = ""
    message: str = ""
    is_carried: bool = False
    stands_for: tuple[str, ...] = ()
    quoted: tuple[str, ...] = ()
    then: tuple[Hit, ...] = ()
    ended_by: Hit | None = None


@dataclass(frozen=True, slots=True)
class Said:
    """One message of a turn, as input of learning.

    Args:
        id: Hash-chain id of the message: equal prefix and content give an equal id.
        live: True for the user's newest message in the request; False for history that came with it. Only a live
            statement can restore a retracted one.
    """

    id: str
    role: Role
    text: str
    live: bool = True
    seq: int = 0


@dataclass(frozen=True, slots=True)
class Turn:
    """Messages that one request and its reply add to a session; the journal's unit of work.

    Attributes:
        at: Time of the request, UTC.
        offset_minutes: Offset of the user's clock from UTC; 0 if the client named none.
    """

    id: str
    scope: Scope
    messages: tuple[Said, ...]
    reply: str
    finish: Finish
    model: str
    at: datetime
    reply_id: str = ""
    reply_seq: int = 0
    usage: dict[str, Any] | None = None
    offset_minutes: int = 0
    receipt: str = ""

    @property
    def local_at(self) -> datetime:
        """``at`` on the user's own clock."""
        return local(self.at, self.offset_minutes)

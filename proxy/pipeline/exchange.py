"""One object per request, filled from top to bottom by the steps."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal

from proxy.access.auth import Identity
from proxy.access.limits import UNLIMITED, Ticket
from proxy.dialects.attachments import Attachment
from proxy.dialects.authored import Authored
from proxy.dialects.base import ChatRequest, Dialect, Message, Reply
from proxy.memory.conversations.chain import Point
from proxy.memory.conversations.running import Compacted
from proxy.memory.inject.ledger import NOTHING, Assembly
from proxy.memory.inject.standing import Standing
from proxy.memory.recall.sources import Recalled
from proxy.pipeline.handing import Handing
from proxy.store.bindings import Binding
from proxy.store.costs import Cost
from proxy.store.ledger import LedgerEntry
from proxy.store.media import Shown
from proxy.store.replies import Thread
from proxy.telemetry import Timings
from proxy.types import Hit, Memory, Mode, Scope
from proxy.upstream.base import Target
from proxy.upstream.failover import Attempt, Plan
from proxy.upstream.headers import by_name

Outcome = Literal["used", "none", "off", "degraded"]
# What is worst for the user first: a turn that is not kept, then memory that is not there, then memory less well found.
_WORST_FIRST = (
    "journal", "store", "memory", "assemble", "deadline", "attachments", "compaction", "prefix", "embedder", "tool",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Memories:
    """Value of ``X-Memory``: the work of memory on a request."""

    outcome: Outcome
    count: int = 0
    tokens: int = 0
    reason: str = ""

    def __str__(self) -> str:
        """Return the header's value."""
        reason = f"; reason={self.reason}" if self.reason else ""
        return f"{self.outcome}; n={self.count}; tokens={self.tokens}{reason}"


@dataclass(frozen=True, slots=True)
class Taker:
    """Inputs that a model accepts.

    Args:
        sees: Images.
        reads: PDF files.
        window: Tokens of a request; None: not known.
    """

    sees: bool
    reads: bool
    window: int | None


@dataclass(frozen=True, slots=True)
class Bound:
    """The last thought of a request that its provider binds to what stood before it.

    Args:
        signature: Its own.
        known: What it is bound to, where it was given here.
        is_ours: Where it is not known: whether memory may have lost what stood before it.
    """

    signature: str
    known: Binding | None = None
    is_ours: bool = False


@dataclass(slots=True)
class Attached:
    """An image or file of the request, and what became of it.

    Args:
        attachment: As it stands in the request.
        item: What it is in memory; None while it is not kept.
        action: ``kept`` as it was sent, or what stands in its place: ``described``, ``text``, ``outline``, ``data``;
            ``refused``, ``failed`` or ``left`` where it is not kept.
        reason: Why not, in a word.
    """

    attachment: Attachment
    item: Shown | None = None
    action: str = "left"
    reason: str = ""


@dataclass(slots=True)
class Exchange:
    """A request on its way, and everything that the steps found out about it."""

    method: str
    path: str
    query: str
    headers: Sequence[tuple[str, str]]
    body: bytes
    dialect: Dialect
    request_id: str = field(default_factory=lambda: f"req_{secrets.token_hex(12)}")
    receipt_id: str = field(default_factory=lambda: f"rcpt_{secrets.token_hex(12)}")
    timings: Timings = field(default_factory=Timings)

    # identify
    request: ChatRequest | None = None
    identity: Identity = field(default_factory=lambda: Identity(""))  # from here: before the body is read
    ticket: Ticket = UNLIMITED
    scope: Scope | None = None
    replayed: Scope | None = None  # of a request that is no turn of a conversation whose earlier blocks it needs
    mode: Mode = "off"
    off_reason: str = ""  # why memory is off, where neither the client nor its key says so
    now: datetime | None = None  # time of the turn: X-Memory-Time at its own offset where given, else UTC
    budget: int = 0
    names_budget: bool = False  # the client said how much
    session_name: str = ""
    agent_id: str = ""  # of the agent that the client names, whether it keeps to itself or not
    project_name: str = ""  # by header, or the folder that a coding agent works in
    plan: Plan | None = None
    target: Target | None = None  # the first of the plan, then the one that answered

    # attachments
    attached: list[Attached] = field(default_factory=list)
    made_for: Taker | None = None  # what the model takes for which the body was made
    standing_files: frozenset[str] = frozenset()  # ids of those that stand in the request as a whole
    keeping: asyncio.Task[None] | None = None  # beside the request; its turn waits for it
    resolved_body: bytes = b""  # the client's, with words where the model cannot take a file

    # recall
    points: list[Point] = field(default_factory=list)
    thread: Thread | None = None  # what the provider keeps of the conversation that this continues
    known: Collection[str] = ()  # links of this conversation that were learned from
    first_new: int = 0
    is_located: bool = False  # by what the store knows
    named_session: str = ""  # our id of the conversation that the client named
    ledger: Sequence[LedgerEntry] = ()
    bound: Bound | None = None
    drops_thoughts: bool = False  # the provider is asked to drop thoughts for what memory changed before them
    keeps_thoughts: bool = False  # it does not know that wish
    compaction: Compacted | None = None  # what of a long history is left out
    standing: Standing | None = None
    profile: Sequence[Memory] | None = None  # None: not known
    recalled: Recalled | None = None
    hits: list[Hit] = field(default_factory=list)  # recalled, still true, not said in the request
    opening: Sequence[Hit] = ()  # what the last conversations were about, where this one begins
    query_text: str = ""

    # assemble
    assembly: Assembly = NOTHING
    summary_tokens: int = 0  # of the running summary
    costs: Sequence[Cost] = ()
    usd: float = 0.0  # what the provider takes for it
    offers_recall: bool = False  # our tool stands in the request
    recalls: int = 0  # calls of it that were answered
    recalled_tokens: int = 0  # of the answers
    goes_on_as: str = ""  # the provider's id of what follows the reply that the client knows by another
    open_calls: tuple[str, ...] = ()  # calls of it that the provider waits to be answered
    upstream_body: bytes = b""
    stands_in: str = ""  # the model that this is fitted to, where it is not the one that the client asked for
    fitted: dict[str, Exchange | None] = field(default_factory=dict)  # what others are sent; None: the same

    # relay
    reply: Reply | None = None
    usage: Mapping[str, Any] | None = None  # as the provider counted, also where the reply is not read
    authored: Authored | None = None
    unheard: frozenset[int] = frozenset()  # indexes of messages that were said while memory was off

    handing: Handing | None = None  # where ids that the reply hands out are noted

    attempts: list[Attempt] = field(default_factory=list)
    refusal: str = ""  # code of our own error, where that is the reply
    reasons: list[str] = field(default_factory=list)  # why memory is degraded, the worst first

    @property
    def messages(self) -> Sequence[Message]:
        """The request's messages."""
        return self.request.messages if self.request else ()

    @property
    def dropped(self) -> Collection[int]:
        """Indexes of the messages that do not go up."""
        return self.compaction.plan.dropped if self.compaction else frozenset()

    @property
    def standing_points(self) -> Sequence[Point]:
        """The messages that go up, by name."""
        dropped = self.dropped
        return [point for point in self.points if point.index not in dropped] if dropped else self.points

    @property
    def model(self) -> str:
        """The model as the client wrote it."""
        return self.request.model if self.request else ""

    @property
    def served(self) -> str:
        """The model that the body is for."""
        return self.stands_in or self.model

    @property
    def streams(self) -> bool:
        """Whether the client asked for a stream of events."""
        return self.request is not None and self.request.stream

    @property
    def continues(self) -> bool:
        """Whether the provider keeps what was said before, so that only what is new stands in the request."""
        return self.request is not None and bool(self.request.continues or self.request.conversation)

    @property
    def offset(self) -> int:
        """Place of the request's first message in its conversation."""
        return self.thread.seq if self.thread else 0

    @property
    def kept(self) -> Sequence[LedgerEntry]:
        """Memories that earlier requests carried into a conversation kept by the provider."""
        thread = self.thread
        return [entry for entry in self.ledger if entry.anchor in thread.anchors] if thread else ()

    @property
    def required_scope(self) -> Scope:
        """The scope, where a step runs only with one."""
        if self.scope is None:
            raise RuntimeError("a step that needs a scope ran without one")
        return self.scope

    @property
    def moment(self) -> datetime:
        """Time of the turn."""
        if self.now is None:
            raise RuntimeError("a step that needs the time ran before identify")
        return self.now

    @property
    def reads(self) -> bool:
        """Whether memory is looked up for this request."""
        return self.scope is not None and self.mode in ("full", "read", "observe", "ephemeral")

    @property
    def learns(self) -> bool:
        """Whether the turn is kept and learned from."""
        return self.scope is not None and self.mode in ("full", "write", "ephemeral")

    @property
    def listens(self) -> bool:
        """Whether the reply is read: to learn from the turn, or for how it can be continued."""
        names = self.request is not None and (self.request.is_kept or self.request.binds)
        return self.learns or (names and self.scope is not None and self.mode == "read")

    @property
    def header_map(self) -> Mapping[str, str]:
        """Header values by lower-case name, the last of repeats, as UTF-8 where they are."""
        return by_name(self.headers)

    def said(self, index: int) -> str:
        """Return what the user wrote in a message; of another role, what the message says, our blocks aside."""
        if self.authored is None:
            if self.request is None:
                raise RuntimeError("a step that needs the request ran before identify")
            self.authored = Authored(self.request)
        return "" if index in self.unheard else self.authored.text(index)

    def degrade(self, reason: str) -> None:
        """Note that something of memory is missing from this request."""
        if reason not in self.reasons:
            self.reasons.append(reason)
            self.reasons.sort(key=_badness)

    def memories(self) -> Memories:
        """Return what memory did for this request."""
        if self.scope is None or self.mode == "off":
            return Memories("off", reason=self.off_reason or (self.identity.reason if self.scope is None else ""))
        is_changed = self.upstream_body is not self.resolved_body
        kept = self.assembly.shown_kept if self.mode != "observe" else 0
        injected = self.assembly.shown + kept if is_changed else kept
        tokens = self.assembly.tokens + self.summary_tokens if is_changed else 0
        injected += bool(self.summary_tokens) if is_changed else 0
        outcome: Outcome = "degraded" if self.reasons else "used" if injected else "none"
        reason = self.reasons[0] if self.reasons else "observe" if self.mode == "observe" else ""
        return Memories(outcome, injected, tokens, reason)

    def response_headers(self) -> list[tuple[str, str]]:
        """Return what we add to the provider's response headers."""
        added = [("X-Memory", str(self.memories()))]
        if self.scope is not None and self.mode != "off":
            added.append(("X-Memory-Receipt", self.receipt_id))
            if self.scope.session:
                added.append(("X-Memory-Session", self.shown_session))
        if self.timings.ms:
            added.append(("Server-Timing", self.timings.header()))
        return added

    @property
    def shown_session(self) -> str:
        """The conversation's id as the client knows it: its own where it fits into a header, else ours."""
        name = self.session_name
        if name and len(name) <= 256 and name.isascii() and name.isprintable():
            return name
        return self.scope.session if self.scope else ""


def _badness(reason: str) -> int:
    return _WORST_FIRST.index(reason) if reason in _WORST_FIRST else len(_WORST_FIRST)

"""State of one request: one object, in which each step fills in its section (``steps``), from top to bottom."""

from __future__ import annotations

import secrets
from collections.abc import Collection, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal

from proxy.access.auth import Identity
from proxy.access.limits import UNLIMITED, Ticket
from proxy.dialects.authored import Authored
from proxy.dialects.base import ChatRequest, Dialect, Message
from proxy.memory.conversations.chain import Point
from proxy.memory.inject.ledger import NOTHING, Assembly
from proxy.pipeline.handing import Handing
from proxy.pipeline.steps import Files, Found, Named, Placed, Relayed, Tool
from proxy.store.ledger import LedgerEntry
from proxy.telemetry import Timings
from proxy.types import Mode, Scope
from proxy.upstream.base import Target
from proxy.upstream.failover import Plan
from proxy.upstream.headers import by_name

Outcome = Literal["used", "none", "off", "degraded"]
# Worst for the user first: a turn that is not stored, then missing memory, then memory found less well.
_WORST_FIRST = (
    "journal", "store", "memory", "assemble", "deadline", "attachments", "compaction", "prefix", "embedder", "tool",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Memories:
    """Value of the header ``X-Memory``: the effect of memory on a request."""

    outcome: Outcome
    count: int = 0
    tokens: int = 0
    reason: str = ""

    def __str__(self) -> str:
        """Return the header's value."""
        reason = f"; reason={self.reason}" if self.reason else ""
        return f"{self.outcome}; n={self.count}; tokens={self.tokens}{reason}"


@dataclass(slots=True)
class Exchange:
    """State of one request.

    Attributes:
        as_written: Body and headers of a compressed request as the client sent them; None: ``body`` and ``headers``.
        identity: Set by admission, before the body is read.
        replayed: Scope of a request that is no turn, but needs the earlier blocks of its conversation.
        off_reason: Why memory is off, if neither the client nor its key says so.
        now: Time of the turn: X-Memory-Time at its own offset if given, else UTC.
        target: First target of the plan, then the one that answered.
        resolved_body: The client's body, with text in place of files that the model does not accept.
        stands_in: Fallback model for which this body is made; "" for the model that the client asked for.
        fitted: Copies made for other targets; None: such a target gets the same body.
        unheard: Indexes of messages from while memory was off.
        handing: Recorder of the ids that the reply hands out.
        reasons: Why memory is degraded, worst first.
    """

    method: str
    path: str
    query: str
    headers: Sequence[tuple[str, str]]
    body: bytes
    dialect: Dialect
    request_id: str = field(default_factory=lambda: f"req_{secrets.token_hex(12)}")
    receipt_id: str = field(default_factory=lambda: f"rcpt_{secrets.token_hex(12)}")
    timings: Timings = field(default_factory=Timings)

    as_written: tuple[bytes, list[tuple[str, str]]] | None = None

    # identify
    request: ChatRequest | None = None
    identity: Identity = field(default_factory=Identity)
    ticket: Ticket = UNLIMITED
    scope: Scope | None = None
    replayed: Scope | None = None
    mode: Mode = "off"
    off_reason: str = ""
    now: datetime | None = None
    budget: int = 0
    named: Named = field(default_factory=Named)
    plan: Plan | None = None
    target: Target | None = None

    # each step fills in one
    files: Files = field(default_factory=Files)
    placed: Placed = field(default_factory=Placed)
    found: Found = field(default_factory=Found)
    assembly: Assembly = NOTHING
    tool: Tool = field(default_factory=Tool)
    relayed: Relayed = field(default_factory=Relayed)

    resolved_body: bytes = b""
    upstream_body: bytes = b""
    stands_in: str = ""
    fitted: dict[str, Exchange | None] = field(default_factory=dict)
    authored: Authored | None = None
    unheard: frozenset[int] = frozenset()
    handing: Handing | None = None
    reasons: list[str] = field(default_factory=list)

    def fork(self) -> Exchange:
        """Return a copy for another model; steps that run on the copy leave this one unchanged."""
        one = copy(self)
        one.files, one.placed = copy(self.files), copy(self.placed)
        one.found, one.tool = copy(self.found), copy(self.tool)
        return one

    @property
    def messages(self) -> Sequence[Message]:
        """The request's messages."""
        return self.request.messages if self.request else ()

    @property
    def dropped(self) -> Collection[int]:
        """Indexes of the messages that compaction leaves out of the forwarded request."""
        return self.placed.compaction.plan.dropped if self.placed.compaction else frozenset()

    @property
    def standing_points(self) -> Sequence[Point]:
        """Points of the forwarded messages."""
        dropped = self.dropped
        return [point for point in self.placed.points if point.index not in dropped] if dropped else self.placed.points

    @property
    def model(self) -> str:
        """The model as the client wrote it."""
        return self.request.model if self.request else ""

    @property
    def served(self) -> str:
        """The model for which the body is made."""
        return self.stands_in or self.model

    @property
    def streams(self) -> bool:
        """Return whether the client asked for a stream of events."""
        return self.request is not None and self.request.stream

    @property
    def continues(self) -> bool:
        """Return whether the provider stores the earlier messages, so that the request holds only the new ones."""
        return self.request is not None and bool(self.request.continues or self.request.conversation)

    @property
    def offset(self) -> int:
        """Position of the request's first message in its conversation."""
        return self.placed.thread.seq if self.placed.thread else self.placed.left_out

    @property
    def kept(self) -> Sequence[LedgerEntry]:
        """Ledger entries that earlier requests put into a conversation stored by the provider."""
        thread = self.placed.thread
        return [entry for entry in self.placed.ledger if entry.anchor in thread.anchors] if thread else ()

    @property
    def required_scope(self) -> Scope:
        """The scope, for steps that run only with one; RuntimeError without."""
        if self.scope is None:
            raise RuntimeError("a step that needs a scope ran without one")
        return self.scope

    @property
    def moment(self) -> datetime:
        """Time of the turn; RuntimeError before identify."""
        if self.now is None:
            raise RuntimeError("a step that needs the time ran before identify")
        return self.now

    @property
    def is_off(self) -> bool:
        """Return whether memory is off for this request."""
        return self.scope is None or self.mode == "off"

    @property
    def reads(self) -> bool:
        """Return whether this request recalls memory."""
        return self.scope is not None and self.mode in ("full", "read", "observe", "ephemeral")

    @property
    def learns(self) -> bool:
        """Return whether the turn is stored and learned from."""
        return self.scope is not None and self.mode in ("full", "write", "ephemeral")

    @property
    def listens(self) -> bool:
        """Return whether the reply is parsed: to learn from the turn, or to let a later request continue it."""
        names = self.request is not None and (self.request.is_kept or self.request.binds)
        return self.learns or (names and self.scope is not None and self.mode == "read")

    @property
    def header_map(self) -> Mapping[str, str]:
        """Header values by lower-case name, decoded as UTF-8 if valid; of repeated headers the last."""
        return by_name(self.headers)

    def said(self, index: int) -> str:
        """Return the user's own text of a message; of another role, the message's text without memory blocks."""
        if self.authored is None:
            if self.request is None:
                raise RuntimeError("a step that needs the request ran before identify")
            self.authored = Authored(self.request)
        return "" if index in self.unheard else self.authored.text(index)

    def degrade(self, reason: str) -> None:
        """Note that memory is incomplete in this request."""
        if reason not in self.reasons:
            self.reasons.append(reason)
            self.reasons.sort(key=_badness)

    def memories(self) -> Memories:
        """Return the effect of memory on this request."""
        if self.is_off:
            return Memories("off", reason=self.off_reason or (self.identity.reason if self.scope is None else ""))
        is_changed = self.upstream_body is not self.resolved_body
        kept = self.assembly.shown_kept if self.mode != "observe" else 0
        injected = self.assembly.shown + kept if is_changed else kept
        tokens = self.assembly.tokens + self.placed.summary_tokens if is_changed else 0
        injected += bool(self.placed.summary_tokens) if is_changed else 0
        outcome: Outcome = "degraded" if self.reasons else "used" if injected else "none"
        reason = self.reasons[0] if self.reasons else "observe" if self.mode == "observe" else ""
        return Memories(outcome, injected, tokens, reason)

    def response_headers(self) -> list[tuple[str, str]]:
        """Return the headers to add to the provider's response."""
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
        """The conversation's id for the client: the client's name if it fits into a header, else Throughline's id."""
        name = self.named.session
        if name and len(name) <= 256 and name.isascii() and name.isprintable():
            return name
        return self.scope.session if self.scope else ""


def _badness(reason: str) -> int:
    return _WORST_FIRST.index(reason) if reason in _WORST_FIRST else len(_WORST_FIRST)

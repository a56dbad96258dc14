"""One object per request; each step fills in a value of its own (``steps``), from top to bottom."""

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


@dataclass(slots=True)
class Exchange:
    """State of one request."""

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
    identity: Identity = field(default_factory=Identity)  # from here: before the body is read
    ticket: Ticket = UNLIMITED
    scope: Scope | None = None
    replayed: Scope | None = None  # of a request that is no turn of a conversation whose earlier blocks it needs
    mode: Mode = "off"
    off_reason: str = ""  # why memory is off, where neither the client nor its key says so
    now: datetime | None = None  # time of the turn: X-Memory-Time at its own offset where given, else UTC
    budget: int = 0
    named: Named = field(default_factory=Named)
    plan: Plan | None = None
    target: Target | None = None  # the first of the plan, then the one that answered

    # each step fills in its own
    files: Files = field(default_factory=Files)
    placed: Placed = field(default_factory=Placed)
    found: Found = field(default_factory=Found)
    assembly: Assembly = NOTHING
    tool: Tool = field(default_factory=Tool)
    relayed: Relayed = field(default_factory=Relayed)

    resolved_body: bytes = b""  # the client's, with words where the model cannot take a file
    upstream_body: bytes = b""
    stands_in: str = ""  # the model that this is fitted to, where it is not the one that the client asked for
    fitted: dict[str, Exchange | None] = field(default_factory=dict)  # what others are sent; None: the same
    authored: Authored | None = None
    unheard: frozenset[int] = frozenset()  # indexes of messages that were said while memory was off
    handing: Handing | None = None  # where ids that the reply hands out are noted
    reasons: list[str] = field(default_factory=list)  # why memory is degraded, the worst first

    def fork(self) -> Exchange:
        """Return a copy for another model: its steps fill in their own values, not those of this one."""
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
        """Indexes of the messages that do not go up."""
        return self.placed.compaction.plan.dropped if self.placed.compaction else frozenset()

    @property
    def standing_points(self) -> Sequence[Point]:
        """The messages that go up, by name."""
        dropped = self.dropped
        return [point for point in self.placed.points if point.index not in dropped] if dropped else self.placed.points

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
        """Return whether the client asked for a stream of events."""
        return self.request is not None and self.request.stream

    @property
    def continues(self) -> bool:
        """Return whether the provider keeps what was said before, so that only what is new stands in the request."""
        return self.request is not None and bool(self.request.continues or self.request.conversation)

    @property
    def offset(self) -> int:
        """Place of the request's first message in its conversation."""
        return self.placed.thread.seq if self.placed.thread else self.placed.left_out

    @property
    def kept(self) -> Sequence[LedgerEntry]:
        """Memories that earlier requests carried into a conversation kept by the provider."""
        thread = self.placed.thread
        return [entry for entry in self.placed.ledger if entry.anchor in thread.anchors] if thread else ()

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
        """Return whether memory is looked up for this request."""
        return self.scope is not None and self.mode in ("full", "read", "observe", "ephemeral")

    @property
    def learns(self) -> bool:
        """Return whether the turn is kept and learned from."""
        return self.scope is not None and self.mode in ("full", "write", "ephemeral")

    @property
    def listens(self) -> bool:
        """Return whether the reply is read: to learn from the turn, or for how it can be continued."""
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
        tokens = self.assembly.tokens + self.placed.summary_tokens if is_changed else 0
        injected += bool(self.placed.summary_tokens) if is_changed else 0
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
        name = self.named.session
        if name and len(name) <= 256 and name.isascii() and name.isprintable():
            return name
        return self.scope.session if self.scope else ""


def _badness(reason: str) -> int:
    return _WORST_FIRST.index(reason) if reason in _WORST_FIRST else len(_WORST_FIRST)

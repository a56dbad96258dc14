"""Sections of an exchange, each filled in by one step of a request."""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from proxy.dialects.attachments import Attachment
from proxy.dialects.reply import Reply
from proxy.memory.conversations.chain import Point
from proxy.memory.conversations.running import Compacted
from proxy.memory.inject.standing import Standing
from proxy.memory.recall.sources import Recalled
from proxy.store.bindings import Binding
from proxy.store.costs import Cost
from proxy.store.ledger import LedgerEntry
from proxy.store.media import Shown
from proxy.store.replies import Thread
from proxy.types import Hit, Memory
from proxy.upstream.failover import Attempt


@dataclass(frozen=True, slots=True)
class Taker:
    """Inputs that a model accepts.

    Args:
        sees: The model accepts images.
        reads: The model accepts PDF files.
        window: Context window in tokens; None if unknown.
    """

    sees: bool
    reads: bool
    window: int | None


@dataclass(frozen=True, slots=True)
class Bound:
    """The last thinking block of a request that its provider binds to the content before it.

    Args:
        signature: Signature of the block.
        known: Recorded binding of the block; None if it was not relayed here.
        is_ours: For an unknown block: True if memory may have lost the content before it.
    """

    signature: str
    known: Binding | None = None
    is_ours: bool = False


@dataclass(slots=True)
class Attached:
    """An image or file of the request, and its outcome.

    Args:
        attachment: Its part of the request.
        item: Its document or image in memory; None while it is not stored.
        action: ``kept`` if forwarded unchanged, or its replacement: ``described``, ``text``, ``outline``, ``data``;
            ``refused``, ``failed`` or ``left`` if it is not stored.
        reason: Reason of the last three, as a code.
        is_in_memory: ``item`` is among the ephemeral ones, though the request is not.
    """

    attachment: Attachment
    item: Shown | None = None
    action: str = "left"
    reason: str = ""
    is_in_memory: bool = False


@dataclass(slots=True)
class Named:
    """Names in the request, filled in by identify.

    Attributes:
        session: Client's name of the conversation.
        session_id: Throughline's id of that conversation.
        agent_id: Id of the agent that the client names, whether its memory is private or shared.
        project: Name from the header, or the folder that a coding agent works in.
        has_budget: True if the client sent a budget of memory tokens.
    """

    session: str = ""
    session_id: str = ""
    agent_id: str = ""
    project: str = ""
    has_budget: bool = False


@dataclass(slots=True)
class Files:
    """Images and files of the request, filled in by attach and keep.

    Attributes:
        items: Attachments in the order of the request.
        made_for: Inputs of the model for which the body was made.
        standing: Ids of the attachments that the request holds in full.
        keeping: Task that stores them concurrently; journaling the turn waits for it.
    """

    items: list[Attached] = field(default_factory=list)
    made_for: Taker | None = None
    standing: frozenset[str] = frozenset()
    keeping: asyncio.Task[None] | None = None


@dataclass(slots=True)
class Placed:
    """Place of the request in its conversation, filled in by place and compact.

    Attributes:
        points: Messages by their names in the hash chain.
        thread: Conversation at the provider that this one continues.
        known: Hashes of the links of this conversation that were learned from.
        first_new: Index of the first new message.
        left_out: Number of earlier messages of the conversation that the client did not send again.
        is_located: True if the store was queried; else the place follows from the request alone.
        ledger: Blocks that earlier requests carried.
        bound: Last thinking block that is bound to the content before it.
        drops_thoughts: The provider is asked to drop thinking blocks, as memory changed the content before them.
        keeps_thoughts: The provider does not support that parameter.
        compaction: Messages left out of a long history.
        summary_tokens: Tokens of the running summary.
    """

    points: list[Point] = field(default_factory=list)
    thread: Thread | None = None
    known: Collection[str] = ()
    first_new: int = 0
    left_out: int = 0
    is_located: bool = False
    ledger: Sequence[LedgerEntry] = ()
    bound: Bound | None = None
    drops_thoughts: bool = False
    keeps_thoughts: bool = False
    compaction: Compacted | None = None
    summary_tokens: int = 0


@dataclass(slots=True)
class Found:
    """Memory for the request, filled in by recall.

    Attributes:
        standing: Query-independent memory of the scope.
        profile: Memories in every conversation; None if unknown.
        recalled: Result of the search.
        hits: Hits of the search that are still true and not in the request itself.
        opening: Summaries of the last conversations, in the first request of a new one.
        query: Search text.
    """

    standing: Standing | None = None
    profile: Sequence[Memory] | None = None
    recalled: Recalled | None = None
    hits: list[Hit] = field(default_factory=list)
    opening: Sequence[Hit] = ()
    query: str = ""


@dataclass(slots=True)
class Tool:
    """State of the opt-in `recall` tool.

    Attributes:
        is_wanted: The client, or its key, opted in.
        is_offered: The request holds the tool.
        calls: Number of answered calls.
        tokens: Tokens of the answers.
        continues_as: Provider's id of the continued response; the client knows the response by another id.
        open_calls: Ids of calls whose results the provider still needs.
    """

    is_wanted: bool = False
    is_offered: bool = False
    calls: int = 0
    tokens: int = 0
    continues_as: str = ""
    open_calls: tuple[str, ...] = ()


@dataclass(slots=True)
class Relayed:
    """The reply, filled in by forward and relay.

    Attributes:
        attempts: Deployments that were tried.
        reply: The parsed reply; None if it is not parsed.
        usage: Provider's token counts, also of a reply that is not parsed.
        refusal: Code of the ProxyError, if one is the reply.
        costs: Costs of memory in this request.
        usd: Provider's price of the request, in US dollars.
    """

    attempts: list[Attempt] = field(default_factory=list)
    reply: Reply | None = None
    usage: Mapping[str, Any] | None = None
    refusal: str = ""
    costs: Sequence[Cost] = ()
    usd: float = 0.0

"""The values that the steps of a request fill in, one class a step."""

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
        session: Conversation, as the client names it.
        session_id: Our id of that conversation.
        agent_id: Id of the agent that the client names, whether it keeps to itself or not.
        project: By header, or the folder that a coding agent works in.
        has_budget: The client said how many tokens of memory it wants.
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
        items: In the order of the request.
        made_for: Inputs of the model for which the body was made.
        standing: Ids of those that stand in the request as a whole.
        keeping: Stores them beside the request; its turn waits for it.
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
        known: Links of this conversation that were learned from.
        first_new: Index of the first message that is new.
        left_out: How many earlier messages of the conversation the client did not send again.
        is_located: The store was asked; else it is placed by the request alone.
        ledger: Blocks that earlier requests carried.
        bound: Last thought that is bound to what stood before it.
        drops_thoughts: The provider is asked to drop thoughts, for what memory changed before them.
        keeps_thoughts: The provider does not know that wish.
        compaction: Messages left out of a long history.
        summary_tokens: Of the running summary.
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
        profile: Memories that stand in every conversation; None: not known.
        recalled: Result of the search.
        hits: Of it, those still true and not said in the request.
        opening: Summaries of the last conversations, where this one begins.
        query: Text searched for.
    """

    standing: Standing | None = None
    profile: Sequence[Memory] | None = None
    recalled: Recalled | None = None
    hits: list[Hit] = field(default_factory=list)
    opening: Sequence[Hit] = ()
    query: str = ""


@dataclass(slots=True)
class Tool:
    """The `recall` tool, where the client asked for it.

    Attributes:
        is_wanted: The client, or its key, opted in.
        is_offered: It stands in the request.
        calls: Calls of it that were answered.
        tokens: Of the answers.
        continues_as: Provider's id of what follows the reply; the client knows it by another.
        open_calls: Calls that the provider waits to be answered.
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
        reply: As read; None where it is not.
        usage: Tokens as the provider counted them, also where the reply is not read.
        refusal: Code of our own error, where that is the reply.
        costs: Of memory in this request.
        usd: Price of the request at the provider.
    """

    attempts: list[Attempt] = field(default_factory=list)
    reply: Reply | None = None
    usage: Mapping[str, Any] | None = None
    refusal: str = ""
    costs: Sequence[Cost] = ()
    usd: float = 0.0

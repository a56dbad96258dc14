"""Step 3, assemble: inject the recalled memory into the forwarded body, and the `recall` tool if the client opted in.

Fails open to the client's own body.
"""

from __future__ import annotations

from bisect import bisect
from dataclasses import replace

from proxy.dialects.body import Insertion
from proxy.dialects.responses_tool import resumed
from proxy.dialects.tool import Tool
from proxy.memory.inject.blocks import profile_block
from proxy.memory.inject.ledger import Assembly, Replies
from proxy.memory.inject.ledger import assemble as lay_out
from proxy.pipeline.compact import summary_text
from proxy.pipeline.exchange import Exchange
from proxy.pipeline.policy import beside_loop, best_effort
from proxy.process.threads import in_thread
from proxy.settings.memory import MemorySettings
from proxy.store.bindings import signature_hash
from proxy.text.tokens import count

_PROFILE_TOKENS = 150  # at most, within the budget
TOOL_NAME = "recall"
_RECALL = Tool(
    TOOL_NAME,
    "Look up what the user said before: in the part of this conversation that was left out, and in earlier "
    "conversations. Ask by what is sought, or by the numbers of messages as the summary gives them.",
    {
        "type": "object",
        "properties": {
            "query": {"type": "string", "description": "What to look for, in the user's words."},
            "messages": {"type": "string", "description": "Numbers of messages of this conversation: #12-#18."},
        },
    },
)


async def assemble(exchange: Exchange, settings: MemorySettings) -> None:
    """Fill in the injected blocks and the body for the provider."""
    if not exchange.reads or not exchange.placed.points:
        return
    await _leave_out(exchange)
    if exchange.continues and not exchange.placed.is_located:
        return  # the blocks in the provider's own copy are unknown
    with exchange.timings.step("assemble"), best_effort(exchange, "assemble"):
        budget = exchange.budget
        is_known = exchange.found.profile is not None and budget > 0
        profile = profile_block(exchange.found.profile or (), min(_PROFILE_TOKENS, budget), count) if is_known else None
        points = exchange.standing_points
        hits, opening = exchange.found.hits, exchange.found.opening
        replies = _bound_replies(exchange)
        assembly = lay_out(
            points, exchange.placed.ledger, profile, hits, budget, count, exchange.kept, opening, replies
        )
        exchange.assembly = assembly = _formed(assembly, exchange)
        if exchange.mode == "observe" or not assembly.additions:
            return
        gone = sorted(exchange.dropped)
        insertions = [Insertion(one.index - bisect(gone, one.index), one.text, one.apart) for one in assembly.additions]
        body = exchange.upstream_body
        exchange.upstream_body = await beside_loop(body, exchange.dialect.insert, body, insertions)


def offer(exchange: Exchange) -> None:
    """Add the `recall` tool to the request of a client that opted in, unless it would conflict with the request."""
    if not exchange.tool.is_wanted or exchange.mode == "observe" or not exchange.reads:
        return
    body = exchange.request.body if exchange.request else {}
    if exchange.dialect.tool.may_offer(body, TOOL_NAME):
        before = exchange.upstream_body
        exchange.upstream_body = exchange.dialect.tool.offered(before, _RECALL)
        exchange.tool.is_offered = exchange.upstream_body is not before


def resume(exchange: Exchange) -> None:
    """Continue a reply that had recall-tool calls by the provider's id, and close its open calls."""
    thread = exchange.placed.thread
    if thread is not None and exchange.mode != "observe" and (thread.goes_on_as or thread.open_calls):
        exchange.upstream_body = resumed(exchange.upstream_body, thread.goes_on_as, thread.open_calls)


def _bound_replies(exchange: Exchange) -> Replies:
    """Return the replies of a request that are bound to the content before them."""
    last, user, following = -1, -1, dict[int, str]()
    for point in exchange.standing_points:
        signature = exchange.messages[point.index].signature
        if point.role == "user":
            user = point.index
        elif signature:
            last = point.index
            following.setdefault(user, signature_hash(signature))
    return Replies(last, following)


def _formed(assembly: Assembly, exchange: Exchange) -> Assembly:
    """Note on each new entry whether its message's content came as a list of parts."""
    forms = {point.hash: exchange.messages[point.index].is_list for point in exchange.placed.points}
    entries = [replace(one, apart=forms[one.anchor]) for one in assembly.entries]
    return replace(assembly, entries=tuple(entries))


async def _leave_out(exchange: Exchange) -> None:
    """Replace the dropped messages by the summary; on failure all messages are forwarded."""
    compacted = exchange.placed.compaction
    if compacted is None:
        return
    exchange.budget = compacted.plan.memory
    if exchange.mode == "observe":
        return
    whole = exchange.upstream_body
    with exchange.timings.step("condense"), best_effort(exchange, "compaction"):
        text = summary_text(exchange)
        condense, left_out = exchange.dialect.condense, compacted.plan
        exchange.upstream_body = await in_thread("cpu", condense, whole, left_out.dropped, left_out.host, text)
        exchange.placed.summary_tokens = count(text) if text else 0
    if exchange.upstream_body is whole:
        exchange.placed.compaction = None
        exchange.degrade("compaction")

"""Puts the ``recall`` tool into the requests of clients that asked for it."""

from __future__ import annotations

from proxy.dialects.responses_tool import resumed
from proxy.dialects.tool import Tool
from proxy.pipeline.exchange import Exchange

NAME = "recall"
_TOOL = Tool(
    NAME,
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


def offer(exchange: Exchange) -> None:
    """Put the tool into the request of a client that opted in, where it takes nothing from what the client asked."""
    if not exchange.tool.is_wanted or exchange.mode == "observe" or not exchange.reads:
        return
    body = exchange.request.body if exchange.request else {}
    if exchange.dialect.tool.may_offer(body, NAME):
        before = exchange.upstream_body
        exchange.upstream_body = exchange.dialect.tool.offered(before, _TOOL)
        exchange.tool.is_offered = exchange.upstream_body is not before


def resume(exchange: Exchange) -> None:
    """Name a kept reply that had look-ups inside it as its provider does, and leave none of their calls open."""
    thread = exchange.placed.thread
    if thread is not None and exchange.mode != "observe" and (thread.goes_on_as or thread.open_calls):
        exchange.upstream_body = resumed(exchange.upstream_body, thread.goes_on_as, thread.open_calls)

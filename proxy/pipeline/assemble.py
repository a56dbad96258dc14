"""Step 3, pure: from what was recalled to the body that goes upstream; fails open, to the client's own body."""

from __future__ import annotations

from proxy.config import MemorySettings
from proxy.dialects.base import Insertion
from proxy.memory.blocks import EMPTY, profile_block
from proxy.memory.ledger import assemble as lay_out
from proxy.pipeline.exchange import Exchange
from proxy.pipeline.policy import best_effort
from proxy.tokens import count


def assemble(exchange: Exchange, settings: MemorySettings) -> None:
    """Fill in what is injected and the body for the provider."""
    if not exchange.reads or not exchange.points:
        return
    with exchange.timings.step("assemble"), best_effort(exchange, "assemble"):
        budget = exchange.budget
        profile = profile_block(exchange.profile, min(settings.profile_tokens, budget), count) if budget else EMPTY
        assembly = lay_out(exchange.points, exchange.ledger, profile, exchange.hits, budget, count)
        exchange.assembly = assembly
        if exchange.mode == "observe" or not assembly.additions:
            return
        insertions = [Insertion(addition.index, addition.text) for addition in assembly.additions]
        exchange.upstream_body = exchange.dialect.insert(exchange.body, insertions)

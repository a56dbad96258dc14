"""Step 3: from what was recalled to the body that goes upstream; fails open, to the client's own body."""

from __future__ import annotations

from proxy.config import MemorySettings
from proxy.dialects.base import Insertion
from proxy.memory.blocks import profile_block
from proxy.memory.ledger import assemble as lay_out
from proxy.pipeline.exchange import Exchange
from proxy.pipeline.identify import LARGE_BYTES
from proxy.pipeline.policy import best_effort
from proxy.threads import in_thread
from proxy.tokens import count


async def assemble(exchange: Exchange, settings: MemorySettings) -> None:
    """Fill in what is injected and the body for the provider."""
    if not exchange.reads or not exchange.points:
        return
    if exchange.continues and not exchange.is_located:
        return  # what stands in the provider's own copy is not known
    with exchange.timings.step("assemble"), best_effort(exchange, "assemble"):
        budget = exchange.budget
        is_known = exchange.profile is not None and budget > 0
        profile = (
            profile_block(exchange.profile or (), min(settings.profile_tokens, budget), count) if is_known else None
        )
        assembly = lay_out(exchange.points, exchange.ledger, profile, exchange.hits, budget, count, exchange.kept)
        exchange.assembly = assembly
        if exchange.mode == "observe" or not assembly.additions:
            return
        insertions = [Insertion(addition.index, addition.text) for addition in assembly.additions]
        if len(exchange.body) < LARGE_BYTES:
            exchange.upstream_body = exchange.dialect.insert(exchange.body, insertions)
        else:
            exchange.upstream_body = await in_thread("cpu", exchange.dialect.insert, exchange.body, insertions)

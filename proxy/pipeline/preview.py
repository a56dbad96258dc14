"""Preview of the block for a question, without a provider: steps 2 and 3 of a request in observe mode."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import orjson

from proxy.dialects import chat
from proxy.pipeline.assemble import assemble
from proxy.pipeline.exchange import Exchange
from proxy.pipeline.recall import recall
from proxy.pipeline.remember import receipt_of
from proxy.services import Services
from proxy.types import Hit, Scope


@dataclass(frozen=True, slots=True)
class Preview:
    """Texts that would be injected.

    Args:
        receipt: As of a request in observe mode; ids in place of texts.
        additions: The texts that would be appended to the question, in order.
        hits: What the receipt names, injected and considered.
    """

    receipt: dict[str, Any]
    additions: tuple[str, ...]
    hits: tuple[Hit, ...]


async def preview(question: str, scope: Scope, services: Services, *, budget: int) -> Preview:
    """Return what a new conversation that begins with a question would carry; nothing is written or counted.

    Args:
        question: The user's first message.
        scope: Whose memory.
        services: The parts.
        budget: Most tokens of memory.
    """
    body = orjson.dumps({"model": "preview", "messages": [{"role": "user", "content": question}]})
    exchange = Exchange("POST", "/v1/chat/completions", "", (), body, chat)
    exchange.request = exchange.dialect.read(body)
    exchange.scope, exchange.mode, exchange.budget = replace(scope, session=""), "observe", budget
    exchange.now = services.clock.now()
    exchange.upstream_body = exchange.resolved_body = body
    with services.precedence.ahead():
        await recall(exchange, services)
        await assemble(exchange, services.settings.memory)
    found = exchange.found.recalled.considered if exchange.found.recalled is not None else ()
    hits = (*exchange.assembly.hits, *exchange.found.hits, *exchange.found.opening, *found)
    receipt = receipt_of(exchange, "complete")
    return Preview(receipt, tuple(one.text for one in exchange.assembly.additions), hits)

"""``POST /v1/memories/preview``: what a question would carry to a model, without asking one."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated, Any

import orjson
from pydantic import BaseModel, ConfigDict, Field

from proxy.api.caller import Caller, Parts, PatientRoute, Router
from proxy.dialects import chat
from proxy.pipeline.assemble import assemble
from proxy.pipeline.exchange import Exchange
from proxy.pipeline.recall import recall
from proxy.pipeline.remember import receipt_of
from proxy.services import Services
from proxy.types import Scope

router = Router(prefix="/v1/memories", route_class=PatientRoute)


class Question(BaseModel):
    """Body of ``POST /v1/memories/preview``."""

    model_config = ConfigDict(extra="forbid")

    text: Annotated[str, Field(min_length=1, max_length=20_000)]
    budget: int | None = Field(None, ge=0)


@router.post("/preview")
async def preview_memories(scope: Caller, services: Parts, body: Question) -> dict[str, Any]:
    """Return the receipt that a first message would have, and the texts that would be appended to it.

    As in ``X-Memory-Mode: observe``, but no provider is asked, and no receipt is kept.
    """
    settings = services.settings.memory
    budget = settings.budget_tokens if body.budget is None else min(body.budget, settings.max_budget_tokens)
    exchange = await _observed(body.text, scope, services, budget)
    receipt, found = receipt_of(exchange, "complete"), exchange.found
    considered = found.recalled.considered if found.recalled is not None else ()
    texts = {hit.id: hit.text for hit in (*exchange.assembly.hits, *found.hits, *found.opening, *considered)}
    shown = {
        name: [{**entry, "text": texts.get(entry["id"])} for entry in receipt[name]]
        for name in ("injected", "considered")
    }
    wanted = ("query", "profile", "opening", "gate", "budget", "tokens", "timings", "degraded")
    told = {name: receipt[name] for name in wanted}
    additions = [one.text for one in exchange.assembly.additions]
    return {"object": "memory.preview", **told, **shown, "additions": additions}


async def _observed(question: str, scope: Scope, services: Services, budget: int) -> Exchange:
    """Return a request that begins a conversation, after recall and assembly; nothing is sent, written or counted."""
    body = orjson.dumps({"model": "preview", "messages": [{"role": "user", "content": question}]})
    exchange = Exchange("POST", "/v1/chat/completions", "", (), body, chat)
    exchange.request = exchange.dialect.read(body)
    exchange.scope, exchange.mode, exchange.budget = replace(scope, session=""), "observe", budget
    exchange.now = services.clock.now()
    exchange.upstream_body = exchange.resolved_body = body
    with services.precedence.ahead():
        await recall(exchange, services)
        await assemble(exchange, services.settings.memory)
    return exchange

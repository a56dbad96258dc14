"""``POST /v1/memories/preview``: what a question would carry to a model, without asking one."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter
from pydantic import BaseModel, ConfigDict, Field

from proxy.api.caller import Caller, Parts
from proxy.api.patient import PatientRoute
from proxy.pipeline.preview import preview

router = APIRouter(prefix="/v1/memories", route_class=PatientRoute)


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
    seen = await preview(body.text, scope, services, budget=budget)
    texts = {hit.id: hit.text for hit in seen.hits}
    shown = {
        name: [{**entry, "text": texts.get(entry["id"])} for entry in seen.receipt[name]]
        for name in ("injected", "considered")
    }
    wanted = ("query", "profile", "opening", "gate", "budget", "tokens", "timings", "degraded")
    told = {name: seen.receipt[name] for name in wanted}
    return {"object": "memory.preview", **told, **shown, "additions": list(seen.additions)}

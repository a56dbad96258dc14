"""``/v1/state``: what there is of this scope, and what is still on its way."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter

from proxy.api.caller import Caller, Parts

router = APIRouter(prefix="/v1/state")


@router.get("")
async def state(scope: Caller, services: Parts) -> dict[str, Any]:
    """Return counts of what the scope sees; ``pending_turns`` 0 means that everything said can be recalled."""
    rows = await services.store.memories(scope)
    by_status: dict[str, int] = {}
    for row in rows:
        if scope.sees(row.agent):
            by_status[row.status] = by_status.get(row.status, 0) + 1
    waiting = [item for part in services.both() for item in await part.journal.items(scope)]
    episodes = await services.store.episodes(scope)
    return {
        "object": "state",
        "pending_turns": sum(scope.sees(item.scope.agent) for item in waiting),
        "dead_turns": sum(scope.sees(item.scope.agent) for item in await services.journal.dead(scope)),
        "memories": by_status,
        "episodes": sum(scope.sees(episode.agent) for episode in episodes),
        "ready": services.is_ready,
        "embedder": services.embedder.model,
        "extractor": "model" if services.uses_model else "builtin",
    }

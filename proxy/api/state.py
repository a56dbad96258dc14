"""``/v1/state``: what there is of this scope, and what is still on its way."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter

from proxy.api.caller import Caller, Parts

router = APIRouter(prefix="/v1/state")


@router.get("")
async def state(scope: Caller, services: Parts) -> dict[str, Any]:
    """Return counts of what the scope sees; ``pending_turns`` 0 means that everything said can be recalled."""
    by_status, episodes = await services.index.tally(scope)
    waiting = [item for part in services.both() for item in await part.journal.items(scope)]
    return {
        "object": "state",
        "pending_turns": sum(scope.sees(item.scope.agent) for item in waiting),
        "dead_turns": sum(scope.sees(item.scope.agent) for item in await services.journal.dead(scope)),
        "pending_media": sum([await part.media.waiting(scope) for part in services.both()]),
        "memories": by_status,
        "episodes": episodes,
        "ready": services.is_ready,
        "embedder": services.embedder.model,
        "extractor": "model" if services.uses_model else "builtin",
    }

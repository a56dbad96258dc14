"""``/v1/operator``: counts and health of the whole server, for a key that its operator made for that; no texts."""

from __future__ import annotations

from datetime import timedelta
from typing import Annotated, Any

from fastapi import APIRouter, Query, Request

from proxy.api.caller import services_of
from proxy.clock import iso
from proxy.errors import Forbidden
from proxy.pipeline.admission import identity_of
from proxy.store.census import census

router = APIRouter(prefix="/v1/operator", include_in_schema=False)


@router.get("")
async def operator(request: Request, days: Annotated[int, Query(ge=1, le=366)] = 7) -> dict[str, Any]:
    """Return how the server is and how much it holds, by user; users are named by their hashes."""
    services = services_of(request)
    pairs = [(name.decode("latin-1"), value.decode("latin-1")) for name, value in request.headers.raw]
    if not (await identity_of(pairs, services)).is_operator:
        raise Forbidden("This is for a key that `throughline keys create --operator` made.")
    since = services.clock.now() - timedelta(days=days)
    number, users = await census(services.database, since=since)
    failed = services.failed_writes()
    return {
        "object": "operator",
        "ready": services.is_ready,
        "embedder": services.embedder.model,
        "journal": await services.journal.depth(),
        "damage": [incident.shown() for incident in await services.incidents.unseen()],
        "failed_writes": {part: {"at": iso(one.at), "error": one.error} for part, one in failed.items()},
        "days": days,
        "users": number,
        "data": [
            {
                "user": one.owner[:12],
                "sessions": one.sessions,
                "turns": one.turns,
                "requests": one.requests,
                "last_at": iso(one.last_at),
            }
            for one in users
        ],
    }

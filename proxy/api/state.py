"""``/v1/state`` and ``/v1/usage``: counts of a scope, its pending work, and its usage so far."""

from __future__ import annotations

from datetime import timedelta
from typing import Annotated, Any

from fastapi import Query, Request

from proxy.api.asgi import headers_of
from proxy.api.caller import Caller, Parts, PatientRoute, Router
from proxy.clock import iso
from proxy.memory.lifecycle.usage import By, reasons_of, steps_of, usage_by
from proxy.pipeline.admission import identity_of
from proxy.process.threads import in_thread
from proxy.services import Services
from proxy.store.costs import shown
from proxy.types import Scope
from proxy.worker.hygiene import look

_MAX_IDS = 100

router = Router(prefix="/v1", route_class=PatientRoute)


@router.get("/state")
async def state(scope: Caller, services: Parts) -> dict[str, Any]:
    """Return counts of the scope; ``pending_turns`` 0 means that everything said can be recalled.

    Of very many turns at once, as in an import, and where the embedding model was away, ``pending_vectors`` rows are
    found by their words until they are embedded. Those of another model are among them until ``throughline reembed``.

    ``hygiene`` lists memories unused for long: those shown in short form, and those archived or due to be.
    """
    by_status, episodes = await services.index.tally(scope)
    pending, dead = await services.journal.tally(scope)
    ephemeral = (await services.ephemeral.journal.tally(scope))[0] if services.ephemeral is not None else 0
    unread = [item for part in services.both() for item in await part.media.waiting(scope)]
    damage = [incident.shown() for incident in await services.incidents.of(scope)]
    told = sum(item.source == "chat" for item in unread)  # a turn is not complete before its attachments are read
    return {
        "object": "state",
        "pending_turns": pending + ephemeral + told,
        "dead_turns": dead,
        "pending_media": len(unread),
        "pending_vectors": await services.store.count_unembedded(scope, services.embedder.model),
        "memories": by_status,
        "episodes": episodes,
        "costs": shown(await services.costs.read(scope)),
        "ready": services.is_ready,
        "embedder": services.embedder.model,
        "extractor": "model" if services.judge is not None else "builtin",
        "pending_judgements": await services.journal.unjudged(scope),
        "hygiene": await _due(services, scope),
        **({"damage": damage} if damage else {}),
    }


@router.get("/usage")
async def usage(
    request: Request,
    scope: Caller,
    services: Parts,
    by: By = "day",
    days: Annotated[int | None, Query(ge=1, le=3660)] = None,
) -> dict[str, Any]:
    """Return the usage of requests and memory, newest day first; days older than ``store.receipts_days`` are gone.

    ``days`` limits it to the last days, today included. ``steps`` are the times of the pipeline's steps in
    milliseconds, ``degraded`` counts requests by the part of memory that they lacked.

    ``user`` covers all users that this key named. They have no names here: ``user`` of the answer is the id of the user
    that the request names.
    """
    today = services.clock.now().replace(hour=0, minute=0, second=0, microsecond=0)
    since = today - timedelta(days=days - 1) if days else None
    identity = await identity_of(headers_of(request.scope), services)
    bodies = []
    for part in services.both():
        if by == "user" and identity.may_name:
            bodies += await part.receipts.of_key(scope, identity.holder, since=since)
        else:
            bodies += [{**body, "user": scope.user} for body in await part.receipts.all(scope, since=since)]
    if since is not None:  # a replayed turn has its original time
        first = iso(since)
        bodies = [body for body in bodies if str(body["created_at"]) >= first]
    data, steps, reasons = await in_thread("cpu", lambda: (usage_by(bodies, by), steps_of(bodies), reasons_of(bodies)))
    about = {"by": by, "user": scope.user}
    return {"object": "list", **about, "data": data, "steps": steps, "degraded": reasons, "has_more": False}


async def _due(services: Services, scope: Scope) -> dict[str, Any]:
    settings, found = services.settings.memory, await look(services, scope)
    return {
        "archives": settings.archive_unused,
        "compress_days": settings.compress_days,
        "archive_days": settings.archive_days,
        "compressed": len(found.compressed),
        "due": len(found.due),
        "over": found.over,
        "ids": list(found.due[:_MAX_IDS]),
    }

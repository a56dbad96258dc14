"""``/v1/usage``: tokens and money by day or model, from the receipts that are kept."""

from __future__ import annotations

from datetime import timedelta
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Query

from proxy.api.caller import Caller, Parts
from proxy.clock import iso
from proxy.memory.lifecycle.usage import reasons_of, steps_of, usage_by
from proxy.process.threads import in_thread

router = APIRouter(prefix="/v1/usage")


@router.get("")
async def usage(
    scope: Caller,
    services: Parts,
    by: Literal["day", "model"] = "day",
    days: Annotated[int | None, Query(ge=1, le=3660)] = None,
) -> dict[str, Any]:
    """Return what requests and memory used, newest day first; days older than ``store.receipts_days`` are gone.

    With ``days``, of the last so many, today included. ``steps`` are the times of the pipeline's steps in
    milliseconds, ``degraded`` counts what was missing of memory.
    """
    today = services.clock.now().replace(hour=0, minute=0, second=0, microsecond=0)
    since = today - timedelta(days=days - 1) if days else None
    bodies = [body for part in services.both() for body in await part.receipts.all(scope, since=since)]
    if since is not None:  # a turn that is replayed has the time when it was said
        first = iso(since)
        bodies = [body for body in bodies if str(body["created_at"]) >= first]
    data, steps, reasons = await in_thread("cpu", lambda: (usage_by(bodies, by), steps_of(bodies), reasons_of(bodies)))
    return {"object": "list", "by": by, "data": data, "steps": steps, "degraded": reasons, "has_more": False}

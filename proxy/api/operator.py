"""``/v1/operator``: counts and health of the whole server, for an operator key; no texts."""

from __future__ import annotations

import os
import shutil
from collections.abc import Sequence
from datetime import timedelta
from pathlib import Path
from typing import Annotated, Any

from fastapi import Query, Request

from proxy.api.caller import Router, services_of
from proxy.clock import iso
from proxy.errors import Forbidden
from proxy.memory.lifecycle.usage import reasons_of, steps_of, usage_by, usage_of_owners
from proxy.pipeline.admission import identity_of
from proxy.process.threads import in_thread
from proxy.store.census import census, newest_receipts

router = Router(prefix="/v1/operator", include_in_schema=False)
_MAX_RECEIPTS = 50_000  # for the sums; the newest ones


@router.get("")
async def operator(request: Request, days: Annotated[int, Query(ge=1, le=366)] = 7) -> dict[str, Any]:
    """Return the server's health and its data by user; users are named by their hashes."""
    services = services_of(request)
    pairs = [(name.decode("latin-1"), value.decode("latin-1")) for name, value in request.headers.raw]
    if not (await identity_of(pairs, services)).is_operator:
        raise Forbidden("This is for a key that `throughline keys create --operator` made.")
    since = services.clock.now() - timedelta(days=days)
    number, users = await census(services.database, since=since)
    pairs_of_receipts = await newest_receipts(services.database, since=since, limit=_MAX_RECEIPTS)
    used, by_day, by_model, steps, reasons = await in_thread("cpu", _summed, pairs_of_receipts)
    disk = await in_thread("load", _disk, services.settings.server.data_dir)
    await services.probe()
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
        "disk": disk,
        "by_day": by_day,
        "by_model": by_model,
        "steps": steps,
        "degraded": reasons,
        "receipts_read": len(pairs_of_receipts),
        "data": [
            {
                "user": one.owner[:12],
                "sessions": one.sessions,
                "turns": one.turns,
                "requests": one.requests,
                "last_at": iso(one.last_at),
                "usage": used.get(one.owner),
            }
            for one in users
        ],
    }


def _summed(pairs: Sequence[tuple[str, dict[str, Any]]]) -> tuple[Any, ...]:
    bodies = [body for _, body in pairs]
    return (
        usage_of_owners(pairs),
        usage_by(bodies, "day"),
        usage_by(bodies, "model"),
        steps_of(bodies),
        reasons_of(bodies),
    )


def _disk(folder: Path) -> dict[str, int]:
    """Return the bytes of all files of the data folder, and the free bytes of its disk."""
    used = 0
    for place, _, names in os.walk(folder):
        for name in names:
            try:
                used += os.lstat(os.path.join(place, name)).st_size
            except FileNotFoundError:  # removed meanwhile
                continue
    return {"used_bytes": used, "free_bytes": shutil.disk_usage(folder).free}

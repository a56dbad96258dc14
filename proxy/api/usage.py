"""``/v1/usage``: tokens and money by day or model, from the receipts that are kept."""

from __future__ import annotations

from typing import Any, Literal

from fastapi import APIRouter

from proxy.api.caller import Caller, Parts
from proxy.memory.lifecycle.usage import usage_by
from proxy.process.threads import in_thread

router = APIRouter(prefix="/v1/usage")


@router.get("")
async def usage(scope: Caller, services: Parts, by: Literal["day", "model"] = "day") -> dict[str, Any]:
    """Return what requests and memory used, newest day first; days older than ``store.receipts_days`` are gone."""
    bodies = [body for part in services.both() for body in await part.receipts.all(scope)]
    data = await in_thread("cpu", usage_by, bodies, by)
    return {"object": "list", "by": by, "data": data, "has_more": False}

"""``/v1/erase``: a user's memory, destroyed for good."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter

from proxy.api.caller import Caller, Parts
from proxy.worker.erasing import erase_scope

router = APIRouter(prefix="/v1")


@router.post("/erase")
async def erase(scope: Caller, services: Parts, *, verify: bool = False) -> dict[str, Any]:
    """Destroy everything of the caller everywhere, for good; with ``verify``, search the files for what was erased."""
    return await erase_scope(services, scope, verify=verify)

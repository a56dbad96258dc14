"""Erases a scope from every part of a process and of the disk, and returns the receipt."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from proxy.clock import iso
from proxy.memory.lifecycle.erase import SCRUB_TRIES, Erasing, prove
from proxy.process.threads import shielded
from proxy.services import Services
from proxy.types import Scope
from proxy.types.partition import covers
from proxy.worker.destroy import erase_noted, scrub

ERASING = ("erase", "scrub", "verify")  # steps, in order


def _told_nobody(step: str) -> None:
    """Take a step that nobody waits for."""


async def erase_scope(
    services: Services, scope: Scope, *, verify: bool, tell: Callable[[str], None] = _told_nobody
) -> dict[str, Any]:
    """Erase everything of a scope and return a receipt with counts per store; with ``verify``, search the files.

    Args:
        services: The parts.
        scope: Whose; where it names an agent or a project, its part of the user's memory.
        verify: Whether the files are searched for what was erased.
        tell: Called with each of ``ERASING`` as it begins.

    Raises:
        StoreUnavailable: If another process does not let go of the user's memory in time.
    """
    return await shielded(_erase_scope(services, scope, verify=verify, tell=tell), "erase")


async def _erase_scope(
    services: Services, scope: Scope, *, verify: bool, tell: Callable[[str], None]
) -> dict[str, Any]:
    tell("erase")
    done = await erase_noted(services, scope, verify=verify)
    in_memory = Erasing()
    if services.ephemeral is not None:
        in_memory = await erase_noted(services.ephemeral, scope, verify=False)
    for part in services.both():
        _forget(part, scope)
    tell("scrub")
    is_scrubbed = await scrub(services, tries=SCRUB_TRIES)
    receipt: dict[str, Any] = {
        "object": "erasure",
        "at": iso(services.clock.now()),
        "erased": done.counts,
        "in_memory": in_memory.counts,
        "scrubbed": is_scrubbed,
    }
    if verify:
        tell("verify")
        folder = services.settings.server.data_dir
        receipt["verification"] = await prove(services.database, folder, scope, done.wanted)
    return receipt


def _forget(services: Services, scope: Scope) -> None:
    """Drop what a process still meant to do for the scope."""
    for known in [one for one in services.last_used if one.user == scope.user and covers(scope.agent, one.agent)]:
        del services.last_used[known]
    services.written.discard(Scope(scope.tenant, scope.user))

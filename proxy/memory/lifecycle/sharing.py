"""Share memories with teams, and withdraw them."""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime

from proxy.errors import InvalidRequest
from proxy.memory.plan.changes import is_ending, is_over
from proxy.store.ledger import Ledger
from proxy.store.shares import Shares
from proxy.types import Memory, Scope
from proxy.types.scope import parts


def may_share(memory: Memory, now: datetime) -> None:
    """Refuse a memory that must not be shared with a team.

    Raises:
        InvalidRequest: If the memory is closed or expired, a summary of a private session, or in quarantine.
    """
    if memory.status != "active" or is_ending(memory) or is_over(memory, now):
        raise InvalidRequest("Only memories that hold are shared. Restore this one first.", param="id")
    if memory.kind == "summary":
        raise InvalidRequest("A summary tells of a whole conversation. Share single memories.", param="id")
    if parts(memory.agent)[2]:
        raise InvalidRequest("This memory is in quarantine. Release it first.", param="id")


async def withdraw(
    shares: Shares, ledger: Ledger, scope: Scope, memories: Collection[str] | None = None, *, team: str = ""
) -> int:
    """End shares of a user, and drop them from other users' ledgers. Safe to repeat.

    Args:
        shares: Shares of all users.
        ledger: Ledgers of all users.
        scope: Whose shares.
        memories: Only of these memories; all if None.
        team: Only with the team of this id; "": with all.

    Returns:
        Number of ended shares.
    """
    found = [one.id for one in await shares.of_owner(scope, memories) if team in ("", one.team)]
    await ledger.drop_shared(found)
    await shares.remove(scope, found)
    return len(found)

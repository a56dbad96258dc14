"""What stands for an owner whatever the question: the profile, and which values have ended."""

from __future__ import annotations

import weakref
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from proxy.memory.changes import PROFILE
from proxy.memory.index import FactShelf
from proxy.memory.visibility import ClosedValues
from proxy.types import Memory, Scope


@dataclass(frozen=True, slots=True)
class Standing:
    """The profile's memories (validity not yet checked against the time) and the closed values of one scope."""

    profile: tuple[Memory, ...]
    closed: ClosedValues

    def profile_at(self, now: datetime) -> list[Memory]:
        """Return the profile's memories that have not expired."""
        return [memory for memory in self.profile if memory.expires_at is None or memory.expires_at > now]


_Key = tuple[int, int, str]
_known: weakref.WeakKeyDictionary[FactShelf, dict[str, tuple[_Key, Standing]]] = weakref.WeakKeyDictionary()


def standing(scope: Scope, shelf: FactShelf) -> Standing:
    """Return what stands for ``scope``; worked out once for each state of the shelf."""
    key = (shelf.stamp, len(shelf.items), scope.agent)
    by_agent = _known.setdefault(shelf, {})
    found = by_agent.get(scope.agent)
    if found is None or found[0] != key:
        found = by_agent[scope.agent] = (key, _work_out(scope, shelf))
    return found[1]


def _work_out(scope: Scope, shelf: FactShelf) -> Standing:
    rows = [row for row in _living(shelf) if scope.sees(row.agent)]
    profile = [row for row in rows if row.status == "active" and is_profile(row)]
    return Standing(tuple(profile), ClosedValues.from_memories(rows))


def is_profile(memory: Memory) -> bool:
    """Whether a memory belongs in every prompt: by its kind, or because its owner pinned it."""
    metadata: dict[str, Any] = memory.metadata
    return memory.pinned or bool(metadata.get(PROFILE))


def _living(shelf: FactShelf) -> list[Memory]:
    with shelf.lock:
        return [row for line, row in enumerate(shelf.items) if shelf.line(row.id) == line]

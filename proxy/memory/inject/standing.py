"""What stands for an owner whatever the question: the profile, and which values have ended."""

from __future__ import annotations

import weakref
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any

from proxy.memory.index.cache import IndexCache
from proxy.memory.plan.changes import PROFILE
from proxy.memory.visibility.visibility import ClosedValues
from proxy.store.ledger import LedgerEntry
from proxy.types import Hit, Memory, Scope

LONG_AGO = datetime(1, 1, 2, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Standing:
    """The profile's memories (validity not yet checked against the time) and the closed values of one scope."""

    profile: tuple[Memory, ...]
    closed: ClosedValues
    gone: ClosedValues  # those that have not come back
    closed_ids: frozenset[str]

    def seen(self, hit: Hit, now: datetime) -> Hit | None:
        """Return the hit without what has ended; None where nothing is left.

        Only what the user says in so many words brings a value back: a reply that repeats one, or history that came
        along later, counts as older than its end.
        """
        is_statement = hit.source != "episode" or (hit.role == "user" and hit.live)
        text = self.closed.visible(hit.text, (hit.when or now) if is_statement else LONG_AGO)
        return None if text is None else hit if text == hit.text else replace(hit, text=text)

    def still_holds(self, entry: LedgerEntry) -> bool:
        """Whether what a conversation carries may go on being carried."""
        if not self.closed_ids.isdisjoint(entry.memory_ids):
            return False
        return self.gone.visible(entry.text, LONG_AGO) == entry.text

    def still_true(self, text: str) -> str | None:
        """Return a text of any time without what has ended since; None where nothing is left of it."""
        return self.gone.visible(text, LONG_AGO)

    def profile_at(self, now: datetime) -> list[Memory]:
        """Return the profile's memories that have not expired."""
        return [memory for memory in self.profile if memory.expires_at is None or memory.expires_at > now]


_Known = OrderedDict[tuple[str, str], tuple[tuple[str, str], Standing]]
_known: weakref.WeakKeyDictionary[IndexCache, _Known] = weakref.WeakKeyDictionary()
_MOST_KNOWN = 2000


async def standing(scope: Scope, index: IndexCache) -> Standing:
    """Return what stands for ``scope``; worked out once for each state of the owner's memories."""
    known = _known.setdefault(index, OrderedDict())
    key, revision = (scope.user, scope.agent), index.store.revision(scope, "memories")
    found = known.get(key)
    if found is None or found[0] != revision:
        found = known[key] = (revision, _work_out(scope, await index.marked(scope)))
        if len(known) > _MOST_KNOWN:
            known.popitem(last=False)
    known.move_to_end(key)
    return found[1]


def _work_out(scope: Scope, memories: Sequence[Memory]) -> Standing:
    rows = [row for row in memories if scope.sees(row.agent)]
    profile = [row for row in rows if row.status == "active" and is_profile(row)]
    gone = [row for row in rows if row.status in ("retracted", "superseded")]
    closed_ids = frozenset(row.id for row in rows if row.status != "active")
    return Standing(tuple(profile), ClosedValues.from_memories(rows), ClosedValues.from_memories(gone), closed_ids)


def is_profile(memory: Memory) -> bool:
    """Whether a memory belongs in every prompt: by its kind, or because its owner pinned it."""
    metadata: dict[str, Any] = memory.metadata
    return memory.pinned or bool(metadata.get(PROFILE))

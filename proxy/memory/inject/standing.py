"""Query-independent memory of a scope: its profile, and the texts that its endings withhold."""

from __future__ import annotations

import weakref
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from proxy.memory.index.cache import IndexCache
from proxy.memory.plan.changes import PROFILE, TASK, is_ending
from proxy.memory.visibility.visibility import Withheld
from proxy.store.ledger import LedgerEntry
from proxy.types import Hit, Memory, Scope


@dataclass(frozen=True, slots=True)
class Standing:
    """The profile's memories (expiry not yet checked), withheld spans, closed ids and tasks of one scope.

    Attributes:
        passing: Statements with an expiry, expired or not.
    """

    profile: tuple[Memory, ...]
    withheld: Withheld
    closed_ids: frozenset[str]
    tasks: tuple[Memory, ...] = ()
    passing: tuple[Memory, ...] = ()

    def seen(self, hit: Hit) -> Hit | None:
        """Return the hit without withheld sentences; None if nothing is left."""
        if hit.id in self.closed_ids:
            return None
        if hit.context and self._hides(hit.context):
            hit = replace(hit, context="", context_by="")
        if hit.then:
            hit = replace(hit, then=tuple(shown for one in hit.then if (shown := self.seen(one)) is not None))
        text = self.withheld.visible(hit.id, hit.text)
        if text is not None and hit.source in ("episode", "summary") and not (hit.role == "user" and hit.live):
            text = self.withheld.visible_text(text)
        return None if text is None else hit if text == hit.text else replace(hit, text=text)

    def still_holds(self, entry: LedgerEntry) -> bool:
        """Return whether an injected block may be injected again."""
        return self.closed_ids.isdisjoint(entry.memory_ids) and self.withheld.is_clean(entry.text, entry.memory_ids)

    def still_true(self, text: str) -> str | None:
        """Return a text that is in no row, without withheld sentences; None if nothing is left."""
        return self.withheld.visible_text(text)

    def profile_at(self, now: datetime) -> list[Memory]:
        """Return the profile's memories that have not expired."""
        found = [memory for memory in self.profile if memory.expires_at is None or memory.expires_at > now]
        return [replace(one, context="", context_by="") if self._hides(one.context) else one for one in found]

    def _hides(self, context: str) -> bool:
        """Return whether the context of a statement is withheld: forgotten on request, or closed."""
        return bool(context) and self.withheld.visible_text(context) != context


_Known = OrderedDict[tuple[str, str, tuple[str, ...]], tuple[tuple[str, str], Standing]]
_known: weakref.WeakKeyDictionary[IndexCache, _Known] = weakref.WeakKeyDictionary()
MAX_KNOWN = 2000  # scopes


async def standing(scope: Scope, index: IndexCache) -> Standing:
    """Return the query-independent memory of ``scope``, cached by revision of the user's memories."""
    known = _known.setdefault(index, OrderedDict())
    key, revision = (scope.user, scope.agent, scope.also), index.store.revision(scope, "memories")
    found = known.get(key)
    if found is None or found[0] != revision:
        found = known[key] = (revision, _collect(scope, await index.marked(scope)))
        if len(known) > MAX_KNOWN:
            known.popitem(last=False)
    known.move_to_end(key)
    return found[1]


def _collect(scope: Scope, memories: Sequence[Memory]) -> Standing:
    rows = [row for row in memories if scope.sees(row.agent)]
    profile = [row for row in rows if row.status == "active" and is_profile(row)]
    closed_ids = frozenset(row.id for row in rows if row.status != "active" and not is_ending(row))
    tasks = tuple(row for row in rows if _is_active_task(row))
    passing = tuple(row for row in rows if row.status == "active" and row.expires_at is not None and row.message)
    return Standing(tuple(profile), Withheld.of(rows), closed_ids, tasks, passing)


async def active_tasks(scope: Scope, index: IndexCache) -> list[Memory]:
    """Return the active tasks of a scope; cheaper than ``standing`` while each turn changes memories."""
    return [row for row in await index.marked(scope) if scope.sees(row.agent) and _is_active_task(row)]


def _is_active_task(memory: Memory) -> bool:
    return memory.status == "active" and TASK in memory.metadata


def is_profile(memory: Memory) -> bool:
    """Return whether a memory belongs in every prompt: by its kind, or because the user pinned it."""
    metadata: dict[str, Any] = memory.metadata
    return memory.pinned or bool(metadata.get(PROFILE))

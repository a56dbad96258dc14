"""Archiving of long unused memories, if switched on, and reports of memories that are due."""

from __future__ import annotations

import weakref
from collections import OrderedDict
from datetime import datetime

from proxy.memory.index.cache import IndexCache
from proxy.memory.lifecycle.hygiene import Report, Rules, archive_changes, report
from proxy.services import Services
from proxy.store.stamps import owners
from proxy.types import Memory, Scope

_Known = OrderedDict[tuple[str, str, tuple[str, ...], str, datetime], Report]
_known: weakref.WeakKeyDictionary[IndexCache, _Known] = weakref.WeakKeyDictionary()
MAX_KNOWN = 500


def rules_of(services: Services) -> Rules:
    """Return the archiving rules of the settings."""
    settings = services.settings.memory
    return Rules(settings.compress_days, settings.archive_days, settings.expire_days)


async def look(services: Services, scope: Scope) -> Report:
    """Return the report of due memories that the scope sees; it is cached for up to a minute."""
    known = _known.setdefault(services.index, OrderedDict())
    now = services.clock.now()
    is_large = await services.store.count(scope, "memories") > services.index.most_rows
    revision = "" if is_large else services.index.store.revision(scope, "memories")[1]
    key = (scope.user, scope.agent, scope.also, revision, now.replace(second=0, microsecond=0))
    if key not in known:
        found = await services.index.living(scope)
        known[key] = await _report(services, scope, [row for row in found if scope.owns(row.agent)])
        if len(known) > MAX_KNOWN:
            known.popitem(last=False)
    return known[key]


async def tidy(services: Services, scope: Scope) -> int:
    """Archive the user's due memories, of all agents and projects; return their number."""
    async with services.leases.held(scope):
        rows = await services.store.memories(scope)
        uses = await services.uses.of(scope, [row.id for row in rows])
        changes = archive_changes(rows, uses, services.clock.now(), rules_of(services))
        await services.book.apply(scope, changes)
    return len(changes)


async def tidy_all(services: Services, *, applies: bool) -> dict[str, Report]:
    """Return the reports of due memories by user; archive them if ``applies``."""
    found: dict[str, Report] = {}
    for owner in await owners(services.database):
        scope = Scope("", owner)
        rows = await services.store.memories(scope)
        found[owner] = await _report(services, scope, rows)
        if applies and found[owner].due:
            await tidy(services, scope)
    return found


async def _report(services: Services, scope: Scope, rows: list[Memory]) -> Report:
    uses = await services.uses.of(scope, [row.id for row in rows])
    return report(rows, uses, services.clock.now(), rules_of(services))

"""End of ephemeral sessions: after a time without requests, or at the user's request."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace

from proxy.errors import NotFound
from proxy.services import Services
from proxy.store.erase import Erasure
from proxy.types import Scope
from proxy.worker.destroy import destroy_file


async def sweep(services: Services) -> int:
    """Delete the sessions that have been idle for too long; return their number."""
    long_ago = services.clock.monotonic() - services.settings.memory.ephemeral_ttl_s
    idle = [scope for scope, used in services.last_used.items() if used <= long_ago]
    for scope in idle:
        await forget_conversation(services, scope)
    return len(idle)


async def forget_conversation(services: Services, scope: Scope) -> None:
    """Delete one ephemeral session; with a user's last one, everything of the user."""
    for known in [one for one in services.last_used if one.user == scope.user and one.session == scope.session]:
        del services.last_used[known]
    for kind in ("document", "image"):
        shown, _ = await services.media.page(scope, kind, limit=None)
        for item in shown:
            if item.session == scope.session:
                await destroy_file(services, scope, item.id)
    async with services.leases.held(scope):
        learned = [row.id for row in await services.store.memories(scope) if row.session == scope.session]
        await services.store.remove_memories(scope, learned)
        await services.store.remove_episodes(scope, session=scope.session)
        await services.history.purge(scope, learned)
        await services.uses.remove(scope, learned)
        await services.receipts.remove(scope, scope.session)
        with suppress(NotFound):  # a refused request leaves a receipt but no session
            await services.sessions.delete(scope, scope.session)
        if not any(one.user == scope.user for one in services.last_used):
            await services.store.drop_owner(scope)
            await services.blobs.drop_owner(scope)
            services.uses.forget(scope)
            await Erasure(services.database).erase(replace(scope, session=""))
    services.written.discard(Scope(scope.tenant, scope.user))
    services.index.forget(scope)

"""Destroys a document or image, with everything that was made of it."""

from __future__ import annotations

from contextlib import suppress

from proxy.errors import NotFound
from proxy.process.threads import shielded
from proxy.services import Services
from proxy.store.media import Shown
from proxy.types import Scope


async def discard(services: Services, scope: Scope, item: Shown) -> None:
    """Destroy bytes, thumbnail, passages, vectors and captions, what conversations carry of them, and their uploads.

    What was said about it stays with the conversations.
    """
    await shielded(_discard(services, scope, item), "discard")


async def _discard(services: Services, scope: Scope, item: Shown) -> None:
    async with services.leases.held(scope):
        async with services.library.lock(scope):
            is_last = await services.media.remove(scope, item.id)
            if is_last:
                await services.blobs.remove(scope, item.sha256)
        await services.files.remove_media(scope, item.id)
        ids = [one for one in await services.store.ids(scope, "chunks") if one.partition(".")[0] == item.id]
        await services.store.remove_chunks(scope, ids)
        await services.ledger.drop_memories(scope, ids)
        with suppress(NotFound):
            await services.quarantine.remove(scope, (await services.quarantine.get(scope, item.id)).id)
        source = f"document:{item.id}"
        derived = [row.id for row in await services.store.memories(scope) if row.source == source]
        if derived:
            await services.store.remove_memories(scope, derived)
            await services.history.purge(scope, derived)
            await services.uses.remove(scope, derived)
        await services.store.purge(scope)
        services.index.forget(scope)
    services.needs_scrub = True

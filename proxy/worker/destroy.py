"""Destroys one memory, file or conversation with all copies; what ``kill -9`` cut short is ended at the next start."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from datetime import datetime

import structlog

from proxy.errors import NotFound, ProxyError
from proxy.memory.lifecycle.purge import Stores, purge
from proxy.memory.lifecycle.sharing import withdraw
from proxy.process.threads import shielded
from proxy.services import Services
from proxy.store.destructions import Destruction, Doomed
from proxy.store.media import Shown
from proxy.types import Memory, Scope
from proxy.worker.endings import forget_summaries

_log = structlog.get_logger(__name__)


async def destroy_memory(services: Services, scope: Scope, memory: Memory) -> None:
    """Destroy a memory's words in every store, and on the disk as far as nobody reads it just now."""
    async with _noted(services, scope, "memory", memory.id), services.leases.held(scope):
        await _memory(services, scope, memory.id, memory)
    await scrub(services)


async def discard(services: Services, scope: Scope, item: Shown) -> None:
    """Destroy bytes, thumbnail, passages, vectors and captions, what conversations carry of them, and their uploads.

    What was said about it stays with the conversations.
    """
    await shielded(_discard(services, scope, item), "discard")


async def destroy_session(services: Services, scope: Scope, session_id: str) -> None:
    """Destroy a conversation, by its id here.

    Raises:
        NotFound: If there is none.
    """
    async with services.leases.held(scope):
        await services.sessions.get(scope, session_id)
        async with _noted(services, scope, "session", session_id):
            await _session(services, scope, session_id)


async def resume(services: Services, *, until: datetime) -> bool:
    """End the destructions that began until a moment; return whether all are done."""
    is_whole = True
    for one in await services.destructions.unfinished(until=until):
        services.needs_scrub = True
        if one.is_done:
            continue
        try:
            async with services.leases.held(one.scope):
                await _again(services, one)
            await services.destructions.done(one.scope, one.noun, one.id, now=services.clock.now())
        except ProxyError as error:  # above all: the dead process's lease has not run out
            is_whole = False
            _log.warning("a destruction is not over, it is tried again", noun=one.noun, error=error.code)
    return is_whole


async def scrub(services: Services) -> None:
    """Make deleted rows leave the database's file; all writers wait meanwhile."""
    since, is_scrubbed = services.clock.now(), False
    services.needs_scrub = False
    try:
        is_scrubbed = await services.database.scrub()
    finally:
        services.needs_scrub |= not is_scrubbed
    if is_scrubbed:
        await services.destructions.over(until=since)


@asynccontextmanager
async def _noted(services: Services, scope: Scope, noun: Doomed, id_: str) -> AsyncIterator[None]:
    """Have it ended by upkeep, should this process die before it is done."""
    await services.destructions.begin(scope, noun, id_, now=services.clock.now())
    yield
    await services.destructions.done(scope, noun, id_, now=services.clock.now())
    services.needs_scrub = True


async def _again(services: Services, one: Destruction) -> None:
    if one.noun == "memory":
        await _memory(services, one.scope, one.id, await services.store.memory(one.scope, one.id))
    elif one.noun == "session":
        await _session(services, one.scope, one.id)
    else:
        item = None
        with suppress(NotFound):
            item = await services.media.get(one.scope, one.id)
        await _file(services, one.scope, one.id, item)


async def _memory(services: Services, scope: Scope, memory_id: str, memory: Memory | None) -> None:
    """Destroy a memory; its row, by whose words all others are found, goes last but for the table's old versions."""
    await withdraw(services.shares, services.ledger, scope, [memory_id])
    if memory is not None:
        stores = Stores(
            services.index,
            services.book,
            services.history,
            services.journal,
            services.ledger,
            services.compactions,
            services.receipts,
            services.uses,
        )
        await purge(stores, scope, memory, services.clock.now())
        return
    await services.history.purge(scope, [memory_id])
    await services.store.purge(scope)
    services.index.forget(scope)


async def _session(services: Services, scope: Scope, session_id: str) -> None:
    """Destroy a conversation; its row goes last, so that a broken attempt can be repeated from outside."""
    await services.store.remove_episodes(scope, session=session_id)
    await forget_summaries(services, scope, session_id)
    with suppress(NotFound):
        await services.sessions.delete(scope, session_id)
    await services.store.purge(scope)
    services.index.forget(scope)


async def _discard(services: Services, scope: Scope, item: Shown) -> None:
    async with _noted(services, scope, "media", item.id), services.leases.held(scope):
        await _file(services, scope, item.id, item)


async def _file(services: Services, scope: Scope, item_id: str, item: Shown | None) -> None:
    """Destroy a file; its row, which names the bytes, goes after them, so that a second try finds both."""
    if item is not None:
        async with services.library.lock(scope):
            if await services.media.is_last(scope, item.id, item.sha256):
                await services.blobs.remove(scope, item.sha256)
            await services.media.remove(scope, item.id)
    await services.files.remove_media(scope, item_id)
    ids = [one for one in await services.store.ids(scope, "chunks") if one.partition(".")[0] == item_id]
    await services.store.remove_chunks(scope, ids)
    await services.ledger.drop_memories(scope, ids)
    with suppress(NotFound):
        await services.quarantine.remove(scope, (await services.quarantine.get(scope, item_id)).id)
    source = f"document:{item_id}"
    derived = [row.id for row in await services.store.memories(scope) if row.source == source]
    if derived:
        await withdraw(services.shares, services.ledger, scope, derived)
        await services.store.remove_memories(scope, derived)
        await services.history.purge(scope, derived)
        await services.uses.remove(scope, derived)
    await services.store.purge(scope)
    services.index.forget(scope)

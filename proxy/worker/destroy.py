"""Destruction of a memory, file, session or scope with all copies; upkeep completes interrupted destructions.

Order: write a record of the destruction, delete bytes and vectors, delete rows; the next scrub of the database file
deletes the record. Each step can be repeated, as data that leads to other copies (a row names its bytes) goes last.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager, suppress
from datetime import datetime
from typing import Any

import structlog

from proxy.clock import iso
from proxy.errors import NotFound, ProxyError
from proxy.memory.lifecycle.erase import SCRUB_TRIES, Erasing, Keeping, erase, prove, scrub_file
from proxy.memory.lifecycle.purge import Stores, purge
from proxy.memory.lifecycle.sharing import withdraw
from proxy.memory.plan.changes import is_ending
from proxy.process.threads import shielded
from proxy.services import Services
from proxy.store.destructions import Doomed
from proxy.types import Scope
from proxy.types.scope import covers
from proxy.worker.endings import forget_summaries, remove_learned

_log = structlog.get_logger(__name__)
WAIT_S = 60.0  # for the worker to release the lease of a user whose whole scope is erased

ERASING = ("erase", "scrub", "verify")  # steps, in order


async def destroy_memory(services: Services, scope: Scope, memory_id: str) -> None:
    """Destroy a memory's text in every store and, unless a reader prevents the scrub, on the disk."""
    await shielded(_destroy(services, scope, "memory", memory_id), "destroy memory")
    await shielded(scrub(services), "scrub")


async def destroy_file(services: Services, scope: Scope, media_id: str) -> None:
    """Destroy a file's bytes, thumbnail, chunks, vectors, captions and uploads, and ledger entries that contain them.

    Messages about the file stay in the sessions.
    """
    await shielded(_destroy(services, scope, "media", media_id), "destroy file")


async def destroy_session(services: Services, scope: Scope, session_id: str) -> None:
    """Destroy a session by its id; memories learned from it stay."""
    await shielded(_destroy(services, scope, "session", session_id), "destroy session")


async def destroy_apart(services: Services, scope: Scope, entry_id: str) -> None:
    """Destroy a quarantined object and all memories learned from it."""
    await shielded(_destroy(services, scope, "apart", entry_id), "destroy apart")
    await shielded(scrub(services), "scrub")


def _told_nobody(step: str) -> None:
    """Ignore a step."""


async def erase_scope(
    services: Services, scope: Scope, *, verify: bool, tell: Callable[[str], None] = _told_nobody
) -> dict[str, Any]:
    """Erase everything of a scope and return a receipt with counts per store; with ``verify``, search the files.

    Args:
        services: The services.
        scope: A user; or an agent or project, then only its part of the user's memory.
        verify: Whether to search the files for the erased content.
        tell: Called with each of ``ERASING`` as it begins.

    Raises:
        StoreUnavailable: If another process does not release the user's lease in time.
    """
    return await shielded(_erase_scope(services, scope, verify=verify, tell=tell), "erase")


async def _erase_scope(
    services: Services, scope: Scope, *, verify: bool, tell: Callable[[str], None]
) -> dict[str, Any]:
    tell("erase")
    done = await _erase_noted(services, scope, verify=verify)
    in_memory = Erasing()
    if services.ephemeral is not None:
        in_memory = await _erase_noted(services.ephemeral, scope, verify=False)
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


async def _erase_noted(services: Services, scope: Scope, *, verify: bool) -> Erasing:
    """Erase everything of a scope; with ``verify`` also return the texts to search its copies by.

    Raises:
        StoreUnavailable: If another process does not release the user's lease in time.
    """
    async with _noted(services, scope, "scope", scope.agent, wait_s=WAIT_S):
        return await erase(_keeping(services), scope, verify=verify)


def _forget(services: Services, scope: Scope) -> None:
    """Drop the process's pending work for the scope."""
    for known in [one for one in services.last_used if one.user == scope.user and covers(scope.agent, one.agent)]:
        del services.last_used[known]
    services.written.discard(Scope(scope.tenant, scope.user))


async def resume(services: Services, *, until: datetime) -> bool:
    """Complete the destructions that began by ``until``; return whether all are done."""
    is_whole = True
    for one in await services.destructions.unfinished(until=until):
        try:
            async with services.leases.held(one.scope):
                # Otherwise it was completed meanwhile, and the current rows are new.
                if await services.destructions.is_open(one.scope, one.noun, one.id):
                    await _DESTROYERS[one.noun](services, one.scope, one.id)
                    await services.destructions.done(one.scope, one.noun, one.id, now=services.clock.now())
        except (ProxyError, OSError) as error:  # mostly because the dead process's lease has not expired
            is_whole = False
            code = error.code if isinstance(error, ProxyError) else type(error).__name__
            _log.warning("a destruction is not over, it is tried again", noun=one.noun, error=code)
    return is_whole


async def scrub(services: Services, *, tries: int = 1) -> bool:
    """Remove deleted rows from the database file, if it holds any; blocks all writers meanwhile.

    Returns:
        Whether no deleted row is left; False if readers prevented it.
    """
    if not await services.destructions.awaits_scrub():
        return True
    since = services.clock.now()
    is_scrubbed = await scrub_file(services.database, tries)
    if is_scrubbed:
        await services.destructions.over(until=since)
    return is_scrubbed


async def _destroy(services: Services, scope: Scope, noun: Doomed, id_: str) -> None:
    async with _noted(services, scope, noun, id_):
        await _DESTROYERS[noun](services, scope, id_)


@asynccontextmanager
async def _noted(
    services: Services, scope: Scope, noun: Doomed, id_: str, *, wait_s: float | None = None
) -> AsyncIterator[None]:
    """Hold the user's lease and record the destruction, so that upkeep completes it if the block fails or is killed."""
    async with services.leases.held(scope, wait_s=wait_s):
        await services.destructions.begin(scope, noun, id_, now=services.clock.now())
        yield
        await services.destructions.done(scope, noun, id_, now=services.clock.now())


async def _memory(services: Services, scope: Scope, memory_id: str) -> None:
    """Destroy a memory; its row and history go last, as their texts lead to all other copies."""
    await withdraw(services.shares, services.ledger, scope, [memory_id])
    memory = await services.store.memory(scope, memory_id)
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
        services.note_shown(scope)
    await services.store.remove_memories(scope, [memory_id])
    await services.history.purge(scope, [memory_id])
    await services.store.purge(scope)
    services.index.forget(scope)
    await _release(services, scope, memory_id)


async def _session(services: Services, scope: Scope, session_id: str) -> None:
    """Destroy a session and ledger entries that quote it; its row goes last, so that an attempt can be repeated."""
    said = await services.store.episodes(scope, session=session_id)
    await services.ledger.drop_memories(scope, [row.id for row in said])
    await services.store.remove_episodes(scope, session=session_id)
    await forget_summaries(services, scope, session_id)
    await services.store.purge(scope)
    services.index.forget(scope)
    with suppress(NotFound):
        await services.sessions.delete(scope, session_id)


async def _file(services: Services, scope: Scope, media_id: str) -> None:
    """Destroy a file; its row is deleted together with the bytes that it names."""
    ids = [one for one in await services.store.ids(scope, "chunks") if one.partition(".")[0] == media_id]
    await services.store.remove_chunks(scope, ids)
    await services.ledger.drop_memories(scope, ids)
    source = f"document:{media_id}"
    derived = [row for row in await services.store.memories(scope) if row.source == source]
    await withdraw(services.shares, services.ledger, scope, [row.id for row in derived])
    await remove_learned(services, scope, derived)
    await services.store.purge(scope)
    services.index.forget(scope)
    async with services.library.lock(scope):
        with suppress(NotFound):
            item = await services.media.get(scope, media_id)
            if await services.media.is_last(scope, item.id, item.sha256):
                await services.blobs.remove(scope, item.sha256)
            await services.media.remove(scope, item.id)
    await services.files.remove_media(scope, media_id)
    await _release(services, scope, media_id)


async def _apart(services: Services, scope: Scope, entry_id: str) -> None:
    """Destroy the object of a quarantine entry; the entry goes last."""
    with suppress(NotFound):
        entry = await services.quarantine.get(scope, entry_id)
        if entry.kind == "session":
            rows = await services.store.memories(scope)
            for row in [row for row in rows if row.session == entry.target and not is_ending(row)]:
                await _memory(services, scope, row.id)
            for item in await services.media.of_session(scope, entry.target):
                await _file(services, scope, item.id)
        await {"session": _session, "document": _file, "memory": _memory}[entry.kind](services, scope, entry.target)
        await services.quarantine.remove(scope, entry.id)


async def _release(services: Services, scope: Scope, target: str) -> None:
    """Delete the quarantine entry of a destroyed object."""
    with suppress(NotFound):
        await services.quarantine.remove(scope, (await services.quarantine.get(scope, target)).id)


async def _scope(services: Services, scope: Scope, _: str) -> None:
    await erase(_keeping(services), scope, verify=False)


_DESTROYERS: Mapping[Doomed, Callable[[Services, Scope, str], Awaitable[None]]] = {
    "memory": _memory,
    "media": _file,
    "session": _session,
    "apart": _apart,
    "scope": _scope,
}


def _keeping(services: Services) -> Keeping:
    """Return the services that store user data."""
    return Keeping(
        services.store,
        services.index,
        services.database,
        services.blobs,
        services.uses,
        services.spool if not services.is_ephemeral else None,
    )

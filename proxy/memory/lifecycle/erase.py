"""Erase a user, or one agent of a user, from every store, and prove it by searching the files."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Collection, Iterable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from proxy.memory.index.cache import IndexCache
from proxy.memory.lifecycle.erase_proof import Searched, fragments, search_apart
from proxy.memory.lifecycle.sharing import withdraw
from proxy.process.threads import in_thread
from proxy.store.blobs import Blobs
from proxy.store.erase import Erasure
from proxy.store.ledger import Ledger
from proxy.store.ram import Rows
from proxy.store.schema import NOUNS
from proxy.store.shares import Shares
from proxy.store.spool import Spool
from proxy.store.sql import Database
from proxy.store.uses import Uses
from proxy.types import Scope
from proxy.types.scope import covers

SCRUB_TRIES = 20  # readers in other processes may block it for a moment
SCRUB_PAUSE_S = 0.25
MAX_CHECKED = 500  # fragments found in shared files that are checked against other users' rows
MAX_PLACES = 20

_OWNER = re.compile(r"(?:^|_)([0-9a-f]{32})(?:_g\d+\.lance)?$")


@dataclass(frozen=True, slots=True)
class Keeping:
    """Stores of a user's data, persistent and in memory."""

    store: Rows
    index: IndexCache
    database: Database
    blobs: Blobs
    uses: Uses
    spool: Spool | None = None


@dataclass(slots=True)
class Erasing:
    """Counts of erased data, and the texts to search for afterwards."""

    counts: dict[str, dict[str, int]] = field(default_factory=dict)
    wanted: set[bytes] = field(default_factory=set)


async def erase(parts: Keeping, scope: Scope, *, verify: bool) -> Erasing:
    """Delete all data of the scope, pending jobs included; the caller holds the scope's lease.

    Safe to repeat: rows that name other copies are deleted after those copies. ``scrub_file`` removes the bytes from
    the SQL files. A scope with an agent or a project covers only that part of the user's memory.
    """
    done = Erasing()
    if verify:
        done.wanted = await wanted_of(parts, scope)
    await (_erase_agent if scope.agent else _erase_user)(parts, scope, done)
    parts.index.forget(scope)
    if verify and scope.agent:
        done.wanted -= await wanted_of(parts, replace(scope, agent=""))
    return done


async def wanted_of(parts: Keeping, scope: Scope) -> set[bytes]:
    """Return the fragments that identify a scope's data on disk."""
    found = await in_thread("cpu", fragments, await _values(parts, scope))
    return found - fragments([scope.user, scope.tenant, scope.agent])


async def scrub_file(database: Database, tries: int = SCRUB_TRIES) -> bool:
    """Remove deleted rows from the SQL files; return False if readers blocked every try."""
    for left in reversed(range(tries)):
        if await database.scrub():
            return True
        await asyncio.sleep(SCRUB_PAUSE_S if left else 0)
    return False


async def prove(database: Database, folder: Path, scope: Scope, wanted: Collection[bytes]) -> dict[str, Any]:
    """Search every file below ``folder`` for erased texts; return the findings as JSON.

    Equal texts of another user stay and are counted as ``of_others``.
    """
    searched = await in_thread("load", search_apart, folder, wanted)
    left, others = await _told_apart(Erasure(database), folder, scope, searched)
    return {
        "object": "erasure.verification",
        "texts": searched.texts,
        "files": searched.files,
        "bytes": searched.size_bytes,
        "found": len(left),
        "of_others": others,
        "places": sorted({str(path.relative_to(folder)) for paths in left.values() for path in paths})[:MAX_PLACES],
    }


async def _erase_user(parts: Keeping, scope: Scope, done: Erasing) -> None:
    files, size_bytes = await parts.blobs.usage(scope)
    done.counts["rows"] = await parts.store.counts(scope)
    done.counts["files"] = {"files": files, "bytes": size_bytes}
    await withdraw(Shares(parts.database), Ledger(parts.database), scope)
    await parts.blobs.drop_owner(scope)
    if parts.spool is not None:
        await parts.spool.drop_owner(scope)
    await parts.store.drop_owner(scope)
    parts.uses.forget(scope)
    done.counts["database"] = await Erasure(parts.database).delete(scope)


async def _erase_agent(parts: Keeping, scope: Scope, done: Erasing) -> None:
    erasure = Erasure(parts.database)
    before = await parts.store.counts(scope)
    memories = [row.id for row in await parts.store.memories(scope) if covers(scope.agent, row.agent)]
    files, size_bytes = await parts.blobs.usage(scope)
    for name in await erasure.agent_blobs(scope):
        await parts.blobs.remove(scope, name)
    files_left, bytes_left = await parts.blobs.usage(scope)
    done.counts["files"] = {"files": files - files_left, "bytes": size_bytes - bytes_left}
    await withdraw(Shares(parts.database), Ledger(parts.database), scope, memories)
    await parts.uses.remove(scope, memories)
    await parts.store.remove_agent(scope)
    await parts.store.purge(scope)
    after = await parts.store.counts(scope)
    done.counts["rows"] = {noun: before[noun] - after[noun] for noun in NOUNS}
    done.counts["database"] = await erasure.delete_agent(scope)


async def _values(parts: Keeping, scope: Scope) -> list[Any]:
    """Return every value of the scope that holds text."""
    rows: Iterable[Any] = [
        *await parts.store.memories(scope),
        *await parts.store.episodes(scope),
        *await parts.store.chunks(scope),
    ]
    own = [row for row in rows if not scope.agent or covers(scope.agent, row.agent)]
    values: list[Any] = [
        value for row in own for value in (row.id, row.text, getattr(row, "quote", ""), getattr(row, "context", ""))
    ]
    return values if scope.agent else values + list(await Erasure(parts.database).texts(scope))


async def _told_apart(
    erasure: Erasure, folder: Path, scope: Scope, searched: Searched
) -> tuple[dict[bytes, set[Path]], int]:
    """Return the fragments that only this scope has, with their files, and the number that other users share."""
    left: dict[bytes, set[Path]] = {}
    others = 0
    for at, (fragment, paths) in enumerate(sorted(searched.found.items())):
        own = {path for path in paths if _owner_of(path.relative_to(folder)) in ("", scope.user)}
        is_shared = all(not _owner_of(path.relative_to(folder)) for path in own)
        if own and is_shared and at < MAX_CHECKED and await erasure.holds(fragment):
            own = set()
        if own:
            left[fragment] = own
        else:
            others += 1
    return left, others


def _owner_of(path: Path) -> str:
    """Return the user whose folder or table (``<noun>_<owner>_g<n>.lance``) holds a file, "" for a shared file."""
    return next((match[1] for part in path.parts if (match := _OWNER.search(part))), "")

"""Quarantine a session, a document or a memory, and release it; meanwhile only its own session or file recalls it."""

from __future__ import annotations

import secrets
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import TypeVar

from proxy.memory.changes.book import Book
from proxy.memory.conversations.episode import concerning
from proxy.memory.index.cache import IndexCache
from proxy.memory.lifecycle.forget import Request, forget_changes, past_of
from proxy.memory.plan.changes import WAS, Action, Change, is_ending, undo_changes
from proxy.store.ledger import Ledger
from proxy.store.quarantine import Apart, ApartKind, FoundBy, Quarantine
from proxy.text.languages import languages_in
from proxy.text.secrets import holds_credential
from proxy.text.words import flat
from proxy.types import Chunk, Episode, Memory, Scope
from proxy.types.scope import partition, parts

T = TypeVar("T", Episode, Chunk)

MAX_SCREENED = 4_000  # characters of a chunk that are searched for instructions to the model


@dataclass(frozen=True, slots=True)
class Parts:
    """Stores that quarantine and release change."""

    index: IndexCache
    book: Book
    ledger: Ledger
    quarantine: Quarantine


async def set_apart(
    to: Parts, scope: Scope, kind: ApartKind, target: str, reason: str, now: datetime, *, by: FoundBy = "user"
) -> Apart:
    """Quarantine an item of the scope; repeated, return the same entry. The caller holds the scope's lease.

    Args:
        to: Stores to change.
        scope: Whose item; for a memory, within its project.
        kind: Kind of the item.
        target: Id of the item.
        reason: In words.
        now: Time of the request.
        by: Who requests it.
    """
    agent, project, _ = parts(scope.agent)
    entry = Apart(f"qua_{secrets.token_hex(12)}", kind, target, reason, by, now, partition(agent, project))
    kept = await to.quarantine.add(scope, entry)
    if kept.id == entry.id:
        ids = await _move(to, scope, kept, now, is_apart=True)
        await to.ledger.drop_memories(scope, ids)
    return kept


async def release(to: Parts, scope: Scope, entry: Apart, now: datetime) -> None:
    """Release an item from quarantine, as it was before; the caller holds the scope's lease."""
    await to.quarantine.release(scope, entry.id)
    await _move(to, scope, entry, now, is_apart=False)


async def _move(to: Parts, scope: Scope, entry: Apart, now: datetime, *, is_apart: bool) -> list[str]:
    """Move all rows of an entry into its partition or out of it; return their ids."""
    if entry.kind == "memory":
        return await _move_memory(to, scope, entry.target, now, is_apart=is_apart)
    store, apart = to.index.store, entry.target if is_apart else ""
    ids: list[str] = []
    if entry.kind == "session":
        said = [_placed(row, apart) for row in await store.episodes(scope, session=entry.target)]
        await store.put_episodes(scope, said, {}, "")
        memories = await store.memories(scope)
        changes = session_changes(memories, entry.target, now, is_apart=is_apart)
        await to.book.apply(scope, changes)
        ids += [row.id for row in said] + [change.memory.id for change in changes]
    chunks = [row for row in await store.chunks(scope) if entry.target in (row.document, row.session)]
    await store.put_chunks(scope, [_placed(row, apart) for row in chunks], {}, "")
    return ids + [row.id for row in chunks]


async def _move_memory(to: Parts, scope: Scope, target: str, now: datetime, *, is_apart: bool) -> list[str]:
    """Withhold a memory with its source sentence, or restore both."""
    rows = [row for row in await to.index.store.memories(scope) if scope.owns(row.agent)]
    if not is_apart:
        batch = next((row.batch for row in rows if row.id == target and row.status == "quarantined"), "")
        await to.book.apply(scope, undo_changes(batch, rows, now) if batch else [])
        return []
    request = Request(ids=(target,))
    own = next((row for row in rows if row.id == target and row.status == "closed"), None)
    if own is not None:  # it is withheld already
        changes = [Change("quarantine", replace(own, status="quarantined", updated_at=now), own, "", "quarantine")]
    else:
        past = await past_of(to.index, scope, request, rows)
        changes = [_apart(change) for change in forget_changes(scope, request, past, now)]
    await to.book.apply(scope, changes)
    return [target]


def _apart(change: Change) -> Change:
    if is_ending(change.memory):
        return change
    return replace(change, action="quarantine", memory=replace(change.memory, status="quarantined"), reason="request")


def session_changes(memories: Sequence[Memory], session: str, now: datetime, *, is_apart: bool) -> list[Change]:
    """Return the changes that quarantine all memories learned from a session, or restore them.

    Memories that the session closed stay closed, but its closing sentence is shown nowhere. Daily and weekly summaries
    are quarantined too, and written anew without the session.
    """
    above = {row.id for row in concerning(memories, session)}
    changes = []
    for row in memories:
        if row.session == session or row.id in above:
            moved = _hidden(row) if is_apart else _shown(row)
            if moved != row:
                action: Action = "quarantine" if is_apart else "release"
                changes.append(Change(action, replace(moved, updated_at=now), row, "", "request"))
    return changes


def apart_changes(changes: Iterable[Change]) -> list[Change]:
    """Return the changes that a turn of a quarantined session may make: added statements, all quarantined."""
    return [
        replace(change, memory=_hidden(change.memory))
        for change in changes
        if change.action == "add" and not is_ending(change.memory)
    ]


def apart_episodes(episodes: Sequence[Episode], targets: Collection[str]) -> list[Episode]:
    """Return turns as they are to be stored, those of quarantined sessions in quarantine."""
    return [_placed(row, row.session) if row.session in targets else row for row in episodes]


def apart_passages(chunks: Sequence[Chunk], targets: Collection[str]) -> list[Chunk]:
    """Return chunks as they are to be stored, those of quarantined files and sessions in quarantine."""
    apart = [next((one for one in (row.document, row.session) if one in targets), "") for row in chunks]
    return [_placed(row, place) if place else row for row, place in zip(chunks, apart, strict=True)]


def _placed(row: T, apart: str) -> T:
    agent, project, _ = parts(row.agent)
    return replace(row, agent=partition(agent, project, apart))


def _hidden(row: Memory) -> Memory:
    if is_ending(row):
        metadata = {**row.metadata, WAS: [row.text, row.quote]}
        return replace(row, text="", quote="", metadata=metadata) if row.text else row
    if row.status == "quarantined":
        return row
    return replace(row, status="quarantined", metadata={**row.metadata, WAS: row.status})


def _shown(row: Memory) -> Memory:
    was = row.metadata.get(WAS)
    if was is None:
        return row
    metadata = {name: value for name, value in row.metadata.items() if name != WAS}
    if is_ending(row):
        return replace(row, text=was[0], quote=was[1], metadata=metadata)
    if row.status != "quarantined":
        return replace(row, metadata=metadata)
    return replace(row, status=was, metadata=metadata)


def speaks_to_the_model(texts: Iterable[str]) -> bool:
    """Return whether a chunk of a file instructs the model, as hidden instructions do."""
    for text in texts:
        for at in range(0, len(text), MAX_SCREENED):
            low = flat(text[at : at + MAX_SCREENED + 200])
            if any(tongue.has("injection", low) for tongue in languages_in(low)):
                return True
    return False


def holds_secrets(texts: Iterable[str]) -> bool:
    """Return whether a text holds a key, a token or a password."""
    return any(map(holds_credential, texts))

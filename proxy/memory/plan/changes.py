"""What can happen to a memory, as values that the store applies and the history shows."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Literal

from proxy.clock import to_ms
from proxy.text.words import fold, same_value
from proxy.types import Kind, Memory, Scope

CLOSED_AT = "closed_at_ms"  # metadata of a memory that was closed once and holds again
REPLACED = "replaced"  # metadata of a tombstone that gave way to another value
SUCCEEDS = "succeeds"  # metadata of a memory that took the place of these values
PROFILE = "profile"  # metadata of a memory that belongs in every prompt
TOMBSTONE = "tombstone"  # metadata of a closed value that was never stored as a memory

Action = Literal["add", "reinforce", "supersede", "retract", "review", "restore", "edit"]


@dataclass(frozen=True, slots=True)
class Change:
    """One step in the life of a memory.

    Args:
        action: What happened.
        memory: The memory as it is from now on; stored under its id.
        before: The memory as it was, None where it is new.
        turn: The turn that caused it, "" for a request over the API.
        reason: A constant word or two for the history.
    """

    action: Action
    memory: Memory
    before: Memory | None
    turn: str
    reason: str


def memory_id(scope: Scope, origin: str, subject: str, relation: str, value: str) -> str:
    """Return the id of a statement; the same statement of the same origin always has the same one."""
    key = "\0".join((scope.user, scope.agent, origin, fold(subject), fold(relation), fold(value)))
    return "mem_" + hashlib.sha256(key.encode()).hexdigest()[:24]


def retract_memory(memory: Memory, now: datetime) -> Change:
    """Return the change that closes ``memory`` on its owner's request."""
    closed = replace(memory, status="retracted", valid_to=now, updated_at=now)
    return Change("retract", closed, memory, "", "request")


def restore_memory(memory: Memory, now: datetime) -> Change:
    """Return the change that undoes what closed ``memory``: everything said of it counts again."""
    metadata = {key: value for key, value in memory.metadata.items() if key not in (CLOSED_AT, TOMBSTONE, REPLACED)}
    restored = replace(memory, status="active", valid_to=None, updated_at=now, metadata=metadata)
    return Change("restore", restored, memory, "", "request")


def revive(memory: Memory, *, at: datetime, now: datetime) -> Memory:
    """Return a closed memory as holding again since ``at``; what was said before that stays closed."""
    metadata = {key: value for key, value in memory.metadata.items() if key not in (TOMBSTONE, REPLACED)}
    metadata[CLOSED_AT] = to_ms(memory.valid_to or memory.updated_at)
    return replace(memory, status="active", valid_from=at, valid_to=None, updated_at=now, metadata=metadata)


def edit_memory(
    memory: Memory,
    now: datetime,
    *,
    text: str | None = None,
    kind: Kind | None = None,
    value: str | None = None,
    pinned: bool | None = None,
    priority: int | None = None,
    expires_at: datetime | None = None,
) -> Change:
    """Return the change that rewrites what is not None; the owner's word is certain.

    Another value holds from now on: up to now the old one did, or was thought to.
    """
    is_other = value not in (None, memory.object) and not same_value(memory.object, value or "")
    edited = replace(
        memory,
        text=memory.text if text is None else text,
        kind=memory.kind if kind is None else kind,
        quote=memory.quote if text is None else text,
        object=memory.object if value is None else value,
        valid_from=now if is_other else memory.valid_from,
        pinned=memory.pinned if pinned is None else pinned,
        priority=memory.priority if priority is None else priority,
        expires_at=memory.expires_at if expires_at is None else expires_at,
        confidence=memory.confidence if text is None and value is None else 1.0,
        updated_at=now,
    )
    return Change("edit", edited, memory, "", "request")

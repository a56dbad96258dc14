"""A statement that comes by API or import as a memory."""

from __future__ import annotations

from datetime import datetime

from proxy.memory.learn.learn import marked
from proxy.types import Kind, Memory, Scope


def stated(scope: Scope, text: str, now: datetime, *, kind: Kind, id_: str, source: str = "api") -> Memory:
    """Return the memory that ``text`` states, with the slot it fills, so that what the user says later can end it."""
    memory = Memory(
        id=id_,
        kind=kind,
        text=text,
        created_at=now,
        updated_at=now,
        valid_from=now,
        quote=text,
        source=source,
        provenance="user_confirmed",
        agent=scope.agent,
    )
    return marked(memory)

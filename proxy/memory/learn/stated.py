"""A statement that comes by API as a memory, with subject, relation and value where the rules can tell them."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime

from proxy.memory.learn.ground import ground
from proxy.memory.learn.rules import LazyRules
from proxy.types import Kind, Memory, Said, Scope, Turn

_RULES = LazyRules()


def stated(scope: Scope, text: str, now: datetime, *, kind: Kind, id_: str) -> Memory:
    """Return the memory that ``text`` states, so that the user's own words can later end it."""
    turn = Turn(id_, scope, (Said(id_, "user", text),), "", "complete", "", now)
    found = [one for one in ground(_RULES.extract(turn, (), ()), turn) if one.action == "add"]
    memory = Memory(
        id=id_,
        kind=kind,
        text=text,
        created_at=now,
        updated_at=now,
        valid_from=now,
        quote=text,
        source="api",
        provenance="user_confirmed",
        agent=scope.agent,
    )
    if len(found) != 1:
        return memory
    first = found[0]
    return replace(memory, subject=first.subject, relation=first.relation, object=first.object, single=first.single)

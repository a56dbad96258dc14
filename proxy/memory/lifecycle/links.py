"""Link and unlink memories by API. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime

from proxy.errors import InvalidRequest
from proxy.memory.plan.changes import Change
from proxy.types import Memory


def link_changes(memory: Memory, others: Sequence[Memory], now: datetime) -> list[Change]:
    """Return the changes that show memories on one entry with ``memory``, the newer later.

    Raises:
        InvalidRequest: If one of them is not active.
    """
    if any(row.status != "active" for row in (memory, *others)):
        raise InvalidRequest("Only active memories are linked. Restore the closed one first.", param="ids")
    return _linked(memory, others, now, is_on=True)


def unlink_changes(memory: Memory, others: Sequence[Memory], now: datetime) -> list[Change]:
    """Return the changes that show memories by themselves again."""
    return _linked(memory, others, now, is_on=False)


def _linked(memory: Memory, others: Sequence[Memory], now: datetime, *, is_on: bool) -> list[Change]:
    rows = {row.id: row for row in (memory, *others)}
    for other in others:
        for one, two in ((memory.id, other.id), (other.id, memory.id)):
            row, partner = rows[one], rows[two]
            earlier = tuple(id_ for id_ in row.earlier if id_ != two)
            later = tuple(id_ for id_ in row.later if id_ != two)
            is_older = (row.valid_from, row.created_at, row.id) < (partner.valid_from, partner.created_at, partner.id)
            if is_on and is_older:
                later = row.later if two in row.later else (*later, two)
            elif is_on:
                earlier = row.earlier if two in row.earlier else (*earlier, two)
            rows[one] = replace(row, earlier=earlier, later=later, updated_at=now)
    before = {row.id: row for row in (memory, *others)}
    reason = "linked" if is_on else "unlinked"
    return [Change("link", row, before[id_], "", reason) for id_, row in rows.items()]

"""Planned changes of memories, which the store applies and the history shows."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, Literal, cast

from proxy.errors import InvalidRequest
from proxy.store.codec import dumps, loads, memory_from_json
from proxy.text.words import fold
from proxy.types import Memory, Scope

PROFILE = "profile"  # metadata of a memory that belongs in every prompt
ENDING = "ending"  # metadata of a row that records one ending: it withholds spans, and is no memory
HIDES = "hides"  # of an ending: [row id, start, end] of each sentence that is withheld
TEXTS = "texts"  # of an ending: these sentences folded, to recognise a replay of them
TERMS = "terms"  # of an ending: the content words of the closed statement
FORGOTTEN = "forgotten"  # of an ending: by a request to forget; never shown again
SLOT = "slot"  # metadata of a memory that fills a slot with one value at a time
APART = "apart"  # metadata of a memory that is shown by itself: its message is long, or its sentence withheld
REMAINS = "remains"  # metadata of a memory that keeps the valid part of a closed one: the batch
TASK = "task"  # metadata of a task: title, due date, priority, status and so on
WAS = "was"  # metadata of a row in quarantine: status or text before
PROPOSES = "proposes"  # metadata of a row in review: the proposal
DECISION = "decision"  # of a row with a proposal: the decision
ASKED = "asked"  # of a row in review that is a question: choices, asker and answer
PROPOSED = "proposed"  # of a decided row: ids of the memories that it was about
INTERNAL = frozenset(
    (
        ENDING,
        HIDES,
        TEXTS,
        TERMS,
        FORGOTTEN,
        SLOT,
        REMAINS,
        PROFILE,
        APART,
        TASK,
        WAS,
        PROPOSES,
        DECISION,
        PROPOSED,
        ASKED,
    )
)

Action = Literal["add", "reinforce", "close", "link", "review", "restore", "edit", "archive", "quarantine", "release"]


@dataclass(frozen=True, slots=True)
class Change:
    """One change of a memory.

    Args:
        action: Kind of the change.
        memory: The memory after the change; stored under its id.
        before: The memory before the change, None if it is new.
        turn: Id of the turn that caused the change, "" for a request over the API.
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


_MARKING = frozenset({ENDING, SLOT, PROFILE, TASK})


def is_ending(memory: Memory) -> bool:
    """Return whether a row records an ending; such rows are in no list of memories."""
    return bool(memory.metadata.get(ENDING))


def is_over(memory: Memory, now: datetime) -> bool:
    """Return whether a memory has expired, according to ``expires_at``."""
    return memory.expires_at is not None and memory.expires_at <= now


def is_marked(memory: Memory) -> bool:
    """Return whether a row matters to every query: not active, in a slot, with a weight, or in the profile."""
    has_weight = memory.pinned or memory.priority > 0 or memory.expires_at is not None
    return memory.status != "active" or has_weight or not _MARKING.isdisjoint(memory.metadata)


def is_carried(memory: Memory) -> bool:
    """Return whether a memory's turn may replace it: the turn is short, all visible, and the memory has no links."""
    is_apart = memory.earlier or memory.later or memory.metadata.get(REMAINS) or memory.metadata.get(APART)
    return bool(memory.message) and not is_apart


def hides_of(memory: Memory) -> list[tuple[str, int, int]]:
    """Return the spans that an ending withholds: row, start and end."""
    return [(str(row), int(start), int(end)) for row, start, end in memory.metadata.get(HIDES, ())]


def restore_memory(memory: Memory, now: datetime) -> Change:
    """Return the change that makes a closed or archived memory active again."""
    metadata = {name: value for name, value in memory.metadata.items() if name not in (FORGOTTEN, WAS)}
    restored = replace(memory, status="active", valid_to=None, updated_at=now, batch="", metadata=metadata)
    return Change("restore", restored, memory, "", "request")


def undo_changes(batch: str, memories: Iterable[Memory], now: datetime) -> list[Change]:
    """Return the changes that undo the endings of one batch: memories, withheld spans, memories added for them."""
    changes = []
    for row in memories:
        if row.metadata.get(ENDING) == batch and row.status != "archived":
            changes.append(Change("archive", replace(row, status="archived", updated_at=now), row, "", "undone"))
        elif row.batch == batch and row.status in ("closed", "review", "quarantined"):
            changes.append(restore_memory(row, now))
        elif row.metadata.get(REMAINS) == batch and row.status == "active":
            changes.append(Change("archive", replace(row, status="archived", updated_at=now), row, "", "undone"))
    return changes


def edit_memory(memory: Memory, now: datetime, *, text: str | None = None, **fields: Any) -> Change:
    """Return the change that sets all fields that are not None; a text by API is certain and is also its quote."""
    given = {name: value for name, value in fields.items() if value is not None}
    if text is not None:
        given |= {
            "text": text,
            "quote": text,
            "confidence": 1.0,
            "dates": "",
            "context": "",
            "context_by": "",
            "message": "",
        }
    return Change("edit", replace(memory, updated_at=now, **given), memory, "", "request")


def link_changes(memory: Memory, others: Sequence[Memory], now: datetime) -> list[Change]:
    """Return the changes that link memories to ``memory``: shown on one entry, the newer later.

    Raises:
        InvalidRequest: If one of them is not active.
    """
    if any(row.status != "active" for row in (memory, *others)):
        raise InvalidRequest("Only active memories are linked. Restore the closed one first.", param="ids")
    return _linked(memory, others, now, is_on=True)


def unlink_changes(memory: Memory, others: Sequence[Memory], now: datetime) -> list[Change]:
    """Return the changes that unlink memories, so that each has a separate entry again."""
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


def changes_to_json(changes: Sequence[Change]) -> list[dict[str, Any]]:
    """Return changes as JSON values, for the journal."""
    return [
        {
            "action": change.action,
            "memory": loads(dumps(change.memory)),
            "before": loads(dumps(change.before)) if change.before else None,
            "turn": change.turn,
            "reason": change.reason,
        }
        for change in changes
    ]


def changes_from_json(values: Sequence[dict[str, Any]]) -> list[Change]:
    """Return the changes from the JSON values of ``changes_to_json``."""
    return [
        Change(
            cast("Action", value["action"]),
            memory_from_json(dumps(value["memory"])),
            memory_from_json(dumps(value["before"])) if value["before"] else None,
            value["turn"],
            value["reason"],
        )
        for value in values
    ]

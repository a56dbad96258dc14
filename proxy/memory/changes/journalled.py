"""Planned changes as JSON, for the journal."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

from proxy.memory.plan.changes import Action, Change
from proxy.store.codec import dumps, loads, memory_from_json


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
    """Return the changes that ``changes_to_json`` was given."""
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

"""What the writing half needs beside the pure steps: what was heard before, and changes as JSON."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice
from typing import Any, cast

import numpy as np

from proxy.memory.index.cache import IndexCache
from proxy.memory.plan.changes import Action, Change
from proxy.memory.recall.query import Query
from proxy.store.codec import dumps, loads, memory_from_json
from proxy.text.lexical import weights
from proxy.types import Episode, Scope, Turn

_MOST_HEARD = 40
_JUST_BEFORE = 2
_LATELY = 6  # latest messages of any conversation: a change may share no word with what it changes


async def heard_before(index: IndexCache, scope: Scope, turns: Sequence[Turn]) -> list[Episode]:
    """Return what the user said just before in these conversations and lately, then what shares telling words with it.

    Turns are stored ahead of being learned from, so what is found may have been said later; that stays out.

    Args:
        index: Of the owner.
        scope: That of the turns, which are of one agent: what was said to another one stays out.
        turns: Oldest first.
    """
    text = "\n".join(said.text for turn in turns for said in turn.messages if said.role == "user" and said.live)
    new = {said.id for turn in turns for said in turn.messages}
    ends = {turn.scope.session: max((said.seq for said in turn.messages), default=0) for turn in turns}
    until = turns[-1].at

    def was_said(row: Episode) -> bool:
        return row.id not in new and row.at <= until and row.seq <= ends.get(row.session, row.seq)

    before: list[Episode] = []
    for session in ends:
        rows = await index.said(scope, session)
        told = [row for row in rows if row.role == "user" and scope.sees(row.agent) and was_said(row)]
        before += told[-_JUST_BEFORE:]
    shelf = await index.turns(scope, Query(text, "", None, turns[0].at))
    mask = shelf.seen_by(scope) & shelf.by_user
    theirs = np.flatnonzero(mask)
    latest = theirs[np.argsort(-shelf.times[theirs], kind="stable")]
    lately = islice((row for line in latest if was_said(row := shelf.items[line])), _LATELY)
    scores = shelf.lexical(weights(text), mask)
    found = (shelf.items[line] for line in np.argsort(-scores, kind="stable") if scores[line] > 0)
    alike = islice((row for row in found if was_said(row)), _MOST_HEARD)
    return list({row.id: row for row in (*before, *lately, *alike)}.values())[:_MOST_HEARD]


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

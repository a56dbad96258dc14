"""``/v1/memories/forget`` and ``undo``: close what a request names everywhere, and undo that."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from pydantic import Field

from proxy.api.caller import Body, Caller, Parts, Router
from proxy.api.shapes import memory_shape, project_names
from proxy.api.writing import Text, settled, write
from proxy.errors import InvalidRequest, NotFound
from proxy.memory.changes.book import TURNS_AT_ONCE
from proxy.memory.lifecycle.forget import Request, forget_changes, past_of
from proxy.memory.plan.changes import TEXTS, Change, is_ending, undo_changes
from proxy.process.threads import in_thread
from proxy.types import Memory

router = Router(prefix="/v1/memories")
SETTLE_S = 5.0


class ForgetBody(Body):
    """Body of ``POST /v1/memories/forget``."""

    text: Text | None = None
    query: Text | None = None
    ids: list[str] | None = Field(None, max_length=1000)
    dry_run: bool = False


class UndoBody(Body):
    """Body of ``POST /v1/memories/undo``."""

    batch: str = Field(max_length=100)


@router.post("/forget")
async def forget(scope: Caller, services: Parts, body: ForgetBody) -> dict[str, Any]:
    """Close everything that a text, a query or ids name; with ``dry_run``, only say what would go.

    The latest messages are included: the request waits some seconds for a few turns that are still being learned. If
    more are pending, as during an import, ``pending_turns`` is the number that a text or a query could not reach.
    """
    given = [name for name in ("text", "query", "ids") if getattr(body, name)]
    if len(given) != 1:
        raise InvalidRequest("Send exactly one of `text`, `query` and `ids` to say what to forget.", param="text")
    request = Request(body.text or body.query or "", body.ids or ())
    if not request.ids:
        await settled(services, scope, SETTLE_S, most=TURNS_AT_ONCE)
    pending, _ = (0, 0) if request.ids else await services.journal.tally(scope)
    now = services.clock.now()
    may = scope.owns if request.ids else scope.sees  # an id is meant whatever project its memory belongs to
    rows = [row for row in await services.store.memories(scope) if may(row.agent)]
    known = {row.id for row in rows if not is_ending(row)}
    if (missing := next((id_ for id_ in request.ids if id_ not in known), None)) is not None:
        raise NotFound(
            f"There is no memory {missing[:80]!r}; nothing is forgotten. GET /v1/memories?status=all lists yours.",
            param="ids",
        )
    within = scope.at(next((row.agent for row in rows if row.id in request.ids), ""))
    past = await past_of(services.index, within, request, rows)

    def plan(rows: list[Memory]) -> Sequence[Change]:
        named = [row for row in rows if may(row.agent)]
        return forget_changes(within, request, replace(past, memories=named), now)

    changes = await in_thread("cpu", plan, rows) if body.dry_run else await write(services, scope, plan)
    batch = next((change.memory.id for change in changes if is_ending(change.memory)), None)
    names = await project_names(services.projects, scope, [change.memory for change in changes])
    closed = [memory_shape(change.before or change.memory, names) for change in changes if _is_told(change, "closed")]
    review = [memory_shape(change.before or change.memory, names) for change in changes if _is_told(change, "review")]
    return {
        "object": "memory.forget",
        "batch": None if body.dry_run else batch,
        "dry_run": body.dry_run,
        "closed": closed,
        "review": review,
        "pending_turns": pending,
    }


@router.post("/undo")
async def undo(scope: Caller, services: Parts, body: UndoBody) -> dict[str, Any]:
    """Undo one batch of endings: its memories hold again, its sentences are shown again."""
    now = services.clock.now()

    def plan(rows: list[Memory]) -> Sequence[Change]:
        changes = undo_changes(body.batch, rows, now)
        is_purged = all(change.memory.metadata.get(TEXTS) == [] for change in changes)
        return [] if is_purged else changes

    changes = await write(services, scope, plan)
    if not changes:
        raise NotFound(
            f"There is no batch {body.batch[:80]!r} to undo. A request to forget answers with its `batch`; closed "
            "memories name theirs.",
            param="batch",
        )
    rows = [change.memory for change in changes if change.action == "restore"]
    names = await project_names(services.projects, scope, rows)
    return {"object": "memory.undo", "batch": body.batch, "restored": [memory_shape(row, names) for row in rows]}


def _is_told(change: Change, status: str) -> bool:
    return change.memory.status == status and not is_ending(change.memory)

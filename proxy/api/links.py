"""``/v1/memories/{id}/pin, unpin, link, unlink``: small changes of one memory."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

from pydantic import ConfigDict, Field

from proxy.api.caller import Body, Caller, Parts, Router
from proxy.api.shapes import memory_shape, project_names, used
from proxy.api.writing import write
from proxy.errors import InvalidRequest, unknown
from proxy.memory.plan.changes import Change, edit_memory, is_ending, link_changes, unlink_changes
from proxy.services import Services
from proxy.types import Memory, Scope

router = Router(prefix="/v1/memories")


class LinkBody(Body):
    """Body of ``link`` and ``unlink``: the other memories."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"ids": ["mem_0123456789abcdef01234567"]}]})

    id: str | None = Field(None, max_length=100)
    ids: list[str] | None = Field(None, max_length=100)


@router.post("/{memory_id}/pin")
async def pin(memory_id: str, scope: Caller, services: Parts) -> dict[str, Any]:
    """Pin a memory: it does not age, and ranks first."""
    return await _change(services, scope, memory_id, (), lambda row, _, now: [edit_memory(row, now, pinned=True)])


@router.post("/{memory_id}/unpin")
async def unpin(memory_id: str, scope: Caller, services: Parts) -> dict[str, Any]:
    """Unpin a memory."""
    return await _change(services, scope, memory_id, (), lambda row, _, now: [edit_memory(row, now, pinned=False)])


@router.post("/{memory_id}/link")
async def link(memory_id: str, scope: Caller, services: Parts, body: LinkBody) -> dict[str, Any]:
    """Show memories on one entry with this one, the newest last."""
    return await _change(services, scope, memory_id, _others(body, memory_id), link_changes)


@router.post("/{memory_id}/unlink")
async def unlink(memory_id: str, scope: Caller, services: Parts, body: LinkBody) -> dict[str, Any]:
    """Show linked memories separately again."""
    return await _change(services, scope, memory_id, _others(body, memory_id), unlink_changes)


def _others(body: LinkBody, memory_id: str) -> list[str]:
    ids = list(dict.fromkeys([*(body.ids or ()), *([body.id] if body.id else ())]))
    if not ids:
        raise InvalidRequest("Send `id` or `ids` of the other memories.", param="ids")
    if memory_id in ids:
        raise InvalidRequest("A memory is not linked to itself. Send the ids of other memories.", param="ids")
    return ids


async def _change(
    services: Services,
    scope: Scope,
    memory_id: str,
    others: Sequence[str],
    change: Callable[[Memory, Sequence[Memory], datetime], Sequence[Change]],
) -> dict[str, Any]:
    """Change one memory together with others, all of which must be visible."""
    now = services.clock.now()

    def plan(rows: list[Memory]) -> Sequence[Change]:
        known = {row.id: row for row in rows if not is_ending(row)}
        for id_ in (memory_id, *others):
            if id_ not in known:
                raise unknown("memory", id_, param="id" if id_ == memory_id else "ids")
        changes = change(known[memory_id], [known[id_] for id_ in others], now)
        return [
            one
            for one in changes
            if one.before is None or replace(one.memory, updated_at=one.before.updated_at) != one.before
        ]

    await write(services, scope, plan)
    row = await services.store.memory(scope, memory_id)
    if row is None:
        raise unknown("memory", memory_id)
    (shown,) = used([row], await services.uses.of(scope, [row.id]))
    return memory_shape(shown, await project_names(services.projects, scope, [row]))

"""``/v1/memories``: create, get, patch, delete, restore and history of one memory."""

from __future__ import annotations

import json
import secrets
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from functools import partial
from typing import Annotated, Any

from pydantic import AfterValidator, Field

from proxy.api.caller import Body, Caller, Parts, PatientRoute, Router, Writer
from proxy.api.memory_lists import shown
from proxy.api.shapes import listing, memory_shape, project_names
from proxy.api.writing import Moment, ReadableName, Text, write
from proxy.clock import iso
from proxy.errors import InvalidRequest, MethodNotAllowed, unknown
from proxy.memory.changes.book import stated
from proxy.memory.learn.past import Past
from proxy.memory.learn.slots import marked
from proxy.memory.lifecycle.forget import Request, forget_changes, past_of, restore_changes
from proxy.memory.plan.changes import INTERNAL, Change, edit_memory, is_ending, is_over
from proxy.pipeline.identify import in_project
from proxy.process.threads import in_thread
from proxy.services import Services
from proxy.text.secrets import redact, redact_values
from proxy.types import Kind, Memory, Scope
from proxy.worker.destroy import destroy_memory

router = Router(prefix="/v1/memories", route_class=PatientRoute)

_Name = Annotated[str, Field(max_length=500), AfterValidator(redact)]
_Value = Annotated[str, Field(max_length=2000), AfterValidator(redact)]
_ACTIONS = frozenset({"search", "forget", "undo", "preview"})  # words in place of an id
_COLUMNS = {"object_value": "object"}
_NO_FIELDS = frozenset({"text", "project", "metadata"})  # fields that do not change a known memory


class NewMemory(Body):
    """Body of ``POST /v1/memories``."""

    text: Text
    kind: Kind = "fact"
    subject: _Name | None = None
    relation: _Name | None = None
    object_value: _Value | None = None
    pinned: bool = False
    priority: int = Field(0, ge=-100, le=100)
    confidence: float = Field(1.0, ge=0, le=1)
    expires_at: Moment | None = None
    project: ReadableName | None = None
    metadata: dict[str, Any] = Field({})


class MemoryPatch(Body):
    """Body of ``PATCH /v1/memories/{id}``; omitted fields stay."""

    text: Text | None = None
    kind: Kind | None = None
    object_value: _Value | None = None
    pinned: bool | None = None
    priority: int | None = Field(None, ge=-100, le=100)
    expires_at: Moment | None = None


@router.post("")
async def create_memory(scope: Writer, services: Parts, body: NewMemory) -> dict[str, Any]:
    """Store a memory as the caller states it; repeated, it is the same memory, changed by the fields sent."""
    return await keep_memory(services, scope, body, {name: getattr(body, name) for name in body.model_fields_set})


async def keep_memory(services: Services, scope: Scope, body: NewMemory, again: Mapping[str, Any]) -> dict[str, Any]:
    """Store a memory, or change the one in force with the same text.

    Args:
        services: Services that store it.
        scope: Whose it is.
        body: The memory, if it is new.
        again: Fields of ``body`` that change a known memory.
    """
    now = services.clock.now()
    scope = await _placed(scope, services, body)
    state = partial(stated, scope, body.text, now, kind=body.kind, id_=f"mem_{secrets.token_hex(12)}")
    memory = await in_thread("cpu", state)
    metadata = await in_thread("cpu", metadata_of, body.metadata)
    memory = replace(
        memory,
        subject=memory.subject if body.subject is None else body.subject,
        relation=memory.relation if body.relation is None else body.relation,
        object=memory.object if body.object_value is None else body.object_value,
        pinned=body.pinned,
        priority=body.priority,
        confidence=body.confidence,
        expires_at=body.expires_at,
        metadata={**memory.metadata, **metadata},
    )
    told = {name: metadata[name] for name in again.get("metadata", ())}
    fields = {_COLUMNS.get(name, name): value for name, value in again.items() if name not in _NO_FIELDS}

    def plan(rows: list[Memory]) -> Sequence[Change]:
        same = next((row for row in rows if _is_same(row, memory, now)), None)
        if same is None:
            return [Change("add", memory, None, "", "request")]
        edited = _edited(same, now, **fields, metadata={**same.metadata, **told})
        return [] if replace(edited.memory, updated_at=same.updated_at) == same else [edited]

    changes = await write(services, scope, plan)
    if not changes:
        same = next(row for row in await services.store.memories(scope) if _is_same(row, memory, now))
    return memory_shape(changes[0].memory if changes else same, await services.projects.names(scope))


@router.get("/{memory_id}")
async def get_memory(memory_id: str, scope: Caller, services: Parts) -> dict[str, Any]:
    """Return one memory, whatever its status."""
    (found,) = await shown(services, scope, [await _one(services, scope, memory_id)])
    return found


@router.patch("/{memory_id}")
async def patch_memory(memory_id: str, scope: Caller, services: Parts, body: MemoryPatch) -> dict[str, Any]:
    """Correct a memory; a correction by its owner is certain."""
    if not body.model_fields_set:
        raise InvalidRequest("The body changes nothing. Send `text`, `kind`, `pinned`, `priority` or `expires_at`.")
    now = services.clock.now()
    row = await _one(services, scope, memory_id)
    scope = scope.at(row.agent)
    past = await past_of(services.index, scope, Request(ids=(memory_id,)), [row])
    fields = {_COLUMNS.get(name, name): value for name, value in body.model_dump(exclude_unset=True).items()}

    def change(row: Memory) -> list[Change]:
        edited = _edited(row, now, **fields)
        if body.text is not None:
            edited = replace(edited, memory=marked(edited.memory))
        return [edited, *_former(row, edited.memory, scope, past, now)]

    (changed,) = await shown(services, scope, [await _change(services, scope, memory_id, change)])
    return changed


@router.delete("/{memory_id}")
async def delete_memory(
    memory_id: str,
    scope: Caller,
    services: Parts,
    purge: bool = False,  # noqa: FBT001, FBT002 - a query parameter
) -> dict[str, Any]:
    """Close a memory, and withhold its sentence; ``restore`` undoes it, unless ``purge`` destroys the words now."""
    row = await _one(services, scope, memory_id)
    if purge:
        await destroy_memory(services, scope, row.id)
        return {"id": memory_id, "object": "memory.deleted", "deleted": True, "purged": True}
    now = services.clock.now()
    request, scope = Request(ids=(memory_id,)), scope.at(row.agent)
    past = await past_of(services.index, scope, request, [row])
    await write(services, scope, lambda rows: forget_changes(scope, request, replace(past, memories=rows), now))
    return {"id": memory_id, "object": "memory.deleted", "deleted": True}


@router.post("/{memory_id}/restore")
async def restore(memory_id: str, scope: Caller, services: Parts) -> dict[str, Any]:
    """Undo the closing of a memory; an expired one holds again, without an end."""
    await _one(services, scope, memory_id)
    now = services.clock.now()

    def plan(rows: list[Memory]) -> Sequence[Change]:
        return [change for row in rows if row.id == memory_id for change in _brought_back(row, rows, now)]

    changes = await write(services, scope, plan)
    (restored,) = await shown(services, scope, [changes[0].memory])
    return restored


@router.get("/{memory_id}/history")
async def history(memory_id: str, scope: Caller, services: Parts) -> dict[str, Any]:
    """Return every step in the history of a memory, oldest first."""
    await _one(services, scope, memory_id)
    steps = await services.history.of(scope, memory_id)
    names = await project_names(
        services.projects, scope, [one for step in steps for one in (step.before, step.after) if one]
    )
    return listing(
        [
            {
                "object": "memory.event",
                "action": step.action,
                "reason": step.reason,
                "turn": step.turn or None,
                "at": iso(step.at),
                "before": memory_shape(step.before, names) if step.before else None,
                "after": memory_shape(step.after, names) if step.after else None,
            }
            for step in steps
        ]
    )


async def _placed(scope: Scope, services: Services, body: NewMemory) -> Scope:
    """Return the scope inside the project of a body, and record the project's name.

    Raises:
        InvalidRequest: If a header names another project.
    """
    if body.project is None:
        return scope
    within = in_project(scope, body.project, services)
    if scope.project and within.project != scope.project:
        raise InvalidRequest("`project` is not the one of X-Memory-Project. Leave one of them out.", param="project")
    await services.projects.note(within, body.project, now=services.clock.now())
    return within


async def _one(services: Services, scope: Scope, memory_id: str) -> Memory:
    if memory_id in _ACTIONS:
        raise MethodNotAllowed(f"/v1/memories/{memory_id} takes POST with a JSON body.", headers={"allow": "POST"})
    row = await services.store.memory(scope, memory_id)
    if row is None or not scope.owns(row.agent) or is_ending(row):
        raise unknown("memory", memory_id)
    return row


def metadata_of(given: dict[str, Any]) -> dict[str, Any]:
    """Return a caller's metadata without secrets.

    Raises:
        InvalidRequest: If it uses a name that memory reserves.
    """
    if reserved := sorted(INTERNAL.intersection(given)):
        raise InvalidRequest(
            f"metadata.{reserved[0]} is a name that memory itself uses. Send it under another.", param="metadata"
        )
    try:
        kept = {name: redact_values(value, name) for name, value in given.items()}
        json.dumps(kept, ensure_ascii=False).encode()
    except UnicodeEncodeError as error:
        raise InvalidRequest("metadata has half a character in it. Send whole ones.", param="metadata") from error
    except ValueError as error:
        raise InvalidRequest(f"metadata cannot be kept: {error}.", param="metadata") from error
    return kept


def _is_same(row: Memory, memory: Memory, now: datetime) -> bool:
    """Return whether an equal memory is in force; an expired one stays expired, and the new one holds from now."""
    holds = row.status == "active" and (is_over(memory, now) or not is_over(row, now))
    return holds and (row.text, row.agent) == (memory.text, memory.agent)


def _edited(row: Memory, now: datetime, **given: Any) -> Change:
    """Return the change by the fields given; None removes ``expires_at`` and leaves all others unchanged."""
    edited = edit_memory(row, now, **given)
    is_endless = given.get("expires_at", now) is None
    return replace(edited, memory=replace(edited.memory, expires_at=None)) if is_endless else edited


def _brought_back(row: Memory, rows: list[Memory], now: datetime) -> list[Change]:
    restored, *others = restore_changes(row, rows, now)
    if is_over(restored.memory, now):
        restored = replace(restored, memory=replace(restored.memory, expires_at=None))
    return [restored, *others]


def _former(row: Memory, edited: Memory, scope: Scope, past: Past, now: datetime) -> list[Change]:
    """Withhold the source sentence of a corrected memory, so that old turns do not present it as true."""
    if row.status != "active" or row.text == edited.text:
        return []
    changes = forget_changes(scope, Request(ids=(row.id,)), replace(past, memories=[row]), now)
    return [change for change in changes if is_ending(change.memory)]


async def _change(services: Services, scope: Scope, memory_id: str, change: Callable[[Memory], list[Change]]) -> Memory:
    await _one(services, scope, memory_id)

    def plan(rows: list[Memory]) -> Sequence[Change]:
        return [one for row in rows if row.id == memory_id for one in change(row)]

    changes = await write(services, scope, plan)
    if not changes:
        raise unknown("memory", memory_id)
    return changes[0].memory

"""``/v1/memories``: list, create, search, get, patch, delete, history, restore and forget."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from datetime import datetime
from functools import partial
from itertools import islice
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Query
from pydantic import AfterValidator, AwareDatetime, BaseModel, ConfigDict, Field

from proxy.access.auth import project_id
from proxy.api.caller import Caller, Parts
from proxy.api.patient import PatientRoute
from proxy.api.shapes import NO_NAMES, hit_shape, listing, memory_shape, used
from proxy.api.writing import destroy, write
from proxy.clock import iso, parse_time
from proxy.errors import InvalidRequest, NotFound
from proxy.memory.learn.past import Past
from proxy.memory.lifecycle.forget import Request, forget_changes, past_of, restore_changes
from proxy.memory.lifecycle.listing import Wanted, chosen, place
from proxy.memory.lifecycle.lookup import find
from proxy.memory.lifecycle.stated import stated
from proxy.memory.plan.changes import INTERNAL, Change, edit_memory, is_ending
from proxy.partition import parts
from proxy.pipeline.identify import in_project
from proxy.process.threads import in_thread, shielded
from proxy.services import Services
from proxy.text.secrets import redact, redact_values
from proxy.types import Hit, Kind, Memory, Scope, Source, Status

router = APIRouter(prefix="/v1/memories", route_class=PatientRoute)

_MEMORIES: tuple[Source, ...] = ("fact", "task", "summary")
_Query = Annotated[str, Field(min_length=1, max_length=20_000)]
_Text = Annotated[_Query, AfterValidator(redact)]  # what is stored, or looked for among what is
_Name = Annotated[str, Field(max_length=500), AfterValidator(redact)]
_Project = Annotated[_Name, Field(min_length=1)]
_Value = Annotated[str, Field(max_length=2000), AfterValidator(redact)]


class _Body(BaseModel):
    model_config = ConfigDict(extra="forbid")


class NewMemory(_Body):
    """What ``POST /v1/memories`` takes."""

    text: _Text
    kind: Kind = "fact"
    subject: _Name | None = None
    relation: _Name | None = None
    object_value: _Value | None = None
    pinned: bool = False
    priority: int = Field(0, ge=-100, le=100)
    confidence: float = Field(1.0, ge=0, le=1)
    expires_at: AwareDatetime | None = None
    project: _Project | None = None
    metadata: dict[str, Any] = {}


class MemoryPatch(_Body):
    """What ``PATCH /v1/memories/{id}`` takes; what is left out stays."""

    text: _Text | None = None
    kind: Kind | None = None
    object_value: _Value | None = None
    pinned: bool | None = None
    priority: int | None = Field(None, ge=-100, le=100)
    expires_at: AwareDatetime | None = None


class SearchBody(_Body):
    """What ``POST /v1/memories/search`` takes."""

    query: _Query
    limit: int = Field(10, ge=1, le=200)
    sources: list[Source] | None = None
    as_of: AwareDatetime | None = None


@router.get("")
async def list_memories(
    scope: Caller,
    services: Parts,
    query: str = "",
    kind: Kind | None = None,
    status: Status | Literal["all", "superseded", "retracted"] = "active",
    project: str = "",
    agent: str = "",
    source: str = "",
    as_of: str = "",
    since: str = "",
    until: str = "",
    limit: Annotated[int, Query(ge=1, le=1000)] = 50,
    after: str = "",
) -> dict[str, Any]:
    """Return a page of memories, newest first, or best first for a query.

    Without ``project`` these are the general ones and those of the project in ``X-Memory-Project``; with a project's
    name or id its own ones, with ``*`` those of all projects. ``since`` and ``until`` are times from which they hold.
    """
    asked = _asked(scope, services, project)
    moment = _moment(as_of, "as_of") if as_of else None
    known = "closed" if status in ("superseded", "retracted") else status
    first, last_day = (_moment(text, name) if text else None for text, name in ((since, "since"), (until, "until")))
    wanted = Wanted(kind or "", known, agent, source, moment, first, last_day)
    if not query and moment is None:
        return await _newest(services, scope, asked, wanted, limit, after)
    seen = [row for row in await services.store.memories(scope) if asked(row) and not is_ending(row)]
    steps = await services.history.all(scope) if moment else {}
    rows = chosen(seen, steps, wanted, services.clock.now())
    if query:
        within = {scope.at(row.agent) for row in rows} if project else {scope}
        found = [await _search(services, one, query, limit=200, sources=_MEMORIES, as_of=moment) for one in within]
        ranked = sorted((hit for hits in found for hit in hits), key=lambda hit: -hit.score)
        order = {hit.id: at for at, hit in reversed(list(enumerate(ranked)))}
        rows = sorted((row for row in rows if row.id in order), key=lambda row: order[row.id])
    if after:
        last = next((row for row in seen if row.id == after), None)
        at = next((at for at, row in enumerate(rows) if row.id == after), None)
        if last is None or (query and at is None):
            raise _no_such_place(after)
        # A memory that has left the list since keeps its place, so that a walk goes on.
        rows = rows[at + 1 :] if at is not None else [row for row in rows if place(row) < place(last)]
    return listing(await _shown(services, scope, rows[:limit]), has_more=len(rows) > limit)


async def _newest(
    services: Services, scope: Scope, asked: Callable[[Memory], bool], wanted: Wanted, limit: int, after: str
) -> dict[str, Any]:
    """Return a page of the newest; no more rows are read than it takes."""
    before = None
    if after:
        last = await services.store.memory(scope, after)
        if last is None or not asked(last) or is_ending(last):
            raise _no_such_place(after)
        before = place(last)
    now = services.clock.now()
    status = "" if wanted.status in ("all", "closed") else wanted.status  # rows of earlier versions call it otherwise
    rows = await services.store.newest(scope, status=status, before=before)
    fitting = (row for row in rows if asked(row) and chosen([row], {}, wanted, now))
    found = await in_thread("cpu", lambda: list(islice(fitting, limit + 1)))
    return listing(await _shown(services, scope, found[:limit]), has_more=len(found) > limit)


def _no_such_place(after: str) -> NotFound:
    return NotFound(
        f"There is no memory {after[:80]!r} to continue after. Ask for the first page again.", param="after"
    )


@router.post("")
async def create_memory(scope: Caller, services: Parts, body: NewMemory) -> dict[str, Any]:
    """Store a memory as the caller states it; said again, it is the same memory."""
    now = services.clock.now()
    scope = await _placed(scope, services, body)
    state = partial(stated, scope, body.text, now, kind=body.kind, id_=f"mem_{secrets.token_hex(12)}")
    memory = await in_thread("cpu", state)
    memory = replace(
        memory,
        subject=memory.subject if body.subject is None else body.subject,
        relation=memory.relation if body.relation is None else body.relation,
        object=memory.object if body.object_value is None else body.object_value,
        pinned=body.pinned,
        priority=body.priority,
        confidence=body.confidence,
        expires_at=body.expires_at,
        metadata={**memory.metadata, **await in_thread("cpu", metadata_of, body.metadata)},
    )

    def plan(rows: list[Memory]) -> Sequence[Change]:
        same = [row for row in rows if row.status == "active" and row.text == memory.text and row.agent == scope.agent]
        return [] if same else [Change("add", memory, None, "", "request")]

    changes = await write(services, scope, plan)
    if changes:
        return memory_shape(changes[0].memory, await services.projects.names(scope))
    rows = [row for row in await services.store.memories(scope) if row.agent == scope.agent]
    same = next(row for row in rows if row.status == "active" and row.text == memory.text)
    return memory_shape(same, await services.projects.names(scope))


@router.post("/search")
async def search_memories(scope: Caller, services: Parts, body: SearchBody) -> dict[str, Any]:
    """Return what fits a query, ranked, whether or not it would be injected."""
    hits = await _search(services, scope, body.query, limit=body.limit, sources=body.sources, as_of=body.as_of)
    return listing([hit_shape(hit) for hit in hits])


@router.get("/{memory_id}")
async def get_memory(memory_id: str, scope: Caller, services: Parts) -> dict[str, Any]:
    """Return one memory, whatever its status."""
    (found,) = await _shown(services, scope, [await _one(services, scope, memory_id)])
    return found


@router.patch("/{memory_id}")
async def patch_memory(memory_id: str, scope: Caller, services: Parts, body: MemoryPatch) -> dict[str, Any]:
    """Correct a memory; the owner's word is certain."""
    if not body.model_fields_set:
        raise InvalidRequest("The body changes nothing. Send `text`, `kind`, `pinned`, `priority` or `expires_at`.")
    now = services.clock.now()
    row = await _one(services, scope, memory_id)
    scope = scope.at(row.agent)
    past = await past_of(services.index, scope, Request(ids=(memory_id,)), [row])

    def change(row: Memory) -> list[Change]:
        edited = edit_memory(
            row,
            now,
            text=body.text,
            kind=body.kind,
            object=body.object_value,
            pinned=body.pinned,
            priority=body.priority,
            expires_at=body.expires_at,
        )
        if "expires_at" in body.model_fields_set and body.expires_at is None:
            edited = replace(edited, memory=replace(edited.memory, expires_at=None))
        return [edited, *_former(row, edited.memory, scope, past, now)]

    (changed,) = await _shown(services, scope, [await _change(services, scope, memory_id, change)])
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
        await shielded(destroy(services, scope, row), "purge memory")
        return {"id": memory_id, "object": "memory.deleted", "deleted": True, "purged": True}
    now = services.clock.now()
    request, scope = Request(ids=(memory_id,)), scope.at(row.agent)
    past = await past_of(services.index, scope, request, [row])
    await write(services, scope, lambda rows: forget_changes(scope, request, replace(past, memories=rows), now))
    return {"id": memory_id, "object": "memory.deleted", "deleted": True}


@router.post("/{memory_id}/restore")
async def restore(memory_id: str, scope: Caller, services: Parts) -> dict[str, Any]:
    """Undo what closed a memory."""
    await _one(services, scope, memory_id)
    now = services.clock.now()

    def plan(rows: list[Memory]) -> Sequence[Change]:
        return [change for row in rows if row.id == memory_id for change in restore_changes(row, rows, now)]

    changes = await write(services, scope, plan)
    (restored,) = await _shown(services, scope, [changes[0].memory])
    return restored


@router.get("/{memory_id}/history")
async def history(memory_id: str, scope: Caller, services: Parts) -> dict[str, Any]:
    """Return every step in the life of a memory, oldest first."""
    await _one(services, scope, memory_id)
    steps = await services.history.of(scope, memory_id)
    return listing(
        [
            {
                "object": "memory.event",
                "action": step.action,
                "reason": step.reason,
                "turn": step.turn or None,
                "at": iso(step.at),
                "before": memory_shape(step.before) if step.before else None,
                "after": memory_shape(step.after) if step.after else None,
            }
            for step in steps
        ]
    )


async def _shown(services: Services, scope: Scope, rows: Sequence[Memory]) -> list[dict[str, Any]]:
    names = await services.projects.names(scope) if any("." in row.agent for row in rows) else NO_NAMES
    return [memory_shape(row, names) for row in used(rows, await services.uses.of(scope, [row.id for row in rows]))]


def _asked(scope: Scope, services: Services, project: str) -> Callable[[Memory], bool]:
    """Return the test for memories of which a list is asked."""
    if not project:
        return lambda row: scope.sees(row.agent)
    ids = {project, project_id(services.hasher, scope.user, project)}
    return lambda row: scope.owns(row.agent) and (project == "*" or parts(row.agent)[1] in ids)


async def _placed(scope: Scope, services: Services, body: NewMemory) -> Scope:
    """Return the scope inside of the project that a body names, whose name is kept.

    Raises:
        InvalidRequest: If a header names another one.
    """
    if body.project is None:
        return scope
    within = in_project(scope, body.project, services)
    if scope.project and within.project != scope.project:
        raise InvalidRequest("`project` is not the one of X-Memory-Project. Leave one of them out.", param="project")
    await services.projects.note(within, body.project, now=services.clock.now())
    return within


async def _search(
    services: Services,
    scope: Scope,
    text: str,
    *,
    limit: int,
    sources: Collection[Source] | None,
    as_of: datetime | None,
) -> list[Hit]:
    now = services.clock.now()
    return await find(
        scope, text, services.index, services.embedder, now=now, limit=limit, sources=sources, as_of=as_of
    )


async def _one(services: Services, scope: Scope, memory_id: str) -> Memory:
    row = await services.store.memory(scope, memory_id)
    if row is None or not scope.owns(row.agent) or is_ending(row):
        raise NotFound(f"There is no memory {memory_id[:80]!r}.", param="id")
    return row


def metadata_of(given: dict[str, Any]) -> dict[str, Any]:
    """Return what a caller says of something, without secrets.

    Raises:
        InvalidRequest: If it has a name that memory itself uses.
    """
    if reserved := sorted(INTERNAL.intersection(given)):
        raise InvalidRequest(
            f"metadata.{reserved[0]} is a name that memory itself uses. Send it under another.", param="metadata"
        )
    try:
        return {name: redact_values(value, name) for name, value in given.items()}
    except ValueError as error:
        raise InvalidRequest(f"metadata cannot be kept: {error}.", param="metadata") from error


def _former(row: Memory, edited: Memory, scope: Scope, past: Past, now: datetime) -> list[Change]:
    """Withhold the sentence that a corrected memory stood in, so that old turns do not bring it up as if it held."""
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
        raise NotFound(f"There is no memory {memory_id[:80]!r}.", param="id")
    return changes[0].memory


def _moment(text: str, name: str) -> datetime:
    try:
        return parse_time(text)
    except ValueError as error:
        raise InvalidRequest(
            f"{name} is {text[:60]!r}; it must be an ISO 8601 time such as 2026-03-01T09:30:00Z.", param=name
        ) from error

"""``/v1/tasks``: the user's tasks, stated in a chat or added by API."""

from __future__ import annotations

import re
import secrets
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import date, datetime
from functools import partial
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, Field

from proxy.api.caller import Body, Caller, PageSize, Parts, Router, Writer
from proxy.api.memory_lists import moment_of
from proxy.api.shapes import behind, listing
from proxy.api.writing import ReadableName, worded, write
from proxy.clock import iso, parse_time
from proxy.errors import InvalidRequest, unknown
from proxy.memory.changes.book import stated
from proxy.memory.lifecycle.forget import Request, forget_changes, past_of
from proxy.memory.lifecycle.tasks import (
    OVER,
    PRIORITY,
    TASK_MARK,
    Task,
    TaskStatus,
    changed,
    shape_of,
    task_of,
    tasks_in,
)
from proxy.memory.plan.changes import Change
from proxy.pipeline.identify import in_project
from proxy.process.threads import in_thread
from proxy.services import Services
from proxy.text.secrets import redact
from proxy.types import Memory, Scope
from proxy.types.scope import parts

router = Router(prefix="/v1/tasks")

_DAY = re.compile(r"\d{4}-\d\d-\d\d")


def _due(text: str) -> str:
    """Return a day unchanged, a moment in UTC, "" for none."""
    try:
        if not text:
            return ""
        return date.fromisoformat(text).isoformat() if _DAY.fullmatch(text) else iso(parse_time(text))
    except ValueError as error:
        raise ValueError("a due date is a day or a moment in ISO 8601, such as 2026-06-01") from error


_Title = Annotated[str, Field(min_length=1, max_length=2000), AfterValidator(worded), AfterValidator(redact)]
_More = Annotated[str, Field(max_length=20_000), AfterValidator(redact)]
_Due = Annotated[str, Field(max_length=40), AfterValidator(_due)]
_Name = Annotated[str, Field(max_length=500), AfterValidator(redact)]
_Priority = Annotated[int, Field(ge=1, le=10)]


class NewTask(Body):
    """Body of ``POST /v1/tasks``."""

    title: _Title
    description: _More = ""
    due: _Due | None = None
    priority: _Priority = PRIORITY
    status: TaskStatus = "open"
    agent: _Name | None = None
    project: ReadableName | None = None


class TaskPatch(Body):
    """Body of ``PATCH /v1/tasks/{id}``; omitted fields stay, and ``null`` clears a field."""

    title: _Title | None = None
    description: _More | None = None
    due: _Due | None = None
    priority: _Priority | None = None
    status: TaskStatus | None = None
    agent: _Name | None = None


@router.get("")
async def list_tasks(
    scope: Caller,
    services: Parts,
    status: TaskStatus | Literal["all", ""] = "",
    agent: str = "",
    project: str = "",
    due_before: str = "",
    limit: PageSize = 50,
    after: str = "",
) -> dict[str, Any]:
    """Return a page of tasks: the highest priority first, then the earliest due; without ``status`` the open ones."""
    end = moment_of(due_before, "due_before") if due_before else None
    within = in_project(scope, project, services) if project not in ("", "*") else scope
    may = scope.owns if project else scope.sees
    rows = [row for row in await services.store.marked(scope, [TASK_MARK]) if may(row.agent)]
    if project not in ("", "*"):
        rows = [row for row in rows if parts(row.agent)[1] == within.project]
    found = behind(tasks_in(rows), after, "task", id_of=lambda pair: pair[0].id)
    found = [(row, task) for row, task in found if _is_wanted(task, status, agent, end)]
    names = await services.projects.names(scope)
    return listing([_shape(row, names) for row, _ in found[:limit]], has_more=len(found) > limit)


@router.post("")
async def create_task(scope: Writer, services: Parts, body: NewTask) -> dict[str, Any]:
    """Store a task; an open one of the same title is the same task, changed by the fields sent."""
    now = services.clock.now()
    within = in_project(scope, body.project or "", services)
    if scope.project and within.project != scope.project:
        raise InvalidRequest("`project` is not the one of X-Memory-Project. Leave one of them out.", param="project")
    if body.project:
        await services.projects.note(within, body.project, now=now)
    agent = body.agent if body.agent is not None else await services.agents.name(scope)
    task = Task(body.title, body.due or "", body.priority, body.status, body.description, agent)
    state = partial(stated, within, body.title, now, kind="task", id_=f"mem_{secrets.token_hex(12)}")
    memory = task.on(await in_thread("cpu", state))
    if task.status in OVER:
        memory = replace(memory, status="closed", valid_to=now)

    again = _values(body.model_dump(exclude_unset=True, exclude={"title", "project"}))

    def plan(rows: list[Memory]) -> Sequence[Change]:
        row = _same(rows, memory)
        known = task_of(row) if row else None
        if row is None or known is None:
            return [Change("add", memory, None, "", "request")]
        wanted = replace(known, **again)
        return [] if wanted == known else [changed(row, wanted, now)]

    changes = await write(services, within, plan)
    row = changes[0].memory if changes else _same(await services.store.memories(within), memory)
    return _shape(row or memory, await services.projects.names(scope))


@router.get("/{task_id}")
async def get_task(task_id: str, scope: Caller, services: Parts) -> dict[str, Any]:
    """Return one task, open or done."""
    return _shape(await _one(services, scope, task_id), await services.projects.names(scope))


@router.patch("/{task_id}")
async def patch_task(task_id: str, scope: Caller, services: Parts, body: TaskPatch) -> dict[str, Any]:
    """Change a task; ``done`` and ``cancelled`` end it, another status reopens it."""
    if not body.model_fields_set:
        raise InvalidRequest("The body changes nothing. Send `title`, `due`, `priority`, `status` or `agent`.")
    now = services.clock.now()
    values = _values(body.model_dump(exclude_unset=True))
    if values.get("title", "") is None:
        raise InvalidRequest("A task has a title. Send `title` with some words, or leave it out.", param="title")

    def change(row: Memory, task: Task) -> Change:
        new = replace(task, **values)
        named = replace(row, text=new.title, quote=new.title) if row.source == "api" else row  # else it is the user's
        one = changed(named, new, now)
        return replace(one, before=row)

    return _shape(await _change(services, scope, task_id, change), await services.projects.names(scope))


@router.delete("/{task_id}")
async def delete_task(task_id: str, scope: Caller, services: Parts) -> dict[str, Any]:
    """Forget a task with its sentence; ``POST /v1/memories/{id}/restore`` restores it."""
    row = await _one(services, scope, task_id)
    within, request, now = scope.at(row.agent), Request(ids=(row.id,)), services.clock.now()
    past = await past_of(services.index, within, request, [row])
    await write(services, scope, lambda rows: forget_changes(within, request, replace(past, memories=rows), now))
    return {"id": task_id, "object": "task.deleted", "deleted": True}


def _values(given: dict[str, Any]) -> dict[str, Any]:
    """Return fields of a task; None becomes the default."""
    empty: dict[str, Any] = {"due": "", "description": "", "agent": "", "priority": PRIORITY, "status": "open"}
    return {name: empty.get(name) if value is None else value for name, value in given.items()}


def _same(rows: Sequence[Memory], memory: Memory) -> Memory | None:
    """Return the open task of the same title and partition."""
    for row in rows:
        task = task_of(row)
        if row.agent == memory.agent and row.status == "active" and task is not None and row.text == memory.text:
            return row
    return None


def _is_wanted(task: Task, status: str, agent: str, end: datetime | None) -> bool:
    is_status = status == "all" or (task.status == status if status else task.status not in OVER)
    is_due = end is None or bool(task.due and parse_time(task.due) < end)
    return is_status and is_due and agent in ("", task.agent)


def _shape(row: Memory, names: dict[str, str]) -> dict[str, Any]:
    task = task_of(row)
    assert task is not None
    project = parts(row.agent)[1]
    return {**shape_of(row, task), "project": names.get(project, project) or None}


async def _one(services: Services, scope: Scope, task_id: str) -> Memory:
    row = await services.store.memory(scope, task_id)
    if row is None or not scope.owns(row.agent) or row.status == "quarantined" or task_of(row) is None:
        raise unknown("task", task_id)
    return row


async def _change(services: Services, scope: Scope, task_id: str, change: Callable[[Memory, Task], Change]) -> Memory:
    await _one(services, scope, task_id)

    def plan(rows: list[Memory]) -> Sequence[Change]:
        found = [(row, task_of(row)) for row in rows if row.id == task_id]
        return [change(row, task) for row, task in found if task is not None]

    changes = await write(services, scope, plan)
    if not changes:
        raise unknown("task", task_id)
    return changes[0].memory

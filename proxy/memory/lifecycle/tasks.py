"""Open commitments of the user: memories of the kind ``task`` with a title, a due date and a status. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import datetime, timedelta
from typing import Any, Literal, get_args

from proxy.clock import iso, parse_time, shifted
from proxy.memory.plan.changes import TASK, Change, is_ending
from proxy.text.languages import languages_in
from proxy.text.words import flat
from proxy.types import Hit, Memory

TaskStatus = Literal["open", "in_progress", "waiting_for_human", "blocked", "done", "cancelled"]

STATUSES: tuple[TaskStatus, ...] = get_args(TaskStatus)
OVER: frozenset[str] = frozenset({"done", "cancelled"})
PRIORITY = 5  # of 1 to 10, the default
SOON = timedelta(days=2)  # a session's first block shows tasks due within it
LATE = timedelta(days=14)  # overdue tasks older than this are no longer shown in a first block
MAX_OPENING, MAX_ASKED = 3, 12  # tasks in one block


@dataclass(frozen=True, slots=True)
class Task:
    """Title, due date, priority and status that make a memory a task.

    Args:
        title: The thing to do.
        due: Due day or time in ISO 8601, "" for none.
        priority: 1 to 10, 10 the most urgent.
        status: Progress.
        description: Further details.
        agent: Agent in charge, as the client names it.
    """

    title: str
    due: str = ""
    priority: int = PRIORITY
    status: TaskStatus = "open"
    description: str = ""
    agent: str = ""

    def on(self, memory: Memory) -> Memory:
        """Return the memory with this task."""
        return replace(memory, kind="task", expires_at=None, metadata={**memory.metadata, TASK: asdict(self)})


TASK_MARK = f'"{TASK}":'  # in the stored record of every task


def task_of(memory: Memory) -> Task | None:
    """Return the task of a memory, None if it has none; a closed memory's open task is cancelled."""
    told = memory.metadata.get(TASK)
    if not isinstance(told, dict) or is_ending(memory):
        return None
    task = Task(**{name: value for name, value in told.items() if name in Task.__dataclass_fields__})
    is_over = memory.status == "closed" and task.status not in OVER
    return replace(task, status="cancelled") if is_over else task


def tasks_in(memories: Iterable[Memory]) -> list[tuple[Memory, Task]]:
    """Return the tasks among memories by priority, highest first, then by due date, then the oldest first."""
    found = [(row, task) for row in memories if row.status != "quarantined" and (task := task_of(row)) is not None]
    return sorted(found, key=lambda pair: (-pair[1].priority, pair[1].due or "~", pair[0].created_at, pair[0].id))


def open_tasks(memories: Iterable[Memory]) -> list[tuple[Memory, Task]]:
    """Return the open tasks, in order."""
    return [(row, task) for row, task in tasks_in(memories) if row.status == "active" and task.status not in OVER]


def changed(memory: Memory, task: Task, now: datetime, *, turn: str = "", reason: str = "request") -> Change:
    """Return the change that gives a memory the task: it closes a finished task and restores a reopened one."""
    row = replace(task.on(memory), updated_at=now)
    if task.status in OVER and memory.status == "active":
        return Change("close", replace(row, status="closed", valid_to=now), memory, turn, reason)
    if task.status not in OVER and memory.status == "closed":
        return Change("restore", replace(row, status="active", valid_to=None, batch=""), memory, turn, reason)
    return Change("edit", row, memory, turn, reason)


def is_asked_for(text: str) -> bool:
    """Return whether a question asks for the open tasks."""
    low = flat(text[-600:])
    return any(tongue.has("asks", low) for tongue in languages_in(low))


def told(memories: Sequence[Memory], question: str, now: datetime, *, is_first: bool) -> list[Hit]:
    """Return the tasks to show apart from recall: all if the question asks, or the due ones at a session's start."""
    rows = open_tasks(memories)
    if is_asked_for(question):
        return [hit_of(row, task) for row, task in rows[:MAX_ASKED]]
    if not is_first:
        return []
    due = [(row, task) for row, task in rows if (when := due_at(task, row)) and -LATE <= when - now <= SOON]
    return [hit_of(row, task) for row, task in sorted(due, key=lambda pair: pair[1].due)[:MAX_OPENING]]


def hit_of(row: Memory, task: Task) -> Hit:
    """Return a task as a hit, with the day on which it is due."""
    return Hit(
        "task",
        row.id,
        row.text,
        1.0,
        0,
        when=row.local_from,
        session=row.session,
        kind="task",
        quote=row.quote,
        context=row.context,
        context_by=row.context_by,
        dates=dates_of(row, task),
        message=row.message,
    )


def dates_of(row: Memory, task: Task) -> str:
    """Return the date text of a task: its due date, else the memory's dates."""
    return f"due {task.due[:10]}" if task.due else row.dates


def due_at(task: Task, row: Memory) -> datetime | None:
    """Return the time at which a task is due, None for none; a day ends at the user's midnight."""
    if not task.due:
        return None
    moment = parse_time(task.due if "T" in task.due else f"{task.due}T00:00:00Z")
    if "T" in task.due:
        return moment
    return shifted(moment, timedelta(days=1) - timedelta(minutes=row.offset_minutes))


def shape_of(row: Memory, task: Task) -> dict[str, Any]:
    """Return a task as the API shows it, without its project."""
    return {
        "id": row.id,
        "object": "task",
        "title": task.title,
        "description": task.description or None,
        "due": task.due or None,
        "priority": task.priority,
        "status": task.status,
        "agent": task.agent or None,
        "text": row.text,
        "source": row.source,
        "session": row.session or None,
        "created_at": iso(row.created_at),
        "updated_at": iso(row.updated_at),
    }

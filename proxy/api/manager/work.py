"""``/memory-manager``: tasks, agents, quarantine and questions to a person, as in ``/v1`` under other names."""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from dataclasses import replace
from typing import Annotated, Any

from pydantic import AfterValidator, Field

from proxy.api.agents import NewAgent, create_agent, list_agents
from proxy.api.caller import Body, Caller, Parts, Router
from proxy.api.manager.items import NewItem, keep_document
from proxy.api.reviews import DecisionBody, decide, get_review, list_reviews
from proxy.api.tasks import NewTask, TaskPatch, create_task, list_tasks, patch_task
from proxy.api.writing import worded, write
from proxy.errors import InvalidRequest
from proxy.memory.conversations.chain import named_session
from proxy.memory.lifecycle.review import Question
from proxy.memory.lifecycle.tasks import TaskStatus
from proxy.memory.plan.changes import Change
from proxy.process.threads import in_thread
from proxy.store.quarantine import Apart
from proxy.text.secrets import redact
from proxy.text.thread_mark import marked
from proxy.types import Memory

router = Router(prefix="/memory-manager")

_MAX_LISTED = 1000
_Words = Annotated[str, Field(min_length=1, max_length=20_000), AfterValidator(worded), AfterValidator(redact)]
_Choice = Annotated[str, Field(min_length=1, max_length=500), AfterValidator(worded), AfterValidator(redact)]
_Name = Annotated[str, Field(max_length=500), AfterValidator(redact)]


class TaskUpdate(TaskPatch):
    """Body of ``POST /memory-manager/tasks/update``; omitted fields stay."""

    task_id: Annotated[str, Field(min_length=1, max_length=200)]


class SetApart(Body):
    """Body of ``POST /memory-manager/quarantine``."""

    content: Annotated[str, Field(min_length=1)]
    context_type: _Choice = "text"
    reason: Annotated[str, Field(max_length=2000), AfterValidator(redact)] = ""


class Asked(Body):
    """Body of ``POST /memory-manager/human/request``."""

    question: _Words
    choices: Annotated[list[_Choice], Field(max_length=100)] = Field([])
    context: Annotated[str, Field(max_length=20_000), AfterValidator(redact)] = ""
    agent: _Name = ""


class Answered(Body):
    """Body of ``POST /memory-manager/human/answer``: one of the choices, or other words."""

    request_id: Annotated[str, Field(min_length=1, max_length=200)]
    answer: _Words


@router.post("/tasks/create")
async def add_task(scope: Caller, services: Parts, body: NewTask) -> dict[str, Any]:
    """Store a task; an open one of the same title is the same task."""
    return task_shape(await create_task(scope, services, body))


@router.post("/tasks/update")
async def update_task(scope: Caller, services: Parts, body: TaskUpdate) -> dict[str, Any]:
    """Change a task."""
    given = body.model_dump(exclude_unset=True, exclude={"task_id"})
    return task_shape(await patch_task(body.task_id, scope, services, TaskPatch(**given)))


@router.get("/tasks")
async def tasks(scope: Caller, services: Parts, status: TaskStatus | None = None, agent: str = "") -> list[Any]:
    """Return the tasks by priority and due date: the open ones, or those of one status."""
    found = await list_tasks(scope, services, status=status or "", agent=agent, limit=_MAX_LISTED)
    return [task_shape(one) for one in found["data"]]


@router.post("/agents/create")
async def add_agent(scope: Caller, services: Parts, body: NewAgent) -> dict[str, Any]:
    """Register an agent: a separate scope inside the user's."""
    return agent_shape(await create_agent(scope, services, body))


@router.get("/agents")
async def agents(scope: Caller, services: Parts) -> list[Any]:
    """Return the registered agents by name."""
    return [agent_shape(one) for one in (await list_agents(scope, services))["data"]]


@router.post("/quarantine")
async def set_apart(scope: Caller, services: Parts, body: SetApart) -> dict[str, Any]:
    """Store a content that is found only inside its own thread; a conversation may continue as this thread."""
    if not body.content.strip():
        raise InvalidRequest("`content` is blank. Send the text that is to be set apart.", param="content")
    thread = f"thread_{secrets.token_hex(12)}"
    inside = replace(scope, session=named_session(scope, thread))
    entry = Apart(
        f"qua_{secrets.token_hex(12)}",
        "session",
        inside.session,
        body.reason,
        "user",
        services.clock.now(),
        scope.agent,
    )
    await services.quarantine.add(scope, entry)  # before the content, so that it is never visible elsewhere
    # The same text may be stored outside already: the mark makes this a different one.
    content = marked(await in_thread("cpu", redact, body.content), thread)
    document = await keep_document(services, inside, NewItem(content=content, content_type=body.context_type), content)
    return {
        "thread_id": thread,
        "quarantine_id": entry.id,
        "item_id": document.id,
        "session": inside.session,
        "status": "quarantined",
    }


@router.post("/human/request")
async def ask(scope: Caller, services: Parts, body: Asked) -> dict[str, Any]:
    """Ask a person a question, to be answered here, in ``/v1/reviews`` or in the dashboard."""
    id_, now = f"end_{secrets.token_hex(12)}", services.clock.now()
    row = Question(body.question, tuple(body.choices), body.context, body.agent).row(id_, scope.agent, now)

    def plan(_: list[Memory]) -> Sequence[Change]:
        return [Change("review", row, None, "", "question")]

    await write(services, scope, plan)
    return _human_shape(await get_review(id_, scope, services))


@router.post("/human/answer")
async def answer(scope: Caller, services: Parts, body: Answered) -> dict[str, Any]:
    """Answer a question, or decide a review by ``approve`` or ``decline``; other words say what to forget instead."""
    found = await get_review(body.request_id, scope, services)
    word = body.answer.strip().casefold()
    if "question" not in found and word in ("approve", "decline"):
        decision = DecisionBody(decision="approve" if word == "approve" else "decline")
    else:
        decision = DecisionBody(decision="edit", text=body.answer)
    return _human_shape(await decide(body.request_id, scope, services, decision))


@router.get("/human")
async def human(scope: Caller, services: Parts) -> list[Any]:
    """Return the open questions and reviews for a person, newest first."""
    return [_human_shape(one) for one in (await list_reviews(scope, services, limit=_MAX_LISTED))["data"]]


def task_shape(task: dict[str, Any]) -> dict[str, Any]:
    """Return a task of ``/v1/tasks`` in the JSON shape of this interface."""
    return {"task_id": task["id"], **task}


def agent_shape(agent: dict[str, Any]) -> dict[str, Any]:
    """Return an agent of ``/v1/agents`` in the JSON shape of this interface, with the header that names its scope."""
    return {
        "agent_id": agent["id"],
        **agent,
        "scope": {"id": agent["id"], "header": f"X-Memory-Agent: {agent['name']}"},
    }


def _human_shape(review: dict[str, Any]) -> dict[str, Any]:
    if "question" in review:
        question, choices, told = review["question"], review["choices"], review["answer"]
    else:
        texts = "; ".join(f"{memory['text']!r}" for memory in review["memories"])
        question, choices = f"Forget {texts or review['sentence']!r}?", ["approve", "decline"]
        told = None if review["status"] == "open" else review["status"]
    return {
        "request_id": review["id"],
        "kind": "question" if "question" in review else "review",
        "question": question,
        "choices": choices,
        "context": review.get("context"),
        "status": "open" if review["status"] == "open" else "answered",
        "answer": told,
        "created_at": review["created_at"],
        "answered_at": review["decided_at"],
    }

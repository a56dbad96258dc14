"""``/v1/agents``: the user's agents and apps, their capabilities, and whether each keeps its memory private."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import Annotated, Any

from pydantic import Field

from proxy.access.auth import agent_id
from proxy.api.caller import Body, Caller, PageSize, Parts, Router
from proxy.api.shapes import behind, listing
from proxy.api.writing import ReadableName
from proxy.clock import iso
from proxy.errors import InvalidRequest
from proxy.memory.lifecycle.tasks import TASK_MARK, open_tasks
from proxy.services import Services
from proxy.store.agents import Agent
from proxy.types import Scope
from proxy.types.scope import parts

router = Router(prefix="/v1/agents")

_Words = Annotated[list[ReadableName], Field(max_length=100)]


class NewAgent(Body):
    """Body of ``POST /v1/agents``."""

    name: ReadableName
    capabilities: _Words = Field([])
    private: bool = False


class AgentPatch(Body):
    """Body of ``PATCH /v1/agents/{id}``; omitted fields stay."""

    capabilities: _Words | None = None
    private: bool | None = None


@router.get("")
async def list_agents(scope: Caller, services: Parts, limit: PageSize = 1000, after: str = "") -> dict[str, Any]:
    """Return the registered agents by name."""
    found = behind(await services.agents.all(scope), after, "agent")
    counts = await _counts(services, scope) if found else (Counter[str](), Counter[str]())
    return listing([_shape(one, counts) for one in found[:limit]], has_more=len(found) > limit)


@router.post("")
async def create_agent(scope: Caller, services: Parts, body: NewAgent) -> dict[str, Any]:
    """Register an agent under the name that it sends in ``X-Memory-Agent``; repeated, its settings are replaced.

    A common agent learns for the user, so that all common agents see it; a private one keeps its own memory, and also
    sees the common one. An unregistered agent is private.
    """
    id_ = agent_id(services.hasher, scope.user, body.name.strip())
    known = await services.agents.find(scope, id_)
    agent = Agent(id_, body.name.strip(), tuple(body.capabilities), body.private, services.clock.now())
    await services.agents.put(scope, agent)
    shown = agent if known is None else replace(agent, created_at=known.created_at, last_at=known.last_at)
    return _shape(shown, await _counts(services, scope))


@router.get("/{agent_id}")
async def get_agent(agent_id: str, scope: Caller, services: Parts) -> dict[str, Any]:
    """Return one agent, by its id or its name."""
    return _shape(await services.agents.get(scope, agent_id), await _counts(services, scope))


@router.patch("/{agent_id}")
async def patch_agent(agent_id: str, scope: Caller, services: Parts, body: AgentPatch) -> dict[str, Any]:
    """Change an agent's capabilities, or whether it is private from now on; what others know already stays known."""
    given = {name: value for name, value in body.model_dump().items() if value is not None}
    if not given:
        raise InvalidRequest("The body changes nothing. Send `capabilities` or `private`.")
    agent = await services.agents.get(scope, agent_id)
    changed = replace(
        agent,
        capabilities=tuple(given.get("capabilities", agent.capabilities)),
        is_private=given.get("private", agent.is_private),
    )
    await services.agents.put(scope, changed)
    return _shape(changed, await _counts(services, scope))


@router.delete("/{agent_id}")
async def delete_agent(agent_id: str, scope: Caller, services: Parts) -> dict[str, Any]:
    """Remove an agent from the list; its memory stays: erase it by ``POST /v1/erase`` with its name in the header."""
    agent = await services.agents.get(scope, agent_id)
    await services.agents.remove(scope, agent.id)
    return {"id": agent.id, "object": "agent.deleted", "deleted": True}


def _shape(agent: Agent, counts: tuple[Counter[str], Counter[str]]) -> dict[str, Any]:
    memories, tasks = counts
    return {
        "id": agent.id,
        "object": "agent",
        "name": agent.name,
        "capabilities": list(agent.capabilities),
        "private": agent.is_private,
        "memories": memories[agent.id],
        "tasks": tasks[agent.name],
        "created_at": iso(agent.created_at),
        "last_at": iso(agent.last_at) if agent.last_at else None,
    }


async def _counts(services: Services, scope: Scope) -> tuple[Counter[str], Counter[str]]:
    """Return, for each agent, the number of its private active memories, and of its visible open tasks."""
    own: Counter[str] = Counter()
    for agent, number in (await services.store.active_by_agent(scope)).items():
        own[parts(agent)[0]] += number
    rows = [row for row in await services.store.marked(scope, [TASK_MARK]) if scope.sees(row.agent)]
    return own, Counter(task.agent for _, task in open_tasks(rows))

"""``/memory-manager/state``: share of a model's window that the items would take, and savings by short forms."""

from __future__ import annotations

from collections import Counter
from typing import Annotated, Any

from fastapi import Query

from proxy.api.agents import list_agents
from proxy.api.caller import Caller, Parts, PatientRoute, Router
from proxy.api.manager.items import documents_of, item_shape
from proxy.api.manager.work import agent_shape, task_shape
from proxy.api.tasks import list_tasks
from proxy.clock import iso
from proxy.memory.lifecycle.items import SAFE_SHARE, Item, fitted, is_item, item_of_document, item_of_memory, totals
from proxy.memory.lifecycle.tasks import STATUSES
from proxy.process.threads import in_thread
from proxy.services import Services
from proxy.types import Scope
from proxy.worker.hygiene import rules_of

router = Router(prefix="/memory-manager/state", route_class=PatientRoute)

DEFAULT_MODEL = "gpt-4o"  # if the caller names none and no configured model has a known window
_MAX_LISTED = 1000
_Model = Annotated[str, Query(max_length=500, description="Whose window is meant.")]


@router.get("")
async def state(scope: Caller, services: Parts, model: _Model = "") -> dict[str, Any]:
    """Return the items' forms in a prompt of a model, their tokens, cost and savings, and the open tasks."""
    _, shown = await _state(services, scope, model)
    tasks = Counter(task["status"] for task in await _tasks(services, scope))
    agents = await list_agents(scope, services)
    return {
        **shown,
        "tasks": {"total": tasks.total(), **{status: tasks[status] for status in STATUSES}},
        "agents": {"total": len(agents["data"])},
    }


@router.get("/export")
async def export(scope: Caller, services: Parts, model: _Model = "") -> dict[str, Any]:
    """Return the state with its items, tasks and agents, for a user interface."""
    items, shown = await _state(services, scope, model)
    tasks = await _tasks(services, scope)
    agents = await list_agents(scope, services)
    return {
        **shown,
        "exported_at": iso(services.clock.now()),
        "counts": shown["items"],
        "items": [
            {
                **item_shape(item),
                "state": item.form,
                "summary": item.summary,
                "tokens_in_context": item.in_prompt,
                "created_at": iso(item.created_at),
                "last_used_at": iso(item.used_at),
            }
            for item in items
        ],
        "tasks": [task_shape(task) for task in tasks],
        "agents": [agent_shape(agent) for agent in agents["data"]],
    }


async def _state(services: Services, scope: Scope, model: str) -> tuple[list[Item], dict[str, Any]]:
    chosen = model or _default(services)
    facts, settings = services.routes.facts(chosen), services.settings.memory
    window, share = facts.context_window, settings.compact_at
    room = window * share if window and share else None
    found = await items_of(services, scope)
    items = await in_thread("cpu", fitted, found, room)
    forms, tokens = totals(items)
    used = round(100 * tokens["in_context"] / window, 2) if window else None
    prices = facts.prices
    return items, {
        "object": "memory_manager.state",
        "model": chosen,
        "context_window": window,
        "trigger_tokens": round(room) if room else None,
        "safe_tokens": round(window * SAFE_SHARE) if window else None,
        "context_tokens": tokens["in_context"],
        "context_utilization_percentage": used,
        "items": forms,
        "tokens": tokens,
        "compression_ratio": round(tokens["stored"] / tokens["in_context"], 1) if tokens["in_context"] else None,
        "cost": {
            "input": round(1000 * prices.input, 9) if prices else None,
            "output": round(1000 * prices.output, 9) if prices else None,
            "per_tokens": 1000,
            "currency": "USD",
        },
    }


async def items_of(services: Services, scope: Scope) -> list[Item]:
    """Return the visible items, the oldest first, each in its form for a prompt with room for all."""
    now, rules = services.clock.now(), rules_of(services)
    rows = [row for row in await services.store.memories(scope) if scope.sees(row.agent) and is_item(row)]
    documents = await documents_of(services, scope)
    uses = await services.uses.of(scope, [*(row.id for row in rows), *(one.id for one in documents)])

    def made() -> list[Item]:
        found = [item_of_memory(row, uses.get(row.id), now, rules) for row in rows]
        found += [item_of_document(one, uses.get(one.id), now, rules) for one in documents]
        return sorted(found, key=lambda item: (item.created_at, item.id))

    return await in_thread("cpu", made)


def _default(services: Services) -> str:
    """Return the first configured model whose window is known."""
    names = (name for name in services.routes.models() if services.routes.facts(name).context_window)
    return next(names, DEFAULT_MODEL)


async def _tasks(services: Services, scope: Scope) -> list[dict[str, Any]]:
    found = await list_tasks(scope, services, status="all", limit=_MAX_LISTED)
    return list(found["data"])

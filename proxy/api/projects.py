"""``/v1/projects``: code bases, clients, cases, each with its own memory beside the general one."""

from __future__ import annotations

from collections import Counter
from typing import Any

from proxy.api.caller import Caller, PageSize, Parts, Router
from proxy.api.shapes import behind, listing
from proxy.clock import iso
from proxy.services import Services
from proxy.store.projects import Project
from proxy.types import Scope
from proxy.types.scope import parts

router = Router(prefix="/v1/projects")


@router.get("")
async def list_projects(scope: Caller, services: Parts, limit: PageSize = 1000, after: str = "") -> dict[str, Any]:
    """Return the projects, the last used first; a request that names a project sees that one alone."""
    found = behind(await services.projects.all(scope), after, "project")
    counts = await _counts(services, scope) if found else Counter[str]()
    return listing([_shape(one, counts) for one in found[:limit]], has_more=len(found) > limit)


@router.get("/{project_id}")
async def get_project(project_id: str, scope: Caller, services: Parts) -> dict[str, Any]:
    """Return one project, by its id or its name."""
    return _shape(await services.projects.get(scope, project_id), await _counts(services, scope))


def _shape(project: Project, counts: Counter[str]) -> dict[str, Any]:
    return {
        "id": project.id,
        "object": "project",
        "name": project.name,
        "memories": counts[project.id],
        "created_at": iso(project.created_at),
        "last_at": iso(project.last_at),
    }


async def _counts(services: Services, scope: Scope) -> Counter[str]:
    """Return the number of active memories of each project."""
    own: Counter[str] = Counter()
    for agent, number in (await services.store.active_by_agent(scope)).items():
        if scope.owns(agent):
            own[parts(agent)[1]] += number
    return own

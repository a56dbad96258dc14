"""``/v1/teams`` and ``/v1/memories/{id}/share``: single memories that users share with a team."""

from __future__ import annotations

from operator import itemgetter
from typing import Any

from pydantic import Field

from proxy.api.caller import Author, Body, Caller, PageSize, Parts, PatientRoute, Router
from proxy.api.shapes import behind, listing
from proxy.clock import iso
from proxy.errors import NotFound, unknown
from proxy.memory.lifecycle.sharing import may_share, withdraw
from proxy.memory.recall.team import as_shared
from proxy.services import Services
from proxy.store.shares import Share
from proxy.types import Memory, Scope, Team

router = Router(prefix="/v1", route_class=PatientRoute)


class ShareBody(Body):
    """Body of ``POST /v1/memories/{id}/share``."""

    team: str = Field(min_length=1, max_length=500)


@router.get("/teams")
async def list_teams(scope: Caller, services: Parts) -> dict[str, Any]:
    """Return the teams of this key, each with its number of shared memories."""
    shown, now = [], services.clock.now()
    for team in scope.teams:
        found = await services.team_memory.of((team,), services.store)
        shown.append({"id": team.id, "object": "team", "name": team.name, "memories": len(found.memories(now))})
    return listing(shown)


@router.get("/teams/{team_id}/memories")
async def list_shared(
    team_id: str, scope: Caller, services: Parts, limit: PageSize = 50, after: str = ""
) -> dict[str, Any]:
    """Return the shared memories of a team, by its name or id, or of all with ``*``: the newest share first."""
    teams = scope.teams if team_id == "*" else (_team(scope, team_id),)
    found = await services.team_memory.of(teams, services.store)
    shown = [_shape(row, found.shares[row.id], scope) for row in reversed(found.memories(services.clock.now()))]
    left = behind(shown, after, "shared memory", id_of=itemgetter("id"))
    return listing(left[:limit], has_more=len(left) > limit)


@router.post("/memories/{memory_id}/share")
async def share_memory(
    memory_id: str, scope: Caller, author: Author, services: Parts, body: ShareBody
) -> dict[str, Any]:
    """Share a memory with a team of this key: its words and dates under the author's name, without its context."""
    team = _team(scope, body.team)
    memory = await _own(services, scope, memory_id)
    may_share(memory, services.clock.now())
    share = await services.shares.put(
        scope, team.id, memory.id, agent=memory.agent, author=author, now=services.clock.now()
    )
    return _shape(as_shared(share, memory), share, scope)


@router.post("/memories/{memory_id}/unshare")
async def unshare_memory(memory_id: str, scope: Caller, services: Parts, body: ShareBody) -> dict[str, Any]:
    """Stop sharing a memory with a team; it is also removed from other users' conversations."""
    team = _team(scope, body.team)
    memory = await _own(services, scope, memory_id)
    ended = await withdraw(services.shares, services.ledger, scope, [memory.id], team=team.id)
    return {"id": memory.id, "object": "memory.unshared", "team": team.name, "ended": ended}


def _team(scope: Scope, wanted: str) -> Team:
    for team in scope.teams:
        if wanted in (team.id, team.name):
            return team
    raise NotFound(
        f"This key is in no team {wanted[:80]!r}. GET /v1/teams lists those that it is in; its operator adds one with "
        "`throughline keys update ID --team NAME`.",
        param="team",
    )


async def _own(services: Services, scope: Scope, memory_id: str) -> Memory:
    memory = await services.store.memory(scope, memory_id)
    if memory is None or not scope.owns(memory.agent):
        raise unknown("memory", memory_id)
    return memory


def _shape(shown: Memory, share: Share, scope: Scope) -> dict[str, Any]:
    """Return a shared memory; only its author gets the memory's id."""
    team = next(team for team in scope.teams if team.id == share.team)
    is_own = share.scope.user == scope.user
    return {
        "id": share.id,
        "object": "shared_memory",
        "team": team.name,
        "author": share.author,
        "text": shown.text,
        "dates": shown.dates or None,
        "valid_from": iso(shown.local_from),
        "shared_at": iso(share.shared_at),
        "memory": share.memory if is_own else None,
    }

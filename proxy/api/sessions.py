"""``/v1/sessions``: conversations, by our id or by the client's own."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Query

from proxy.api.caller import Caller, Parts
from proxy.api.shapes import episode_shape, listing, session_shape
from proxy.services import Services
from proxy.store.sessions import Session
from proxy.threads import shielded
from proxy.types import Scope

router = APIRouter(prefix="/v1/sessions")


@router.get("")
async def list_sessions(
    scope: Caller, services: Parts, limit: Annotated[int, Query(ge=1, le=1000)] = 50, after: str = ""
) -> dict[str, Any]:
    """Return a page of conversations, newest first."""
    page, has_more = await services.sessions.page(scope, after=after, limit=limit)
    return listing([session_shape(session) for session in page], has_more=has_more)


@router.get("/{session_id:path}")
async def get_session(session_id: str, scope: Caller, services: Parts) -> dict[str, Any]:
    """Return a conversation with what was said in it."""
    session = await _one(services, scope, session_id)
    episodes = await services.store.episodes(scope, session=session.id)
    messages = [episode_shape(episode) for episode in episodes if scope.sees(episode.agent)]
    return {**session_shape(session), "messages": messages}


@router.post("/{session_id:path}/end")
async def end_session(session_id: str, scope: Caller, services: Parts) -> dict[str, Any]:
    """End a conversation; a further turn opens it again."""
    session = await _one(services, scope, session_id)
    return session_shape(await services.sessions.end(scope, session.id, now=services.clock.now()))


@router.delete("/{session_id:path}")
async def delete_session(session_id: str, scope: Caller, services: Parts) -> dict[str, Any]:
    """Destroy a conversation: its turns, what was injected into it and its receipts; facts learned from it stay."""
    session = await _one(services, scope, session_id)
    await shielded(_destroy(services, scope, session.id), "delete session")
    return {"id": session_id, "object": "session.deleted", "deleted": True}


async def _one(services: Services, scope: Scope, session_id: str) -> Session:
    named = await services.sessions.named(scope, session_id)
    return await services.sessions.get(scope, named or session_id)


async def _destroy(services: Services, scope: Scope, session_id: str) -> None:
    async with services.leases.held(scope):
        await services.sessions.delete(scope, session_id)
        await services.store.remove_episodes(scope, session=session_id)
        await services.store.purge(scope)
    await services.database.scrub()

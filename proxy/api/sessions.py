"""``/v1/sessions``: conversations, by Throughline's id or the client's own."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from typing import Any

from proxy.api.caller import Caller, PageSize, Parts, PatientRoute, Router, project_asked
from proxy.api.shapes import episode_shape, listing, session_shape
from proxy.errors import NotFound, no_place, unknown
from proxy.memory.lifecycle.usage import usage_of_sessions
from proxy.process.threads import in_thread, shielded
from proxy.services import Services
from proxy.store.costs import shown
from proxy.store.sessions import Session
from proxy.types import Scope
from proxy.worker.destroy import destroy_session
from proxy.worker.endings import end_conversation
from proxy.worker.sweep import forget_conversation

router = Router(prefix="/v1/sessions", route_class=PatientRoute)
_MAX_RECEIPTS = 2_000  # for a page of conversations, the newest ones


@router.get("")
async def list_sessions(
    scope: Caller,
    services: Parts,
    project: str = "",
    limit: PageSize = 50,
    after: str = "",
    usage: bool = False,  # noqa: FBT001, FBT002 - a query parameter
) -> dict[str, Any]:
    """Return a page of conversations, newest first; those of a project by its name or id, of all with ``*``.

    With ``usage`` their clients, models and tokens by the receipts.
    """
    asked = project_asked(scope, services, project)
    try:
        page, has_more = await services.sessions.page(scope, after=after, limit=limit, project=asked)
    except NotFound as error:
        raise no_place("conversation", after) from error
    shown = [session_shape(session) for session in page]
    if usage and page:
        ids = [session.id for session in page]
        bodies = await services.receipts.page(scope, sessions=ids, limit=_MAX_RECEIPTS)
        used = await in_thread("cpu", usage_of_sessions, bodies)
        shown = [{**one, "usage": used.get(one["id"])} for one in shown]
    return listing(shown, has_more=has_more)


@router.get("/{session_id:path}")
async def get_session(session_id: str, scope: Caller, services: Parts) -> dict[str, Any]:
    """Return a conversation with its messages."""
    part, session = await find_session(services, scope, session_id)
    episodes = await part.store.episodes(scope, session=session.id)
    messages = [episode_shape(episode) for episode in episodes if scope.owns(episode.agent)]
    costs = shown(await part.costs.read(scope, session.id))
    return {**session_shape(session), "costs": costs, "messages": messages}


@router.post("/{session_id:path}/end")
async def end_session(session_id: str, scope: Caller, services: Parts) -> dict[str, Any]:
    """End a conversation and write its summary; a further turn opens it again."""
    part, session = await find_session(services, scope, session_id)
    return session_shape(await shielded(end_conversation(part, replace(scope, session=session.id)), "end session"))


@router.delete("/{session_id:path}")
async def delete_session(session_id: str, scope: Caller, services: Parts) -> dict[str, Any]:
    """Destroy a conversation: its turns, its injected memory and its receipts; facts learned from it stay."""
    part, session = await find_session(services, scope, session_id)
    await destroy_conversation(part, scope, session.id)
    return {"id": session_id, "object": "session.deleted", "deleted": True}


async def find_session(services: Services, scope: Scope, session_id: str) -> tuple[Services, Session]:
    """Return a conversation and the services that store it, the persistent ones or those in memory."""
    for part in services.both():
        with suppress(NotFound):
            return part, await _one(part, scope, session_id)
    raise unknown("conversation", session_id)


async def _one(services: Services, scope: Scope, session_id: str) -> Session:
    named = await services.sessions.named(scope, session_id)
    return await services.sessions.get(scope, named or session_id)


async def destroy_conversation(services: Services, scope: Scope, session_id: str) -> None:
    """Destroy a conversation, by its Throughline id, in the services that store it."""
    if services.is_ephemeral:
        await shielded(forget_conversation(services, replace(scope, session=session_id)), "forget conversation")
    else:
        await destroy_session(services, scope, session_id)

"""``/v1/quarantine``: quarantined conversations, documents and memories, recalled only inside themselves."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from typing import Annotated, Any

from pydantic import AfterValidator, Field

from proxy.api.caller import Body, Caller, PageSize, Parts, Router
from proxy.api.sessions import destroy_conversation, find_session
from proxy.api.shapes import behind, listing
from proxy.clock import iso
from proxy.errors import InvalidRequest, NotFound, unknown
from proxy.memory.lifecycle.quarantine import Parts as To
from proxy.memory.lifecycle.quarantine import release, set_apart
from proxy.memory.plan.changes import is_ending
from proxy.process.threads import shielded
from proxy.services import Services
from proxy.store.quarantine import Apart, ApartKind
from proxy.text.secrets import redact
from proxy.types import Scope
from proxy.worker.destroy import destroy_apart
from proxy.worker.endings import end_conversation

router = Router(prefix="/v1/quarantine")

_Id = Annotated[str, Field(min_length=1, max_length=2000)]


class SetApart(Body):
    """Body of ``POST /v1/quarantine``: exactly one of the three, and the reason."""

    session: _Id | None = None
    document: _Id | None = None
    memory: _Id | None = None
    reason: Annotated[str, Field(max_length=2000), AfterValidator(redact)] = ""


@router.get("")
async def list_quarantine(
    scope: Caller,
    services: Parts,
    kind: ApartKind | None = None,
    limit: PageSize = 50,
    after: str = "",
) -> dict[str, Any]:
    """Return a page of quarantined items, newest first."""
    found = [one for part in services.both() for one in await part.quarantine.ever(scope)]
    found.sort(key=lambda one: (one.created_at, one.id), reverse=True)
    found = [one for one in behind(found, after, "entry") if kind in (None, one.kind) and not one.is_released]
    return listing([_shape(one) for one in found[:limit]], has_more=len(found) > limit)


@router.post("")
async def set_aside(scope: Caller, services: Parts, body: SetApart) -> dict[str, Any]:
    """Quarantine a conversation, a document or a memory; a quarantined one stays as it is."""
    given: dict[ApartKind, str | None] = {"session": body.session, "document": body.document, "memory": body.memory}
    named = [(kind, id_) for kind, id_ in given.items() if id_ is not None]
    if len(named) != 1:
        raise InvalidRequest("Send exactly one of `session`, `document` and `memory`.", param="session")
    kind, id_ = named[0]
    part, target, within = await _meant(services, scope, kind, id_)
    return _shape(await shielded(_set_apart(part, within, kind, target, body.reason), "set apart"))


@router.get("/{entry_id}")
async def get_entry(entry_id: str, scope: Caller, services: Parts) -> dict[str, Any]:
    """Return one entry, by its id or that of the quarantined item."""
    return _shape((await _found(services, scope, entry_id))[1])


@router.post("/{entry_id}/release")
async def release_entry(entry_id: str, scope: Caller, services: Parts) -> dict[str, Any]:
    """Release the item as it was before."""
    part, entry = await _found(services, scope, entry_id)
    await shielded(_release(part, scope, entry), "release")
    return {**_shape(entry), "status": "released"}


@router.delete("/{entry_id}")
async def destroy_entry(entry_id: str, scope: Caller, services: Parts) -> dict[str, Any]:
    """Destroy the quarantined item, with everything learned from it."""
    part, entry = await _found(services, scope, entry_id)
    if part.is_ephemeral and entry.kind == "session":
        await destroy_conversation(part, scope, entry.target)
    else:
        await destroy_apart(part, scope, entry.id)
    return {"id": entry.id, "object": "quarantine.deleted", "deleted": True}


def _shape(entry: Apart) -> dict[str, Any]:
    return {
        "id": entry.id,
        "object": "quarantine",
        "status": "quarantined",
        "kind": entry.kind,
        "session": entry.target if entry.kind == "session" else None,
        "document": entry.target if entry.kind == "document" else None,
        "memory": entry.target if entry.kind == "memory" else None,
        "reason": entry.reason,
        "by": entry.by,
        "created_at": iso(entry.created_at),
    }


async def _meant(services: Services, scope: Scope, kind: ApartKind, id_: str) -> tuple[Services, str, Scope]:
    """Return the services that store the named item, its id, and the scope inside its project.

    Raises:
        NotFound: If it is not visible.
    """
    if kind == "session":
        part, session = await find_session(services, scope, id_)
        return part, session.id, scope.at(session.agent)
    for part in services.both():
        if kind == "memory":
            row = await part.store.memory(scope, id_)
            if row is not None and scope.owns(row.agent) and not is_ending(row):
                return part, row.id, scope.at(row.agent)
        else:
            with suppress(NotFound):
                item = await part.media.get(scope, id_)
                return part, item.id, scope.at(item.agent)
    raise unknown(kind, id_, param=kind)


async def _found(services: Services, scope: Scope, entry_id: str) -> tuple[Services, Apart]:
    for part in services.both():
        with suppress(NotFound):
            return part, await part.quarantine.get(scope, entry_id)
    raise unknown("entry of the quarantine", entry_id)


def _parts(services: Services) -> To:
    return To(services.index, services.book, services.ledger, services.quarantine)


async def _set_apart(services: Services, scope: Scope, kind: ApartKind, target: str, reason: str) -> Apart:
    async with services.leases.held(scope):
        return await set_apart(_parts(services), scope, kind, target, reason, services.clock.now())


async def _release(services: Services, scope: Scope, entry: Apart) -> None:
    async with services.leases.held(scope):
        await release(_parts(services), scope, entry, services.clock.now())
    if entry.kind == "session":
        within = replace(scope.at(entry.agent), session=entry.target)
        with suppress(NotFound):
            if (await services.sessions.get(within, entry.target)).ended_at is not None:
                await end_conversation(services, within)  # its summary was not written during the quarantine

"""``/v1/receipts/{id}``: why a reply knew what it knew."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from typing import Annotated, Any

from fastapi import APIRouter, Query

from proxy.api.caller import Caller, Parts
from proxy.api.patient import PatientRoute
from proxy.api.shapes import listing
from proxy.errors import NotFound, StoreUnavailable
from proxy.memory.recall.chunk_source import title
from proxy.partition import parts
from proxy.services import Services
from proxy.types import Scope

_SHOWN = ("chunk", "image")
_LISTS = ("injected", "considered", "learned", "closed", "linked", "review")

router = APIRouter(prefix="/v1/receipts", route_class=PatientRoute)


@router.get("")
async def list_receipts(
    scope: Caller,
    services: Parts,
    session: str = "",
    limit: Annotated[int, Query(ge=1, le=1000)] = 50,
    after: str = "",
) -> dict[str, Any]:
    """Return a page of receipts, newest first, of one conversation where it is named; ids instead of texts."""
    found = [body for part in services.both() for body in await part.receipts.all(scope, session=session)][::-1]
    if after:
        place = next((at for at, body in enumerate(found) if body["id"] == after), None)
        if place is None:
            raise NotFound(f"There is no receipt {after[:80]!r} in this list to continue after.", param="after")
        found = found[place + 1 :]
    shown = [{"object": "receipt", **{name: [] for name in _LISTS}, **body} for body in found[:limit]]
    return listing(shown, has_more=len(found) > limit)


@router.get("/{receipt_id}")
async def get_receipt(receipt_id: str, scope: Caller, services: Parts) -> dict[str, Any]:
    """Return a receipt; texts are looked up now, so that what was erased since is gone from it too."""
    body = await _found(services, scope, receipt_id)
    texts: dict[str, str] = {}
    where = replace(scope, session=body.get("session", ""))  # what is in quarantine is seen inside of itself alone
    for part in services.both():
        with suppress(StoreUnavailable):  # the reasons why memory failed are wanted just then
            texts |= await _texts(part, where)
            texts |= await _shown(part, where, [entry["id"] for entry in _ranked(body) if entry["source"] in _SHOWN])
    for name in _LISTS:
        body[name] = [{**entry, "text": texts.get(entry["id"])} for entry in body.get(name, [])]
    return {"object": "receipt", **body}


async def _found(services: Services, scope: Scope, receipt_id: str) -> dict[str, Any]:
    outage: StoreUnavailable | None = None
    for part in services.both():
        try:
            return await part.receipts.get(scope, receipt_id)
        except StoreUnavailable as error:
            outage = error
        except NotFound:
            continue
    raise outage or NotFound(f"There is no receipt {receipt_id[:80]!r}.", param="id")


def _ranked(body: dict[str, Any]) -> list[dict[str, Any]]:
    return [*body.get("injected", []), *body.get("considered", [])]


async def _shown(services: Services, scope: Scope, ids: list[str]) -> dict[str, str]:
    rows = await services.store.chunks(scope, ids) if ids else []
    return {row.id: f"{title(row)}: {row.text}" for row in rows if _is_seen(scope, row.agent)}


async def _texts(services: Services, scope: Scope) -> dict[str, str]:
    memories = [row for row in await services.store.memories(scope) if _is_seen(scope, row.agent)]
    memories = [row for row in memories if row.status != "quarantined" or row.session == scope.session]
    episodes = [row for row in await services.store.episodes(scope) if _is_seen(scope, row.agent)]
    return {row.id: row.text for row in memories} | {row.id: row.text for row in episodes}


def _is_seen(scope: Scope, agent: str) -> bool:
    return scope.owns(agent) and parts(agent)[2] in ("", scope.session)

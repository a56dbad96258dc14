"""``/v1/receipts/{id}``: why a reply knew what it knew."""

from __future__ import annotations

from collections.abc import Collection
from contextlib import suppress
from dataclasses import replace
from typing import Annotated, Any

from fastapi import APIRouter, Query

from proxy.api.caller import Caller, Parts
from proxy.api.patient import PatientRoute
from proxy.api.shapes import listing
from proxy.errors import NotFound, StoreUnavailable
from proxy.memory.conversations.chain import message_id
from proxy.memory.recall.chunk_source import title
from proxy.services import Services
from proxy.types import Scope
from proxy.types.partition import parts

_SHOWN = ("chunk", "image")
_LISTS = ("injected", "considered", "learned", "closed", "linked", "review")
_MOST_LOOKED_AT = 2_000  # receipts in which an entry is sought

router = APIRouter(prefix="/v1/receipts", route_class=PatientRoute)


@router.get("")
async def list_receipts(
    scope: Caller,
    services: Parts,
    session: str = "",
    entry: str = "",
    limit: Annotated[int, Query(ge=1, le=1000)] = 50,
    after: str = "",
) -> dict[str, Any]:
    """Return a page of receipts, newest first; ids instead of texts.

    With ``session`` those of one conversation, with ``entry`` those that put this memory, passage, or any part of this
    document or image into the request.
    """
    found: list[dict[str, Any]] = []
    sessions, most = [session] if session else [], _MOST_LOOKED_AT if entry else limit + 1
    last = after
    for part in reversed(services.both()):  # each knows its own: behind the last of one the next begins
        with suppress(NotFound):
            found += await part.receipts.page(scope, sessions=sessions, after=last, limit=most)
            last = ""
    if last:
        raise NotFound(f"There is no receipt {after[:80]!r} in this list to continue after.", param="after")
    found = [body for body in found if not entry or any(_is_of(one, entry) for one in body.get("injected", ()))]
    shown = [{"object": "receipt", **{name: [] for name in _LISTS}, **body} for body in found[:limit]]
    return listing(shown, has_more=len(found) > limit)


@router.get("/{receipt_id}")
async def get_receipt(receipt_id: str, scope: Caller, services: Parts) -> dict[str, Any]:
    """Return a receipt; texts are looked up now, so that what was erased since is gone from it too.

    ``additions`` are the texts that the request carried up beside the client's own, each with the message that it was
    appended to; a text that quotes what was closed or destroyed since is null.
    """
    body = await _found(services, scope, receipt_id)
    texts: dict[str, str] = {}
    where = replace(scope, session=body.get("session", ""))  # what is in quarantine is seen inside of itself alone
    ids = list(dict.fromkeys(entry["id"] for name in _LISTS for entry in body.get(name, ())))
    additions: list[dict[str, Any]] = []
    for part in services.both():
        with suppress(StoreUnavailable):  # the reasons why memory failed are wanted just then
            texts |= await _texts(part, where, ids)
            texts |= await _shown(part, where, [entry["id"] for entry in _ranked(body) if entry["source"] in _SHOWN])
            additions = additions or await _additions(part, where, body.get("placed") or ())
    for name in _LISTS:
        body[name] = [{**entry, "text": texts.get(entry["id"])} for entry in body.get(name, [])]
    body.pop("placed", None)
    return {"object": "receipt", **body, "additions": additions}


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


def _is_of(entry: dict[str, Any], wanted: str) -> bool:
    """Whether an entry is the wanted one, or a part of it."""
    return wanted in (entry["id"], str(entry["id"]).partition(".")[0])


def _ranked(body: dict[str, Any]) -> list[dict[str, Any]]:
    return [*body.get("injected", []), *body.get("considered", [])]


async def _shown(services: Services, scope: Scope, ids: list[str]) -> dict[str, str]:
    rows = await services.store.chunks(scope, ids) if ids else []
    return {row.id: f"{title(row)}: {row.text}" for row in rows if _is_seen(scope, row.agent)}


async def _texts(services: Services, scope: Scope, ids: Collection[str]) -> dict[str, str]:
    if not ids:
        return {}
    memories = (await services.store.load(scope, "memories", ids=ids)).items
    memories = [row for row in memories if row.status != "quarantined" or row.session == scope.session]
    episodes = (await services.store.load(scope, "episodes", ids=ids)).items
    return {row.id: row.text for row in (*memories, *episodes) if _is_seen(scope, row.agent)}


async def _additions(services: Services, scope: Scope, placed: Collection[list[str]]) -> list[dict[str, Any]]:
    """Return what stood in a request beside the client's own words, in the order of its messages."""
    if not placed or not scope.session:
        return []
    entries = await services.ledger.read(scope, scope.session)
    texts: dict[tuple[str, str], str] = {(one.anchor, one.kind): one.text for one in entries}
    said: dict[str, list[str]] = {}
    for row in await services.store.episodes(scope, session=scope.session):
        if scope.owns(row.agent):
            said.setdefault(row.id.partition(".")[0], []).append(row.text)
    shown = []
    for anchor, kind in placed:
        message = message_id(scope.session, anchor)
        words = "\n".join(said.get(message, ())) or None
        shown.append({"kind": kind, "message": message, "said": words, "text": texts.get((anchor, kind))})
    return shown


def _is_seen(scope: Scope, agent: str) -> bool:
    return scope.owns(agent) and parts(agent)[2] in ("", scope.session)

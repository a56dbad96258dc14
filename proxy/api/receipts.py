"""``/v1/receipts/{id}``: explanations of replies."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from contextlib import suppress
from dataclasses import replace
from typing import Any

from proxy.api.caller import Caller, PageSize, Parts, PatientRoute, Router
from proxy.api.shapes import listing
from proxy.errors import NotFound, StoreUnavailable, no_place, unknown
from proxy.memory.conversations.chain import message_id
from proxy.memory.conversations.running import Segment, render
from proxy.memory.inject.standing import standing
from proxy.memory.recall.chunk_source import title
from proxy.services import Services
from proxy.text.tokens import count
from proxy.types import Scope
from proxy.types.scope import parts

_SHOWN = ("chunk", "image")
_LISTS = ("injected", "considered", "learned", "closed", "linked", "review")
_MAX_LOOKED_AT = 2_000  # receipts searched for an entry

router = Router(prefix="/v1/receipts", route_class=PatientRoute)


@router.get("")
async def list_receipts(
    scope: Caller,
    services: Parts,
    session: str = "",
    entry: str = "",
    limit: PageSize = 50,
    after: str = "",
) -> dict[str, Any]:
    """Return a page of receipts, newest first; ids instead of texts.

    With ``session`` those of one conversation, with ``entry`` those that injected this memory, chunk, or any part of
    this document or image into the request.
    """
    found: list[dict[str, Any]] = []
    sessions, most = [session] if session else [], _MAX_LOOKED_AT if entry else limit + 1
    last = after
    for part in reversed(services.both()):  # each has its own receipts: after the last of one, the next begins
        with suppress(NotFound):
            found += await part.receipts.page(scope, sessions=sessions, after=last, limit=most)
            last = ""
    if last:
        raise no_place("receipt", after)
    found = [body for body in found if not entry or any(_is_of(one, entry) for one in body.get("injected", ()))]
    shown = [{"object": "receipt", **{name: [] for name in _LISTS}, **body} for body in found[:limit]]
    return listing(shown, has_more=len(found) > limit)


@router.get("/{receipt_id}")
async def get_receipt(receipt_id: str, scope: Caller, services: Parts) -> dict[str, Any]:
    """Return a receipt; texts are looked up now, so that erased texts are missing from it too.

    ``additions`` are the texts that the request carried beside the client's own, each with the message that it came
    before or after; a text that quotes a closed or destroyed memory is null. Receipts do not store them: they come from
    the ledger, which keeps the newest of earlier blocks.
    """
    body = await _found(services, scope, receipt_id)
    texts: dict[str, str] = {}
    where = replace(scope, session=body.get("session", ""))  # quarantined items are visible only inside it
    ids = list(dict.fromkeys(entry["id"] for name in _LISTS for entry in body.get(name, ())))
    additions: list[dict[str, Any]] = []
    for part in services.both():
        with suppress(StoreUnavailable):  # a receipt must be readable while memory fails, to show the reasons
            texts |= await _texts(part, where, ids)
            texts |= await _shown(part, where, [entry["id"] for entry in _ranked(body) if entry["source"] in _SHOWN])
            additions = additions or await _additions(part, where, body)
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
    raise outage or unknown("receipt", receipt_id)


def _is_of(entry: dict[str, Any], wanted: str) -> bool:
    """Return whether an entry is the wanted one, or a part of it."""
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
    shared = (await services.team_memory.of(scope.teams, services.store)).memories(services.clock.now())
    return {row.id: row.text for row in (*memories, *episodes, *shared) if _is_seen(scope, row.agent)}


async def _additions(services: Services, scope: Scope, body: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the texts added to a request, in the order of its messages.

    The receipt stores no text: these come from the ledger and the running summary, if their length is unchanged.
    """
    placed, compacted = body.get("placed") or (), body.get("compaction") or {}
    if not scope.session or not (placed or compacted.get("summary_tokens")):
        return []
    said: dict[str, list[str]] = {}
    for row in await services.store.episodes(scope, session=scope.session):
        if scope.owns(row.agent):
            said.setdefault(row.id.partition(".")[0], []).append(row.text)
    kept = {(one.anchor, str(one.kind)): one.text for one in await services.ledger.read(scope, scope.session)}

    def shown(name: str, kind: str, text: str | None) -> dict[str, Any]:
        place = "before" if kind == "summary" else "after"
        words = "\n".join(said.get(name, ())) or None
        return {"kind": kind, "place": place, "message": name, "said": words, "text": text}

    found = []
    if compacted.get("summary_tokens"):
        found.append(shown(compacted.get("host", ""), "summary", await _summary(services, scope, compacted)))
    for message, kind, anchor, size in placed:
        text = kept.get((anchor or message, kind), "")
        found.append(shown(message_id(scope.session, message), kind, text if len(text) == size else None))
    return found


async def _summary(services: Services, scope: Scope, compacted: Mapping[str, Any]) -> str | None:
    """Return the running summary that a request carried, None if it has changed since."""
    for one in await services.compactions.read(scope, scope.session):
        if one.anchor == compacted["through"]:
            stands = await standing(scope, services.index)
            text = render([Segment.from_json(raw) for raw in one.segments], stands.still_true)
            if count(text) == compacted["summary_tokens"]:
                return text
    return None


def _is_seen(scope: Scope, agent: str) -> bool:
    return scope.owns(agent) and parts(agent)[2] in ("", scope.session)

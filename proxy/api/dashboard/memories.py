"""Memories: list, filter, history, edit, link, and forget with a preview."""

from __future__ import annotations

import asyncio
import hashlib
from typing import Any
from urllib.parse import urlencode

from fastapi import APIRouter, Request
from starlette.responses import Response

from proxy.api.dashboard import ROOT
from proxy.api.dashboard.visit import PageRoute, Refused, Visit
from proxy.api.dashboard.words import say
from proxy.types import STATUSES

router = APIRouter(prefix=ROOT, include_in_schema=False, route_class=PageRoute)
_FILTERS = ("query", "kind", "status", "project", "source", "since", "until", "as_of", "after")
_KINDS = ("fact", "preference", "event", "task", "instruction", "summary")
_PER_PAGE = 40
_MAX_SHOWN = 60  # of a request to forget
_MAX_QUESTIONS = 20
_ACTIONS = frozenset({"pin", "unpin", "restore"})
_OF_MANY = _ACTIONS | {"close", "link"}
_OF_ONE = _ACTIONS | {"edit", "close", "unlink", "purge"}


@router.get("/memories")
async def memories(request: Request) -> Response:
    """Show a filtered list of memories; newest first, or best first for a query."""
    visit = await Visit.of(request)
    asked = {name: visit.asked(name) for name in _FILTERS}
    (found, error), agents, projects = await asyncio.gather(
        _found(visit, asked), visit.get("/v1/agents"), visit.get("/v1/projects")
    )
    return visit.page(
        "memories.html",
        entries=_entries(found["data"]),
        more=found["last_id"] if found["has_more"] else "",
        asked=asked,
        is_filtered=any(asked.values()) or bool(visit.agent),
        rest=urlencode({name: value for name, value in {**asked, "agent": visit.agent, "after": ""}.items() if value}),
        agents=agents["data"],
        projects=projects["data"],
        kinds=_KINDS,
        statuses=STATUSES,
        error=error,
        done=visit.asked("done"),
        batch=visit.asked("batch"),
    )


@router.post("/memories")
async def add(request: Request) -> Response:
    """Add a memory."""
    visit = await Visit.of(request)
    await visit.ask("POST", "/v1/memories", json={"text": visit.field("text")})
    return visit.go("/memories", done=say("Remembered."))


@router.post("/memories/many")
async def many(request: Request) -> Response:
    """Apply one action to every selected memory."""
    visit = await Visit.of(request)
    ids, action = visit.form.get("id", []), visit.action(_OF_MANY)
    if not ids:
        return visit.back(done=say("Nothing was chosen."))
    if action == "close":
        closed = await visit.ask("POST", "/v1/memories/forget", json={"ids": ids})
        return visit.back(done=say("{n} closed.", n=len(closed["closed"])), batch=closed["batch"] or "")
    if action in _ACTIONS:
        for id_ in ids:
            await visit.ask("POST", f"/v1/memories/{id_}/{action}")
    elif action == "link":
        await visit.ask("POST", f"/v1/memories/{ids[0]}/link", json={"ids": ids[1:]})
    return visit.back(done=say("Done."))


@router.post("/memories/undo")
async def undo(request: Request) -> Response:
    """Undo a batch of endings."""
    visit = await Visit.of(request)
    taken = await visit.ask("POST", "/v1/memories/undo", json={"batch": visit.field("batch")})
    return visit.go("/memories", done=say("{n} hold again.", n=len(taken["restored"])))


@router.get("/forget")
async def forget_page(request: Request) -> Response:
    """Preview a request to forget."""
    visit = await Visit.of(request)
    text = visit.asked("text")
    return await _shown_first(visit, text, is_changed=False)


@router.post("/forget")
async def forget(request: Request) -> Response:
    """Forget the previewed memories."""
    visit = await Visit.of(request)
    text = visit.field("text")
    if _digest(await _would(visit, text)) != visit.field("seen"):  # exactly the previewed memories are forgotten
        return await _shown_first(visit, text, is_changed=True)
    gone = await visit.ask("POST", "/v1/memories/forget", json={"text": text})
    told = say("{n} closed, {m} wait for a decision.", n=len(gone["closed"]), m=len(gone["review"]))
    return visit.go("/memories", done=told, batch=gone["batch"] or "")


@router.get("/memories/{memory_id}")
async def memory(request: Request, memory_id: str) -> Response:
    """Show one memory: its source, its links, and its history."""
    visit = await Visit.of(request)
    one = await visit.get(f"/v1/memories/{memory_id}")
    steps = (await visit.get(f"/v1/memories/{memory_id}/history"))["data"]
    linked = [await visit.get(f"/v1/memories/{id_}") for id_ in [*one["earlier"], *one["later"]][:20]]
    return visit.page(
        "memory.html",
        memory=one,
        steps=steps[-_MAX_SHOWN:],
        linked=linked,
        found_by=(await visit.get("/v1/receipts", entry=memory_id, limit=_MAX_QUESTIONS))["data"],
        done=visit.asked("done"),
        batch=visit.asked("batch"),
        kinds=_KINDS,
    )


@router.post("/memories/{memory_id}")
async def change(request: Request, memory_id: str) -> Response:
    """Change one memory."""
    visit = await Visit.of(request)
    action, at = visit.action(_OF_ONE), f"/v1/memories/{memory_id}"
    if action == "edit":
        await visit.ask("PATCH", at, json={"text": visit.field("text"), "kind": visit.field("kind")})
    elif action in _ACTIONS:
        await visit.ask("POST", f"{at}/{action}")
    elif action == "close":
        closed = await visit.ask("POST", "/v1/memories/forget", json={"ids": [memory_id]})
        return visit.go(f"/memories/{memory_id}", done=say("Closed."), batch=closed["batch"] or "")
    elif action == "unlink":
        await visit.ask("POST", f"{at}/unlink", json={"id": visit.field("other")})
    elif action == "purge":
        await visit.ask("DELETE", at, params={"purge": "true"})
        return visit.go("/memories", done=say("Destroyed."))
    return visit.go(f"/memories/{memory_id}", done=say("Done."))


async def _found(visit: Visit, asked: dict[str, str]) -> tuple[dict[str, Any], str]:
    """Return a page of memories and "", or none and the reason why a filter is refused."""
    try:
        return await visit.get("/v1/memories", limit=_PER_PAGE, agent=visit.agent, **asked), ""
    except Refused as refused:
        return {"data": [], "has_more": False, "last_id": None}, str(refused)


async def _shown_first(visit: Visit, text: str, *, is_changed: bool) -> Response:
    would = await _would(visit, text) if text else None
    seen = _digest(would) if would else ""
    return visit.page("forget.html", text=text, would=would, seen=seen, is_changed=is_changed, most=_MAX_SHOWN)


async def _would(visit: Visit, text: str) -> dict[str, Any]:
    return await visit.ask("POST", "/v1/memories/forget", json={"text": text, "dry_run": True})


def _digest(would: dict[str, Any]) -> str:
    """Return a digest of the memories that a request to forget would close."""
    ids = sorted(str(one["id"]) for name in ("closed", "review") for one in would[name])
    return hashlib.sha256("/".join(ids).encode()).hexdigest()


def _entries(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return memories, each with its earlier ones on the same entry if both are in the list."""
    known = {row["id"]: row for row in rows}
    inside = {id_ for row in rows for id_ in row["earlier"] if id_ in known}
    return [
        {**row, "before": [known[id_] for id_ in row["earlier"] if id_ in known]}
        for row in rows
        if row["id"] not in inside
    ]

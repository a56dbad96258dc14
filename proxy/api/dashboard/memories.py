"""Memories: found, filtered, read with their history, corrected, linked, and forgotten with a look beforehand."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, Request
from starlette.responses import Response

from proxy.api.dashboard.visit import ROOT, PageRoute, Refused, Visit
from proxy.types import STATUSES

router = APIRouter(prefix=ROOT, include_in_schema=False, route_class=PageRoute)
_FILTERS = ("query", "kind", "status", "project", "agent", "source", "as_of", "after")
_KINDS = ("fact", "preference", "event", "task", "instruction", "summary")
_PER_PAGE = 50
_ACTIONS = frozenset({"pin", "unpin", "restore"})


@router.get("/memories")
async def memories(request: Request) -> Response:
    """Show a list, as its filters say; newest first, or best first for words."""
    visit = await Visit.of(request)
    asked = {name: visit.asked(name) for name in _FILTERS}
    error = ""
    try:
        found = await visit.get("/v1/memories", limit=_PER_PAGE, **asked)
    except Refused as refused:
        found, error = {"data": [], "has_more": False, "last_id": None}, str(refused)
    return visit.page(
        "memories.html",
        entries=_entries(found["data"]),
        more=found["last_id"] if found["has_more"] else "",
        asked=asked,
        kinds=_KINDS,
        statuses=STATUSES,
        error=error,
        done=visit.asked("done"),
        batch=visit.asked("batch"),
    )


@router.post("/memories")
async def add(request: Request) -> Response:
    """State a memory."""
    visit = await Visit.of(request)
    await visit.ask("POST", "/v1/memories", json={"text": visit.field("text")})
    return visit.go("/memories", done="Remembered.")


@router.post("/memories/many")
async def many(request: Request) -> Response:
    """Do the same to every chosen memory."""
    visit = await Visit.of(request)
    ids, action = visit.form.get("id", []), visit.field("action")
    if not ids:
        return visit.back(done="Nothing was chosen.")
    if action == "close":
        closed = await visit.ask("POST", "/v1/memories/forget", json={"ids": ids})
        return visit.back(done=f"{len(closed['closed'])} closed.", batch=closed["batch"] or "")
    if action in _ACTIONS:
        for id_ in ids:
            await visit.ask("POST", f"/v1/memories/{id_}/{action}")
    elif action == "link":
        await visit.ask("POST", f"/v1/memories/{ids[0]}/link", json={"ids": ids[1:]})
    return visit.back(done="Done.")


@router.post("/memories/undo")
async def undo(request: Request) -> Response:
    """Take a batch of endings back."""
    visit = await Visit.of(request)
    taken = await visit.ask("POST", "/v1/memories/undo", json={"batch": visit.field("batch")})
    return visit.go("/memories", done=f"{len(taken['restored'])} hold again.")


@router.get("/forget")
async def forget_page(request: Request) -> Response:
    """Show what a request to forget would take, before it does."""
    visit = await Visit.of(request)
    text, would = visit.asked("text"), None
    if text:
        would = await visit.ask("POST", "/v1/memories/forget", json={"text": text, "dry_run": True})
    return visit.page("forget.html", text=text, would=would)


@router.post("/forget")
async def forget(request: Request) -> Response:
    """Forget what was shown."""
    visit = await Visit.of(request)
    gone = await visit.ask("POST", "/v1/memories/forget", json={"text": visit.field("text")})
    told = f"{len(gone['closed'])} closed, {len(gone['review'])} wait for a decision."
    return visit.go("/memories", done=told, batch=gone["batch"] or "")


@router.get("/memories/{memory_id}")
async def memory(request: Request, memory_id: str) -> Response:
    """Show one memory: where it comes from, what it is linked with, and its life so far."""
    visit = await Visit.of(request)
    one = await visit.get(f"/v1/memories/{memory_id}")
    steps = (await visit.get(f"/v1/memories/{memory_id}/history"))["data"]
    linked = [await visit.get(f"/v1/memories/{id_}") for id_ in [*one["earlier"], *one["later"]][:20]]
    return visit.page("memory.html", memory=one, steps=steps, linked=linked, done=visit.asked("done"), kinds=_KINDS)


@router.post("/memories/{memory_id}")
async def change(request: Request, memory_id: str) -> Response:
    """Change one memory."""
    visit = await Visit.of(request)
    action, at = visit.field("action"), f"/v1/memories/{memory_id}"
    if action == "edit":
        await visit.ask("PATCH", at, json={"text": visit.field("text"), "kind": visit.field("kind")})
    elif action in _ACTIONS:
        await visit.ask("POST", f"{at}/{action}")
    elif action == "close":
        await visit.ask("DELETE", at)
    elif action == "unlink":
        await visit.ask("POST", f"{at}/unlink", json={"id": visit.field("other")})
    elif action == "purge":
        await visit.ask("DELETE", at, params={"purge": "true"})
        return visit.go("/memories", done="Destroyed.")
    return visit.go(f"/memories/{memory_id}", done="Done.")


def _entries(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return memories with those that they follow on the same entry, where both are in the list."""
    known = {row["id"]: row for row in rows}
    inside = {id_ for row in rows for id_ in row["earlier"] if id_ in known}
    return [
        {**row, "before": [known[id_] for id_ in row["earlier"] if id_ in known]}
        for row in rows
        if row["id"] not in inside
    ]

"""Pages of reviews, quarantine, tasks, agents and projects."""

from __future__ import annotations

from fastapi import APIRouter, Request
from starlette.responses import Response

from proxy.api.dashboard import ROOT
from proxy.api.dashboard.visit import PageRoute, Visit

router = APIRouter(prefix=ROOT, include_in_schema=False, route_class=PageRoute)


@router.get("/reviews")
async def reviews(request: Request) -> Response:
    """Show the open reviews."""
    visit = await Visit.of(request)
    return visit.page("reviews.html", reviews=(await visit.get("/v1/reviews", limit=20))["data"])


@router.post("/reviews/{review_id}")
async def decide(request: Request, review_id: str) -> Response:
    """Decide a review."""
    visit = await Visit.of(request)
    body = {"decision": visit.field("decision")}
    if body["decision"] == "edit":
        body["text"] = visit.field("text")
    await visit.ask("POST", f"/v1/reviews/{review_id}", json=body)
    return visit.go("/reviews")


@router.get("/quarantine")
async def quarantine(request: Request) -> Response:
    """Show quarantined items, each with its reason."""
    visit = await Visit.of(request)
    return visit.page("quarantine.html", entries=(await visit.get("/v1/quarantine", limit=50))["data"])


@router.post("/quarantine/{entry_id}")
async def release(request: Request, entry_id: str) -> Response:
    """Release or destroy a quarantined item."""
    visit = await Visit.of(request)
    if visit.action(("release", "delete")) == "delete":
        await visit.ask("DELETE", f"/v1/quarantine/{entry_id}")
    else:
        await visit.ask("POST", f"/v1/quarantine/{entry_id}/release")
    return visit.go("/quarantine")


@router.get("/tasks")
async def tasks(request: Request) -> Response:
    """Show the open tasks, by due date."""
    visit = await Visit.of(request)
    return visit.page("tasks.html", tasks=(await visit.get("/v1/tasks", limit=50))["data"])


@router.post("/tasks")
async def add_task(request: Request) -> Response:
    """Add a task."""
    visit = await Visit.of(request)
    due = visit.field("due")
    await visit.ask("POST", "/v1/tasks", json={"title": visit.field("title"), **({"due": due} if due else {})})
    return visit.go("/tasks")


@router.post("/tasks/{task_id}")
async def change_task(request: Request, task_id: str) -> Response:
    """Change the status of a task."""
    visit = await Visit.of(request)
    await visit.ask("PATCH", f"/v1/tasks/{task_id}", json={"status": visit.field("status")})
    return visit.go("/tasks")


@router.get("/groups")
async def groups(request: Request) -> Response:
    """Show the agents and projects."""
    visit = await Visit.of(request)
    agents, projects = (await visit.get("/v1/agents"))["data"], (await visit.get("/v1/projects"))["data"]
    return visit.page("groups.html", agents=agents, projects=projects)

"""Conversations turn by turn with what was put into each, and receipts: why a reply knew what it knew."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, Request
from starlette.responses import Response

from proxy.api.dashboard.visit import ROOT, PageRoute, Visit

router = APIRouter(prefix=ROOT, include_in_schema=False, route_class=PageRoute)
_PER_PAGE = 50


@router.get("/conversations")
async def conversations(request: Request) -> Response:
    """Show the list, newest first."""
    visit = await Visit.of(request)
    found = await visit.get("/v1/sessions", limit=_PER_PAGE, after=visit.asked("after"))
    more = found["last_id"] if found["has_more"] else ""
    return visit.page("conversations.html", sessions=found["data"], more=more, done=visit.asked("done"))


@router.get("/conversations/{session_id}")
async def conversation(request: Request, session_id: str) -> Response:
    """Show what was said, and beside each reply what memory did."""
    visit = await Visit.of(request)
    one = await visit.get(f"/v1/sessions/{session_id}")
    receipts = (await visit.get("/v1/receipts", session=one["id"], limit=1000))["data"]
    return visit.page("conversation.html", session=one, turns=_turns(one["messages"]), receipts=receipts[::-1])


@router.post("/conversations/{session_id}")
async def change(request: Request, session_id: str) -> Response:
    """End, set apart or destroy a conversation."""
    visit = await Visit.of(request)
    match visit.field("action"):
        case "end":
            await visit.ask("POST", f"/v1/sessions/{session_id}/end")
        case "quarantine":
            body = {"session": session_id, "reason": visit.field("reason") or "by the user"}
            await visit.ask("POST", "/v1/quarantine", json=body)
            return visit.go("/quarantine")
        case "delete":
            await visit.ask("DELETE", f"/v1/sessions/{session_id}")
            return visit.go("/conversations", done="The conversation is destroyed.")
    return visit.go(f"/conversations/{session_id}")


@router.get("/receipts/{receipt_id}")
async def receipt(request: Request, receipt_id: str) -> Response:
    """Show why a reply knew what it knew."""
    visit = await Visit.of(request)
    return visit.page("receipt.html", receipt=await visit.get(f"/v1/receipts/{receipt_id}"))


def _turns(messages: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return messages, the pieces of a long one together."""
    turns: list[dict[str, Any]] = []
    for one in messages:
        message = one["id"].partition(".")[0]
        if turns and turns[-1]["message"] == message:
            turns[-1]["text"] += "\n" + one["text"]
        else:
            turns.append({**one, "message": message})
    return turns

"""Conversations turn by turn with the injected memory, and receipts that explain each reply."""

from __future__ import annotations

from html import escape
from typing import Any

from fastapi import APIRouter, Request
from starlette.responses import Response

from proxy.api.dashboard import ROOT
from proxy.api.dashboard.visit import PageRoute, Visit, answered
from proxy.api.dashboard.words import say
from proxy.errors import NotFound

router = APIRouter(prefix=ROOT, include_in_schema=False, route_class=PageRoute)
_PER_PAGE = 50
_MAX_RECEIPTS = 1000
_MAX_ENTRIES = 50  # of a receipt, in each list
_MAX_BYTES = 12_000  # of one message
_MAX_TOGETHER = 45_000  # bytes of the messages of a page
_MAX_ADDED, _MAX_SAID, _MAX_TEXT = 30_000, 1500, 8000  # bytes of a receipt's diffs, of each message and addition
_MAX_LOOSE = 20  # receipts whose messages are not stored


@router.get("/conversations")
async def conversations(request: Request) -> Response:
    """Show the list, newest first."""
    visit = await Visit.of(request)
    found = await visit.get("/v1/sessions", limit=_PER_PAGE, after=visit.asked("after"), usage=True)
    more = found["last_id"] if found["has_more"] else ""
    return visit.page("conversations.html", sessions=found["data"], more=more, done=visit.asked("done"))


@router.get("/conversations/{session_id}")
async def conversation(request: Request, session_id: str) -> Response:
    """Show the messages, and beside each reply the work of memory."""
    visit = await Visit.of(request)
    one = await visit.get(f"/v1/sessions/{session_id}")
    turns = _turns(one["messages"])
    asked = visit.asked("from")
    start = min(int(asked), max(0, len(turns) - 1)) if asked.isdecimal() else 0
    end = _end(turns, start)
    receipts = (await visit.get("/v1/receipts", session=one["id"], limit=_MAX_RECEIPTS))["data"]
    by_message: dict[str, list[dict[str, Any]]] = {}
    for receipt in reversed(receipts):
        by_message.setdefault(receipt.get("message") or "", []).append(receipt)
    return visit.page(
        "conversation.html",
        session=one,
        turns=turns[start:end],
        start=start,
        end=end,
        total=len(turns),
        before=_start(turns, start),
        receipts=by_message,
        cut=next((receipt["compaction"] for receipt in receipts if receipt.get("compaction")), None),
        rest=[] if end < len(turns) else _without_turn(receipts, turns)[:_MAX_LOOSE],
        most=_MAX_BYTES,
    )


@router.get("/conversations/{session_id}/messages/{message_id}")
async def message(request: Request, session_id: str, message_id: str) -> Response:
    """Return a message that is too long for its page, as plain text."""
    visit = await Visit.of(request)
    turns = _turns((await visit.get(f"/v1/sessions/{session_id}"))["messages"])
    text = next((turn["text"] for turn in turns if turn["message"] == message_id), None)
    if text is None:
        raise NotFound(say("There is no such message."))
    return answered(text.encode(), "text/plain; charset=utf-8")


@router.post("/conversations/{session_id}")
async def change(request: Request, session_id: str) -> Response:
    """End, quarantine or destroy a conversation."""
    visit = await Visit.of(request)
    match visit.action(("end", "quarantine", "delete")):
        case "end":
            await visit.ask("POST", f"/v1/sessions/{session_id}/end")
        case "quarantine":
            body = {"session": session_id, "reason": visit.field("reason") or say("by the user")}
            await visit.ask("POST", "/v1/quarantine", json=body)
            return visit.go("/quarantine")
        case "delete":
            await visit.ask("DELETE", f"/v1/sessions/{session_id}")
            return visit.go("/conversations", done=say("The conversation is destroyed."))
    return visit.go(f"/conversations/{session_id}")


@router.get("/receipts/{receipt_id}")
async def receipt(request: Request, receipt_id: str) -> Response:
    """Show the receipt of a reply."""
    visit = await Visit.of(request)
    found = await visit.get(f"/v1/receipts/{receipt_id}")
    return visit.page("receipt.html", receipt=found, most=_MAX_ENTRIES, **_diffs(found["additions"]))


def _diffs(additions: list[dict[str, Any]]) -> dict[str, Any]:
    """Return the messages with additions that fit the page, and the number of omitted ones.

    The newest are chosen first: earlier additions are in the receipts of earlier turns.
    """
    by_message: dict[str, list[dict[str, Any]]] = {}
    for one in additions:
        by_message.setdefault(one["message"], []).append(one)
    shown: list[list[dict[str, Any]]] = []
    room = _MAX_ADDED
    for group in reversed(by_message.values()):
        room -= sum(_room_of(one["text"], _MAX_TEXT) for one in group) + _room_of(group[0]["said"], _MAX_SAID)
        if room < 0 and shown:
            break
        shown.insert(0, group)
    return {"diffs": shown, "earlier": len(by_message) - len(shown), "most_said": _MAX_SAID, "most_text": _MAX_TEXT}


def _room_of(text: str | None, most_bytes: int) -> int:
    return min(len(escape(text or "").encode()), most_bytes)


def _turns(messages: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return messages, with the pieces of a long one joined."""
    turns: list[dict[str, Any]] = []
    for one in messages:
        message = one["id"].partition(".")[0]
        if turns and turns[-1]["message"] == message:
            turns[-1]["text"] += "\n" + one["text"]
        else:
            turns.append({**one, "message": message})
    return turns


def _end(turns: list[dict[str, Any]], start: int) -> int:
    """Return the end of the page that begins at a turn: at least one turn later, as many as fit."""
    room, at = _MAX_TOGETHER, start
    while at < len(turns) and at - start < _PER_PAGE:
        room -= _bytes_of(turns[at])
        if room < 0 and at > start:
            break
        at += 1
    return at


def _start(turns: list[dict[str, Any]], end: int) -> int:
    """Return the start of the page before the one that begins at ``end``."""
    room, at = _MAX_TOGETHER, end
    while at > 0 and end - at < _PER_PAGE:
        room -= _bytes_of(turns[at - 1])
        if room < 0 and at < end:
            break
        at -= 1
    return at


def _bytes_of(turn: dict[str, Any]) -> int:
    return _room_of(turn["text"], _MAX_BYTES)


def _without_turn(receipts: list[dict[str, Any]], turns: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the receipts without a message in the conversation: of other modes, or of earlier versions."""
    shown = {turn["message"] for turn in turns if turn["role"] == "user"}
    return [receipt for receipt in receipts if receipt.get("message") not in shown]

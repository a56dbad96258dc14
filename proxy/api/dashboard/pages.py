"""The pages that everybody has: signing in, the overview, numbers, trying a question, and what they are made with."""

from __future__ import annotations

from importlib import resources
from typing import Any

from fastapi import APIRouter, Request
from starlette.responses import JSONResponse, RedirectResponse, Response

from proxy.api.caller import services_of
from proxy.api.dashboard.visit import (
    COOKIE,
    HEADERS,
    ROOT,
    SIGNED_IN_S,
    PageRoute,
    Refused,
    SignedOut,
    Visit,
    form_of,
    rendered,
    seal,
)
from proxy.errors import NotFound

router = APIRouter(include_in_schema=False, route_class=PageRoute)
_STATIC = {"style.css": "text/css; charset=utf-8", "htmx.min.js": "text/javascript; charset=utf-8"}
_INDEX = {
    "object": "index",
    "name": "Throughline",
    "chat": ["/v1/chat/completions", "/v1/responses", "/v1/messages"],
    "memory": "/openapi.json",
    "mcp": "/mcp",
    "health": ["/healthz", "/readyz"],
    "dashboard": "/ in a browser",
}


@router.get("/")
async def index(request: Request) -> Response:
    """Send a browser to the dashboard; tell any other client what is here."""
    if "text/html" in request.headers.get("accept", ""):
        return RedirectResponse(f"{ROOT}/", 303, headers=HEADERS)
    return JSONResponse(_INDEX)


@router.get(f"{ROOT}/static/{{name}}")
async def static(name: str) -> Response:
    """Return a style sheet or a script."""
    if name not in _STATIC:
        raise NotFound("There is no such file.")
    data = resources.files("proxy.api.dashboard").joinpath("static", name).read_bytes()
    return Response(data, media_type=_STATIC[name], headers={**HEADERS, "cache-control": "max-age=3600"})


@router.get(f"{ROOT}/sign-in")
async def sign_in_page(request: Request) -> Response:
    """Ask for a key."""
    return _sign_in(request)


@router.post(f"{ROOT}/sign-in")
async def sign_in(request: Request) -> Response:
    """Take a key, if the API knows it."""
    form = await form_of(request)
    key, user = form.get("key", [""])[-1].strip() or "no-key", form.get("user", [""])[-1].strip()
    try:
        await Visit(request, key, user).get("/v1/state")
    except SignedOut:
        return _sign_in(request, "This server does not know that key.")
    except Refused as refused:
        return _sign_in(request, str(refused))
    answer = RedirectResponse(f"{ROOT}/", 303, headers=HEADERS)
    is_secure = request.url.scheme == "https"
    answer.set_cookie(
        COOKIE,
        seal(request).closed(key, user),
        max_age=SIGNED_IN_S,
        path=ROOT,
        httponly=True,
        samesite="strict",
        secure=is_secure,
    )
    return answer


@router.post(f"{ROOT}/sign-out")
async def sign_out(request: Request) -> Response:
    """Forget the key."""
    await Visit.of(request)
    answer = RedirectResponse(f"{ROOT}/sign-in", 303, headers=HEADERS)
    answer.delete_cookie(COOKIE, path=ROOT)
    return answer


@router.get(ROOT)
async def overview(request: Request) -> Response:
    """Show how much is remembered, what was remembered last, and what waits for a decision."""
    visit = await Visit.of(request)
    state = await visit.get("/v1/state")
    latest = await visit.get("/v1/memories", limit=8)
    reviews = await visit.get("/v1/reviews", limit=5)
    talks = await visit.get("/v1/sessions", limit=5)
    return visit.page(
        "overview.html", state=state, memories=latest["data"], reviews=reviews["data"], sessions=talks["data"]
    )


@router.get(f"{ROOT}/numbers")
async def numbers(request: Request) -> Response:
    """Show what was used, by day and model, and how long the steps took."""
    visit = await Visit.of(request)
    days = {"day": 1, "week": 7, "month": 31}.get(visit.asked("over", "week"), 7)
    by_day = (await visit.get("/v1/usage", by="day"))["data"][:days]
    by_model = (await visit.get("/v1/usage", by="model"))["data"]
    state = await visit.get("/v1/state")
    receipts = (await visit.get("/v1/receipts", limit=1000))["data"]
    return visit.page(
        "numbers.html",
        state=state,
        days=by_day,
        models=by_model,
        steps=_steps(receipts),
        reasons=_reasons(receipts),
        over=visit.asked("over", "week"),
        is_operator=(await visit.raw("GET", "/v1/operator")).is_success,
        charts=[
            (title, [(one["day"], one[name]) for one in reversed(by_day)], name)
            for title, name in (
                ("Requests", "requests"),
                ("Tokens of memory put in", "injected_tokens"),
                ("Tokens saved by compaction", "saved_tokens"),
                ("Tokens from the provider's cache", "cached_tokens"),
            )
            if any(one[name] for one in by_day)
        ],
    )


@router.get(f"{ROOT}/operator")
async def operator(request: Request) -> Response:
    """Show the operator how the server is."""
    visit = await Visit.of(request)
    return visit.page("operator.html", state=await visit.get("/v1/operator", days=visit.asked("days", "7")))


@router.get(f"{ROOT}/try")
async def try_it(request: Request) -> Response:
    """Show what a question finds, ranked, without asking any model."""
    visit = await Visit.of(request)
    question, found = visit.asked("question"), []
    if question:
        body = {"query": question, "limit": 20}
        found = (await visit.ask("POST", "/v1/memories/search", json=body))["data"]
    return visit.page("try.html", question=question, found=found)


def _sign_in(request: Request, error: str = "") -> Response:
    mode = services_of(request).settings.auth.mode
    return rendered("sign_in.html", status=403 if error else 200, error=error, mode=mode, visit=None, here="", csrf="")


def _steps(receipts: list[dict[str, Any]]) -> list[tuple[str, float, float, int]]:
    """Return of each step its name, median, 95th percentile in milliseconds, and how often it was taken."""
    times: dict[str, list[float]] = {}
    for receipt in receipts:
        for name, ms in (receipt.get("timings") or {}).items():
            times.setdefault(name, []).append(ms)
    return [(name, _at(found, 0.5), _at(found, 0.95), len(found)) for name, found in sorted(times.items())]


def _at(values: list[float], share: float) -> float:
    ranked = sorted(values)
    return ranked[min(len(ranked) - 1, int(share * len(ranked)))]


def _reasons(receipts: list[dict[str, Any]]) -> list[tuple[str, int]]:
    counts: dict[str, int] = {}
    for receipt in receipts:
        for reason in receipt.get("degraded") or ():
            counts[reason] = counts.get(reason, 0) + 1
    return sorted(counts.items(), key=lambda one: -one[1])

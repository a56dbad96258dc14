"""Pages for every user: sign-in, overview, numbers, preview of a question, and their static files."""

from __future__ import annotations

import asyncio
import hmac
import secrets
from collections.abc import Callable
from datetime import timedelta
from importlib import resources
from typing import Any

from fastapi import APIRouter, Request
from starlette.responses import RedirectResponse, Response

from proxy.api.caller import services_of
from proxy.api.dashboard import HEADERS, ROOT
from proxy.api.dashboard.visit import COOKIE, SIGNED_IN_S, PageRoute, Refused, SignedOut, Visit, form_of, rendered, seal
from proxy.api.dashboard.words import say
from proxy.errors import NotFound

router = APIRouter(include_in_schema=False, route_class=PageRoute)
_SCRIPT = "text/javascript; charset=utf-8"
_SCRIPTS = ("htmx.min.js", "keys.js", "progress.js")
_STATIC = {"style.css": "text/css; charset=utf-8", "icon.svg": "image/svg+xml", **dict.fromkeys(_SCRIPTS, _SCRIPT)}
_SPANS = {"day": 1, "week": 7, "month": 31}  # days
_MAX_ROWS = 31
_COUNTS = ("requests", "with_memory", "degraded", "unfinished", "input_tokens", "output_tokens", "cached_tokens")
_NO_REQUEST = dict.fromkeys((*_COUNTS, "injected_tokens", "saved_tokens", "usd", "memory_usd"), 0)
_FORM_COOKIE = "throughline-form"  # identifies the form of a visitor who is not signed in yet


@router.get(f"{ROOT}/static/{{name}}")
async def static(name: str) -> Response:
    """Return a style sheet or a script."""
    if name not in _STATIC:
        raise NotFound("There is no such file.")
    data = resources.files("proxy.api.dashboard").joinpath("static", name).read_bytes()
    return Response(data, media_type=_STATIC[name], headers={**HEADERS, "cache-control": "max-age=3600"})


@router.get(f"{ROOT}/sign-in")
async def sign_in_page(request: Request) -> Response:
    """Show the sign-in form."""
    return _sign_in(request)


@router.post(f"{ROOT}/sign-in")
async def sign_in(request: Request) -> Response:
    """Sign in with a key that the API accepts."""
    form = await form_of(request)
    word, given = seal(request).word(request.cookies.get(_FORM_COOKIE, "")), form.get("csrf", [""])[-1]
    if not request.cookies.get(_FORM_COOKIE) or not hmac.compare_digest(given.encode(), word.encode()):
        return _sign_in(request, say("This page is too old, or the browser takes no cookies. Try again."))
    key, user = form.get("key", [""])[-1].strip() or "no-key", form.get("user", [""])[-1].strip()
    try:
        await Visit(request, key, user).get("/v1/state")
    except SignedOut:
        return _sign_in(request, say("This server does not know that key."))
    except Refused as refused:
        return _sign_in(request, str(refused))
    answer = RedirectResponse(f"{ROOT}/", 303, headers=HEADERS)
    _keep(request, answer, COOKIE, seal(request).closed(key, user))
    answer.delete_cookie(_FORM_COOKIE, path=ROOT, httponly=True, samesite="strict")
    return answer


@router.post(f"{ROOT}/sign-out")
async def sign_out(request: Request) -> Response:
    """Sign out: delete the cookie with the key."""
    await Visit.of(request)
    answer = RedirectResponse(f"{ROOT}/sign-in", 303, headers=HEADERS)
    answer.delete_cookie(COOKIE, path=ROOT, httponly=True, samesite="strict")
    return answer


@router.get(ROOT)
async def overview(request: Request) -> Response:
    """Show the number of memories, the newest ones, and reviews that wait for a decision."""
    visit = await Visit.of(request)
    state, latest, reviews, talks = await asyncio.gather(
        visit.get("/v1/state"),
        visit.get("/v1/memories", limit=8),
        visit.get("/v1/reviews", limit=5),
        visit.get("/v1/sessions", limit=5, usage=True),
    )
    return visit.page(
        "overview.html", state=state, memories=latest["data"], reviews=reviews["data"], sessions=talks["data"]
    )


@router.get(f"{ROOT}/numbers")
async def numbers(request: Request) -> Response:
    """Show usage by day and model, and the times of the pipeline's steps."""
    visit = await Visit.of(request)
    over = visit.asked("over", "week")
    days = _SPANS.get(over, 7)
    usage = await visit.get("/v1/usage", by="day", days=days)
    models = (await visit.get("/v1/usage", by="model", days=days))["data"]
    return visit.page(
        "numbers.html",
        state=await visit.get("/v1/state"),
        over=over,
        spans=tuple(_SPANS),
        is_operator=(await visit.raw("GET", "/v1/operator", params={"days": 1})).is_success,
        **_figures(_filled(usage["data"], days, visit), models, usage["steps"], usage["degraded"]),
    )


@router.get(f"{ROOT}/operator")
async def operator(request: Request) -> Response:
    """Show the operator the server's health and its users' usage."""
    visit = await Visit.of(request)
    over = visit.asked("over", "week")
    days = _SPANS.get(over, 7)
    state = await visit.get("/v1/operator", days=days)
    figures = _figures(_filled(state["by_day"], days, visit), state["by_model"], state["steps"], state["degraded"])
    return visit.page("operator.html", state=state, over=over, spans=tuple(_SPANS), **figures)


@router.get(f"{ROOT}/try")
async def try_it(request: Request) -> Response:
    """Preview the memory that a question would get, without asking a model."""
    visit = await Visit.of(request)
    question, seen = visit.asked("question"), None
    if question:
        body: dict[str, Any] = {"text": question}
        if visit.asked("budget").isdecimal():
            body["budget"] = int(visit.asked("budget"))
        seen = await visit.ask("POST", "/v1/memories/preview", json=body)
    return visit.page("try.html", question=question, budget=visit.asked("budget"), seen=seen)


def _sign_in(request: Request, error: str = "") -> Response:
    name, mode = secrets.token_hex(16), services_of(request).settings.auth.mode
    shown = {"error": error, "mode": mode, "visit": None, "here": "", "keep": "", "csrf": seal(request).word(name)}
    answer = rendered("sign_in.html", status=403 if error else 200, **shown)
    _keep(request, answer, _FORM_COOKIE, name)
    return answer


def _keep(request: Request, answer: Response, name: str, value: str) -> None:
    answer.set_cookie(
        name,
        value,
        max_age=SIGNED_IN_S,
        path=ROOT,
        httponly=True,
        samesite="strict",
        secure=request.url.scheme == "https",
    )


def _figures(
    days: list[dict[str, Any]], models: list[dict[str, Any]], steps: list[dict[str, Any]], reasons: dict[str, int]
) -> dict[str, Any]:
    """Return the values of the charts and tables of numbers.

    Args:
        days: Newest first.
        models: One entry a model.
        steps: With their times.
        reasons: Number of requests by the part of memory that they lacked.
    """
    charts = [
        (title, [(one["day"], value(one)) for one in reversed(days)])
        for title, value in _series()
        if any(value(one) for one in days)
    ]
    models = sorted(models, key=lambda one: (-one["usd"], -one["requests"]))[:_MAX_ROWS]
    return {
        "days": [one for one in days if one["requests"]],
        "models": models,
        "steps": steps,
        "reasons": reasons,
        "charts": charts,
        "by_model": [(one["model"], one["usd"], one["usd"]) for one in models if one["usd"]],
        "by_step": [(one["step"], one["p50_ms"], one["p95_ms"]) for one in steps],
    }


def _filled(found: list[dict[str, Any]], days: int, visit: Visit) -> list[dict[str, Any]]:
    """Return an entry for each of the last days, newest first; days without a request have zeros."""
    today = services_of(visit.request).clock.now().date()
    by_day = {one["day"]: one for one in found}
    names = [(today - timedelta(days=back)).isoformat() for back in range(days)]
    return [by_day.get(name) or {**_NO_REQUEST, "day": name} for name in names]


def _share(part: float, whole: float) -> float:
    return round(100 * part / whole, 1) if whole else 0.0


def _series() -> tuple[tuple[str, Callable[[dict[str, Any]], float]], ...]:
    """Return the title and the value function of each chart by day."""
    return (
        (say("Requests"), lambda one: one["requests"]),
        (say("Requests with memory"), lambda one: one["with_memory"]),
        (say("Tokens of memory put in"), lambda one: one["injected_tokens"]),
        (say("Tokens saved by compaction"), lambda one: one["saved_tokens"]),
        (say("Tokens in from the provider's cache, %"), lambda one: _share(one["cached_tokens"], one["input_tokens"])),
        (say("Cost in USD, by the price list"), lambda one: one["usd"] + one["memory_usd"]),
        (say("Requests with something of memory missing"), lambda one: one["degraded"]),
        (say("Replies that were cut or failed"), lambda one: one["unfinished"]),
    )

"""Errors of the memory API in OpenAI's shape, whatever raised them; on Anthropic's paths in Anthropic's."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse, Response
from starlette.exceptions import HTTPException
from starlette.routing import Match
from starlette.types import Scope

from proxy.api.asgi import REQUEST_ID, TooMuch, id_headers, wire_of
from proxy.api.passage import note_refusal
from proxy.errors import BodyTooLarge, InvalidJson, InvalidRequest, MethodNotAllowed, NotFound, ProxyError

_MENDS = {  # by the prefix of the error type
    "extra_forbidden": "leave it out, or look up the fields in /openapi.json",
    "string_unicode": "it has half a character in it, send whole ones",
    "datetime": "send ISO 8601 with its offset, such as 2026-03-01T09:30:00Z",
    "timezone": "send ISO 8601 with its offset, such as 2026-03-01T09:30:00Z",
}
PASSED_ON = "/v1/{path:path}"  # every path that no other route matches
_METHODS = ("GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS")


def install(app: FastAPI) -> None:
    """Add the handlers."""
    app.add_exception_handler(ProxyError, _ours)
    app.add_exception_handler(RequestValidationError, _invalid)
    app.add_exception_handler(HTTPException, _other)


async def _ours(request: Request, error: Exception) -> Response:
    assert isinstance(error, ProxyError)
    note_refusal(request.scope, error)
    dialect, request_id = wire_of(request.scope), request.scope.get(REQUEST_ID, "")
    headers = {**error.headers, **dict(id_headers(dialect, request_id))}
    body = dialect.error_body(error, request_id)
    return Response(body, status_code=error.status, headers=headers, media_type="application/json")


async def _invalid(request: Request, error: Exception) -> Response:
    assert isinstance(error, RequestValidationError)
    problem = error.errors()[0]
    if (whole := _whole_body(problem, request.headers.get("content-type", ""))) is not None:
        return await _ours(request, InvalidRequest(whole))
    where = ".".join(str(part) for part in problem["loc"][1:] if "[" not in str(part))  # a union names its branches
    said = _said(problem)
    what = f"{where}: {said}" if where else said
    return await _ours(request, InvalidRequest(f"{what}.", param=where or None))


def _said(problem: Mapping[str, Any]) -> str:
    """Return the error of a field, with its remedy if the library omits one."""
    kind, said = str(problem["type"]), str(problem["msg"]).removeprefix("Value error, ")
    mend = next((mend for start, mend in _MENDS.items() if kind.startswith(start)), "")
    return f"{said}; {mend}" if mend else said


def _whole_body(problem: Mapping[str, Any], content_type: str) -> str | None:
    """Return the error of a body as a whole, with its remedy; None if it concerns a single field."""
    if problem["type"] == "json_invalid":
        return f"The body is not valid JSON: {problem['ctx']['error']} at character {problem['loc'][-1]}."
    if tuple(problem["loc"]) != ("body",):
        return None
    if problem["type"] == "missing":
        return "There is no body. Send a JSON object."
    subtype = content_type.partition(";")[0].strip().lower().rpartition("/")[2]
    if subtype == "json" or subtype.endswith("+json"):
        return "The body must be a JSON object."
    said = f"its `Content-Type` is {content_type[:80]!r}" if content_type else "it has no `Content-Type`"
    return f"The body is not read as JSON, because {said}. Send it with `Content-Type: application/json`."


async def _other(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    if isinstance(error, TooMuch):
        return await _ours(request, BodyTooLarge(error.detail))
    if error.status_code == 400 and error.__cause__ is not None:  # FastAPI could not parse the body
        return await _ours(request, InvalidJson(error.__cause__))
    if error.status_code == 404:
        return await _ours(request, not_served(request.scope))
    if error.status_code == 405:
        return await _ours(request, not_served(request.scope, passes_on=True))
    shaped = {"message": str(error.detail), "type": "invalid_request_error", "param": None, "code": None}
    return JSONResponse({"error": shaped}, status_code=error.status_code, headers=error.headers)


def not_served(scope: Scope, *, passes_on: bool = False) -> ProxyError:
    """Return the error for a request that no route answers: its method or its path is wrong.

    Args:
        scope: Of the request.
        passes_on: Other methods of the path would be forwarded to the provider.
    """
    asked, allowed = f"{scope['method']} {scope['path'][:120]}", _allowed(scope, passes_on=passes_on)
    if not allowed:
        return NotFound(f"There is no {asked} here. GET /openapi.json describes what there is.")
    mend = f"{scope['method']} is not for {scope['path'][:120]}. Use {' or '.join(allowed)} there."
    return MethodNotAllowed(mend, headers={"allow": ", ".join(allowed)})


def _allowed(scope: Scope, *, passes_on: bool) -> list[str]:
    """Return the methods of a path over all routes; a HEAD is answered like a GET."""
    routes = [route for route in scope["app"].routes if passes_on or getattr(route, "path", "") != PASSED_ON]
    asked = [{**scope, "method": method} for method in _METHODS]
    found = [one["method"] for one in asked if any(route.matches(one)[0] is Match.FULL for route in routes)]
    return ["HEAD", *found] if "GET" in found else found

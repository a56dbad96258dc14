"""Caller of the memory API, with the same key and scope as the chat; routes that wait for damaged tables."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator, Callable, Coroutine, Sequence
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Query, Request, Response
from fastapi.routing import APIRoute
from pydantic import BaseModel, ConfigDict
from starlette.routing import Match
from starlette.types import Scope as ASGIScope

from proxy.access.auth import Identity, person_of, project_id, project_name
from proxy.api.asgi import headers_of
from proxy.api.passage import passage_of
from proxy.errors import StoreUnavailable, Unauthorized
from proxy.pipeline.admission import identity_of
from proxy.pipeline.identify import scope_for, settled
from proxy.services import Services
from proxy.text.secrets import redact_name
from proxy.types import Scope
from proxy.upstream.headers import by_name

_MAX_WAIT_S = 10.0


def services_of(request: Request) -> Services:
    """Return the services of the running application."""
    services: Services = request.app.state.services
    return services


async def _caller(request: Request) -> Scope:
    services = services_of(request)
    pairs = headers_of(request.scope)
    scope = await scope_of_caller(await identity_of(pairs, services), pairs, services)
    passage_of(request.scope).owner = scope
    return scope


async def _writer(request: Request) -> AsyncIterator[Scope]:
    scope = await _caller(request)
    yield scope
    await note_project(scope, services_of(request), headers_of(request.scope))


async def note_project(scope: Scope, services: Services, headers: Sequence[tuple[str, str]]) -> None:
    """Add the project, if any, in which a request stores something to the list of projects."""
    if name := project_name(by_name(headers)):
        await services.projects.note(scope, redact_name(name), now=services.clock.now())


async def scope_of_caller(identity: Identity, headers: Sequence[tuple[str, str]], services: Services) -> Scope:
    """Return the scope of an identified caller, by the settings of its agent.

    Raises:
        Unauthorized: If the request identifies no user.
        Forbidden: If the key may not name the user that the request names.
    """
    if not identity.tenant:
        raise Unauthorized(
            "Memory is kept by key, and this request has none that identifies anybody. Send the same key as in your "
            "chat requests as `Authorization: Bearer KEY`."
        )
    return await settled(scope_for(identity, by_name(headers), _NO_BODY, services), services)


_NO_BODY: dict[str, Any] = {}


async def _author(request: Request) -> str:
    """Return the name under which a user shares: from the key or a trusted client, else the id of the key."""
    services = services_of(request)
    pairs = headers_of(request.scope)
    identity = await identity_of(pairs, services)
    now = services.clock.now()
    return person_of(identity, by_name(pairs), _NO_BODY, services.settings.auth, now) or identity.own or "a member"


class Body(BaseModel):
    """Body of a request; unknown fields are refused."""

    model_config = ConfigDict(extra="forbid")


PageSize = Annotated[int, Query(ge=1, le=1000)]
Caller = Annotated[Scope, Depends(_caller)]
Writer = Annotated[Scope, Depends(_writer, scope="function")]  # stores something; noted before the answer is sent
Author = Annotated[str, Depends(_author)]


async def _parts(request: Request) -> Services:  # on the loop: FastAPI calls a plain function in a thread
    return services_of(request)


Parts = Annotated[Services, Depends(_parts)]


def project_asked(scope: Scope, services: Services, project: str) -> str:
    """Return the project id for a name or id in a query; "" and ``*`` stay unchanged."""
    if project in ("", "*") or _PROJECT.fullmatch(project):
        return project
    return project_id(services.hasher, scope.user, project)


_PROJECT = re.compile(r"[0-9a-f]{32}")


class Router(APIRouter):
    """Routes of one noun, matched only on paths under their prefix; FastAPI would try all of them one by one."""

    def matches(self, scope: ASGIScope) -> tuple[Match, ASGIScope]:
        """Return the match for a request."""
        return super().matches(scope) if scope["path"].startswith(self.prefix) else (Match.NONE, {})


class PatientRoute(APIRoute):
    """A route that repeats a read request once if its first try met a table under repair."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """Return the handler."""
        handle = super().get_route_handler()

        async def patient(request: Request) -> Response:
            try:
                return await handle(request)
            except StoreUnavailable:
                is_whole = services_of(request).is_whole
                is_reading = request.method == "GET" or request.url.path.endswith("/search")
                if is_whole.is_set() or not is_reading:
                    raise
                try:
                    async with asyncio.timeout(_MAX_WAIT_S):
                        await is_whole.wait()
                except TimeoutError:
                    raise StoreUnavailable("this memory is being mended; try again shortly") from None
                return await handle(request)

        return patient

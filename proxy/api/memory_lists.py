"""``GET /v1/memories``, ``/search`` and ``/preview``: memories by page, hits of a query, injected text."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from datetime import datetime
from itertools import islice
from typing import Annotated, Any, Literal

import orjson
from pydantic import Field

from proxy.access.auth import agent_id, project_id
from proxy.api.caller import Body, Caller, PageSize, Parts, PatientRoute, Router
from proxy.api.shapes import hit_shape, listing, memory_shape, project_names, used
from proxy.api.writing import Moment
from proxy.clock import parse_time
from proxy.dialects import chat
from proxy.errors import InvalidRequest, NotFound, no_place
from proxy.memory.lifecycle.lookup import MAX_FOUND, Wanted, chosen, find, place
from proxy.memory.plan.changes import is_ending
from proxy.memory.recall.team import Shared
from proxy.pipeline.assemble import assemble
from proxy.pipeline.exchange import Exchange
from proxy.pipeline.recall import recall
from proxy.pipeline.remember import receipt_of
from proxy.process.threads import in_thread
from proxy.services import Services
from proxy.types import Hit, Kind, Memory, Scope, Source, Status
from proxy.types.scope import parts

router = Router(prefix="/v1/memories", route_class=PatientRoute)

_MEMORIES: tuple[Source, ...] = ("fact", "task", "summary")
_Query = Annotated[str, Field(min_length=1, max_length=20_000)]


class SearchBody(Body):
    """Body of ``POST /v1/memories/search``."""

    query: _Query
    limit: int = Field(10, ge=1, le=200)
    sources: list[Source] | None = None
    as_of: Moment | None = None


@router.get("")
async def list_memories(
    scope: Caller,
    services: Parts,
    query: str = "",
    kind: Kind | None = None,
    status: Status | Literal["all", "superseded", "retracted"] = "active",
    project: str = "",
    agent: str = "",
    source: str = "",
    as_of: str = "",
    since: str = "",
    until: str = "",
    limit: PageSize = 50,
    after: str = "",
) -> dict[str, Any]:
    """Return a page of memories, newest first, or best first for a query.

    Without ``project``, list general memories and those of the project in ``X-Memory-Project``; with a project's name
    or id, its own; with ``*``, those of all projects. With ``agent``, list those of the agent with this name or id.
    ``since`` and ``until`` limit the time from which they hold.
    """
    asked = _asked(scope, services, project)
    moment = moment_of(as_of, "as_of") if as_of else None
    known = "closed" if status in ("superseded", "retracted") else status
    first, last_day = (moment_of(text, name) if text else None for text, name in ((since, "since"), (until, "until")))
    agents = (agent, agent_id(services.hasher, scope.user, agent)) if agent else ()
    wanted = Wanted(kind or "", known, agents, source, moment, first, last_day)
    if not query and moment is None:
        return await _newest(services, scope, asked, wanted, limit, after)
    seen = [row for row in await services.store.memories(scope) if asked(row) and not is_ending(row)]
    steps = await services.history.all(scope) if moment else {}
    rows = chosen(seen, steps, wanted, services.clock.now())
    if query:
        within = {scope.at(row.agent) for row in rows} if project else {scope}
        found = [
            await _search(services, one, query, limit=MAX_FOUND, sources=_MEMORIES, as_of=moment) for one in within
        ]
        ranked = sorted((hit for hits in found for hit in hits), key=lambda hit: -hit.score)
        order = {hit.id: at for at, hit in reversed(list(enumerate(ranked)))}
        rows = sorted((row for row in rows if row.id in order), key=lambda row: order[row.id])
    if after:
        last = next((row for row in seen if row.id == after), None)
        at = next((at for at, row in enumerate(rows) if row.id == after), None)
        if last is None or (query and at is None):
            raise _no_such_place(after)
        # A memory that has left the list meanwhile keeps its place, so that paging continues.
        rows = rows[at + 1 :] if at is not None else [row for row in rows if place(row) < place(last)]
    return listing(await shown(services, scope, rows[:limit]), has_more=len(rows) > limit)


async def _newest(
    services: Services, scope: Scope, asked: Callable[[Memory], bool], wanted: Wanted, limit: int, after: str
) -> dict[str, Any]:
    """Return a page of the newest memories; it reads no more rows than needed."""
    before = None
    if after:
        last = await services.store.memory(scope, after)
        if last is None or not asked(last) or is_ending(last):
            raise _no_such_place(after)
        before = place(last)
    now = services.clock.now()
    status = "" if wanted.status in ("all", "closed") else wanted.status  # rows of earlier versions have other statuses
    rows = await services.store.newest(scope, status=status, before=before)
    fitting = (row for row in rows if asked(row) and chosen([row], {}, wanted, now))
    found = await in_thread("cpu", lambda: list(islice(fitting, limit + 1)))
    return listing(await shown(services, scope, found[:limit]), has_more=len(found) > limit)


def _no_such_place(after: str) -> NotFound:
    return no_place("memory", after)


@router.post("/search")
async def search_memories(scope: Caller, services: Parts, body: SearchBody) -> dict[str, Any]:
    """Return the hits of a query, ranked, whether or not they would be injected; shared ones have an ``author``."""
    limit, shared = body.limit + 1, await services.team_memory.of(scope.teams, services.store)
    hits = await _search(
        services, scope, body.query, limit=limit, sources=body.sources, as_of=body.as_of, shared=shared
    )
    return listing([hit_shape(hit) for hit in hits[: body.limit]], has_more=len(hits) > body.limit)


async def shown(services: Services, scope: Scope, rows: Sequence[Memory]) -> list[dict[str, Any]]:
    """Return memories as the API shows them, with their uses and the names of their projects."""
    names = await project_names(services.projects, scope, rows)
    return [memory_shape(row, names) for row in used(rows, await services.uses.of(scope, [row.id for row in rows]))]


def _asked(scope: Scope, services: Services, project: str) -> Callable[[Memory], bool]:
    """Return the filter for the memories of a requested list."""
    if not project:
        return lambda row: scope.sees(row.agent)
    ids = {project, project_id(services.hasher, scope.user, project)}
    return lambda row: scope.owns(row.agent) and (project == "*" or parts(row.agent)[1] in ids)


async def _search(
    services: Services,
    scope: Scope,
    text: str,
    *,
    limit: int,
    sources: Collection[Source] | None,
    as_of: datetime | None,
    shared: Shared | None = None,
) -> list[Hit]:
    return await find(
        scope,
        text,
        services.index,
        services.embedder,
        now=services.clock.now(),
        limit=limit,
        sources=sources,
        as_of=as_of,
        shared=shared,
    )


def moment_of(text: str, name: str) -> datetime:
    """Return the time of a parameter.

    Raises:
        InvalidRequest: If it is no time.
    """
    try:
        return parse_time(text)
    except ValueError as error:
        raise InvalidRequest(
            f"{name} is {text[:60]!r}; it must be an ISO 8601 time such as 2026-03-01T09:30:00Z.", param=name
        ) from error


class Question(Body):
    """Body of ``POST /v1/memories/preview``."""

    text: Annotated[str, Field(min_length=1, max_length=20_000)]
    budget: int | None = Field(None, ge=0)


@router.post("/preview")
async def preview_memories(scope: Caller, services: Parts, body: Question) -> dict[str, Any]:
    """Return the receipt of a first message, and the texts that would be appended to it.

    As in ``X-Memory-Mode: observe``, but it asks no provider and stores no receipt.
    """
    settings = services.settings.memory
    budget = settings.budget_tokens if body.budget is None else min(body.budget, settings.max_budget_tokens)
    exchange = await _observed(body.text, scope, services, budget)
    receipt, found = receipt_of(exchange, "complete"), exchange.found
    considered = found.recalled.considered if found.recalled is not None else ()
    texts = {hit.id: hit.text for hit in (*exchange.assembly.hits, *found.hits, *found.opening, *considered)}
    shown = {
        name: [{**entry, "text": texts.get(entry["id"])} for entry in receipt[name]]
        for name in ("injected", "considered")
    }
    wanted = ("query", "profile", "opening", "gate", "budget", "tokens", "timings", "degraded")
    told = {name: receipt[name] for name in wanted}
    additions = [one.text for one in exchange.assembly.additions]
    return {"object": "memory.preview", **told, **shown, "additions": additions}


async def _observed(question: str, scope: Scope, services: Services, budget: int) -> Exchange:
    """Return the first request of a conversation after recall and assembly; nothing is sent, written or counted."""
    body = orjson.dumps({"model": "preview", "messages": [{"role": "user", "content": question}]})
    exchange = Exchange("POST", "/v1/chat/completions", "", (), body, chat)
    exchange.request = exchange.dialect.read(body)
    exchange.scope, exchange.mode, exchange.budget = replace(scope, session=""), "observe", budget
    exchange.now = services.clock.now()
    exchange.upstream_body = exchange.resolved_body = body
    with services.precedence.ahead():
        await recall(exchange, services)
        await assemble(exchange, services.settings.memory)
    return exchange

"""Step 1, identify: derive scope, mode and route from the identity, the headers and the body. Fails closed."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from datetime import datetime
from itertools import takewhile
from typing import get_args

from proxy.access.auth import Identity, person_of, project_id, project_name, scope_of, session_name
from proxy.clock import parse_local_time
from proxy.dialects.authored import working_folder
from proxy.dialects.base import ChatRequest, Message
from proxy.dialects.errands import is_errand
from proxy.errors import Forbidden, InvalidHeader, MissingModel, NamesNobody, StoreUnavailable
from proxy.memory.conversations.chain import named_session
from proxy.pipeline.admission import key_for_routes, permitted
from proxy.pipeline.exchange import Exchange
from proxy.pipeline.policy import beside_loop
from proxy.services import Services
from proxy.types import Mode, Scope
from proxy.types.scope import partition, parts
from proxy.upstream.affinity import Conversation
from proxy.upstream.failover import Plan, Try

_MAX_HEADER = 16_384
# English has about four characters a token; images were observed to cost some hundreds of tokens.
_CHARACTERS_A_TOKEN = 4
_TOKENS_A_PART = 500


async def identify(exchange: Exchange, services: Services) -> None:
    """Fill in the scope, the mode and the plan of the request.

    Raises:
        InvalidRequest: If the body is not a chat request, or an ``X-Memory-*`` header has an invalid value.
        ModelNotFound: If no route serves the model, or none for this key.
        RateLimited: If the key has no tokens or no stream left.
    """
    request = exchange.request = await read(exchange)
    exchange.plan = permitted(exchange.identity, request.model, lambda: _plan(request, exchange, services))
    exchange.ticket.reserve(tokens=_estimate(request), is_stream=request.stream)
    exchange.target = exchange.plan.first
    await recognise(exchange, services)


async def read(exchange: Exchange) -> ChatRequest:
    """Parse the body; a large one in a thread."""
    return await beside_loop(exchange.body, exchange.dialect.read, exchange.body)


async def recognise(exchange: Exchange, services: Services) -> None:
    """Fill in the scope, the mode and the names of a parsed request.

    Raises:
        InvalidHeader: If an ``X-Memory-*`` header has an invalid value.
        Forbidden: If the key may not name the user that the request names.
    """
    headers, request = exchange.header_map, exchange.request
    assert request is not None
    exchange.now = services.clock.now()
    exchange.mode = requested_mode(headers, services)
    exchange.budget = _budget(headers, services)
    exchange.named.has_budget = bool(headers.get("x-memory-budget", "").strip())
    exchange.tool.is_wanted = _wants_tool(headers, is_default=exchange.identity.offers_recall)
    exchange.now = named_time(headers, may_name=exchange.identity.may_name) or exchange.now
    person = ""
    try:
        person = person_of(exchange.identity, headers, request.body, services.settings.auth, services.clock.now())
    except NamesNobody:
        exchange.identity = replace(exchange.identity, tenant="", reason="no-identity")
    if not exchange.identity.tenant or exchange.mode == "off":
        return
    is_own = await beside_loop(exchange.body, is_errand, request, exchange.header_map)
    if is_own:  # a request that the client makes for itself
        exchange.mode, exchange.off_reason = "off", "errand"
        if not any(message.signature for message in request.messages):
            return
    scope = _scope(exchange.identity, headers, person, services)
    exchange.named.agent_id = parts(scope.agent)[0]
    exchange.scope = await settled(scope, services.of(exchange.mode))
    exchange.named.project = project_name(headers)
    if services.settings.memory.projects and not exchange.named.project:
        exchange.named.project = await beside_loop(exchange.body, working_folder, request)
        exchange.scope = in_project(exchange.scope, exchange.named.project, services)
    exchange.named.session = session_name(headers, request.body, request.conversation)
    if exchange.named.session:
        exchange.named.session_id = named_session(exchange.scope, exchange.named.session)
        exchange.scope = replace(exchange.scope, session=exchange.named.session_id)
    if is_own:  # providers refuse its signed history without the blocks that it held before
        exchange.replayed, exchange.scope = exchange.scope, None


def in_project(scope: Scope, name: str, services: Services) -> Scope:
    """Return the scope narrowed to the user's project, with the same agent; unchanged without a name."""
    if not name:
        return scope
    project = project_id(services.hasher, scope.user, name)
    also = tuple(partition(parts(one)[0], project) for one in scope.also)
    return replace(scope, agent=partition(parts(scope.agent)[0], project), also=also)


async def settled(scope: Scope, services: Services) -> Scope:
    """Return the scope by its agent's setting: a shared agent learns into the user's own scope.

    If the setting cannot be read, the agent's memory stays private.
    """
    agent = parts(scope.agent)[0]
    if not agent:
        return scope
    with suppress(StoreUnavailable):
        known = await services.agents.find(scope, agent)
        if known is not None and not known.is_private:
            return replace(scope, agent=partition("", scope.project), also=(scope.agent,))
    return scope


def _plan(request: ChatRequest, exchange: Exchange, services: Services) -> Plan:
    """Return the plan of the request; without a model it takes the default route."""
    key = key_for_routes(exchange.headers, services.settings)
    if not request.model:
        target = services.routes.default(key)
        if target is None:
            raise MissingModel(
                "The body needs `model`: without it nothing tells which provider is meant.", param="model"
            )
        return Plan((Try(target),))
    plan = services.routes.plan(request.model, key, lambda: _conversation_of(request, exchange.header_map))
    return services.routes.spoken(plan, exchange.path)


def _conversation_of(request: ChatRequest, headers: Mapping[str, str]) -> Conversation:
    """Return the identity of a conversation: the client's name for it, else its opening messages.

    A ``prompt_cache_key`` alone identifies no conversation: a whole application may send the same one.
    """
    name = session_name(headers, request.body) or request.conversation
    if name and name != request.prompt_cache_key:
        return Conversation(_digest(name), is_named=True)
    begin = list(takewhile(lambda message: message.role != "assistant", request.messages))
    users = [at for at, message in enumerate(begin) if message.role == "user"]
    opening = begin[: users[0] + 1] if users else begin
    rest = request.messages[len(begin) :]
    return Conversation(_digest(*map(_said, opening)), _digest(_said(rest[0])) if rest else "")


def opening_of(body: bytes) -> Conversation:
    """Return a conversation for a request without messages, by its body; equal requests are spread as well."""
    return Conversation(hashlib.blake2b(body, digest_size=16).hexdigest())


def _said(message: Message) -> str:
    calls = [str(call.get("id")) for call in message.tool_calls]
    return "\0".join((message.role, message.text, *calls))


def _digest(*texts: str) -> str:
    return hashlib.blake2b("\1".join(texts).encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()


def _estimate(request: ChatRequest) -> int:
    """Return an estimate of the request's tokens, used until its provider has counted them."""
    parts = [part for message in request.messages for part in message.parts]
    return sum(len(part.text) // _CHARACTERS_A_TOKEN if part.text else _TOKENS_A_PART for part in parts)


def scope_for(identity: Identity, headers: Mapping[str, str], body: Mapping[str, object], services: Services) -> Scope:
    """Return the scope of an identified request.

    Raises:
        Forbidden: If the key is bound to one user and the request names another.
        InvalidHeader: If an id exceeds ``_MAX_HEADER`` characters.
        NamesNobody: If the request names its user by a template that was not filled in, or a signature that fails.
    """
    person = person_of(identity, headers, body, services.settings.auth, services.clock.now())
    return _scope(identity, headers, person, services)


def _scope(identity: Identity, headers: Mapping[str, str], person: str, services: Services) -> Scope:
    for name in ("x-memory-user", "x-memory-session", "x-memory-agent", "x-memory-project", "x-memory-team"):
        if len(headers.get(name, "")) > _MAX_HEADER:
            raise InvalidHeader(
                f"The header {name} has {len(headers[name])} characters; the limit is {_MAX_HEADER}.",
                param=name.title(),
            )
    named = headers.get("x-memory-user", "").strip()
    if identity.user and named and named != identity.user:
        raise Forbidden(
            "This key is bound to one user and may not name another in X-Memory-User. Leave the header out."
        )
    if not identity.may_name and not identity.user and named:
        raise Forbidden("This key may not name users. Leave X-Memory-User out, or have the operator allow it.")
    return scope_of(identity, headers, person, services.hasher)


def requested_mode(headers: Mapping[str, str], services: Services) -> Mode:
    """Return the mode that the request asks for, or the default.

    Raises:
        InvalidHeader: If there is no such mode.
    """
    text = headers.get("x-memory-mode", "").strip().lower()
    if not services.settings.memory.enabled:
        return "off"
    if not text:
        return services.settings.memory.default_mode
    for mode in get_args(Mode):
        if mode == text:
            return mode  # type: ignore[no-any-return]
    raise InvalidHeader(
        f"X-Memory-Mode is {text[:40]!r}; it may be one of {', '.join(get_args(Mode))}.", param="X-Memory-Mode"
    )


def _budget(headers: Mapping[str, str], services: Services) -> int:
    settings = services.settings.memory
    text = headers.get("x-memory-budget", "").strip()
    if not text:
        return settings.budget_tokens
    if not text.isascii() or not text.isdigit() or len(text) > 9:
        raise InvalidHeader(
            f"X-Memory-Budget is {text[:40]!r}; it must be a whole number of tokens.", param="X-Memory-Budget"
        )
    return min(int(text), settings.max_budget_tokens)


def _wants_tool(headers: Mapping[str, str], *, is_default: bool) -> bool:
    text = headers.get("x-memory-tools", "").strip().lower()
    if text not in ("", "on", "off"):
        raise InvalidHeader(f"X-Memory-Tools is {text[:40]!r}; it may be on or off.", param="X-Memory-Tools")
    return text == "on" or (not text and is_default)


def named_time(headers: Mapping[str, str], *, may_name: bool) -> datetime | None:
    """Return the time in X-Memory-Time, at its own offset; None without one, or if the key may not set it.

    Raises:
        InvalidHeader: If it is not a time.
    """
    text = headers.get("x-memory-time", "").strip()
    if not text:
        return None
    try:
        moment = parse_local_time(text)
    except ValueError as error:
        raise InvalidHeader(
            f"X-Memory-Time is {text[:60]!r}; it must be an ISO 8601 time such as 2026-03-01T09:30:00Z.",
            param="X-Memory-Time",
        ) from error
    return moment if may_name else None

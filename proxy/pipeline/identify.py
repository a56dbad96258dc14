"""Step 1: from the key, the headers and the body to a scope, a mode and a route; fails closed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from datetime import datetime
from typing import get_args

from proxy.auth import Identity, passthrough_identity, scope_of, session_name
from proxy.clock import parse_time
from proxy.dialects.base import ChatRequest
from proxy.errors import Forbidden, InvalidHeader, Unauthorized
from proxy.memory.chain import named_session
from proxy.memory.statements import is_utility_call
from proxy.pipeline.affinity import conversation_of
from proxy.pipeline.exchange import Exchange
from proxy.pipeline.origin import is_foreign_page, is_named_here
from proxy.services import Services
from proxy.threads import in_thread
from proxy.types import Mode, Scope
from proxy.upstream.headers import by_name, client_key

LARGE_BYTES = 500_000
_MAX_HEADER = 16_384


async def identify(exchange: Exchange, services: Services) -> None:
    """Fill in who is asking, whose memory that is, and where the request goes.

    Raises:
        InvalidRequest: If the body is no chat request, or a header of ours has a value that means nothing.
        Unauthorized: In ``keys`` mode, without a key of ours.
        ModelNotFound: If no route serves the model.
    """
    headers = exchange.header_map
    exchange.now = services.clock.now()
    exchange.identity = await identity_of(exchange.headers, services)
    request = exchange.request = await _read(exchange)
    exchange.plan = services.routes.plan(
        request.model, client_key(exchange.headers), lambda: conversation_of(request, headers)
    )
    exchange.target = exchange.plan.first
    exchange.mode = requested_mode(headers, services)
    exchange.budget = _budget(headers, services)
    if "x-memory-time" in headers:
        moment = _time(headers["x-memory-time"])
        exchange.now = moment if exchange.identity.may_name else exchange.now
    if not exchange.identity.tenant or exchange.mode == "off":
        return
    exchange.scope = scope_for(exchange.identity, headers, request.body, services)
    exchange.session_name = session_name(headers, request.body, request.conversation)
    if exchange.session_name:
        exchange.named_session = named_session(exchange.scope, exchange.session_name)
        exchange.scope = replace(exchange.scope, session=exchange.named_session)
    if is_utility_call("\n".join(message.text for message in request.messages[-1:])):
        exchange.mode = "off"


async def _read(exchange: Exchange) -> ChatRequest:
    """Parse the body, a large one beside the event loop."""
    if len(exchange.body) < LARGE_BYTES:
        return exchange.dialect.read(exchange.body)
    return await in_thread("cpu", exchange.dialect.read, exchange.body)


async def identity_of(headers: Iterable[tuple[str, str]], services: Services) -> Identity:
    """Return what the request's key stands for.

    Raises:
        Unauthorized: In ``keys`` mode, without a key of ours.
        Forbidden: If a page of another site comes with a placeholder.
    """
    settings = services.settings
    key = client_key(headers) or ""
    if settings.auth.mode == "passthrough":
        return _brought(key, by_name(headers), services)
    if not key:
        raise Unauthorized(
            "You didn't provide an API key. Send one of this server's keys as `Authorization: Bearer KEY`; "
            "its operator makes them with `throughline keys create`."
        )
    found = await services.keys.lookup(key)
    if found is None:
        raise Unauthorized(
            "Incorrect API key provided: it is not one of this server's keys. Its operator makes them with "
            "`throughline keys create`."
        )
    tenant = services.hasher.digest("tenant", "keys", found.tenant)
    return Identity(key, tenant, found.user, found.id, may_name=found.may_name_users and not found.user)


def _brought(key: str, headers: Mapping[str, str], services: Services) -> Identity:
    """Identify a client that brings its provider's key, or a placeholder, which identifies this machine's user only."""
    settings = services.settings
    host = settings.server.host
    if key in settings.auth.placeholder_keys:
        if is_foreign_page(headers):
            raise Forbidden("A page of another site may not use a placeholder key here. Send a key of your provider.")
        host = host if "host" not in headers or is_named_here(headers) else ""
    return passthrough_identity(key, settings.auth, services.hasher, host)


def scope_for(identity: Identity, headers: Mapping[str, str], body: Mapping[str, object], services: Services) -> Scope:
    """Return the scope of an identified request.

    Raises:
        Forbidden: If the key is bound to one user and the request names another.
        InvalidHeader: If an id is longer than any id may be.
    """
    for name in ("x-memory-user", "x-memory-session", "x-memory-agent"):
        if len(headers.get(name, "")) > _MAX_HEADER:
            raise InvalidHeader(f"The header {name} has {len(headers[name])} characters; the limit is {_MAX_HEADER}.")
    named = headers.get("x-memory-user", "").strip()
    if identity.user and named and named != identity.user:
        raise Forbidden(
            "This key is bound to one user and may not name another in X-Memory-User. Leave the header out."
        )
    if not identity.may_name and not identity.user and named:
        raise Forbidden("This key may not name users. Leave X-Memory-User out, or have the operator allow it.")
    return scope_of(identity, headers, body, services.hasher)


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


def _time(text: str) -> datetime:
    try:
        return parse_time(text)
    except ValueError as error:
        raise InvalidHeader(
            f"X-Memory-Time is {text[:60]!r}; it must be an ISO 8601 time such as 2026-03-01T09:30:00Z.",
            param="X-Memory-Time",
        ) from error

"""Handling of one request, top to bottom."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from dataclasses import dataclass

from proxy.errors import ProxyError
from proxy.memory.inject.standing import standing
from proxy.pipeline.account import guard_account
from proxy.pipeline.assemble import assemble, offer, resume
from proxy.pipeline.attachments import attach
from proxy.pipeline.commands import Command, Here, resolve_previous, take, takes_commands
from proxy.pipeline.exchange import Exchange
from proxy.pipeline.forward import forward
from proxy.pipeline.identify import identify, read, recognise
from proxy.pipeline.keeping import keep_beside
from proxy.pipeline.placement import name_points
from proxy.pipeline.policy import beside_loop, best_effort
from proxy.pipeline.prefix import look_up, protect
from proxy.pipeline.recall import put_back, recall, still_true
from proxy.pipeline.recall_tool import Answering
from proxy.pipeline.relay import relay
from proxy.pipeline.remember import remember
from proxy.process.threads import shielded
from proxy.services import Services
from proxy.upstream.base import UpstreamResponse
from proxy.upstream.headers import find, is_event_stream


@dataclass(slots=True)
class Answer:
    """A reply whose head has arrived; the client's connection pulls the body."""

    exchange: Exchange
    response: UpstreamResponse
    chunks: AsyncGenerator[bytes, None]

    @property
    def status(self) -> int:
        """HTTP status."""
        return self.response.status

    @property
    def is_stream(self) -> bool:
        """Return whether the body is a stream of events."""
        return is_event_stream(self.response.headers)

    def headers(self) -> list[tuple[str, str]]:
        """Return the provider's headers and Throughline's; call it once the first byte has arrived."""
        headers = [*self.response.headers, *self.exchange.response_headers()]
        if find(headers, "x-request-id") is None:
            headers.append(("x-request-id", self.exchange.request_id))
        return headers


async def handle(exchange: Exchange, services: Services, here: Here | None = None) -> Answer:
    """Identify, attach, recall, assemble and forward; the relay runs, and journals the turn, as the answer is read.

    Raises:
        ProxyError: What is refused by us; what the provider refuses is an answer.
    """
    with services.precedence.ahead():
        with exchange.timings.step("identify"):
            resolve_previous(exchange)
            await identify(exchange, services)
            await guard_account(exchange, services)
            if here is not None and takes_commands(exchange, services):
                command = await take(exchange, services.of(exchange.mode))
                if command is not None:
                    return await _answered_here(exchange, services, here, command)
        exchange.upstream_body = exchange.resolved_body = exchange.body
        services = services.of(exchange.mode)
        await attach(exchange, services)
        if exchange.scope is not None and exchange.mode != "off":
            await recall(exchange, services)
            await look_up(exchange, services)
            await assemble(exchange, services.settings.memory)
            keep_beside(exchange, services)
            resume(exchange)
            offer(exchange)
        else:
            await _replay(exchange, services)
    response = await _sent(exchange, services)
    if exchange.tool.is_offered:
        response = Answering(exchange, services, response)
    return Answer(exchange, response, relay(exchange, services, response))


async def _answered_here(exchange: Exchange, services: Services, here: Here, command: Command) -> Answer:
    """Answer a command; nothing is forwarded, and nothing is stored."""
    response = await here(exchange, services.of(exchange.mode), command)
    exchange.mode, exchange.off_reason = "off", "command"
    return Answer(exchange, response, _chunks(response))


async def _chunks(response: UpstreamResponse) -> AsyncGenerator[bytes, None]:
    async for chunk in response.chunks():
        yield chunk


async def _sent(exchange: Exchange, services: Services) -> UpstreamResponse:
    """Forward the request; on upstream failure or disconnect, journal the turn and receipt before raising."""
    try:
        return await forward(exchange, services)
    except asyncio.CancelledError:
        await shielded(remember(exchange, services, "client_closed", status=200), "remember")
        raise
    except ProxyError as error:
        await shielded(remember(exchange, services, "upstream_error", error.status), "remember")
        raise


async def _replay(exchange: Exchange, services: Services) -> None:
    """Inject the blocks of earlier turns again, and nothing new; the request is not stored.

    If a command switched memory off, no block is injected, and thinking blocks bound to missing blocks are dropped.
    """
    scope = exchange.replayed
    if scope is None:
        if exchange.off_reason == "command":
            await look_up(exchange, services)
        return
    exchange.scope = scope
    said, exchange.mode, exchange.budget = exchange.mode, "read", 0
    try:
        with best_effort(exchange, "memory"):
            await beside_loop(exchange.body, name_points, exchange)
            deadline_s = services.settings.memory.deadline_ms / 1000
            await put_back(exchange, services, asyncio.get_running_loop().time() + deadline_s)
            async with asyncio.timeout(deadline_s):
                stands = await standing(scope, services.index)
                shared = await services.team_memory.of(scope.teams, services.store)
            exchange.placed.ledger = still_true(exchange.placed.ledger, stands, shared)
        await look_up(exchange, services)
        await assemble(exchange, services.settings.memory)
    finally:
        exchange.scope, exchange.mode = None, said


async def counted(exchange: Exchange, services: Services) -> None:
    """Rebuild a request that counts tokens into the one that would be forwarded; nothing is stored.

    Raises:
        InvalidRequest: If the body is not a request of its dialect.
        InvalidHeader: If an ``X-Memory-*`` header has an invalid value.
        Forbidden: If the key may not name the user that the request names.
    """
    exchange.request = await read(exchange)
    exchange.upstream_body = exchange.resolved_body = exchange.body
    await recognise(exchange, services)
    if exchange.scope is not None:
        services = services.of(exchange.mode)
        await recall(exchange, services)
        await look_up(exchange, services)
        await assemble(exchange, services.settings.memory)
    else:
        await _replay(exchange, services)
    await protect(exchange, exchange.upstream_body)

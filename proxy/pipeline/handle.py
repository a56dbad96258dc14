"""The request, top to bottom."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from dataclasses import dataclass

from proxy.errors import ProxyError
from proxy.pipeline.account import guard_account
from proxy.pipeline.assemble import assemble
from proxy.pipeline.attachments import attach
from proxy.pipeline.commands import Command, Here, resolve_previous, take, takes_commands
from proxy.pipeline.exchange import Exchange
from proxy.pipeline.forward import forward
from proxy.pipeline.identify import identify
from proxy.pipeline.keeping import keep_beside
from proxy.pipeline.offer import offer, resume
from proxy.pipeline.prefix import look_up
from proxy.pipeline.recall import recall
from proxy.pipeline.recall_tool import Answering
from proxy.pipeline.relay import is_stream, relay
from proxy.pipeline.remember import remember
from proxy.pipeline.replay import replay
from proxy.process.threads import shielded
from proxy.services import Services
from proxy.upstream.base import UpstreamResponse
from proxy.upstream.headers import find


@dataclass(slots=True)
class Answer:
    """A reply whose head is there; the body is pulled by the client's connection."""

    exchange: Exchange
    response: UpstreamResponse
    chunks: AsyncGenerator[bytes, None]

    @property
    def status(self) -> int:
        """HTTP status."""
        return self.response.status

    @property
    def is_stream(self) -> bool:
        """Whether the body is a stream of events."""
        return is_stream(self.response)

    def headers(self) -> list[tuple[str, str]]:
        """Return the provider's headers and ours; to be asked for when the first byte is there."""
        headers = [*self.response.headers, *self.exchange.response_headers()]
        if find(headers, "x-request-id") is None:
            headers.append(("x-request-id", self.exchange.request_id))
        return headers


async def handle(exchange: Exchange, services: Services, here: Here | None = None) -> Answer:
    """Identify, attach, recall, assemble and forward; the relay runs, and remembers, while the answer is read.

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
            await replay(exchange, services)
    response = await _sent(exchange, services)
    if exchange.tool.is_offered:
        response = Answering(exchange, services, response)
    return Answer(exchange, response, relay(exchange, services, response))


async def _answered_here(exchange: Exchange, services: Services, here: Here, command: Command) -> Answer:
    """Answer a command; nothing goes up, and nothing is kept of it."""
    response = await here(exchange, services.of(exchange.mode), command)
    exchange.mode, exchange.off_reason = "off", "command"
    return Answer(exchange, response, _chunks(response))


async def _chunks(response: UpstreamResponse) -> AsyncGenerator[bytes, None]:
    async for chunk in response.chunks():
        yield chunk


async def _sent(exchange: Exchange, services: Services) -> UpstreamResponse:
    """Forward; where no reply comes, what the user said, or the receipt, is kept all the same."""
    try:
        return await forward(exchange, services)
    except asyncio.CancelledError:
        await shielded(remember(exchange, services, "client_closed", status=200), "remember")
        raise
    except ProxyError as error:
        await shielded(remember(exchange, services, "upstream_error", error.status), "remember")
        raise

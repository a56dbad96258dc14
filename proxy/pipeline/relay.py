"""Step 5, relay: pass the reply on unchanged, and journal the turn before the end of the reply is sent."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from dataclasses import dataclass, field

from proxy.dialects.reply import Folding
from proxy.dialects.usage import UsageMeter
from proxy.errors import ProxyError
from proxy.pipeline.exchange import Exchange
from proxy.pipeline.remember import remember
from proxy.process.threads import shielded
from proxy.services import Services
from proxy.types import Finish
from proxy.upstream.base import UpstreamResponse
from proxy.upstream.headers import is_event_stream, value_of


async def relay(exchange: Exchange, services: Services, response: UpstreamResponse) -> AsyncGenerator[bytes, None]:
    """Yield the provider's bytes; the last ones only when the turn is durable.

    In a stream, only the chunk with the terminal event waits for the journal. Any other body is relayed one chunk
    late, so that its last chunk can wait. A disconnect of the client closes the generator: it closes the upstream,
    then stores the partial turn; both run to completion, shielded from cancellation.
    """
    tail = _Tail(exchange, services, response)
    chunks = _stream(tail) if is_event_stream(response.headers) else _whole(tail)
    try:
        async for chunk in chunks:
            yield chunk
    finally:
        await shielded(tail.close(), "close reply")


@dataclass(slots=True)
class _Tail:
    """End of a reply, done exactly once: parse it, journal the turn, close the upstream.

    Attributes:
        meter: Reads the token usage of a reply that is not parsed.
    """

    exchange: Exchange
    services: Services
    response: UpstreamResponse
    accumulator: Folding | None = field(init=False)
    meter: UsageMeter | None = field(init=False)
    has_broken: bool = False
    is_remembered: bool = False

    def __post_init__(self) -> None:
        self.accumulator = self.exchange.dialect.accumulator() if self.exchange.listens else None
        self.meter = UsageMeter() if self.accumulator is None and self.response.status < 400 else None
        if self.meter is not None:
            self.meter.decode(value_of(self.response.headers, "content-encoding"))
        self.is_remembered = self.exchange.scope is None or self.exchange.mode == "off"
        if self.exchange.handing is not None:
            self.exchange.handing.begin(self.response)

    @property
    def has_to_wait(self) -> bool:
        """Return whether something must be written before the end of the reply is sent."""
        return not self.is_remembered or self.exchange.handing is not None

    def feed(self, chunk: bytes) -> None:
        if self.accumulator is not None:
            self.accumulator.feed(chunk)
        elif self.meter is not None:
            self.meter.feed(chunk)
        if self.exchange.handing is not None:
            self.exchange.handing.feed(chunk)

    async def remember(self, finish: Finish | None = None) -> None:
        """Journal the turn; without ``finish``, the parsed reply decides whether it is complete."""
        if self.exchange.handing is not None:
            await shielded(self.exchange.handing.note(self.services), "hand out")
        if self.is_remembered:
            return
        self.is_remembered = True
        if self.accumulator is not None:
            headers = self.response.headers
            self.exchange.relayed.reply = self.accumulator.result(
                content_type=value_of(headers, "content-type"),
                content_encoding=value_of(headers, "content-encoding"),
            )
            self.exchange.relayed.usage = self.exchange.relayed.reply.usage
        whole = self.exchange.relayed.reply is None or self.exchange.relayed.reply.complete
        finish = finish or ("complete" if whole else "upstream_error")
        await shielded(remember(self.exchange, self.services, finish, self.response.status), "remember")

    async def close(self) -> None:
        await self.response.aclose()
        await asyncio.sleep(0)  # if many clients disconnect at once, every upstream is closed before a turn is stored
        self.exchange.relayed.usage = self.meter.usage() if self.meter is not None else self.exchange.relayed.usage
        await self.remember("upstream_error" if self.has_broken else "client_closed")


async def _stream(tail: _Tail) -> AsyncGenerator[bytes, None]:
    watch = tail.exchange.dialect.end_watch()
    try:
        async for chunk in tail.response.chunks():
            tail.feed(chunk)
            if tail.has_to_wait and watch.feed(chunk):
                await tail.remember()
            yield chunk
    except ProxyError:
        tail.has_broken = True
        raise
    await tail.remember()


async def _whole(tail: _Tail) -> AsyncGenerator[bytes, None]:
    held = b""
    try:
        async for chunk in tail.response.chunks():
            tail.feed(chunk)
            if held:
                yield held
            held = chunk
    except ProxyError:
        tail.has_broken = True
        raise
    await tail.remember()
    if held:
        yield held

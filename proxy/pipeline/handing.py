"""Record the ids that a reply hands out before its end is sent, if all keys share one provider account."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass, field

import structlog

from proxy.dialects import objects
from proxy.dialects.reply import Copy, parsed
from proxy.errors import ProxyError
from proxy.events import Event, EventSplitter
from proxy.services import Services
from proxy.types import Scope
from proxy.upstream.base import UpstreamResponse
from proxy.upstream.headers import is_event_stream, value_of

_log = structlog.get_logger(__name__)
_MAX_WAIT_S = 2.0
# Text deltas come by the thousand and hand out no ids.
_NOTHING = (b".delta", b'"content_block_delta"', b'"ping"')
_BELOW_CHAT = b'"audio"'


@dataclass(slots=True)
class Handing:
    """Collector of the ids in one reply.

    Args:
        scope: Scope that receives the ids.
        wire: Wire format, which tells the places of ids; see ``objects.handed_out``.
    """

    scope: Scope
    wire: str
    _ids: dict[str, None] = field(default_factory=dict)
    _noted: int = 0
    _splitter: EventSplitter | None = None
    _copy: Copy | None = None
    _coding: str = ""

    def begin(self, response: UpstreamResponse) -> None:
        """Prepare for a stream or a whole body; an error reply hands out no ids."""
        if response.status >= 400:
            return
        self._coding = value_of(response.headers, "content-encoding")
        if is_event_stream(response.headers):
            self._splitter = EventSplitter()
        else:
            self._copy = Copy()

    def feed(self, chunk: bytes) -> None:
        """Read a chunk."""
        if self._splitter is not None:
            self._read(self._splitter.feed(chunk))
        elif self._copy is not None:
            self._copy.feed(chunk)

    async def note(self, services: Services) -> None:
        """Store the ids handed out so far; on failure, log it: later requests then cannot name these ids."""
        copy, self._copy = self._copy, None
        if self._splitter is not None:
            self._read(self._splitter.close())
        if copy is not None:
            self._take(parsed(copy.decoded(self._coding)))
        fresh = list(self._ids)[self._noted :]
        self._noted = len(self._ids)
        if not fresh:
            return
        try:
            async with asyncio.timeout(_MAX_WAIT_S):
                await services.handed.note(self.scope, fresh, now=services.clock.now())
        except (ProxyError, TimeoutError) as error:
            _log.warning("ids of a reply were not noted", error=type(error).__name__)

    def _read(self, events: list[Event]) -> None:
        for event in events:
            is_chat = self.wire == "chat"
            if not any(one in event.data[:200] for one in _NOTHING) and (not is_chat or _BELOW_CHAT in event.data):
                self._take(parsed(event.data))

    def _take(self, reply: object) -> None:
        self._ids.update(dict.fromkeys(objects.handed_out(reply, self.wire)))


async def noted(response: UpstreamResponse, handing: Handing, services: Services) -> AsyncIterator[bytes]:
    """Yield a reply's bytes; the last chunk only once its ids are stored."""
    handing.begin(response)
    held = b""
    async for chunk in response.chunks():
        handing.feed(chunk)
        if held:
            yield held
        held = chunk
    await handing.note(services)
    if held:
        yield held

"""Heartbeat comments in a stream between its events while the provider is silent (if enabled)."""

from __future__ import annotations

import asyncio
import re
from types import TracebackType

import anyio

from proxy.api.asgi import Headers, Send, send_chunk
from proxy.dialects.sse import EndWatch
from proxy.process.threads import spawn
from proxy.upstream.headers import find, is_event_stream

COMMENT = b": heartbeat\n\n"

_BOM = b"\xef\xbb\xbf"
_SEAMS = (b"\n\n", b"\r\r", b"\r\n\r\n")
_ID_LINE = re.compile(rb"[\r\n]id:")


class Heartbeat:
    """Sends a body's chunks as they arrive, and a comment between two events that are far apart.

    It sends none after the terminal event, and none after an ``id:`` line: openai-python treats any empty line after
    one as an event.
    """

    def __init__(self, send: Send, headers: Headers, every_s: float, watch: EndWatch | None = None) -> None:
        coding = (find(headers, "content-encoding") or "identity").lower()
        is_stream = is_event_stream(headers)
        can_grow = coding == "identity" and find(headers, "content-length") is None
        self._every_s = every_s if is_stream and can_grow else 0.0
        self._send = send
        self._lock = anyio.Lock()
        self._watch = watch or EndWatch()
        self._tail = b"\n\n"
        self._is_allowed = True
        self._has_begun = False
        self._has_beaten = False
        self._sent_at = 0.0
        self._task: asyncio.Task[None] | None = None

    async def __aenter__(self) -> Heartbeat:
        """Start the clock; the head has been sent."""
        if self._every_s:
            self._sent_at = asyncio.get_running_loop().time()
            self._task = spawn(self._beat(), "heartbeat")
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Stop the heartbeat."""
        if self._task is not None:
            self._task.cancel()

    async def chunk(self, chunk: bytes) -> None:
        """Send one piece of the body at once."""
        if self._task is None:
            await send_chunk(self._send, chunk)
            return
        async with self._lock:
            if self._has_beaten and not self._has_begun:
                chunk = chunk.removeprefix(_BOM)  # valid at the very start only, where a comment is now
            self._has_begun = True
            if self._watch.feed(chunk) or _ID_LINE.search(self._tail[-3:] + chunk):
                self._is_allowed = False
            self._tail = (self._tail + chunk)[-4:]
            await send_chunk(self._send, chunk)
            self._sent_at = asyncio.get_running_loop().time()

    async def _beat(self) -> None:
        loop = asyncio.get_running_loop()
        while self._is_allowed:
            await asyncio.sleep(self._sent_at + self._every_s - loop.time())
            async with self._lock:
                if loop.time() < self._sent_at + self._every_s:
                    continue
                self._sent_at = loop.time()
                if self._is_allowed and self._tail.endswith(_SEAMS):
                    self._has_beaten = True
                    await send_chunk(self._send, COMMENT)

"""A scripted provider on a real socket: records each request, sends scripted replies, and detects disconnects."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal
from urllib.parse import urlsplit

import anyio.to_thread
import orjson

from tests.fakes import replies
from tests.fakes.replies import Gate, Hang, Raw, Reply

Script = Callable[["Seen"], "Reply | Raw | Hang | None"]
_WAIT_S = 60.0


@dataclass(eq=False)
class Seen:
    """One request as it arrived, and the state of its connection."""

    method: str
    target: str
    headers: list[tuple[str, str]]
    body: bytes
    arrived_at: float = field(default_factory=time.monotonic)
    # Time at which the client disconnected before the end of the reply; None if it did not.
    hung_up_at: float | None = None
    answered: bool = False
    connection: int = 0

    @property
    def path(self) -> str:
        return urlsplit(self.target).path

    @property
    def query(self) -> str:
        return urlsplit(self.target).query

    @property
    def json(self) -> Any:
        return orjson.loads(self.body)

    def header(self, name: str) -> str | None:
        return next((value for key, value in self.headers if key.lower() == name.lower()), None)


class FakeProvider:
    """An HTTP/1.1 server in a separate thread.

    ``script(fn)`` decides each reply; ``then(reply)`` queues single ones before that; the default is an echo.
    """

    def __init__(self) -> None:
        self.seen: list[Seen] = []
        self.connections = 0
        self._script: Script | None = None
        self._queue: list[Reply | Raw | Hang] = []
        self._changed = threading.Condition()
        self._ready = threading.Event()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread = threading.Thread(target=self._run, name="fake-provider", daemon=True)
        self._open: set[_Connection] = set()
        self.port = 0

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def base_url(self) -> str:
        return f"{self.url}/v1"

    @property
    def last(self) -> Seen:
        return self.seen[-1]

    def start(self) -> FakeProvider:
        self._thread.start()
        assert self._ready.wait(_WAIT_S)
        return self

    def stop(self) -> None:
        loop = self._loop
        if loop is not None and not loop.is_closed():
            loop.call_soon_threadsafe(loop.stop)
        self._thread.join(_WAIT_S)

    def __enter__(self) -> FakeProvider:
        return self.start()

    def __exit__(self, *failure: object) -> None:
        self.stop()

    def script(self, fn: Script | None) -> None:
        """Let ``fn`` decide each reply; if there is no ``fn`` or it returns None, echo."""
        self._script = fn

    def then(self, *queued: Reply | Raw | Hang) -> None:
        """Send these replies to the next requests, one each."""
        self._queue.extend(queued)

    def clear(self) -> None:
        """Clear requests and script, keep the connections."""
        self.seen.clear()
        self._queue.clear()
        self._script = None

    def wait(self, predicate: Callable[[], bool]) -> None:
        """Block until an event of this provider makes the predicate true."""
        with self._changed:
            assert self._changed.wait_for(predicate, _WAIT_S), "the fake provider waited in vain"

    async def until(self, predicate: Callable[[], bool]) -> None:
        """Wait, without blocking the loop, until an event of this provider makes the predicate true."""
        await anyio.to_thread.run_sync(self.wait, predicate)

    async def requests(self, count: int = 1) -> list[Seen]:
        """Wait until ``count`` requests have arrived in total."""
        await self.until(lambda: len(self.seen) >= count)
        return self.seen

    async def hung_up(self, seen: Seen) -> float:
        """Wait until the client disconnects during a request; return the time (``time.monotonic``)."""
        await self.until(lambda: seen.hung_up_at is not None)
        assert seen.hung_up_at is not None
        return seen.hung_up_at

    def _run(self) -> None:
        with asyncio.Runner() as runner:
            self._loop = runner.get_loop()
            server = runner.run(self._listen())
            # From inside the running loop: a stop before ``run_forever`` would be lost.
            self._loop.call_soon(self._ready.set)
            try:
                self._loop.run_forever()
            finally:
                server.close()
                for connection in list(self._open):
                    connection.abort()
                runner.run(asyncio.sleep(0))

    async def _listen(self) -> asyncio.Server:
        loop = asyncio.get_running_loop()
        server = await loop.create_server(lambda: _Connection(self), "127.0.0.1", 0)
        self.port = server.sockets[0].getsockname()[1]
        return server

    def _record(self, seen: Seen) -> Reply | Raw | Hang:
        with self._changed:
            self.seen.append(seen)
            self._changed.notify_all()
        if self._queue:
            return self._queue.pop(0)
        scripted = self._script(seen) if self._script is not None else None
        return scripted if scripted is not None else replies.default(seen.method, seen.path, seen.query, seen.body)

    def _notify(self) -> None:
        with self._changed:
            self._changed.notify_all()


class _Connection(asyncio.Protocol):
    """One client connection; requests are answered in order."""

    def __init__(self, provider: FakeProvider) -> None:
        self._provider = provider
        self._buffer = b""
        self._current: Seen | None = None
        self._task: asyncio.Task[None] | None = None
        self._transport: asyncio.Transport | None = None
        self._number = 0
        self._is_writable = asyncio.Event()
        self._is_writable.set()

    def pause_writing(self) -> None:
        self._is_writable.clear()

    def resume_writing(self) -> None:
        self._is_writable.set()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport
        self._provider.connections += 1
        self._number = self._provider.connections
        self._provider._open.add(self)

    def data_received(self, data: bytes) -> None:
        self._buffer += data
        self._next()

    def connection_lost(self, exc: Exception | None) -> None:
        self._provider._open.discard(self)
        if self._current is not None and not self._current.answered:
            self._current.hung_up_at = time.monotonic()
        if self._task is not None:
            self._task.cancel()
        self._provider._notify()

    def abort(self) -> None:
        if self._transport is not None:
            self._transport.abort()

    def _next(self) -> None:
        if self._current is not None and not self._current.answered:
            return
        parsed = parse(self._buffer)
        if parsed == "more":
            return
        if parsed == "continue":
            self._write(b"HTTP/1.1 100 Continue\r\n\r\n")
            self._buffer = _without_expect(self._buffer)
            return
        seen, self._buffer = parsed
        seen.connection = self._number
        self._current = seen
        reply = self._provider._record(seen)
        self._task = asyncio.get_running_loop().create_task(self._answer(seen, reply))

    async def _answer(self, seen: Seen, reply: Reply | Raw | Hang) -> None:
        if isinstance(reply, Hang):
            return
        if isinstance(reply, Raw):
            await self._pieces(reply.pieces, "close")
            self._finish(seen, close=True, abort=reply.abort)
            return
        framing = _framing(seen, reply)
        pieces = () if seen.method == "HEAD" else reply.chunks
        if framing == "length":
            self._write(_head(reply, framing) + b"".join(one for one in pieces if isinstance(one, bytes)))
        else:
            self._write(_head(reply, framing))
            await self._pieces(pieces, framing)
        if framing == "chunked" and not reply.cut:
            self._write(b"0\r\n\r\n")
        wants_close = (seen.header("connection") or "").lower() == "close"
        self._finish(seen, close=reply.cut or framing == "close" or wants_close, abort=False)

    async def _pieces(self, pieces: Sequence[bytes | Gate], framing: str) -> None:
        for piece in pieces:
            if isinstance(piece, Gate):
                await piece.passed()
                continue
            await self._is_writable.wait()
            if framing == "chunked":
                if piece:
                    self._write(b"%x\r\n%s\r\n" % (len(piece), piece))
            else:
                self._write(piece)

    def _finish(self, seen: Seen, *, close: bool, abort: bool) -> None:
        if self._transport is not None and self._transport.is_closing():
            return  # the client disconnected, and the rest was not written
        seen.answered = True
        self._provider._notify()
        if self._transport is not None and abort:
            self._transport.abort()
        elif self._transport is not None and close:
            self._transport.close()
        else:
            self._next()

    def _write(self, data: bytes) -> None:
        if self._transport is not None and not self._transport.is_closing():
            self._transport.write(data)


def parse(buffer: bytes) -> tuple[Seen, bytes] | Literal["more", "continue"]:
    head, separator, rest = buffer.partition(b"\r\n\r\n")
    if not separator:
        return "more"
    first, *lines = head.decode("latin-1").split("\r\n")
    method, target, _ = first.split(" ", 2)
    headers = [(name, value.strip()) for name, _, value in (line.partition(":") for line in lines)]
    by_name = {name.lower(): value for name, value in headers}
    if by_name.get("expect", "").lower() == "100-continue" and not rest:
        return "continue"
    if "chunked" in by_name.get("transfer-encoding", "").lower():
        whole = _dechunked(rest)
        return "more" if whole is None else (Seen(method, target, headers, whole[0]), whole[1])
    length = int(by_name.get("content-length", "0"))
    if len(rest) < length:
        return "more"
    return Seen(method, target, headers, rest[:length]), rest[length:]


def _dechunked(rest: bytes) -> tuple[bytes, bytes] | None:
    body = b""
    while True:
        line, separator, after = rest.partition(b"\r\n")
        if not separator:
            return None
        size = int(line.split(b";")[0], 16)
        if len(after) < size + 2:
            return None
        if size == 0:
            return body, after[2:]
        body, rest = body + after[:size], after[size + 2 :]


def _without_expect(buffer: bytes) -> bytes:
    lines = buffer.split(b"\r\n")
    return b"\r\n".join(line for line in lines if not line.lower().startswith(b"expect:"))


def _framing(seen: Seen, reply: Reply) -> str:
    named = {name.lower() for name, _ in reply.headers}
    if reply.framing != "auto":
        return reply.framing
    if "content-length" in named or seen.method == "HEAD" or reply.status in (204, 304):
        return "given"
    is_whole = not reply.cut and len(reply.chunks) <= 1 and not any(isinstance(one, Gate) for one in reply.chunks)
    return "length" if is_whole else "chunked"


def _head(reply: Reply, framing: str) -> bytes:
    lines = [f"HTTP/1.1 {reply.status} {reply.reason}", *(f"{name}: {value}" for name, value in reply.headers)]
    if framing == "chunked":
        lines.append("Transfer-Encoding: chunked")
    elif framing == "length":
        lines.append(f"Content-Length: {sum(len(one) for one in reply.chunks if isinstance(one, bytes))}")
    elif framing == "close":
        lines.append("Connection: close")
    return ("\r\n".join(lines) + "\r\n\r\n").encode("latin-1")

"""A byte relay between a client and a server that records both directions, so that requests can be compared."""

from __future__ import annotations

import asyncio
import http.client
import io
import threading
from contextlib import suppress
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any

from proxy.api.coding import plain
from tests.fakes.provider import Seen, parse

_START_S = 10.0
_PIECE_BYTES = 65_536
_MAX_BYTES = 100_000_000


@dataclass(frozen=True)
class Exchange:
    """One request of the client and the response's head; ``place`` is its connection and its position there."""

    place: tuple[int, int]
    request: Seen
    status: int
    headers: dict[str, str]

    @property
    def body(self) -> bytes:
        """Decoded body of the request."""
        return decoded(self.request)


@dataclass(eq=False)
class _Line:
    """Bytes of one connection."""

    sent: bytearray = field(default_factory=bytearray)
    received: bytearray = field(default_factory=bytearray)


class Tap:
    """Listener on a free port that relays all bytes to ``port``; ``with Tap(port) as tap``."""

    def __init__(self, port: int) -> None:
        self._target = port
        self._lines: list[_Line] = []
        self._ready = threading.Event()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._stop = asyncio.Event()
        self._relays: list[asyncio.Task[Any]] = []
        self._writers: list[asyncio.StreamWriter] = []
        self._thread = threading.Thread(target=self._run, name="tap", daemon=True)
        self.port = 0

    @property
    def origin(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def __enter__(self) -> Tap:
        self._thread.start()
        assert self._ready.wait(_START_S)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        assert self._loop is not None
        self._loop.call_soon_threadsafe(self._stop.set)
        self._thread.join(_START_S)

    def exchanges(self) -> list[Exchange]:
        """Return the requests and responses so far, by connection."""
        return [exchange for number, line in enumerate(list(self._lines)) for exchange in _exchanges(number, line)]

    def _run(self) -> None:
        asyncio.run(self._serve())

    async def _serve(self) -> None:
        self._loop = asyncio.get_running_loop()
        server = await asyncio.start_server(self._relay, "127.0.0.1", 0)
        self.port = server.sockets[0].getsockname()[1]
        self._ready.set()
        async with server:
            await self._stop.wait()
        for writer in self._writers:
            writer.transport.abort()
        await asyncio.gather(*self._relays, return_exceptions=True)

    async def _relay(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        line, task = _Line(), asyncio.current_task()
        assert task is not None
        self._relays.append(task)
        self._lines.append(line)
        from_server, to_server = await asyncio.open_connection("127.0.0.1", self._target)
        self._writers += [writer, to_server]
        await asyncio.gather(_pump(reader, to_server, line.sent), _pump(from_server, writer, line.received))


def decoded(seen: Seen) -> bytes:
    """Return the body of a request without its content encoding."""
    return plain(seen.body, [(name.lower(), value) for name, value in seen.headers], limit=_MAX_BYTES)[0]


async def _pump(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, kept: bytearray) -> None:
    with suppress(OSError):
        while piece := await reader.read(_PIECE_BYTES):
            kept += piece
            writer.write(piece)
            await writer.drain()
    with suppress(OSError):
        writer.close()


def _exchanges(number: int, line: _Line) -> list[Exchange]:
    found: list[Exchange] = []
    rest, answers = bytes(line.sent), _Answers(bytes(line.received))
    while rest:
        parsed = parse(rest)
        if isinstance(parsed, str):
            break
        seen, rest = parsed
        status, headers = answers.read(seen.method)
        found.append(Exchange((number, len(found)), seen, status, headers))
        if status == http.client.SWITCHING_PROTOCOLS:
            break
    return found


class _Answers:
    """The responses of one connection, in order, as a socket that ``http.client`` reads."""

    def __init__(self, received: bytes) -> None:
        self._stream = _Endless(received)

    def makefile(self, mode: str) -> io.BytesIO:
        return self._stream

    def read(self, method: str) -> tuple[int, dict[str, str]]:
        """Return status and headers by lower-case name; status 0 if there was no response."""
        response = http.client.HTTPResponse(self, method=method)  # type: ignore[arg-type]
        try:
            response.begin()
            headers = {name.lower(): value for name, value in response.getheaders()}
            response.read()
        except http.client.IncompleteRead:
            pass  # the client has disconnected by its own choice
        except (http.client.HTTPException, ValueError):
            return 0, {}
        return response.status, headers


class _Endless(io.BytesIO):
    """Stream that stays open for the next response."""

    def close(self) -> None:
        """Stay open."""

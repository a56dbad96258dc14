"""Server under test in a child process, and the scripted upstream."""

from __future__ import annotations

import asyncio
import json
import os
import re
import socket
import sys
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import aiohttp
from aiohttp import web

from proxy.errors import ProxyError

REQUEST_ID = "x-client-request-id"  # a header of ordinary clients, so that the server cannot detect the eval
NEUTRAL_REPLY = "Okay."
_MAX_BODY = 256 * 2**20
_START_S = 120.0
_STOP_S = 20.0
_LOOK_S = 0.1
_PROCESSES = Path("/proc")


class ServerDidNotStart(ProxyError):
    """The server under test exited, or was not ready in time."""

    code = "server_did_not_start"


@asynccontextmanager
async def served(upstream_url: str, config: Path | None = None) -> AsyncIterator[tuple[str, int]]:
    """Run ``throughline serve`` on a free port with an empty data folder; yield its URL and process id.

    Args:
        upstream_url: Upstream of every request.
        config: Settings to measure; None for the defaults.

    Raises:
        ServerDidNotStart: If it fails to start, with its last lines of output.
    """
    port = free_port()
    with tempfile.TemporaryDirectory(prefix="throughline-eval-") as folder:
        log = Path(folder) / "server.log"
        command = [sys.executable, "-m", "proxy", "serve", "--host", "127.0.0.1", "--port", str(port)]
        command += ["--data-dir", str(Path(folder) / "data"), "--upstream", upstream_url]
        command += ["--config", str(config)] if config else []
        with log.open("wb") as output:
            process = await asyncio.create_subprocess_exec(
                *command, stdin=asyncio.subprocess.DEVNULL, stdout=output, stderr=output
            )
        try:
            await _ready(process, f"http://127.0.0.1:{port}", log)
            yield f"http://127.0.0.1:{port}", process.pid
        finally:
            await _stop(process)


def free_port() -> int:
    """Return an unused TCP port of the loopback address."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def cpu_s(pid: int) -> float | None:
    """Return the user and system CPU seconds of a process with its children; None without ``/proc``."""
    ticks: dict[int, int] = {}
    parents: dict[int, int] = {}
    for entry in _PROCESSES.glob("[0-9]*/stat"):
        try:
            fields = entry.read_text().rpartition(")")[2].split()
        except OSError:  # ended meanwhile
            continue
        parents[int(entry.parent.name)] = int(fields[1])
        ticks[int(entry.parent.name)] = sum(map(int, fields[11:15]))  # of the process, and of its ended children
    family = {pid}
    while more := {child for child, parent in parents.items() if parent in family} - family:
        family |= more
    return sum(ticks[one] for one in family) / os.sysconf("SC_CLK_TCK") if pid in ticks else None


async def _ready(process: asyncio.subprocess.Process, url: str, log: Path) -> None:
    loop = asyncio.get_running_loop()
    deadline = loop.time() + _START_S
    async with aiohttp.ClientSession() as client:
        while loop.time() < deadline and process.returncode is None:
            if await _answers(client, f"{url}/readyz"):
                return
            await asyncio.sleep(_LOOK_S)
    said = "\n".join(log.read_text(errors="replace").splitlines()[-20:])  # noqa: ASYNC240 - a few lines, once
    raise ServerDidNotStart(f"`throughline serve` was not ready after {_START_S:.0f} s. It said:\n{said}")


async def _answers(client: aiohttp.ClientSession, url: str) -> bool:
    try:
        async with client.get(url) as response:
            return response.status == 200
    except aiohttp.ClientError:
        return False


async def _stop(process: asyncio.subprocess.Process) -> None:
    if process.returncode is not None:
        return
    process.terminate()
    try:
        await asyncio.wait_for(process.wait(), _STOP_S)
    except TimeoutError:
        process.kill()
        await process.wait()


class ScriptedUpstream:
    """OpenAI-compatible server in this process that finds replies by the client's request id."""

    def __init__(self, port: int = 0) -> None:
        self._port = port
        self._replies: dict[str, str] = {}
        self._received: dict[str, list[dict[str, Any]]] = {}
        self._runner: web.AppRunner | None = None

    @property
    def url(self) -> str:
        """Base URL for ``throughline serve --upstream``."""
        return f"http://127.0.0.1:{self._port}/v1"

    def expect(self, request_id: str, reply: str) -> None:
        """Set the reply to a request before it arrives."""
        self._replies[request_id] = reply

    def take(self, request_id: str) -> list[dict[str, Any]] | None:
        """Return and remove the received messages of a request, None if it did not arrive."""
        return self._received.pop(request_id, None)

    async def __aenter__(self) -> Self:
        """Start listening."""
        app = web.Application(client_max_size=_MAX_BODY)
        app.router.add_post("/v1/chat/completions", self._complete)
        app.router.add_get("/v1/models", _models)
        self._runner = web.AppRunner(app, access_log=None)
        await self._runner.setup()
        site = web.TCPSite(self._runner, "127.0.0.1", self._port)
        await site.start()
        self._port = self._runner.addresses[0][1]
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Stop listening."""
        if self._runner is not None:
            await self._runner.cleanup()

    async def _complete(self, request: web.Request) -> web.Response:
        body = json.loads(await request.read())
        request_id = request.headers.get(REQUEST_ID, "")
        self._received[request_id] = body["messages"]
        reply = self._replies.pop(request_id, NEUTRAL_REPLY)
        model = body.get("model", "scripted")
        if body.get("stream"):
            return web.Response(text=_stream(reply, model), content_type="text/event-stream")
        return web.json_response(_completion(reply, model))


async def _models(_: web.Request) -> web.Response:
    return web.json_response({"object": "list", "data": [{"id": "scripted", "object": "model", "owned_by": "eval"}]})


def _completion(reply: str, model: str) -> dict[str, Any]:
    message = {"role": "assistant", "content": reply, "refusal": None}
    return {
        "id": "chatcmpl-eval",
        "object": "chat.completion",
        "created": 1_700_000_000,
        "model": model,
        "choices": [{"index": 0, "message": message, "logprobs": None, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": 0, "completion_tokens": 0, "total_tokens": 0},
    }


def _stream(reply: str, model: str) -> str:
    """Return the events of a streamed reply, one word per event."""
    common = {"id": "chatcmpl-eval", "object": "chat.completion.chunk", "created": 1_700_000_000, "model": model}
    deltas = [{"role": "assistant", "content": ""}, *({"content": word} for word in re.findall(r"\S+\s*", reply)), {}]
    events = []
    for delta in deltas:
        choice = {"index": 0, "delta": delta, "finish_reason": None if delta else "stop"}
        events.append(json.dumps({**common, "choices": [choice]}))
    return "".join(f"data: {event}\n\n" for event in [*events, "[DONE]"])

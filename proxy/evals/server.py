"""Starts Throughline as users do, in a process and a folder of its own."""

from __future__ import annotations

import asyncio
import socket
import sys
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import aiohttp

from proxy.errors import ProxyError

_START_S = 120.0
_STOP_S = 20.0
_LOOK_S = 0.1


class ServerDidNotStart(ProxyError):
    """The server under test ended, or was not ready in time."""

    code = "server_did_not_start"


@asynccontextmanager
async def served(upstream_url: str, config: Path | None = None) -> AsyncIterator[str]:
    """Run ``throughline serve`` on a free port with an empty data folder; yields its address.

    Args:
        upstream_url: Where the server sends every request.
        config: The settings to measure; without one the defaults.

    Raises:
        ServerDidNotStart: With the last lines that it printed.
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
            yield f"http://127.0.0.1:{port}"
        finally:
            await _stop(process)


def free_port() -> int:
    """Return a TCP port of the loopback address that nobody listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


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

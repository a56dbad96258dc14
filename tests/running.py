"""The real application behind a real uvicorn on a free port, in a thread of its own."""

from __future__ import annotations

import asyncio
import functools
import socket
import threading
import time
from collections.abc import Callable, Coroutine
from contextlib import ExitStack
from datetime import datetime, timedelta
from pathlib import Path
from types import TracebackType
from typing import Any, TypeVar

import anthropic
import httpx
import uvicorn
from openai import DefaultHttpxClient, OpenAI

from proxy.app import create_app
from proxy.clock import Clock
from proxy.memory.vectors.minilm import MODELS, MiniLM
from proxy.process.connection import Connection
from proxy.process.pace import Pace
from proxy.services import Services
from proxy.settings.load import Settings, load_settings

T = TypeVar("T")

_load, _load_builtin = MiniLM.load, functools.cache(MiniLM.load)


def _load_once(folder: Path = MODELS, **how: Any) -> MiniLM:
    """Load a model; the built-in one once a process, which is half of what a start takes."""
    return (_load_builtin if folder == MODELS else _load)(folder, **how)


MiniLM.load = _load_once  # type: ignore[method-assign,assignment]

WAIT_S = 60.0
_PAUSE_S, _LOOKS = 0.01, 10
TLS = (
    httpx.create_ssl_context()
)  # made once: to read the system's certificates takes each client longer than most tests
QUICK = Pace(gather_s=0.005, learn_s=0.02)
PATIENT = {"deadline_ms": 10_000}  # so that what is injected does not hang on how busy the machine is


class Ahead(Clock):
    """The clock of this machine, some time ahead."""

    def __init__(self, by: timedelta = timedelta()) -> None:
        self.by = by

    def now(self) -> datetime:
        return super().now() + self.by

    def advance(self, by: timedelta) -> None:
        self.by += by


class _Server(uvicorn.Server):
    """Ends as soon as it is told to; uvicorn looks ten times a second."""

    async def main_loop(self) -> None:
        self._loop, self._is_over = asyncio.get_running_loop(), asyncio.Event()
        await self.on_tick(0)
        await self._is_over.wait()

    def end(self) -> None:
        self.should_exit = True
        self._loop.call_soon_threadsafe(self._is_over.set)


class Running:
    """A running Throughline; ``with Running(...) as server`` starts it and waits until it is ready."""

    def __init__(
        self,
        data_dir: Path,
        *,
        upstream: str | dict[str, Any] | None = None,
        wait: bool = True,
        models: list[dict[str, Any]] | None = None,
        clock: Clock | None = None,
        pace: Pace = QUICK,
        **sections: dict[str, Any],
    ) -> None:
        flags: dict[str, Any] = {
            "server": {"data_dir": data_dir, "port": 0},
            "upstream": upstream if isinstance(upstream, dict) else {"url": upstream},
            "telemetry": {"log_level": "error"},
            "memory": PATIENT,
        }
        for name, values in sections.items():
            flags[name] = {**flags.get(name, {}), **values}
        self.settings: Settings = load_settings(flags={**flags, "model_list": models or []})
        self._wait = wait
        self._app = create_app(self.settings, clock=clock, pace=pace)
        self._socket = socket.socket(proto=socket.IPPROTO_TCP)  # for asyncio to set TCP_NODELAY: else 40 ms a reply
        self._socket.bind(("127.0.0.1", 0))
        self.origin = f"http://127.0.0.1:{self.port}"
        self.base_url = f"{self.origin}/v1"
        config = uvicorn.Config(
            self._app,
            http=Connection,
            log_config=None,
            access_log=False,
            timeout_graceful_shutdown=5,
            date_header=False,
            server_header=False,
        )
        self._server = _Server(config)
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._clients = ExitStack()

    @property
    def port(self) -> int:
        port: int = self._socket.getsockname()[1]
        return port

    @property
    def services(self) -> Services:
        services: Services = self._app.state.services
        return services

    def __enter__(self) -> Running:
        self._thread.start()
        deadline = time.monotonic() + WAIT_S
        while not self._server.started:
            assert self._thread.is_alive(), "the server did not start"
            assert time.monotonic() < deadline
            time.sleep(0.01)
        if self._wait:
            self.wait_ready()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._clients.close()
        self._server.end()
        self._thread.join(WAIT_S)
        self._socket.close()

    def wait_ready(self) -> None:
        deadline = time.monotonic() + WAIT_S
        while not self.services.is_ready:
            assert time.monotonic() < deadline, "the server did not become ready"
            time.sleep(0.005)

    def client(self, key: str = "sk-test-alice", **headers: str) -> OpenAI:
        """A client that is closed with the server, if not before."""
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        client = OpenAI(
            base_url=self.base_url,
            api_key=key,
            default_headers=named,
            max_retries=0,
            timeout=WAIT_S,
            http_client=DefaultHttpxClient(verify=TLS),
        )
        self._clients.callback(client.close)
        return client

    def anthropic(self, key: str = "sk-test-alice", **headers: str) -> anthropic.Anthropic:
        """The same for Anthropic's wire."""
        client = anthropic.Anthropic(
            base_url=self.origin,
            api_key=key,
            default_headers={name.replace("_", "-"): value for name, value in headers.items()},
            max_retries=0,
            timeout=WAIT_S,
            http_client=anthropic.DefaultHttpxClient(verify=TLS),
        )
        self._clients.callback(client.close)
        return client

    def http(self, key: str = "sk-test-alice", **headers: str) -> httpx.Client:
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        headers = {"authorization": f"Bearer {key}", **named}
        client = httpx.Client(base_url=self.base_url, headers=headers, timeout=WAIT_S, verify=TLS)
        self._clients.callback(client.close)
        return client

    def wait_learned(self, key: str = "sk-test-alice", **headers: str) -> None:
        """Wait until every turn of the scope is indexed and learned from."""
        deadline = time.monotonic() + WAIT_S
        with self.http(key, **headers) as http:
            while (state := http.get("/state").json())["pending_turns"]:
                assert time.monotonic() < deadline, state
                self.call(self._wait_worked_off)

    def call(self, function: Callable[..., Coroutine[Any, Any, T]], *args: Any) -> T:
        """Run a coroutine on the server's own loop."""
        assert self._loop is not None
        return asyncio.run_coroutine_threadsafe(function(*args), self._loop).result(WAIT_S)

    async def _wait_worked_off(self) -> None:
        """Return once no turn of any user is open, or after a moment; ``/state`` costs ten times as much."""
        for _ in range(_LOOKS):
            await asyncio.sleep(_PAUSE_S)
            open_turns = [await part.journal.depth() for part in self.services.both()]
            if not any(turns["index"] or turns["learn"] for turns in open_turns):
                return

    def _run(self) -> None:
        async def serve() -> None:
            self._loop = asyncio.get_running_loop()
            await self._server.serve(sockets=[self._socket])

        asyncio.run(serve())

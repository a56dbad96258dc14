"""``/mcp``: the MCP server over streamable HTTP, loaded on first use."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

from starlette.types import ASGIApp, Receive, Scope, Send

from proxy.api.asgi import client, headers_of
from proxy.api.caller import scope_of_caller
from proxy.pipeline.admission import identity_of
from proxy.process.threads import in_thread
from proxy.services import Services
from proxy.upstream.headers import KEY_HEADERS

if TYPE_CHECKING:
    import httpx
    from mcp.server.streamable_http_manager import StreamableHTTPSessionManager

_CARRIED = KEY_HEADERS | {"host", "origin"}  # the key, and the origin
_NAMES = ("x-memory-", "x-openwebui-", "x-sm-")  # prefixes of headers that name a user


class Endpoint:
    """ASGI application of ``/mcp``, with the keys and scopes of the chat.

    Args:
        app: The whole application, whose memory API the tools call.
    """

    def __init__(self, app: ASGIApp, services: Services) -> None:
        self._app, self._services = app, services
        self._api: httpx.AsyncClient | None = None
        self._loading = asyncio.Lock()
        self._manager: StreamableHTTPSessionManager | None = None
        self._running: asyncio.Task[None] | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one MCP request.

        Raises:
            Unauthorized: If the request identifies no user.
        """
        pairs = headers_of(scope)
        await scope_of_caller(await identity_of(pairs, self._services), pairs, self._services)
        manager = await self._started()
        await manager.asgi_app(scope, receive, send)

    async def _started(self) -> StreamableHTTPSessionManager:
        async with self._loading:
            if self._manager is None:
                manager = await in_thread("load", self._load)
                is_running = asyncio.Event()
                # The task that enters its task group must also leave it; no shutdown waits for it.
                self._running = asyncio.create_task(_run(manager, is_running), name="mcp")  # noqa: TID251
                await is_running.wait()
                self._manager = manager
        return self._manager

    def _load(self) -> StreamableHTTPSessionManager:
        from mcp.server.transport_security import TransportSecuritySettings  # noqa: PLC0415 - 50 MB that few need

        from proxy.api.mcp.tools import memory_server  # noqa: PLC0415 - the same

        self._api = client(self._app)
        server = memory_server(self._ask, version("throughline"))
        # Other sites' pages and foreign host names are refused by their key, as on every path.
        security = TransportSecuritySettings(enable_dns_rebinding_protection=False)
        server.streamable_http_app(json_response=True, stateless_http=True, transport_security=security)
        return server.session_manager

    async def _ask(
        self, method: str, path: str, body: dict[str, Any] | None, headers: Mapping[str, str]
    ) -> tuple[int, dict[str, Any]]:
        carried = [
            (name.encode(), value.encode("latin-1"))
            for name, value in headers.items()
            if name in _CARRIED or name.startswith(_NAMES)
        ]
        assert self._api is not None  # set before its server runs
        answer = await self._api.request(method, path, json=body, headers=carried)
        return answer.status_code, answer.json()


async def _run(manager: StreamableHTTPSessionManager, is_running: asyncio.Event) -> None:
    async with manager.run():
        is_running.set()
        await asyncio.Event().wait()

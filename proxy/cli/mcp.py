"""``throughline mcp``: memory of a running server for MCP clients that use stdio."""

from __future__ import annotations

import os
from collections.abc import Mapping
from importlib.metadata import version
from typing import Annotated, Any

import httpx
import typer

from proxy.errors import ConfigError

app = typer.Typer(add_completion=False)

_TIMEOUT_S = 30.0


@app.command()
def mcp(
    url: Annotated[
        str, typer.Option(envvar="THROUGHLINE_URL", help="A running Throughline.")
    ] = "http://127.0.0.1:8787",
    key: Annotated[
        str, typer.Option(envvar="THROUGHLINE_API_KEY", help="The key that the chat uses; a placeholder on loopback.")
    ] = "no-key",
    user: Annotated[str, typer.Option(envvar="THROUGHLINE_USER", help="Whose memory, where the key may say so.")] = "",
    project: Annotated[str, typer.Option(help="Project whose memories are seen beside the general ones.")] = "",
) -> None:
    """Serve recall, remember, forget, undo and list_memories to an MCP client over stdio."""
    from proxy.api.mcp.tools import memory_server  # noqa: PLC0415 - half a second that no other command needs

    named = {"x-memory-user": user, "x-memory-project": project}
    headers = [(b"authorization", f"Bearer {key}".encode())]
    headers += [(name.encode(), value.encode()) for name, value in named.items() if value]
    base_url = httpx.URL(url.rstrip("/").removesuffix("/v1"))
    if base_url.scheme not in ("http", "https"):
        raise ConfigError(f"--url is {url!r}; it must begin with http:// or https://.")
    api = httpx.AsyncClient(base_url=base_url, headers=headers, timeout=_TIMEOUT_S)

    async def ask(
        method: str, path: str, body: dict[str, Any] | None, own: Mapping[str, str]
    ) -> tuple[int, dict[str, Any]]:
        try:
            sent = [(name.encode(), value.encode("latin-1")) for name, value in own.items()]
            answer = await api.request(method, path, json=body, headers=sent)
            return answer.status_code, answer.json()
        except (httpx.HTTPError, ValueError) as error:
            told = f"There is no Throughline at {base_url}: {error}. Start it with `throughline serve`."
            return httpx.codes.BAD_GATEWAY, {"error": {"message": told}}

    try:
        memory_server(ask, version("throughline")).run("stdio")
    except* BrokenPipeError:
        os._exit(0)  # the client closed the pipe, and interpreter shutdown would write to it again

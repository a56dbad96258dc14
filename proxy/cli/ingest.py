"""``throughline ingest``: upload of files to a running server, with a progress bar for each."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import aiohttp
import typer

app = typer.Typer()

_BASE_URL = "http://127.0.0.1:8787/v1"
_POLL_S = 0.25
_BAR = 28
_TIMEOUT_S = 600.0

Files = Annotated[list[Path], typer.Argument(help="Files, or folders with all files in them.", exists=True)]
BaseUrl = Annotated[str, typer.Option("--base-url", help="Of the running server.")]
Key = Annotated[
    str, typer.Option("--key", envvar="OPENAI_API_KEY", help="The key of your chat requests.", show_default=False)
]
User = Annotated[str, typer.Option("--user", help="Whose memory, where the key may name users.")]


class _Failed(Exception):
    """An upload failed; the message is the reason."""


@dataclass(frozen=True, slots=True)
class _Server:
    """Server that gets the files."""

    http: aiohttp.ClientSession
    base_url: str

    async def add(self, path: Path) -> dict[str, Any]:
        """Upload a file and return its document or image, which may still be processing."""
        form = aiohttp.FormData()
        form.add_field("file", await asyncio.to_thread(path.read_bytes), filename=path.name)
        return await self._answer(self.http.post(f"{self.base_url}/documents", data=form))

    async def get(self, noun: str, media_id: str) -> dict[str, Any]:
        """Return a document or image with its progress."""
        return await self._answer(self.http.get(f"{self.base_url}/{noun}s/{media_id}"))

    async def _answer(self, asked: Any) -> dict[str, Any]:
        try:
            async with asked as response:
                body = await response.json(content_type=None)
        except (aiohttp.ClientError, ValueError, TimeoutError) as error:
            raise _Failed(f"no answer from {self.base_url} ({type(error).__name__}); is the server running?") from error
        if not isinstance(body, dict) or response.status >= 400:
            told = body.get("error") if isinstance(body, dict) else None
            raise _Failed(str(told.get("message")) if isinstance(told, dict) else f"HTTP {response.status}")
        return body


@app.command()
def ingest(files: Files, base_url: BaseUrl = _BASE_URL, key: Key = "no-key", user: User = "") -> None:
    """Give files to a running server to be remembered: PDF, Word, slides, sheets, web pages, text, images."""
    if not asyncio.run(_ingest(list(_all(files)), base_url.rstrip("/"), key, user)):
        raise typer.Exit(1)


async def _ingest(paths: Sequence[Path], base_url: str, key: str, user: str) -> bool:
    headers = {"authorization": f"Bearer {key}", **({"x-memory-user": user} if user else {})}
    timeout = aiohttp.ClientTimeout(total=_TIMEOUT_S)
    is_fine = True
    async with aiohttp.ClientSession(headers=headers, timeout=timeout) as http:
        server = _Server(http, base_url)
        for path in paths:
            try:
                outcome = _outcome(await _one(server, path))
            except _Failed as failed:
                outcome = f"failed: {failed}"
            is_fine &= not outcome.startswith("failed")
            _clear()
            print(f"{path.name}  {outcome}", flush=True)
    return is_fine


async def _one(server: _Server, path: Path) -> dict[str, Any]:
    item = await server.add(path)
    while item["status"] == "processing":
        _bar(path.name, item["fraction"])
        await asyncio.sleep(_POLL_S)
        item = await server.get(item["object"], item["id"])
    return item


def _outcome(item: dict[str, Any]) -> str:
    if item["status"] == "failed":
        return f"failed: {item['error']}"
    if item["object"] == "image":
        said = f"{len((item['ocr_text'] or '').split())} words in it" if item["ocr_text"] else "no text in it"
        return f"ready: {item['width']}×{item['height']}, {said}  {item['id']}"
    notes = "".join(f"; {note}" for note in item["notes"])
    return f"ready: {item['pages']} pages, {item['chunks']} passages{notes}  {item['id']}"


def _all(paths: Sequence[Path]) -> Iterator[Path]:
    for path in paths:
        if path.is_dir():
            yield from sorted(one for one in path.rglob("*") if one.is_file() and not one.name.startswith("."))
        else:
            yield path


def _bar(name: str, fraction: float) -> None:
    if sys.stderr.isatty():
        done = round(_BAR * fraction)
        bar = f"{'#' * done}{'-' * (_BAR - done)}"
        print(f"\r\033[K{name[:40]}  [{bar}] {fraction:4.0%}", end="", file=sys.stderr, flush=True)


def _clear() -> None:
    if sys.stderr.isatty():
        print("\r\033[K", end="", file=sys.stderr, flush=True)

"""Asks our own API in this process, as a client would: the same keys, scopes and errors."""

from __future__ import annotations

from typing import TYPE_CHECKING

from starlette.types import ASGIApp

if TYPE_CHECKING:
    import httpx


def client(app: ASGIApp) -> httpx.AsyncClient:
    """Return a client of the application, whose requests go over no socket."""
    import httpx  # noqa: PLC0415 - 8 MB that few servers need

    return httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://localhost")

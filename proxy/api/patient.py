"""Routes that read memory wait for damaged tables to be mended, and then read once more."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any

from fastapi import Request, Response
from fastapi.routing import APIRoute

from proxy.api.caller import services_of
from proxy.errors import StoreUnavailable

_MAX_WAIT_S = 10.0


class PatientRoute(APIRoute):
    """A route whose reading requests are tried a second time, where the first met a table that is being mended."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """Return the handler."""
        handle = super().get_route_handler()

        async def patient(request: Request) -> Response:
            try:
                return await handle(request)
            except StoreUnavailable:
                is_whole = services_of(request).is_whole
                is_reading = request.method == "GET" or request.url.path.endswith("/search")
                if is_whole.is_set() or not is_reading:
                    raise
                try:
                    async with asyncio.timeout(_MAX_WAIT_S):
                        await is_whole.wait()
                except TimeoutError:
                    raise StoreUnavailable("this memory is being mended; try again shortly") from None
                return await handle(request)

        return patient

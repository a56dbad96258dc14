"""Every other ``/v1/*`` path: to the provider and back, untouched."""

from __future__ import annotations

from collections.abc import AsyncIterator

import orjson

from proxy.api.asgi import (
    ClientGone,
    Receive,
    Scope,
    Send,
    body_chunks,
    headers_of,
    read_body,
    send_chunk,
    send_end,
    send_error,
    send_head,
    send_whole,
    until_hang_up,
)
from proxy.errors import BodyTooLarge, NotFound, ProxyError
from proxy.pipeline.identify import identity_of
from proxy.services import Services
from proxy.upstream.base import Target, UpstreamRequest
from proxy.upstream.headers import client_key, find

_WITH_MODEL = (
    "/embeddings",
    "/completions",
    "/moderations",
    "/responses",
    "/images/generations",
    "/audio/speech",
    "/rerank",
)


class Passthrough:
    """The catch-all endpoint."""

    def __init__(self, services: Services) -> None:
        self._services = services

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        headers = headers_of(scope)
        path = (scope.get("raw_path") or scope["path"].encode()).decode("latin-1").partition("?")[0].removeprefix("/v1")
        try:
            await identity_of(headers, self._services)
            body: bytes | AsyncIterator[bytes]
            if path in _WITH_MODEL:
                body = await read_body(receive, limit=self._limit)
                target = self._by_model(body, headers)
            else:
                target = self._services.routes.default(client_key(headers))
                body = self._counted(receive)
            if target is None:
                await self._unserved(scope, path, send)
                return
            request = UpstreamRequest(
                scope["method"], path, scope["query_string"].decode("latin-1"), headers, await self._whole(scope, body)
            )
            await until_hang_up(receive, lambda: _relay(request, target, send))
        except ClientGone:
            return
        except ProxyError as error:
            await send_error(send, error, [])

    @property
    def _limit(self) -> int:
        return self._services.settings.server.max_body_bytes

    def _by_model(self, body: bytes, headers: list[tuple[str, str]]) -> Target | None:
        try:
            model = orjson.loads(body).get("model")
        except (orjson.JSONDecodeError, AttributeError):
            model = None
        key = client_key(headers)
        if isinstance(model, str) and model:
            target = self._services.routes.resolve(model, key)
            return target if target.upstream is self._services.routes.wire else self._services.routes.default(key)
        return self._services.routes.default(key)

    async def _whole(self, scope: Scope, body: bytes | AsyncIterator[bytes]) -> bytes:
        """Collect the body before the watch for hang-ups takes over ``receive``."""
        if isinstance(body, bytes):
            return body
        return b"".join([chunk async for chunk in body])

    async def _counted(self, receive: Receive) -> AsyncIterator[bytes]:
        size = 0
        async for chunk in body_chunks(receive):
            size += len(chunk)
            if size > self._limit:
                raise BodyTooLarge(
                    f"The request body has more than {self._limit} bytes, the limit server.max_body_bytes."
                )
            yield chunk

    async def _unserved(self, scope: Scope, path: str, send: Send) -> None:
        """Without a provider, only the list of models can be answered."""
        names = self._services.routes.models()
        if scope["method"] == "GET" and path == "/models":
            listed = [{"id": name, "object": "model", "created": 0, "owned_by": "throughline"} for name in names]
            body = orjson.dumps({"object": "list", "data": listed})
            await send_whole(send, 200, [("content-type", "application/json")], body)
            return
        name = path.removeprefix("/models/")
        if scope["method"] == "GET" and path.startswith("/models/") and name in names:
            body = orjson.dumps({"id": name, "object": "model", "created": 0, "owned_by": "throughline"})
            await send_whole(send, 200, [("content-type", "application/json")], body)
            return
        raise NotFound(
            f"No provider is configured that could answer {scope['method']} /v1{path[:120]}. Set OPENAI_API_KEY or "
            "OPENAI_BASE_URL, or start with --upstream URL."
        )


async def _relay(request: UpstreamRequest, target: Target, send: Send) -> None:
    started = False
    try:
        response = await target.upstream.send(request, target)
        try:
            headers = list(response.headers)
            await send_head(
                send,
                response.status,
                [*headers, *([] if find(headers, "x-memory") else [("X-Memory", "off; n=0; tokens=0")])],
            )
            started = True
            async for chunk in response.chunks():
                await send_chunk(send, chunk)
            await send_end(send)
        finally:
            await response.aclose()
    except ProxyError:
        if not started:
            raise

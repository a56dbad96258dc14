"""Every other ``/v1/*`` path: to the provider and back, untouched."""

from __future__ import annotations

import re
from urllib.parse import unquote

import orjson

from proxy.api.asgi import (
    ClientGone,
    Receive,
    Scope,
    Send,
    headers_of,
    read_body,
    send_end,
    send_error,
    send_head,
    send_whole,
    until_hang_up,
)
from proxy.api.heartbeat import Heartbeat
from proxy.dialects import chat
from proxy.errors import Forbidden, NotFound, ProxyError
from proxy.pipeline.affinity import opening_of
from proxy.pipeline.identify import identity_of
from proxy.services import Services
from proxy.upstream.base import Target, UpstreamRequest
from proxy.upstream.failover import Make, Plan, Try
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

# What is said to our memory must not go to a provider because the method is wrong, or because we cannot take it yet.
_OURS = frozenset({"memories", "receipts", "sessions", "state"})
_OURS_LATER = frozenset({"agents", "documents", "erase", "export", "import", "reviews", "tasks"})
_IMAGE_MODELS = frozenset({"generations", "edits", "variations"})

# What leaves nothing in the account that asks; the rest of it is not for every key that the operator hands out.
_STATELESS = frozenset(
    {
        "/embeddings",
        "/completions",
        "/moderations",
        "/rerank",
        "/audio/speech",
        "/audio/transcriptions",
        "/audio/translations",
        "/images/generations",
        "/images/edits",
        "/images/variations",
    }
)

# The provider's other paths are none of the client's business where the key is the operator's.
_CLIMBS = re.compile(r"(?:^|/|%2f)(?:\.|%2e){1,2}(?:/|%2f|$)", re.IGNORECASE)


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
            body = await read_body(receive)
            if _CLIMBS.search(path):
                raise NotFound("There is nothing at a path with dot segments.")
            _refuse_ours(scope["method"], path)
            model = _model_of(body) if path in _WITH_MODEL else ""
            plan = self._plan(model, client_key(headers), body)
            if plan is None:
                await self._unserved(scope, path, send)
                return
            self._refuse_account(scope["method"], path)
            query = scope["query_string"].decode("latin-1")

            def make(target: Target) -> UpstreamRequest:
                renamed = bool(model) and target.model is not None and target.model != model
                sent = chat.replace_model(body, target.model or model) if renamed else body
                return UpstreamRequest(scope["method"], path, query, headers, sent)

            await until_hang_up(receive, lambda: self._relay(plan, make, send))
        except ClientGone:
            return
        except ProxyError as error:
            await send_error(send, error, [])

    def _plan(self, model: str, key: str | None, body: bytes) -> Plan | None:
        """Return where a request goes: by the model that it names, where that is a server of OpenAI's wire."""
        routes = self._services.routes
        plan = routes.plan(model, key, lambda: opening_of(body)) if model else None
        tries = [step for step in plan.tries if step.target.upstream is routes.wire] if plan is not None else []
        if tries:
            return Plan(tuple(tries))
        target = routes.default(key)
        return Plan((Try(target),)) if target is not None else None

    def _refuse_account(self, method: str, path: str) -> None:
        """Keep tenants out of each other's files, batches and replies, which all stand in the operator's account."""
        auth = self._services.settings.auth
        if auth.mode != "keys" or auth.share_provider_account:
            return
        is_list = method in ("GET", "HEAD") and (path == "/models" or path.startswith("/models/"))
        if is_list or (method == "POST" and path in _STATELESS):
            return
        raise Forbidden(
            f"{method} /v1{path[:120]} reaches into the provider account that all keys of this server share. "
            "Its operator may allow it with auth.share_provider_account: true."
        )

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

    async def _relay(self, plan: Plan, make: Make, send: Send) -> None:
        started = False
        try:
            _, response = await self._services.routes.send(plan, make)
            try:
                headers = list(response.headers)
                await send_head(
                    send,
                    response.status,
                    [*headers, *([] if find(headers, "x-memory") else [("X-Memory", "off; n=0; tokens=0")])],
                )
                started = True
                async with Heartbeat(send, headers, self._services.settings.server.heartbeat_s) as body:
                    async for chunk in response.chunks():
                        await body.chunk(chunk)
                await send_end(send)
            finally:
                await response.aclose()
        except ProxyError:
            if not started:
                raise


def _refuse_ours(method: str, path: str) -> None:
    """Keep what was meant for our memory, however it is spelt, from going to the provider."""
    first, _, rest = unquote(path).lower()[1:].partition("/")
    if first in _OURS:
        raise NotFound(f"There is no {method} /v1{path[:120]} here.")
    if first in _OURS_LATER or (first == "images" and rest.partition("/")[0] not in _IMAGE_MODELS):
        raise NotFound(f"{method} /v1{path[:120]} is not available in this version; nothing was sent to the provider.")


def _model_of(body: bytes) -> str:
    try:
        model = orjson.loads(body).get("model")
    except (orjson.JSONDecodeError, AttributeError):
        return ""
    return model if isinstance(model, str) else ""

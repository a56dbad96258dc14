"""``GET /v1/models`` and ``/v1/models/{id}``: models that this key may use."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from urllib.parse import parse_qs, unquote

import orjson

from proxy.api.asgi import REQUEST_ID, Receive, Scope, Send, headers_of, is_anthropics, refuse, send_whole, wire_of
from proxy.api.passage import note_refusal
from proxy.api.passthrough import Passthrough
from proxy.errors import ModelNotFound, ProxyError
from proxy.pipeline.admission import identity_of, key_for_routes
from proxy.services import Services
from proxy.upstream.catalogue import Model


class Models:
    """The endpoint; a single provider's own list is relayed."""

    def __init__(self, services: Services, passthrough: Passthrough) -> None:
        self._services = services
        self._passthrough = passthrough

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        try:
            body = await self._answer(scope)
        except ProxyError as error:
            note_refusal(scope, error)
            await refuse(send, error, wire_of(scope), scope.get(REQUEST_ID, ""))
            return
        if body is None:
            await self._passthrough({**scope, "method": "GET"}, receive, send)  # the server omits the body of a HEAD
            return
        await send_whole(send, 200, [("content-type", "application/json")], body)

    async def _answer(self, scope: Scope) -> bytes | None:
        headers, routes = headers_of(scope), self._services.routes
        settings = self._services.settings
        identity, key = await identity_of(headers, self._services), key_for_routes(headers, settings)
        of_anthropic = is_anthropics(scope) and routes.anthropic(key) is not None
        if not identity.models and (of_anthropic or routes.has_one_list):
            return None
        path = (scope.get("raw_path") or scope["path"].encode()).decode("latin-1").partition("?")[0]
        name = unquote(path.removeprefix("/v1/models").removeprefix("/"))
        models = [one for one in await routes.list_models(key, headers) if identity.may_use(str(one["id"]))]
        if not name:
            return orjson.dumps(_page(models, scope["query_string"].decode("latin-1")))
        found = next((one for one in models if one["id"] == name), None)
        if found is None:
            raise ModelNotFound(f"There is no model {name[:200]!r} here. GET /v1/models lists those that there are.")
        return orjson.dumps(found)


def _page(models: Sequence[Model], query: str) -> dict[str, Any]:
    """Return a page of models in the shape of both OpenAI's and Anthropic's clients, each with a display name."""
    asked = {name: values[-1] for name, values in parse_qs(query).items()}
    ids = [str(one["id"]) for one in models]
    after = asked.get("after_id", "")
    start = ids.index(after) + 1 if after in ids else 0
    limit = asked.get("limit", "")
    end = start + max(1, int(limit[:9])) if limit.isascii() and limit.isdigit() else len(models)
    shown = [{**one, "display_name": one.get("display_name") or one["id"]} for one in models[start:end]]
    ends = {"first_id": ids[start], "last_id": ids[start + len(shown) - 1]} if shown else {}
    return {"object": "list", "data": shown, "has_more": end < len(models), **ends}

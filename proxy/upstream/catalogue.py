"""The available models: those that the configuration names, and those that its providers list."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import orjson
import structlog

from proxy.errors import ProxyError
from proxy.upstream import model_map
from proxy.upstream.base import Target, UpstreamRequest
from proxy.upstream.headers import KEY_HEADERS
from proxy.upstream.model_list import Route

_log = structlog.get_logger(__name__)
ASK_S = 2.0  # clients time out after 3 s for the whole list, and then show no model
_MAX_BYTES = 16 * 1024 * 1024

Model = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Source:
    """A provider that can list its models.

    Args:
        route: Route to the provider.
        theirs: Pattern of the provider's names that count, with one ``*``.
        ours: Pattern of their names here, with one ``*``.
    """

    route: Route
    theirs: str = "*"
    ours: str = "*"

    @property
    def is_plain(self) -> bool:
        """Return whether its list is used unchanged."""
        return self.theirs == self.ours == "*" and self.route.provider.wire == "openai"

    def named(self, name: str) -> str | None:
        """Return the name here of the provider's model; None if it is not available."""
        match = re.fullmatch(re.escape(self.theirs).replace(r"\*", "(.*)", 1), name, re.DOTALL)
        return self.ours.replace("*", match[1], 1) if match else None


def model(name: str, owner: str = "throughline") -> Model:
    """Return a list entry for a model that only the configuration names."""
    return {"id": name, "object": "model", "created": 0, "owned_by": owner, "display_name": name}


async def ask(source: Source, target: Target, headers: Sequence[tuple[str, str]]) -> list[Model]:
    """Return a provider's models by their names here; empty if it does not list them.

    Args:
        source: Provider to query.
        target: Its target, with a key.
        headers: The client's headers; their key may be forwarded.
    """
    provider = source.route.provider
    if provider.wire == "openai":
        listed = await _listed(target, headers)
    else:
        listed = [model(name, provider.name) for name in model_map.names(provider.name)]
    renamed = ((source.named(str(one.get("id"))), one) for one in listed)
    return [{**one, "id": name} for name, one in renamed if name]


async def _listed(target: Target, headers: Sequence[tuple[str, str]]) -> list[Model]:
    keys = [(name, value) for name, value in headers if name.lower() in KEY_HEADERS]
    try:
        async with asyncio.timeout(ASK_S):
            response = await target.upstream.send(UpstreamRequest("GET", "/models", headers=keys), target)
            try:
                body = b""
                async for chunk in response.chunks():
                    body += chunk
                    if len(body) > _MAX_BYTES:
                        return []
            finally:
                await response.aclose()
        found = orjson.loads(body).get("data") if response.status == 200 else None
    except (ProxyError, TimeoutError, orjson.JSONDecodeError, AttributeError) as error:
        _log.warning("a provider does not list its models", provider=target.provider, error=type(error).__name__)
        return []
    return [one for one in found if isinstance(one, dict)] if isinstance(found, list) else []

"""Targets of routes: the upstream, the key to send, and the timeouts."""

from __future__ import annotations

from collections.abc import Collection
from typing import Literal

from proxy.settings.sections import RouterSettings
from proxy.upstream.base import Target, Upstream
from proxy.upstream.demo import DemoUpstream
from proxy.upstream.litellm import LiteLLMUpstream
from proxy.upstream.litellm_callbacks import Callbacks
from proxy.upstream.model_list import Route
from proxy.upstream.wire import WireUpstream

AuthMode = Literal["passthrough", "keys"]


class Targets:
    """Factory of targets for routes; owner of the upstreams.

    Args:
        auth_mode: With ``keys``, the client's key is a Throughline key and is never forwarded.
        placeholder_keys: Client keys that mean "none", whole strings.
        connect_timeout_s: Connect timeout in seconds.
        router: Settings with the timeouts in seconds; a timeout of None: as long as the client waits.
        callbacks: Receivers of LiteLLM's call events.
    """

    def __init__(
        self,
        *,
        auth_mode: AuthMode,
        placeholder_keys: Collection[str],
        connect_timeout_s: float,
        router: RouterSettings,
        callbacks: Callbacks | None = None,
    ) -> None:
        self._auth_mode = auth_mode
        self._placeholder_keys = frozenset(placeholder_keys)
        self._connect_timeout_s = connect_timeout_s
        self._router = router
        self.wire: Upstream = WireUpstream()
        self.litellm: Upstream = LiteLLMUpstream(callbacks=callbacks)
        self._demo: Upstream = DemoUpstream()

    def demo(self) -> Target:
        """Return the target of the offline model ``demo``."""
        return Target(upstream=self._demo, provider="demo", forwards_auth=False)

    async def aclose(self) -> None:
        """Close every connection."""
        for upstream in (self.wire, self.litellm, self._demo):
            await upstream.aclose()

    def of(self, route: Route, client_key: str | None) -> Target:
        """Return the target of a route for a client with this key."""
        known = route.provider
        api_key, forwards_auth = self._key(route, client_key)
        own_s = _seconds(route.params.get("timeout"))
        deployment = route.deployment or f"{known.name} {route.base_url} {route.model or ''}"
        return Target(
            upstream=self.wire if known.wire == "openai" else self.litellm,
            model=route.model,
            base_url=route.base_url,
            api_key=api_key,
            provider=known.name,
            params=route.params,
            timeout_s=own_s or self._router.timeout,
            stream_timeout_s=_seconds(route.params.get("stream_timeout"))
            or (None if own_s else self._router.stream_timeout),
            connect_timeout_s=self._connect_timeout_s,
            forwards_auth=forwards_auth,
            uses_ambient=known.is_ambient and (self._auth_mode == "keys" or client_key is not None),
            deployment=deployment,
            # A client's own key fails on its own account.
            account=f"{deployment} {hash(client_key)}" if api_key is None and forwards_auth else deployment,
        )

    def _key(self, route: Route, client_key: str | None) -> tuple[str | None, bool]:
        """Return the route's key if it is to be sent, and whether the client's may be forwarded instead."""
        if self._auth_mode == "keys":
            return route.api_key, False
        if route.provider.is_ambient:
            return None, False
        if client_key is None:
            # Without a client key nothing is added and nothing is removed: the upstream decides.
            return None, True
        is_theirs = client_key not in self._placeholder_keys and route.provider.has_form(client_key)
        if route.api_key is not None and not is_theirs:
            return route.api_key, False
        return None, not _is_misled(route, client_key)


def _is_misled(route: Route, client_key: str) -> bool:
    """Return whether the route leads to a provider's own servers, but the client's key is another provider's.

    A server at another address (a gateway) may accept keys of any form.
    """
    known = route.provider
    is_own = not route.base_url or known.is_local or known.owns(route.base_url)
    return is_own and known.is_strange(client_key)


def _seconds(value: object) -> float | None:
    try:
        seconds = float(value) if isinstance(value, int | float | str) else 0.0
    except ValueError:
        return None
    return seconds if seconds > 0 else None

"""From the name of a model to the upstream that serves it, and the key that goes there."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cache
from typing import Any, Literal

from proxy.clock import Clock
from proxy.config import RouterSettings
from proxy.errors import ModelNotFound
from proxy.upstream import model_list as entries
from proxy.upstream import providers
from proxy.upstream.affinity import NO_CONVERSATION, Affinities, Conversation
from proxy.upstream.base import Target, Upstream, UpstreamResponse
from proxy.upstream.demo import MODEL as DEMO_MODEL
from proxy.upstream.demo import DemoUpstream
from proxy.upstream.failover import Make, Plan, Try, send, tries_of
from proxy.upstream.health import Health
from proxy.upstream.litellm import LiteLLMUpstream
from proxy.upstream.model_list import Entry, Route
from proxy.upstream.providers import Provider
from proxy.upstream.wire import WireUpstream

AuthMode = Literal["passthrough", "keys"]


class Routes:
    """Every way to a provider.

    A name is looked for in this order: the list's exact names, its patterns, the one server for everything,
    ``provider/model`` and well-known names that the environment (or the client's key) serves, whatever else
    ``OPENAI_BASE_URL`` may know, the demo.
    """

    def __init__(
        self,
        *,
        listed: Sequence[Entry],
        everything: Route | None,
        environ: Mapping[str, str],
        auth_mode: AuthMode,
        placeholder_keys: Collection[str],
        timeout_s: float | None,
        connect_timeout_s: float,
        router: RouterSettings,
        clock: Clock,
    ) -> None:
        self._exact = _by_name(entry for entry in listed if not entry.is_pattern)
        # The longest pattern is the narrowest.
        patterns = sorted((entry for entry in listed if entry.is_pattern), key=lambda entry: -len(entry.name))
        self._patterns = _by_name(patterns)
        self._router = router
        self._health = Health(clock, allowed_fails=router.allowed_fails, cooldown_s=router.cooldown_time)
        self._affinities = Affinities()
        self._everything = everything
        self._environ = environ
        self._auth_mode = auth_mode
        self._placeholder_keys = frozenset(placeholder_keys)
        self._timeout_s = timeout_s
        self._connect_timeout_s = connect_timeout_s
        self.wire: Upstream = WireUpstream()
        self.litellm: Upstream = LiteLLMUpstream()
        self.demo: Upstream = DemoUpstream()

    @classmethod
    def from_settings(
        cls,
        *,
        model_list: Sequence[Mapping[str, Any]] = (),
        upstream_url: str | None = None,
        upstream_api_key: str | None = None,
        environ: Mapping[str, str],
        auth_mode: AuthMode = "passthrough",
        placeholder_keys: Collection[str] = (),
        timeout_s: float | None = None,
        connect_timeout_s: float = 10.0,
        router: RouterSettings | None = None,
        clock: Clock | None = None,
    ) -> Routes:
        """Build the routes.

        Args:
            model_list: As LiteLLM's ``model_list:``, ``os.environ/NAME`` values unresolved.
            upstream_url: One OpenAI-compatible server for everything that the list does not name.
            upstream_api_key: Key for it.
            environ: Where ``os.environ/NAME`` and the providers' own variables are looked up.
            auth_mode: ``keys``: the client's key is ours and never goes up.
            placeholder_keys: Client keys that mean "none", whole strings.
            timeout_s: Most seconds of silence; None: as long as the client waits.
            connect_timeout_s: Most seconds to connect.
            router: Retries, fallbacks, aliases and how long a failing deployment is left alone.
            clock: Tells when that is over.

        Raises:
            ConfigError: If an entry of the list cannot work; the message names it and the mend.
        """
        return cls(
            listed=entries.read(model_list, environ),
            everything=entries.everything(upstream_url, upstream_api_key, environ) if upstream_url else None,
            environ=environ,
            auth_mode=auth_mode,
            placeholder_keys=placeholder_keys,
            timeout_s=timeout_s,
            connect_timeout_s=connect_timeout_s,
            router=router or RouterSettings(),
            clock=clock or Clock(),
        )

    def resolve(self, model: str, client_key: str | None) -> Target:
        """Return where a request for a model would go first; see ``plan``."""
        return self.plan(model, client_key).first

    def plan(
        self, model: str, client_key: str | None, conversation: Callable[[], Conversation] = lambda: NO_CONVERSATION
    ) -> Plan:
        """Return where a request for a model goes, and where it goes when that fails.

        Deployments that failed lately come last; nothing is refused because of them.

        Args:
            model: As the client wrote it.
            client_key: The client's own key, see ``headers.client_key``.
            conversation: Tells what is to stay on one deployment; asked only where there are several.

        Raises:
            ModelNotFound: If no route serves it; the message names the mend.
        """
        key = cache(lambda: self._affinities.key(conversation()))
        served = self._tries(model, client_key, key)
        if not served:
            raise ModelNotFound(self._mend(model), param="model")
        router = self._router
        spare = [
            self._tries(name, client_key, key) for name in _named(router.fallbacks, model, router.default_fallbacks)
        ]
        wider = [self._tries(name, client_key, key) for name in _named(router.context_window_fallbacks, model)]
        tries = [one for group in (served, *spare) for one in group]
        if len(tries) > 1:
            tries.sort(key=self._is_cooling)
        return Plan(tuple(tries), tuple(one for group in wider for one in group))

    async def send(self, plan: Plan, make: Make) -> tuple[Target, UpstreamResponse]:
        """Send to the first target of a plan that serves; see ``failover.send``."""
        return await send(plan, make, self._health)

    def default(self, client_key: str | None) -> Target | None:
        """Return where paths without a model go (files, batches, the list of models); None: nowhere."""
        openai = _openai()
        route = self._everything or self._only_server()
        if route is None and self._is_in_environment(openai):
            route = Route(openai, None, openai.base_from(self._environ), openai.key_from(self._environ))
        return self._target(route, client_key) if route is not None else None

    def models(self) -> list[str]:
        """Return the names on offer that are known without asking a provider."""
        hidden = {name for name, alias in self._router.model_group_alias.items() if _is_hidden(alias)}
        names = [*self._exact, *(name for name in self._router.model_group_alias if name not in hidden)]
        is_claimed = self._everything is not None or self._listed(DEMO_MODEL)
        return names if is_claimed else [*names, DEMO_MODEL]

    def providers(self) -> list[str]:
        """Return the names of the providers that the environment serves."""
        return [known.name for known in providers.known() if self._is_in_environment(known)]

    @property
    def is_configured(self) -> bool:
        """Whether anything but the demo is served."""
        return bool(self._exact or self._patterns or self._everything or self.providers())

    async def aclose(self) -> None:
        """Close every connection."""
        for upstream in (self.wire, self.litellm, self.demo):
            await upstream.aclose()

    def _tries(self, model: str, client_key: str | None, key: Callable[[], str]) -> list[Try]:
        """Return the tries for a model, none where no route serves it."""
        targets = [
            self._target(self._unchanged(route, model), client_key) for route in self._routes(model, client_key, key)
        ]
        if not targets and model == DEMO_MODEL:
            targets = [Target(upstream=self.demo, provider="demo", forwards_auth=False)]
        router = self._router
        return list(tries_of(targets, num_retries=router.num_retries, retry_after_s=router.retry_after))

    def _routes(self, model: str, client_key: str | None, key: Callable[[], str]) -> list[Route]:
        name = _target_of(self._router.model_group_alias.get(model)) or model
        group = self._listed(name)
        if group:
            in_turn = group if len(group) == 1 else entries.in_turn(group, key())
            return [route for entry in in_turn if (route := entry.route(name)) is not None]
        route = (
            self._everything or self._by_prefix(name, client_key) or self._by_bare_name(name) or self._redirected(name)
        )
        return [] if route is None else [route if name == model or route.model else replace(route, model=name)]

    def _unchanged(self, route: Route, model: str) -> Route:
        """Leave the body's bytes alone where the name stays."""
        return replace(route, model=None) if route.model == model and route.provider.wire == "openai" else route

    def _is_cooling(self, step: Try) -> bool:
        target = step.target
        return self._health.is_cooling(target.deployment) or self._health.is_cooling(target.account)

    def _listed(self, model: str) -> Sequence[Entry]:
        """Return the deployments that the list has for a name."""
        exact = self._exact.get(model)
        if exact is not None:
            return exact
        return next((group for group in self._patterns.values() if group[0].route(model) is not None), ())

    def _by_prefix(self, model: str, client_key: str | None) -> Route | None:
        prefix, slash, rest = model.partition("/")
        if not slash or not rest:
            return None
        known = providers.provider(prefix) or providers.unlisted(prefix)
        # What stands behind OPENAI_BASE_URL (vLLM, a gateway) may itself have names like openai/gpt-oss-20b.
        if known.name == "openai" and known.is_redirected(self._environ):
            return None
        if known.wire == "openai" and not known.base_from(self._environ):
            return None
        brings_key = client_key is not None and self._auth_mode == "passthrough" and known.has_form(client_key)
        if not known.is_local and not brings_key and known.key_from(self._environ) is None:
            return None
        return entries.from_environment(known, rest, self._environ)

    def _by_bare_name(self, model: str) -> Route | None:
        known = providers.of_bare_name(model)
        if known is None or not self._is_in_environment(known):
            return None
        return entries.from_environment(known, model, self._environ)

    def _redirected(self, model: str) -> Route | None:
        openai = _openai()
        if model == DEMO_MODEL or not openai.is_redirected(self._environ):
            return None
        return entries.from_environment(openai, model, self._environ)

    def _is_in_environment(self, known: Provider) -> bool:
        return known.key_from(self._environ) is not None or (
            known.wire == "openai" and known.is_redirected(self._environ)
        )

    def _only_server(self) -> Route | None:
        """Return a route to the one OpenAI-wire server that the whole list names, if it is one."""
        groups = (*self._exact.values(), *self._patterns.values())
        listed = [entry.route(entry.name) for group in groups for entry in group]
        servers = {(route.base_url, route.api_key) for route in listed if route is not None}
        first = next(iter(listed), None)
        if len(servers) != 1 or first is None or first.provider.wire != "openai":
            return None
        return Route(first.provider, None, first.base_url, first.api_key)

    def _target(self, route: Route, client_key: str | None) -> Target:
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
            timeout_s=own_s or self._router.timeout or self._timeout_s,
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
        """Return the route's key where it is to be sent, and whether the client's may go up instead."""
        if self._auth_mode == "keys":
            return route.api_key, False
        if route.provider.is_ambient:
            return None, False
        if client_key is None:
            # Nothing is added for somebody who brought no key, and nothing taken away: the upstream decides.
            return None, True
        is_theirs = client_key not in self._placeholder_keys and route.provider.has_form(client_key)
        if route.api_key is not None and not is_theirs:
            return route.api_key, False
        return None, True

    def _mend(self, model: str) -> str:
        offered = ", ".join(repr(name) for name in self.models()) or "none"
        return (
            f"No route serves the model {model[:200]!r}. Set the provider's key in the environment (OPENAI_API_KEY, "
            "ANTHROPIC_API_KEY, GROQ_API_KEY …), start with --upstream URL, or add it to model_list in the config. "
            f"Served without more: {offered}."
        )


def _openai() -> Provider:
    return providers.provider("openai") or providers.unlisted("openai")


def _by_name(listed: Iterable[Entry]) -> dict[str, list[Entry]]:
    groups: dict[str, list[Entry]] = {}
    for entry in listed:
        groups.setdefault(entry.name, []).append(entry)
    return groups


def _named(fallbacks: Sequence[Mapping[str, Sequence[object]]], model: str, default: Sequence[str] = ()) -> list[str]:
    """Return the models that stand in for one, as LiteLLM writes it: ``[{model: [other, …]}, …]``, ``*`` for any."""
    for name in (model, "*"):
        for one in fallbacks:
            if name in one:
                return [found for raw in one[name] if (found := _target_of(raw)) and found != model]
    return [name for name in default if name != model]


def _target_of(named: object) -> str:
    """Return the model that an alias or a fallback names: a name, or ``{model: name}``."""
    found = named.get("model") if isinstance(named, Mapping) else named
    return found if isinstance(found, str) else ""


def _is_hidden(alias: object) -> bool:
    return isinstance(alias, Mapping) and bool(alias.get("hidden"))


def _seconds(value: object) -> float | None:
    try:
        seconds = float(value) if isinstance(value, int | float | str) else 0.0
    except ValueError:
        return None
    return seconds if seconds > 0 else None

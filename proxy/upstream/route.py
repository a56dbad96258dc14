"""From the name of a model to the upstream that serves it, and the key that goes there."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from proxy.errors import ConfigError, ModelNotFound
from proxy.upstream import providers
from proxy.upstream.base import Target, Upstream
from proxy.upstream.demo import MODEL as DEMO_MODEL
from proxy.upstream.demo import DemoUpstream
from proxy.upstream.litellm import LiteLLMUpstream
from proxy.upstream.providers import Provider, normal_base
from proxy.upstream.wire import WireUpstream

AuthMode = Literal["passthrough", "keys"]

_ENVIRON_PREFIX = "os.environ/"
_ADDRESS_PARAMS = frozenset({"model", "api_key", "api_base", "base_url", "custom_llm_provider"})


@dataclass(frozen=True, slots=True)
class Route:
    """One entry of the model list, or one made from the environment.

    Args:
        name: Name that clients use; ``*`` stands for anything.
        provider: Whose form of key and which wire.
        model: Name to send, ``*`` stands for what the name's own ``*`` matched; None: as the client wrote it.
        base_url: Up to and with ``/v1``; empty where LiteLLM knows it.
        api_key: The route's own key.
        params: ``litellm_params`` that are neither name, key nor base URL.
    """

    name: str
    provider: Provider
    model: str | None = None
    base_url: str = ""
    api_key: str | None = field(default=None, repr=False)
    params: Mapping[str, Any] = field(default_factory=dict, repr=False)

    @property
    def is_pattern(self) -> bool:
        """Whether the name stands for many."""
        return "*" in self.name


class Routes:
    """Every way to a provider; resolves names in the order that ``deploy/README`` tells."""

    def __init__(
        self,
        *,
        listed: Sequence[Route],
        everything: Route | None,
        environ: Mapping[str, str],
        auth_mode: AuthMode,
        placeholder_keys: Collection[str],
        timeout_s: float | None,
        connect_timeout_s: float,
    ) -> None:
        self._exact = {route.name: route for route in reversed(listed) if not route.is_pattern}
        # The longest pattern is the narrowest.
        self._patterns = sorted((route for route in listed if route.is_pattern), key=lambda route: -len(route.name))
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

        Raises:
            ConfigError: If an entry of the list cannot work; the message names it and the mend.
        """
        return cls(
            listed=[_listed(entry, environ) for entry in model_list],
            everything=_everything(upstream_url, upstream_api_key, environ) if upstream_url else None,
            environ=environ,
            auth_mode=auth_mode,
            placeholder_keys=placeholder_keys,
            timeout_s=timeout_s,
            connect_timeout_s=connect_timeout_s,
        )

    def resolve(self, model: str, client_key: str | None) -> Target:
        """Return where requests for a model go.

        Args:
            model: As the client wrote it.
            client_key: The client's own key, see ``headers.client_key``.

        Raises:
            ModelNotFound: If no route serves it; the message names the mend.
        """
        listed = self._find_listed(model)
        if listed is not None:
            return self._target(listed, listed.model, client_key)
        if self._everything is not None:
            return self._target(self._everything, None, client_key)
        found = self._by_prefix(model, client_key) or self._by_bare_name(model)
        if found is not None:
            return self._target(found, found.model, client_key)
        if model == DEMO_MODEL:
            return Target(upstream=self.demo, provider="demo", forwards_auth=False)
        fallback = self._from_environment()
        if fallback is not None and "OPENAI_BASE_URL" in self._environ:
            return self._target(fallback, None, client_key)
        raise ModelNotFound(self._mend(model), param="model")

    def default(self, client_key: str | None) -> Target | None:
        """Return where paths without a model go (files, batches, the list of models); None: nowhere."""
        route = self._everything or self._from_environment() or self._only_listed_server()
        return self._target(route, None, client_key) if route is not None else None

    def models(self) -> list[str]:
        """Return the names on offer that are known without asking a provider."""
        names = [name for name in reversed(self._exact) if name != DEMO_MODEL]
        claimed = DEMO_MODEL in self._exact or self._everything is not None or self._find_listed(DEMO_MODEL) is not None
        return names + ([DEMO_MODEL] if DEMO_MODEL in self._exact or not claimed else [])

    @property
    def is_configured(self) -> bool:
        """Whether anything but the demo is served."""
        return bool(self._exact or self._patterns or self._everything or self.providers())

    def providers(self) -> list[str]:
        """Return the names of the providers for which the environment has a key or a base URL."""
        return [known.name for known in providers.known() if self._is_in_environment(known)]

    async def aclose(self) -> None:
        """Close every connection."""
        for upstream in (self.wire, self.litellm, self.demo):
            await upstream.aclose()

    def _find_listed(self, model: str) -> Route | None:
        exact = self._exact.get(model)
        if exact is not None:
            return exact
        for route in self._patterns:
            match = _pattern(route.name).fullmatch(model)
            if match is not None:
                return _filled(route, model, match.groups())
        return None

    def _by_prefix(self, model: str, client_key: str | None) -> Route | None:
        prefix, slash, rest = model.partition("/")
        known = (providers.provider(prefix) or providers.unlisted(prefix)) if slash and rest else None
        if known is None:
            return None
        base_url = known.base_from(self._environ)
        # A foreign server behind OPENAI_BASE_URL (vLLM, a gateway) has names like openai/gpt-oss-20b itself.
        if known.name == "openai" and not known.owns(base_url):
            return None
        own_key = client_key is not None and self._auth_mode == "passthrough" and known.has_form(client_key)
        is_reachable = known.wire == "litellm" or bool(base_url)
        if not is_reachable or not (known.is_local or known.key_from(self._environ) or own_key):
            return None
        return _environment_route(known, model, self._environ)

    def _by_bare_name(self, model: str) -> Route | None:
        known = providers.of_bare_name(model)
        if known is None or not self._is_in_environment(known):
            return None
        return _environment_route(known, f"{known.name}/{model}", self._environ)

    def _from_environment(self) -> Route | None:
        openai = providers.provider("openai")
        if openai is None or not self._is_in_environment(openai):
            return None
        return _environment_route(openai, "openai/*", self._environ)

    def _is_in_environment(self, known: Provider) -> bool:
        named_base = any(self._environ.get(name) for name in known.base_variables)
        return bool(known.key_from(self._environ)) or (named_base and known.wire == "openai")

    def _only_listed_server(self) -> Route | None:
        listed = [*self._exact.values(), *self._patterns]
        servers = {(route.base_url, route.api_key) for route in listed}
        if len(servers) == 1 and listed[0].provider.wire == "openai":
            return listed[0]
        return None

    def _target(self, route: Route, model: str | None, client_key: str | None) -> Target:
        known = route.provider
        api_key, forwards_auth = self._key(route, client_key)
        return Target(
            upstream=self.wire if known.wire == "openai" else self.litellm,
            model=model,
            base_url=route.base_url,
            api_key=api_key,
            provider=known.name,
            params=route.params,
            timeout_s=_seconds(route.params.get("timeout")) or self._timeout_s,
            connect_timeout_s=self._connect_timeout_s,
            forwards_auth=forwards_auth,
            uses_ambient=known.is_ambient and (self._auth_mode == "keys" or client_key is not None),
        )

    def _key(self, route: Route, client_key: str | None) -> tuple[str | None, bool]:
        """Return the route's key where it is to be sent, and whether the client's may go up instead."""
        if self._auth_mode == "keys" or route.provider.is_ambient:
            return route.api_key, False
        if client_key is None:
            # Nothing is added for somebody who brought no key: the upstream decides.
            return None, False
        if route.api_key is not None and (
            client_key in self._placeholder_keys or not route.provider.has_form(client_key)
        ):
            return route.api_key, False
        return None, True

    def _mend(self, model: str) -> str:
        offered = ", ".join(repr(name) for name in self.models()) or "none"
        return (
            f"No route serves the model {model!r}. Set the provider's key in the environment (OPENAI_API_KEY, "
            "ANTHROPIC_API_KEY, GROQ_API_KEY …), start with --upstream URL, or add it to model_list in the config. "
            f"Served without more: {offered}."
        )


def _listed(entry: Mapping[str, Any], environ: Mapping[str, str]) -> Route:
    name, params = entry.get("model_name"), entry.get("litellm_params")
    if not isinstance(name, str) or not name or not isinstance(params, Mapping) or not params.get("model"):
        raise ConfigError(
            f"The model_list entry {name!r} needs `model_name` and `litellm_params` with `model`, for example "
            "{model_name: gpt-4o, litellm_params: {model: openai/gpt-4o, api_key: os.environ/OPENAI_API_KEY}}."
        )
    resolved = {key: _resolved(value, environ, name) for key, value in params.items()}
    model, base = str(resolved["model"]), resolved.get("api_base") or resolved.get("base_url")
    known, sent = _provider_of(model, resolved.get("custom_llm_provider"), has_base=bool(base))
    base_url = _base_url(known, str(base)) if base else known.base_from(environ)
    if known.wire == "openai" and not base_url:
        raise ConfigError(f"The model_list entry {name!r} needs litellm_params.api_base: {known.name} has none.")
    own = {key: value for key, value in resolved.items() if key not in _ADDRESS_PARAMS}
    key = resolved.get("api_key")
    # A key from the environment goes to its provider's own host only, or where the environment sends it.
    if not key and not known.is_ambient and (not base or known.owns(base_url) or base_url == known.base_from(environ)):
        key = known.key_from(environ)
    return Route(name, known, sent, base_url, str(key) if key else None, own)


def _everything(url: str, api_key: str | None, environ: Mapping[str, str]) -> Route:
    base_url = normal_base(url)
    owner = next((known for known in providers.known() if known.owns(base_url)), None)
    openai = providers.provider("openai")
    if owner is None and openai is not None and base_url == openai.base_from(environ):
        owner = openai
    key = api_key or (owner.key_from(environ) if owner is not None and not owner.is_ambient else None)
    return Route("*", owner or Provider("openai_like"), None, base_url, key)


def _environment_route(known: Provider, model: str, environ: Mapping[str, str]) -> Route:
    key = None if known.is_ambient else known.key_from(environ)
    rest = model.partition("/")[2]
    sent = _with_prefix(known, rest) if known.wire == "openai" else model
    return Route(model, known, sent, known.base_from(environ), key)


def _provider_of(model: str, named: object, *, has_base: bool) -> tuple[Provider, str]:
    """Return the provider of a ``litellm_params.model`` and the name to send."""
    prefix, slash, rest = model.partition("/")
    if isinstance(named, str) and named:
        known = providers.provider(named) or providers.unlisted(named)
        rest = rest if slash and prefix == named else model
    elif slash and providers.provider(prefix):
        known = providers.provider(prefix) or providers.unlisted(prefix)
    elif providers.of_bare_name(model) is not None:
        known, rest = providers.of_bare_name(model) or providers.unlisted(prefix), model
    elif (has_base and not slash) or model == "*":
        known, rest = providers.provider("openai") or providers.unlisted("openai"), model
    else:
        known = providers.unlisted(prefix)
    if known.wire == "litellm":
        return known, f"{known.name}/{rest}"
    return known, _with_prefix(known, rest)


def _with_prefix(known: Provider, name: str) -> str:
    if not known.model_prefix or name.startswith("accounts/") or "#" in name or "*" in name:
        return name
    return known.model_prefix + name


def _base_url(known: Provider, url: str) -> str:
    return normal_base(url) if known.wire == "openai" else url.strip().rstrip("/")


def _resolved(value: Any, environ: Mapping[str, str], name: str) -> Any:
    if isinstance(value, str) and value.startswith(_ENVIRON_PREFIX):
        variable = value.removeprefix(_ENVIRON_PREFIX)
        if variable not in environ:
            raise ConfigError(f"The model_list entry {name!r} asks for the environment variable {variable!r}; set it.")
        return environ[variable]
    return value


def _pattern(name: str) -> re.Pattern[str]:
    return re.compile(re.escape(name).replace(r"\*", "(.*)"), re.DOTALL)


def _filled(route: Route, model: str, matched: Sequence[str]) -> Route:
    if route.model is None or "*" not in route.model:
        return route
    pieces = iter(matched)
    sent = re.sub(r"\*", lambda _: next(pieces, ""), route.model)
    return Route(model, route.provider, sent, route.base_url, route.api_key, route.params)


def _seconds(value: object) -> float | None:
    return float(value) if isinstance(value, int | float) and value > 0 else None

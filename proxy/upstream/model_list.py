"""Routes from LiteLLM's unchanged ``model_list:``, and from the environment.

Entries of the same name are deployments of one model; each request goes to one of them.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from proxy.errors import ConfigError
from proxy.upstream import providers
from proxy.upstream.affinity import rank
from proxy.upstream.providers import Provider, normal_base

_ENVIRON_PREFIX = "os.environ/"
_ADDRESS = frozenset({"model", "api_key", "api_base", "base_url", "custom_llm_provider"})


@dataclass(frozen=True, slots=True)
class Route:
    """One route to a provider.

    Args:
        provider: Provider, with its form of key and its wire.
        model: Model name to send; None: as the client wrote it.
        base_url: Base URL up to and including ``/v1``; "" if LiteLLM knows it.
        api_key: The route's own key.
        params: ``litellm_params`` other than name, key and base URL.
        deployment: Id among the routes to the same model.
        info: The operator's facts about the model, as LiteLLM's ``model_info``.
    """

    provider: Provider
    model: str | None = None
    base_url: str = ""
    api_key: str | None = field(default=None, repr=False)
    params: Mapping[str, Any] = field(default_factory=dict, repr=False)
    deployment: str = ""
    info: Mapping[str, Any] = field(default_factory=dict, repr=False)


@dataclass(frozen=True, slots=True)
class Entry:
    """One entry of the list; ``*`` in its name matches any text, and in its model is replaced by that text.

    Args:
        name: ``model_name``.
        params: ``litellm_params``, values from the environment resolved.
        environ: Environment with the provider's base URL and key.
        info: ``model_info``.
        deployment: Id, unique among all entries.
    """

    name: str
    params: Mapping[str, Any] = field(repr=False)
    environ: Mapping[str, str] = field(repr=False)
    info: Mapping[str, Any] = field(default_factory=dict, repr=False)
    deployment: str = ""

    @property
    def is_pattern(self) -> bool:
        """Return whether the name is a pattern."""
        return "*" in self.name

    def matches(self, requested: str) -> bool:
        """Return whether the entry's name matches a model's name."""
        return self._match(requested) is not None

    def _match(self, requested: str) -> re.Match[str] | None:
        return re.fullmatch(re.escape(self.name).replace(r"\*", "(.*)"), requested, re.DOTALL)

    def route(self, requested: str) -> Route | None:
        """Return the route for a model's name; None if the entry does not match it.

        Raises:
            ConfigError: If the entry is invalid.
        """
        match = self._match(requested)
        if match is None:
            return None
        pieces = iter(match.groups())
        model = re.sub(r"\*", lambda _: next(pieces, ""), str(self.params["model"])) if match.groups() else None
        return _route(self, model or str(self.params["model"]))


def read(model_list: Sequence[Mapping[str, Any]], environ: Mapping[str, str]) -> list[Entry]:
    """Return the checked entries of a list, each with a unique id that is stable across restarts.

    Raises:
        ConfigError: If one is invalid.
    """
    listed = [entry(raw, environ) for raw in model_list]
    seen: dict[str, int] = {}
    named = []
    for one in listed:
        again = seen[one.deployment] = seen.get(one.deployment, -1) + 1
        named.append(replace(one, deployment=f"{one.deployment}#{again}") if again else one)
    return named


def in_turn(group: Sequence[Entry], key: str) -> list[Entry]:
    """Return deployments of one model in the order in which a conversation tries them.

    As in LiteLLM, a lower ``order`` comes first; among equals the choice is weighted by the first of ``weight``,
    ``rpm`` and ``tpm`` that any of them has, and is uniform if none has one.
    """
    if len(group) == 1:
        return list(group)
    by_weight = ([max(_number(one.params.get(name)) or 0.0, 0.0) for one in group] for name in ("weight", "rpm", "tpm"))
    weights = next((found for found in by_weight if any(found)), [1.0] * len(group))
    places = {name: at for at, name in enumerate(rank(_by_deployment(group, weights), key))}
    return sorted(group, key=lambda one: (_order(one), places[one.deployment]))


def entry(raw: Mapping[str, Any], environ: Mapping[str, str]) -> Entry:
    """Return a checked entry.

    Args:
        raw: ``{"model_name": …, "litellm_params": {"model": …, …}}``.
        environ: Environment for values ``os.environ/NAME``.

    Raises:
        ConfigError: If it is invalid; the message names it and the remedy.
    """
    name, params = raw.get("model_name"), raw.get("litellm_params")
    if not isinstance(name, str) or not name or not isinstance(params, Mapping) or not params.get("model"):
        raise ConfigError(
            f"The model_list entry {name!r} needs `model_name` and `litellm_params` with `model`, for example "
            "{model_name: gpt-4o, litellm_params: {model: openai/gpt-4o, api_key: os.environ/OPENAI_API_KEY}}."
        )
    resolved = {key: _resolved(key, value, environ, name) for key, value in params.items()}
    info = raw.get("model_info")
    made = Entry(name, resolved, environ, info if isinstance(info, Mapping) else {}, _deployment(name, resolved, info))
    made.route(name)
    return made


def everything(url: str, api_key: str | None, environ: Mapping[str, str]) -> Route:
    """Return the route of one server that gets all requests, with model names unchanged."""
    base_url = normal_base(url)
    # A key from the environment is sent only to its own provider's host, or to the host that the environment names.
    owner = next((known for known in providers.known() if known.owns(base_url)), None) or next(
        (known for known in providers.known() if known.is_redirected(environ) and known.base_from(environ) == base_url),
        None,
    )
    if owner is None or owner.wire != "openai":
        return Route(Provider("openai_like"), None, base_url, api_key)
    return Route(owner, None, base_url, api_key or owner.key_from(environ))


def from_environment(known: Provider, name: str, environ: Mapping[str, str]) -> Route:
    """Return the route to a provider by the environment.

    Args:
        known: The provider.
        name: Model name without the provider's prefix.
        environ: Environment with its key or its base URL.
    """
    key = None if known.is_ambient else known.key_from(environ)
    return Route(known, _name_to_send(known, name), known.base_from(environ), key)


def _route(listed: Entry, model: str) -> Route:
    params = listed.params
    base = params.get("api_base") or params.get("base_url")
    known, rest = _provider_of(model, params.get("custom_llm_provider"), has_base=bool(base))
    own_base = known.base_from(listed.environ)
    base_url = known.normal(str(base)) if base else own_base
    if known.wire == "openai" and not base_url:
        raise ConfigError(f"The model_list entry {listed.name!r} needs litellm_params.api_base: {known.name} has none.")
    key = params.get("api_key")
    if not key and not known.is_ambient and (base_url == own_base or known.owns(base_url)):
        key = known.key_from(listed.environ)
    others = {name: value for name, value in params.items() if name not in _ADDRESS}
    return Route(
        known,
        _name_to_send(known, rest),
        base_url,
        str(key) if key else None,
        others,
        listed.deployment,
        {**others, **listed.info},
    )


def _provider_of(model: str, named: object, *, has_base: bool) -> tuple[Provider, str]:
    """Return the provider of a ``litellm_params.model``, and the name without its prefix."""
    prefix, slash, rest = model.partition("/")
    if isinstance(named, str) and named:
        return _known(named), rest if slash and prefix == named else model
    if slash and providers.provider(prefix):
        return _known(prefix), rest
    bare = providers.of_bare_name(model)
    if bare is not None:
        return bare, model
    # With an address and no provider it is LiteLLM's custom OpenAI server.
    return (_known(prefix), rest) if slash and not has_base else (_known("openai"), model)


def _known(name: str) -> Provider:
    return providers.provider(name) or providers.unlisted(name)


def _name_to_send(known: Provider, name: str) -> str:
    if known.wire == "litellm":
        return f"{known.name}/{name}"
    if not known.model_prefix or name.startswith("accounts/") or "#" in name:
        return name
    return known.model_prefix + name


def _resolved(key: str, value: Any, environ: Mapping[str, str], name: str) -> Any:
    if not isinstance(value, str) or not value.startswith(_ENVIRON_PREFIX):
        return value
    variable = value.removeprefix(_ENVIRON_PREFIX)
    if variable not in environ and key != "api_key":
        raise ConfigError(f"The model_list entry {name!r} asks for the environment variable {variable!r}; set it.")
    # Without this key, the client's own may still work.
    return environ.get(variable)


def _deployment(name: str, params: Mapping[str, Any], info: object) -> str:
    """Return an id that is stable as long as the entry's address is."""
    given = info.get("id") if isinstance(info, Mapping) else None
    if given is not None:
        return str(given)
    address = [name, *(str(params.get(part)) for part in sorted(_ADDRESS))]
    return hashlib.blake2b("\0".join(address).encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()


def _by_deployment(group: Sequence[Entry], weights: Sequence[float]) -> dict[str, float]:
    return {one.deployment: weight for one, weight in zip(group, weights, strict=True)}


def _order(listed: Entry) -> float:
    order = _number(listed.params.get("order"))
    return float("inf") if order is None else order


def _number(value: object) -> float | None:
    try:
        return float(value) if isinstance(value, int | float | str) else None
    except ValueError:
        return None

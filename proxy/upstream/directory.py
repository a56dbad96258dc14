"""Routes of a model name, from the list, the one server for everything, and the environment."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace

from proxy.errors import ConfigError
from proxy.upstream import model_list as entries
from proxy.upstream import providers
from proxy.upstream.catalogue import Source
from proxy.upstream.demo import MODEL as DEMO_MODEL
from proxy.upstream.model_list import Entry, Route
from proxy.upstream.providers import Provider

_ADDRESS = re.compile(r"//|[?#%\\\x00-\x1f\x7f]|(?:^|/)\.{1,2}(?:/|$)|(?:^|/)https?:", re.IGNORECASE)


class Directory:
    """Lookup of routes by model name.

    A name is looked up in this order: the list's exact names, its patterns, the one server for everything,
    ``provider/model`` and well-known names of providers that the environment names, and for any other name the server
    at ``OPENAI_BASE_URL``. There is no other route: neither a prefix nor a client's key creates one.

    Args:
        listed: Entries of the list, in its order.
        aliases: Other names of models, as LiteLLM's ``model_group_alias``.
        everything: Route of all models that the list does not name.
        environ: Environment with the providers' keys and base URLs.
    """

    def __init__(
        self,
        listed: Sequence[Entry],
        *,
        aliases: Mapping[str, object],
        everything: Route | None,
        environ: Mapping[str, str],
    ) -> None:
        self._exact = _by_name(entry for entry in listed if not entry.is_pattern)
        self._fixed = {entry.deployment: _route_of(entry, entry.name) for entry in listed if not entry.is_pattern}
        # The longest pattern is the narrowest.
        patterns = sorted((entry for entry in listed if entry.is_pattern), key=lambda entry: -len(entry.name))
        self._patterns = _by_name(patterns)
        self._aliases = aliases
        self._everything = everything
        self._environ = environ

    def routes(self, model: str, key: Callable[[], str]) -> list[Route]:
        """Return the routes to a model, best first; empty if there is none.

        Args:
            model: Model as the client wrote it.
            key: Returns the key that decides between several deployments; called only then.
        """
        name = target_of(self._aliases.get(model)) or model
        group = self._listed(name)
        if group:
            in_turn = group if len(group) == 1 else entries.in_turn(group, key())
            found = (self._fixed.get(entry.deployment) or _open(_route_of(entry, name)) for entry in in_turn)
            return [route for route in found if route is not None]
        route = self._everything or _open(self._by_prefix(name) or self._by_bare_name(name)) or self._redirected(name)
        return [] if route is None else [route if name == model or route.model else replace(route, model=name)]

    def default(self) -> Route | None:
        """Return the route of paths without a model (files, batches, the list of models); None if there is none."""
        openai = _openai()
        route = self._everything or self._only_server()
        if route is None and openai.is_named(self._environ):
            route = Route(openai, None, openai.base_from(self._environ), openai.key_from(self._environ))
        return route

    def anthropic(self) -> Route | None:
        """Return the route of Anthropic API paths without a model; None if there is none."""
        known = providers.provider("anthropic") or providers.unlisted("anthropic")
        route = self._everything or self._only_server_of(known)
        if route is None and known.is_named(self._environ):
            route = Route(known, None, known.base_from(self._environ), known.key_from(self._environ))
        return route

    def is_everything(self, base_url: str) -> bool:
        """Return whether an address is that of the one server for everything."""
        return self._everything is not None and self._everything.base_url == base_url

    def names(self) -> list[str]:
        """Return the available model names that need no request to a provider."""
        shown = [name for name, alias in self._aliases.items() if not _is_hidden(alias)]
        names = [*self._exact, *(name for name in shown if name not in self._exact)]
        is_claimed = self._everything is not None or self._listed(DEMO_MODEL)
        return names if is_claimed else [*names, DEMO_MODEL]

    def sources(self) -> list[Source]:
        """Return the providers that can list further models under names that are routed to them."""
        listed = [found for entry in self._patterns.values() if (found := self._source(entry[0])) is not None]
        if self._everything is not None:
            return [*listed, Source(self._everything)]
        served = [known for known in providers.known() if known.is_named(self._environ) and not known.is_ambient]
        return [*listed, *(self._of_environment(known) for known in served)]

    def _source(self, entry: Entry) -> Source | None:
        """Return the source of a pattern entry; None for a pattern that covers all providers."""
        route = _route_of(entry, entry.name)
        theirs = (route.model or "").removeprefix(f"{route.provider.name}/") if route is not None else ""
        if route is None or "*" not in theirs or entry.params["model"] == "*":
            return None
        return Source(replace(route, model=None), theirs, entry.name)

    def _of_environment(self, known: Provider) -> Source:
        # Well-known names need no prefix.
        is_bare = known.name in ("openai", "anthropic", "gemini")
        route = Route(known, None, known.base_from(self._environ), known.key_from(self._environ))
        return Source(route, "*", "*" if is_bare else f"{known.name}/*")

    def providers(self) -> list[str]:
        """Return the names of the providers that the environment serves."""
        return [known.name for known in providers.known() if known.is_named(self._environ)]

    @property
    def is_empty(self) -> bool:
        """Return whether nothing but the demo can be served."""
        return not (self._exact or self._patterns or self._everything or self.providers())

    def _listed(self, model: str) -> Sequence[Entry]:
        """Return the list's deployments for a name."""
        exact = self._exact.get(model)
        if exact is not None:
            return exact
        return next((group for group in self._patterns.values() if group[0].matches(model)), ())

    def _by_prefix(self, model: str) -> Route | None:
        prefix, slash, rest = model.partition("/")
        if not slash or not rest:
            return None
        known = providers.provider(prefix) or providers.unlisted(prefix)
        # The server at OPENAI_BASE_URL (vLLM, a gateway) may itself have names like openai/gpt-oss-20b.
        if known.name == "openai" and known.is_redirected(self._environ):
            return None
        if not known.is_named(self._environ) or (known.wire == "openai" and not known.base_from(self._environ)):
            return None
        return entries.from_environment(known, rest, self._environ)

    def _by_bare_name(self, model: str) -> Route | None:
        known = providers.of_bare_name(model)
        if known is None or not known.is_named(self._environ):
            return None
        return entries.from_environment(known, model, self._environ)

    def _redirected(self, model: str) -> Route | None:
        openai = _openai()
        if model == DEMO_MODEL or not openai.is_redirected(self._environ):
            return None
        return entries.from_environment(openai, model, self._environ)

    def _only_server(self) -> Route | None:
        """Return a route to the only OpenAI-wire server in the whole list, None if there are others."""
        listed = self._listed_routes()
        return _one_server(listed) if listed and listed[0].provider.wire == "openai" else None

    def _only_server_of(self, known: Provider) -> Route | None:
        """Return a route to the list's only server of a provider, None if there are several or none."""
        return _one_server([route for route in self._listed_routes() if route.provider.name == known.name])

    def _listed_routes(self) -> list[Route]:
        groups = (*self._exact.values(), *self._patterns.values())
        return [route for group in groups for entry in group if (route := entry.route(entry.name)) is not None]


def target_of(named: object) -> str:
    """Return the model that an alias or a fallback names: a name, or ``{model: name}``."""
    found = named.get("model") if isinstance(named, Mapping) else named
    return found if isinstance(found, str) else ""


def _openai() -> Provider:
    return providers.provider("openai") or providers.unlisted("openai")


def _route_of(entry: Entry, name: str) -> Route | None:
    """Return an entry's route for a name; None if a pattern matches a name that it cannot serve."""
    try:
        return entry.route(name)
    except ConfigError:
        return None


def _open(route: Route | None) -> Route | None:
    """Return a route by a client's name for a model; None if that name is an address in disguise.

    LiteLLM writes model names into URLs, and uses some names as a URL, with the route's key.
    """
    if route is None or route.provider.wire == "openai" or _ADDRESS.search(route.model or "") is None:
        return route
    return None


def _one_server(routes: Sequence[Route]) -> Route | None:
    """Return a route for any model of the routes' common server; None if there are several servers, or none."""
    if len({(route.base_url, route.api_key) for route in routes}) != 1:
        return None
    return Route(routes[0].provider, None, routes[0].base_url, routes[0].api_key)


def _by_name(listed: Iterable[Entry]) -> dict[str, list[Entry]]:
    groups: dict[str, list[Entry]] = {}
    for entry in listed:
        groups.setdefault(entry.name, []).append(entry)
    return groups


def _is_hidden(alias: object) -> bool:
    return isinstance(alias, Mapping) and bool(alias.get("hidden"))

"""Routes: the deployments that serve a model name; sends a request to the first that answers."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from fnmatch import fnmatchcase
from functools import cache
from typing import Any

from proxy.clock import Clock
from proxy.errors import ModelNotFound
from proxy.settings.sections import RouterSettings
from proxy.upstream import model_list as entries
from proxy.upstream import model_map, providers
from proxy.upstream.affinity import NO_CONVERSATION, Affinities, Conversation
from proxy.upstream.base import Target, Upstream, UpstreamResponse
from proxy.upstream.catalogue import Model, Source, ask, model
from proxy.upstream.demo import MODEL as DEMO_MODEL
from proxy.upstream.directory import Directory, target_of
from proxy.upstream.failover import Attempt, Health, Make, Plan, Try, send, tries_of
from proxy.upstream.litellm_callbacks import Callbacks
from proxy.upstream.litellm_responses import OVER_CHAT, over_chat
from proxy.upstream.messages import over_messages, speaks_messages
from proxy.upstream.model_list import Route
from proxy.upstream.model_map import ModelFacts, Prices
from proxy.upstream.target import AuthMode, Targets


class Routes:
    """All routes to providers; ``Directory`` sets the lookup order of a name, with the demo last."""

    def __init__(
        self,
        directory: Directory,
        targets: Targets,
        *,
        router: RouterSettings,
        clock: Clock,
        context_windows: Mapping[str, int],
    ) -> None:
        self._directory = directory
        self._targets = targets
        self._router = router
        self._health = Health(clock, allowed_fails=router.allowed_fails, cooldown_s=router.cooldown_time)
        self._affinities = Affinities()
        self._windows = context_windows

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
        connect_timeout_s: float = 10.0,
        router: RouterSettings | None = None,
        clock: Clock | None = None,
        context_windows: Mapping[str, int] | None = None,
        is_chat_only: bool = False,
        callbacks: Callbacks | None = None,
    ) -> Routes:
        """Build the routes.

        Args:
            model_list: LiteLLM's ``model_list:``, with ``os.environ/NAME`` values unresolved.
            upstream_url: One OpenAI-compatible server for all models that the list does not name.
            upstream_api_key: Key of that server.
            environ: Environment with the values of ``os.environ/NAME`` and of the providers' own variables.
            auth_mode: With ``keys``, the client's key is a Throughline key and is never forwarded.
            placeholder_keys: Client keys that mean "none", whole strings.
            connect_timeout_s: Connect timeout in seconds.
            router: Retries, fallbacks, aliases and the cooldown of failing deployments.
            clock: Clock of the cooldown.
            context_windows: Context windows in tokens by patterns of model names, if the map is wrong or lacks them.
            is_chat_only: The one server lacks the Responses API; responses are sent to it as chat completions.
            callbacks: Receivers of LiteLLM's call events.

        Raises:
            ConfigError: If an entry of the list is invalid; the message names it and the remedy.
        """
        router = router or RouterSettings()
        directory = Directory(
            entries.read(model_list, environ),
            aliases=router.model_group_alias,
            everything=replace(
                entries.everything(upstream_url, upstream_api_key, environ), params={OVER_CHAT: is_chat_only}
            )
            if upstream_url
            else None,
            environ=environ,
        )
        targets = Targets(
            auth_mode=auth_mode,
            placeholder_keys=placeholder_keys,
            connect_timeout_s=connect_timeout_s,
            router=router,
            callbacks=callbacks,
        )
        return cls(directory, targets, router=router, clock=clock or Clock(), context_windows=context_windows or {})

    @property
    def wire(self) -> Upstream:
        """Upstream for servers of OpenAI's wire format."""
        return self._targets.wire

    def resolve(self, model: str, client_key: str | None) -> Target:
        """Return the first target of a request for a model; see ``plan``."""
        return self.plan(model, client_key).first

    def plan(
        self, model: str, client_key: str | None, conversation: Callable[[], Conversation] = lambda: NO_CONVERSATION
    ) -> Plan:
        """Return the targets of a request for a model: deployments first, then fallbacks.

        Deployments that failed recently come last; no request is refused because of them.

        Args:
            model: Model as the client wrote it.
            client_key: The client's own key, see ``headers.client_key``.
            conversation: Returns the conversation that stays on one deployment; called only if there are several.

        Raises:
            ModelNotFound: If no route serves it; the message names the remedy.
        """
        key = cache(lambda: self._affinities.key(conversation()))

        def tries_for(name: str) -> list[Try]:
            return self._tries(name, model, client_key, key)

        served = tries_for(model)
        if not served:
            raise ModelNotFound(self._mend(model), param="model")
        router = self._router
        spare = map(tries_for, _named(router.fallbacks, model, router.default_fallbacks))
        wider = map(tries_for, _named(router.context_window_fallbacks, model))
        tries = [one for group in (served, *spare) for one in group]
        if len(tries) > 1:
            tries.sort(key=self._is_cooling)
        return Plan(tuple(tries), tuple(one for group in wider for one in group))

    def spoken(self, plan: Plan, path: str) -> Plan:
        """Return a plan for requests on a path: providers of another wire format get a translated request.

        The one server for everything is trusted to know the wire format: it gets the bytes unchanged.
        """
        if path == "/responses":
            return Plan(tuple(map(self._over_chat, plan.tries)), tuple(map(self._over_chat, plan.wider)))
        if not speaks_messages(path):
            return plan
        return Plan(tuple(map(self._over_messages, plan.tries)), tuple(map(self._over_messages, plan.wider)))

    def anthropic(self, client_key: str | None) -> Target | None:
        """Return the target of Anthropic API paths without a model; None if there is none."""
        route = self._directory.anthropic()
        if route is None:
            return None
        return self._over_messages(Try(self._targets.of(route, client_key))).target

    async def send(self, plan: Plan, make: Make, log: list[Attempt] | None = None) -> tuple[Target, UpstreamResponse]:
        """Send to the targets of a plan until one answers; see ``failover.send``."""
        return await send(plan, make, self._health, log)

    def default(self, client_key: str | None) -> Target | None:
        """Return the target of paths without a model (files, batches, the list of models); None if there is none."""
        route = self._directory.default()
        return self._targets.of(route, client_key) if route is not None else None

    @property
    def has_one_list(self) -> bool:
        """Return whether the list of models is the unchanged list of one server."""
        sources = self._directory.sources()
        names = [name for name in self._directory.names() if name != DEMO_MODEL]
        return len(sources) == 1 and sources[0].is_plain and not names and self._directory.default() is not None

    async def list_models(self, client_key: str | None, headers: Sequence[tuple[str, str]]) -> list[Model]:
        """Return every available model, each name once: first those of the configuration, then those of providers.

        Args:
            client_key: The client's own key.
            headers: The client's headers, in which that key may be forwarded to a provider.
        """
        sources = self._directory.sources()
        asked = [ask(source, self._asked(source, client_key, alone=len(sources) == 1), headers) for source in sources]
        own = [model(name) for name in self._directory.names()]
        found = [one for models in (own, *await asyncio.gather(*asked)) for one in models]
        return list({str(one["id"]): one for one in reversed(found)}.values())[::-1]

    def facts(self, model: str, deployment: str = "") -> ModelFacts:
        """Return the facts of a model from the list, the settings and LiteLLM's map.

        The window is the smallest of its deployments; the other facts are those of the named deployment, else of the
        first.
        """
        routes = self._directory.routes(model, lambda: "")
        routes.sort(key=lambda route: not route.deployment or route.deployment != deployment)
        known = [_facts(route, model) for route in routes] or [model_map.facts(model)]
        windows = [one.context_window for one in known if one.context_window is not None]
        said = next((size for pattern, size in self._windows.items() if fnmatchcase(model, pattern)), None)
        return replace(known[0], context_window=said or min(windows, default=None))

    def context_window(self, model: str) -> int | None:
        """Return the context window of a model in tokens; None if unknown."""
        return self.facts(model).context_window

    def prices(self, model: str) -> Prices | None:
        """Return the prices of a model's tokens; None if unknown."""
        return self.facts(model).prices

    def models(self) -> list[str]:
        """Return the available model names that need no request to a provider."""
        return self._directory.names()

    def providers(self) -> list[str]:
        """Return the names of the providers that the environment serves."""
        return self._directory.providers()

    @property
    def is_configured(self) -> bool:
        """Return whether anything but the demo is served."""
        return not self._directory.is_empty

    async def aclose(self) -> None:
        """Close every connection."""
        await self._targets.aclose()

    def _tries(self, model: str, asked: str, client_key: str | None, key: Callable[[], str]) -> list[Try]:
        """Return the tries for a model, possibly a fallback of the one asked for; empty if no route serves it."""
        targets = [
            replace(self._targets.of(_renamed(route, model, asked), client_key), serves=model)
            for route in self._directory.routes(model, key)
        ]
        if not targets and model == DEMO_MODEL:
            targets = [self._targets.demo()]
        router = self._router
        return list(tries_of(targets, num_retries=router.num_retries, retry_after_s=router.retry_after))

    def _asked(self, source: Source, client_key: str | None, *, alone: bool) -> Target:
        """Return the target for listing a provider's models; one of several providers gets only a key of its form."""
        known, target = source.route.provider, self._targets.of(source.route, client_key)
        is_meant = alone or providers.provider(known.name) is None or known.has_form(client_key or "")
        return target if is_meant else replace(target, forwards_auth=False)

    def _over_messages(self, step: Try) -> Try:
        if self._directory.is_everything(step.target.base_url):
            return step
        return replace(step, target=over_messages(step.target, self.wire))

    def _over_chat(self, step: Try) -> Try:
        return replace(step, target=over_chat(step.target, self._targets.litellm))

    def _is_cooling(self, step: Try) -> bool:
        target = step.target
        return self._health.is_cooling(target.deployment) or self._health.is_cooling(target.account)

    def _mend(self, model: str) -> str:
        offered = ", ".join(repr(name) for name in self.models()) or "none"
        return (
            f"No route serves the model {model[:200]!r}. Set the provider's key in the environment (OPENAI_API_KEY, "
            "ANTHROPIC_API_KEY, GROQ_API_KEY …), start with --upstream URL, or add it to model_list in the config. "
            f"Served without more: {offered}."
        )


def _facts(route: Route, model: str) -> ModelFacts:
    base = route.info.get("base_model")
    name = base if isinstance(base, str) and base else (route.model or model).removeprefix(f"{route.provider.name}/")
    return model_map.overridden(model_map.facts(name, route.provider.name), route.info)


def _renamed(route: Route, model: str, asked: str) -> Route:
    """Set the model name to send; None if it is the client's own, so that the body stays unchanged."""
    name = route.model or model
    return replace(route, model=None if name == asked and route.provider.wire == "openai" else name)


def _named(fallbacks: Sequence[Mapping[str, Sequence[object]]], model: str, default: Sequence[str] = ()) -> list[str]:
    """Return the fallbacks of a model, in LiteLLM's format: ``[{model: [other, …]}, …]``, ``*`` for any model."""
    for name in (model, "*"):
        for one in fallbacks:
            if name in one:
                return [found for raw in one[name] if (found := target_of(raw)) and found != model]
    return [name for name in default if name != model]

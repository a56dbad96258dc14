"""The parts that settings choose among: the providers and the embedder."""

from __future__ import annotations

from proxy.clock import Clock
from proxy.memory.vectors.embed import CachedEmbedder, EmbeddedEmbedder, Embedder, LiteLLMEmbedder
from proxy.memory.vectors.hub import HubEmbedder
from proxy.process.precedence import Precedence
from proxy.settings.load import Settings, environment
from proxy.upstream import litellm
from proxy.upstream.litellm_callbacks import Callbacks
from proxy.upstream.providers import elsewhere
from proxy.upstream.route import Routes

_CACHE_BYTES = 16 * 2**20  # of vectors of texts seen before: some 10,000


def routes(settings: Settings, clock: Clock) -> Routes:
    """Return the ways to the providers."""
    upstream = settings.upstream
    return Routes.from_settings(
        model_list=settings.model_list,
        upstream_url=upstream.url,
        upstream_api_key=upstream.api_key.get_secret_value() if upstream.api_key else None,
        environ={
            **elsewhere(environment(), settings.server.port),
            **{name: str(value) for name, value in settings.environment_variables.items()},
        },
        auth_mode=settings.auth.mode,
        placeholder_keys=[*settings.auth.placeholder_keys, *_master_key(settings)],
        connect_timeout_s=upstream.connect_timeout_s,
        router=settings.router_settings,
        clock=clock,
        context_windows=upstream.context_windows,
        is_chat_only=upstream.chat_only,
        callbacks=callbacks(settings),
    )


def callbacks(settings: Settings) -> Callbacks:
    """Return the callbacks that the configuration names for routes through LiteLLM."""
    named = settings.litellm_callbacks
    return Callbacks(
        success=tuple(named.get("success", ())),
        failure=tuple(named.get("failure", ())),
        both=tuple(named.get("both", ())),
        hides_messages=named.get("hides_messages", False),
        folder=settings.config_folder,
        variables={
            name: str(value)
            for name, value in settings.environment_variables.items()
            if not str(value).startswith("os.environ/")
        },
    )


def _master_key(settings: Settings) -> list[str]:
    """LiteLLM's clients may still send its master key; it is no provider's, and goes to none."""
    key = settings.litellm_master_key.get_secret_value() if settings.litellm_master_key else ""
    return [environment().get(key.removeprefix("os.environ/"), "") if key.startswith("os.environ/") else key]


def embedder(settings: Settings, precedence: Precedence) -> Embedder:
    """Return what makes vectors; its model is loaded by ``warm``."""
    chosen = settings.embedder
    if chosen.model == "builtin":
        inner: Embedder = EmbeddedEmbedder(precedence=precedence)
    elif chosen.model == "multilingual":
        folder = settings.server.data_dir / "models" / "multilingual"
        inner = HubEmbedder(folder, chosen.hub_url, precedence=precedence)
    else:
        inner = LiteLLMEmbedder(
            chosen.model,
            api_key=chosen.api_key.get_secret_value() if chosen.api_key else None,
            api_base=chosen.base_url,
            dimension=chosen.dimension,
            load=litellm.load,
        )
    return CachedEmbedder(inner, max_bytes=_CACHE_BYTES)

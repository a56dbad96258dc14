"""Model, key and base URL of an operator's own model, from settings and environment."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import urlsplit

from pydantic import SecretStr

from proxy.errors import ConfigError
from proxy.memory.model.call import ModelAccess
from proxy.settings.load import is_loopback
from proxy.settings.memory import MemorySettings
from proxy.upstream import providers
from proxy.upstream.providers import Provider

_DEFAULT_TIMEOUT_S = 60.0
_LOOPBACK_TIMEOUT_S = 300.0  # a 1.5B model on two busy cores took 165 s for its first, uncached prompt


@dataclass(frozen=True, slots=True)
class ChosenModel:
    """A model that the operator set for one kind of background work.

    Attributes:
        name: As LiteLLM names it.
        api_key: None for the provider's own variable.
        base_url: None for the provider's own.
        timeout_s: Of one call; None: 300 s for a base URL on this machine, else 60 s.
        setting: Common prefix of its settings' names, such as ``memory.summary``.
        otherwise: The setting that works without the model, for the error's message.
    """

    name: str
    api_key: SecretStr | None
    base_url: str | None
    timeout_s: float | None
    setting: str
    otherwise: str


def model_access(chosen: ChosenModel, environ: Mapping[str, str]) -> ModelAccess:
    """Return the access to a model, by the settings and the provider's variables.

    Raises:
        ConfigError: If it needs a key and there is none.
    """
    known = _provider_of(chosen.name, has_base=bool(chosen.base_url))
    base_url = chosen.base_url or known.base_from(environ) or None
    timeout_s = chosen.timeout_s or _default_timeout_s(base_url)
    key = chosen.api_key.get_secret_value().strip() if chosen.api_key else ""
    if not key and _may_use_environment(known, base_url, environ):
        key = known.key_from(environ) or ""
        if key and known.is_ambient:  # the variable names the host's credentials, and is no key
            return ModelAccess(chosen.name, None, base_url, timeout_s)
    if not key and not _needs_no_key(known, base_url):
        variables = " or ".join(known.key_variables) or "the provider's variable"
        raise ConfigError(
            f"There is no key for {chosen.setting}_model {chosen.name!r}. Set {chosen.setting}_api_key, or {variables} "
            f"in the environment for the provider's own host (a client's key is never used), or {chosen.otherwise}."
        )
    return ModelAccess(chosen.name, key or None, base_url, timeout_s)


def judge_access(settings: MemorySettings, environ: Mapping[str, str]) -> ModelAccess | None:
    """Return the access to the judge, None if the built-in engine decides alone.

    Raises:
        ConfigError: If its key is missing, or the model that ``extractor: model`` requires.
    """
    if settings.extractor == "builtin":
        return None
    if not settings.extraction_model and settings.extractor == "model":
        raise ConfigError(
            "memory.extractor is 'model', but no model is set. Set memory.extraction_model, for example to "
            "'gpt-4o-mini', or memory.extractor: builtin."
        )
    if not settings.extraction_model:
        return None
    chosen = ChosenModel(
        settings.extraction_model,
        settings.extraction_api_key,
        settings.extraction_base_url,
        settings.extraction_timeout_s,
        setting="memory.extraction",
        otherwise="set memory.extractor: builtin",
    )
    return model_access(chosen, environ)


def _may_use_environment(known: Provider, base_url: str | None, environ: Mapping[str, str]) -> bool:
    """Return whether the base URL may get the environment's key: the provider's host, or the environment's base URL."""
    named = known.base_from(environ)
    return base_url is None or known.owns(base_url) or (bool(named) and providers.normal_base(base_url) == named)


def _provider_of(model: str, *, has_base: bool) -> Provider:
    prefix, slash, _ = model.partition("/")
    found = providers.provider(prefix) if slash else providers.of_bare_name(model)
    if found is not None:
        return found
    return (
        providers.unlisted(prefix)
        if slash and not has_base
        else providers.provider("openai") or providers.unlisted("openai")
    )


def _needs_no_key(known: Provider, base_url: str | None) -> bool:
    """Return whether the model runs on a local or self-hosted server."""
    return known.is_local or _is_on_loopback(base_url)


def _default_timeout_s(base_url: str | None) -> float:
    return _LOOPBACK_TIMEOUT_S if _is_on_loopback(base_url) else _DEFAULT_TIMEOUT_S


def _is_on_loopback(base_url: str | None) -> bool:
    return is_loopback(urlsplit(base_url or "").hostname or "")

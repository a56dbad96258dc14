"""Model, key and base URL of the operator's own model, from settings and environment."""

from __future__ import annotations

from collections.abc import Mapping
from urllib.parse import urlsplit

from proxy.errors import ConfigError
from proxy.memory.model.call import ModelAccess
from proxy.settings.load import is_loopback
from proxy.settings.memory import MemorySettings
from proxy.upstream import providers
from proxy.upstream.providers import Provider

_DEFAULT_TIMEOUT_S = 60.0
_LOOPBACK_TIMEOUT_S = 300.0  # a 1.5B model on two busy cores took 165 s for its first, uncached prompt


def model_access(settings: MemorySettings, environ: Mapping[str, str]) -> ModelAccess:
    """Return with what the extraction model is called, by the settings and the provider's variables.

    Without a timeout in the settings it is 300 s for a base URL on this machine, else 60 s.

    Raises:
        ConfigError: If no model is set, or it needs a key and there is none.
    """
    model = settings.extraction_model
    if not model:
        raise ConfigError(
            "memory.extractor is 'model', but no model is set. Set memory.extraction_model, for example to "
            "'gpt-4o-mini', or memory.extractor: builtin."
        )
    known = _provider_of(model, has_base=bool(settings.extraction_base_url))
    base_url = settings.extraction_base_url or known.base_from(environ) or None
    timeout_s = settings.extraction_timeout_s or _default_timeout_s(base_url)
    key = settings.extraction_api_key.get_secret_value().strip() if settings.extraction_api_key else ""
    if not key and _may_use_environment(known, base_url, environ):
        key = known.key_from(environ) or ""
        if key and known.is_ambient:  # what stands there is no key but where the host's credentials are
            return ModelAccess(model, None, base_url, timeout_s)
    if not key and not _needs_no_key(known, base_url):
        variables = " or ".join(known.key_variables) or "the provider's variable"
        raise ConfigError(
            f"There is no key for the extraction model {model!r}. Set memory.extraction_api_key, or {variables} in the "
            "environment for the provider's own host (a client's key is never used), or memory.extractor: builtin."
        )
    return ModelAccess(model, key or None, base_url, timeout_s)


def _may_use_environment(known: Provider, base_url: str | None, environ: Mapping[str, str]) -> bool:
    """A key from the environment goes to its provider's own host only, or where the environment sends it."""
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
    """Whether the model runs on a server of one's own."""
    return known.is_local or _is_on_loopback(base_url)


def _default_timeout_s(base_url: str | None) -> float:
    return _LOOPBACK_TIMEOUT_S if _is_on_loopback(base_url) else _DEFAULT_TIMEOUT_S


def _is_on_loopback(base_url: str | None) -> bool:
    return is_loopback(urlsplit(base_url or "").hostname or "")

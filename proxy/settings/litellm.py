"""Support for LiteLLM configuration files: keys with an effect are adopted, others are reported, not refused."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

# LiteLLM's sections without a counterpart in Throughline.
FOREIGN_SECTIONS = frozenset(
    {
        "agent_list", "agents", "assistant_settings", "cache", "callback_settings", "classifier_plugin",
        "default_team_settings", "default_vertex_config", "files_settings", "finetune_settings", "guardrails",
        "include", "mcp_aliases", "mcp_servers", "mcp_tools", "pass_through_endpoints", "plugins", "policies",
        "policy_attachments", "prompts", "sandbox_tools", "search_tools", "vector_store_registry", "worker_registry",
    }
)  # fmt: skip

# `litellm_settings` that become `router_settings`, unless `router_settings` sets them.
_OF_ROUTER = {
    "num_retries": "num_retries",
    "request_timeout": "timeout",
    "fallbacks": "fallbacks",
    "default_fallbacks": "default_fallbacks",
    "context_window_fallbacks": "context_window_fallbacks",
    "allowed_fails": "allowed_fails",
    "cooldown_time": "cooldown_time",
    "model_group_alias_map": "model_group_alias",
}

# `litellm_settings` that name callbacks for calls.
_OF_CALLBACKS = {"success_callback": "success", "failure_callback": "failure", "callbacks": "both"}
_HIDES = "turn_off_message_logging"

# Settings that match Throughline's behaviour: unsupported parameters do not fail, weights decide, no telemetry is sent.
_GRANTED = {"drop_params": None, "routing_strategy": "simple-shuffle", "telemetry": None}


def adopt(raw: Mapping[str, Any], defaults: Mapping[str, Any]) -> dict[str, Any]:
    """Return top-level settings with LiteLLM's sections converted to Throughline's.

    Args:
        raw: Settings from all sources.
        defaults: Defaults of ``router_settings``; other values take precedence over ``litellm_settings``.

    Returns:
        The settings; ``without_effect`` lists the ignored keys; ``litellm_master_key``, ``litellm_callbacks`` and
        ``environment_variables`` hold LiteLLM settings without a counterpart.
    """
    settings = {name: value for name, value in raw.items() if name not in FOREIGN_SECTIONS and value is not None}
    ignored = [name for name, value in raw.items() if name in FOREIGN_SECTIONS and value]
    if isinstance(settings.get("model_list"), list):
        settings["model_list"] = _with_credentials(settings["model_list"], settings.get("credential_list"))
    settings.pop("credential_list", None)
    general = _section(settings.pop("general_settings", None))
    library = _section(settings.pop("litellm_settings", None))
    router = _section(settings.get("router_settings"))
    if isinstance(router.get("disable_cooldowns"), bool) and router.pop("disable_cooldowns"):
        router["cooldown_time"] = 0
    ignored += [f"router_settings.{name}" for name in router if name not in defaults and not _is_granted(name, router)]
    ignored += [
        f"litellm_settings.{name}"
        for name in library
        if name not in {*_OF_ROUTER, *_OF_CALLBACKS, _HIDES} and not _is_granted(name, library)
    ]
    ignored += [f"general_settings.{name}" for name in general if name != "master_key"]
    inherited = {_OF_ROUTER[name]: value for name, value in library.items() if name in _OF_ROUTER and value is not None}
    own = {name: value for name, value in router.items() if name in defaults and value != defaults[name]}
    if inherited or own or "router_settings" in settings:
        settings["router_settings"] = {**inherited, **own}
    if isinstance(general.get("master_key"), str):
        settings["litellm_master_key"] = general["master_key"]
    if any(library.get(name) for name in _OF_CALLBACKS):
        settings["litellm_callbacks"] = {ours: _names(library.get(theirs)) for theirs, ours in _OF_CALLBACKS.items()}
        settings["litellm_callbacks"]["hides_messages"] = library.get(_HIDES) is True
    settings["without_effect"] = tuple(ignored)
    return settings


def _with_credentials(model_list: list[Any], credentials: object) -> list[Any]:
    """Return the model list with named credentials resolved in the entries that use them."""
    listed = [_section(one) for one in credentials] if isinstance(credentials, list) else []
    values = {one.get("credential_name"): _section(one.get("credential_values")) for one in listed}
    written = []
    for entry in model_list:
        params = _section(_section(entry).get("litellm_params"))
        name = params.pop("litellm_credential_name", None)
        written.append({**entry, "litellm_params": {**values.get(name, {}), **params}} if name else entry)
    return written


def _names(value: object) -> list[str]:
    return [str(one) for one in (value if isinstance(value, list) else [value] if value else [])]


def _section(value: object) -> dict[str, Any]:
    return dict(value) if isinstance(value, Mapping) else {}


def _is_granted(name: str, section: Mapping[str, Any]) -> bool:
    return name in _GRANTED and _GRANTED[name] in (None, section[name])

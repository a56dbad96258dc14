"""Settings of providers and of their fallbacks."""

from __future__ import annotations

from typing import Any

from pydantic import Field, PositiveInt, SecretStr

from proxy.settings.section import Section


class UpstreamSettings(Section):
    """Connections to providers."""

    url: str | None = Field(
        None, description="Base URL of one OpenAI-compatible server for all models that `model_list` does not name."
    )
    api_key: SecretStr | None = Field(None, description="Key for `upstream.url`; unset: the client's own key.")
    connect_timeout_s: float = Field(
        10.0, gt=0, description="Seconds to connect to a provider before the next one is tried."
    )
    chat_only: bool = Field(
        False, description="Translate responses for `upstream.url`, a server that has chat completions only."
    )
    context_windows: dict[str, PositiveInt] = Field(
        {},
        description="Context window in tokens by pattern of model, where the model map is wrong: `{local/*: 32768}`.",
    )


class RouterSettings(Section):
    """Fallbacks among the deployments of a model, in LiteLLM's words."""

    num_retries: int = Field(0, ge=0, le=20, description="Tries after the first, over the deployments of a model.")
    retry_after: float = Field(
        0.5, ge=0, description="Seconds before the same deployment is tried again; doubles each time."
    )
    timeout: float | None = Field(
        None,
        gt=0,
        description="Seconds of silence after which a provider has failed, `upstream.url` too; unset: as long"
        " as the client waits.",
    )
    stream_timeout: float | None = Field(None, gt=0, description="`timeout` of streams; unset: the same.")
    allowed_fails: int = Field(0, ge=0, description="Failures within a minute before a deployment is tried last.")
    cooldown_time: float = Field(
        5.0, ge=0, description="Seconds for which a failing deployment is tried last; 0: never."
    )
    fallbacks: list[dict[str, list[Any]]] = Field(
        [], description="Models tried when all deployments of one failed: `[{gpt-4o: [claude-sonnet]}]`, `*` for any."
    )
    default_fallbacks: list[str] = Field([], description="Models tried when any other one failed.")
    context_window_fallbacks: list[dict[str, list[Any]]] = Field(
        [], description="Models tried when the provider says that a request does not fit the window."
    )
    model_group_alias: dict[str, Any] = Field({}, description="Other names of models: `{gpt-4: gpt-4o}`.")

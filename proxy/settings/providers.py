"""Settings of providers and of their fallbacks."""

from __future__ import annotations

from typing import Any

from pydantic import Field, PositiveInt, SecretStr

from proxy.settings.section import Section


class UpstreamSettings(Section):
    """Connections to providers."""

    url: str | None = Field(None, description="One OpenAI-compatible server that everything is sent to.")
    api_key: SecretStr | None = Field(None, description="Key for `upstream.url`; unset: the client's own key.")
    connect_timeout_s: float = Field(10.0, gt=0, description="Seconds to connect to a provider.")
    chat_only: bool = Field(
        False, description="The server at `upstream.url` knows chat completions only; responses are translated for it."
    )
    context_windows: dict[str, PositiveInt] = Field(
        {}, description="Tokens of a request by patterns of models, where the model map is wrong: `{local/*: 32768}`."
    )


class RouterSettings(Section):
    """Fallbacks among the deployments of a model, in LiteLLM's words."""

    num_retries: int = Field(0, ge=0, le=20, description="Tries after the first, over the deployments of a model.")
    retry_after: float = Field(0.5, ge=0, description="Seconds before the same deployment is tried again; doubles.")
    timeout: float | None = Field(
        None, gt=0, description="Seconds of silence allowed, of `upstream.url` too; unset: as the client."
    )
    stream_timeout: float | None = Field(None, gt=0, description="The same for streams; unset: `timeout`.")
    allowed_fails: int = Field(0, ge=0, description="Failures within a minute before a deployment is left alone.")
    cooldown_time: float = Field(5.0, ge=0, description="Seconds for which a failing deployment comes last; 0: never.")
    fallbacks: list[dict[str, list[Any]]] = Field(
        [], description="Models that stand in when all deployments failed: `[{gpt-4o: [claude-sonnet]}]`, `*` for any."
    )
    default_fallbacks: list[str] = Field([], description="Models that stand in for every other one.")
    context_window_fallbacks: list[dict[str, list[Any]]] = Field(
        [], description="Models that stand in when the provider says that a request does not fit the window."
    )
    model_group_alias: dict[str, Any] = Field({}, description="Other names of models: `{gpt-4: gpt-4o}`.")

"""Sections of the settings, except those of memory: server, keys, limits, worker, telemetry, providers, files."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, PositiveInt, SecretStr, ValidationInfo, field_validator

from proxy.settings.explain import problem_of_url, without_password

PLACEHOLDER_KEYS = [
    "EMPTY", "empty", "none", "None", "null", "dummy", "fake", "test", "ollama", "lm-studio", "no-key",
    "no-key-required", "not-needed", "sk-no-key-required", "sk-xxx", "x", "xxx", "-",
]  # fmt: skip
_WEB_ADDRESSES = ("url", "hub_url", "base_url", "otlp_endpoint")
_WHOLE = ("hub_url", "otlp_endpoint")  # sent without a key, so user info in the URL is allowed


class Section(BaseModel):
    """Base of settings sections; refuses unknown fields and validates defaults too."""

    model_config = ConfigDict(extra="forbid", validate_default=True, allow_inf_nan=False)

    @field_validator("*")
    @classmethod
    def _is_reachable(cls, value: Any, info: ValidationInfo) -> Any:
        """Refuse an invalid URL of a web server."""
        name = info.field_name or ""
        is_address = name in _WEB_ADDRESSES or name.endswith("_base_url")
        if is_address and isinstance(value, str) and (problem := problem_of_url(value, takes_query=name in _WHOLE)):
            raise ValueError(f"{without_password(value)!r} {problem}")
        return value


class ServerSettings(Section):
    """Address and limits of the HTTP server."""

    host: str = Field(
        "127.0.0.1",
        description="Address to listen on; one beyond loopback needs `auth.mode: keys` or `allow_insecure_bind`.",
    )
    port: int = Field(8787, ge=0, le=65535, description="Port to listen on; 0 takes a free one.")
    data_dir: Path = Field(Path("./data"), description="Folder of everything that is kept.")
    workers: int = Field(1, ge=1, le=64, description="Server processes sharing the data folder.")
    allow_insecure_bind: bool = Field(
        False,
        description="Allow an address beyond loopback in `passthrough` mode.",
    )
    max_body_bytes: int = Field(64 * 2**20, ge=1024, description="Largest request body accepted, in bytes.")
    request_timeout_s: float = Field(
        60.0, gt=0, description="Seconds for a request's head to arrive whole, and for its body to make progress."
    )
    graceful_shutdown_s: float = Field(
        30.0, ge=0, description="Seconds that running replies get to end at shutdown; then they are cut."
    )
    heartbeat_s: float = Field(
        0.0, ge=0, description="Seconds of silence in a stream before a `: comment` line of the proxy's own; 0: none."
    )
    cors_origins: list[str] = Field(
        [],
        description="Origins whose pages may read replies in a browser, as `https://chat.example.org`; `*`: "
        "all of them.",
    )

    @field_validator("data_dir", mode="before")
    @classmethod
    def _is_named(cls, value: Any) -> Any:
        """Refuse an empty name, as from an unset variable: it would mean the current folder."""
        if isinstance(value, str) and not value.strip():
            raise ValueError("The data folder has no name. Name one, as ./data, or leave the setting out")
        return value


class AuthSettings(Section):
    """Keys and identity of clients."""

    mode: Literal["passthrough", "keys"] = Field(
        "passthrough",
        description="`passthrough`: clients bring their provider's key; `keys`: keys made by `throughline "
        "keys create`.",
    )
    placeholder_keys: list[str] = Field(
        PLACEHOLDER_KEYS, description='Client keys that mean "no key" and identify nobody; exact, whole strings.'
    )
    secret: SecretStr | None = Field(
        None, description="Secret for hashing keys and user ids; unset: made once and kept in the data folder."
    )
    openwebui_jwt_secret: SecretStr | None = Field(
        None,
        description="Open WebUI's FORWARD_USER_INFO_HEADER_JWT_SECRET; if set, only users that it signs for count.",
    )
    share_provider_account: bool = Field(
        False,
        description="In `keys` mode, let every key reach files, batches … of the operator's account at the provider.",
    )


class LimitsSettings(Section):
    """Limits of one key (in `passthrough` mode of one tenant), unless the key says otherwise."""

    requests_per_minute: int | None = Field(None, ge=1, description="Requests a minute; unset: no limit.")
    tokens_per_minute: int | None = Field(
        None, ge=1, description="Tokens a minute, as providers count them; unset: no limit."
    )
    concurrent_streams: int | None = Field(None, ge=1, description="Streams at a time; unset: no limit.")


class WorkerSettings(Section):
    """The background half."""

    enabled: bool = Field(True, description="Learn in this process; False: only in `throughline worker`.")
    concurrency: int | None = Field(
        None, ge=1, description="Users whose turns are learned at a time in one process; unset: 2."
    )
    lease_s: float = Field(
        30.0,
        gt=0,
        description="Seconds without a sign of life after which another process takes over a worker's users.",
    )


class TelemetrySettings(Section):
    """Logs and metrics; neither ever holds keys, prompts or memory."""

    log_level: Literal["debug", "info", "warning", "error"] = Field("info", description="Lowest level that is logged.")
    log_format: Literal["console", "json"] = Field(
        "console", description="`console`: lines for a reader; `json`: one object a line."
    )
    access_log: bool = Field(
        True, description="Log one line a request, at level info: route, status, times, model, memory; never content."
    )
    metrics: bool = Field(True, description="Serve Prometheus metrics at `/metrics`.")
    otlp_endpoint: str | None = Field(
        None,
        description="URL of an OpenTelemetry collector (OTLP over HTTP), as `http://host:4318`; unset: "
        "OpenTelemetry's own variables.",
    )


class MediaSettings(Section):
    """Files and images: what is read of them, within which limits."""

    max_file_bytes: int = Field(48 * 2**20, ge=1024, description="Largest file read, in bytes.")
    limits: Literal["small", "normal", "large"] = Field(
        "normal",
        description="`small`, `normal` or `large`: limits on reading one file, by pages, pixels, time, RAM; "
        "see deploy/files.md.",
    )
    ocr: Literal["auto", "rapidocr", "tesseract", "off"] = Field(
        "auto",
        description="`rapidocr` (the extra `ocr`), `tesseract` (as installed) or `off`; `auto`: Tesseract "
        "where it has `ocr_languages`, else the extra.",
    )
    ocr_languages: list[str] = Field(
        [], description="Languages that Tesseract reads, by its names: `[rus, eng]`; empty: English."
    )
    fetch_urls: bool = Field(
        False, description="Fetch images and files that a message names by URL; never from private addresses."
    )
    caption_model: str | None = Field(
        None, description="Model that describes images, as LiteLLM names it; unset: only the text in them is read."
    )
    caption_api_key: SecretStr | None = Field(
        None, description="Key of `caption_model`; unset: the provider's own variable."
    )
    caption_base_url: str | None = Field(None, description="Base URL of `caption_model`; unset: the provider's.")
    caption_deadline_ms: int = Field(
        10_000,
        ge=0,
        description="Milliseconds that a request waits for words in place of images and files that the model "
        "cannot take.",
    )
    text_only_models: list[str] = Field(
        ["demo"], description="Patterns of models that take no images, besides those of the model map."
    )
    tool_results: bool = Field(
        True, description="Read images and files in the results of tools too; False: they are sent on and not kept."
    )


class FilesSettings(Section):
    """Handling of uploads to `/v1/files`."""

    handling: Literal["keep", "forward", "both"] = Field(
        "keep", description="Uploads are kept as memory (`keep`), sent to the provider (`forward`), or both (`both`)."
    )


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

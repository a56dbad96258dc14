"""Settings of the server: listening, keys, limits, telemetry."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal

from pydantic import Field, SecretStr, field_validator

from proxy.settings.section import Section

PLACEHOLDER_KEYS = [
    "EMPTY", "empty", "none", "None", "null", "dummy", "fake", "test", "ollama", "lm-studio", "no-key",
    "no-key-required", "not-needed", "sk-no-key-required", "sk-xxx", "x", "xxx", "-",
]  # fmt: skip


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
        """Refuse an empty name, as of a variable that is not set: it would be the current folder."""
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

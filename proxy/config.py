"""Every setting, read in this one module: defaults < YAML < environment < flags."""

from __future__ import annotations

import ipaddress
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, PositiveInt, SecretStr, ValidationError, model_validator
from pydantic_settings import BaseSettings, PydanticBaseSettingsSource, SettingsConfigDict, YamlConfigSettingsSource

from proxy.errors import ConfigError
from proxy.litellm_config import adopt
from proxy.types import Allowance

ENV_PREFIX = "THROUGHLINE_"
CONFIG_ENV = "THROUGHLINE_CONFIG"
_METRICS_ENV = "PROMETHEUS_MULTIPROC_DIR"

PLACEHOLDER_KEYS = [
    "EMPTY", "empty", "none", "None", "null", "dummy", "fake", "test", "ollama", "lm-studio", "no-key",
    "no-key-required", "not-needed", "sk-no-key-required", "sk-xxx", "x", "xxx", "-",
]  # fmt: skip


class _Section(BaseModel):
    model_config = ConfigDict(extra="forbid", validate_default=True)


class ServerSettings(_Section):
    """Where and how the HTTP server listens."""

    host: str = Field("127.0.0.1", description="Address to listen on; another than loopback needs a safe setting.")
    port: int = Field(8787, ge=0, le=65535, description="Port to listen on; 0 takes a free one.")
    data_dir: Path = Field(Path("./data"), description="Everything that is kept lives in this folder.")
    workers: int = Field(1, ge=1, le=64, description="Server processes sharing the data folder.")
    allow_insecure_bind: bool = Field(
        False,
        description="Allow another address than loopback in `passthrough` mode.",
    )
    max_body_bytes: int = Field(64 * 2**20, ge=1024, description="Largest request body accepted, in bytes.")
    graceful_shutdown_s: float = Field(30.0, ge=0, description="Seconds that running replies get to end at shutdown.")
    heartbeat_s: float = Field(
        0.0, ge=0, description="Seconds of silence in a stream before a `: comment` line of ours; 0: none, ever."
    )
    cors_origins: list[str] = Field(
        [], description="Origins whose pages a browser lets in, as `https://chat.example.org`; `*`: all of them."
    )


class AuthSettings(_Section):
    """Who is asking."""

    mode: Literal["passthrough", "keys"] = Field(
        "passthrough", description="`passthrough`: clients bring their provider key; `keys`: keys of ours."
    )
    placeholder_keys: list[str] = Field(
        PLACEHOLDER_KEYS, description="Client keys that mean «no key» and identify nobody (exact, whole strings)."
    )
    secret: SecretStr | None = Field(
        None, description="Secret for hashing keys and user ids; unset: made once and kept in the data folder."
    )
    share_provider_account: bool = Field(
        False,
        description="In `keys` mode, let every key reach files, batches … of the operator's provider account.",
    )


class UpstreamSettings(_Section):
    """How providers are reached."""

    url: str | None = Field(None, description="One OpenAI-compatible server that everything is sent to.")
    api_key: SecretStr | None = Field(None, description="Key for `upstream.url`; unset: the client's own key.")
    connect_timeout_s: float = Field(10.0, gt=0, description="Seconds to connect to a provider.")
    read_timeout_s: float | None = Field(None, gt=0, description="Seconds of silence allowed; unset: as the client.")
    chat_only: bool = Field(
        False, description="The server at `upstream.url` knows chat completions only; responses are translated for it."
    )
    context_windows: dict[str, PositiveInt] = Field(
        {}, description="Tokens of a request by patterns of models, where the model map is wrong: `{local/*: 32768}`."
    )


class LimitsSettings(_Section):
    """What one key may ask for (in `passthrough` mode one tenant), unless the key says otherwise."""

    requests_per_minute: int | None = Field(None, ge=1, description="Requests a minute; unset: no limit.")
    tokens_per_minute: int | None = Field(
        None, ge=1, description="Tokens a minute, as providers count them; unset: no limit."
    )
    concurrent_streams: int | None = Field(None, ge=1, description="Streams at a time; unset: no limit.")
    body_bytes: int | None = Field(None, ge=1, description="Largest request body; unset: `server.max_body_bytes`.")


class RouterSettings(_Section):
    """How deployments of one model stand in for each other, in LiteLLM's words."""

    num_retries: int = Field(0, ge=0, le=20, description="Tries after the first, over the deployments of a model.")
    retry_after: float = Field(0.5, ge=0, description="Seconds before the same deployment is tried again; doubles.")
    timeout: float | None = Field(
        None, gt=0, description="Seconds of silence allowed; unset: `upstream.read_timeout_s`."
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


class MemorySettings(_Section):
    """What is remembered, recalled and injected."""

    enabled: bool = Field(True, description="False: a plain proxy.")
    default_mode: Literal["full", "read", "write", "observe", "off"] = Field(
        "full", description="Mode of a request without `X-Memory-Mode`."
    )
    deadline_ms: int = Field(300, ge=1, description="Milliseconds memory may take before the first token.")
    budget_tokens: int = Field(600, ge=0, description="Tokens of memory put into a request.")
    max_budget_tokens: int = Field(8000, ge=4000, description="Cap on `X-Memory-Budget`.")
    profile_tokens: int = Field(150, ge=0, description="Tokens of the profile block, within the budget.")
    extractor: Literal["auto", "model", "builtin"] = Field(
        "auto", description="`auto`: the model where `extraction_model` and a key are configured, else built in."
    )
    extraction_model: str | None = Field(None, description="Model that extracts facts, as LiteLLM names it.")
    extraction_api_key: SecretStr | None = Field(None, description="Key for it; unset: the provider's own variable.")
    extraction_base_url: str | None = Field(None, description="Base URL for it; unset: the provider's.")
    extraction_timeout_s: float = Field(60.0, gt=0, description="Seconds one extraction call may take.")
    builtin_debounce_s: float = Field(0.1, ge=0, description="Pause before the built-in extractor learns.")
    model_debounce_s: float = Field(4.0, ge=0, description="Pause in the chat before the model extractor is called.")
    max_wait_s: float = Field(30.0, ge=0, description="Longest that a busy chat may put off learning.")
    max_facts_per_turn: int = Field(6, ge=1, description="Most facts learned from one turn.")
    max_closed_per_turn: int = Field(12, ge=1, description="Most memories that one turn may close.")
    ephemeral_ttl_s: float = Field(
        3600.0, gt=0, description="Idle seconds after which an ephemeral conversation is gone."
    )
    conversation_fresh_s: float = Field(
        3600.0, ge=0, description="The same first message within this time is a replay, later a new statement."
    )
    compact_at: float = Field(
        0.75,
        ge=0,
        le=1,
        description="Share of the model's window at which the oldest turns give way to a summary; 0: never.",
    )
    compact_at_models: dict[str, float] = Field(
        {}, description="The same by patterns of models: `{gpt-4o*: 0.5, local/*: 0}`."
    )
    compact_to: float = Field(
        0.2, gt=0, le=1, description="Share of the window aimed at then, summary and memory included."
    )
    session_idle_minutes: float = Field(
        60.0, ge=0, description="Idle minutes after which a conversation ends and is summed up; 0: never by itself."
    )
    opening_summaries: int = Field(
        2, ge=0, le=5, description="Summaries of the last conversations that open a new one's memory."
    )
    keep_turns: int = Field(2, ge=1, description="Newest turns that stay as they are.")
    summary_tokens: int = Field(2000, ge=0, description="Most tokens of the running summary of a conversation.")
    summary_model: str | None = Field(
        None, description="Model that writes summaries in the background; unset: they are extractive."
    )
    summary_api_key: SecretStr | None = Field(None, description="Key for it; unset: the provider's own variable.")
    summary_base_url: str | None = Field(None, description="Base URL for it; unset: the provider's.")
    excerpt_tokens: int = Field(
        2000, ge=0, description="Tokens of memory in a request that leaves turns out, for what was said in them."
    )


class EmbedderSettings(_Section):
    """What turns text into vectors."""

    model: str = Field(
        "builtin",
        description="`builtin`: in the package, English first; `multilingual`: fetched once; else LiteLLM's.",
    )
    hub_url: str = Field("https://huggingface.co", description="Whence `multilingual` is fetched: a hub or mirror.")
    api_key: SecretStr | None = Field(None, description="Key for it; unset: the provider's own variable.")
    base_url: str | None = Field(None, description="Base URL for it; unset: the provider's.")
    dimension: int = Field(384, ge=1, le=8192, description="Length of its vectors; `builtin`, `multilingual`: 384.")
    threads: int = Field(1, ge=1, description="Threads of one embedding call of a model that runs here.")
    cache_bytes: int = Field(16 * 2**20, ge=0, description="Memory for vectors of texts seen before, in bytes.")


class StoreSettings(_Section):
    """Where memories, turns and the journal are kept."""

    database_url: str | None = Field(
        None, description="SQLAlchemy URL of the journal; unset: SQLite in the data folder."
    )
    synchronous: Literal["normal", "full"] = Field(
        "normal", description="SQLite's durability: `normal` survives a crash of ours, `full` also a power cut."
    )
    index_cache_bytes: int = Field(96 * 2**20, ge=0, description="Memory for users' search indexes, in bytes.")
    metadata_cache_bytes: int = Field(32 * 2**20, ge=2**20, description="LanceDB's metadata cache, in bytes.")
    receipts_days: float = Field(30.0, ge=0, description="Days that receipts are kept.")
    journal_days: float = Field(1.0, ge=0, description="Days that the payload of a finished turn stays in the journal.")
    conversations_days: float = Field(
        90.0, gt=0, description="Days after its last use that a conversation is recognised and goes on where it stood."
    )


class MediaSettings(_Section):
    """Files and images: what is read of them, within which limits."""

    max_file_bytes: int = Field(48 * 2**20, ge=1024, description="Largest file read, in bytes.")
    max_pages: int = Field(3000, ge=1, description="Most pages of a document; one with more is refused.")
    max_pixels: int = Field(40_000_000, ge=1, description="Most pixels of an image; one with more is refused.")
    max_cells: int = Field(2_000_000, ge=1, description="Most cells of a sheet; a workbook with more is refused.")
    max_text_chars: int = Field(10_000_000, ge=1000, description="Most characters read of a document.")
    max_unpacked_bytes: int = Field(
        512 * 2**20, ge=2**20, description="Most bytes that a packed file (DOCX, EPUB …) may unpack to."
    )
    parse_timeout_s: float = Field(120.0, gt=0, description="Seconds that reading one file may take.")
    parse_cpu_s: float = Field(120.0, gt=0, description="The same in seconds of processor time.")
    parse_memory_bytes: int = Field(
        1536 * 2**20, ge=128 * 2**20, description="Address space of the process that reads a file, in bytes."
    )
    ocr: Literal["auto", "off"] = Field(
        "auto", description="`auto`: text is read off pictures where the extra `ocr` is installed; `off`: never."
    )
    ocr_max_pages: int = Field(100, ge=0, description="Most pages of a document that are read off pictures.")
    ocr_timeout_s: float = Field(60.0, gt=0, description="Seconds that reading one picture may take.")
    ocr_memory_bytes: int = Field(
        4 * 2**30, ge=2**30, description="Address space of the process that reads pictures, in bytes."
    )
    fetch_urls: bool = Field(
        False, description="Fetch images and files that a message names by URL; private addresses never."
    )
    fetch_timeout_s: float = Field(15.0, gt=0, description="Seconds that fetching one may take.")
    fetch_max_redirects: int = Field(3, ge=0, le=10, description="Redirects followed, each checked anew.")
    caption_model: str | None = Field(
        None, description="Model that describes images, as LiteLLM names it; unset: only what is written in them."
    )
    caption_api_key: SecretStr | None = Field(None, description="Key for it; unset: the provider's own variable.")
    caption_base_url: str | None = Field(None, description="Base URL for it; unset: the provider's.")
    caption_timeout_s: float = Field(60.0, gt=0, description="Seconds that describing one image may take.")
    caption_deadline_ms: int = Field(
        10_000, ge=0, description="Milliseconds a request with images or files may wait for what is put in their place."
    )
    text_only_models: list[str] = Field(
        ["demo"], description="Patterns of models that take no images, beside those of which the model map says so."
    )
    tool_results: bool = Field(
        True, description="Read images and files in the results of tools as well; False: they go up and are not kept."
    )
    document_tokens: int = Field(
        4000, ge=100, description="Tokens of outline and passages that stand in for a document larger than the window."
    )


class FilesSettings(_Section):
    """What becomes of uploads to `/v1/files`."""

    handling: Literal["keep", "forward", "both"] = Field(
        "keep", description="`keep`: they stay here, as memory; `forward`: the provider's; `both`: here and there."
    )
    keep_purposes: list[str] = Field(
        ["user_data", "vision", "assistants"],
        description="Purposes of uploads that are kept; those of any other are the provider's alone.",
    )


class WorkerSettings(_Section):
    """The background half."""

    enabled: bool = Field(True, description="Learn in this process; False: `throughline worker` does.")
    concurrency: int | None = Field(
        None, ge=1, description="Users worked on at a time in one process; unset: 2, or 16 where a model extracts."
    )
    lease_s: float = Field(30.0, gt=0, description="Seconds after which a dead worker's user is taken over.")
    max_attempts: int = Field(6, ge=1, description="Tries before a turn is set aside as dead.")
    retry_base_s: float = Field(1.0, gt=0, description="First pause before another try; doubles each time.")
    gather_s: float = Field(0.05, ge=0, description="Pause before new turns are indexed, so that a burst is one write.")
    poll_s: float = Field(0.5, gt=0, description="Seconds between looks for work that other processes left.")


class TelemetrySettings(_Section):
    """Logs and metrics; neither ever holds keys, prompts or memory."""

    log_level: Literal["debug", "info", "warning", "error"] = Field("info", description="Least severe line logged.")
    log_format: Literal["console", "json"] = Field("console", description="`json`: one object a line.")
    access_log: bool = Field(
        True, description="One line a request, at level info: route, status, times, model, memory; never content."
    )
    metrics: bool = Field(True, description="Serve Prometheus metrics at `/metrics`.")
    otlp_endpoint: str | None = Field(
        None, description="OpenTelemetry collector (OTLP over HTTP), as `http://host:4318`; unset: none."
    )
    otlp_headers: dict[str, SecretStr] = Field(
        {}, description="Headers for it, as `{authorization: Bearer …}`; OpenTelemetry's own variables work too."
    )


class Settings(BaseSettings):
    """All settings; ``load_settings`` builds it from every source."""

    model_config = SettingsConfigDict(
        env_prefix=ENV_PREFIX,
        env_nested_delimiter="__",
        extra="forbid",
        validate_default=True,
        nested_model_default_partial_update=True,
    )

    server: ServerSettings = ServerSettings()
    auth: AuthSettings = AuthSettings()
    limits: LimitsSettings = LimitsSettings()
    upstream: UpstreamSettings = UpstreamSettings()
    router_settings: RouterSettings = RouterSettings()
    memory: MemorySettings = MemorySettings()
    embedder: EmbedderSettings = EmbedderSettings()
    store: StoreSettings = StoreSettings()
    media: MediaSettings = MediaSettings()
    files: FilesSettings = FilesSettings()
    worker: WorkerSettings = WorkerSettings()
    telemetry: TelemetrySettings = TelemetrySettings()
    model_list: list[dict[str, Any]] = Field(
        default=[], description="Models and their providers, as LiteLLM writes it."
    )
    # Of a LiteLLM configuration file: read where it is given, shown nowhere.
    environment_variables: dict[str, Any] = Field(default={}, exclude=True, repr=False)
    litellm_master_key: SecretStr | None = Field(default=None, exclude=True)
    litellm_callbacks: dict[str, Any] = Field(default={}, exclude=True)
    config_folder: Path | None = Field(default=None, exclude=True)
    without_effect: tuple[str, ...] = Field(default=(), exclude=True)

    @model_validator(mode="before")
    @classmethod
    def _from_litellm(cls, raw: Any) -> Any:
        return adopt(raw, RouterSettings().model_dump()) if isinstance(raw, dict) else raw

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,
        file_secret_settings: PydanticBaseSettingsSource,
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """Order the sources: flags, environment, YAML."""
        del dotenv_settings, file_secret_settings
        yaml_file = settings_cls.model_config.get("yaml_file")
        files = (YamlConfigSettingsSource(settings_cls, yaml_file=yaml_file),) if yaml_file else ()
        return (init_settings, env_settings, *files)

    @property
    def allowance(self) -> Allowance:
        """What a key may ask for that has no limits of its own."""
        limits = self.limits
        return Allowance(
            limits.requests_per_minute, limits.tokens_per_minute, limits.concurrent_streams, limits.body_bytes
        )

    @property
    def database_url(self) -> str:
        """The journal's URL, SQLite in the data folder unless set."""
        return self.store.database_url or f"sqlite+aiosqlite:///{(self.server.data_dir / 'throughline.db').resolve()}"


def load_settings(config: Path | None = None, flags: Mapping[str, Any] | None = None) -> Settings:
    """Return the settings from a YAML file, the environment and flags.

    Args:
        config: YAML file; without one, ``THROUGHLINE_CONFIG`` or nothing.
        flags: Nested values by section, as ``{"server": {"port": 9000}}``; ``None`` values are left out.

    Raises:
        ConfigError: If a file is missing or a value is unknown or wrong; the message names it and the mend.
    """
    path = config or (Path(os.environ[CONFIG_ENV]) if os.environ.get(CONFIG_ENV) else None)
    if path is not None and not path.is_file():
        raise ConfigError(
            f"The config file {str(path)!r} does not exist. Copy config.example.yaml, or leave --config out."
        )
    _refuse_unknown_variables()

    class _FromFile(Settings):
        model_config = SettingsConfigDict(yaml_file=path)

    try:
        settings = _FromFile(**_given(flags or {}), config_folder=path.resolve().parent if path is not None else None)
    except ValidationError as error:
        raise ConfigError(_explain(error)) from error
    except (ValueError, TypeError, OSError) as error:
        raise ConfigError(f"The configuration cannot be read: {error}") from error
    _refuse_unsafe_bind(settings)
    return settings


def environment() -> Mapping[str, str]:
    """Return the process environment, where providers' keys and base URLs may stand."""
    return os.environ


def export_settings(settings: Settings, config: Path | None) -> None:
    """Write settings into the environment, so that worker processes started by uvicorn read the same."""
    if config is not None:
        os.environ[CONFIG_ENV] = str(config.resolve())
    flags = {
        "SERVER__HOST": settings.server.host,
        "SERVER__PORT": str(settings.server.port),
        "SERVER__DATA_DIR": str(settings.server.data_dir.resolve()),
        "SERVER__WORKERS": str(settings.server.workers),
    }
    if settings.upstream.url:
        flags["UPSTREAM__URL"] = settings.upstream.url
    os.environ.update({f"{ENV_PREFIX}{name}": value for name, value in flags.items()})


def metrics_folder() -> Path | None:
    """Return where several processes put their metrics together; None: there is one process."""
    folder = os.environ.get(_METRICS_ENV)
    return Path(folder) if folder else None


def share_metrics(folder: Path) -> None:
    """Let the processes started from here put their metrics together in a folder, which is emptied."""
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    for left in folder.glob("*.db"):
        left.unlink(missing_ok=True)
    os.environ[_METRICS_ENV] = str(folder.resolve())


def quiet_libraries() -> None:
    """Keep libraries from reaching out or chattering; to be called before any of them is imported."""
    os.environ.setdefault("ORT_DISABLE_TELEMETRY", "1")
    os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "True")
    os.environ.setdefault("LITELLM_TELEMETRY", "False")
    os.environ.setdefault("LANCEDB_LOG", "error")
    os.environ.setdefault("LANCE_LOG", "error")
    os.environ.setdefault("RUST_LOG", "error")
    os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
    os.environ.setdefault("HF_HUB_DISABLE_TELEMETRY", "1")


def set_default_variable(name: str, value: str) -> None:
    """Set an environment variable that a library reads, unless the operator set it."""
    os.environ.setdefault(name, value)


def is_loopback(host: str) -> bool:
    """Whether an address to listen on can be reached from this machine only."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _refuse_unsafe_bind(settings: Settings) -> None:
    server = settings.server
    if is_loopback(server.host) or server.allow_insecure_bind or settings.auth.mode == "keys":
        return
    raise ConfigError(
        f"Listening on {server.host!r} in `passthrough` mode would open memory to anyone who can reach it. "
        "Set auth.mode: keys (and make keys with `throughline keys create`), or server.allow_insecure_bind: true "
        "where something in front of it keeps strangers out."
    )


def _refuse_unknown_variables() -> None:
    known = {"CONFIG", *(f"{section}__{field}".upper() for section, field, _ in every_setting()), "MODEL_LIST"}
    for variable in os.environ:
        name = variable.removeprefix(ENV_PREFIX)
        if variable.startswith(ENV_PREFIX) and name.upper() not in known and name not in ("DATA", "LIVE"):
            raise ConfigError(
                f"The environment variable {variable!r} sets nothing. Settings are named {ENV_PREFIX}SECTION__FIELD, "
                f"for example {ENV_PREFIX}SERVER__PORT; see config.example.yaml."
            )


def every_setting() -> list[tuple[str, str, str]]:
    """Return (section, field, description) of every setting; the documentation test walks it."""
    rows = []
    for section, info in Settings.model_fields.items():
        model = info.annotation
        if isinstance(model, type) and issubclass(model, _Section):
            rows += [(section, name, field.description or "") for name, field in model.model_fields.items()]
    return rows


def _given(flags: Mapping[str, Any]) -> dict[str, Any]:
    sections = {name: _given(value) if isinstance(value, Mapping) else value for name, value in flags.items()}
    return {name: value for name, value in sections.items() if value not in (None, {})}


def _explain(error: ValidationError) -> str:
    lines = []
    for problem in error.errors():
        where = ".".join(str(part) for part in problem["loc"]) or "the file"
        if problem["type"] == "extra_forbidden":
            lines.append(f"{where}: there is no such setting; see config.example.yaml for all of them.")
        else:
            lines.append(f"{where}: {problem['msg']} (got {problem.get('input')!r}).")
    return "The configuration is not valid.\n  " + "\n  ".join(lines)

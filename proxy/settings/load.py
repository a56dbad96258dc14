"""Loading of all settings, in ascending precedence: defaults, YAML, environment, flags."""

from __future__ import annotations

import ipaddress
import os
import stat
from collections.abc import Mapping
from contextlib import suppress
from difflib import get_close_matches
from pathlib import Path
from typing import Any, get_origin

import orjson
from pydantic import Field, SecretStr, ValidationError, model_validator
from pydantic_settings import BaseSettings, PydanticBaseSettingsSource, SettingsConfigDict, YamlConfigSettingsSource

from proxy.errors import ConfigError
from proxy.settings.explain import ENV_PREFIX, explain, gone, read_file
from proxy.settings.litellm import adopt
from proxy.settings.memory import EmbedderSettings, MemorySettings, StoreSettings
from proxy.settings.sections import (
    AuthSettings,
    FilesSettings,
    LimitsSettings,
    MediaSettings,
    RouterSettings,
    Section,
    ServerSettings,
    TelemetrySettings,
    UpstreamSettings,
    WorkerSettings,
)
from proxy.types import Allowance

CONFIG_ENV = "THROUGHLINE_CONFIG"
_OTHERS = 0o077
_DATABASE = "throughline.db"
_FOLDERS = ("lance", "blobs", "models", "metrics", "imports")
_KEPT = (_DATABASE, f"{_DATABASE}-wal", f"{_DATABASE}-shm", "secret.key", *_FOLDERS)
_METRICS_ENV = "PROMETHEUS_MULTIPROC_DIR"


class Settings(BaseSettings):
    """All settings; ``load_settings`` creates it from all sources."""

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
    # From a LiteLLM configuration file; not shown anywhere.
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
        """Return the sources by descending precedence: flags, environment, YAML."""
        del dotenv_settings, file_secret_settings
        yaml_file = settings_cls.model_config.get("yaml_file")
        files = (YamlConfigSettingsSource(settings_cls, yaml_file=yaml_file),) if yaml_file else ()
        return (init_settings, env_settings, *files)

    @property
    def allowance(self) -> Allowance:
        """Default limits, for keys that set none."""
        limits = self.limits
        return Allowance(limits.requests_per_minute, limits.tokens_per_minute, limits.concurrent_streams)

    @property
    def database_url(self) -> str:
        """URL of the SQL database; SQLite in the data folder unless set."""
        return self.store.database_url or f"sqlite:///{(self.server.data_dir / _DATABASE).resolve()}"


def load_settings(config: Path | None = None, flags: Mapping[str, Any] | None = None) -> Settings:
    """Return the settings from a YAML file, the environment and flags.

    Args:
        config: YAML file; None for the file in ``THROUGHLINE_CONFIG``, if set.
        flags: Nested values by section, as ``{"server": {"port": 9000}}``; ``None`` values are ignored.

    Raises:
        ConfigError: If a file is missing, or a setting is unknown or invalid; the message states the remedy.
    """
    path = config or (Path(os.environ[CONFIG_ENV]) if os.environ.get(CONFIG_ENV) else None)
    node = read_file(path) if path is not None else None
    _refuse_unknown_variables()
    _refuse_unparsed_variables()

    class _FromFile(Settings):
        model_config = SettingsConfigDict(yaml_file=path)

    try:
        settings = _FromFile(**_given(flags or {}), config_folder=path.resolve().parent if path is not None else None)
    except ValidationError as error:
        known = [*Settings.model_fields, *(f"{section}.{name}" for section, name, _ in every_setting())]
        raise ConfigError(explain(error, path=path, node=node, flags=flags or {}, known=known)) from error
    except (ValueError, TypeError, OSError) as error:
        raise ConfigError(f"The configuration cannot be read: {error}") from error
    _refuse_unsafe_bind(settings)
    return settings


def make_data_dir(settings: Settings) -> None:
    """Create the data folder if missing, accessible only to the process's user.

    Raises:
        ConfigError: If it cannot be created or written, such as a volume of another user; with the remedy.
    """
    folder = settings.server.data_dir.resolve()
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise ConfigError(
            f"The data folder {str(folder)!r} cannot be made ({error.strerror}). Name another one: --data-dir, or "
            f"{ENV_PREFIX}SERVER__DATA_DIR."
        ) from error
    if not os.access(folder, os.R_OK | os.W_OK | os.X_OK):
        is_read_only = os.statvfs(folder).f_flag & os.ST_RDONLY
        mend = "Mount its disk writable" if is_read_only else f"Give it to that user (chown {os.getuid()})"
        raise ConfigError(
            f"The data folder {str(folder)!r} cannot be written by user {os.getuid()}. {mend}, or name another one: "
            f"--data-dir, or {ENV_PREFIX}SERVER__DATA_DIR."
        )
    for path in (folder / name for name in _FOLDERS):
        if path.exists() and not (path.is_dir() and os.access(path, os.R_OK | os.W_OK | os.X_OK)):
            raise ConfigError(
                f"{str(path)!r} is no folder that user {os.getuid()} can read and write. Give it to that user (chown "
                f"-R {os.getuid()}), or move it away where it is no folder of Throughline."
            )
    for name in _KEPT:
        _close_to_others(folder / name)


def readers(folder: Path) -> str:
    """Return the mode of a folder that other system users can access, "" if they cannot."""
    mode = stat.S_IMODE(folder.stat().st_mode)
    return f"{mode:o}" if mode & _OTHERS else ""


def _close_to_others(path: Path) -> None:
    """Remove other system users' permissions that an earlier version or a loose umask left on a path."""
    with suppress(OSError):  # it does not exist, or belongs to another system user
        mode = stat.S_IMODE(path.lstat().st_mode)
        if mode & _OTHERS and not path.is_symlink():
            path.chmod(mode & ~_OTHERS)


def environment() -> Mapping[str, str]:
    """Return the process environment, which may hold providers' keys and base URLs."""
    return os.environ


def export_settings(settings: Settings, config: Path | None) -> None:
    """Write settings into the environment, for the worker processes that uvicorn starts."""
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
    """Return the folder in which several processes combine their metrics, None for a single process."""
    folder = os.environ.get(_METRICS_ENV)
    return Path(folder) if folder else None


def share_metrics(folder: Path) -> None:
    """Make child processes combine their metrics in a folder, and empty it."""
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    for left in folder.glob("*.db"):
        left.unlink(missing_ok=True)
    os.environ[_METRICS_ENV] = str(folder.resolve())


def quiet_libraries() -> None:
    """Disable telemetry, downloads and verbose logs of libraries; call it before importing them."""
    os.environ.setdefault("ORT_DISABLE_TELEMETRY", "1")
    os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "True")
    os.environ.setdefault("LITELLM_TELEMETRY", "False")
    os.environ.setdefault("LANCEDB_LOG", "error")
    os.environ.setdefault("LANCE_LOG", "error")
    os.environ.setdefault("RUST_LOG", "error")
    os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
    os.environ.setdefault("HF_HUB_DISABLE_TELEMETRY", "1")


def set_default_variable(name: str, value: str) -> None:
    """Set a library's environment variable, unless the operator has set it."""
    os.environ.setdefault(name, value)


def is_loopback(host: str) -> bool:
    """Return whether an address to listen on is reachable only from this machine."""
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


_OF_COMMANDS = ("DATA", "LIVE", "URL", "API_KEY", "USER")  # variables read by eval, the tests and mcp


def _refuse_unknown_variables() -> None:
    known = {"CONFIG", *(f"{section}__{field}".upper() for section, field, _ in every_setting()), "MODEL_LIST"}
    for variable in os.environ:
        name = variable.removeprefix(ENV_PREFIX)
        if variable.startswith(ENV_PREFIX) and name.upper() not in known and name not in _OF_COMMANDS:
            if went := gone(name.lower().replace("__", ".", 1)):
                raise ConfigError(f"The environment variable {variable!r}: {went}.")
            near = get_close_matches(name.upper(), known, 1, 0.7)
            hint = f"; did you mean {ENV_PREFIX}{near[0]}?" if near else "."
            raise ConfigError(
                f"The environment variable {variable!r} sets nothing{hint} Settings are named "
                f"{ENV_PREFIX}SECTION__FIELD, for example {ENV_PREFIX}SERVER__PORT; see config.example.yaml."
            )


def _refuse_unparsed_variables() -> None:
    """Refuse a list or mapping that is invalid JSON; pydantic's message would name only its section."""
    several = {"MODEL_LIST"}
    for section, info in Settings.model_fields.items():
        model = info.annotation
        if isinstance(model, type) and issubclass(model, Section):
            fields = model.model_fields.items()
            several |= {
                f"{section}__{name}".upper() for name, one in fields if get_origin(one.annotation) in (list, dict)
            }
    for variable, value in os.environ.items():
        if variable.startswith(ENV_PREFIX) and variable.removeprefix(ENV_PREFIX).upper() in several:
            try:
                orjson.loads(value)
            except orjson.JSONDecodeError as error:
                raise ConfigError(
                    f"The environment variable {variable!r} is no JSON. A list is written as "
                    """'["one", "two"]', a mapping as '{"name": "value"}'."""
                ) from error


def every_setting() -> list[tuple[str, str, str]]:
    """Return (section, field, description) of every setting; a test of the documentation uses it."""
    rows = []
    for section, info in Settings.model_fields.items():
        model = info.annotation
        if isinstance(model, type) and issubclass(model, Section):
            rows += [(section, name, field.description or "") for name, field in model.model_fields.items()]
    return rows


def _given(flags: Mapping[str, Any]) -> dict[str, Any]:
    sections = {name: _given(value) if isinstance(value, Mapping) else value for name, value in flags.items()}
    return {name: value for name, value in sections.items() if value not in (None, {})}

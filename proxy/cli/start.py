"""Server start: settings, port, data folder and versions are checked before heavy imports."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import structlog

from proxy.cli.preflight import bound, refuse_newer_data, refuse_unusable_addresses, require_space
from proxy.clock import Clock
from proxy.errors import ConfigError, ProxyError, StoreUnavailable
from proxy.memory.model.access import judge_access
from proxy.process.occupancy import first, occupied
from proxy.settings.load import (
    Settings,
    environment,
    export_settings,
    load_settings,
    make_data_dir,
    quiet_libraries,
    share_metrics,
)
from proxy.settings.memory import MemorySettings
from proxy.telemetry import configure_logging

_log = structlog.get_logger(__name__)


def start(config: Path | None, flags: Mapping[str, Any]) -> None:
    """Serve until a stop signal.

    Raises:
        ConfigError: If the start fails; the message states problem, place and remedy.
        SystemExit: If it fails later, or if the log is JSON, which then contains the message.
    """
    settings = load_settings(config, flags)
    configure_logging(settings.telemetry)
    with ExitStack() as use:
        try:
            listening = _prepared(settings, config, use)
        except ProxyError as error:
            if settings.telemetry.log_format != "json":
                raise
            _log.error("start refused", reason=str(error))
            raise SystemExit(2) from error
        _serve(settings, listening)


def look_at(config: Path | None, flags: Mapping[str, Any], *, repairs: bool = False) -> bool:
    """Print the findings with remedies; return whether all are fine.

    Args:
        config: YAML file.
        flags: Flags of the command line.
        repairs: Whether to repair damaged stores; refused while a server runs.
    """
    from proxy.cli.check import diagnose  # noqa: PLC0415 - imports every component

    settings = load_settings(config, flags)
    configure_logging(settings.telemetry)
    findings = asyncio.run(diagnose(settings, repairs=repairs))
    for finding in findings:
        print(finding.line())
    return all(finding.is_fine for finding in findings)


def work(config: Path | None, flags: Mapping[str, Any]) -> None:
    """Learn in the background until a stop signal."""
    settings = load_settings(config, flags)
    configure_logging(settings.telemetry)
    make_data_dir(settings)
    with occupied(settings.server.data_dir) as lock:
        require_space(settings)
        refuse_newer_data(settings)
        _refuse_damage(settings, lock)
        from proxy.app import work as working  # noqa: PLC0415 - a second of CPU that a refused start need not wait for

        asyncio.run(working(settings))


def _prepared(settings: Settings, config: Path | None, use: ExitStack) -> socket.socket:
    """Return the bound socket of a server after all checks that precede the start.

    ``use`` holds the server's lock on its data folder.
    """
    listening = bound(settings.server.host, settings.server.port)
    try:
        refuse_unusable_addresses(settings)
        make_data_dir(settings)
        lock = use.enter_context(occupied(settings.server.data_dir))
        require_space(settings)
        refuse_newer_data(settings)
        _refuse_damage(settings, lock)
    except ConfigError:
        listening.close()
        raise
    settings.server.port = listening.getsockname()[1]
    quiet_libraries()
    export_settings(settings, config)
    if settings.server.workers > 1 and settings.telemetry.metrics:
        share_metrics(settings.server.data_dir / "metrics")
    return listening


def _refuse_damage(settings: Settings, lock: int) -> None:
    """Open the stores of the data folder once before serving, and end the leases of dead processes.

    Raises:
        ConfigError: If one is damaged, unusable, or belongs to another folder.
    """
    from proxy.access.folder import open_folder  # noqa: PLC0415 - imports the database's library
    from proxy.store.waits import end_leases  # noqa: PLC0415

    async def look() -> None:
        folder = await open_folder(settings, Clock(), looks_closely=True)
        try:
            if settings.store.database_url:  # may serve processes of other machines
                return
            with first(lock) as is_first:
                if is_first and (ended := await end_leases(folder.database)):
                    _log.info("leases of killed processes were ended", leases=ended)
        finally:
            await folder.database.close()

    try:
        asyncio.run(look())
    except StoreUnavailable as error:
        raise ConfigError(str(error)) from error


def _serve(settings: Settings, listening: socket.socket) -> None:
    import uvicorn  # noqa: PLC0415 - needed only by a server

    from proxy.process.connection import Connection  # noqa: PLC0415
    from proxy.process.stopping import Server, Supervisor  # noqa: PLC0415

    _announce(settings)
    server = settings.server
    config = uvicorn.Config(
        "proxy.app:from_environment",
        factory=True,
        host=server.host,
        port=server.port,
        workers=server.workers,
        loop="uvloop",
        http=Connection,
        log_config=None,
        access_log=False,
        date_header=False,
        server_header=False,
        timeout_graceful_shutdown=round(server.graceful_shutdown_s),
        timeout_keep_alive=75,
    )
    serving = Server(config)
    try:
        if server.workers > 1:
            Supervisor(config, sockets=[listening]).run()
        else:
            serving.run(sockets=[listening])
    except KeyboardInterrupt:
        pass
    if server.workers == 1 and not serving.started:
        raise SystemExit(2)


def banner(settings: Settings) -> str:
    """Return the start message: address, active components, and a command to try."""
    rows = _parts(settings)
    lines = "\n".join(f"  {name:<10} {value}" for name, value in rows.items())
    is_demo = rows["provider"].startswith("none")
    model = "demo" if is_demo else "MODEL"
    if settings.auth.mode == "keys":
        key, where_from = "$KEY", " with a key that `throughline keys create` made"
    else:
        key, where_from = ("no-key" if is_demo else "$YOUR_PROVIDER_KEY"), ""
    return (
        f"Throughline: memory for any LLM client by changing one line, base_url.\n\n{lines}\n\nTry it{where_from}:\n"
        f'  curl {rows["base URL"]}/chat/completions -H "Authorization: Bearer {key}" '
        "-H 'Content-Type: application/json' \\\n"
        f'    -d \'{{"model": "{model}", "messages": [{{"role": "user", "content": "I use Shram and Magnet as '
        "productivity tools\"}]}'\n"
    )


def _announce(settings: Settings) -> None:
    """Print the start message, or log it as one line if the log is JSON."""
    if settings.telemetry.log_format == "json":
        parts = {name.replace(" ", "_").lower(): value for name, value in _parts(settings).items()}
        _log.info("serving", **parts)
    else:
        print(banner(settings), flush=True)


def _parts(settings: Settings) -> dict[str, str]:
    memory = settings.memory
    variables = [
        name
        for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL", "ANTHROPIC_API_KEY", "GEMINI_API_KEY")
        if environment().get(name)
    ]
    provider = settings.upstream.url or (
        f"{len(settings.model_list)} models of the config" if settings.model_list else ""
    )
    provider = provider or (f"by {', '.join(variables)}" if variables else "none: the offline model `demo` answers")
    server = settings.server
    host = "127.0.0.1" if server.host in ("0.0.0.0", "::") else server.host  # noqa: S104 - compared only
    return {
        "base URL": f"http://{host}:{server.port}/v1",
        "data": str(server.data_dir.resolve()),
        "provider": provider,
        "memory": "on" if memory.enabled else "off",
        "embedder": "built in (all-MiniLM-L6-v2)" if settings.embedder.model == "builtin" else settings.embedder.model,
        "extractor": _extractor(memory),
        "keys": "clients bring their provider's key" if settings.auth.mode == "passthrough" else "keys of this server",
    }


def _extractor(settings: MemorySettings) -> str:
    try:
        access = judge_access(settings, environment())
    except ConfigError:
        if settings.extractor == "model":
            raise
        return f"built in (no key for {settings.extraction_model}; `throughline check` tells more)"
    return access.model if access else "built in"

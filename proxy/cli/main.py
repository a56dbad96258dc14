"""The ``throughline`` command."""

from __future__ import annotations

import asyncio
import sys
from importlib import import_module
from pathlib import Path
from typing import Annotated, Any

import structlog
import typer
import uvicorn
from typer.core import TyperGroup

from proxy.errors import ConfigError, ProxyError
from proxy.process.connection import Connection
from proxy.settings.load import (
    Settings,
    environment,
    export_settings,
    keep_private,
    load_settings,
    make_data_dir,
    quiet_libraries,
    share_metrics,
)
from proxy.telemetry import configure_logging

_ELSEWHERE = {"keys": "proxy.cli.keys", "ingest": "proxy.cli.ingest", "eval": "proxy.evals.command"}


class _Commands(TyperGroup):
    """All commands; those of other modules are imported when they are named: a server needs none of them."""

    def list_commands(self, ctx: Any) -> list[str]:
        """Return the names of all commands."""
        return [*super().list_commands(ctx), *_ELSEWHERE]

    def get_command(self, ctx: Any, cmd_name: str) -> Any:  # click's types, of which Typer has its own from 0.26 on
        """Return a command by its name."""
        module = _ELSEWHERE.get(cmd_name)
        if module is None:
            return super().get_command(ctx, cmd_name)
        command = typer.main.get_command(import_module(module).app)
        command.name = cmd_name
        return command


app = typer.Typer(
    cls=_Commands,
    help="Memory for any LLM client by changing one line: base_url.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    add_completion=False,
)

Config = Annotated[Path | None, typer.Option("--config", help="YAML file; see config.example.yaml.")]
DataDir = Annotated[Path | None, typer.Option("--data-dir", help="Folder that keeps everything.")]
Upstream = Annotated[str | None, typer.Option("--upstream", help="One OpenAI-compatible server to send everything to.")]


@app.command()
def serve(
    config: Config = None,
    host: Annotated[str | None, typer.Option(help="Address to listen on.")] = None,
    port: Annotated[int | None, typer.Option(help="Port to listen on.")] = None,
    data_dir: DataDir = None,
    upstream: Upstream = None,
    workers: Annotated[int | None, typer.Option(help="Server processes sharing the data folder.")] = None,
) -> None:
    """Serve the proxy."""
    flags = {
        "server": {"host": host, "port": port, "data_dir": data_dir, "workers": workers},
        "upstream": {"url": upstream},
    }
    settings = load_settings(config, flags)
    configure_logging(settings.telemetry)
    quiet_libraries()
    make_data_dir(settings)
    export_settings(settings, config)
    server = settings.server
    if server.workers > 1 and settings.telemetry.metrics:
        share_metrics(server.data_dir / "metrics")
    _announce(settings)
    uvicorn.run(
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


@app.command()
def check(config: Config = None, data_dir: DataDir = None, upstream: Upstream = None) -> None:
    """Check the configuration, the stores, the embedder and the providers, and say how to mend what fails."""
    from proxy.cli.check import diagnose  # noqa: PLC0415 - imports every part of the house

    settings = load_settings(config, {"server": {"data_dir": data_dir}, "upstream": {"url": upstream}})
    configure_logging(settings.telemetry)
    findings = asyncio.run(diagnose(settings))
    for finding in findings:
        print(finding.line())
    if any(not finding.is_fine for finding in findings):
        raise typer.Exit(1)


@app.command()
def worker(config: Config = None, data_dir: DataDir = None) -> None:
    """Learn in the background without serving; for servers with worker.enabled: false."""
    from proxy.app import work  # noqa: PLC0415 - a second of CPU that the commands for keys need not wait for

    settings = load_settings(config, {"server": {"data_dir": data_dir}})
    configure_logging(settings.telemetry)
    asyncio.run(work(settings))


def main() -> None:
    """Run the command line; an error of ours is one paragraph, not a traceback."""
    keep_private()
    try:
        app()
    except ConfigError as error:
        print(f"throughline: {error}", file=sys.stderr)
        raise SystemExit(2) from error
    except ProxyError as error:
        print(f"throughline: {error}", file=sys.stderr)
        raise SystemExit(1) from error


def banner(settings: Settings) -> str:
    """Return what is said at start: where, what is on, and a line to try."""
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
    """Say at start what runs here: to a reader in a terminal, or as one line of the log where that is JSON."""
    if settings.telemetry.log_format == "json":
        parts = {name.replace(" ", "_").lower(): value for name, value in _parts(settings).items()}
        structlog.get_logger(__name__).info("serving", **parts)
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
    extractor = memory.extractor if memory.extractor != "auto" else (memory.extraction_model or "built in")
    server = settings.server
    host = "127.0.0.1" if server.host in ("0.0.0.0", "::") else server.host  # noqa: S104 - compared only
    return {
        "base URL": f"http://{host}:{server.port}/v1",
        "data": str(server.data_dir.resolve()),
        "provider": provider,
        "memory": "on" if memory.enabled else "off",
        "embedder": "built in (all-MiniLM-L6-v2)" if settings.embedder.model == "builtin" else settings.embedder.model,
        "extractor": "built in" if extractor == "builtin" else extractor,
        "keys": "clients bring their provider's key" if settings.auth.mode == "passthrough" else "keys of this server",
    }

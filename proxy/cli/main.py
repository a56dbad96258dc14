"""The ``throughline`` command; modules of a subcommand are imported when it runs."""

from __future__ import annotations

import os
import sys
from importlib import import_module
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperCommand, TyperGroup

from proxy.errors import ConfigError, ProxyError

_ELSEWHERE = {
    "keys": ("proxy.cli.keys", "Keys of this server, for auth.mode: keys."),
    "ingest": (
        "proxy.cli.ingest",
        "Give files to a running server to be remembered: PDF, Word, slides, sheets, web pages, text, images.",
    ),
    "export": ("proxy.cli.transfer:exporting", "Write everything that is remembered of a user as JSON lines."),
    "import": (
        "proxy.cli.transfer:importing",
        "Bring an export into a user's memory: ours, of ChatGPT, Claude or mem0, or a list.",
    ),
    "erase": ("proxy.cli.transfer:erasing", "Destroy everything that is remembered of a user, for good."),
    "reembed": ("proxy.cli.upkeep:embedding", "Compute the vectors anew that another embedding model made."),
    "hygiene": ("proxy.cli.upkeep:tidying", "Show what nobody used for long, and archive it."),
    "mcp": ("proxy.cli.mcp", "Serve recall, remember, forget, undo and list_memories to an MCP client over stdio."),
    "eval": ("proxy.evals.command", "Replay conversations as traffic and measure what reaches the model."),
}


class _Commands(TyperGroup):
    """Command group that imports other modules' commands only when they run, not for ``serve`` or the help."""

    _lists = False

    def list_commands(self, ctx: Any) -> list[str]:
        """Return the names of all commands."""
        return [*super().list_commands(ctx), *_ELSEWHERE]

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Write the help, from the name and one line of each command, without importing them."""
        self._lists = True
        try:
            super().format_help(ctx, formatter)
        finally:
            self._lists = False

    def get_command(self, ctx: Any, cmd_name: str) -> Any:  # click's types; Typer has its own copies from 0.26 on
        """Return a command by its name."""
        if cmd_name not in _ELSEWHERE:
            return super().get_command(ctx, cmd_name)
        module, text = _ELSEWHERE[cmd_name]
        if self._lists:
            return TyperCommand(cmd_name, help=text, rich_markup_mode=None)
        module, _, name = module.partition(":")
        command = typer.main.get_command(getattr(import_module(module), name or "app"))
        command.name = cmd_name
        return command


app = typer.Typer(
    cls=_Commands,
    help="Memory for any LLM client by changing one line: base_url.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    add_completion=False,
)

Config = Annotated[Path | None, typer.Option("--config", readable=False, help="YAML file; see config.example.yaml.")]
DataDir = Annotated[str | None, typer.Option("--data-dir", help="Folder that keeps everything.")]
Upstream = Annotated[str | None, typer.Option("--upstream", help="One OpenAI-compatible server to send everything to.")]


def _say_version(is_asked: bool) -> None:
    if is_asked:
        from importlib.metadata import version  # noqa: PLC0415 - 20 ms that no other command needs

        print(f"throughline {version('throughline')}")
        raise typer.Exit


@app.callback()
def options(
    version: Annotated[
        bool, typer.Option("--version", help="Show the version and exit.", callback=_say_version, is_eager=True)
    ] = False,
) -> None:
    """Memory for any LLM client by changing one line: base_url."""


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
    from proxy.cli.start import start  # noqa: PLC0415 - reads settings

    flags = {
        "server": {"host": host, "port": port, "data_dir": data_dir, "workers": workers},
        "upstream": {"url": upstream},
    }
    start(config, flags)


@app.command()
def check(
    config: Config = None,
    data_dir: DataDir = None,
    upstream: Upstream = None,
    repair: Annotated[
        bool, typer.Option("--repair", help="Mend damaged stores; nothing is deleted. Stop the server before.")
    ] = False,
) -> None:
    """Check the configuration, the stores, the embedder and the providers, and say how to mend what fails."""
    from proxy.cli.start import look_at  # noqa: PLC0415 - reads settings

    if not look_at(config, {"server": {"data_dir": data_dir}, "upstream": {"url": upstream}}, repairs=repair):
        raise typer.Exit(1)


@app.command()
def worker(config: Config = None, data_dir: DataDir = None) -> None:
    """Learn in the background without serving; for servers with worker.enabled: false."""
    from proxy.cli.start import work  # noqa: PLC0415 - reads settings

    work(config, {"server": {"data_dir": data_dir}})


def main() -> None:
    """Run the command line; print a ``ProxyError`` as one paragraph, without a traceback."""
    os.umask(0o077)  # new files are readable only by the process's user
    try:
        app()
    except ConfigError as error:
        print(f"throughline: {error}", file=sys.stderr)
        raise SystemExit(2) from error
    except ProxyError as error:
        print(f"throughline: {error}", file=sys.stderr)
        raise SystemExit(1) from error

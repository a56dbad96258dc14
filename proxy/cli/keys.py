"""``throughline keys``: creation, limits and revocation of Throughline keys."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import fields
from pathlib import Path
from typing import Annotated

import typer

from proxy.access.folder import open_folder
from proxy.cli.main import Config, DataDir
from proxy.clock import Clock, iso
from proxy.errors import ConfigError
from proxy.settings.load import load_settings, make_data_dir
from proxy.store.keys import Key, Keys
from proxy.types import Allowance

app = typer.Typer(help="Keys of this server, for auth.mode: keys.", no_args_is_help=True)

Rpm = Annotated[int | None, typer.Option("--rpm", min=0, help="Requests a minute; 0: no limit, whatever the settings.")]
Tpm = Annotated[int | None, typer.Option("--tpm", min=0, help="Tokens a minute; 0: no limit.")]
MaxStreams = Annotated[int | None, typer.Option("--max-streams", min=0, help="Streams at a time; 0: no limit.")]
MaxBody = Annotated[int | None, typer.Option("--max-body", min=0, help="Bytes of a request body; 0: no limit.")]
Models = Annotated[
    list[str] | None, typer.Option("--models", help="Models it may ask for: 'gpt-*,claude-*'; '*': all.")
]

_SHOWN = {
    "requests_per_minute": "rpm",
    "tokens_per_minute": "tpm",
    "concurrent_streams": "streams",
    "body_bytes": "body",
}


RecallTool = Annotated[
    bool | None,
    typer.Option("--recall-tool/--no-recall-tool", help="Offer its requests the `recall` tool, as X-Memory-Tools: on."),
]


Commands = Annotated[
    bool | None,
    typer.Option("--commands/--no-commands", help="Answer `/memory …` in its chats here; see deploy/commands.md."),
]

Teams = Annotated[
    list[str] | None,
    typer.Option("--team", help="Team of its users, by name; may be repeated. '': none. See deploy/life.md."),
]


@app.command("create")
def create_key(
    user: Annotated[str, typer.Option(help="Bind the key to one user.")] = "",
    tenant: Annotated[str, typer.Option(help="Tenant of an existing key; without it, a new one.")] = "",
    names_users: Annotated[bool, typer.Option("--names-users", help="Its requests may name users and times.")] = False,
    note: Annotated[str, typer.Option(help="For yourself.")] = "",
    operator: Annotated[
        bool,
        typer.Option("--operator", help="It sees counts and health of the whole server; no texts."),
    ] = False,
    rpm: Rpm = None,
    tpm: Tpm = None,
    max_streams: MaxStreams = None,
    max_body: MaxBody = None,
    models: Models = None,
    recall_tool: RecallTool = None,
    commands: Commands = None,
    team: Teams = None,
    config: Config = None,
    data_dir: DataDir = None,
) -> None:
    """Make a key of this server; it is shown once."""
    if user and names_users:
        raise ConfigError("A key of one user names no others. Leave out --user or --names-users.")

    async def create(store: Keys) -> None:
        text, key = await store.create(
            now=Clock().now(),
            tenant=tenant,
            user=user,
            may_name_users=names_users,
            note=note,
            allowance=Allowance(rpm, tpm, max_streams, max_body),
            models=_patterns(models) or (),
            offers_recall=bool(recall_tool),
            is_operator=operator,
            takes_commands=bool(commands),
            teams=_named(team) or (),
        )
        print(f"{text}\n  id {key.id}, tenant {key.tenant}; keep the key, it is not shown again", flush=True)

    _with_keys(config, data_dir, create)


@app.command("list")
def list_keys(config: Config = None, data_dir: DataDir = None) -> None:
    """List the keys of this server, without the keys themselves."""

    async def show(store: Keys) -> None:
        for key in await store.all():
            print(_line(key))

    _with_keys(config, data_dir, show)


@app.command("update")
def update_key(
    key_id: str,
    rpm: Rpm = None,
    tpm: Tpm = None,
    max_streams: MaxStreams = None,
    max_body: MaxBody = None,
    models: Models = None,
    recall_tool: RecallTool = None,
    commands: Commands = None,
    team: Teams = None,
    config: Config = None,
    data_dir: DataDir = None,
) -> None:
    """Change what a key may ask for, from its next request on."""
    given = Allowance(rpm, tpm, max_streams, max_body)
    limits = {name: value for name in _SHOWN if (value := getattr(given, name)) is not None}

    async def update(store: Keys) -> None:
        changed = await store.update(
            key_id,
            limits=limits,
            models=_patterns(models),
            offers_recall=recall_tool,
            takes_commands=commands,
            teams=_named(team),
        )
        print(_line(changed))

    _with_keys(config, data_dir, update)


@app.command("revoke")
def revoke_key(key_id: str, config: Config = None, data_dir: DataDir = None) -> None:
    """Make a key stop working, at once and for good."""

    async def revoke(store: Keys) -> None:
        key = await store.revoke(key_id, now=Clock().now())
        print(f"{key.id} is revoked")

    _with_keys(config, data_dir, revoke)


def _patterns(models: list[str] | None) -> list[str] | None:
    """Return the patterns, given one by one or separated by commas; ``*`` among them means no patterns."""
    if models is None:
        return None
    patterns = [one.strip() for text in models for one in text.split(",") if one.strip()]
    return [] if "*" in patterns else patterns


def _named(teams: list[str] | None) -> list[str] | None:
    return None if teams is None else list(dict.fromkeys(name for one in teams if (name := one.strip())))


def _line(key: Key) -> str:
    state = f"revoked {iso(key.revoked_at)}" if key.revoked_at else "active"
    whose = f"user {key.user}" if key.user else "names users" if key.may_name_users else "one user"
    limits = [
        f"{_SHOWN[field.name]} {value or 'unlimited'}"
        for field in fields(key.allowance)
        if (value := getattr(key.allowance, field.name)) is not None
    ]
    parts = [f"{key.prefix}…", f"tenant {key.tenant}", whose, state, *limits]
    if key.models:
        parts.append(f"models {','.join(key.models)}")
    if key.offers_recall:
        parts.append("recall tool")
    if key.is_operator:
        parts.append("operator")
    if key.takes_commands:
        parts.append("commands")
    if key.teams:
        parts.append(f"teams {','.join(key.teams)}")
    return "  ".join([key.id, *parts, key.note]).rstrip()


def _with_keys(config: Path | None, data_dir: str | None, use: Callable[[Keys], Awaitable[None]]) -> None:
    settings = load_settings(config, {"server": {"data_dir": data_dir}})
    make_data_dir(settings)

    async def run() -> None:
        folder = await open_folder(settings, Clock())  # creates the secret of a new folder, as a server start does
        try:
            await use(Keys(folder.database))
        finally:
            await folder.database.close()

    asyncio.run(run())

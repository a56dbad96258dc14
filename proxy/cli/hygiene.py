"""``throughline hygiene``: what nobody used for long, and archiving it; counts only, never a text."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Annotated

import typer

from proxy.memory.lifecycle.hygiene import Report
from proxy.services.opening import open_services
from proxy.settings.load import Settings, load_settings, make_data_dir
from proxy.worker.hygiene import tidy_all

app = typer.Typer(help="Show what nobody used for long, and archive it.")

Config = Annotated[Path | None, typer.Option("--config", readable=False, help="YAML file; see config.example.yaml.")]
DataDir = Annotated[str | None, typer.Option("--data-dir", help="Folder that keeps everything.")]


@app.command()
def hygiene(
    config: Config = None,
    data_dir: DataDir = None,
    apply: Annotated[bool, typer.Option("--apply", help="Archive what is due; each can be restored.")] = False,
) -> None:
    """Count the memories that nobody used for long, by user; with --apply they are archived."""
    settings = load_settings(config, flags={"server": {"data_dir": data_dir}})
    make_data_dir(settings)
    found = asyncio.run(_tidied(settings, applies=apply))
    word = "archived" if apply else "would be archived"
    for owner, one in found.items():
        print(f"{owner}  {len(one.due)} {word}, {len(one.compressed)} told in short, {one.over} over by themselves")
    total = sum(len(one.due) for one in found.values())
    print(f"{len(found)} users, {total} memories {word} after {settings.memory.archive_days:g} days without use")


async def _tidied(settings: Settings, *, applies: bool) -> dict[str, Report]:
    services = await open_services(settings)
    try:
        await services.open_store()
        return await tidy_all(services, applies=applies)
    finally:
        await services.close()

"""``throughline hygiene`` and ``reembed``: maintenance of all users' data; they print counts, never texts."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial
from typing import Annotated

import typer

from proxy.cli.main import Config, DataDir
from proxy.memory.lifecycle.hygiene import Report
from proxy.process.occupancy import occupied
from proxy.services import Services
from proxy.services.opening import open_services
from proxy.settings.load import Settings, load_settings, make_data_dir
from proxy.store.schema import NOUNS
from proxy.store.stamps import owners
from proxy.telemetry import configure_logging
from proxy.types import Scope
from proxy.worker.hygiene import tidy_all

tidying = typer.Typer(help="Show what nobody used for long, and archive it.")
embedding = typer.Typer(add_completion=False)
_WAIT_S = 60.0  # for a server that holds the user's lease


@tidying.command()
def hygiene(
    config: Config = None,
    data_dir: DataDir = None,
    apply: Annotated[bool, typer.Option("--apply", help="Archive what is due; each can be restored.")] = False,
) -> None:
    """Count the memories that nobody used for long, by user; with --apply they are archived."""
    settings = load_settings(config, flags={"server": {"data_dir": data_dir}})
    found = asyncio.run(_tidied(settings, applies=apply))
    word = "archived" if apply else "would be archived"
    for owner, one in found.items():
        print(f"{owner}  {len(one.due)} {word}, {len(one.compressed)} told in short, {one.over} over by themselves")
    total = sum(len(one.due) for one in found.values())
    print(f"{len(found)} users, {total} memories {word} after {settings.memory.archive_days:g} days without use")


@embedding.command()
def reembed(config: Config = None, data_dir: DataDir = None) -> None:
    """Compute the vectors anew that another embedding model made; a server may run meanwhile."""
    settings = load_settings(config, {"server": {"data_dir": data_dir}})
    configure_logging(settings.telemetry)
    filled, left = asyncio.run(_reembed(settings))
    print(f"{filled} rows have new vectors.")
    if left:
        print(f"Rows of {left} users still wait: the embedding model failed. Run this again.", file=sys.stderr)
        raise typer.Exit(1)


async def _tidied(settings: Settings, *, applies: bool) -> dict[str, Report]:
    async with _opened(settings) as services:
        await services.open_store()
        return await tidy_all(services, applies=applies)


async def _reembed(settings: Settings) -> tuple[int, int]:
    """Return how many rows were embedded, and of how many users some still wait."""
    async with _opened(settings) as services:
        await services.embedder.warm()
        await services.open_store()
        everybody = [Scope("", owner) for owner in await owners(services.database)]
        store, model, filled, left = services.store, services.embedder.model, 0, 0
        for number, owner in enumerate(everybody, 1):
            writing = partial(services.leases.held, owner, wait_s=_WAIT_S)
            while done := await services.book.fill_in(owner, writing=writing, renews=True):
                filled += done
            left += any([await store.unembedded(owner, noun, model, limit=1) for noun in NOUNS])
            if sys.stderr.isatty():
                print(f"\r\033[K{number} of {len(everybody)} users", end="", file=sys.stderr, flush=True)
        return filled, left


@asynccontextmanager
async def _opened(settings: Settings) -> AsyncIterator[Services]:
    make_data_dir(settings)
    with occupied(settings.server.data_dir):
        services = await open_services(settings)
        try:
            yield services
        finally:
            await services.close()

"""``throughline reembed``: after another embedding model was chosen, every row gets a vector of it."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path
from typing import Annotated

import typer

from proxy.services import Services
from proxy.services.opening import open_services
from proxy.settings.load import Settings, load_settings
from proxy.store.stamps import owners
from proxy.telemetry import configure_logging
from proxy.types import Scope

app = typer.Typer(add_completion=False)
_WAIT_S = 60.0  # for a server that is writing for the same user


@app.command()
def reembed(
    config: Annotated[
        Path | None, typer.Option("--config", readable=False, help="YAML file; see config.example.yaml.")
    ] = None,
    data_dir: Annotated[str | None, typer.Option("--data-dir", help="Folder that keeps everything.")] = None,
) -> None:
    """Compute the vectors anew that another embedding model made; a server may run meanwhile."""
    settings = load_settings(config, {"server": {"data_dir": data_dir}})
    configure_logging(settings.telemetry)
    print(f"{asyncio.run(_reembed(settings))} rows have new vectors.")


async def _reembed(settings: Settings) -> int:
    services = await open_services(settings)
    try:
        await services.embedder.warm()
        await services.open_store()
        return await _all(services)
    finally:
        await services.close()


async def _all(services: Services) -> int:
    everybody = [Scope("", owner) for owner in await owners(services.database)]
    filled = 0
    for number, owner in enumerate(everybody, 1):
        while True:
            async with services.leases.held(owner, wait_s=_WAIT_S):
                done = await services.book.fill_in(owner)
            filled += done
            if not done:
                break
        if sys.stderr.isatty():
            print(f"\r\033[K{number} of {len(everybody)} users", end="", file=sys.stderr, flush=True)
    return filled

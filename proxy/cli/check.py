"""``throughline check``: what works, and how to mend what does not."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from urllib.parse import urlsplit

from proxy.cli.damage import look_at_database, look_at_stores
from proxy.errors import ConfigError, ProxyError
from proxy.memory.model.access import judge_access
from proxy.process.occupancy import occupied
from proxy.services import Services
from proxy.services.opening import open_services
from proxy.settings.load import Settings, environment, make_data_dir, readers
from proxy.telemetry.otel import MEND, is_installed, is_wanted
from proxy.upstream.base import UpstreamRequest

_WARM_S = 120.0
_PROVIDER_S = 10.0


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that was looked at."""

    name: str
    is_fine: bool
    text: str
    mark: str = ""  # in place of ``ok``

    def line(self) -> str:
        """Return it as a line for a terminal."""
        return f"{(self.mark or 'ok') if self.is_fine else 'FAIL':<4}  {self.name:<10} {self.text}"


async def diagnose(settings: Settings, *, repairs: bool = False) -> list[Finding]:
    """Try every part of the house the way a request would, and look for damage in every store.

    Args:
        settings: Of the server.
        repairs: Mend what can be mended.

    Raises:
        ConfigError: If another process uses the data folder that is to be mended.
    """
    findings = [_data_dir(settings), *_telemetry(settings)]
    if not findings[0].is_fine:
        return findings
    with occupied(settings.server.data_dir, alone=repairs):
        return findings + await _looked_over(settings, repairs=repairs)


async def _looked_over(settings: Settings, *, repairs: bool) -> list[Finding]:
    found = await look_at_database(settings, repairs=repairs)
    findings = [Finding("database", not one.is_damage, one.text, one.mark) for one in found]
    if any(one.is_damage for one in found):
        return findings
    try:
        services = await open_services(settings)
    except ProxyError as error:
        return [*findings, Finding("folder", is_fine=False, text=str(error))]
    try:
        findings.append(Finding("journal", is_fine=True, text=await _journal(services)))
        findings.append(await _attempt("embedder", lambda: _embedder(services)))
        store = await _attempt("store", lambda: _store(services))
        findings.append(store)
        if store.is_fine:
            looked = await look_at_stores(services, repairs=repairs)
            findings += [Finding(one.part, not one.is_damage, one.text, one.mark) for one in looked]
        findings.append(_extractor(services))
        findings += await _providers(services)
    finally:
        await services.close()
    return findings


def _data_dir(settings: Settings) -> Finding:
    try:
        make_data_dir(settings)
    except ConfigError as error:
        return Finding("data", is_fine=False, text=str(error))
    folder = settings.server.data_dir.resolve()
    mode = readers(folder)
    loose = f" (mode {mode}: other users of this machine may look into it; chmod 700 {str(folder)!r})" if mode else ""
    return Finding("data", is_fine=True, text=f"{folder}{loose}")


def _telemetry(settings: Settings) -> list[Finding]:
    """Say where spans go and whether they can; nothing where nobody wants them."""
    if not is_wanted(settings.telemetry, environment()):
        return []
    if not is_installed():
        return [Finding("telemetry", is_fine=False, text=MEND)]
    host = urlsplit(settings.telemetry.otlp_endpoint or "").hostname
    return [Finding("telemetry", is_fine=True, text=f"OpenTelemetry to {host or 'what its own variables say'}")]


async def _attempt(name: str, work: Callable[[], Awaitable[str]]) -> Finding:
    try:
        async with asyncio.timeout(_WARM_S):
            return Finding(name, is_fine=True, text=await work())
    except TimeoutError:
        return Finding(name, is_fine=False, text=f"no answer within {_WARM_S:.0f} s")
    except (ProxyError, OSError) as error:
        return Finding(name, is_fine=False, text=f"{type(error).__name__}: {error}")


async def _journal(services: Services) -> str:
    depth = await services.journal.depth()
    return ", ".join(f"{count} {state}" for state, count in depth.items())


async def _embedder(services: Services) -> str:
    await services.embedder.warm()
    services.is_embedder_warm = True  # rows that are restored get their vectors at once
    vectors = await services.embedder.embed(["Is anybody there?"], purpose="query")
    wanted = services.settings.embedder.dimension
    if vectors.shape[1] != wanted:
        raise ProxyError(
            f"{services.embedder.model} gives vectors of {vectors.shape[1]} numbers, embedder.dimension is {wanted}. "
            "Set it to what the model gives."
        )
    return f"{services.embedder.model}, {vectors.shape[1]} dimensions"


async def _store(services: Services) -> str:
    await services.open_store()
    return f"{(await services.store.verify()).tables} tables"


def _extractor(services: Services) -> Finding:
    try:
        access = judge_access(services.settings.memory, environment())
    except ConfigError as error:
        return Finding("extractor", is_fine=False, text=str(error))
    text = f"model {access.model}" if access else "built in (set memory.extraction_model and its key for a model)"
    return Finding("extractor", is_fine=True, text=text)


async def _providers(services: Services) -> list[Finding]:
    routes = services.routes
    if not routes.is_configured:
        mend = "none: only the offline model `demo`. Set OPENAI_API_KEY or another provider's key, or --upstream URL."
        return [Finding("provider", is_fine=True, text=mend)]
    names = ", ".join(routes.providers()) or "by the config"
    target = routes.default(None)
    if target is None:
        return [Finding("provider", is_fine=True, text=f"{names} (no server to ask without a model's name)")]

    async def ask() -> str:
        response = await target.upstream.send(UpstreamRequest("GET", "/models"), target)
        try:
            return f"{names}: {target.base_url} answers {response.status}"
        finally:
            await response.aclose()

    try:
        async with asyncio.timeout(_PROVIDER_S):
            return [Finding("provider", is_fine=True, text=await ask())]
    except (ProxyError, TimeoutError) as error:
        text = str(error) or f"{target.base_url} does not answer within {_PROVIDER_S:.0f} s"
        return [Finding("provider", is_fine=False, text=text)]

"""``throughline check``: diagnosis of all parts and stores with remedies; with ``--repair`` also the repair."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal
from urllib.parse import urlsplit

import sqlalchemy as sa

from proxy.cli.preflight import require_space
from proxy.clock import Clock, iso
from proxy.errors import ConfigError, ProxyError
from proxy.memory.model.access import judge_access
from proxy.process.occupancy import occupied
from proxy.process.threads import in_thread
from proxy.services import Services
from proxy.services.opening import open_services
from proxy.settings.load import Settings, environment, make_data_dir, readers
from proxy.store.blobs import DiskBlobs
from proxy.store.engine import check_file
from proxy.store.incidents import FOLDER, Incident, Incidents
from proxy.store.lance import LanceStore
from proxy.store.media import Shown
from proxy.store.salvage import set_aside, take_over
from proxy.store.schema import NOUNS
from proxy.store.sql import Database
from proxy.store.stamps import expected_tables
from proxy.telemetry.otel import MEND, is_installed, is_wanted
from proxy.types import Scope
from proxy.upstream.base import UpstreamRequest
from proxy.worker.mend import mend, restore, restore_sessions

_WARM_S = 120.0
_PROVIDER_S = 10.0
_REPAIR = "`throughline check --repair`"


@dataclass(frozen=True, slots=True)
class Finding:
    """Result of one check."""

    name: str
    is_fine: bool
    text: str
    mark: Literal["", "note", "done"] = ""  # replaces ``ok``

    def line(self) -> str:
        """Return the finding as a line for a terminal."""
        return f"{(self.mark or 'ok') if self.is_fine else 'FAIL':<4}  {self.name:<10} {self.text}"


async def diagnose(settings: Settings, *, repairs: bool = False) -> list[Finding]:
    """Use every component as a request does, and check every store for damage.

    Args:
        settings: Settings of the server.
        repairs: Whether to repair damage.

    Raises:
        ConfigError: If another process uses a data folder that is to be repaired.
    """
    findings = [_data_dir(settings), *_telemetry(settings)]
    if not findings[0].is_fine:
        return findings
    with occupied(settings.server.data_dir, alone=repairs):
        return findings + await _looked_over(settings, repairs=repairs)


async def _looked_over(settings: Settings, *, repairs: bool) -> list[Finding]:
    findings = await _look_at_database(settings, repairs=repairs)
    if not all(one.is_fine for one in findings):
        return findings
    try:
        services = await open_services(settings)
    except ProxyError as error:
        return [*findings, _fault("folder", str(error))]
    try:
        findings.append(Finding("journal", is_fine=True, text=await _journal(services)))
        findings.append(await _attempt("embedder", lambda: _embedder(services)))
        store = await _attempt("store", lambda: _store(services))
        findings.append(store)
        if store.is_fine:
            findings += await _look_at_stores(services, repairs=repairs)
        findings.append(_extractor(services))
        findings += await _providers(services)
    finally:
        await services.close()
    return findings


def _data_dir(settings: Settings) -> Finding:
    try:
        make_data_dir(settings)
        require_space(settings)
    except ConfigError as error:
        return _fault("data", str(error))
    folder = settings.server.data_dir.resolve()
    mode = readers(folder)
    loose = f" (mode {mode}: other users of this machine may look into it; chmod 700 {str(folder)!r})" if mode else ""
    return Finding("data", is_fine=True, text=f"{folder}{loose}")


def _telemetry(settings: Settings) -> list[Finding]:
    """Return the destination of spans and whether they can be sent; no finding if tracing is off."""
    if not is_wanted(settings.telemetry, environment()):
        return []
    if not is_installed():
        return [_fault("telemetry", MEND)]
    host = urlsplit(settings.telemetry.otlp_endpoint or "").hostname
    return [Finding("telemetry", is_fine=True, text=f"OpenTelemetry to {host or 'what its own variables say'}")]


async def _attempt(name: str, work: Callable[[], Awaitable[str]]) -> Finding:
    try:
        async with asyncio.timeout(_WARM_S):
            return Finding(name, is_fine=True, text=await work())
    except TimeoutError:
        return _fault(name, f"no answer within {_WARM_S:.0f} s")
    except (ProxyError, OSError) as error:
        return _fault(name, f"{type(error).__name__}: {error}")


async def _journal(services: Services) -> str:
    depth = await services.journal.depth()
    return ", ".join(f"{count} {state}" for state, count in depth.items())


async def _embedder(services: Services) -> str:
    await services.embedder.warm()
    services.is_embedder_warm = True  # restored rows are embedded at once
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
        return _fault("extractor", str(error))
    text = f"model {access.model}" if access else "built in (set memory.extraction_model and its key for a model)"
    return Finding("extractor", is_fine=True, text=text)


async def _providers(services: Services) -> list[Finding]:
    routes = services.routes
    if not routes.is_configured:
        hint = "none: only the offline model `demo`. Set OPENAI_API_KEY or another provider's key, or --upstream URL."
        return [Finding("provider", is_fine=True, text=hint)]
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
        return [_fault("provider", text)]


async def _look_at_database(settings: Settings, *, repairs: bool) -> list[Finding]:
    """Check the SQLite file; with ``repairs``, quarantine a damaged one and salvage its readable rows."""
    url = sa.make_url(settings.database_url)
    path = Path(url.database or "")
    found = await in_thread("load", check_file, path, None) if url.get_backend_name() == "sqlite" else []
    if not found:
        return []
    if not repairs:
        mend_ = f"Put a backup in its place, or run {_REPAIR}: it sets the file aside and takes over what can be read."
        return [_fault("database", f"{path.name} is damaged ({found[0]}). {mend_}")]
    old = await in_thread("load", set_aside, path)
    database = await Database.open(settings.database_url)
    await database.close()
    salvaged = await in_thread("load", take_over, old, path)
    database = await Database.open(settings.database_url)
    rows = sum(salvaged.values())
    kept = ", ".join(f"{count} {name}" for name, count in salvaged.items()) or "nothing"
    text = f"{path.name} was damaged; it was set aside and {kept} could be taken over, what else it held is lost"
    await Incidents(database).note(FOLDER, Incident("database", text, Clock().now(), str(old), rows, None))
    await database.close()
    return [_done("database", f"{text}. The old file: {old}")]


async def _look_at_stores(services: Services, *, repairs: bool) -> list[Finding]:
    """Return the damage in every user's tables and files, and the incidents that the operator has not seen."""
    store = services.store
    assert isinstance(store, LanceStore)
    found: list[Finding] = []
    told = await services.incidents.unseen()
    expected = await expected_tables(services.database)
    for owner in sorted({owner for _, owner in expected | await store.damage.names()}):
        found += [one async for one in _tables(services, Scope("", owner), repairs=repairs)]
    for owner in sorted(await services.media.blobs()):
        scope = Scope("", owner)
        for item in await services.media.read(scope):
            found += [one async for one in _blob(services, scope, item, repairs=repairs)]
    found += [_told(incident, repairs=repairs) for incident in told]
    if repairs:
        await services.incidents.see(now=services.clock.now())
    return found


async def _tables(services: Services, scope: Scope, *, repairs: bool) -> AsyncIterator[Finding]:
    store = services.store
    assert isinstance(store, LanceStore)
    user = f"of user {scope.user[:12]}"
    try:
        if repairs:
            async with services.leases.held(scope):
                for incident in await mend(services, scope, is_thorough=True):
                    yield _done(incident.part, f"{user}: {_in_full(incident)}")
                if count := await restore_sessions(services, scope):
                    yield _done("database", f"{user}: {count} conversations listed again")
            return
        flaws = await store.damage.flaws(scope)
        for noun in NOUNS:
            if noun in flaws:
                yield _fault(
                    noun, f"{user}: {flaws[noun]}. {_REPAIR}, or the next start, sets it aside and rebuilds it."
                )
            elif lacking := await restore(services, scope, noun, writes=False):
                yield _fault(noun, f"{user}: {lacking} rows are missing. {_REPAIR} puts them back.")
        if "episodes" not in flaws and (count := await restore_sessions(services, scope, writes=False)):
            what = f"{count} conversations are in no row: the newest part of the database was lost"
            yield _fault("database", f"{user}: {what}. {_REPAIR} lists them again.")
    except ProxyError as error:
        yield _fault("store", f"{user}: {error}")


async def _blob(services: Services, scope: Scope, item: Shown, *, repairs: bool) -> AsyncIterator[Finding]:
    blobs = services.blobs
    if item.reason or not isinstance(blobs, DiskBlobs) or not (flaw := await blobs.flaw(scope, item.sha256)):
        return
    what = f"{item.id} of user {scope.user[:12]}: its bytes are {flaw}"
    if not repairs:
        yield _fault("files", f"{what}. Put back blobs/ from a backup or upload it again; {_REPAIR} notes the loss.")
        return
    place = await blobs.set_aside(scope, item.sha256)
    reason = "missing" if flaw == "missing" else "damaged"
    error = "Its bytes are gone from the disk of the server; what was read of it is still known. Upload it again."

    def edit(one: Shown) -> Shown:
        return replace(one, reason=reason, error=error)

    await services.media.change(scope, item.id, edit)
    yield _done("files", f"{what}; that is noted with it{f', the rest is {place}' if place else ''}")


def _told(incident: Incident, *, repairs: bool) -> Finding:
    is_open = incident.lost != 0 and not repairs
    hint = f" {_REPAIR} notes that you have seen this." if is_open else ""
    text = f"{iso(incident.at)}: {_in_full(incident)}.{hint}"
    return _fault(incident.part, text) if is_open else Finding(incident.part, is_fine=True, text=text, mark="note")


def _in_full(incident: Incident) -> str:
    lost = "what was only there cannot be counted" if incident.lost is None else f"{incident.lost} rows lost"
    there = [f"{incident.restored} rows there again"] if incident.restored else []
    place = [f"set aside in {incident.place}"] if incident.place else []
    return f"{incident.text} ({', '.join((*there, lost, *place))})"


def _fault(name: str, text: str) -> Finding:
    return Finding(name, is_fine=False, text=text)


def _done(name: str, text: str) -> Finding:
    return Finding(name, is_fine=True, text=text, mark="done")

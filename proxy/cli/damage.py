"""Damage to the stores, for ``throughline check``: what there is, how to mend it, and the mending."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

import sqlalchemy as sa

from proxy.clock import Clock, iso
from proxy.errors import ProxyError
from proxy.process.threads import in_thread
from proxy.services import Services
from proxy.settings.load import Settings
from proxy.store.blobs import DiskBlobs
from proxy.store.engine import check_file
from proxy.store.incidents import FOLDER, Incident, Incidents
from proxy.store.lance import LanceStore
from proxy.store.media import Shown
from proxy.store.salvage import set_aside, take_over
from proxy.store.schema import NOUNS
from proxy.store.sql import Database
from proxy.store.stamps import expected_tables
from proxy.types import Scope
from proxy.worker.mend import mend, restore, restore_sessions

_REPAIR = "`throughline check --repair`"
Mark = Literal["", "note", "done"]


@dataclass(frozen=True, slots=True)
class Damage:
    """One thing that was found or done.

    Args:
        part: Which store.
        text: What it is, and how to mend it or what was done.
        is_damage: Whether it is still there, or something was lost that nobody has looked at.
        mark: Else what it is: something to know, or something that was done.
    """

    part: str
    text: str
    is_damage: bool = True
    mark: Mark = ""


async def look_at_database(settings: Settings, *, repairs: bool) -> list[Damage]:
    """Read through the SQLite file; where it is damaged, set it aside and take over what can be read."""
    url = sa.make_url(settings.database_url)
    path = Path(url.database or "")
    found = await in_thread("load", check_file, path, None) if url.get_backend_name() == "sqlite" else []
    if not found:
        return []
    if not repairs:
        mend_ = f"Put a backup in its place, or run {_REPAIR}: it sets the file aside and takes over what can be read."
        return [Damage("database", f"{path.name} is damaged ({found[0]}). {mend_}")]
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
    return [Damage("database", f"{text}. The old file: {old}", is_damage=False, mark="done")]


async def look_at_stores(services: Services, *, repairs: bool) -> list[Damage]:
    """Return what is damaged in the tables and files of every user, and what happened that nobody has looked at."""
    store = services.store
    assert isinstance(store, LanceStore)
    found: list[Damage] = []
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


async def _tables(services: Services, scope: Scope, *, repairs: bool) -> AsyncIterator[Damage]:
    store = services.store
    assert isinstance(store, LanceStore)
    user = f"of user {scope.user[:12]}"
    try:
        if repairs:
            async with services.leases.held(scope):
                for incident in await mend(services, scope, is_thorough=True):
                    yield Damage(incident.part, f"{user}: {_in_full(incident)}", is_damage=False, mark="done")
                if count := await restore_sessions(services, scope):
                    yield Damage(
                        "database", f"{user}: {count} conversations listed again", is_damage=False, mark="done"
                    )
            return
        flaws = await store.damage.flaws(scope)
        for noun in NOUNS:
            if noun in flaws:
                yield Damage(
                    noun, f"{user}: {flaws[noun]}. {_REPAIR}, or the next start, sets it aside and rebuilds it."
                )
            elif lacking := await restore(services, scope, noun, writes=False):
                yield Damage(noun, f"{user}: {lacking} rows are missing. {_REPAIR} puts them back.")
        if "episodes" not in flaws and (count := await restore_sessions(services, scope, writes=False)):
            what = f"{count} conversations are in no row: the newest part of the database was lost"
            yield Damage("database", f"{user}: {what}. {_REPAIR} lists them again.")
    except ProxyError as error:
        yield Damage("store", f"{user}: {error}")


async def _blob(services: Services, scope: Scope, item: Shown, *, repairs: bool) -> AsyncIterator[Damage]:
    blobs = services.blobs
    if item.reason or not isinstance(blobs, DiskBlobs) or not (flaw := await blobs.flaw(scope, item.sha256)):
        return
    what = f"{item.id} of user {scope.user[:12]}: its bytes are {flaw}"
    if not repairs:
        yield Damage("files", f"{what}. Put back blobs/ from a backup or upload it again; {_REPAIR} notes the loss.")
        return
    place = await blobs.set_aside(scope, item.sha256)
    reason = "missing" if flaw == "missing" else "damaged"
    error = "Its bytes are gone from the disk of the server; what was read of it is still known. Upload it again."

    def edit(one: Shown) -> Shown:
        return replace(one, reason=reason, error=error)

    await services.media.change(scope, item.id, edit)
    yield Damage("files", f"{what}; that is noted with it{f', the rest is {place}' if place else ''}", False, "done")


def _told(incident: Incident, *, repairs: bool) -> Damage:
    is_open = incident.lost != 0 and not repairs
    hint = f" {_REPAIR} notes that you have seen this." if is_open else ""
    return Damage(incident.part, f"{iso(incident.at)}: {_in_full(incident)}.{hint}", is_open, "" if is_open else "note")


def _in_full(incident: Incident) -> str:
    lost = "what was only there cannot be counted" if incident.lost is None else f"{incident.lost} rows lost"
    there = [f"{incident.restored} rows there again"] if incident.restored else []
    place = [f"set aside in {incident.place}"] if incident.place else []
    return f"{incident.text} ({', '.join((*there, lost, *place))})"

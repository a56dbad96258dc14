"""Open the database of a data folder, and check that secret, database, tables and blobs belong together."""

from __future__ import annotations

import hmac
from dataclasses import dataclass

import structlog

from proxy.access.auth import Hasher, other_secret
from proxy.clock import Clock
from proxy.errors import ConfigError
from proxy.process.threads import in_thread
from proxy.settings.load import Settings
from proxy.store import stamps
from proxy.store.incidents import FOLDER, Incident, Incidents
from proxy.store.sql import Database
from proxy.store.stamps import Stamp

_log = structlog.get_logger(__name__)
_CLOSE_LOOK_S = 1.0
LOSS = (
    "the database was empty while memories or files were there: what it held is lost, that is the list of "
    "conversations, the history of memories, the journal, the receipts and the keys of this server"
)


@dataclass(frozen=True, slots=True)
class Folder:
    """A data folder whose parts belong together."""

    database: Database
    hasher: Hasher


async def open_folder(settings: Settings, clock: Clock, *, looks_closely: bool = False) -> Folder:
    """Open and migrate the database, load the secret, and compare the folder stamps of all stores.

    If the database was emptied or removed, it records an incident and continues.

    Args:
        settings: Of the server.
        clock: Time source for incidents.
        looks_closely: Scan the database, for a second at most; once per start, not once per process.

    Raises:
        ConfigError: If the secret differs from that of the data, or stores of two folders are mixed.
        StoreDamaged: If the database is damaged.
        StoreUnavailable: If the database cannot be opened.
    """
    database = await Database.open(settings.database_url, synchronous=settings.store.synchronous)
    try:
        if looks_closely:
            await database.examine(budget_s=_CLOSE_LOOK_S)
        return Folder(database, await _matched(settings, database, clock))
    except BaseException:
        await database.close()
        raise


async def _matched(settings: Settings, database: Database, clock: Clock) -> Hasher:
    data_dir = settings.server.data_dir
    own, has_rows = await stamps.read(database), await stamps.has_rows(database)
    beside = await in_thread("load", stamps.read_beside, data_dir)
    holding = await in_thread("load", stamps.holds_beside, data_dir)
    holds_data = has_rows or bool(holding)
    hasher = await in_thread("load", Hasher.load, settings.auth, data_dir, may_make=not holds_data)
    check = hasher.digest("secret-check")
    written = {name: beside[name] for name in holding if name in beside}
    if own is not None and has_rows:
        written["the database"] = own
    for name, stamp in written.items():
        if not hmac.compare_digest(stamp.secret, check):
            raise ConfigError(other_secret(f"{name} was written with another one"))
    if not settings.store.database_url:  # an external database may serve several folders, one for each machine
        _refuse_mixture(written)
    if own is None and not has_rows and (holding or beside):
        await _note_loss(database, clock)
    folder = (own or next(iter(beside.values()), None) or Stamp(stamps.new_folder(), "")).folder
    stamp = Stamp(folder, check)
    if own != stamp:
        await stamps.write(database, stamp)
    for name in stamps.STAMPED:
        if beside.get(name) != stamp:
            await in_thread("load", stamps.write_beside, data_dir, name, stamp)
    return hasher


async def _note_loss(database: Database, clock: Clock) -> None:
    incidents = Incidents(database)
    if not any(known.part == "database" for known in await incidents.unseen()):  # a repair has recorded it already
        await incidents.note(FOLDER, Incident("database", LOSS, lost=None, at=clock.now()))
        _log.error(LOSS, mend="put a backup of throughline.db in its place, or `throughline check --repair`")


def _refuse_mixture(written: dict[str, Stamp]) -> None:
    """Raise if stores hold data of different folders: recall would show memories without their history."""
    if len({stamp.folder for stamp in written.values()}) > 1:
        raise ConfigError(
            f"{', '.join(sorted(written))}: these belong to different data folders. Put back those that belong "
            "together, or move one away to go on without it."
        )

"""Stamps of a data folder in each of its stores, so that stores of two folders are not mixed up."""

from __future__ import annotations

import contextlib
import json
import os
import secrets
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import sqlalchemy as sa

from proxy.store import lance_disk
from proxy.store.sql import Database
from proxy.store.tables import history, journal, keys, media, receipts, sessions, stamps

STAMPED = ("lance", "blobs")  # folders beside the database that hold what users said and showed
_FILE = "stamp.json"
_WRITTEN = (sessions, journal, history, receipts, media, keys)


@dataclass(frozen=True, slots=True)
class Stamp:
    """The mark of one data folder.

    Args:
        folder: Its id, made once.
        secret: A keyed value that only the secret gives with which the folder was written.
    """

    folder: str
    secret: str


def new_folder() -> str:
    """Return an id for a folder that has none."""
    return secrets.token_hex(16)


async def read(database: Database) -> Stamp | None:
    """Return the database's stamp, None where it has none."""
    rows = await database.query(lambda connection: connection.execute(sa.select(stamps.c.name, stamps.c.value)).all())
    found: dict[str, str] = {row.name: row.value for row in rows}
    return Stamp(found["folder"], found["secret"]) if {"folder", "secret"} <= found.keys() else None


async def write(database: Database, stamp: Stamp) -> None:
    """Write the database's stamp over any other."""
    insert = database.insert(stamps)
    put = insert.on_conflict_do_update(index_elements=["name"], set_={"value": insert.excluded.value})
    rows = [{"name": "folder", "value": stamp.folder}, {"name": "secret", "value": stamp.secret}]
    await database.submit(lambda connection: connection.execute(put, rows).close())


async def has_rows(database: Database) -> bool:
    """Return whether anything was ever written to the database that is still there."""

    def look(connection: sa.Connection) -> bool:
        return any(connection.execute(sa.select(sa.literal(1)).select_from(of).limit(1)).first() for of in _WRITTEN)

    return await database.query(look)


def read_beside(data_dir: Path) -> dict[str, Stamp]:
    """Return the stamps of the folders beside the database, by name; none for one without, or an unreadable one."""
    found = {}
    for name in STAMPED:
        with contextlib.suppress(OSError, ValueError, TypeError, KeyError):
            fields = json.loads((data_dir / name / _FILE).read_bytes())
            found[name] = Stamp(str(fields["folder"]), str(fields["secret"]))
    return found


def write_beside(data_dir: Path, name: str, stamp: Stamp) -> None:
    """Write a folder's stamp over any other; where the folder cannot be written, its store says so when it opens.

    The folder of files is made with the first of them; it gets its stamp at the next start.
    """
    folder = data_dir / name
    with contextlib.suppress(OSError):
        if name == STAMPED[0]:
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        draft = folder / f".{_FILE}.{secrets.token_hex(4)}"
        draft.write_text(json.dumps({"folder": stamp.folder, "secret": stamp.secret}))
        os.replace(draft, folder / _FILE)


def holds_beside(data_dir: Path) -> list[str]:
    """Return the names of the folders beside the database that hold something of a user."""
    found = []
    with contextlib.suppress(OSError):
        found += ["lance"] if lance_disk.some_table(data_dir / "lance") else []
    found += ["blobs"] if next((data_dir / "blobs").glob("*/*"), None) else []
    return found


async def expected_tables(database: Database) -> set[tuple[str, str]]:
    """Return noun and owner of the tables that there should be, as what was written to the database tells."""
    sources = {"memories": history, "episodes": journal, "chunks": media}

    def select(connection: sa.Connection) -> set[tuple[str, str]]:
        found = {noun: connection.execute(_owners(table)).scalars().all() for noun, table in sources.items()}
        return {(noun, owner) for noun, owners in found.items() for owner in owners}

    return await database.query(select)


async def owners(database: Database) -> list[str]:
    """Return everybody of whom anything was ever kept."""
    return sorted({owner for _, owner in await expected_tables(database)})


def _owners(table: sa.Table) -> sa.Select[Any]:
    """Return a query that steps from owner to owner through an index, however many rows each has."""
    walk = sa.select(sa.func.min(table.c.owner).label("owner")).cte(f"owners_of_{table.name}", recursive=True)
    following = sa.select(sa.func.min(table.c.owner)).where(table.c.owner > walk.c.owner).scalar_subquery()
    walk = walk.union_all(sa.select(following).where(walk.c.owner.is_not(None)))
    return sa.select(walk.c.owner).where(walk.c.owner.is_not(None))

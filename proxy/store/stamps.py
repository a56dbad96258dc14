"""Stamps of a data folder, written into each of its stores to detect stores mixed from two folders."""

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

STAMPED = ("lance", "blobs")  # folders beside the database with user content
_FILE = "stamp.json"
_WRITTEN = (sessions, journal, history, receipts, media, keys)


@dataclass(frozen=True, slots=True)
class Stamp:
    """Stamp of one data folder.

    Args:
        folder: Random id, generated once.
        secret: Keyed digest, which only the folder's own secret reproduces.
    """

    folder: str
    secret: str


def new_folder() -> str:
    """Return a new random folder id."""
    return secrets.token_hex(16)


async def read(database: Database) -> Stamp | None:
    """Return the database's stamp, None if it has none."""
    rows = await database.query(lambda connection: connection.execute(sa.select(stamps.c.name, stamps.c.value)).all())
    found: dict[str, str] = {row.name: row.value for row in rows}
    return Stamp(found["folder"], found["secret"]) if {"folder", "secret"} <= found.keys() else None


async def write(database: Database, stamp: Stamp) -> None:
    """Write the database's stamp, replacing any other."""
    insert = database.insert(stamps)
    put = insert.on_conflict_do_update(index_elements=["name"], set_={"value": insert.excluded.value})
    rows = [{"name": "folder", "value": stamp.folder}, {"name": "secret", "value": stamp.secret}]
    await database.submit(lambda connection: connection.execute(put, rows).close())


async def has_rows(database: Database) -> bool:
    """Return whether the database holds any row of user content or keys."""

    def look(connection: sa.Connection) -> bool:
        return any(connection.execute(sa.select(sa.literal(1)).select_from(of).limit(1)).first() for of in _WRITTEN)

    return await database.query(look)


def read_beside(data_dir: Path) -> dict[str, Stamp]:
    """Return the readable stamps of the folders beside the database, by folder name."""
    found = {}
    for name in STAMPED:
        with contextlib.suppress(OSError, ValueError, TypeError, KeyError):
            fields = json.loads((data_dir / name / _FILE).read_bytes())
            found[name] = Stamp(str(fields["folder"]), str(fields["secret"]))
    return found


def write_beside(data_dir: Path, name: str, stamp: Stamp) -> None:
    """Write a folder's stamp, replacing any other; ignore an unwritable folder, which its store reports on opening.

    The ``blobs`` folder is created with the first file and gets its stamp at the next start.
    """
    folder = data_dir / name
    with contextlib.suppress(OSError):
        if name == STAMPED[0]:
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        draft = folder / f".{_FILE}.{secrets.token_hex(4)}"
        draft.write_text(json.dumps({"folder": stamp.folder, "secret": stamp.secret}))
        os.replace(draft, folder / _FILE)


def holds_beside(data_dir: Path) -> list[str]:
    """Return the names of the folders beside the database that hold user content."""
    found = []
    with contextlib.suppress(OSError):
        found += ["lance"] if lance_disk.some_table(data_dir / "lance") else []
    found += ["blobs"] if next((data_dir / "blobs").glob("*/*"), None) else []
    return found


async def expected_tables(database: Database) -> set[tuple[str, str]]:
    """Return noun and user of the LanceDB tables that should exist, judging by the rows of the database."""
    sources = {"memories": history, "episodes": journal, "chunks": media}

    def select(connection: sa.Connection) -> set[tuple[str, str]]:
        found = {noun: connection.execute(_owners(table)).scalars().all() for noun, table in sources.items()}
        return {(noun, owner) for noun, owners in found.items() for owner in owners}

    return await database.query(select)


async def owners(database: Database) -> list[str]:
    """Return all users with any stored content, sorted."""
    return sorted({owner for _, owner in await expected_tables(database)})


def _owners(table: sa.Table) -> sa.Select[Any]:
    """Return a query for the distinct users that skips from user to user in an index, not from row to row."""
    walk = sa.select(sa.func.min(table.c.owner).label("owner")).cte(f"owners_of_{table.name}", recursive=True)
    following = sa.select(sa.func.min(table.c.owner)).where(table.c.owner > walk.c.owner).scalar_subquery()
    walk = walk.union_all(sa.select(following).where(walk.c.owner.is_not(None)))
    return sa.select(walk.c.owner).where(walk.c.owner.is_not(None))

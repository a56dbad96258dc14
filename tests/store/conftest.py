"""What the store's tests share."""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import sqlalchemy as sa

from proxy.store.sql import Database
from tests.fakes.postgres import NewDatabase, postgres

__all__ = ["database_url", "db", "elsewhere", "empty_file", "empty_postgres", "postgres"]


@pytest.fixture(scope="session")
def empty_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A migrated SQLite database, to be copied."""
    file = tmp_path_factory.mktemp("empty") / "sql.db"
    asyncio.run(_migrate(f"sqlite:///{file}"))
    return file


@pytest.fixture(scope="session")
def empty_postgres(postgres: NewDatabase) -> str:
    """The name of a migrated database on the Postgres, to be copied."""
    url = postgres("template1")
    asyncio.run(_migrate(url))
    return str(sa.make_url(url).database)


async def _migrate(url: str) -> None:
    await (await Database.open(url)).close()


@pytest.fixture
def database_url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """A file of its own; with ``ON_BOTH``, a database of its own on a real Postgres as well."""
    if getattr(request, "param", "sqlite") == "postgres":
        make: NewDatabase = request.getfixturevalue("postgres")
        return make(request.getfixturevalue("empty_postgres"))
    shutil.copy(request.getfixturevalue("empty_file"), tmp_path / "sql.db")
    return f"sqlite:///{tmp_path}/sql.db"


@pytest.fixture
async def db(database_url: str) -> AsyncIterator[Database]:
    """An empty database."""
    database = await Database.open(database_url)
    yield database
    await database.close()


@pytest.fixture
async def elsewhere(db: Database, database_url: str) -> AsyncIterator[Database]:
    """The same database as another process has it."""
    database = await Database.open(database_url)
    yield database
    await database.close()

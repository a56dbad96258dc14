"""What the store's tests share."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from proxy.store.sql import Database
from tests.fakes.postgres import postgres

__all__ = ["database_url", "db", "elsewhere", "postgres"]


@pytest.fixture
def database_url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """A file of its own; with ``ON_BOTH``, a database of its own on a real Postgres as well."""
    if getattr(request, "param", "sqlite") == "postgres":
        return str(request.getfixturevalue("postgres")())
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

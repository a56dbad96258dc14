"""What the store's tests share."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from proxy.store.sql import Database


@pytest.fixture
async def db(tmp_path: Path) -> AsyncIterator[Database]:
    """A database in a file of its own."""
    database = await Database.open(f"sqlite:///{tmp_path}/sql.db")
    yield database
    await database.close()

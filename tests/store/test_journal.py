from __future__ import annotations

from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from proxy.store.journal import TO_LEARN, Journal
from proxy.store.ledger import Ledger
from proxy.store.sessions import Sessions
from proxy.store.sql import Database
from sql_rows import NOW, make_record, make_scope

pytestmark = pytest.mark.anyio


@pytest.fixture
async def db(tmp_path: Path) -> AsyncIterator[Database]:
    database = await Database.open(f"sqlite:///{tmp_path}/sql.db")
    yield database
    await database.close()


async def test_replayed_turn_adds_nothing(db: Database) -> None:
    journal, scope = Journal(db), make_scope("a")
    assert await journal.record(scope, make_record(scope, "1"))
    assert not await journal.record(scope, make_record(scope, "1"))
    assert await journal.pending(scope) == 1
    assert (await Sessions(db).get(scope, scope.session)).turns == 1

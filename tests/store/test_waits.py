"""Work scheduled for a time that was written while the clock ran ahead."""

from __future__ import annotations

from datetime import timedelta

import pytest

from proxy.store.journal import Journal
from proxy.store.leases import Leases
from proxy.store.sql import Database
from proxy.store.waits import MAX_WAIT, shorten
from tests.store.sql_rows import NOW, ON_BOTH, make_scope

pytestmark = [pytest.mark.anyio, ON_BOTH]

ANNA = make_scope("anna")
AHEAD = NOW + timedelta(days=1)


async def test_work_due_far_ahead_is_done_now(db: Database) -> None:
    journal = Journal(db)
    await journal.change(ANNA, "c", {}, now=AHEAD, due=AHEAD)
    assert await journal.claim("a", now=NOW, lease_s=30) is None
    assert await shorten(db, now=NOW, lease_s=30) == 1
    assert await journal.claim("a", now=NOW, lease_s=30) is not None


async def test_lease_held_far_ahead_gets_its_usual_length(db: Database) -> None:
    leases = Leases(db)
    assert await leases.acquire(ANNA, "dead", 30, AHEAD)
    assert await shorten(db, now=NOW, lease_s=30) == 1
    assert not await leases.acquire(ANNA, "a", 30, NOW + timedelta(seconds=29))
    assert await leases.acquire(ANNA, "a", 30, NOW + timedelta(seconds=31))


async def test_usual_waits_stay_as_they_are(db: Database) -> None:
    journal, leases = Journal(db), Leases(db)
    await journal.change(ANNA, "c", {}, now=NOW, due=NOW + MAX_WAIT)
    assert await leases.acquire(ANNA, "a", 3 * 3600, NOW)
    assert await shorten(db, now=NOW, lease_s=3 * 3600) == 0
    assert await journal.claim("b", now=NOW, lease_s=30) is None

"""Bound thoughts are found only by their signature and only by their owner."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from proxy.store.bindings import Binding, Bindings, signature_hash
from proxy.store.sql import Database
from tests.store.sql_rows import ON_BOTH, make_scope

NOW = datetime(2026, 11, 26, tzinfo=UTC)
ANNA, BEN = make_scope("anna"), make_scope("ben")
pytestmark = [pytest.mark.anyio, ON_BOTH]


async def test_thought_is_its_owners_and_later_word_counts(db: Database) -> None:
    kept = Bindings(db)
    first, later = (Binding(signature_hash("s"), "c", sent, is_dropped=sent == "b") for sent in "ab")
    assert not await kept.has_any(ANNA)
    for one in (first, later):
        await db.submit(lambda connection, one=one: kept.put(ANNA, connection, [one], now=NOW))
    wanted = [signature_hash("other"), later.signature]
    assert await kept.read(ANNA, wanted) == {later.signature: later}
    assert await kept.read(BEN, wanted) == {}
    assert (await kept.has_any(ANNA), await kept.has_any(BEN)) == (True, False)

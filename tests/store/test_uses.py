from __future__ import annotations

from datetime import timedelta

import pytest

from proxy.errors import StoreUnavailable
from proxy.store.sql import Database
from proxy.store.uses import Use, Uses
from tests.store.sql_rows import NOW, ON_BOTH, make_scope

pytestmark = [pytest.mark.anyio, ON_BOTH]

ANNA, BEN = make_scope("anna"), make_scope("ben")
HOUR = timedelta(hours=1)


async def test_uses_add_up_and_the_last_counts(db: Database) -> None:
    uses = Uses(db)
    for at in (NOW + HOUR, NOW):
        uses.note(ANNA, ["mem_1", "mem_2"], now=at)
        assert await uses.flush() == 2
    uses.note(ANNA, ["mem_1"], now=NOW + 2 * HOUR)
    found = await uses.of(ANNA, ["mem_1", "mem_2", "mem_3"])
    assert found == {"mem_1": Use(3, NOW + 2 * HOUR), "mem_2": Use(2, NOW + HOUR)}


async def test_another_process_sees_what_was_written(db: Database) -> None:
    here, there = Uses(db), Uses(db)
    here.note(ANNA, ["mem_1"], now=NOW)
    assert await there.of(ANNA, ["mem_1"]) == {}
    await here.flush()
    assert await there.of(ANNA, ["mem_1"]) == {"mem_1": Use(1, NOW)}
    assert await here.flush() == 0


async def test_owners_do_not_meet(db: Database) -> None:
    uses = Uses(db)
    uses.note(ANNA, ["mem_1"], now=NOW)
    assert await uses.of(BEN, ["mem_1"]) == {}
    await uses.flush()
    assert await uses.of(BEN, ["mem_1"]) == {}
    assert await uses.of(ANNA, []) == {}


async def test_failed_uses_are_kept_for_the_next_write(db: Database, tmp_path) -> None:
    closed = await Database.open(f"sqlite:///{tmp_path}/closed.db")
    uses = Uses(closed)
    uses.note(ANNA, ["mem_1"], now=NOW)
    await closed.close()
    for _ in range(2):
        with pytest.raises(StoreUnavailable):
            await uses.flush()


async def test_what_is_gone_leaves_nothing(db: Database) -> None:
    uses = Uses(db)
    for _ in range(2):
        uses.note(ANNA, ["mem_1", "mem_2"], now=NOW)
        uses.note(BEN, ["mem_1"], now=NOW)
        await uses.flush()
        uses.note(ANNA, ["mem_1"], now=NOW)
        await uses.remove(ANNA, ["mem_1"])
    assert set(await uses.of(ANNA, ["mem_1", "mem_2"])) == {"mem_2"}
    uses.note(ANNA, ["mem_3"], now=NOW)
    uses.note(BEN, ["mem_3"], now=NOW)
    uses.forget(ANNA)
    assert await uses.of(ANNA, ["mem_3"]) == {}
    assert await uses.of(BEN, ["mem_1", "mem_3"]) == {"mem_1": Use(2, NOW), "mem_3": Use(1, NOW)}

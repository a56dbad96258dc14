from __future__ import annotations

from datetime import timedelta

import pytest
import sqlalchemy as sa

from proxy.store.handed import Handed
from proxy.store.sql import Database
from proxy.store.tables import handed
from tests.store.sql_rows import HOSTILE, NOW, ON_BOTH, make_scope

pytestmark = [pytest.mark.anyio, ON_BOTH]

ANNA, BEN = make_scope("anna"), make_scope("ben")
AGENT = make_scope("anna", agent="a")
DAY = timedelta(days=1)


async def test_handed_out_id_belongs_to_one_scope(db: Database) -> None:
    ids = Handed(db)
    await ids.note(ANNA, ["msg_1", "msg_2"], now=NOW)
    await ids.note(AGENT, ["msg_3"], now=NOW)
    assert await ids.missing(ANNA, ["msg_1", "msg_2", "msg_3", "msg_4"], now=NOW) == ["msg_3", "msg_4"]
    assert await ids.missing(AGENT, ["msg_1", "msg_3"], now=NOW) == []
    assert await ids.missing(BEN, ["msg_1", "msg_3"], now=NOW) == ["msg_1", "msg_3"]
    assert await ids.missing(ANNA, [], now=NOW) == []


async def test_many_ids_and_ids_of_any_kind(db: Database) -> None:
    ids = Handed(db)
    many = [*HOSTILE, *(f"msg_{n}" for n in range(1200))]
    await ids.note(ANNA, many, now=NOW)
    await ids.note(ANNA, many[:3], now=NOW)
    assert await ids.missing(ANNA, [*many, "other"], now=NOW) == ["other"]


async def test_ids_named_again_stay_others_expire(db: Database) -> None:
    ids = Handed(db)
    await ids.note(ANNA, ["named", "left"], now=NOW)
    assert await ids.missing(ANNA, ["named"], now=NOW + 50 * DAY) == []
    assert await ids.prune(before=NOW + 10 * DAY) == 1
    assert await ids.missing(ANNA, ["named", "left"], now=NOW + 50 * DAY) == ["left"]


async def test_no_id_stands_in_the_rows(db: Database) -> None:
    await Handed(db).note(ANNA, ["msg_secret"], now=NOW)
    rows = await db.query(lambda connection: connection.execute(sa.select(handed)).all())
    assert "secret" not in str(rows)

from __future__ import annotations

from datetime import timedelta
from types import MappingProxyType

import pytest

from proxy.errors import NotFound
from proxy.store.receipts import Receipts
from proxy.store.sql import Database
from proxy.types import Scope
from tests.store.sql_rows import HOSTILE, NOW, ON_BOTH, make_scope

pytestmark = [pytest.mark.anyio, ON_BOTH]

ANNA, BEN = make_scope("anna"), make_scope("ben")
CODER, WRITER = make_scope("anna", agent="coder"), make_scope("anna", agent="writer")
BODY = {"id": "rcp_1", "injected": [{"id": "mem_1", "score": 0.5}], "learned": None}
HERE = {"session": ANNA.session}  # part of every receipt read


@pytest.fixture
def receipts(db: Database) -> Receipts:
    return Receipts(db)


async def put(db: Database, scope: Scope, body: dict[str, object], days: int = 0) -> None:
    now = NOW + timedelta(days=days)
    await db.submit(lambda connection: Receipts(db).put(scope, connection, MappingProxyType(body), now=now))


async def test_a_receipt_comes_back_as_it_was(db: Database, receipts: Receipts) -> None:
    await put(db, ANNA, BODY)
    assert await receipts.get(ANNA, "rcp_1") == BODY | HERE


async def test_receipts_out_of_view_do_not_exist(db: Database, receipts: Receipts) -> None:
    await put(db, CODER, BODY)
    for stranger in (BEN, ANNA, WRITER):
        with pytest.raises(NotFound):
            await receipts.get(stranger, "rcp_1")
        assert not await receipts.annotate(stranger, "rcp_1", told={"learned": [{"id": "mem_2"}]})
    assert await receipts.get(CODER, "rcp_1") == BODY | HERE


async def test_what_was_learned_is_added_once(db: Database, receipts: Receipts) -> None:
    await put(db, ANNA, BODY)
    for _ in range(2):
        told = {"learned": [{"id": "mem_2"}], "closed": [{"id": "mem_1"}], "review": []}
        assert await receipts.annotate(ANNA, "rcp_1", told=told)
    assert await receipts.annotate(ANNA, "rcp_1", told={"learned": [{"id": "mem_3"}]})
    expected = BODY | {"learned": [{"id": "mem_2"}, {"id": "mem_3"}], "closed": [{"id": "mem_1"}], "review": []}
    assert await receipts.get(ANNA, "rcp_1") == expected | HERE


async def test_old_receipts_are_pruned(db: Database, receipts: Receipts) -> None:
    for day in range(5):
        await put(db, ANNA, {"id": f"rcp_{day}"}, days=day)
    assert await receipts.prune(before=NOW + timedelta(days=3)) == 3
    assert await receipts.get(ANNA, "rcp_3") == {"id": "rcp_3"} | HERE
    with pytest.raises(NotFound):
        await receipts.get(ANNA, "rcp_2")


@pytest.mark.parametrize("text", HOSTILE)
async def test_hostile_id_does_not_exist(db: Database, receipts: Receipts, text: str) -> None:
    await put(db, ANNA, BODY)
    with pytest.raises(NotFound):
        await receipts.get(ANNA, text)


async def test_pages_together_are_the_list(db: Database, receipts: Receipts) -> None:
    for day in range(5):
        await put(db, ANNA, {"id": f"rcp_{day}"}, days=day // 2)  # some at the same time
    walked: list[str] = []
    while page := await receipts.page(ANNA, after=walked[-1] if walked else "", limit=2):
        walked += [one["id"] for one in page]
    assert walked == ["rcp_4", "rcp_3", "rcp_2", "rcp_1", "rcp_0"]
    assert walked[::-1] == [one["id"] for one in await receipts.all(ANNA)]
    assert await receipts.page(ANNA, sessions=["ses_none"]) == []
    assert await receipts.page(BEN) == []
    assert [one["id"] for one in await receipts.all(ANNA, since=NOW + timedelta(days=2))] == ["rcp_4"]
    with pytest.raises(NotFound):
        await receipts.page(BEN, after="rcp_4")

from __future__ import annotations

import asyncio
import threading
from collections.abc import Sequence

import pytest

from proxy.store.ledger import Ledger, LedgerEntry
from proxy.store.sql import Database
from proxy.types import Scope
from tests.store.sql_rows import ON_BOTH, make_scope

pytestmark = [pytest.mark.anyio, ON_BOTH]

ANNA, BEN = make_scope("anna"), make_scope("ben")
OTHER = make_scope("anna", session="other")
MAGNET = LedgerEntry("h1", "block", "Uses Magnet and Shram.", ("mem_magnet", "mem_shram"))
SHRAM = LedgerEntry("h2", "block", "Uses Shram.", ("mem_shram",))
PROFILE = LedgerEntry("h1", "profile", "Answers in English.", ())


async def put(db: Database, scope: Scope, entries: Sequence[LedgerEntry]) -> None:
    await db.submit(lambda connection: Ledger(db).put(scope, connection, entries))


async def read(db: Database, scope: Scope) -> set[LedgerEntry]:
    return set(await Ledger(db).read(scope, scope.session))


async def test_entries_come_back_byte_for_byte(db: Database) -> None:
    entry = LedgerEntry("h1", "block", '<memory a="b">\r\n  \\n \\0 \ud83d \0 </memory>\n', ("mem_1",))
    await put(db, ANNA, [entry, PROFILE])
    assert await read(db, ANNA) == {entry, PROFILE}


async def test_the_latest_entry_of_a_place_counts(db: Database) -> None:
    await put(db, ANNA, [MAGNET])
    await put(db, ANNA, [LedgerEntry("h1", "block", "Other.", ())])
    assert await read(db, ANNA) == {LedgerEntry("h1", "block", "Other.", ())}


async def test_forgotten_memory_leaves_all_conversations_ledgers(db: Database) -> None:
    for scope in (ANNA, OTHER, BEN):
        await put(db, scope, [MAGNET, SHRAM, PROFILE])
    assert await Ledger(db).drop_memories(ANNA, ["mem_magnet", "mem_unknown"]) == 2
    assert await read(db, ANNA) == await read(db, OTHER) == {SHRAM, PROFILE}
    assert await read(db, BEN) == {MAGNET, SHRAM, PROFILE}
    assert await Ledger(db).drop_memories(ANNA, []) == 0


async def test_forgotten_value_drops_entries_that_say_it(db: Database) -> None:
    for scope in (ANNA, OTHER, BEN):
        await put(db, scope, [MAGNET, SHRAM, PROFILE])
    assert await Ledger(db).drop_text(ANNA, lambda text: "Magnet" in text) == 2
    assert await read(db, ANNA) == await read(db, OTHER) == {SHRAM, PROFILE}
    assert await read(db, BEN) == {MAGNET, SHRAM, PROFILE}


async def test_another_conversations_ledger_is_not_read(db: Database) -> None:
    await put(db, ANNA, [MAGNET])
    assert await read(db, OTHER) == set()
    assert await Ledger(db).read(BEN, ANNA.session) == []


async def test_writers_do_not_wait_for_a_search(db: Database) -> None:
    await put(db, ANNA, [MAGNET])
    looking, may_go_on = threading.Event(), threading.Event()

    def look(text: str) -> bool:
        looking.set()
        return may_go_on.wait(10) and "Magnet" in text

    dropping = asyncio.ensure_future(Ledger(db).drop_text(ANNA, look))
    async with asyncio.timeout(10):
        while not looking.is_set():
            await asyncio.sleep(0.001)
        await put(db, ANNA, [SHRAM])
    may_go_on.set()
    assert await dropping == 1
    assert await read(db, ANNA) == {SHRAM}

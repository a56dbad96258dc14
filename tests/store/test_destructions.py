from __future__ import annotations

from datetime import timedelta

import pytest

from proxy.store.destructions import Destructions, Doomed
from proxy.store.erase import Erasure
from proxy.store.sql import Database
from proxy.types import Scope
from tests.store.sql_rows import NOW, ON_BOTH, make_scope

pytestmark = pytest.mark.anyio

ANNA = make_scope("anna")
ONE: tuple[Scope, Doomed, str] = (ANNA, "session", "ses_1")
LATER = NOW + timedelta(minutes=1)


@ON_BOTH
async def test_what_is_done_waits_for_a_scrub(db: Database) -> None:
    notes = Destructions(db)
    await notes.begin(*ONE, now=NOW)
    assert [one.id for one in await notes.unfinished(until=NOW)] == ["ses_1"]
    assert not await notes.awaits_scrub()
    await notes.done(*ONE, now=LATER)
    assert await notes.unfinished(until=LATER) == []
    await notes.over(until=NOW)
    assert await notes.awaits_scrub()
    await notes.over(until=LATER)
    assert not await notes.awaits_scrub()


@ON_BOTH
async def test_same_thing_is_destroyed_again(db: Database) -> None:
    notes = Destructions(db)
    await notes.begin(*ONE, now=NOW)
    await notes.done(*ONE, now=NOW)
    await notes.begin(*ONE, now=LATER)
    assert await notes.is_open(*ONE)
    assert await notes.unfinished(until=NOW) == []


async def test_note_of_an_erasure_outlives_the_owners_rows(db: Database) -> None:
    notes = Destructions(db)
    await notes.begin(*ONE, now=NOW)
    await notes.begin(ANNA, "scope", "", now=NOW)
    assert await notes.erased() == {ANNA.user}
    await Erasure(db).delete(ANNA)
    assert not await notes.is_open(*ONE)
    assert await notes.is_open(ANNA, "scope", "")

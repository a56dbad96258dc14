from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import timedelta

import pytest

from proxy.store.history import Entry, History
from proxy.store.sql import Database
from proxy.types import Memory
from tests.store.sql_rows import NOW, ON_BOTH, make_scope

pytestmark = [pytest.mark.anyio, ON_BOTH]

ANNA, BEN = make_scope("anna"), make_scope("ben")
CODER, WRITER = make_scope("anna", agent="coder"), make_scope("anna", agent="writer")
ADDED = Memory("mem_1", "fact", "I use Magnet.", NOW, NOW, NOW)
CLOSED = replace(ADDED, status="closed", updated_at=NOW + timedelta(days=1))


@dataclass(frozen=True, slots=True)
class Step:
    action: str
    memory: Memory
    before: Memory | None
    turn: str = "turn_1"
    reason: str = "said"


ADD, CLOSE = Step("add", ADDED, None), Step("close", CLOSED, ADDED, "turn_2", "taken back")


@pytest.fixture
def history(db: Database) -> History:
    return History(db)


async def test_life_of_a_memory_is_told_in_order(history: History) -> None:
    await history.append(ANNA, [ADD, CLOSE])
    assert await history.of(ANNA, "mem_1") == [
        Entry("mem_1", "add", "said", "turn_1", NOW, None, ADDED),
        Entry("mem_1", "close", "taken back", "turn_2", NOW + timedelta(days=1), ADDED, CLOSED),
    ]


async def test_the_same_step_is_told_once(history: History) -> None:
    await history.append(ANNA, [ADD, CLOSE])
    await history.append(ANNA, [ADD, CLOSE])
    assert [entry.action for entry in await history.of(ANNA, "mem_1")] == ["add", "close"]


async def test_two_edits_in_one_moment_are_two_steps(history: History) -> None:
    edits = [Step("edit", replace(ADDED, text=text), ADDED) for text in ("a", "b")]
    await history.append(ANNA, edits)
    assert [entry.after.text for entry in await history.of(ANNA, "mem_1")] == ["a", "b"]


async def test_histories_out_of_view_are_empty(history: History) -> None:
    await history.append(CODER, [Step("add", replace(ADDED, agent=CODER.agent), None)])
    for stranger in (ANNA, BEN, WRITER):
        assert await history.of(stranger, "mem_1") == []
    assert len(await history.of(CODER, "mem_1")) == 1


async def test_a_purged_memory_has_no_history(history: History) -> None:
    for scope in (ANNA, BEN):
        await history.append(scope, [ADD, CLOSE, Step("add", replace(ADDED, id="mem_2"), None)])
    assert await history.purge(ANNA, ["mem_1", "mem_unknown"]) == 2
    assert await history.of(ANNA, "mem_1") == []
    assert len(await history.of(ANNA, "mem_2")) == 1
    assert len(await history.of(BEN, "mem_1")) == 2

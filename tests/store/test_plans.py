"""No SQL statement of the store scans a whole table: its cost must not grow with other owners' rows."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest
import sqlalchemy as sa

from proxy.errors import NotFound
from proxy.store.compactions import Compaction, Compactions
from proxy.store.costs import Cost, Costs
from proxy.store.erase import Erasure
from proxy.store.history import History
from proxy.store.journal import Journal
from proxy.store.journal_rows import TO_LEARN
from proxy.store.keys import Keys
from proxy.store.leases import Leases
from proxy.store.ledger import Ledger
from proxy.store.receipts import Receipts
from proxy.store.sessions import Sessions
from proxy.store.sql import Database
from proxy.store.uses import Uses
from tests.store.sql_rows import NOW, make_record, make_scope

pytestmark = pytest.mark.anyio

ANNA = make_scope("anna")
Statements = list[tuple[str, Any]]


@pytest.fixture
def executed() -> Iterator[Statements]:
    seen: Statements = []

    def note(_connection: Any, _cursor: Any, statement: str, parameters: Any, _context: Any, is_many: bool) -> None:
        seen.append((statement, parameters[0] if is_many else parameters))

    sa.event.listen(sa.Engine, "before_cursor_execute", note)
    yield seen
    sa.event.remove(sa.Engine, "before_cursor_execute", note)


async def use_everything(db: Database) -> None:
    journal, sessions, receipts, ledger = Journal(db), Sessions(db), Receipts(db), Ledger(db)
    await journal.record(ANNA, make_record(ANNA, "1"))
    claim = await journal.claim("w", now=NOW, lease_s=1)
    assert claim is not None
    seqs = [item.seq for item in claim.items]
    await journal.plan(ANNA, seqs, {})
    await journal.advance(ANNA, seqs, stage=TO_LEARN, due=NOW)
    await journal.retry(ANNA, seqs, due=NOW, error="")
    await journal.bury(ANNA, seqs, "")
    await journal.dead(ANNA)
    await journal.revive_all(now=NOW)
    await journal.finish(ANNA, seqs, now=NOW)
    await journal.items(ANNA)
    await journal.tally(ANNA)
    await journal.depth()
    await journal.prune(before=NOW + timedelta(days=1))
    await Leases(db).renew(ANNA, "w", 1, NOW)
    await Leases(db).release(ANNA, "w")
    await receipts.annotate(ANNA, "rcp_1")
    await receipts.prune(before=NOW)
    await ledger.drop_memories(ANNA, ["mem_1"])
    await ledger.drop_text(ANNA, lambda _text: True)
    await sessions.named(ANNA, "chat")
    await sessions.page(ANNA, after=ANNA.session)
    await sessions.idle(before=NOW, limit=5, max_pending=1)
    await Compactions(db).prepare(ANNA, Compaction("a", "h", (), ({"first": 1},)), now=NOW)
    await Compactions(db).read(ANNA, ANNA.session)
    await Compactions(db).mend(ANNA, lambda _segment: {})
    await Costs(db).add(ANNA, [Cost("captions", 5, 0.1)])
    await Costs(db).read(ANNA)
    uses = Uses(db)
    uses.note(ANNA, ["mem_1"], now=NOW)
    await uses.flush()
    await uses.of(ANNA, ["mem_1"])
    await uses.remove(ANNA, ["mem_1"])
    await sessions.prune(before=NOW + timedelta(days=1), limit=5)
    await sessions.end(ANNA, ANNA.session, now=NOW)
    await sessions.delete(ANNA, ANNA.session)
    await History(db).of(ANNA, "mem_1")
    await Keys(db).lookup("x")
    with pytest.raises(NotFound):
        await Keys(db).revoke("x", now=NOW)
    await Erasure(db).count(ANNA)
    await Erasure(db).erase(ANNA)


async def test_every_statement_finds_its_rows_by_an_index(db: Database, executed: Statements) -> None:
    await use_everything(db)
    statements = [pair for pair in executed if pair[0].startswith(("SELECT", "UPDATE", "DELETE", "INSERT"))]
    assert len(statements) > 40

    def plans(connection: sa.Connection) -> dict[str, list[str]]:
        explained = {}
        for statement, parameters in statements:
            rows = connection.exec_driver_sql(f"EXPLAIN QUERY PLAN {statement}", parameters)
            explained[statement] = [row[-1] for row in rows]
        return explained

    for statement, plan in (await db.query(plans)).items():
        scans = [line for line in plan if line.startswith("SCAN") and "INDEX" not in line]
        assert not scans, statement

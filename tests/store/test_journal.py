from __future__ import annotations

import asyncio
from dataclasses import replace
from datetime import timedelta

import pytest
import sqlalchemy as sa

from proxy.errors import NotFound
from proxy.store.journal import Journal
from proxy.store.journal_rows import DONE, TO_INDEX, TO_LEARN, Claim
from proxy.store.leases import Leases
from proxy.store.ledger import Ledger
from proxy.store.receipts import Receipts
from proxy.store.sessions import Sessions
from proxy.store.sql import Database
from tests.store.sql_rows import HOSTILE, NOW, ON_BOTH, make_record, make_scope, make_turn

pytestmark = [pytest.mark.anyio, ON_BOTH]

ANNA, BEN = make_scope("anna"), make_scope("ben")
SECOND = timedelta(seconds=1)
LEASE_S = 30.0


@pytest.fixture
def journal(db: Database) -> Journal:
    return Journal(db, debounce_s=5, max_wait_s=60)


async def take(journal: Journal, holder: str = "w", *, now=NOW) -> Claim:
    claim = await journal.claim(holder, now=now, lease_s=LEASE_S)
    assert claim is not None
    return claim


async def test_new_turn_is_recorded_with_everything_around_it(db: Database, journal: Journal) -> None:
    record = make_record(ANNA, "1", name="chat 7", memory_ids=("mem_1",))
    assert await journal.record(ANNA, record)
    sessions = Sessions(db)
    assert (await sessions.get(ANNA, ANNA.session)).turns == 1
    assert await sessions.named(ANNA, "chat 7") == ANNA.session
    assert [row.hash for row in await sessions.locate(ANNA, ["hash_1"])] == ["hash_1"]
    assert await Ledger(db).read(ANNA, ANNA.session) == list(record.ledger)
    assert await Receipts(db).get(ANNA, "rcp_1") == record.receipt | {"session": ANNA.session}
    (item,) = (await take(journal)).items
    assert item.turn == record.turn
    assert item.stage == TO_INDEX


async def test_a_replayed_turn_adds_nothing(db: Database, journal: Journal) -> None:
    assert await journal.record(ANNA, make_record(ANNA, "1"))
    assert not await journal.record(ANNA, make_record(ANNA, "1", text="said again"))
    (item,) = await journal.items(ANNA)
    assert item.turn == make_turn(ANNA, "1")
    assert (await Sessions(db).get(ANNA, ANNA.session)).turns == 1


async def test_retry_completes_only_a_broken_turn(db: Database, journal: Journal) -> None:
    """No retry undoes a complete turn."""
    scope = make_scope("alice")
    whole = make_record(scope, "one")
    assert whole.turn is not None
    cut = replace(whole, turn=replace(whole.turn, finish="client_closed", reply="Not"))
    later = replace(whole, now=NOW + SECOND, due=NOW + SECOND)
    assert await journal.record(scope, cut)
    assert not await journal.record(scope, cut)
    assert await journal.record(scope, later)
    assert not await journal.record(scope, replace(cut, now=NOW + SECOND))
    (item,) = await journal.items(scope)
    assert item.turn is not None
    assert (item.turn.reply, item.turn.finish) == ("Noted.", "complete")
    assert (await Sessions(db).get(scope, scope.session)).turns == 1


async def test_a_done_turn_is_still_known(journal: Journal) -> None:
    await journal.record(ANNA, make_record(ANNA, "1"))
    await journal.finish(ANNA, [item.seq for item in await journal.items(ANNA)], now=NOW)
    assert await journal.prune(before=NOW + SECOND) == 1
    assert await journal.prune(before=NOW + SECOND) == 0
    assert not await journal.record(ANNA, make_record(ANNA, "1"))
    assert not await journal.items(ANNA)


async def test_the_same_turn_in_another_conversation_is_another(journal: Journal) -> None:
    other = make_scope("anna", session="other")
    assert await journal.record(ANNA, make_record(ANNA, "1"))
    assert await journal.record(other, make_record(other, "1"))


async def test_a_request_without_a_turn_leaves_its_receipt(db: Database, journal: Journal) -> None:
    assert not await journal.record(ANNA, make_record(ANNA, None))
    assert not await journal.items(ANNA)
    assert (await Receipts(db).get(ANNA, "rcp_None"))["id"] == "rcp_None"
    assert (await Sessions(db).get(ANNA, ANNA.session)).turns == 0


async def test_a_tally_counts_what_is_in_view(journal: Journal) -> None:
    mail = make_scope("anna", agent="mail")
    for scope, names in ((ANNA, "ab"), (mail, "cde"), (BEN, "f")):
        for name in names:
            await journal.record(scope, make_record(scope, name))
    seqs = [item.seq for item in await journal.items(ANNA)]
    await journal.finish(ANNA, seqs[:1], now=NOW)
    await journal.bury(ANNA, seqs[-1:], "x")
    assert await journal.tally(ANNA) == (1, 0)
    assert await journal.tally(mail) == (3, 1)
    assert await journal.tally(BEN) == (1, 0)


async def test_a_turn_of_another_owner_is_refused(journal: Journal) -> None:
    with pytest.raises(ValueError, match="owner"):
        await journal.record(ANNA, make_record(BEN, "1"))


async def test_concurrent_records_are_kept_but_the_broken_one(db: Database, journal: Journal) -> None:
    records = [make_record(ANNA, str(n)) for n in range(50)]
    records[17] = replace(records[17], receipt={"no": "id"})
    results = await asyncio.gather(*(journal.record(ANNA, record) for record in records), return_exceptions=True)
    assert isinstance(results[17], KeyError)
    assert [result for result in results if result is not results[17]] == [True] * 49
    assert len(await journal.items(ANNA)) == 49
    with pytest.raises(NotFound):
        await Receipts(db).get(ANNA, "rcp_17")


async def test_a_claim_has_one_owners_turns_in_order(journal: Journal) -> None:
    for n in range(4):
        for scope in (ANNA, BEN):
            await journal.record(scope, make_record(scope, str(n)))
    claims = [await take(journal, "w1"), await take(journal, "w2")]
    assert {claim.scope.user for claim in claims} == {ANNA.user, BEN.user}
    for claim in claims:
        assert [item.id for item in claim.items] == [f"turn_{n}" for n in range(4)]
        assert {item.turn.scope.user for item in claim.items if item.turn} == {claim.scope.user}
    assert await journal.claim("w3", now=NOW, lease_s=LEASE_S) is None


async def test_the_longest_due_owner_comes_first(journal: Journal) -> None:
    await journal.record(ANNA, make_record(ANNA, "1", due=NOW + SECOND))
    await journal.record(BEN, make_record(BEN, "1"))
    assert (await take(journal, now=NOW + SECOND)).scope.user == BEN.user


async def test_nothing_is_claimed_before_it_is_due(journal: Journal) -> None:
    await journal.record(ANNA, make_record(ANNA, "1", due=NOW + SECOND))
    assert await journal.claim("w", now=NOW, lease_s=LEASE_S) is None
    assert (await take(journal, now=NOW + SECOND)).scope.user == ANNA.user


async def test_claims_are_exclusive_across_processes(journal: Journal, elsewhere: Database) -> None:
    owners = [make_scope(f"user {n}") for n in range(12)]
    for scope in owners:
        await journal.record(scope, make_record(scope, "1"))
    journals = [journal, Journal(elsewhere)]
    claims = await asyncio.gather(
        *(journals[n % 2].claim(f"w{n}", now=NOW, lease_s=LEASE_S) for n in range(len(owners) + 3))
    )
    taken = [claim.scope.user for claim in claims if claim is not None]
    assert sorted(taken) == sorted(scope.user for scope in owners)


async def test_expired_lease_hands_over_a_dead_holders_work(journal: Journal, elsewhere: Database) -> None:
    await journal.record(ANNA, make_record(ANNA, "1"))
    await take(journal, "dead")
    other = Journal(elsewhere)
    late = NOW + timedelta(seconds=LEASE_S)
    assert await other.claim("w", now=late - SECOND, lease_s=LEASE_S) is None
    assert (await take(other, "w", now=late)).scope.user == ANNA.user
    assert not await Leases(elsewhere).renew(ANNA, "dead", LEASE_S, late)


async def test_a_holder_may_claim_again_what_it_holds(journal: Journal) -> None:
    await journal.record(ANNA, make_record(ANNA, "1"))
    await take(journal, "w")
    await journal.record(ANNA, make_record(ANNA, "2"))
    assert len((await take(journal, "w")).items) == 2


async def test_released_work_is_free_at_once(db: Database, journal: Journal) -> None:
    await journal.record(ANNA, make_record(ANNA, "1"))
    claim = await take(journal, "w1")
    await Leases(db).release(claim.scope, claim.holder)
    assert (await take(journal, "w2")).scope.user == ANNA.user


async def test_turns_go_from_indexed_to_learned_to_done(journal: Journal) -> None:
    await journal.record(ANNA, make_record(ANNA, "1"))
    (item,) = (await take(journal)).items
    await journal.advance(ANNA, [item.seq], stage=TO_LEARN, due=NOW + SECOND)
    assert await journal.depth() == {"index": 0, "learn": 1, "dead": 0}
    await journal.plan(ANNA, [item.seq], {"changes": [1, "two"]})
    (item,) = await journal.items(ANNA)
    assert (item.stage, item.plan, item.due) == (TO_LEARN, {"changes": [1, "two"]}, NOW + SECOND)
    await journal.finish(ANNA, [item.seq], now=NOW)
    assert await journal.items(ANNA) == ()
    assert await journal.depth() == {"index": 0, "learn": 0, "dead": 0}


async def test_new_turns_put_off_learning_within_limits(journal: Journal) -> None:
    await journal.record(ANNA, make_record(ANNA, "0"))
    (first,) = await journal.items(ANNA)
    await journal.advance(ANNA, [first.seq], stage=TO_LEARN, due=NOW + 5 * SECOND)
    for second in range(4, 100, 4):
        now = NOW + second * SECOND
        await journal.record(ANNA, make_record(ANNA, str(second), now=now))
        due = next(item.due for item in await journal.items(ANNA) if item.seq == first.seq)
        assert due == min(now + 5 * SECOND, NOW + 60 * SECOND)


async def test_a_new_turn_leaves_other_owners_alone(journal: Journal) -> None:
    await journal.record(ANNA, make_record(ANNA, "1"))
    (item,) = await journal.items(ANNA)
    await journal.advance(ANNA, [item.seq], stage=TO_LEARN, due=NOW + SECOND)
    await journal.record(BEN, make_record(BEN, "1"))
    assert [item.due for item in await journal.items(ANNA)] == [NOW + SECOND]


async def test_nothing_overtakes_a_turn_awaiting_retry(journal: Journal) -> None:
    for n in range(3):
        await journal.record(ANNA, make_record(ANNA, str(n)))
    first, second, third = [item.seq for item in await journal.items(ANNA)]
    await journal.advance(ANNA, [first, second], stage=TO_LEARN, due=NOW)
    await journal.retry(ANNA, [first], due=NOW + 20 * SECOND, error="model_down")
    await journal.advance(ANNA, [third], stage=TO_LEARN, due=NOW + SECOND)
    items = await journal.items(ANNA)
    assert [item.due for item in items] == [NOW + 20 * SECOND] * 3
    assert [(item.attempts, item.error) for item in items] == [(1, "model_down"), (0, ""), (0, "")]
    await journal.record(ANNA, make_record(ANNA, "new", now=NOW + SECOND))
    assert (await take(journal, now=NOW + SECOND)).items[-1].stage == TO_INDEX


async def test_the_rows_of_one_pause_are_due_together(journal: Journal) -> None:
    for n in range(2):
        await journal.record(ANNA, make_record(ANNA, str(n)))
    first, second = [item.seq for item in await journal.items(ANNA)]
    await journal.advance(ANNA, [first], stage=TO_LEARN, due=NOW + SECOND)
    await journal.advance(ANNA, [second], stage=TO_LEARN, due=NOW + 3 * SECOND)
    assert {item.due for item in await journal.items(ANNA)} == {NOW + 3 * SECOND}


async def test_buried_turns_wait_to_be_revived(journal: Journal) -> None:
    await journal.record(ANNA, make_record(ANNA, "1"))
    (item,) = await journal.items(ANNA)
    await journal.bury(ANNA, [item.seq], "x" * 5000)
    assert await journal.claim("w", now=NOW, lease_s=LEASE_S) is None
    assert await journal.depth() == {"index": 0, "learn": 0, "dead": 1}
    (dead,) = await journal.dead(ANNA)
    assert dead.turn == item.turn
    assert len(dead.error) == 1000
    assert await journal.revive_all(now=NOW) == 1
    assert (await take(journal)).items[0].attempts == 0


async def test_new_start_revives_dead_turns_of_all_owners(journal: Journal) -> None:
    for scope in (ANNA, BEN):
        await journal.record(scope, make_record(scope, "1"))
        await journal.bury(scope, [item.seq for item in await journal.items(scope)], "x")
    assert await journal.revive_all(now=NOW) == 2
    assert await journal.depth() == {"index": 2, "learn": 0, "dead": 0}


BROKEN = {"no json": ("payload", b"{nonsense"), "no turn": ("payload", b'{"id": 1}'), "plan": ("plan", b"{")}


@pytest.mark.parametrize(("column", "value"), BROKEN.values(), ids=BROKEN)
async def test_unreadable_row_is_buried_alone(db: Database, journal: Journal, column: str, value: bytes) -> None:
    for n in range(3):
        await journal.record(ANNA, make_record(ANNA, str(n)))
    broken = (await journal.items(ANNA))[1].seq
    raw = sa.table("journal", sa.column("seq"), sa.column(column))
    update = raw.update().where(raw.c.seq == broken).values({column: value})
    await db.submit(lambda connection: connection.execute(update).rowcount)
    assert [item.id for item in (await take(journal)).items] == ["turn_0", "turn_2"]
    assert [item.id for item in await journal.items(ANNA)] == ["turn_0", "turn_2"]
    (dead,) = await journal.dead(ANNA)
    assert (dead.seq, dead.is_readable) == (broken, False)


async def test_outage_counts_no_attempt_and_keeps_the_order(journal: Journal) -> None:
    for n in range(2):
        await journal.record(ANNA, make_record(ANNA, str(n)))
    first, second = [item.seq for item in await journal.items(ANNA)]
    await journal.advance(ANNA, [first, second], stage=TO_LEARN, due=NOW)
    await journal.retry(ANNA, [first], due=NOW + 20 * SECOND, error="store", is_counted=False)
    items = await journal.items(ANNA)
    assert [(item.due, item.attempts) for item in items] == [(NOW + 20 * SECOND, 0)] * 2
    assert [item.waits(NOW) for item in items] == [True, False]


async def test_change_by_api_is_work_too(journal: Journal) -> None:
    assert await journal.change(ANNA, "chg_1", [{"id": "mem_1"}], now=NOW, due=NOW)
    assert not await journal.change(ANNA, "chg_1", [{"id": "mem_1"}], now=NOW, due=NOW)
    (item,) = (await take(journal)).items
    assert (item.kind, item.id, item.change, item.turn) == ("change", "chg_1", [{"id": "mem_1"}], None)


async def test_no_one_moves_another_owners_rows(journal: Journal) -> None:
    await journal.record(ANNA, make_record(ANNA, "1"))
    before = await journal.items(ANNA)
    seqs = [item.seq for item in before]
    await journal.advance(BEN, seqs, stage=DONE, due=NOW)
    await journal.finish(BEN, seqs, now=NOW)
    await journal.bury(BEN, seqs, "x")
    await journal.retry(BEN, seqs, due=NOW, error="x")
    await journal.plan(BEN, seqs, {})
    assert await journal.items(ANNA) == before


@pytest.mark.parametrize("text", HOSTILE)
async def test_hostile_text_is_kept_as_it_is(db: Database, journal: Journal, text: str) -> None:
    scope = make_scope("anna", session=text)
    record = make_record(scope, text, text=text, name=text, memory_ids=(text,))
    assert await journal.record(scope, record)
    (item,) = await journal.items(scope)
    assert item.turn == record.turn
    assert await Ledger(db).read(scope, scope.session) == list(record.ledger)
    assert await Receipts(db).get(scope, f"rcp_{text}") == record.receipt | {"session": scope.session}
    sessions = Sessions(db)
    assert await sessions.named(scope, text) == (scope.session if text else None)
    assert len(await sessions.locate(scope, [f"hash_{text}"])) == 1
    await journal.retry(scope, [item.seq], due=NOW, error=text)
    assert (await journal.items(scope))[0].error == text[:1000]

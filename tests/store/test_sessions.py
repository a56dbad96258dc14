from __future__ import annotations

import asyncio
from datetime import timedelta

import pytest

from proxy.errors import NotFound
from proxy.store.erase import OWNED, Erasure
from proxy.store.journal import Journal
from proxy.store.ledger import Ledger
from proxy.store.quarantine import Apart, Quarantine
from proxy.store.replies import Replies
from proxy.store.sessions import Link, Sessions
from proxy.store.silenced import Silenced
from proxy.store.sql import Database
from tests.store.sql_rows import NOW, ON_BOTH, make_record, make_scope

pytestmark = [pytest.mark.anyio, ON_BOTH]

ANNA, BEN = make_scope("anna"), make_scope("ben")
HOUR = timedelta(hours=1)


@pytest.fixture
def sessions(db: Database) -> Sessions:
    return Sessions(db)


@pytest.fixture
def journal(db: Database) -> Journal:
    return Journal(db)


async def test_chain_points_are_found_in_every_conversation(db: Database, sessions: Sessions) -> None:
    branch = make_scope("anna", session="branch")
    links = [Link(f"h{n}", n, learned=n < 2) for n in range(3)]
    await db.submit(lambda connection: sessions.link(ANNA, connection, links, now=NOW))
    await db.submit(lambda connection: sessions.link(branch, connection, links[:2], now=NOW + HOUR))
    found = await sessions.locate(ANNA, ["h2", "h1", "unknown", "h1"])
    assert [(row.hash, row.session, row.seq, row.learned) for row in found] == [
        ("h2", ANNA.session, 2, False),
        ("h1", branch.session, 1, True),
        ("h1", ANNA.session, 1, True),
    ]


async def test_point_knows_its_conversations_last_activity(journal: Journal, sessions: Sessions) -> None:
    await journal.record(ANNA, make_record(ANNA, "1"))
    await journal.record(ANNA, make_record(ANNA, "2", now=NOW + HOUR))
    (row,) = await sessions.locate(ANNA, ["hash_1"])
    assert row.last_at == NOW + HOUR


async def test_known_point_may_become_learned_not_unlearned(db: Database, sessions: Sessions) -> None:
    for learned, expected in ((False, False), (True, True), (False, True)):
        link = Link("h", 0, learned)
        await db.submit(lambda connection, link=link: sessions.link(ANNA, connection, [link], now=NOW))
        assert [row.learned for row in await sessions.locate(ANNA, ["h"])] == [expected]


@pytest.mark.parametrize("count", [0, 1, 8, 9, 64, 65, 512, 513, 3000])
async def test_any_number_of_hashes_can_be_looked_up(db: Database, sessions: Sessions, count: int) -> None:
    links = [Link(f"h{n}", n, learned=True) for n in range(count)]
    await db.submit(lambda connection: sessions.link(ANNA, connection, links, now=NOW))
    found = await sessions.locate(ANNA, [link.hash for link in links])
    assert [row.seq for row in found] == list(reversed(range(count)))


async def test_a_conversation_is_found_by_the_clients_name(journal: Journal, sessions: Sessions) -> None:
    agent = make_scope("anna", agent="coder", session="coding")
    await journal.record(ANNA, make_record(ANNA, "1", name="chat"))
    await journal.record(agent, make_record(agent, "1", name="chat"))
    assert await sessions.named(ANNA, "chat") == ANNA.session
    assert await sessions.named(agent, "chat") == agent.session
    assert await sessions.named(ANNA, "other") is None
    assert await sessions.named(ANNA, "") is None
    assert await sessions.named(BEN, "chat") is None


async def test_use_is_noted_and_the_name_stays(journal: Journal, sessions: Sessions) -> None:
    await journal.record(ANNA, make_record(ANNA, "1", name="chat"))
    await journal.record(ANNA, make_record(ANNA, "2", now=NOW + HOUR))
    await journal.record(ANNA, make_record(ANNA, None, now=NOW - HOUR))
    session = await sessions.get(ANNA, ANNA.session)
    assert (session.name, session.turns) == ("chat", 2)
    assert (session.created_at, session.last_at) == (NOW, NOW + HOUR)


async def test_pages_show_every_conversation_once_newest_first(journal: Journal, sessions: Sessions) -> None:
    scopes = [make_scope("anna", session=f"{n:02}") for n in range(7)]
    for n, scope in enumerate(scopes):
        await journal.record(scope, make_record(scope, "1", now=NOW + n // 2 * HOUR))
    seen: list[str] = []
    has_more = True
    while has_more:
        page, has_more = await sessions.page(ANNA, after=seen[-1] if seen else "", limit=3)
        seen += [session.id for session in page]
    assert seen == [scope.session for scope in reversed(scopes)]
    with pytest.raises(NotFound):
        await sessions.page(ANNA, after="ses_unknown")


async def test_ending_is_noted_once_and_turns_reopen(journal: Journal, sessions: Sessions) -> None:
    await journal.record(ANNA, make_record(ANNA, "1"))
    for hours in (1, 2):
        assert (await sessions.end(ANNA, ANNA.session, now=NOW + hours * HOUR)).ended_at == NOW + HOUR
    await journal.record(ANNA, make_record(ANNA, "1"))
    assert (await sessions.get(ANNA, ANNA.session)).ended_at == NOW + HOUR
    await journal.record(ANNA, make_record(ANNA, "2"))
    assert (await sessions.get(ANNA, ANNA.session)).ended_at is None


async def test_deletion_takes_exactly_the_conversation(db: Database, journal: Journal, sessions: Sessions) -> None:
    other = make_scope("anna", session="other")
    for scope in (ANNA, other):
        await journal.record(scope, make_record(scope, "1"))
        await Quarantine(db).add(scope, Apart(f"qua_{scope.session}", "session", scope.session, "", "user", NOW))
        await Silenced(db).switch(scope, is_off=True, now=NOW)
    counts = await sessions.delete(ANNA, ANNA.session)
    assert counts == {
        "quarantine": 1,
        "silenced": 1,
        "sessions": 1,
        "chain": 1,
        "ledger": 1,
        "bindings": 1,
        "compactions": 1,
        "costs": 1,
        "receipts": 1,
        "replies": 1,
        "journal": 1,
    }
    left = await Erasure(db).count(ANNA)
    other_rows = dict.fromkeys(counts, 1) | {"receipts": 0, "replies": 0, "costs": 2}  # the user's own counts stay
    assert left == {table.name: 0 for table in OWNED} | other_rows
    with pytest.raises(NotFound):
        await sessions.get(ANNA, ANNA.session)


async def test_conversations_out_of_view_do_not_exist(journal: Journal, sessions: Sessions) -> None:
    coder, writer = make_scope("anna", agent="coder", session="c"), make_scope("anna", agent="writer", session="w")
    await journal.record(coder, make_record(coder, "1"))
    for stranger in (BEN, ANNA, writer):
        for attempt in (sessions.get, sessions.delete):
            with pytest.raises(NotFound):
                await attempt(stranger, coder.session)
        with pytest.raises(NotFound):
            await sessions.end(stranger, coder.session, now=NOW)
        assert await sessions.page(stranger) == ([], False)
        assert await sessions.locate(stranger, ["hash_1"]) == []
    assert (await sessions.get(coder, coder.session)).ended_at is None


async def test_an_agent_sees_the_users_common_conversations(journal: Journal, sessions: Sessions) -> None:
    coder = make_scope("anna", agent="coder", session="c")
    await journal.record(ANNA, make_record(ANNA, "1"))
    await journal.record(coder, make_record(coder, "1", now=NOW + HOUR))
    page, _ = await sessions.page(coder)
    assert [session.id for session in page] == [coder.session, ANNA.session]


async def test_concurrent_turns_of_a_conversation_are_all_counted(journal: Journal, sessions: Sessions) -> None:
    await asyncio.gather(*(journal.record(ANNA, make_record(ANNA, str(n))) for n in range(20)))
    assert (await sessions.get(ANNA, ANNA.session)).turns == 20


async def test_conversations_unused_for_long_are_not_recognised(
    db: Database, journal: Journal, sessions: Sessions
) -> None:
    old, new = make_scope("anna", session="old"), make_scope("anna", session="new")
    await journal.record(old, make_record(old, "1", memory_ids=("mem_1",)))
    await journal.record(new, make_record(new, "2", now=NOW + 2 * HOUR))
    await journal.record(BEN, make_record(BEN, "3"))
    assert await sessions.prune(before=NOW + HOUR, limit=10) == 2
    assert await sessions.locate(old, ["hash_1"]) == []
    assert await Ledger(db).read(old, old.session) == []
    assert await Replies(db).latest(old, old.session) is None
    assert [row.session for row in await sessions.locate(new, ["hash_2"])] == [new.session]
    assert (await sessions.get(old, old.session)).turns == 1
    assert await sessions.prune(before=NOW + HOUR, limit=10) == 0


async def test_expired_conversation_is_recognised_once_continued(journal: Journal, sessions: Sessions) -> None:
    await journal.record(ANNA, make_record(ANNA, "1"))
    assert await sessions.prune(before=NOW + HOUR, limit=10) == 1
    await journal.record(ANNA, make_record(ANNA, "2", now=NOW + 2 * HOUR))
    assert len(await sessions.locate(ANNA, ["hash_1", "hash_2"])) == 1
    assert await sessions.prune(before=NOW + HOUR, limit=10) == 0
    assert await sessions.prune(before=NOW + 3 * HOUR, limit=10) == 1


async def test_pruning_takes_the_longest_unused_first(journal: Journal, sessions: Sessions) -> None:
    scopes = [make_scope("anna", session=str(n)) for n in range(3)]
    for n in (2, 0, 1):
        await journal.record(scopes[n], make_record(scopes[n], str(n), now=NOW + n * HOUR))
    assert await sessions.prune(before=NOW + 9 * HOUR, limit=2) == 2
    left = await sessions.locate(ANNA, ["hash_0", "hash_1", "hash_2"])
    assert [row.session for row in left] == [scopes[2].session]

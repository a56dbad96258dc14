"""Replies that the provider stores: their owner, and the replies before them."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
import sqlalchemy as sa

from proxy.store.replies import Kept, Replies
from proxy.store.sessions import Sessions
from proxy.store.sql import Database
from proxy.types import Scope
from tests.store.sql_rows import ON_BOTH

pytestmark = [pytest.mark.anyio, ON_BOTH]

ANNA, BEN = Scope("t" * 32, "a" * 32, session="ses_1"), Scope("t" * 32, "b" * 32, session="ses_1")
AGENT = Scope(ANNA.tenant, ANNA.user, "c" * 32, "ses_1")
NOW = datetime(2026, 5, 1, tzinfo=UTC)


@pytest.fixture
def replies(db: Database) -> Replies:
    return Replies(db)


async def keep(db: Database, replies: Replies, scope: Scope, id_: str, parent: str = "", *, at: int = 0) -> str:
    """Store a reply to one message of the same name; return the reply's name for the next call."""
    kept = Kept(id_, parent, ascii(id_)[1] * 64, at * 2 + 2, (f"anchor-{id_}",), "house")

    def write(connection: sa.Connection) -> None:
        replies.put(scope, connection, kept, now=NOW + timedelta(seconds=at))

    await db.submit(write)
    thread = await replies.thread(scope, id_)
    assert thread is not None
    return thread.reply


async def test_thread_is_one_branch_up_to_a_reply(db: Database, replies: Replies) -> None:
    root = await keep(db, replies, ANNA, "a")
    left = await keep(db, replies, ANNA, "b", root, at=1)
    await keep(db, replies, ANNA, "c", root, at=1)
    await keep(db, replies, ANNA, "d", left, at=2)
    thread = await replies.thread(ANNA, "d")
    assert thread is not None
    assert (thread.session, thread.state, thread.seq, thread.deployment) == ("ses_1", "d" * 64, 6, "house")
    assert thread.anchors == {"anchor-a", "anchor-b", "anchor-d"}


async def test_the_latest_reply_of_a_conversation(db: Database, replies: Replies) -> None:
    root = await keep(db, replies, ANNA, "a")
    await keep(db, replies, ANNA, "b", root, at=1)
    latest = await replies.latest(ANNA, "ses_1")
    assert latest == await replies.thread(ANNA, "b")
    assert await replies.latest(ANNA, "ses_2") is None


async def test_other_scopes_do_not_have_it(db: Database, replies: Replies) -> None:
    await keep(db, replies, ANNA, "a")
    for scope in (BEN, AGENT):
        assert await replies.thread(scope, "a") is None
        assert await replies.latest(scope, "ses_1") is None
    await keep(db, replies, BEN, "a", at=5)
    thread = await replies.thread(ANNA, "a")
    assert thread is not None
    assert thread.seq == 2


async def test_a_reply_stands_as_it_was_first_noted(db: Database, replies: Replies) -> None:
    await keep(db, replies, ANNA, "a")
    await keep(db, replies, ANNA, "a", at=7)
    thread = await replies.thread(ANNA, "a")
    assert thread is not None
    assert thread.seq == 2


@pytest.mark.parametrize("id_", ["x" * 100_000, "\ud800\0", "'; DROP TABLE replies; --"])
async def test_any_id_works_and_none_is_stored(db: Database, replies: Replies, id_: str) -> None:
    await keep(db, replies, ANNA, id_)
    assert await replies.thread(ANNA, id_ + "y") is None
    rows = await db.query(lambda connection: connection.execute(sa.text("SELECT id_hash FROM replies")).all())
    assert [len(row[0]) for row in rows] == [32]


async def test_a_deleted_conversation_takes_its_replies_along(db: Database, replies: Replies) -> None:
    sessions = Sessions(db)
    await db.submit(lambda connection: sessions.touch(ANNA, connection, name="", turns=1, now=NOW))
    await keep(db, replies, ANNA, "a")
    await sessions.delete(ANNA, "ses_1")
    assert await replies.thread(ANNA, "a") is None

"""For any order of writes and reads, no scope sees, moves or drops a row of another."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from proxy.errors import NotFound
from proxy.store.erase import Erasure
from proxy.store.journal import Journal
from proxy.store.journal_rows import TO_LEARN
from proxy.store.leases import Leases
from proxy.store.ledger import Ledger
from proxy.store.receipts import Receipts
from proxy.store.sessions import Sessions
from proxy.store.sql import Database
from proxy.types import Scope
from tests.store.sql_rows import NOW, make_record, make_scope

pytestmark = pytest.mark.anyio

# Conversation ids, turn ids, names and hashes are equal everywhere: only owner and agent distinguish the scopes.
SCOPES = [make_scope(user, agent=agent) for user in ("anna", "ben") for agent in ("", "coder")]
STEPS = st.tuples(
    st.sampled_from(["record", "record", "read", "learn", "claim", "end", "delete", "forget", "erase"]),
    st.integers(0, len(SCOPES) - 1),
    st.integers(0, 2),
)


class House:
    """The store under test; the text of every row names its scope."""

    def __init__(self, db: Database) -> None:
        self.db, self.now = db, NOW
        self.journal, self.sessions, self.ledger = Journal(db), Sessions(db), Ledger(db)
        self.receipts, self.leases, self.erasure = Receipts(db), Leases(db), Erasure(db)

    async def record(self, scope: Scope, n: int) -> None:
        # Conversation ids are derived from user and agent, so no id belongs to two agents.
        here = Scope(scope.tenant, scope.user, scope.agent, f"ses_{scope.agent}_{n}")
        await self.journal.record(here, make_record(here, str(n), text=mark(here), name="chat", now=self.now))

    async def read(self, scope: Scope, n: int) -> None:
        seen: list[Any] = [*await self.sessions.locate(scope, [f"hash_{n}" for n in range(3)])]
        seen += (await self.sessions.page(scope))[0]
        seen += await self.journal.items(scope) + await self.journal.dead(scope)
        for agent in {"", scope.agent}:
            seen += await self.ledger.read(scope, f"ses_{agent}_{n}")
        seen += [await found(self.receipts.get(scope, f"rcp_{n}"))]
        check(scope, seen)

    async def learn(self, scope: Scope, n: int) -> None:
        seqs = range(n, n + 4)
        await self.journal.advance(scope, seqs, stage=TO_LEARN, due=self.now)
        await self.journal.finish(scope, seqs[:2], now=self.now)
        await self.journal.bury(scope, seqs[3:], "x")
        await self.receipts.annotate(scope, f"rcp_{n}", told={"learned": [{"by": scope.user}]})

    async def claim(self, scope: Scope, n: int) -> None:
        claim = await self.journal.claim(f"w{n}", now=self.now, lease_s=1)
        if claim is not None:
            check(claim.scope, list(claim.items))
            await self.leases.release(claim.scope, claim.holder)

    async def end(self, scope: Scope, n: int) -> None:
        await found(self.sessions.end(scope, f"ses_{scope.agent}_{n}", now=self.now))

    async def delete(self, scope: Scope, n: int) -> None:
        await found(self.sessions.delete(scope, f"ses_{scope.agent}_{n}"))

    async def forget(self, scope: Scope, n: int) -> None:
        await self.ledger.drop_text(scope, lambda text: scope.user in text)
        await self.ledger.drop_memories(scope, [f"mem_{n}"])

    async def erase(self, scope: Scope, _n: int) -> None:
        await self.erasure.erase(scope)
        assert not any((await self.erasure.count(scope)).values())


def mark(scope: Scope) -> str:
    return f"said to <{scope.user}/{scope.agent}>"


def check(scope: Scope, seen: list[Any]) -> None:
    strangers = {other.user for other in SCOPES} - {scope.user}
    assert not [row for row in seen if any(stranger in repr(row) for stranger in strangers)]


async def found(lookup: Any) -> Any:
    try:
        return await lookup
    except NotFound:
        return None


async def counts(house: House, but: Scope) -> list[dict[str, int]]:
    others = {scope.user: scope for scope in SCOPES if scope.user != but.user}
    return [await house.erasure.count(scope) for scope in others.values()]


@given(st.lists(STEPS, max_size=10))
@settings(max_examples=25, deadline=None)
async def test_no_step_crosses_from_owner_to_owner(steps: list[tuple[str, int, int]]) -> None:
    house = House(await Database.open("sqlite://"))
    try:
        for name, who, n in steps:
            house.now += timedelta(seconds=1)
            before = await counts(house, SCOPES[who])
            await getattr(house, name)(SCOPES[who], n)
            if name != "claim":
                assert await counts(house, SCOPES[who]) == before
        for scope in SCOPES:
            for n in range(3):
                await house.read(scope, n)
    finally:
        await house.db.close()


@given(st.lists(st.tuples(st.integers(0, len(SCOPES) - 1), st.integers(0, 2)), max_size=10))
@settings(max_examples=10, deadline=None)
async def test_agent_sees_only_its_own_and_common_rows(records: list[tuple[int, int]]) -> None:
    house = House(await Database.open("sqlite://"))
    try:
        for who, n in records:
            await house.record(SCOPES[who], n)
        for scope in SCOPES:
            page, _ = await house.sessions.page(scope, limit=100)
            visible = {
                f"ses_{SCOPES[who].agent}_{n}"
                for who, n in records
                if SCOPES[who].user == scope.user and scope.sees(SCOPES[who].agent)
            }
            assert {session.id for session in page} == visible
            assert {row.session for row in await house.sessions.locate(scope, ["hash_0"])} == {
                f"ses_{scope.agent}_0" for who, n in records if SCOPES[who] == scope and n == 0
            }
    finally:
        await house.db.close()

"""Memory of one agent is learned apart from that of the others."""

from __future__ import annotations

from collections.abc import AsyncIterator
from datetime import timedelta
from pathlib import Path

import pytest

from proxy.clock import ManualClock
from proxy.memory.inject.standing import standing
from proxy.memory.plan.changes import is_ending
from proxy.services import Services
from proxy.services.opening import open_services
from proxy.settings.load import load_settings
from proxy.types import Scope
from proxy.worker.handlers import work_off
from tests.store.sql_rows import NOW, make_record, make_scope

pytestmark = pytest.mark.anyio

COOK, CODER = make_scope("anna", agent="cook", session="c"), make_scope("anna", agent="coder", session="d")
COMMON = make_scope("anna", session="e")


@pytest.fixture
async def services(tmp_path: Path) -> AsyncIterator[Services]:
    lasting = await open_services(load_settings(flags={"server": {"data_dir": tmp_path}}), clock=ManualClock(NOW))
    assert lasting.ephemeral is not None
    yield lasting.ephemeral
    await lasting.close()


async def say(services: Services, *said: tuple[Scope, str]) -> None:
    for scope, text in said:
        pass_by(services)
        number = str(int(services.clock.now().timestamp()))
        await services.journal.record(scope, make_record(scope, number, text=text, now=services.clock.now()))
    for _ in range(2):
        pass_by(services)
        claim = await services.journal.claim("w", now=services.clock.now(), lease_s=30)
        if claim is not None:
            await work_off(services, claim)
            await services.leases.release(claim.scope, claim.holder)
    assert not await services.journal.items(COMMON)


def pass_by(services: Services) -> None:
    assert isinstance(services.clock, ManualClock)
    services.clock.advance(timedelta(minutes=5))


async def held(services: Services, scope: Scope) -> set[str]:
    rows = [row for row in await services.store.memories(scope) if row.status == "active" and not is_ending(row)]
    return {row.text for row in rows if scope.sees(row.agent)}


async def quotable(services: Services, scope: Scope) -> set[str]:
    withheld = (await standing(scope, services.index)).withheld
    rows = [row for row in await services.store.episodes(scope) if row.role == "user" and scope.sees(row.agent)]
    return {shown for row in rows if (shown := withheld.visible(row.id, row.text)) is not None}


async def test_statement_belongs_to_the_agent_it_reached(services: Services) -> None:
    await say(services, (COOK, "I drink oat milk."), (CODER, "I debug Fortran."), (COMMON, "I live in Leeds."))
    assert await held(services, COOK) == {"I drink oat milk.", "I live in Leeds."}
    assert await held(services, CODER) == {"I debug Fortran.", "I live in Leeds."}
    assert await held(services, COMMON) == {"I live in Leeds."}


async def test_an_ending_does_not_reach_another_agent(services: Services) -> None:
    await say(services, (COOK, "I use Magnet at the stove."), (CODER, "I use Magnet at work."))
    await say(services, (CODER, "I don't use Magnet anymore."))
    assert await held(services, COOK) == await quotable(services, COOK) == {"I use Magnet at the stove."}
    assert await held(services, CODER) == await quotable(services, CODER) == set()


async def test_ending_told_to_one_agent_ends_common_memory(services: Services) -> None:
    await say(services, (COMMON, "I use Magnet at home."))
    await say(services, (CODER, "I don't use Magnet anymore."))
    assert await held(services, COMMON) == await quotable(services, COMMON) == set()


async def test_same_words_to_two_agents_are_two_memories(services: Services) -> None:
    await say(services, (COOK, "I drink oat milk."), (CODER, "I drink oat milk."))
    rows = [row for row in await services.store.memories(COMMON) if not is_ending(row)]
    assert {row.agent for row in rows} == {COOK.agent, CODER.agent}
    assert all(len(row.turns) == 1 for row in rows)

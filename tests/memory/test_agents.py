"""What one agent is told is learned apart from what the others are."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from datetime import timedelta
from pathlib import Path

import pytest

from proxy.clock import ManualClock
from proxy.memory.model.extraction import Extraction
from proxy.memory.plan.changes import Change
from proxy.services import Services, open_services
from proxy.settings.load import load_settings
from proxy.types import Episode, Memory, Turn
from proxy.worker.handlers import work_off
from tests.store.sql_rows import NOW, make_record, make_scope

pytestmark = pytest.mark.anyio

COOK, CODER = make_scope("anna", agent="cook", session="c"), make_scope("anna", agent="coder", session="d")
COMMON = make_scope("anna", session="e")


class Listening:
    """An extractor that learns nothing and keeps what it was shown, a call an entry."""

    batches = True

    def __init__(self) -> None:
        self.shown: list[tuple[list[str], set[str], set[str]]] = []

    async def extract(self, turns: Sequence[Turn], known: Sequence[Memory], heard: Sequence[Episode]) -> Extraction:
        said = [said.text for turn in turns for said in turn.messages]
        self.shown.append((said, {row.text for row in known}, {row.text for row in heard}))
        return Extraction({})


@pytest.fixture
async def services(tmp_path: Path) -> AsyncIterator[Services]:
    flags = {"server": {"data_dir": tmp_path}, "memory": {"extractor": "builtin"}}
    lasting = await open_services(load_settings(flags=flags), clock=ManualClock(NOW))
    assert lasting.ephemeral is not None
    yield lasting.ephemeral
    await lasting.close()


async def work(services: Services) -> None:
    for _ in range(2):
        assert isinstance(services.clock, ManualClock)
        services.clock.advance(timedelta(minutes=5))
        claim = await services.journal.claim("w", now=services.clock.now(), lease_s=30)
        if claim is not None:
            await work_off(services, claim)
            await services.leases.release(claim.scope, claim.holder)


async def test_the_extractor_is_shown_one_agents_turns_memories_and_past(services: Services) -> None:
    rows = [
        Memory(f"mem_{text}", "fact", text, NOW, NOW, NOW, agent=agent)
        for text, agent in (("common", ""), ("of the cook", COOK.agent), ("of the coder", CODER.agent))
    ]
    await services.book.apply(COMMON, [Change("add", row, None, "", "request") for row in rows])
    extractor = services.extractor = Listening()
    await services.journal.record(COOK, make_record(COOK, "1", text="I drink oat milk at breakfast"))
    await work(services)
    for number, (scope, text) in enumerate(
        ((COOK, "Oat milk at breakfast again"), (COOK, "Milk"), (CODER, "Oat milk"), (COMMON, "Breakfast")), start=2
    ):
        await services.journal.record(scope, make_record(scope, str(number), text=text))
    await work(services)
    assert [(said, known) for said, known, _ in extractor.shown[1:]] == [
        (["Oat milk at breakfast again", "Milk"], {"common", "of the cook"}),
        (["Oat milk"], {"common", "of the coder"}),
        (["Breakfast"], {"common"}),
    ]
    heard = [heard for _, _, heard in extractor.shown[1:]]
    assert "I drink oat milk at breakfast" in heard[0]
    assert not (heard[1] | heard[2]) & {"I drink oat milk at breakfast", "Milk", "Oat milk at breakfast again"}

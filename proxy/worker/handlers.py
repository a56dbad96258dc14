"""What is done with a claim: index what was said, then learn from it; each step can be repeated without harm."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from itertools import groupby

from proxy.memory.changes import Change
from proxy.memory.extract import Extraction
from proxy.memory.ground import ground
from proxy.memory.learn import changes_from_json, changes_to_json, heard_before
from proxy.memory.reconcile import Limits, reconcile
from proxy.memory.transcript import episodes_of
from proxy.services import Services
from proxy.store.journal import TO_INDEX, TO_LEARN, Claim, Item
from proxy.telemetry import JOBS
from proxy.types import Episode, Memory, Turn


async def work_off(services: Services, claim: Claim) -> None:
    """Do everything of the claim that is due, in order."""
    await _index(services, claim)
    await _finish_begun(services, claim)
    await _learn(services, claim)


async def _finish_begun(services: Services, claim: Claim) -> None:
    """Apply what was decided before and did not get to its end, or is done again because rows were lost.

    Turns and what was asked for by API in one order: a deletion must not be overtaken by the turn that it corrects.
    """
    for item in await services.journal.items(claim.scope):
        if item.kind == "change":
            await services.book.apply(item.scope, changes_from_json(item.change))
            await services.journal.finish(claim.scope, [item.seq], now=services.clock.now())
            JOBS.labels("change", "done").inc()
        elif item.stage == TO_LEARN and item.plan is not None:
            await _carry_out(services, item, changes_from_json(item.plan))


async def _index(services: Services, claim: Claim) -> None:
    items = [item for item in claim.items if item.turn is not None and item.stage == TO_INDEX]
    if not items:
        return
    episodes = [episode for item in items if item.turn for episode in episodes_of(item.turn)]
    await services.book.keep(claim.scope, episodes)
    for item in items:
        due = item.created + timedelta(seconds=services.learn_pause_s)
        await services.journal.advance(claim.scope, [item.seq], stage=TO_LEARN, due=due)
        JOBS.labels("index", "done").inc()


async def _learn(services: Services, claim: Claim) -> None:
    now = services.clock.now()
    ready = await services.journal.items(claim.scope)
    items = [item for item in ready if item.turn is not None and item.stage == TO_LEARN]
    due = all(item.due <= now for item in items) or any(
        item.created + timedelta(seconds=services.settings.memory.max_wait_s) <= now for item in items
    )
    if not items or not due:
        return
    await _learn_afresh(services, claim, items)


async def _learn_afresh(services: Services, claim: Claim, items: Sequence[Item]) -> None:
    memories: Sequence[Memory] = await services.store.memories(claim.scope)
    groups = _by_agent(items) if services.uses_model else [[item] for item in items]
    for group in groups:
        memories = await _learn_group(services, claim, group, memories)


def _by_agent(items: Sequence[Item]) -> list[list[Item]]:
    """Group neighbours of one agent: what one of them is told is no business of the others."""
    return [list(group) for _, group in groupby(items, key=lambda item: item.turn and item.turn.scope.agent)]


async def _learn_group(
    services: Services, claim: Claim, items: Sequence[Item], memories: Sequence[Memory]
) -> Sequence[Memory]:
    turns = [item.turn for item in items if item.turn is not None]
    agent = turns[0].scope
    heard = await heard_before(services.index, agent, turns)
    active = [memory for memory in memories if memory.status == "active" and agent.sees(memory.agent)]
    extraction = await services.extractor.extract(turns, active, heard)
    for item in items:
        assert item.turn is not None
        changes = _changes(services, item.turn, extraction, memories, heard)
        await services.journal.plan(claim.scope, [item.seq], changes_to_json(changes))
        await _carry_out(services, item, changes)
        memories = _after(memories, changes)
    return memories


def _changes(
    services: Services, turn: Turn, extraction: Extraction, memories: Sequence[Memory], heard: Sequence[Episode]
) -> list[Change]:
    settings = services.settings.memory
    seen = [memory for memory in memories if turn.scope.sees(memory.agent)]
    candidates = ground(extraction.candidates.get(turn.id, []), turn, seen, heard)
    limits = Limits(max_closed=settings.max_closed_per_turn, max_added=settings.max_facts_per_turn)
    return reconcile(candidates, turn, memories, now=services.clock.now(), limits=limits)


async def _carry_out(services: Services, item: Item, changes: Sequence[Change]) -> None:
    assert item.turn is not None
    await services.book.apply(item.scope, changes)
    if item.turn.receipt and changes:
        closing = ("supersede", "retract")
        learned = [_told(change) for change in changes if change.action not in closing]
        removed = [_told(change) for change in changes if change.action in closing]
        await services.receipts.annotate(item.scope, item.turn.receipt, learned=learned, removed=removed)
    await services.journal.finish(item.scope, [item.seq], now=services.clock.now())
    JOBS.labels("learn", "done").inc()


def _told(change: Change) -> dict[str, str]:
    return {"id": change.memory.id, "action": change.action, "reason": change.reason}


def _after(memories: Sequence[Memory], changes: Sequence[Change]) -> list[Memory]:
    rows = {memory.id: memory for memory in memories}
    rows.update({change.memory.id: change.memory for change in changes})
    return list(rows.values())

"""What is done with a claim: index what was said, then learn from it; each step can be repeated without harm.

An item that cannot be done is named by ``WorkFailed``; an outage is raised as it is.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from itertools import groupby

from proxy.clock import to_ms
from proxy.memory.changes.learn import changes_from_json, changes_to_json, heard_before
from proxy.memory.conversations.episode import is_summary
from proxy.memory.conversations.transcript import episodes_of
from proxy.memory.learn.ground import ground
from proxy.memory.learn.reconcile import Limits, reconcile
from proxy.memory.model.extraction import Extraction
from proxy.memory.plan.changes import Change
from proxy.services import Services
from proxy.store.costs import Cost
from proxy.store.journal_rows import TO_INDEX, TO_LEARN, Claim, Item
from proxy.telemetry.metrics import JOBS, LEARN_LAG_SECONDS
from proxy.types import Episode, Memory, Scope, Turn
from proxy.worker.faults import WorkFailed, blaming
from proxy.worker.watch import watched

_LONG, _PART = 60, 24  # messages of a turn


async def work_off(services: Services, claim: Claim) -> None:
    """Do everything of the claim that is due, in order."""
    now = services.clock.now()
    said = [item for item in claim.items if item.turn is not None and item.stage == TO_INDEX and not item.waits(now)]
    if said:
        await services.precedence.give_way()
        await _index(services, claim.scope, said)
    await _finish_begun(services, claim.scope)
    await _learn(services, claim.scope)


async def _finish_begun(services: Services, scope: Scope) -> None:
    """Apply what was decided before and did not get to its end, or is done again because rows were lost.

    Turns and what was asked for by API in one order: a deletion must not be overtaken by the turn that it corrects.
    """
    now = services.clock.now()
    for item in await services.journal.items(scope):
        if item.waits(now):
            continue
        with blaming(item):
            if item.kind == "change":
                changes = await _still_meant(services, scope, changes_from_json(item.change))
                await services.book.apply(item.scope, changes)
                await services.journal.finish(scope, [item.seq], now=services.clock.now())
                JOBS.labels("change", "done").inc()
            elif item.stage == TO_LEARN and item.plan is not None:
                changes = await _still_meant(services, scope, changes_from_json(item.plan))
                await _carry_out(services, item, changes)


async def _index(services: Services, scope: Scope, items: Sequence[Item]) -> None:
    """Store what was said, all in one write; where that fails one after the other, to find the one at fault."""
    try:
        with watched(services, "index", items) as tally, blaming(*items):
            episodes = [episode for item in items if item.turn for episode in episodes_of(item.turn)]
            await services.book.keep(scope, episodes)
            tally["episodes"] = len(episodes)
            for item in items:
                due = item.created + timedelta(seconds=services.learn_pause_s)
                await services.journal.advance(scope, [item.seq], stage=TO_LEARN, due=due)
                JOBS.labels("index", "done").inc()
    except WorkFailed:
        if len(items) == 1:
            raise
        for item in items:
            await _index(services, scope, [item])


async def _learn(services: Services, scope: Scope) -> None:
    now = services.clock.now()
    ready = await services.journal.items(scope)
    items = [item for item in ready if item.turn is not None and item.stage == TO_LEARN and item.plan is None]
    due = all(item.due <= now for item in items) or any(
        item.created + timedelta(seconds=services.settings.memory.max_wait_s) <= now for item in items
    )
    is_held_up = any(item.waits(now) for item in ready if item.stage == TO_LEARN)
    if not items or not due or is_held_up:
        return
    await services.precedence.give_way()
    said = "\n".join(one.text for item in items if item.turn for one in item.turn.messages if one.role == "user")
    memories: Sequence[Memory] = [row for row in await services.index.concerned(scope, said) if not is_summary(row)]
    for group in _by_agent(items) if services.uses_model else [[item] for item in items]:
        with watched(services, "learn", group) as tally:
            memories = await _learn_group(services, scope, group, memories, tally)


def _by_agent(items: Sequence[Item]) -> list[list[Item]]:
    """Group neighbours of one agent: what one of them is told is no business of the others."""
    return [list(group) for _, group in groupby(items, key=lambda item: item.turn and item.turn.scope.agent)]


async def _learn_group(
    services: Services, scope: Scope, items: Sequence[Item], memories: Sequence[Memory], tally: Counter[str]
) -> Sequence[Memory]:
    """Learn from turns read together, or each by itself where one of them spoils it; return the memories since."""
    turns = [item.turn for item in items if item.turn is not None]
    if len(turns) == 1 and len(turns[0].messages) > _LONG:
        return await _learn_in_parts(services, items[0], turns[0], memories, tally)
    try:
        with blaming(*items):
            agent = turns[0].scope
            heard = await heard_before(services.index, agent, turns)
            active = [memory for memory in memories if memory.status == "active" and agent.sees(memory.agent)]
            extraction = await _extracted(services, turns, active, heard)
    except WorkFailed:
        if len(items) == 1:
            raise
        for item in items:
            memories = await _learn_group(services, scope, [item], memories, tally)
        return memories
    for item, turn in zip(items, turns, strict=True):
        with blaming(item):
            changes = _changes(services, turn, extraction, memories, heard)
            await services.journal.plan(scope, [item.seq], changes_to_json(changes))
            await _carry_out(services, item, changes)
        tally.update(change.action for change in changes)
        memories = _after(memories, changes)
    return memories


async def _extracted(
    services: Services, turns: Sequence[Turn], active: Sequence[Memory], heard: Sequence[Episode]
) -> Extraction:
    """Extract, and count what a model costs."""
    extraction = await services.extractor.extract(turns, active, heard)
    spent = sum(extraction.usage.values())
    for turn, tokens in zip(turns, _parts_of(spent, len(turns)), strict=True):
        if tokens:
            cost = Cost("extraction", tokens, extraction.cost_usd * tokens / spent)
            await services.costs.add(turn.scope, [cost])
            if turn.receipt:
                await services.receipts.annotate(turn.scope, turn.receipt, spent=[cost])
    return extraction


def _parts_of(total: int, many: int) -> list[int]:
    """Return a number in whole parts that are as equal as can be."""
    return [total // many + (at < total % many) for at in range(many)]


async def _learn_in_parts(
    services: Services, item: Item, turn: Turn, memories: Sequence[Memory], tally: Counter[str]
) -> Sequence[Memory]:
    """Learn from a turn with which a long history came along, a stretch at a time: all of it costs its square."""
    changes: list[Change] = []
    with blaming(item):
        heard = await heard_before(services.index, turn.scope, [turn])
        for start in range(0, len(turn.messages), _PART):
            part = replace(turn, messages=turn.messages[start : start + _PART])
            active = [memory for memory in memories if memory.status == "active" and turn.scope.sees(memory.agent)]
            extraction = await _extracted(services, [part], active, heard)
            found = _changes(services, part, extraction, memories, heard)
            changes += found
            memories = _after(memories, found)
            heard = [*heard[:_PART], *(one for one in episodes_of(part) if one.role == "user")]
        await services.journal.plan(item.scope, [item.seq], changes_to_json(changes))
        await _carry_out(services, item, changes)
    tally.update(change.action for change in changes)
    return memories


async def _still_meant(services: Services, scope: Scope, changes: Sequence[Change]) -> list[Change]:
    """Return those of stored changes whose memory is at one of their own steps; a later word of the user's wins."""
    steps: dict[str, set[int | None]] = defaultdict(set)
    for change in changes:
        steps[change.memory.id] |= {_version(change.before), _version(change.memory)}
    rows = {memory.id: memory for memory in await services.store.memories(scope)} if changes else {}
    return [change for change in changes if _version(rows.get(change.memory.id)) in steps[change.memory.id]]


def _version(memory: Memory | None) -> int | None:
    return None if memory is None else to_ms(memory.updated_at)  # rows are kept to the millisecond


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
    await services.precedence.give_way()
    await services.book.apply(item.scope, changes)
    if item.turn.receipt and changes:
        closing = ("supersede", "retract")
        learned = [_told(change) for change in changes if change.action not in closing]
        removed = [_told(change) for change in changes if change.action in closing]
        await services.receipts.annotate(item.scope, item.turn.receipt, learned=learned, removed=removed)
    await services.journal.finish(item.scope, [item.seq], now=services.clock.now())
    JOBS.labels("learn", "done").inc()
    LEARN_LAG_SECONDS.observe((services.clock.now() - item.created).total_seconds())


def _told(change: Change) -> dict[str, str]:
    return {"id": change.memory.id, "action": change.action, "reason": change.reason}


def _after(memories: Sequence[Memory], changes: Sequence[Change]) -> list[Memory]:
    rows = {memory.id: memory for memory in memories}
    rows.update({change.memory.id: change.memory for change in changes})
    return list(rows.values())

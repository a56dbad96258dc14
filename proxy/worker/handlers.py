"""Processing of a claim: index the turns, then learn from them; each step is idempotent.

``WorkFailed`` names items that cannot be processed; outages are raised unchanged.
"""

from __future__ import annotations

import asyncio
import time
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from datetime import timedelta

import structlog

from proxy.clock import to_ms
from proxy.errors import ProxyError, RateLimited, StoreUnavailable, UpstreamTimeout, UpstreamUnreachable
from proxy.memory.changes.book import TURNS_AT_ONCE
from proxy.memory.conversations.transcript import episodes_of
from proxy.memory.inject.standing import active_tasks
from proxy.memory.learn.gather import gather
from proxy.memory.learn.learn import Read, learn, read
from proxy.memory.lifecycle.projects import settled
from proxy.memory.lifecycle.quarantine import apart_changes, apart_episodes
from proxy.memory.lifecycle.task_cues import with_tasks
from proxy.memory.plan.changes import Change, changes_from_json, changes_to_json, is_ending
from proxy.memory.vectors.embed import EmbeddingFailed
from proxy.process.threads import MAX_CPU_S, TookTooLong, in_thread, spawn
from proxy.services import Services
from proxy.store.journal_rows import BEGUN, STALLED, TO_INDEX, TO_LEARN, TOO_SLOW, Claim, Item
from proxy.telemetry.metrics import JOB_SECONDS, JOBS, LEARN_LAG_SECONDS
from proxy.telemetry.timings import Span, Value
from proxy.types import Episode, Memory, Scope, Turn

_log = structlog.get_logger(__name__)
_SLICE_S = 2.0  # of learning for one user, before other users are served
_TOLD: dict[str, tuple[str, ...]] = {
    "learned": ("add", "reinforce", "restore"),
    "closed": ("close",),
    "linked": ("link",),
    "review": ("review",),
}

_Parsed = tuple[list[Read], list[Episode]]  # of a turn: its messages, and itself as it is stored
_OUTAGES = (StoreUnavailable, UpstreamUnreachable, UpstreamTimeout, RateLimited, EmbeddingFailed, TimeoutError, OSError)


class WorkFailed(Exception):
    """Failure of these items; ``__cause__`` is the reason."""

    def __init__(self, items: Sequence[Item]) -> None:
        super().__init__(f"{len(items)} items of work failed")
        self.seqs = frozenset(item.seq for item in items)


def is_outage(error: BaseException) -> bool:
    """Return whether a needed component was unavailable, so that only a later retry can help."""
    return isinstance(error, _OUTAGES)


@contextmanager
def blaming(*items: Item) -> Iterator[None]:
    """Raise any exception of the block, except outages, as ``WorkFailed`` of these items."""
    try:
        yield
    except Exception as error:
        if is_outage(error):
            raise
        raise WorkFailed(items) from error


async def work_off(services: Services, claim: Claim) -> None:
    """Process all due items of the claim in order."""
    now = services.clock.now()
    said = [item for item in claim.items if item.turn is not None and item.stage == TO_INDEX and not item.waits(now)]
    if said:
        await services.precedence.give_way()
        await _index(services, claim.scope, said, words_first=len(claim.items) > TURNS_AT_ONCE)
    await _finish_begun(services, claim.scope)
    await _learn(services, claim.scope)


async def _finish_begun(services: Services, scope: Scope) -> None:
    """Apply stored plans that were interrupted, or that are repeated because rows were lost.

    Turns and API changes are applied in one order: the turn that a deletion corrects must not overtake the deletion.
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


async def _begun(services: Services, scope: Scope, items: Sequence[Item]) -> list[Item]:
    """Record the start of these items and return them, without those that stalled too many attempts.

    The record comes before the work: an item that hangs or kills the process cannot count its own attempt.
    """
    most = services.pace.max_attempts
    stalled = [item for item in items if item.error == BEGUN and item.attempts + 1 >= most]
    if stalled:
        _log.error("turns were set aside: each stalled every attempt", turns=len(stalled))
        await services.journal.bury(scope, [item.seq for item in stalled], STALLED)
    left = [item for item in items if item not in stalled]
    if left:
        await services.journal.begin(scope, [item.seq for item in left])
    return left


async def _index(services: Services, scope: Scope, items: Sequence[Item], *, words_first: bool) -> None:
    """Store the episodes of all items in one write; if it fails, item by item, to find the faulty one."""
    if len(items) > 1 and any(item.error == BEGUN for item in items):
        for item in items:
            await _index(services, scope, [item], words_first=words_first)
        return
    items = await _begun(services, scope, items)
    if not items:
        return
    try:
        with _watched(services, "index", items) as tally, blaming(*items):
            turns = [item.turn for item in items if item.turn]
            said = await in_thread("learn", lambda: [one for turn in turns for one in episodes_of(turn)])
            episodes = apart_episodes(said, await services.quarantine.targets(scope))
            await services.book.keep(scope, episodes, words_first=words_first)
            services.note_shown(scope)  # upkeep may have run before these episodes were stored
            tally["episodes"] = len(episodes)
            due = items[-1].created + timedelta(seconds=services.pace.learn_s)
            await services.journal.advance(scope, [item.seq for item in items], stage=TO_LEARN, due=due)
            JOBS.labels("index", "done").inc(len(items))
    except WorkFailed:
        if len(items) == 1:
            raise
        for item in items:
            await _index(services, scope, [item], words_first=words_first)


async def _learn(services: Services, scope: Scope) -> None:
    """Learn from each due turn in order, as a turn may change statements of the previous one."""
    now = services.clock.now()
    ready = await services.journal.items(scope)
    items = [item for item in ready if item.turn is not None and item.stage == TO_LEARN and item.plan is None]
    due = all(item.due <= now for item in items) or any(
        item.created + timedelta(seconds=services.pace.busy_s) <= now for item in items
    )
    is_held_up = any(item.waits(now) for item in ready if item.stage == TO_LEARN)
    if not items or not due or is_held_up:
        return
    await services.precedence.give_way()
    until = time.monotonic() + _SLICE_S
    ahead = _Ahead(services)
    for item, after in zip(items, [*items[1:], None], strict=True):
        if services.leases.is_wanted(scope) or time.monotonic() >= until:
            return  # the rest is claimed again, after the work of other users
        with _watched(services, "learn", [item]) as tally, blaming(item):
            if not await _begun(services, scope, [item]):
                continue
            try:
                changes = await _changes(services, item, *await ahead.parsed(item))
            except TookTooLong:
                _log.error("a turn is kept and found, but not learned from: it took too long", seconds=MAX_CPU_S)
                await services.journal.bury(scope, [item.seq], TOO_SLOW)
                continue
            await services.journal.plan(scope, [item.seq], changes_to_json(changes))
            await ahead.embedded()
            if after is not None and BEGUN not in (item.error, after.error):  # a crash must blame the right turn
                ahead.start(after)
            await _carry_out(services, item, changes)
            tally.update(change.action for change in changes)


class _Ahead:
    """Preparation of the next turn while the changes of one are stored, which mostly waits for the disk.

    An import uses both cores this way: one parses and embeds a turn while the other plans and stores the one before.
    """

    def __init__(self, services: Services) -> None:
        self._services = services
        self._item: Item | None = None
        self._parsing: asyncio.Task[_Parsed | None] | None = None
        self._embedding: asyncio.Task[None] | None = None

    def start(self, item: Item) -> None:
        """Start to parse a turn, then to embed its statements."""
        self._item = item
        self._parsing = spawn(self._parse(item), "parse ahead")
        self._embedding = spawn(self._embed(item, self._parsing), "embed ahead")

    async def parsed(self, item: Item) -> _Parsed:
        """Return a turn's parsed messages and its episodes.

        Raises:
            TookTooLong: If parsing takes longer than the limit.
        """
        started = self._parsing if item is self._item else None
        return (await started if started is not None else None) or await _parsed(item)

    async def embedded(self) -> None:
        """Wait until the statements of the started turn are embedded, if one was started."""
        if self._embedding is not None:
            await self._embedding

    async def _parse(self, item: Item) -> _Parsed | None:
        await self._services.precedence.give_way()
        with suppress(TookTooLong):  # met again when the turn is learned, and blamed on it
            return await _parsed(item)
        return None

    async def _embed(self, item: Item, parsing: asyncio.Task[_Parsed | None]) -> None:
        """Bring the vectors of a turn's statements, and its session, into the caches."""
        found = await parsing
        with suppress(ProxyError):  # met again when they are needed
            await self._services.index.said(item.scope, item.scope.session)
            texts = [text for one in found[0] for text in one.stated] if found else []
            await self._services.embedder.embed(texts, purpose="passage")


async def _parsed(item: Item) -> _Parsed:
    assert item.turn is not None
    return await in_thread("learn", read, item.turn), await in_thread("learn", episodes_of, item.turn)


async def _changes(services: Services, item: Item, readings: Sequence[Read], own: Sequence[Episode]) -> list[Change]:
    """Return the built-in engine's changes for a parsed turn."""
    turn = item.turn
    assert turn is not None
    now = services.clock.now()
    past = await gather(services.index, turn, readings, own, now)
    changes = await in_thread("learn", learn, turn, readings, past, now)
    changes = await _with_tasks(services, turn, readings, changes)
    if turn.scope.session in await services.quarantine.targets(turn.scope):
        changes = apart_changes(changes)
    return await in_thread("learn", settled, changes) if turn.scope.project else changes


async def _with_tasks(
    services: Services, turn: Turn, readings: Sequence[Read], changes: Sequence[Change]
) -> list[Change]:
    """Return a turn's changes, extended by the tasks that it states and closes."""
    tasks = await active_tasks(turn.scope, services.index)
    agent, now = await services.agents.name(turn.scope), services.clock.now()
    made = await in_thread("learn", with_tasks, turn, readings, tasks, changes, now, agent)
    own = {change.memory.id for change in changes}
    fresh = [change.memory.id for change in made if change.action == "add" and change.memory.id not in own]
    stored = {id_ for id_ in fresh if await services.store.memory(turn.scope, id_) is not None}  # on a repetition
    return [change for change in made if change.memory.id not in stored]


@contextmanager
def _watched(services: Services, kind: str, items: Sequence[Item]) -> Iterator[Counter[str]]:
    """Time a block and trace it, with the counts that the block adds to the yielded tally.

    Args:
        services: The worker's services.
        kind: Kind of work: ``index``, ``learn``.
        items: Items that the block processes.
    """
    tally: Counter[str] = Counter(turns=len(items))
    start_s, error = time.perf_counter(), ""
    try:
        yield tally
    except BaseException as failed:
        error = failed.code if isinstance(failed, ProxyError) else type(failed).__name__
        raise
    finally:
        end_s = time.perf_counter()
        JOB_SECONDS.labels(kind).observe(end_s - start_s)
        if services.tracing is not None:
            attributes: dict[str, Value] = {f"throughline.{kind}.{name}": count for name, count in tally.items()}
            receipts = [item.turn.receipt for item in items if item.turn is not None]
            services.tracing.job(Span(f"throughline.{kind}", start_s, end_s, "internal", attributes, error), receipts)


async def _still_meant(services: Services, scope: Scope, changes: Sequence[Change]) -> list[Change]:
    """Return the stored changes whose memory was not changed otherwise since; a later change by the user wins."""
    steps: dict[str, set[int | None]] = defaultdict(set)
    for change in changes:
        steps[change.memory.id] |= {_version(change.before), _version(change.memory)}
    rows = {memory.id: memory for memory in await services.store.memories(scope)} if changes else {}
    return [change for change in changes if _version(rows.get(change.memory.id)) in steps[change.memory.id]]


def _version(memory: Memory | None) -> int | None:
    return None if memory is None else to_ms(memory.updated_at)  # rows store milliseconds


async def _carry_out(services: Services, item: Item, changes: Sequence[Change]) -> None:
    assert item.turn is not None
    await services.precedence.give_way()
    await services.book.apply(item.scope, changes)
    if item.turn.receipt and changes:
        shown = [change for change in changes if not is_ending(change.memory)]
        told = {name: [_told(change) for change in shown if change.action in of] for name, of in _TOLD.items()}
        await services.receipts.annotate(item.scope, item.turn.receipt, told=told)
    now = services.clock.now()
    is_apart = item.scope.session in await services.quarantine.targets(item.scope)
    if services.judge is not None and not is_apart and any(said.role == "user" for said in item.turn.messages):
        due = now + timedelta(seconds=services.pace.judge_s)
        await services.journal.hand_over(item.scope, [item.seq], due=due)
    else:
        await services.journal.finish(item.scope, [item.seq], now=now)
    JOBS.labels("learn", "done").inc()
    LEARN_LAG_SECONDS.observe((services.clock.now() - item.created).total_seconds())


def _told(change: Change) -> dict[str, str]:
    batch = {"batch": change.memory.batch} if change.memory.batch else {}
    return {"id": change.memory.id, "action": change.action, "reason": change.reason, **batch}

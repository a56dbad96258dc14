"""Review of learned turns by the operator's model: close statements that the engine missed, reopen wrong closings."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Sequence
from contextlib import suppress
from datetime import datetime, timedelta

import numpy as np
import structlog

from proxy.errors import ProxyError
from proxy.memory.conversations.transcript import episodes_of
from proxy.memory.index.by_words import ByWords
from proxy.memory.index.cache import IndexCache
from proxy.memory.learn.decide import Planner
from proxy.memory.learn.endings import Ending, is_void, subject_of
from proxy.memory.learn.gather import rows_holding
from proxy.memory.learn.past import Past, Row
from proxy.memory.learn.statements import Sentence, own_sentences
from proxy.memory.learn.targets import Older, is_open_to
from proxy.memory.model.judge import MAX_OLDER, Judgement
from proxy.memory.plan.changes import FORGOTTEN, Change, is_ending, undo_changes
from proxy.memory.vectors.embed import Embedder
from proxy.process.threads import in_thread, spawn
from proxy.services import Services
from proxy.store.costs import Cost
from proxy.store.journal_rows import Item
from proxy.text.languages import languages_in
from proxy.text.lexical import weights
from proxy.text.segment import clauses
from proxy.text.terms import holds, shared, terms_in
from proxy.text.words import words
from proxy.types import Memory, Said, Scope, Turn

_log = structlog.get_logger(__name__)

POLL_S = 1.0
MAX_ATTEMPTS = 5
RETRY_BASE_S = 20.0  # doubled with each attempt
MIN_NEAR = 0.35  # minimum of cosine plus share of the best lexical score for a near statement
MAX_MESSAGE = 1_500  # characters of the messages before one pause


class Judging:
    """Background task that judges the turns before each pause, one user at a time; failures are retried."""

    def __init__(self, services: Services) -> None:
        self._services = services
        self._task: asyncio.Task[None] | None = None

    def start(self) -> None:
        """Start, if a judge is configured."""
        if self._services.judge is not None:
            self._task = spawn(self._run(), "judge")

    async def stop(self, timeout_s: float) -> None:
        """Stop within ``timeout_s``; the remaining turns are judged after the next start."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.wait([self._task], timeout=timeout_s)

    async def _run(self) -> None:
        await self._services.warmed.wait()
        while True:
            await asyncio.sleep(POLL_S)
            try:
                await judge_due(self._services)
            except Exception as error:  # noqa: BLE001 - one broken user must not end judging for all users
                _log.error("judging failed", error=type(error).__name__)


async def judge_due(services: Services) -> int:
    """Judge the turns whose pause is over; return their number."""
    items = await services.journal.to_judge(now=services.clock.now())
    by_agent: dict[tuple[str, str], list[Item]] = defaultdict(list)
    for item in items:
        by_agent[item.scope.user, item.scope.agent].append(item)
    for group in by_agent.values():
        scope = Scope(group[0].scope.tenant, group[0].scope.user, group[0].scope.agent)
        try:
            await _judge(services, group)
        except ProxyError as error:
            _log.warning("turns could not be judged", error=error.code, turns=len(group))
            await _put_off(services, scope, group, error.code)
        else:
            await services.journal.finish(scope, [item.seq for item in group], now=services.clock.now())
    return len(items)


async def _put_off(services: Services, scope: Scope, items: Sequence[Item], error: str) -> None:
    now = services.clock.now()
    for item in items:
        if item.attempts + 1 >= MAX_ATTEMPTS:
            await services.journal.finish(scope, [item.seq], now=now)
        else:
            due = now + timedelta(seconds=RETRY_BASE_S * 2.0**item.attempts)
            await services.journal.retry(scope, [item.seq], due=due, error=error)


async def _judge(services: Services, items: Sequence[Item]) -> None:
    """Judge all messages before one pause in one call, and apply the answer under the user's lease."""
    apart = await services.quarantine.targets(items[0].scope)
    items = [item for item in items if item.turn is not None and item.turn.scope.session not in apart]
    if not items:
        return
    turn = next(item.turn for item in reversed(items) if item.turn is not None)
    found = [
        sentence for item in items if item.turn for said in _said(item.turn) for sentence in own_sentences(said.text)
    ]
    message = " ".join(sentence.text for sentence in found)[:MAX_MESSAGE]
    turns = [item.turn for item in items if item.turn is not None]
    older = await _neighbours(services.index, services.embedder, turn.scope, message, turns)
    if services.judge is None or not older or not message:
        return
    judgement = await services.judge.judge(message, [row.text for row in older])
    await _note_cost(services, turn, judgement)
    async with services.leases.held(turn.scope):
        texts = [row.quote or row.text for row in older]
        rows = await rows_holding(services.index, turn.scope, texts)
        memories = [row for row in await services.store.memories(turn.scope) if turn.scope.sees(row.agent)]
        own = [Row.of(row) for one in turns for row in episodes_of(one)]
        past = Past(memories, [row for row in rows if row.id not in {one.id for one in own}], own)
        changes = await in_thread("learn", judged, turn, found, past, older, judgement, services.clock.now())
        await services.book.apply(turn.scope, changes)
    await _annotate(services, turn, changes)


def judged(
    turn: Turn, found: Sequence[Sentence], past: Past, older: Sequence[Memory], judgement: Judgement, now: datetime
) -> list[Change]:
    """Return the changes of a judgement: statements to close, and closings of the engine to undo."""
    current = {row.id: row for row in past.memories}
    ended = [current[older[at].id] for at in judgement.targets if older[at].id in current]
    planner = Planner(turn, past, now)
    for row in ended:
        ending = guarded(row.text, found, judgement.words)
        if row.status == "active" and ending is not None:
            planner.close(ending, _said(turn)[-1], [(Older(row.text, row.quote or row.text, row, None), ending.terms)])
    changes = planner.changes()
    shown = {row.id for row in older} - {row.id for row in ended}
    for batch in _batches(turn, past.memories, shown):
        changes += undo_changes(batch, past.memories, now)
    return changes


def guarded(text: str, found: Sequence[Sentence], named: Sequence[str]) -> Ending | None:
    """Return the ending of a statement that the judge names, None if the built-in engine's guards forbid it."""
    ending = _judged_ending(text, named, found)
    return ending if ending is not None and is_open_to(text, ending) else None


def _batches(turn: Turn, memories: Sequence[Memory], spared: set[str]) -> list[str]:
    """Return the engine's endings by this turn that the judge does not confirm, except requests to forget."""
    mine = [
        row
        for row in memories
        if is_ending(row)
        and row.source == f"turn:{turn.id}"
        and row.status == "closed"
        and not row.metadata.get(FORGOTTEN)
    ]
    closed = {row.id: [one.id for one in memories if one.batch == row.id] for row in mine}
    return [batch for batch, ids in closed.items() if ids and spared.issuperset(ids)]


def _said(turn: Turn) -> list[Said]:
    return [said for said in turn.messages if said.role == "user"]


async def _note_cost(services: Services, turn: Turn, judgement: Judgement) -> None:
    tokens = sum(judgement.usage.values())
    if tokens:
        cost = Cost("extraction", tokens, judgement.cost_usd)
        await services.costs.add(turn.scope, [cost])
        if turn.receipt:
            await services.receipts.annotate(turn.scope, turn.receipt, spent=[cost])


async def _annotate(services: Services, turn: Turn, changes: Sequence[Change]) -> None:
    closed = [
        {"id": change.memory.id, "action": "close", "reason": "judged", "batch": change.memory.batch}
        for change in changes
        if change.action == "close" and not is_ending(change.memory)
    ]
    if closed and turn.receipt:
        await services.receipts.annotate(turn.scope, turn.receipt, told={"closed": closed})


async def _neighbours(
    index: IndexCache, embedder: Embedder, scope: Scope, message: str, turns: Sequence[Turn]
) -> list[Memory]:
    """Return the older statements nearest to a message by lexical and dense score, and those that its turns closed."""
    vector = None
    with suppress(ProxyError):
        vector = (await embedder.embed([message], purpose="query"))[0]
    shelf = await index.facts(scope, ByWords(message))
    sources, messages = {f"turn:{turn.id}" for turn in turns}, {said.id for turn in turns for said in turn.messages}
    with shelf.lock:
        mask = shelf.seen_by(scope) & ~shelf.sums_up
        rows = [shelf.items[int(line)] for line in np.flatnonzero(mask)]
        batches = {row.id for row in rows if is_ending(row) and row.source in sources}
        lexical, dense = shelf.lexical(weights(message), mask), shelf.dense(vector, mask)
        near = np.nan_to_num(dense, nan=0.0) + lexical / max(float(lexical.max(initial=0.0)), 1e-9)
        order = [int(line) for line in np.argsort(-near, kind="stable") if mask[line] and near[line] >= MIN_NEAR]
        ranked = [shelf.items[line] for line in order]
    closed = [row for row in rows if row.batch in batches and row.status == "closed"]
    active = [row for row in ranked if row.status == "active" and not is_ending(row) and row.message not in messages]
    return list({row.id: row for row in (*closed, *active)}.values())[:MAX_OLDER]


def _judged_ending(text: str, words_named: Sequence[str], found: Sequence[Sentence]) -> Ending | None:
    """Return the ending of a statement that the judge found, None if the message's wording closes nothing.

    Args:
        text: The older statement.
        words_named: Words that the judge copied from it.
        found: Sentences of the message.
    """
    named = [terms_in(f"- {word}") for word in words_named]
    terms = tuple(term for one in named if all(holds(text, term) for term in one) for term in one)
    terms = terms or tuple(terms_in(f"- {text}"))[:1]
    spans = [(one, *span) for one in found for span in clauses(one.text)]
    if not terms or not spans:
        return None
    sure = [span for span in spans if holds(span[0].text[span[1] : span[2]], terms[0])]
    one, start, end = max(sure or spans, key=lambda span: shared(span[0].text[span[1] : span[2]], text))
    part, low = one.text[start:end], one.low[start:end]
    is_request = any(tongue.has("erase", low) or any(tongue.find("forget", low)) for tongue in languages_in(low))
    if sure and not is_request and is_void(one, part, low):
        return None
    at = next((word.start for word in words(low) if word.text in terms[0].forms), len(low))
    subject = next(iter([subject_of(tongue, part, low, at) for tongue in languages_in(low)]), ()) if sure else ()
    return Ending("end", one, part, terms, subject)

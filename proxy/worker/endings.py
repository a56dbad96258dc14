"""End of sessions, on request or when idle: write a summary that links to their turns."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta

import structlog

from proxy.errors import ProxyError
from proxy.memory.changes.book import TURNS_AT_ONCE
from proxy.memory.conversations.episode import concerning, is_worth_summary, rolled_up, summarised
from proxy.memory.conversations.summarize import Utterance
from proxy.memory.conversations.summary_model import ModelSummarizer
from proxy.memory.conversations.transcript import episodes_of
from proxy.memory.inject.standing import standing
from proxy.process.threads import in_thread, spawn
from proxy.services import Services
from proxy.store.passages import place_in_session
from proxy.store.schema import SUMMARY_MARKS
from proxy.store.sessions import Session
from proxy.text.tokens import count
from proxy.types import Episode, Memory, Scope

_log = structlog.get_logger(__name__)
_MODEL_TOKENS = 300  # maximum length of a model's summary
_MAX_AT_ONCE = 50  # sessions ended in one tick


async def end_conversation(services: Services, scope: Scope) -> Session:
    """End the scope's session and write its summary; ending it again rewrites the summary.

    Raises:
        NotFound: If there is no such visible session.
        StoreUnavailable: If the user's memory cannot be written now.
    """
    ended = await services.sessions.end(scope, scope.session, now=services.clock.now())
    async with services.leases.held(scope):
        is_long = await _write_up(services, scope, ended)
    if is_long and services.summarizer is not None and not services.is_ephemeral:
        spawn(_write_up_by_model(services, services.summarizer, scope, ended), "summary")
    return ended


async def end_idle(services: Services) -> int:
    """End the sessions that are idle for too long; return their number."""
    now = services.clock.now()
    before = now - timedelta(minutes=services.settings.memory.session_idle_minutes)
    idle = await services.sessions.idle(before=before, limit=_MAX_AT_ONCE, max_pending=TURNS_AT_ONCE)
    for scope in idle:
        await end_conversation(services, scope)
    for owner in {Scope(scope.tenant, scope.user, scope.agent) for scope in idle}:
        await roll_up(services, owner)
    return len(idle)


async def roll_up(services: Services, scope: Scope) -> int:
    """Summarise days and weeks with many sessions; return the number of summaries."""
    async with services.leases.held(scope):
        written: list[Memory] = []
        for level in ("day", "week"):
            rows = [row for row in await services.store.marked(scope, SUMMARY_MARKS) if row.status == "active"]
            found = await in_thread("learn", rolled_up, scope, rows, level, services.clock.now(), count)
            await services.book.rewrite(scope, found)
            written += found
    return len(written)


async def forget_summaries(services: Services, scope: Scope, session: str) -> None:
    """Remove every summary that covers a session; the caller holds the user's lease."""
    await remove_learned(services, scope, concerning(await services.store.marked(scope, SUMMARY_MARKS), session))


async def remove_learned(services: Services, scope: Scope, rows: Sequence[Memory]) -> None:
    """Remove memories with their ledger entries, history and uses; the rows go last, so that a retry finds them."""
    gone = [row.id for row in rows]
    if gone:
        await services.ledger.drop_memories(scope, gone)
        await services.history.purge(scope, gone)
        await services.uses.remove(scope, gone)
        await services.store.remove_memories(scope, gone)


async def _write_up_by_model(services: Services, summarizer: ModelSummarizer, scope: Scope, session: Session) -> None:
    """Replace the summary by a model's; if that fails, the extractive one stays."""
    said = [Utterance(at, one.role, one.text) for at, one in enumerate(await _said(services, scope))]
    try:
        written = await summarizer.write(said, _MODEL_TOKENS)
        await services.costs.add(scope, [written.cost])
        if written.text and (await services.sessions.get(scope, scope.session)).ended_at is not None:
            async with services.leases.held(scope):
                await _write_up(services, scope, session, text=written.text)
    except ProxyError as error:
        _log.warning("a summary could not be written by the model, the extractive one stays", error=error.code)


async def _write_up(services: Services, scope: Scope, session: Session, text: str = "") -> bool:
    """Write a session's summary; return whether it has enough content for one. The caller holds the user's lease."""
    if scope.session in await services.quarantine.targets(scope):
        return False
    said = await _said(services, scope)
    if not is_worth_summary(said):
        return False
    rows = await services.store.memories(scope, session=scope.session)
    facts = [row for row in rows if row.status == "active" and row.kind != "summary"]
    stands = await standing(scope, services.index)
    owner = Scope(scope.tenant, scope.user, session.agent, scope.session)
    now = services.clock.now()
    see = stands.still_true
    written = await in_thread(
        "learn", lambda: summarised(owner, scope.session, said, facts, now, count, see=see, text=text)
    )
    if written is not None:
        await services.book.rewrite(scope, [written])
    return written is not None


async def _said(services: Services, scope: Scope) -> list[Episode]:
    """Return the session's episodes in order, including turns that wait in the journal."""
    rows = {row.id: row for row in await services.store.episodes(scope, session=scope.session)}
    for item in await services.journal.items(scope):
        if item.turn is not None and item.turn.scope.session == scope.session:
            rows |= {row.id: row for row in episodes_of(item.turn)}
    return sorted(rows.values(), key=place_in_session)

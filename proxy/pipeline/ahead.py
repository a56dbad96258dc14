"""Summarises, in the background and ahead of need, what a long conversation is going to leave out."""

from __future__ import annotations

import structlog

from proxy.errors import ProxyError
from proxy.memory.conversations.compaction import Plan
from proxy.memory.conversations.running import Segment, segment, trimmed
from proxy.memory.conversations.summarize import Utterance
from proxy.process.threads import in_thread, spawn
from proxy.services import Services
from proxy.store.compactions import Compaction
from proxy.text.tokens import count
from proxy.types import Scope

_log = structlog.get_logger(__name__)
_SHARE = 2  # a half of the summary for what is newly left out


def prepare(
    services: Services, scope: Scope, plan: Plan, known: tuple[Segment, ...], said: list[Utterance], window: int
) -> None:
    """Start writing the summary for a plan, once at a time for a conversation; no request waits for it."""
    if not said or scope in services.summing_up:
        return
    services.summing_up.add(scope)
    spawn(_prepare(services, scope, plan, known, said, window), "summary")


async def _prepare(
    services: Services,
    scope: Scope,
    plan: Plan,
    known: tuple[Segment, ...],
    said: list[Utterance],
    window: int,
) -> None:
    try:
        text = await _by_model(services, scope, plan, said)
        new = await in_thread("learn", lambda: segment(said, max(1, plan.summary // _SHARE), count, text=text))
        segments = trimmed([*known, new], plan.summary, count)
        ready = Compaction(
            plan.state.anchor,
            plan.state.host,
            tuple(sorted(plan.state.kept)),
            tuple(one.to_json() for one in segments),
            is_used=False,
            window=window,
        )
        await services.compactions.prepare(scope, ready, now=services.clock.now())
    except ProxyError as error:
        _log.warning("a summary could not be kept ahead of need", error=error.code)
    finally:
        services.summing_up.discard(scope)


async def _by_model(services: Services, scope: Scope, plan: Plan, said: list[Utterance]) -> str:
    """Return what a model makes of it; "" where none is set or it fails, and for what must not leave this process."""
    summarizer = services.summarizer
    if summarizer is None or services.is_ephemeral:
        return ""
    try:
        written = await summarizer.write(said, plan.summary // _SHARE)
        await services.costs.add(scope, [written.cost])
    except ProxyError as error:
        _log.warning("a model wrote no summary, it is extractive", error=error.code)
        return ""
    return written.text

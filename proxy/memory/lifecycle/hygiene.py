"""Shorten unused memories in prompts, later archive them; pinned ones stay. Pure.

Time counts from arrival and use by the server's clock, never from the time in an imported or replayed turn.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Literal

from proxy.memory.lifecycle.tasks import OVER, task_of
from proxy.memory.plan.changes import PROFILE, Change, is_ending
from proxy.store.uses import Use
from proxy.text.segment import sentences
from proxy.text.terms import holds, terms_in
from proxy.types import Hit, Memory

Stage = Literal["full", "compressed", "archived"]

MAX_WHOLE = 400  # characters; a memory up to this length is always shown whole
MAX_POINTER = 300  # characters of a shortened memory
LASTING = frozenset({"instruction", "summary"})  # kinds that never count as unused


@dataclass(frozen=True, slots=True)
class Rules:
    """Days without use before each step; 0: never.

    Args:
        compress_days: Until a long memory is shortened in prompts.
        archive_days: Until a memory is due for archiving, or archived if that is enabled.
        kind_days: By kind, instead of ``archive_days``.
    """

    compress_days: float = 7.0
    archive_days: float = 30.0
    kind_days: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Report:
    """Ids of memories due for compression or archiving, and the number of expired memories.

    Args:
        compressed: Long memories that are shortened in prompts.
        due: Memories unused for so long that they would be archived.
        over: Number of expired memories.
    """

    compressed: tuple[str, ...]
    due: tuple[str, ...]
    over: int


def last_use(memory: Memory, use: Use | None) -> datetime:
    """Return when a memory was created, repeated or used last, by the server's clock."""
    moments = [memory.created_at, memory.updated_at, memory.last_used_at, use.last_at if use is not None else None]
    return max(moment for moment in moments if moment is not None)


def stage_of(memory: Memory, use: Use | None, now: datetime, rules: Rules) -> Stage:
    """Return the stage of a memory; pinned and profile memories and open tasks stay full."""
    if memory.status == "archived":
        return "archived"
    task = task_of(memory)
    is_kept = memory.pinned or memory.metadata.get(PROFILE) or memory.kind in LASTING
    if is_kept or (task is not None and task.status not in OVER):
        return "full"
    idle = now - last_use(memory, use)
    days = rules.kind_days.get(memory.kind, rules.archive_days)
    if days and idle >= timedelta(days=days):
        return "archived"
    return "compressed" if rules.compress_days and idle >= timedelta(days=rules.compress_days) else "full"


def report(memories: Iterable[Memory], uses: Mapping[str, Use], now: datetime, rules: Rules) -> Report:
    """Return the memories due for compression or archiving, the longest unused first."""
    rows = [row for row in memories if row.status == "active" and not is_ending(row)]
    stages = {row.id: stage_of(row, uses.get(row.id), now, rules) for row in rows}
    rows.sort(key=lambda row: (last_use(row, uses.get(row.id)), row.id))
    compressed = tuple(row.id for row in rows if stages[row.id] == "compressed" and len(row.text) > MAX_WHOLE)
    due = tuple(row.id for row in rows if stages[row.id] == "archived")
    over = sum(row.expires_at is not None and row.expires_at <= now for row in rows)
    return Report(compressed, due, over)


def archive_changes(memories: Sequence[Memory], uses: Mapping[str, Use], now: datetime, rules: Rules) -> list[Change]:
    """Return the changes that archive the due memories; ``restore`` reverses each."""
    due = set(report(memories, uses, now, rules).due)
    return [
        Change("archive", replace(row, status="archived", updated_at=now), row, "", "unused")
        for row in memories
        if row.id in due
    ]


def pointer(hit: Hit, question: str) -> Hit:
    """Return a long memory shortened to the sentences that answer the question, with its id."""
    spans = list(sentences(hit.text)) or [(0, len(hit.text))]
    sought = terms_in(f"- {question}")
    chosen: list[tuple[int, int]] = []
    room = MAX_POINTER
    while spans and room > 0 and (sought or not chosen):
        best = max(spans, key=lambda span: (sum(holds(hit.text[span[0] : span[1]], term) for term in sought), -span[0]))
        held = [term for term in sought if holds(hit.text[best[0] : best[1]], term)]
        if chosen and not held:
            break
        chosen.append((best[0], min(best[1], best[0] + room)))
        spans.remove(best)
        sought = [term for term in sought if term not in held]
        room -= best[1] - best[0]
    text = " … ".join(hit.text[start:end].strip() for start, end in sorted(chosen))
    return replace(hit, text=f"{text} … (in short; whole: {hit.id})")

"""Summaries of ended sessions by their sentences and memories, then of days and weeks. Pure."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from itertools import groupby
from typing import Any, Literal

from proxy.clock import iso
from proxy.memory.conversations.summarize import QUOTING, Count, Utterance, extract, sampled
from proxy.memory.plan.changes import memory_id
from proxy.text.secrets import redact
from proxy.types import Episode, Memory, Role, Scope, local, offset_of

LEVEL, SOURCES = "level", "sources"  # metadata of a summary: its level, and the ids of its sources
Level = Literal["conversation", "day", "week"]

_MIN_TURNS = 3  # by the user; a shorter session needs no summary
_MAX_SENTENCES, _MAX_TOKENS = 8, 320
_MAX_FACTS = 5
_MANY = 4  # minimum summaries of one day, or of one week, for a roll-up
_MAX_TURNS = 200
_KEY_FACTS = "Key facts: "
_QUOTED = f"{QUOTING.capitalize()}: "

See = Callable[[str], str | None]


def is_summary(memory: Memory, level: Level | None = None) -> bool:
    """Return whether a memory is a generated summary, of this level if one is given."""
    found = memory.metadata.get(LEVEL) if memory.kind == "summary" else None
    return found is not None and (level is None or found == level)


def is_worth_summary(episodes: Sequence[Episode]) -> bool:
    """Return whether a session has enough messages of the user for a summary."""
    return sum(one.role == "user" and one.piece == 0 for one in episodes) >= _MIN_TURNS


def summarised(
    scope: Scope,
    session: str,
    episodes: Sequence[Episode],
    facts: Sequence[Memory],
    now: datetime,
    count: Count,
    *,
    see: See = lambda text: text,
    text: str = "",
) -> Memory | None:
    """Return the summary of a session; None if the session is too short.

    Args:
        scope: Scope of the session.
        session: Id of the session.
        episodes: Episodes of the session, in order.
        facts: Memories learned from it.
        now: Time of writing.
        count: Counts tokens.
        see: Returns a text without statements closed since; None if nothing is left.
        text: Summary by a model, if there is one.
    """
    turns = list(dict.fromkeys(one.turn for one in episodes))
    if not is_worth_summary(episodes):
        return None
    seen = [replace(one, text=shown) for one in episodes if (shown := see(redact(one.text)))]
    said = [Utterance(at, role, whole) for at, (role, whole) in enumerate(_messages(seen))]
    lines = [] if text else extract(sampled(said), _MAX_TOKENS, count, most=_MAX_SENTENCES)
    parts = [shown] if text and (shown := see(text)) else [f"{line.role.capitalize()}: {line.text}" for line in lines]
    key = [shown for one in facts if (shown := see(one.text))][:_MAX_FACTS]
    parts += [_KEY_FACTS + " ".join(key)] if key else []
    if not parts:
        return None
    first = min(episodes, key=lambda one: one.at)
    metadata = {LEVEL: "conversation", SOURCES: [session], "turns": turns[-_MAX_TURNS:], "until": iso(episodes[-1].at)}
    return _memory(scope, f"session:{session}", "\n".join(parts), first.local_at, now, metadata, session=session)


def rolled_up(scope: Scope, memories: Sequence[Memory], level: Level, now: datetime, count: Count) -> list[Memory]:
    """Return summaries of past days, or weeks, that have many session summaries and no current roll-up.

    Args:
        scope: User and agent of the summaries.
        memories: All active summaries.
        level: ``day`` or ``week``; both sum up the summaries of sessions.
        now: Current time; its own day, or week, is not summed up.
        count: Counts tokens.
    """
    below = [one for one in memories if is_summary(one, "conversation") and one.agent == scope.agent]
    groups: dict[str, list[Memory]] = defaultdict(list)
    for one in sorted(below, key=lambda row: row.valid_from):
        groups[_period(one.local_from, level)].append(one)
    done = {
        str(one.metadata.get("period")): set(one.metadata.get(SOURCES, ()))
        for one in memories
        if is_summary(one, level)
    }
    written = []
    for period, rows in groups.items():
        ids = [row.id for row in rows]
        today = local(now, rows[-1].offset_minutes)
        if len(rows) < _MANY or period == _period(today, level) or done.get(period) == set(ids):
            continue
        said = [
            Utterance(at, "user", line.partition(": ")[2] or line)
            for at, row in enumerate(rows)
            for line in row.text.splitlines()
            if not line.startswith((_KEY_FACTS, _QUOTED))
        ]
        text = "\n".join(line.text for line in extract(said, _MAX_TOKENS, count, most=_MAX_SENTENCES))
        if text:
            metadata = {LEVEL: level, SOURCES: ids, "period": period}
            written.append(_memory(scope, f"{level}:{period}", text, rows[0].local_from, now, metadata))
    return written


def concerning(memories: Sequence[Memory], session: str) -> list[Memory]:
    """Return the summaries that sum up a session, directly or through another summary."""
    own = [one for one in memories if is_summary(one) and one.session == session]
    ids = {one.id for one in own}
    above = [one for one in memories if is_summary(one) and not ids.isdisjoint(one.metadata.get(SOURCES, ()))]
    return list({one.id: one for one in (*own, *above)}.values())


def latest(memories: Sequence[Memory], most: int, but: str) -> list[Memory]:
    """Return the summaries of the latest sessions, newest first, without that of session ``but``."""
    found = [one for one in memories if is_summary(one, "conversation") and one.status == "active"]
    found.sort(key=lambda one: (str(one.metadata.get("until", "")), one.id), reverse=True)
    return [one for one in found if one.session != but][:most]


def mended(memories: Sequence[Memory], see: See, now: datetime) -> list[Memory]:
    """Return the summaries that hold closed statements, without these; archived if nothing is left."""
    changed = []
    for one in memories:
        if not is_summary(one) or one.status != "active":
            continue
        lines = one.text.splitlines()
        left = [shown for line in lines if (shown := see(line)) is not None]
        if left != lines:
            text = "\n".join(left)
            changed.append(replace(one, text=text, updated_at=now, status="active" if text else "archived"))
    return changed


def _messages(episodes: Sequence[Episode]) -> list[tuple[Role, str]]:
    """Return the whole messages: one piece may show that another is a quotation."""
    together = groupby(episodes, key=lambda one: (one.turn, one.seq, one.role))
    return [(role, "\n".join(piece.text for piece in pieces)) for (_, _, role), pieces in together]


def _period(moment: datetime, level: Level) -> str:
    if level == "day":
        return moment.date().isoformat()
    monday = moment.date() - timedelta(days=moment.weekday())
    return monday.isoformat()


def _memory(
    scope: Scope, source: str, text: str, at: datetime, now: datetime, metadata: dict[str, Any], session: str = ""
) -> Memory:
    return Memory(
        id=memory_id(scope, source, "summary", "", ""),
        kind="summary",
        text=text,
        created_at=now,
        updated_at=now,
        valid_from=at.astimezone(UTC),
        offset_minutes=offset_of(at),
        subject="conversation",
        source=source,
        provenance="user",
        agent=scope.agent,
        session=session,
        metadata=metadata,
    )

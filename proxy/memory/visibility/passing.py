"""Statements that are over by themselves, as "this week I am in Rome": shown then only with their end. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import datetime, timedelta

from proxy.text.segment import sentences
from proxy.text.terms import plain
from proxy.types import Hit, Memory, local


def current(hits: Sequence[Hit], passing: Iterable[Memory], now: datetime, *, is_past: bool) -> list[Hit]:
    """Return what holds of hits.

    Args:
        hits: Turns, summaries and others.
        passing: Statements that end by themselves.
        now: Time of the question.
        is_past: The question is about the past: what is over is shown then, with its end.
    """
    over = [row for row in passing if row.expires_at is not None and row.expires_at <= now]
    if not over:
        return list(hits)
    by_message: dict[str, list[Memory]] = {}
    for row in over:
        by_message.setdefault(row.message, []).append(row)
    texts = frozenset(plain(row.quote or row.text) for row in over)
    shown = (_current(hit, by_message, texts, is_past=is_past) for hit in hits)
    return [hit for hit in shown if hit is not None]


def _current(hit: Hit, by_message: dict[str, list[Memory]], texts: frozenset[str], *, is_past: bool) -> Hit | None:
    if hit.source not in ("episode", "summary"):
        return hit
    rows = by_message.get(hit.id.partition(".")[0], []) if hit.source == "episode" else []
    if hit.source == "episode" and not rows:
        return hit
    if is_past:
        said = [row for row in rows if plain(row.quote or row.text) in plain(hit.text)]
        ends = dict.fromkeys(row.dates or f"until {_last_day(row)}" for row in said)
        return replace(hit, dates=", ".join(ends)) if ends and not hit.dates else hit
    gone = frozenset(plain(row.quote or row.text) for row in rows) if rows else texts
    text = _without(hit.text, gone)
    return hit if text == hit.text else replace(hit, text=text) if text else None


def _without(text: str, gone: frozenset[str]) -> str:
    """Return a text without the sentences ``gone``; "" where nothing is left."""
    spans = list(sentences(text))
    kept = [(start, end) for start, end in spans if _plain(text[start:end]) not in gone]
    if len(kept) == len(spans):
        return text
    parts = [text[start:end].strip() for start, end in kept]
    return " … ".join(part for part in parts if any(char.isalnum() for char in part))


def _plain(sentence: str) -> str:
    return plain(sentence.partition(": ")[2] if sentence.startswith(("User: ", "Assistant: ")) else sentence)


def _last_day(row: Memory) -> str:
    assert row.expires_at is not None
    return (local(row.expires_at, row.offset_minutes) - timedelta(seconds=1)).date().isoformat()

"""Forget by API: memories and other sentences that a text, a query or ids select; one batch, undoable."""

from __future__ import annotations

import secrets
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime

from proxy.memory.index.cache import IndexCache
from proxy.memory.learn.decide import Planner
from proxy.memory.learn.gather import rows_holding
from proxy.memory.learn.past import Past
from proxy.memory.learn.targets import Older
from proxy.memory.plan.changes import Change, is_ending, restore_memory, undo_changes
from proxy.text.segment import sentences
from proxy.text.terms import Term, holds_all, plain, terms_in
from proxy.text.words import fold
from proxy.types import Memory, Said, Scope, Turn

MAX_CLOSED = 10_000  # an API caller may mean to forget everything


@dataclass(frozen=True, slots=True)
class Request:
    """Request to forget.

    Attributes:
        text: Selects the sentences that hold all of its telling words.
        ids: Ids of memories.
    """

    text: str = ""
    ids: Collection[str] = ()


async def past_of(index: IndexCache, scope: Scope, request: Request, memories: Sequence[Memory]) -> Past:
    """Return the stored texts that a request may reach, beside ``memories``."""
    named = [request.text] if request.text else [row.quote or row.text for row in memories if row.id in request.ids]
    return Past(memories, await rows_holding(index, scope, named))


def forget_changes(scope: Scope, request: Request, past: Past, now: datetime) -> list[Change]:
    """Return the changes that forget the memories and sentences of a request; empty if it matches nothing."""
    terms = _terms(request.text)
    rows = [row for row in past.memories if row.status in ("active", "review", "archived") and not is_ending(row)]
    if request.text:
        rows = [row for row in rows if _names(row.text, request.text, terms)]
    else:
        rows = [row for row in rows if row.id in request.ids]
    found = [Older(row.text, row.quote or row.text, row, None) for row in rows]
    found += _sentences(past, request.text, terms) if request.text else []
    if not found:
        return []
    said = Said(f"api_{secrets.token_hex(12)}", "user", "")
    turn = Turn(said.id, scope, (said,), "", "complete", "", now)
    planner = Planner(turn, past, now, MAX_CLOSED)
    planner.forget(found, terms, said)
    return planner.changes()


def restore_changes(memory: Memory, memories: Sequence[Memory], now: datetime) -> list[Change]:
    """Return the changes that restore one memory, and its source sentence."""
    restored = restore_memory(memory, now)
    ending = next((row for row in memories if row.id == memory.batch), None)
    if ending is None:
        return [restored]
    siblings = [row for row in memories if row.batch == ending.id and row.id != memory.id]
    if not siblings:
        return [restored, *(change for change in undo_changes(ending.id, memories, now) if is_ending(change.memory))]
    return [restored]


def _terms(text: str) -> list[Term]:
    return terms_in(f"- {text}") if text else []


def _names(text: str, asked: str, terms: Sequence[Term]) -> bool:
    return fold(asked) in fold(text) or (bool(terms) and holds_all(text, terms))


def _sentences(past: Past, asked: str, terms: Sequence[Term]) -> list[Older]:
    """Return the user's sentences in earlier turns that never became memories."""
    known = {plain(row.quote or row.text) for row in past.memories}
    return [
        Older(text, text, None, row)
        for row in past.rows
        if row.by == "user"
        for start, end in sentences(row.text)
        if plain(text := row.text[start:end]) not in known and _names(text, asked, terms)
    ]

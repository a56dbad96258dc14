"""Rows that a turn adds: statements, remainders and endings. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

from proxy.memory.learn.past import Hide
from proxy.memory.learn.statements import Statement, kind_of
from proxy.memory.learn.targets import Older
from proxy.memory.plan.changes import APART, ENDING, FORGOTTEN, HIDES, PROFILE, REMAINS, TERMS, TEXTS, memory_id
from proxy.text.dates import dates_in, expiry_of
from proxy.text.lexical import tongue
from proxy.text.terms import Term
from proxy.text.words import flat
from proxy.types import Memory, Said, Turn
from proxy.types.scope import widest

MAX_CARRIED = 400  # characters; a longer message is not shown whole, its statements are shown alone
CONFIDENCE = 0.8  # of a statement made once


def statement_row(turn: Turn, now: datetime, one: Statement, said: Said) -> Memory:
    """Return the memory of a statement."""
    scope, code = turn.scope, tongue(one.sentence.text)
    metadata: dict[str, Any] = {PROFILE: True} if one.is_profile else {}
    if len(said.text) > MAX_CARRIED or one.is_apart:
        metadata[APART] = True
    place = {"message": said.id, "start": one.sentence.start, "end": one.sentence.end, "quote": one.sentence.text}
    ends = expiry_of(one.text, turn.local_at, code)
    when = {"dates": dates_in(one.text, turn.local_at, code), "expires_at": ends, "offset_minutes": turn.offset_minutes}
    told = {"kind": one.kind, "context": one.context, "context_by": one.by, "confidence": CONFIDENCE}
    id_ = memory_id(scope, said.id, "", "", one.text)
    return _row(turn, now, id_, one.text, **place, **when, **told, metadata=metadata)


def remaining_row(turn: Turn, now: datetime, one: Older, text: str, batch: str) -> Memory:
    """Return a memory of the part of an older sentence that still holds, with its source and time."""
    old = one.memory
    if old is not None:
        id_ = memory_id(turn.scope, old.message or old.id, "", "", text)
        single = replace(old, status="active", valid_to=None, batch="", earlier=(), later=())
        return replace(single, id=id_, text=text, updated_at=now, metadata={**old.metadata, REMAINS: batch})
    found = one.row
    assert found is not None
    place = {"message": found.message, "session": found.session, "quote": one.sentence, "valid_from": found.at}
    told = {"kind": kind_of(flat(text)), "confidence": CONFIDENCE, "metadata": {REMAINS: batch}}
    id_ = memory_id(turn.scope, found.message, "", "", text)
    return _row(turn, now, id_, text, **place, **told, source=f"turn:{found.turn}", turns=(found.turn,))


def linked_row(fresh: Memory, older: Memory) -> Memory:
    """Return a memory as the later one of another; it joins every prompt if the older one does."""
    metadata = fresh.metadata | ({PROFILE: True} if older.metadata.get(PROFILE) else {})
    return replace(fresh, earlier=(*fresh.earlier, older.id), metadata=metadata)


def ending_row(
    turn: Turn,
    now: datetime,
    said: Said,
    text: str,
    terms: Sequence[Term],
    hides: Sequence[Hide],
    texts: frozenset[str],
    *,
    is_forgotten: bool = False,
    found: Sequence[Older] = (),
) -> Memory:
    """Return the record of an ending, visible as widely as the memories that it closed."""
    scope, at = turn.scope, turn.at
    where = widest([one.memory.agent for one in found if one.memory is not None], scope.agent)
    if scope.project and where != scope.agent:
        text = ""  # the text was written in the project, and the memories that it closes are visible outside
    key = text or " ".join(term.text for term in terms) or " ".join(sorted(texts))
    batch = "end_" + memory_id(scope, said.id, "ending", "", key).removeprefix("mem_")
    metadata = {
        ENDING: batch,
        HIDES: [list(hide) for hide in dict.fromkeys(hides)],
        TEXTS: sorted(texts),
        TERMS: [[term.text, sorted(term.forms), term.is_name] for term in terms],
        FORGOTTEN: is_forgotten,
    }
    ended = {"kind": "fact", "status": "closed", "valid_to": at, "quote": text, "agent": where}
    return _row(turn, now, batch, text, **ended, message=said.id, metadata=metadata)


def _row(turn: Turn, now: datetime, id_: str, text: str, **more: Any) -> Memory:
    """Return a memory of the turn's own session and time unless ``more`` says otherwise."""
    where = {"agent": turn.scope.agent, "session": turn.scope.session}
    what = {"valid_from": turn.at, "source": f"turn:{turn.id}", "turns": (turn.id,), **where, **more}
    return Memory(id=id_, text=text, created_at=now, updated_at=now, **what)

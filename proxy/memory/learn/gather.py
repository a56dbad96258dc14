"""Fetch the stored memories and texts that a turn may concern, by its telling words, from one user's index."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from operator import attrgetter

from proxy.clock import came_before
from proxy.memory.index.by_words import ByWords, row_of, search_words
from proxy.memory.index.cache import IndexCache
from proxy.memory.learn.learn import Read
from proxy.memory.learn.past import Past, Row
from proxy.memory.plan.changes import PROFILE, SLOT, is_ending
from proxy.process.threads import in_thread
from proxy.text.slips import is_slip
from proxy.text.terms import Term, names_beside
from proxy.text.user_spans import role_in
from proxy.types import Episode, Memory, Scope, Turn

MAX_ROWS = 240  # texts that share words with an ending
MAX_MEMORIES = 60  # memories that share words with an ending or a change
MAX_SIBLINGS = 12  # other statements of a sentence
MAX_SAME = 4  # memories that share words with one statement; an equal one ranks first
LAST_ROWS = 6  # of this session: an answer needs its question, a correction its target
_place = attrgetter("at", "seq")


async def gather(
    index: IndexCache, turn: Turn, readings: Sequence[Read], own: Sequence[Episode], now: datetime
) -> Past:
    """Return the memories and texts of a user's index that a turn may concern; ``own`` are its stored messages."""
    scope = turn.scope
    named = [_forms(ending.terms) for one in readings for ending in one.endings if ending.terms]
    named += [ending.sentence.text for one in readings for ending in one.endings if ending.kind == "forget"]
    named += [_forms(terms) for one in readings for terms in one.resumed]
    is_corrected = any(ending.kind == "meant" or ending.is_last for one in readings for ending in one.endings)
    is_corrected = is_corrected or any(is_slip(own.text) for one in readings for own in one.found[:1])
    said = await index.said(scope, scope.session) if is_corrected else []
    before = [row.text for row in said if row.role == "user"][-LAST_ROWS:]
    memories = await _memories(index, scope, readings, named, before)
    asked = [ending.terms for one in readings for ending in one.endings if ending.kind == "forget"]
    if called := await in_thread("learn", _called, memories, asked):
        named.append(_forms(called))  # for "my boss is called Ana", find the rest by "Ana"
        memories = await _memories(index, scope, readings, named, before)
    if any(ending.slot[0] for one in readings for ending in one.endings):
        named += [row.quote or row.text for row in memories if row.metadata.get(SLOT) and row.status == "active"]
    rows = await _rows(index, turn, named, frozenset(one.id for one in own), now)
    return Past(memories, rows, [Row.of(one) for one in own])


def _called(memories: Sequence[Memory], asked: Sequence[Sequence[Term]]) -> list[Term]:
    return [name for terms in asked for row in memories for name in names_beside(row.text, terms)]


async def _memories(
    index: IndexCache, scope: Scope, readings: Sequence[Read], named: Sequence[str], corrected: Sequence[str]
) -> list[Memory]:
    texts = [(text, MAX_MEMORIES) for text in named]
    for one in readings:
        texts += [(text, MAX_SAME) for text in (*one.stated, *one.changing)]
    texts += [(text, MAX_SAME) for text in corrected]
    everything = "\n".join(text for text, _ in texts)
    shelf = await index.facts(scope, ByWords(everything or " "))
    found = await in_thread("learn", search_words, shelf, scope, texts)
    quotes = {row.quote for row in found.values() if row.quote != row.text} if named else ()
    found |= await in_thread("learn", search_words, shelf, scope, [(quote, MAX_SIBLINGS) for quote in quotes])
    seen = (row for row in await index.marked(scope) if scope.sees(row.agent))
    found |= {row.id: row for row in seen if is_ending(row) or not {SLOT, PROFILE}.isdisjoint(row.metadata)}
    for row in list(found.values()):
        found |= {other.id: other for id_ in (*row.later, *row.earlier) if (other := row_of(shelf, id_)) is not None}
    return list(found.values())


async def _rows(index: IndexCache, turn: Turn, named: Sequence[str], own: frozenset[str], now: datetime) -> list[Row]:
    scope = turn.scope
    said = await index.said(scope, scope.session)
    first = min((one.seq for one in turn.messages), default=0)
    last = [row for row in said if row.id not in own and row.seq <= max(first, turn.reply_seq)][-LAST_ROWS:]
    by_user = [row for row in said[-MAX_ROWS:] if row.role == "user"]
    last += await in_thread("learn", lambda: [row for row in by_user if role_in(row.text) is not None])
    rows = {row.id: row for row in (*map(Row.of, last), *await rows_holding(index, scope, named))}
    return sorted((row for row in rows.values() if row.id not in own and came_before(row.at, turn.at, now)), key=_place)


async def rows_holding(index: IndexCache, scope: Scope, named: Sequence[str]) -> list[Row]:
    """Return stored turns and summaries that share telling words with any of ``named``, oldest first."""
    if not named:
        return []
    wanted = [(text, MAX_ROWS) for text in named]
    turns = await index.turns(scope, ByWords("\n".join(named)))
    found = await in_thread("learn", search_words, turns, scope, wanted)
    facts = await index.facts(scope, ByWords("\n".join(named)))
    summaries = await in_thread("learn", search_words, facts, scope, wanted, lambda: facts.sums_up)
    current = [row for row in summaries.values() if row.status == "active"]
    rows = [Row(row.id, row.text, "summary", row.valid_from, row.session) for row in current]
    return sorted([*map(Row.of, found.values()), *rows], key=_place)


def _forms(terms: Sequence[Term]) -> str:
    """Return terms with their stems: the language of a single word is unknown."""
    return " ".join(form for term in terms for form in sorted(term.forms))

"""Hits from memories and turns: linked memories on one entry, closed ones with their ending, all for an overview.

A turn that holds a found memory in full replaces it, if the turn may be shown.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from proxy.memory.index.index import FactShelf, TurnShelf
from proxy.memory.index.postings import Mask, Scores
from proxy.memory.plan.changes import FORGOTTEN, is_carried, is_ending
from proxy.memory.recall import tuning
from proxy.memory.recall.found import Found
from proxy.memory.recall.query import Query
from proxy.text.languages import languages_in, languages_of
from proxy.text.quoted import within
from proxy.text.terms import Term, holds
from proxy.text.words import flat
from proxy.types import Episode, Hit, Memory, Scope, Source

MAX_ENDED = 4  # closed statements in one block
MAX_OVERVIEW = 40  # memories that answer an overview question, before the budget
MAX_LINKED = 160  # characters of a statement that is shown on one entry with others

_BEFORE, _BEHIND = 12, 2  # pieces before and after one that show what is quoted in it
MAX_CARRIED = 400  # characters of a turn that replaces a statement in it


def fact_hit(memory: Memory, score: float) -> Hit:
    """Return a memory as a hit."""
    source: Source = memory.kind if memory.kind in ("task", "summary") else "fact"
    return Hit(
        source,
        memory.id,
        memory.text,
        score,
        0,
        when=memory.local_from,
        session=memory.session,
        kind=memory.kind,
        confidence=memory.confidence,
        quote=memory.quote,
        context=memory.context,
        context_by=memory.context_by,
        dates=memory.dates,
        message=memory.message,
        is_carried=is_carried(memory),
    )


def with_links(shelf: FactShelf, hits: Sequence[Hit], mask: Mask) -> list[Hit]:
    """Return hits with linked statements on one entry, the newer last; each statement once.

    A long statement holds much besides the linked part: it gets a separate entry, as its turn if that is shown.
    Measured on BEAM: entries of long statements took 160 tokens each, and cost eight points of evidence within 600.
    """
    taken: set[str] = set()
    made = []
    for hit in hits:
        if hit.id in taken:
            continue
        chain = _chain(shelf, hit.id, mask)
        taken.update(row.id for row in chain)
        if len(chain) < 2:
            made += [replace(hit, is_carried=is_carried(replace(row, earlier=(), later=()))) for row in chain] or [hit]
            continue
        first, *later = (fact_hit(row, hit.score) for row in chain)
        made.append(replace(first, then=tuple(later)))
    return made


def _chain(shelf: FactShelf, id_: str, mask: Mask) -> list[Memory]:
    """Return a memory and the linked memories that may be shown on its entry, oldest first."""
    found: dict[str, Memory] = {}
    waiting = [id_]
    while waiting:
        line = shelf.line(waiting.pop())
        if line is None or not mask[line] or shelf.items[line].id in found:
            continue
        row = shelf.items[line]
        is_long = len(row.text) > MAX_LINKED
        if is_long and row.id != id_:
            continue
        found[row.id] = row
        waiting += () if is_long else (*row.earlier, *row.later)
    return sorted(found.values(), key=lambda row: (row.valid_from, row.start))


def ended_hits(shelf: FactShelf, scope: Scope, query: Query, lexical: Scores, best: float) -> list[Hit]:
    """Return closed statements with their endings, if the query is about the past or names them."""
    mask = shelf.ended(scope)
    if not mask.any() or query.as_of is not None:
        return []
    asks_past = is_of_past(query.text)
    lines = np.flatnonzero(mask)
    made: list[Hit] = []
    for line in lines[np.argsort(-lexical[lines], kind="stable")]:
        memory = shelf.items[int(line)]
        ending = _ending(shelf, memory)
        if ending is None or not ending.text:
            continue
        if not (_names(query.text, ending) or (asks_past and lexical[line] > 0)):
            continue
        last = Hit("fact", ending.id, ending.text, best, 0, when=ending.local_from, session=ending.session, kind="fact")
        made.append(replace(fact_hit(memory, best), id=ending.id, ended_by=last))
        if len(made) == MAX_ENDED:
            break
    return made


def is_of_past(text: str) -> bool:
    """Return whether a question is about the past."""
    low = flat(text[-600:])
    return any(tongue.has("past", low) for tongue in languages_of(text))


def is_overview(text: str) -> bool:
    """Return whether a question asks for everything known about the user."""
    low = flat(text) if len(text) <= 300 else ""
    return any(tongue.has("overview", low) for tongue in languages_in(low))


def overview(shelf: FactShelf, mask: Mask, query: Query) -> list[Hit]:
    """Return memories, most used and newest first, spread over topics (MMR, Carbonell et al. 1998)."""
    lines = [int(line) for line in np.flatnonzero(mask & ~shelf.sums_up)]
    if not lines:
        return []
    rows = [shelf.items[line] for line in lines]
    ages = np.array([max(0.0, (query.now - row.valid_from).total_seconds() / 86_400) for row in rows])
    uses = np.array([len(row.turns) + row.uses + 3 * row.pinned for row in rows])
    ranks = np.log2(1 + uses) + np.exp2(-ages / tuning.OVERVIEW_HALF_LIFE_DAYS)
    vectors = shelf.vectors(np.asarray(lines, dtype=np.int64))
    nearest = np.zeros(len(lines))
    hits = []
    for place in range(min(MAX_OVERVIEW, len(lines))):
        at = int(np.argmax(ranks - 2 * tuning.OVERVIEW_SPREAD * nearest))
        hits.append(fact_hit(rows[at], 1.0 - place / (2 * MAX_OVERVIEW)))
        ranks[at] = -np.inf
        nearest = np.maximum(nearest, vectors @ vectors[at])
    return hits


def _ending(shelf: FactShelf, memory: Memory) -> Memory | None:
    line = shelf.line(memory.batch) if memory.batch else None
    row = None if line is None else shelf.items[line]
    return row if row is not None and is_ending(row) and not row.metadata.get(FORGOTTEN) else None


def _names(text: str, ending: Memory) -> bool:
    terms = [Term(one, frozenset(forms), name) for one, forms, name in ending.metadata.get("terms", ())]
    return bool(terms) and any(holds(text, term) for term in terms)


@dataclass(frozen=True, slots=True)
class Turns:
    """Turns that may replace a memory: visible, and without withheld sentences."""

    shelf: TurnShelf | None
    scope: Scope
    withheld: Collection[str]

    def line(self, message: str) -> int | None:
        """Return the line of a message; None if it may not be shown in full."""
        if self.shelf is None or not message or message in self.withheld:
            return None
        line = self.shelf.line(message)
        return line if line is not None and self.scope.sees(self.shelf.items[line].agent) else None


def carried_by(found: Sequence[Found], turns: Turns) -> dict[str, tuple[Hit, ...]]:
    """Return the found memories that turns hold in full, by the id of the turn."""
    if turns.shelf is None:
        return {}
    carried: dict[str, tuple[Hit, ...]] = {}
    with turns.shelf.lock:
        for hit in (hit for one in found for hit in one.hits):
            if hit.source == "fact" and hit.is_carried and not hit.then and turns.line(hit.message) is not None:
                carried[hit.message] = (*carried.get(hit.message, ()), hit)
    return carried


def dated(hit: Hit, memories: Sequence[Hit]) -> Hit:
    """Return a turn with the ids and the resolved dates of the memories that it replaces."""
    dates = ", ".join(dict.fromkeys(one.dates for one in memories if one.dates))
    return replace(hit, stands_for=tuple(one.id for one in memories), dates=dates)


def without_carried(found: Found, carried: Mapping[str, tuple[Hit, ...]], turns: Turns) -> Found:
    """Return hits without memories that a turn holds in full: the search finds turns anyway and ranks them better."""
    if turns.shelf is None or not any(hit.source == "fact" and hit.message for hit in found.hits):
        return found
    kept = [hit.id not in {one.id for one in carried.get(hit.message, ())} for hit in found.hits]
    with turns.shelf.lock:
        hits = [_linked(hit, turns) for hit, stays in zip(found.hits, kept, strict=True) if stays]
    return replace(found, hits=hits, leads=sum(kept[: found.leads]))


def _linked(hit: Hit, turns: Turns) -> Hit:
    """Return a hit with its linked statements replaced by their turns, if these are short and may be shown."""
    return replace(hit, then=tuple(_turn_of(one, turns) for one in hit.then)) if hit.then else hit


def _turn_of(hit: Hit, turns: Turns) -> Hit:
    line = turns.line(hit.message)
    if turns.shelf is None or line is None or len(turns.shelf.items[line].text) > MAX_CARRIED:
        return hit
    return replace(turn_hit(turns.shelf, line, hit.score), stands_for=(hit.id,))


def turn_hit(shelf: TurnShelf, line: int, score: float) -> Hit:
    """Return a turn as a hit."""
    turn = shelf.items[line]
    return Hit(
        "episode",
        turn.id,
        turn.text,
        score,
        0,
        when=turn.local_at,
        session=turn.session,
        role=turn.role,
        seq=turn.seq,
        live=turn.live,
        quoted=_quoted(shelf, turn) if turn.role == "user" else (),
    )


def _quoted(shelf: TurnShelf, turn: Episode) -> tuple[str, ...]:
    """Return the quotations in a turn, found with the pieces before and after it in its message."""
    base = turn.id.rpartition(".")[0] if turn.piece else turn.id
    numbers = range(max(0, turn.piece - _BEFORE), turn.piece + _BEHIND + 1)
    lines = [shelf.line(f"{base}.{number}" if number else base) for number in numbers]
    return within("\n".join(shelf.items[line].text for line in lines if line is not None), turn.text)

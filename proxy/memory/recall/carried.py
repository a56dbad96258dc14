"""Turns that say a found memory whole, and are shown in its place where they may be."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

from proxy.memory.index.index import TurnShelf
from proxy.memory.recall.found import Found
from proxy.text.quoted import within
from proxy.types import Episode, Hit, Scope

_BEFORE, _BEHIND = 12, 2  # pieces of a message that tell what in one of them is quoted
MAX_CARRIED = 400  # characters of a turn that is shown for a statement in it


@dataclass(frozen=True, slots=True)
class Turns:
    """The turns that may be shown in the place of a memory: visible, and none of their sentences withheld."""

    shelf: TurnShelf | None
    scope: Scope
    withheld: Collection[str]

    def line(self, message: str) -> int | None:
        """Return the line of a message, None where it may not be shown whole."""
        if self.shelf is None or not message or message in self.withheld:
            return None
        line = self.shelf.line(message)
        return line if line is not None and self.scope.sees(self.shelf.items[line].agent) else None


def carried_by(found: Sequence[Found], turns: Turns) -> dict[str, tuple[Hit, ...]]:
    """Return the turns that say a found memory whole, each with those memories."""
    if turns.shelf is None:
        return {}
    carried: dict[str, tuple[Hit, ...]] = {}
    with turns.shelf.lock:
        for hit in (hit for one in found for hit in one.hits):
            if hit.source == "fact" and hit.is_carried and not hit.then and turns.line(hit.message) is not None:
                carried[hit.message] = (*carried.get(hit.message, ()), hit)
    return carried


def dated(hit: Hit, memories: Sequence[Hit]) -> Hit:
    """Return a turn that stands for memories, with the dates that their time words mean."""
    dates = ", ".join(dict.fromkeys(one.dates for one in memories if one.dates))
    return replace(hit, stands_for=tuple(one.id for one in memories), dates=dates)


def without_carried(found: Found, carried: Mapping[str, tuple[Hit, ...]], turns: Turns) -> Found:
    """Return hits without memories that a turn says whole: turns are found by themselves, and rank better."""
    if turns.shelf is None or not any(hit.source == "fact" and hit.message for hit in found.hits):
        return found
    kept = [hit.id not in {one.id for one in carried.get(hit.message, ())} for hit in found.hits]
    with turns.shelf.lock:
        hits = [_linked(hit, turns) for hit, stays in zip(found.hits, kept, strict=True) if stays]
    return replace(found, hits=hits, leads=sum(kept[: found.leads]))


def _linked(hit: Hit, turns: Turns) -> Hit:
    """Return a hit with the whole turns of the statements linked to it, where these are short and may be shown."""
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
    """Return what is quoted in a turn, by what stands before and behind it in its message."""
    base = turn.id.rpartition(".")[0] if turn.piece else turn.id
    numbers = range(max(0, turn.piece - _BEFORE), turn.piece + _BEHIND + 1)
    lines = [shelf.line(f"{base}.{number}" if number else base) for number in numbers]
    return within("\n".join(shelf.items[line].text for line in lines if line is not None), turn.text)

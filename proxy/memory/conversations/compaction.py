"""Compaction: selects the messages of a long session that its running summary replaces. Pure.

Whole turns are dropped, oldest first, valuable ones last; of the current turn, only steps of its tool loop. A decision
is stored as a state, so that every request until the next decision drops the same messages and shares its prefix.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

INSTRUCTIONS = frozenset({"system", "developer"})
_MIN_STEPS = 3  # latest steps of the current tool loop that stay
_WORTHY_SHARE = 4  # at most a quarter of the target goes to valuable old turns


@dataclass(frozen=True, slots=True)
class Line:
    """One message.

    Args:
        id: Id of the stored message; "" if it has none.
        opens: True if a user's turn begins with it.
        tokens: Tokens of the whole message.
        calls: Ids of the tool calls that it makes.
        answers: Ids of the tool calls that it answers.
        is_host: True if text can be put in front of its content.
    """

    id: str
    role: str
    tokens: int
    opens: bool = False
    calls: frozenset[str] = frozenset()
    answers: frozenset[str] = frozenset()
    is_host: bool = False


@dataclass(frozen=True, slots=True)
class Bounds:
    """Bounds of a request, in tokens.

    Args:
        trigger: Size above which old turns are dropped.
        target: Size after a compaction, summary and memory included.
        most: Size that must not be exceeded.
        summary: Maximum tokens of the summary.
        memory: Tokens reserved for recalled memory.
        keep_turns: Number of the newest turns that always stay.
        window: Context window of the model.
    """

    trigger: int
    target: int
    most: int
    summary: int
    memory: int
    keep_turns: int = 2
    window: int = 0


@dataclass(frozen=True, slots=True)
class State:
    """Decision to drop everything up to ``anchor``, except for valuable turns and the host.

    Args:
        anchor: Id of the last dropped message.
        host: Id of the user message that the summary is put in front of.
        kept: Ids of the first messages of older turns that stay.
    """

    anchor: str
    host: str
    kept: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Plan:
    """Messages that a request drops.

    Args:
        dropped: Indexes of the messages.
        host: Index of the message that the summary is put in front of.
        state: State to store.
        fresh: Those of ``dropped`` that the previous state did not drop.
        tokens: Tokens of the remaining request, without summary and memory.
        summary: Maximum tokens of the summary.
        memory: Maximum tokens of recalled memory.
    """

    dropped: frozenset[int]
    host: int
    state: State
    fresh: tuple[int, ...]
    tokens: int
    summary: int
    memory: int


@dataclass(slots=True)
class _Turn:
    """A user message and the steps after it; the first turn of a history may lack the message."""

    head: int | None
    steps: list[list[int]] = field(default_factory=list)

    def indexes(self) -> Iterator[int]:
        if self.head is not None:
            yield self.head
        for step in self.steps:
            yield from step


def plan(
    lines: Sequence[Line], state: State | None, bounds: Bounds, worth: Mapping[int, float] | None = None, fixed: int = 0
) -> Plan | None:
    """Return the messages to drop; None if the request fits unchanged, or nothing can be dropped.

    Args:
        lines: The request's messages.
        state: Earlier decision for this session, if any.
        bounds: Limits of the request's size.
        worth: Value of turns by index of their first message; these turns are dropped last.
        fixed: Tokens of the request beside its messages.
    """
    turns = _turns(lines)
    total = fixed + sum(line.tokens for line in lines)
    before = None if state is None else _applied(lines, turns, state)
    if state is not None and before is not None:
        left = total - _weight(lines, before[0])
        if left + bounds.summary + bounds.memory <= max(bounds.trigger, bounds.target):
            dropped, host = before
            return Plan(dropped, host, state, (), left, bounds.summary, bounds.memory)
    elif total <= bounds.trigger:
        return None
    return _extended(lines, turns, before[0] if before else frozenset(), bounds, worth or {}, total)


def fits(lines: Sequence[Line], state: State) -> frozenset[int] | None:
    """Return the messages of a request that a state drops; None if the state belongs to another fork."""
    applied = _applied(lines, _turns(lines), state)
    return None if applied is None else applied[0]


def _turns(lines: Sequence[Line]) -> list[_Turn]:
    """Split the messages, without instructions, into turns of steps: messages with the tool results after them."""
    turns: list[_Turn] = []
    was_result = True
    for index, line in enumerate(lines):
        if line.role in INSTRUCTIONS:
            continue
        if line.opens:
            turns.append(_Turn(index))
            was_result = True
            continue
        if not turns:
            turns.append(_Turn(None))
        is_result = line.role == "tool" or bool(line.answers)
        if (was_result and not is_result) or not turns[-1].steps:
            turns[-1].steps.append([])
        turns[-1].steps[-1].append(index)
        was_result = is_result
    return turns


def _applied(lines: Sequence[Line], turns: Sequence[_Turn], state: State) -> tuple[frozenset[int], int] | None:
    places = {line.id: index for index, line in enumerate(lines) if line.id}
    anchor, host = places.get(state.anchor), places.get(state.host)
    if anchor is None or host is None or not lines[host].is_host:
        return None
    end = next((step[-1] for turn in turns for step in turn.steps if step[0] <= anchor <= step[-1]), anchor)
    dropped: set[int] = set()
    for turn in turns:
        if turn.head is not None and lines[turn.head].id in state.kept:
            continue
        dropped |= {index for index in turn.indexes() if index <= end and index != host}
    return (_glued(lines, dropped), host) if dropped else None


def _extended(
    lines: Sequence[Line],
    turns: Sequence[_Turn],
    gone: frozenset[int],
    bounds: Bounds,
    worth: Mapping[int, float],
    total: int,
) -> Plan | None:
    left = total - _weight(lines, gone)
    for keep_turns in range(max(1, bounds.keep_turns), 0, -1):
        blocks = _blocks(turns, gone, keep_turns)
        protected = left - sum(_weight(lines, block) for block in blocks)
        if protected <= bounds.most:
            break
    summary, memory, room = _shares(bounds, protected)
    chosen, kept = _chosen(lines, blocks, room, worth, bounds.target // _WORTHY_SHARE)
    dropped = _glued(lines, gone | chosen)
    host = _host(lines, turns, dropped)
    anchor = max((index for index in dropped if lines[index].id), default=None)
    if host is None or anchor is None:
        return None
    stays = frozenset(lines[head].id for head in kept if head < anchor)
    return Plan(
        dropped,
        host,
        State(lines[anchor].id, lines[host].id, stays),
        tuple(sorted(dropped - gone)),
        total - _weight(lines, dropped),
        summary,
        memory,
    )


def _blocks(turns: Sequence[_Turn], gone: frozenset[int], keep_turns: int) -> list[list[int]]:
    """Return the blocks that may be dropped in addition to ``gone``, oldest first; each is dropped whole or not."""
    blocks = [list(turn.indexes()) for turn in turns[:-keep_turns]]
    if keep_turns == 1 and turns:
        blocks += turns[-1].steps[:-_MIN_STEPS]
    left = ([index for index in block if index not in gone] for block in blocks)
    return [block for block in left if block]


def _shares(bounds: Bounds, protected: int) -> tuple[int, int, int]:
    """Return the tokens for the summary, for memory and for older turns; older turns shrink first, the summary last."""
    free = max(0, bounds.target - protected)
    if free >= 2 * (bounds.summary + bounds.memory):
        return bounds.summary, bounds.memory, free - bounds.summary - bounds.memory
    beyond = max(0, bounds.most - protected)
    summary = min(bounds.summary, beyond)
    memory = min(bounds.memory, beyond - summary)
    return summary, memory, max(0, free - summary - memory)


def _chosen(
    lines: Sequence[Line], blocks: Sequence[list[int]], room: int, worth: Mapping[int, float], for_worth: int
) -> tuple[frozenset[int], frozenset[int]]:
    """Return the messages to drop, and the heads of valuable turns that stay although newer ones are dropped."""
    weights = [_weight(lines, block) for block in blocks]
    worthy = [at for at, block in enumerate(blocks) if block[0] in worth]
    for_worth = min(for_worth, room, sum(weights[at] for at in worthy))
    first, left = len(blocks), room - for_worth
    while first > 0 and weights[first - 1] <= left:
        first -= 1
        left -= weights[first]
    left += for_worth
    kept = set[int]()
    for at in sorted((at for at in worthy if at < first), key=lambda at: (-worth[blocks[at][0]], -at)):
        if weights[at] <= left:
            left -= weights[at]
            kept.add(at)
    gone = frozenset(index for at in range(first) if at not in kept for index in blocks[at])
    return gone, frozenset(blocks[at][0] for at in kept)


def _host(lines: Sequence[Line], turns: Sequence[_Turn], dropped: frozenset[int]) -> int | None:
    """Return the user message for the summary: the first after the dropped ones, else that of the current turn."""
    last = max(dropped, default=-1)
    heads = [turn.head for turn in turns if turn.head is not None and lines[turn.head].is_host and lines[turn.head].id]
    behind = [head for head in heads if head > last]
    if behind:
        return behind[0]
    before = [head for head in heads if head not in dropped]
    return before[-1] if before else None


def _glued(lines: Sequence[Line], dropped: Collection[int]) -> frozenset[int]:
    """Return ``dropped`` without messages whose tool calls or results would remain without their counterparts."""
    gone = set(dropped)
    while gone:
        staying = {id_ for index, line in enumerate(lines) if index not in gone for id_ in line.calls | line.answers}
        torn = {index for index in gone if not staying.isdisjoint(lines[index].calls | lines[index].answers)}
        if not torn:
            break
        gone -= torn
    return frozenset(gone)


def _weight(lines: Sequence[Line], indexes: Iterable[int]) -> int:
    return sum(lines[index].tokens for index in indexes)

"""Step 2b, compaction: replace old turns by the running summary if the history exceeds the window. Fails open."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import structlog

from proxy.dialects.base import Message
from proxy.errors import ProxyError
from proxy.memory.conversations.chain import Point, message_id, turn_id
from proxy.memory.conversations.compaction import Bounds, Line, Plan, State, fits, plan
from proxy.memory.conversations.running import Compacted, Segment, render, segment, trimmed
from proxy.memory.conversations.sizes import MEDIA_TOKENS, Sizes, weigh
from proxy.memory.conversations.summarize import Utterance
from proxy.memory.inject.standing import is_profile
from proxy.pipeline.exchange import Exchange
from proxy.pipeline.policy import best_effort
from proxy.process.threads import in_thread, spawn
from proxy.services import Services
from proxy.store.compactions import Compaction
from proxy.store.ledger import LedgerEntry
from proxy.text.tokens import count
from proxy.text.topics import without
from proxy.types import Memory, Scope

_log = structlog.get_logger(__name__)
_REPLY = ("max_completion_tokens", "max_tokens", "max_output_tokens")
_AIM = 0.2  # of the window, with summary and memory; each compaction invalidates the provider's cache
_SUMMARY_TOKENS = 2000  # at most, of the running summary
_EXCERPT_TOKENS = 2000  # of memory if turns are left out, to quote from them
_KEPT_TURNS = 2  # the newest stay unchanged
_SMALL_SHARE = 16  # of the window, for the summary and for memory
_MARGIN_SHARE = 20  # of the window: tokenizers differ
_RESULTS = frozenset({"tool_result"})
_NO_IDS = frozenset[str]()
_OPENING_TOKENS, _OPENING_WORTH = 1000, 0.5  # the first turn often states the subject of the whole session
_PINNED, _PROFILE, _PRIORITY = 3.0, 2.0, 1.0
_MAX_QUOTES = 50
_MIN_QUOTE = 12
_EARLY = 80  # percent of the trigger at which the next summary is prepared
_SEGMENT_SHARE = 2  # half of the summary is for the newly dropped turns


@dataclass(frozen=True, slots=True)
class _Asked:
    """Inputs of the decision; nothing is stored about ``topics``."""

    messages: Sequence[Message]
    points: Sequence[Point]
    body: Mapping[str, Any]
    session: str
    bounds: Bounds
    stored: Sequence[Compaction]
    ledger: Sequence[LedgerEntry]
    memories: Sequence[Memory]
    topics: Sequence[str]


async def compact(exchange: Exchange, services: Services) -> None:
    """Fill in the compaction of a request that would exceed the window."""
    if not exchange.reads or exchange.continues or not exchange.placed.points:
        return
    with exchange.timings.step("compact"), best_effort(exchange, "compaction"):
        bounds = bounds_of(exchange, services)
        if bounds is None or _most_tokens(exchange) <= bounds.trigger:
            return
        scope = exchange.required_scope
        stored: list[Compaction] = []
        memories: list[Memory] = []
        with best_effort(exchange, "store"):
            stored = await services.compactions.read(scope, scope.session)
            exchange.placed.ledger = await services.ledger.read(scope, scope.session)
            memories = [row for row in await services.index.marked(scope) if scope.sees(row.agent)]
        body = exchange.request.body if exchange.request else {}
        asked = _Asked(
            exchange.messages,
            exchange.placed.points,
            body,
            scope.session,
            bounds,
            stored,
            exchange.placed.ledger,
            memories,
            services.settings.memory.leave_out,
        )
        decided = await in_thread("cpu", _decide, asked, services.sizes)
        exchange.placed.compaction = replace(decided.now, window=bounds.window) if decided.now is not None else None
        if decided.ahead is not None and exchange.mode != "observe":
            _prepare(services, scope, decided.ahead, decided.known, decided.said, bounds.window)


def bounds_of(exchange: Exchange, services: Services) -> Bounds | None:
    """Return the token limits of the request; None if the model's window is unknown or compaction is off."""
    share = services.settings.memory.compact_at
    window = services.routes.context_window(exchange.served) if share and exchange.served else None
    if not window:
        return None
    body = exchange.request.body if exchange.request else {}
    asked = [value for name in _REPLY if isinstance(value := body.get(name), int) and not isinstance(value, bool)]
    most = max(window // 4, window - max(asked, default=0) - window // _MARGIN_SHARE)
    trigger = min(int(window * share), most)
    wanted = exchange.budget if exchange.named.has_budget else max(exchange.budget, _EXCERPT_TOKENS)
    return Bounds(
        trigger,
        min(int(window * _AIM), trigger),
        most,
        min(_SUMMARY_TOKENS, window // _SMALL_SHARE),
        min(wanted, window // _SMALL_SHARE),
        _KEPT_TURNS,
        window,
    )


def _most_tokens(exchange: Exchange) -> int:
    """Return an upper bound of the request's tokens: at least a byte each; attachments cost ``MEDIA_TOKENS``."""
    carried = sum(max(0, len(one.attachment.data) - MEDIA_TOKENS) for one in exchange.files.items)
    return len(exchange.body) - carried


@dataclass(frozen=True, slots=True)
class _Decided:
    """Compaction of a request, and the prepared plan of a later one.

    Attributes:
        now: Compaction of this request.
        ahead: Plan of a later compaction.
        known: Segments of the summary that ``ahead`` extends.
        said: Messages that ``ahead`` adds to the summary.
    """

    now: Compacted | None
    ahead: Plan | None = None
    known: tuple[Segment, ...] = ()
    said: list[Utterance] = field(default_factory=list)


def _decide(asked: _Asked, sizes: Sizes) -> _Decided:
    """Decide; meant for a thread, as the messages may be megabytes."""
    bounds = asked.bounds
    lines = _lines(asked, weigh(sizes, asked.messages, bounds.trigger, bounds.target))
    fixed = sizes.of_body(asked.body)
    before = fixed + sum(line.tokens for line in lines)
    stored = [one for one in asked.stored if one.window >= bounds.window]  # a smaller window dropped what fits here
    state, known, gone = _valid(lines, stored)
    found = plan(lines, state, bounds, {}, fixed)
    if found is not None and found.fresh:
        found = plan(lines, state, bounds, _worth(asked, lines), fixed)
    spare, prepared, _ = _valid(lines, stored, is_used=False, beyond=len(gone))
    if found is None or not found.fresh:
        early = replace(bounds, trigger=bounds.trigger * _EARLY // 100)
        used = before if found is None else found.tokens + bounds.summary + bounds.memory
        is_due = spare is None and used > max(early.trigger, early.target)
        ahead = plan(lines, state, early, _worth(asked, lines), fixed) if is_due else None
        now = None if found is None else Compacted(found, known, before, is_new=False)
        if ahead is None or not ahead.fresh:
            return _Decided(now)
        return _Decided(now, ahead, known, _utterances(asked, ahead.fresh))
    ready = None if spare is None else plan(lines, spare, bounds, {}, fixed)
    if ready is not None and not ready.fresh:
        ready = replace(ready, fresh=tuple(sorted(ready.dropped - gone)))
        return _Decided(Compacted(ready, trimmed(prepared, ready.summary, count), before, is_new=True))
    said = _utterances(asked, found.fresh)
    added = [segment(said, max(1, found.summary // _SEGMENT_SHARE), count)] if said and found.summary else []
    segments = trimmed([*known, *added], found.summary, count)
    return _Decided(Compacted(found, tuple(segments), before, is_new=True, was_ready=False))


def _utterances(asked: _Asked, indexes: Sequence[int]) -> list[Utterance]:
    """Return the texts of some messages, numbered by their indexes."""
    some = (asked.messages[index] for index in indexes)
    said = [(one, without(one.text, asked.topics)) for one in some if one.role in ("user", "assistant")]
    return [Utterance(one.index, one.role, text) for one, text in said if text]


def _lines(asked: _Asked, weights: Sequence[int]) -> list[Line]:
    added: dict[str, int] = {}
    for entry in asked.ledger:
        added[entry.anchor] = added.get(entry.anchor, 0) + count(entry.text)
    lines = []
    for message, point, weight in zip(asked.messages, asked.points, weights, strict=True):
        answers = _answers(message)
        opens = message.role == "user" and not answers
        line = Line(
            id=message_id(asked.session, point.hash) if point.hash else "",
            role="tool" if message.role == "function" else message.role,
            tokens=weight + (added.get(point.hash, 0) if point.links else 0),
            opens=opens,
            calls=frozenset(str(call["id"]) for call in message.tool_calls if call.get("id")) or _NO_IDS,
            answers=answers,
            is_host=opens and message.is_insertable,
        )
        lines.append(line)
    return lines


def _answers(message: Message) -> frozenset[str]:
    if message.role not in ("user", "tool"):
        return _NO_IDS
    named = [str(part.data.get("tool_use_id", "")) for part in message.parts if part.kind in _RESULTS]
    return frozenset(id_ for id_ in (*named, message.tool_call_id) if id_) or _NO_IDS


def _valid(
    lines: Sequence[Line], stored: Sequence[Compaction], *, is_used: bool = True, beyond: int = 0
) -> tuple[State | None, tuple[Segment, ...], frozenset[int]]:
    """Return this branch's stored compaction that reaches furthest, its summary, and the indexes that it drops."""
    places = {line.id: index for index, line in enumerate(lines) if line.id}
    mine = [one for one in stored if one.is_used == is_used and one.anchor in places]
    for one in sorted(mine, key=lambda one: -places[one.anchor]):
        state = State(one.anchor, one.host, frozenset(one.kept))
        dropped = fits(lines, state)
        if dropped and len(dropped) > beyond:
            return state, tuple(Segment.from_json(raw) for raw in one.segments), dropped
    return None, (), frozenset()


def _worth(asked: _Asked, lines: Sequence[Line]) -> dict[int, float]:
    """Return the worth of turns that stated pinned or prioritised memories, by index of their opening message."""
    rows = [row for row in asked.memories if row.status == "active" and _weight(row) > 0]
    by_turn = {turn: _weight(row) for row in rows for turn in (*row.turns, row.source.removeprefix("turn:"))}
    quotes = [(row.quote, _weight(row)) for row in rows if len(row.quote) >= _MIN_QUOTE][:_MAX_QUOTES]
    heads = [index for index, line in enumerate(lines) if line.opens]
    worth = {}
    for index in heads:
        named = by_turn.get(turn_id(asked.session, asked.points[index].hash), 0.0)
        text = asked.messages[index].text if quotes else ""
        quoted = max((weight for quote, weight in quotes if quote in text), default=0.0)
        if value := max(named, quoted):
            worth[index] = value
    if heads and lines[heads[0]].tokens <= _OPENING_TOKENS:
        worth.setdefault(heads[0], _OPENING_WORTH)
    return worth


def _weight(memory: Memory) -> float:
    if memory.pinned:
        return _PINNED
    return _PROFILE if is_profile(memory) else _PRIORITY + memory.priority / 100 if memory.priority > 0 else 0.0


def summary_text(exchange: Exchange) -> str:
    """Return the summary for the request, without statements closed since; "" if those are unknown."""
    compacted, standing = exchange.placed.compaction, exchange.found.standing
    if compacted is None or standing is None:
        return ""
    return render(compacted.segments, standing.still_true)


def to_store(exchange: Exchange) -> Compaction | None:
    """Return the compaction that later requests of the conversation repeat; None if it is not new."""
    compacted = exchange.placed.compaction
    if compacted is None or not compacted.is_new or exchange.mode == "observe":
        return None
    return _stored(compacted.plan.state, compacted.segments, compacted.window, is_used=True)


def _stored(state: State, segments: Sequence[Segment], window: int, *, is_used: bool) -> Compaction:
    texts = tuple(one.to_json() for one in segments)
    return Compaction(state.anchor, state.host, tuple(sorted(state.kept)), texts, is_used=is_used, window=window)


def _prepare(
    services: Services, scope: Scope, plan: Plan, known: tuple[Segment, ...], said: list[Utterance], window: int
) -> None:
    """Start writing the summary of a later plan, one at a time per conversation; no request waits for it."""
    if not said or scope in services.summing_up:
        return
    services.summing_up.add(scope)
    spawn(_write_ahead(services, scope, plan, known, said, window), "summary")


async def _write_ahead(
    services: Services, scope: Scope, plan: Plan, known: tuple[Segment, ...], said: list[Utterance], window: int
) -> None:
    try:
        text = await _by_model(services, scope, plan, said)
        new = await in_thread("learn", lambda: segment(said, max(1, plan.summary // _SEGMENT_SHARE), count, text=text))
        ready = _stored(plan.state, trimmed([*known, new], plan.summary, count), window, is_used=False)
        await services.compactions.prepare(scope, ready, now=services.clock.now())
    except ProxyError as error:
        _log.warning("a summary could not be kept ahead of need", error=error.code)
    finally:
        services.summing_up.discard(scope)


async def _by_model(services: Services, scope: Scope, plan: Plan, said: list[Utterance]) -> str:
    """Return a model's summary; "" if no model is set or it fails, and for ephemeral memory, which stays in RAM."""
    summarizer = services.summarizer
    if summarizer is None or services.is_ephemeral:
        return ""
    try:
        written = await summarizer.write(said, plan.summary // _SEGMENT_SHARE)
        await services.costs.add(scope, [written.cost])
    except ProxyError as error:
        _log.warning("a model wrote no summary, it is extractive", error=error.code)
        return ""
    return written.text


def summary_of(exchange: Exchange) -> dict[str, Any]:
    """Return a receipt's entry about the compaction; it counts the dropped messages and quotes none."""
    compacted = exchange.placed.compaction
    if compacted is None:
        return {}
    segments = compacted.segments
    return {
        "messages_left_out": len(compacted.plan.dropped),
        "newly_left_out": len(compacted.plan.fresh),
        "kept_for_worth": len(compacted.plan.state.kept),
        "through": compacted.plan.state.anchor,
        "host": compacted.plan.state.host,
        "tokens_before": compacted.before,
        "tokens_after": compacted.plan.tokens + exchange.placed.summary_tokens,
        "summary_tokens": exchange.placed.summary_tokens,
        "summary_was_ready": compacted.was_ready,
        "summarised_by": "model" if any(one.text for one in segments) else "extract",
    }

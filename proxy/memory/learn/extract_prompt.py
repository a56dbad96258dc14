"""Lays out turns, memories and earlier words for the extraction prompt: fenced, cut to size, with short ids."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, tzinfo
from zoneinfo import ZoneInfo

from proxy.memory.learn.statements import user_spans
from proxy.memory.model.prompt import load_prompt
from proxy.text.words import stems, words
from proxy.types import Episode, Memory, Said, Turn

_WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")

Count = Callable[[str], int]

LEFT_OUT = "[...]"
_FENCE = re.compile(r"[<＜](?=\s*[/／]?\s*(?:turn|said|earlier|known)\b)", re.IGNORECASE)
_SHORT_ID = re.compile(r"[\[<(#\s]*(?P<kind>known|msg|message)[-_ ]?(?P<number>\d{1,4})[\]>)\s]*", re.IGNORECASE)
_MAX_LINE = 2000  # characters of a memory or of something said earlier that are looked at
_HOLDING = frozenset({"active", "archived"})
_MAX_CUTS = 6  # a cut by tokens is a guess in characters; the second or third one fits
_SHORTEST = 60  # characters below which nothing is cut
_FRAME_TOKENS = 24  # of the tags around a message
_MAX_READ = 40_000  # characters of one message that are looked at, half of them from its end


@dataclass(frozen=True, slots=True)
class Room:
    """How many tokens of what go into one call.

    Args:
        message: Of one message; longer ones lose their middle.
        turns: Of all messages of a call; further ones go into another call.
        history: Of all messages that came along with the newest one; the oldest are left unread.
        known: Of all memories.
        earlier: Of what was said before.
        line: Of one line of what was said before.
    """

    message: int = 1500
    turns: int = 6000
    history: int = 12_000
    known: int = 1500
    earlier: int = 600
    line: int = 80


@dataclass(frozen=True, slots=True)
class Sheet:
    """One call's worth of turns, laid out.

    Args:
        text: The user part of the prompt.
        messages: By short id: the turn and the message.
        memories: By short id.
    """

    text: str
    messages: dict[str, tuple[Turn, Said]]
    memories: dict[str, Memory]


def lay_out(
    turns: Sequence[Turn], known: Sequence[Memory], heard: Sequence[Episode], room: Room, count: Count
) -> list[Sheet]:
    """Return the calls that ``turns`` take, usually one; turns without words of the user are left out."""
    memories = _memories(_relevant(known, turns), room.known, count)
    known_lines = [_known_line(id_, memory) for id_, memory in memories.items()]
    around = {"known": "\n".join(known_lines) or "(none)", "earlier": _earlier(heard, room, count)}
    return [_sheet(batch, memories, around) for batch in _batches(turns, room, count)]


def escape_fence(text: str) -> str:
    """Escape what could close or open a fence of the prompt; everything else stays as it was written."""
    return _FENCE.sub("&lt;", text)


def short_id(text: str) -> str | None:
    """Return a short id as the prompt writes it ("known-3") from what a model made of it, None if it is none."""
    match = _SHORT_ID.fullmatch(text)
    return f"{'known' if match['kind'].lower() == 'known' else 'msg'}-{int(match['number'])}" if match else None


def zone_of(turn: Turn) -> tzinfo:
    """Return the turn's time zone, UTC where its name is not known here."""
    try:
        return ZoneInfo(turn.zone)
    except (KeyError, ValueError, OSError):  # unknown, malformed, a folder of the zone database
        return UTC


def resolve_time(text: str | None, turn: Turn) -> datetime | None:
    """Return the moment that an ISO 8601 string names, in UTC; None where it names none that makes sense.

    Without an offset it is local to the turn's zone.
    """
    try:
        moment = datetime.fromisoformat(text.strip()) if text else None
        if moment is None or not 1900 <= moment.year <= 2200:
            return None
        local = moment if moment.tzinfo else moment.replace(tzinfo=zone_of(turn))
        return local.astimezone(UTC)
    except (ValueError, OverflowError):
        return None


@dataclass(frozen=True, slots=True)
class _Words:
    """What the user wrote themselves in one message, ready to be shown."""

    turn: Turn
    said: Said
    text: str
    tokens: int


def _batches(turns: Sequence[Turn], room: Room, count: Count) -> Iterator[list[_Words]]:
    batch: list[_Words] = []
    left = room.turns
    for entry in _within_history(list(_messages(turns, room, count)), room.history):
        if batch and entry.tokens > left:
            yield batch
            batch, left = [], room.turns
        batch.append(entry)
        left -= entry.tokens
    if batch:
        yield batch


def _messages(turns: Sequence[Turn], room: Room, count: Count) -> Iterator[_Words]:
    seen: set[str] = set()
    for turn in turns:
        for said in turn.messages:
            if said.role == "user" and said.id not in seen and (text := _authored(said.text, room.message, count)):
                yield _Words(turn, said, text, count(text) + _FRAME_TOKENS)
            seen.add(said.id)


def _within_history(entries: Sequence[_Words], budget: int) -> list[_Words]:
    """Keep all that was said live, and of a history that came along the newest part."""
    kept = []
    for entry in reversed(entries):
        if not entry.said.live:
            budget -= entry.tokens
        if entry.said.live or budget >= 0:
            kept.append(entry)
    return kept[::-1]


def _sheet(batch: Sequence[_Words], memories: dict[str, Memory], around: Mapping[str, str]) -> Sheet:
    messages = {f"msg-{number}": (entry.turn, entry.said) for number, entry in enumerate(batch, start=1)}
    lines: list[str] = []
    last: Turn | None = None
    for id_, entry in zip(messages, batch, strict=True):
        if entry.turn is not last:
            lines += ["</turn>"] * bool(lines) + [_turn_tag(entry.turn)]
            last = entry.turn
        lines.append(f'<said id="{id_}">{entry.text}</said>')
    text = load_prompt("extract").fill("user", {**around, "turns": "\n".join([*lines, "</turn>"])})
    return Sheet(text, messages, memories)


def _authored(text: str, budget: int, count: Count) -> str:
    """Return what the user wrote themselves, with marks where something was left out."""
    if len(text) > _MAX_READ:
        text = f"{text[: _MAX_READ // 2]}\n\n{LEFT_OUT}\n\n{text[-_MAX_READ // 2 :]}"
    spans = user_spans(text)
    parts = [text[start:end].strip() for start, end in spans]
    if not any(character.isalnum() for part in parts for character in part):
        return ""
    joined = f" {LEFT_OUT} ".join(part for part in parts if part)
    return _cut(escape_fence(joined), budget, count)


def _cut(text: str, budget: int, count: Count) -> str:
    """Take the middle out of a text that is too long: people state things at either end of what they paste."""
    left = text
    for _ in range(_MAX_CUTS):
        tokens = count(left)
        if tokens <= budget or len(left) <= _SHORTEST:
            break
        keep = int(len(left) * budget / tokens * 0.9)
        head = keep * 2 // 3
        left = f"{text[:head].rstrip()} {LEFT_OUT} {text[len(text) - (keep - head) :].lstrip()}"
    return left


def _relevant(known: Sequence[Memory], turns: Sequence[Turn]) -> list[Memory]:
    """Order memories by how many of the user's words they share, the newest first among equals."""
    said = {
        stem
        for turn in turns
        for entry in turn.messages
        if entry.role == "user"
        for word in words(entry.text[:_MAX_READ])
        for stem in stems(word.text)
    }

    def shared(memory: Memory) -> tuple[int, int, float]:
        value, rest = (
            sum(any(stem in said for stem in stems(word.text)) for word in words(text[:_MAX_LINE]))
            for text in (memory.object, f"{memory.relation} {memory.text}")
        )
        return (value, rest, memory.updated_at.timestamp())

    return sorted((memory for memory in known if memory.status in _HOLDING), key=shared, reverse=True)


def _memories(known: Sequence[Memory], budget: int, count: Count) -> dict[str, Memory]:
    chosen: dict[str, Memory] = {}
    for memory in known:
        id_ = f"known-{len(chosen) + 1}"
        budget -= count(_known_line(id_, memory))
        if budget < 0:
            break
        chosen[id_] = memory
    return chosen


def _known_line(id_: str, memory: Memory) -> str:
    relation, value = (_attribute(part) for part in (memory.relation, memory.object))
    who = f' subject="{_attribute(memory.subject)}"' if memory.subject != "user" else ""
    return f'<known id="{id_}"{who} relation="{relation}" object="{value}">{_line(memory.text, 400)}</known>'


def _earlier(heard: Sequence[Episode], room: Room, count: Count) -> str:
    """Show what was heard, which comes most alike first, in the order in which it was said."""
    chosen: list[tuple[Episode, str]] = []
    budget = room.earlier
    for episode in heard:
        words_said = _cut(_line(episode.text, _MAX_LINE), room.line, count)
        line = f'<earlier by="{episode.role}" date="{episode.at:%Y-%m-%d}">{words_said}</earlier>'
        budget -= count(line)
        if budget < 0:
            break
        chosen.append((episode, line))
    chosen.sort(key=lambda entry: (entry[0].at, entry[0].seq, entry[0].piece))
    return "\n".join(line for _, line in chosen) or "(nothing)"


def _turn_tag(turn: Turn) -> str:
    local = turn.at.astimezone(zone_of(turn))
    return f'<turn time="{local:%Y-%m-%d %H:%M} {_WEEKDAYS[local.weekday()]}" zone="{_attribute(str(zone_of(turn)))}">'


def _line(text: str, most: int) -> str:
    return escape_fence(" ".join(text[:most].split()))


def _attribute(text: str) -> str:
    return _line(text, 200).replace('"', "'")

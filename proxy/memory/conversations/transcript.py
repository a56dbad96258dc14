"""Episodes of a journalled turn: each message verbatim, long ones in pieces. Pure."""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import replace

from proxy.text.topics import without
from proxy.types import Episode, Role, Turn

MAX_CHARACTERS = 200_000  # of one message that are stored
_PIECE_CHARACTERS = {"user": 1200, "assistant": 700}
_BREAKS = (
    re.compile(r"\n\s*\n"),
    re.compile(r"\n"),
    re.compile(r"(?<=[.!?。！？…])\s+|(?<=[。！？])"),
    re.compile(r"\s"),
)


def episodes_of(turn: Turn) -> list[Episode]:
    """Return the episodes that a turn adds to its session, in order; ids are equal for every replay."""
    messages = [(said.id, said.seq, said.role, said.text, said.live) for said in turn.messages]
    messages.append((turn.reply_id, turn.reply_seq, "assistant", turn.reply, True))
    return [episode for message in messages for episode in _pieces(turn, *message)]


def without_topics(turn: Turn, topics: Collection[str]) -> Turn:
    """Return a turn without the sentences about some topics, and without the replies to them."""
    said, is_cut = [], False
    for one in turn.messages:
        text = without(one.text, topics)
        if one.role == "user":
            is_cut = text != one.text
        elif is_cut:
            continue
        if text:
            said.append(replace(one, text=text))
    return replace(turn, messages=tuple(said), reply="" if is_cut else without(turn.reply, topics))


def split(text: str, most: int) -> list[str]:
    """Cut a text at paragraphs, lines, sentences or blanks, so that no piece is longer than ``most`` characters."""
    pieces, start, end = [], 0, len(text.rstrip())
    while start < end:
        start += len(text[start : start + most]) - len(text[start : start + most].lstrip())
        cut = end if end - start <= most else start + _cut(text[start : start + most], most)
        if piece := text[start:cut].strip():
            pieces.append(piece)
        start = cut
    return pieces


def as_pieces(text: str) -> list[str]:
    """Return the pieces in which a message would be stored, for either role."""
    return [piece for most in _PIECE_CHARACTERS.values() for piece in split(text, most)]


def pieces_of(role: str, text: str) -> list[str]:
    """Return the pieces in which a message of this role is stored."""
    return split(text, _PIECE_CHARACTERS.get(role, _PIECE_CHARACTERS["assistant"]))


def _pieces(turn: Turn, id_: str, seq: int, role: Role, text: str, live: bool) -> list[Episode]:  # noqa: FBT001
    return [
        Episode(
            id=id_ if number == 0 else f"{id_}.{number}",
            session=turn.scope.session,
            turn=turn.id,
            seq=seq,
            role=role,
            text=piece,
            at=turn.at,
            agent=turn.scope.agent,
            piece=number,
            live=live or role == "assistant",
            offset_minutes=turn.offset_minutes,
        )
        for number, piece in enumerate(split(text, _PIECE_CHARACTERS[role]))
    ]


def _cut(text: str, most: int) -> int:
    for pattern in _BREAKS:
        ends = [match.end() for match in pattern.finditer(text, 0, most)]
        if ends and ends[-1] > most // 3:
            return ends[-1]
    return most

"""Texts of stored items for search: one to tokenise, one to embed."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import datetime

from proxy.text.prose import is_prose
from proxy.types import Chunk, Episode, Memory

_MONTHS = (
    "January February March April May June July August September October November December".split()  # noqa: SIM905
)
_WORD_BREAK = re.compile(r"[_.\-\s]+")
_HEAD_OF_DATA = 120  # characters embedded of a dump, a log or encoded bytes


def day(moment: datetime) -> str:
    """Return a date as users write it in questions: ``8 May 2023``."""
    return f"{moment.day} {_MONTHS[moment.month - 1]} {moment.year}"


def lexical_text(thing: Memory | Episode | Chunk) -> str:
    """Return the text to tokenise; an episode's includes its date, a chunk's includes the name of its file."""
    if isinstance(thing, Chunk):
        made = " ".join(_WORD_BREAK.sub(" ", part) for part in (thing.name, thing.heading) if part)
        taken = day(thing.taken_at) if thing.taken_at else ""
        return f"{made} {taken} {thing.text}"
    return thing.text if isinstance(thing, Memory) else f"{day(thing.local_at)} {thing.text}"


def dense_text(thing: Memory | Episode | Chunk) -> str:
    """Return the text to embed; an episode's includes date and role, a chunk's includes its heading or file name."""
    if isinstance(thing, Chunk):
        where = thing.heading or thing.name
        return f"{where}: {thing.text}" if where else thing.text
    return thing.text if isinstance(thing, Memory) else f"{day(thing.local_at)}, {thing.role}: {_telling(thing.text)}"


def _telling(text: str) -> str:
    """Return prose in full, and only the head of data, as more of it does not improve the vector."""
    return text if is_prose(text) else text[:_HEAD_OF_DATA]


def place_in_session(row: Episode) -> tuple[datetime, int, int]:
    """Return the sort key of turns in a session.

    Time comes first: if each request contains only the new message, positions restart with every turn.
    """
    return row.at, row.seq, row.piece


def trails(episodes: Sequence[Episode]) -> dict[str, list[Episode]]:
    """Return for each episode, by id, the window of up to three that ends with it, in order.

    Args:
        episodes: Turns of one or more sessions, in any order; a window never spans two sessions. Include the last two
            stored turns of a session with its new ones.
    """
    ordered = sorted(episodes, key=lambda row: (row.session, *place_in_session(row)))
    return {
        row.id: [one for one in ordered[max(0, at - 2) : at + 1] if one.session == row.session]
        for at, row in enumerate(ordered)
    }

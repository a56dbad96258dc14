"""The text under which a stored thing is found: what is tokenised, and what is embedded."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from proxy.types import Episode, Memory

_MONTHS = (
    "January February March April May June July August September October November December".split()  # noqa: SIM905
)
_CENTRE, _SIDE = 500, 250  # characters: embedders cut long texts, and the middle must not be what is cut


def day(moment: datetime) -> str:
    """Return a date in words that a question would use: ``8 May 2023``."""
    return f"{moment.day} {_MONTHS[moment.month - 1]} {moment.year}"


def lexical_text(thing: Memory | Episode) -> str:
    """Return what is tokenised; an episode is found by its date too."""
    return thing.text if isinstance(thing, Memory) else f"{day(thing.at)} {thing.text}"


def dense_text(thing: Memory | Episode) -> str:
    """Return what is embedded; an episode says when and by whom it was said."""
    return thing.text if isinstance(thing, Memory) else f"{day(thing.at)}, {thing.role}: {thing.text}"


def window_texts(episodes: Sequence[Episode]) -> dict[str, str]:
    """Return for each episode, by id, the text of the window of three centred on it.

    Args:
        episodes: Turns of one or more conversations, in any order; a window never spans two conversations. The last
            stored turn of a conversation should come along with new ones, since its window now reaches further.
    """
    ordered = sorted(episodes, key=lambda row: (row.session, row.seq, row.piece))
    texts: dict[str, str] = {}
    for at, row in enumerate(ordered):
        lines = [f"{row.role}: {row.text[:_CENTRE]}"]
        if at and ordered[at - 1].session == row.session:
            lines.insert(0, f"{ordered[at - 1].role}: {ordered[at - 1].text[-_SIDE:]}")
        if at + 1 < len(ordered) and ordered[at + 1].session == row.session:
            lines.append(f"{ordered[at + 1].role}: {ordered[at + 1].text[:_SIDE]}")
        texts[row.id] = "\n".join((day(row.at), *lines))
    return texts

"""Lexical search of a shelf for the rows that a turn may concern, without ranking against other sources."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

import numpy as np

from proxy.memory.index.index import FactShelf
from proxy.memory.index.postings import Mask
from proxy.memory.index.shelf import Shelf
from proxy.store.schema import Vector
from proxy.text.lexical import weights
from proxy.types import Chunk, Episode, Memory, Scope

T = TypeVar("T", Memory, Episode, Chunk)


class ByWords:
    """A query by words alone."""

    context = ""
    vector: Vector | None = None

    def __init__(self, text: str) -> None:
        self.text = text


def search_words(
    shelf: Shelf[T], scope: Scope, wanted: Sequence[tuple[str, int]], among: Callable[[], Mask] | None = None
) -> dict[str, T]:
    """Return, by id, the rows that share words with any of the texts: best first, up to the limit of each text.

    A long message has hundreds of texts: the lock is held for one at a time, as requests search the shelf too.
    """
    found: dict[str, T] = {}
    for text, limit in wanted:
        terms = weights(text)
        with shelf.lock:
            mask = shelf.seen_by(scope) & among() if among is not None else shelf.seen_by(scope)
            scores = shelf.lexical(terms, mask)
            lines = np.flatnonzero(scores > 0)
            if len(lines) > limit:
                lines = lines[np.argsort(-scores[lines], kind="stable")[:limit]]
            rows = [shelf.items[int(line)] for line in lines]
        found |= {row.id: row for row in rows}
    return found


def row_of(shelf: FactShelf, id_: str) -> Memory | None:
    """Return a living row of a shelf by its id."""
    line = shelf.line(id_)
    return None if line is None else shelf.items[line]

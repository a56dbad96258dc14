"""In-memory index of one user's memories, turns or chunks: search terms, vectors and visibility, line by line."""

from __future__ import annotations

import bisect
from collections import defaultdict
from collections.abc import Collection, Sequence
from datetime import datetime
from typing import cast

import numpy as np
from numpy.typing import NDArray

from proxy.clock import to_ms
from proxy.memory.index.postings import Mask, Neighbours, Scores
from proxy.memory.index.shelf import Column, Shelf
from proxy.memory.plan.changes import FORGOTTEN, is_ending, is_marked
from proxy.store.passages import place_in_session
from proxy.store.schema import CHUNKS, EPISODES, MEMORIES, Vector
from proxy.text.filenames import name_terms
from proxy.types import BETWEEN_NAMES, Chunk, Episode, Memory, Scope

_NEVER = np.iinfo(np.int64).max


class FactShelf(Shelf[Memory]):
    """Shelf of memories, with their validity."""

    def __init__(self, dimension: int, model: str) -> None:
        super().__init__(MEMORIES.vectors, dimension, model)
        self._current = Column(np.bool_)
        self._closed = Column(np.bool_)
        self._from = Column(np.int64)
        self._to = Column(np.int64)
        self._expires = Column(np.int64)
        self._sums_up = Column(np.bool_)
        self._marked: dict[int, Memory] = {}  # by line

    @property
    def marked(self) -> list[Memory]:
        """Living rows that matter to every query, oldest line first."""
        with self.lock:
            return list(self._marked.values())

    @property
    def summaries(self) -> list[Memory]:
        """Living summaries, oldest line first."""
        with self.lock:
            return [self.items[int(line)] for line in np.flatnonzero(self._alive.values & self._sums_up.values)]

    @property
    def sums_up(self) -> Mask:
        """Mask of the lines that are summaries of sessions."""
        return self._sums_up.values

    def visible(self, scope: Scope, now: datetime, as_of: datetime | None = None) -> Mask:
        """Return the lines that may be recalled: visible to the scope, not expired, and valid now or at ``as_of``."""
        moment = to_ms(as_of or now)
        mask: Mask = self.seen_by(scope) & (self._expires.values > to_ms(now)) & (self._to.values > moment)
        if as_of is None:
            mask &= self._current.values
        else:
            mask &= (self._current.values | self._closed.values) & (self._from.values <= moment)
        return mask

    def ended(self, scope: Scope) -> Mask:
        """Return the closed memories that questions about the past may show."""
        mask: Mask = self.seen_by(scope) & self._closed.values
        return mask

    def _extended(self, items: Sequence[Memory]) -> None:
        self._current.extend([item.status == "active" for item in items])
        self._closed.extend([_is_ended(item) for item in items])
        self._from.extend([to_ms(item.valid_from) for item in items])
        self._to.extend([_end(item) for item in items])
        self._expires.extend([_NEVER if item.expires_at is None else to_ms(item.expires_at) for item in items])
        self._sums_up.extend([item.kind == "summary" for item in items])

    def _added(self, item: Memory, line: int) -> None:
        if is_marked(item):
            self._marked[line] = item

    def _removed(self, line: int) -> None:
        self._marked.pop(line, None)


class TurnShelf(Shelf[Episode]):
    """Shelf of turns, with their neighbours in the session and windows of three."""

    def __init__(self, dimension: int, model: str) -> None:
        super().__init__(EPISODES.vectors, dimension, model)
        self._order: defaultdict[str, list[tuple[datetime, int, int, int]]] = defaultdict(list)  # place, line
        self._before = Column(np.int64)
        self._after = Column(np.int64)
        self._by_user = Column(np.bool_)
        self._length = Column(np.int32)
        self._saying: defaultdict[int, list[int]] = defaultdict(list)  # hash of a text: lines

    @property
    def by_user(self) -> Mask:
        """Mask of the user's own lines."""
        return self._by_user.values

    @property
    def lengths(self) -> NDArray[np.int32]:
        """Characters of each line's text."""
        return self._length.values

    def standing(self, texts: Collection[str]) -> list[int]:
        """Return the lines whose text is one of ``texts``."""
        return [line for text in texts for line in self._saying.get(hash(text.strip()), ())]

    @property
    def neighbours(self) -> Neighbours:
        """Lines before and after each line in its session."""
        return Neighbours(self._before.values, self._after.values)

    def window_lexical(self, weights: dict[str, float], mask: Mask) -> Scores:
        """Return for every line the BM25 score of the window of three centred on it."""
        if self._given is not None:
            return self.neighbours.spread(self.lexical(weights, mask))
        return self.postings.bm25(weights, mask, neighbours=self.neighbours)

    def window_dense(self, vector: Vector | None, mask: Mask) -> Scores:
        """Return for every line the cosine of the window of three centred on it; NaN as in ``dense``.

        The next turn holds that window's vector; the last turn of a session has only the window that ends with it.
        """
        trails = self.dense(vector, mask, "trail_vector")
        after = self._after.values
        centred = np.append(trails, np.float32(np.nan))[after]  # line -1
        return np.where(np.isnan(centred) | np.isnan(trails), trails, centred)

    def said_in(self, session: str) -> list[Episode]:
        """Return the episodes of a session, in order."""
        with self.lock:
            return [self.items[line] for *_, line in self._order.get(session, ())]

    def _extended(self, items: Sequence[Episode]) -> None:
        self._before.extend(np.full(len(items), -1))
        self._after.extend(np.full(len(items), -1))
        self._by_user.extend([item.role == "user" for item in items])
        self._length.extend([len(item.text) for item in items])

    def _added(self, item: Episode, line: int) -> None:
        order = self._order[item.session]
        place = (*place_in_session(item), line)
        at = bisect.bisect(order, place)
        order.insert(at, place)
        self._saying[hash(item.text.strip())].append(line)
        self._link(order[at - 1][-1] if at else -1, line)
        self._link(line, order[at + 1][-1] if at + 1 < len(order) else -1)

    def _removed(self, line: int) -> None:
        item = self.items[line]
        self._order[item.session].remove((*place_in_session(item), line))
        self._saying[hash(item.text.strip())].remove(line)
        self._link(self._before.values[line], self._after.values[line])

    def _link(self, first: int, second: int) -> None:
        if first >= 0:
            self._after.values[first] = second
        if second >= 0:
            self._before.values[second] = first


class ChunkShelf(Shelf[Chunk]):
    """Shelf of document chunks and image texts, with the page of each."""

    def __init__(self, dimension: int, model: str) -> None:
        super().__init__(CHUNKS.vectors, dimension, model)
        self._page = Column(np.int32)
        self._document = Column(np.int32)
        self._documents: dict[str, int] = {}
        self._names: dict[int, tuple[str, list[tuple[int, str, frozenset[str]]]]] = {}

    @property
    def pages(self) -> NDArray[np.int32]:
        """Page on which each line begins, 0 if the file has no pages."""
        return self._page.values

    def names(self) -> Sequence[tuple[int, str, frozenset[str]]]:
        """Return number, name and the telling words of the name of each document and image, for each of its names."""
        return [named for _, found in self._names.values() for named in found]

    def of_documents(self, numbers: Sequence[int]) -> Mask:
        """Return the lines of some documents."""
        return np.isin(self._document.values, numbers)

    def _extended(self, items: Sequence[Chunk]) -> None:
        self._page.extend([item.page for item in items])
        self._document.extend([self._number(item) for item in items])

    def _number(self, item: Chunk) -> int:
        number = self._documents.setdefault(item.document, len(self._documents))
        if self._names.get(number, ("", []))[0] != item.name:
            names = item.name.split(BETWEEN_NAMES)
            self._names[number] = (item.name, [(number, name, name_terms(name)) for name in names])
        return number


def _is_ended(item: Memory) -> bool:
    """Return whether a memory is closed and questions about the past may show it."""
    return item.status == "closed" and not item.metadata.get(FORGOTTEN) and not is_ending(item)


def _end(item: Memory) -> int:
    lasting = item.valid_to is None or (item.kind == "event" and item.status == "active")  # events stay true
    return _NEVER if lasting else to_ms(cast("datetime", item.valid_to))

"""In-memory index of one user's rows of a noun: search terms and vectors, line by line."""

from __future__ import annotations

import threading
from collections.abc import Collection, KeysView, Mapping, Sequence
from datetime import datetime
from typing import Any, Generic, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from proxy.clock import to_ms
from proxy.memory.index.postings import Lines, Mask, Postings, Scores
from proxy.store.lance_search import Candidates
from proxy.store.schema import Batch, Vector
from proxy.types import Chunk, Episode, Memory, Scope

T = TypeVar("T", Memory, Episode, Chunk)
_NEVER = np.iinfo(np.int64).max
_FEW_LINES = 20
_BEYOND, _ABOVE_MEDIAN = 0.85, 0.06  # a quantile of cosines, and its distance from one language's median
_BYTES_PER_ITEM = 1200  # approximate, of a value with its strings


class Column:
    """A numpy array that grows at its end.

    Args:
        kind: Type of the values.
        width: Values per line; 0 for a single value instead of an array.
    """

    def __init__(self, kind: type[np.generic], width: int = 0) -> None:
        self._kept = np.zeros((0, width) if width else 0, dtype=kind)
        self._count = 0

    @property
    def values(self) -> NDArray[Any]:
        """All lines, as a writable view that is valid until the next ``extend``."""
        return self._kept[: self._count]

    @property
    def size_bytes(self) -> int:
        """Memory in use, spare room included."""
        return self._kept.nbytes

    def extend(self, values: ArrayLike) -> None:
        """Append lines."""
        added = np.asarray(values, dtype=self._kept.dtype)
        needed = self._count + len(added)
        if needed > len(self._kept):
            room = needed if not self._count else max(needed + 16, len(self._kept) * 5 // 4)
            grown = np.zeros((room, *self._kept.shape[1:]), dtype=self._kept.dtype)
            grown[: self._count] = self.values
            self._kept = grown
        if len(added):
            self._kept[self._count : needed] = added
            self._count = needed


class Shelf(Generic[T]):
    """Searchable rows of one user and noun; lines are appended and never renumbered.

    Args:
        vectors: Names of the vector columns.
        dimension: Length of the vectors.
        model: Embedding model in use; vectors of other models are ignored.
    """

    def __init__(self, vectors: Sequence[str], dimension: int, model: str) -> None:
        self.lock = threading.Lock()  # held while rows are added and while a search reads several columns
        self.items: list[T] = []
        self.stamp = 0
        self._given: Mapping[str, float] | None = None  # lexical scores by id, of rows found for one query
        self.model = model
        self.postings = Postings()
        self._line_of: dict[str, int] = {}
        self._agents: dict[str, int] = {"": 0}
        self._alive = Column(np.bool_)
        self._agent = Column(np.int32)
        self._time = Column(np.int64)
        self._vectors = {name: Column(np.float32, dimension) for name in vectors}
        self._has_vector = Column(np.bool_)

    def __len__(self) -> int:
        return len(self._line_of)

    @property
    def size_bytes(self) -> int:
        """Approximate memory in use."""
        columns = (self._alive, self._agent, self._time, self._has_vector, *self._vectors.values())
        return (
            sum(column.size_bytes for column in columns) + self.postings.size_bytes + _BYTES_PER_ITEM * len(self.items)
        )

    @property
    def waste(self) -> float:
        """Share of dead lines; a shelf with many should be rebuilt."""
        return 1 - len(self) / len(self.items) if self.items else 0.0

    @property
    def ids(self) -> KeysView[str]:
        """Ids of all living rows."""
        return self._line_of.keys()

    @property
    def times(self) -> NDArray[np.int64]:
        """Event time of each line, in milliseconds since the epoch."""
        return self._time.values

    def put(self, batch: Batch[T]) -> None:
        """Add rows, replacing those of the same id."""
        with self.lock:
            self._put(batch)

    def hold(self, found: Candidates[T]) -> None:
        """Add the rows that the store found for one query, with the store's lexical scores."""
        self.put(found.rows)
        self._given = found.words

    def drop(self, ids: Collection[str]) -> None:
        """Remove rows; unknown ids are ignored."""
        with self.lock:
            self._drop(ids)

    def _put(self, batch: Batch[T]) -> None:
        first = len(self.items)
        current = np.array([model == self.model for model in batch.models], dtype=np.bool_)
        self._alive.extend(np.ones(len(current), dtype=np.bool_))
        self._agent.extend([self._agents.setdefault(item.agent, len(self._agents)) for item in batch.items])
        self._time.extend([to_ms(_moment(item)) for item in batch.items])
        self._has_vector.extend(current)
        for name, column in self._vectors.items():
            column.extend(batch.vectors[name] * current[:, np.newaxis] if len(current) else ())
        self.items.extend(batch.items)
        self._extended(batch.items)
        self.postings.extend(batch.tokens)
        for line, item in enumerate(batch.items, start=first):
            self._drop([item.id])
            self._line_of[item.id] = line
            self._added(item, line)
        self.stamp = max(self.stamp, batch.stamp)

    def _drop(self, ids: Collection[str]) -> None:
        for gone in ids:
            line = self._line_of.pop(gone, None)
            if line is not None:
                self._alive.values[line] = False
                self._removed(line)

    def living(self) -> list[T]:
        """Return all living rows, oldest line first."""
        with self.lock:
            return [self.items[line] for line in sorted(self._line_of.values())]

    def line(self, item_id: str) -> int | None:
        """Return the line of a living row, None if there is none of this id."""
        return self._line_of.get(item_id)

    def seen_by(self, scope: Scope) -> Mask:
        """Return the living lines that ``scope`` may see."""
        sees = np.array([scope.sees(agent) for agent in self._agents], dtype=np.bool_)  # by agent number
        mask: Mask = self._alive.values & sees[self._agent.values]
        return mask

    def lexical(self, weights: dict[str, float], mask: Mask) -> Scores:
        """Return the BM25 score of every line."""
        if self._given is not None:
            return self._scattered(self._given, mask)
        return self.postings.bm25(weights, mask)

    def dense(self, vector: Vector | None, mask: Mask, name: str = "vector") -> Scores:
        """Return the cosine of every line with ``vector``; NaN where either has none or the line is masked."""
        cosines = np.full(len(self.items), np.nan, dtype=np.float32)
        lines = np.flatnonzero(mask & self._has_vector.values)
        if vector is not None and len(lines):
            matrix = self._vectors[name].values
            unit = np.asarray(vector, dtype=np.float32) / max(float(np.linalg.norm(vector)), 1e-12)
            cosines[lines] = (matrix @ unit)[lines] if len(lines) > len(matrix) // 4 else matrix[lines] @ unit
        return cosines

    @property
    def is_sample(self) -> bool:
        """Return whether the shelf holds only candidates of one query."""
        return self._given is not None

    def typical(self, cosines: Scores) -> tuple[float, float]:
        """Return the median of all cosines, and the cosine of texts that are merely in the query's language.

        The two differ, as half of the texts may be in another language, above all replies. Both are 0 on a shelf of
        candidates; the median is 0 if there are few lines, as one of them may be the wanted one.
        """
        known = cosines[~np.isnan(cosines)]
        count = len(known)
        if self._given is not None or not count:
            return 0.0, 0.0
        low, high, beyond = (count - 1) // 2, count // 2, int(_BEYOND * (count - 1))
        ordered = np.partition(known, (low, high, beyond))  # numpy's median loads a module of 0.6 MB
        median = float(ordered[low] + ordered[high]) / 2 if count >= _FEW_LINES else 0.0
        return median, float(ordered[beyond]) - _ABOVE_MEDIAN

    def vectors(self, lines: Lines) -> Vector:
        """Return the vectors of ``lines``; zeros where one is pending."""
        return self._vectors["vector"].values[lines]

    def _scattered(self, given: Mapping[str, float], mask: Mask) -> Scores:
        """Return scores by line, from scores by id."""
        scores = np.zeros(len(self.items), dtype=np.float32)
        for item_id, score in given.items():
            line = self._line_of.get(item_id)
            if line is not None and mask[line]:
                scores[line] = score
        return scores

    def _extended(self, items: Sequence[T]) -> None:
        """Append new lines to the columns of a subclass."""

    def _added(self, item: T, line: int) -> None:
        """Add a new line to the structures of a subclass, after earlier lines of its id were dropped."""

    def _removed(self, line: int) -> None:
        """Undo ``_added`` in a subclass."""


def _moment(item: Memory | Episode | Chunk) -> datetime:
    return item.valid_from if isinstance(item, Memory) else item.at

"""In-memory sketch of a large table: quantised vectors and term postings."""

from __future__ import annotations

import threading
from collections.abc import Collection, Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from proxy.memory.index.postings import Lines, Mask, Postings
from proxy.memory.index.shelf import Column
from proxy.store.lance_search import Candidates, best, with_neighbours
from proxy.store.row_file import RowFile
from proxy.store.schema import Skimmed, Vector
from proxy.types import Memory, Scope

BYTES_PER_ROW = 200  # about, with one vector
_BY_WORDS = 100
_BY_VECTOR = 60
_SHORT_LIST = 500
_BLOCK = 16_384
_STRIDE = 11  # odd, since lines alternate between speakers
_WORD = 64  # bits
_FAR = np.iinfo(np.uint16).max
# The best four values for a normal distribution, and the bound between them (Max, 1960).
_SMALL, _BOUND, _LARGE = 0.4528, 0.9816, 1.510
_BITS = np.unpackbits(np.arange(256, dtype=np.uint8)[:, np.newaxis], axis=1).astype(np.float32)  # of each byte


class Codes:
    """Unit vectors at two bits a dimension: the sign, and whether the value is large.

    A search first compares signs, at one machine operation for 64 dimensions, and then scores the best by all four
    values. Of 71,000 sentences, the best sixty hold 99 % of the ten truly nearest.

    Args:
        dimension: Length of the vectors.
    """

    def __init__(self, dimension: int) -> None:
        self._dimension = dimension
        self._scale = float(np.sqrt(dimension))
        words = -(-dimension // _WORD)
        self._signs = [Column(np.uint64) for _ in range(words)]  # in separate columns, so that each is read in one pass
        self._sizes = Column(np.uint64, words)
        self._known = Column(np.bool_)

    @property
    def size_bytes(self) -> int:
        """Memory in use."""
        return sum(column.size_bytes for column in (*self._signs, self._sizes, self._known))

    def extend(self, vectors: Vector) -> None:
        """Append vectors; zeros stand for a missing one."""
        for column, words in zip(self._signs, self._packed(vectors > 0).T, strict=True):
            column.extend(words)
        self._sizes.extend(self._packed(np.abs(vectors) * self._scale > _BOUND))
        self._known.extend(vectors.any(axis=1))

    def nearest(self, vector: Vector, mask: Mask, limit: int) -> dict[int, float]:
        """Return approximately the ``limit`` lines of ``mask`` nearest to ``vector``, with approximate cosines."""
        unit = np.asarray(vector, dtype=np.float32) / max(float(np.linalg.norm(vector)), 1e-12)
        apart = self._apart(self._packed(unit[np.newaxis] > 0)[0])
        apart[~(mask & self._known.values)] = _FAR
        short = _nearest_some(apart)
        cosines = self._cosines(short, unit)
        best = np.argsort(-cosines, kind="stable")[:limit]
        return dict(zip(short[best].tolist(), cosines[best].tolist(), strict=True))

    def _apart(self, signs: NDArray[np.uint64]) -> NDArray[np.uint16]:
        """Return the number of differing signs of each line, computed in blocks that fit into the CPU's caches."""
        apart = np.zeros(len(self._known.values), dtype=np.uint16)
        differing, bits = np.empty(_BLOCK, np.uint64), np.empty(_BLOCK, np.uint8)
        for first in range(0, len(apart), _BLOCK):
            block = apart[first : first + _BLOCK]
            some, few = differing[: len(block)], bits[: len(block)]
            for column, word in zip(self._signs, signs, strict=True):
                np.bitwise_xor(column.values[first : first + _BLOCK], word, out=some)
                np.add(block, np.bitwise_count(some, out=few), out=block)
        return apart

    def _cosines(self, lines: Lines, unit: Vector) -> Vector:
        """Return the approximate cosines of some lines with a vector.

        The share of each eight dimensions is looked up by the byte of their bits, not computed for each line.
        """
        padded = np.zeros(len(self._signs) * _WORD, np.float32)
        padded[: len(unit)] = unit
        sums = (padded.reshape(-1, 8) @ _BITS.T).ravel()  # by byte: sum over the dimensions whose bit is set
        more = _LARGE - _SMALL
        added = np.concatenate((2 * _SMALL * sums, 2 * more * sums, -more * sums)).astype(np.float32)
        signs = np.stack([column.values[lines] for column in self._signs], axis=1).view(np.uint8)
        large = self._sizes.values[lines].view(np.uint8)
        places = np.concatenate((signs, signs & large, large), axis=1) + np.arange(0, len(added), len(_BITS))
        looked_up = added.take(places).sum(axis=1)
        cosines: Vector = (looked_up - np.float32(_SMALL) * unit.sum()) / np.float32(self._scale)
        return cosines

    def _packed(self, bits: Mask) -> NDArray[np.uint64]:
        packed = np.packbits(bits, axis=1)
        whole = np.zeros((len(packed), len(self._signs) * _WORD // 8), np.uint8)
        whole[:, : packed.shape[1]] = packed
        return whole.view(np.uint64)


class Sketch:
    """Terms and quantised vectors of all rows of a table in memory, with the rows themselves in a file.

    Args:
        rows: Empty file for the sketch alone.
        model: Embedding model in use; vectors of other models are ignored.

    Attributes:
        stamp: Latest stamp of all rows.
    """

    def __init__(self, rows: RowFile[Any], model: str) -> None:
        self._lock = threading.Lock()
        self._rows = rows
        self._model = model
        self._postings = Postings()
        self._codes = {name: Codes(rows.dimension) for name in rows.layout.vectors}
        self._alive = Column(np.bool_)
        self._key = Column(np.int64)
        self._agent = Column(np.int32)
        self._agents: dict[str, int] = {"": 0}
        self._count = 0
        self._marked: dict[str, Memory] = {}
        self.stamp = 0

    def __len__(self) -> int:
        return self._count

    @property
    def size_bytes(self) -> int:
        """Approximate memory in use."""
        columns = sum(column.size_bytes for column in (self._alive, self._key, self._agent))
        coded = sum(codes.size_bytes for codes in self._codes.values())
        return columns + coded + self._postings.size_bytes + self._rows.size_bytes

    @property
    def waste(self) -> float:
        """Share of dead lines."""
        return 1 - self._count / len(self._alive.values) if len(self._alive.values) else 0.0

    @property
    def marked(self) -> list[Memory]:
        """Memories that matter to every query."""
        return list(self._marked.values())

    def put(self, rows: Skimmed) -> None:
        """Add rows, replacing those of the same id.

        Raises:
            StoreUnavailable: If the rows could not be written; nothing has changed then.
        """
        keys = np.fromiter(map(hash, rows.ids), dtype=np.int64, count=len(rows.ids))
        current = np.array([model == self._model for model in rows.models], dtype=np.bool_)
        vectors = {name: rows.vectors[name] * current[:, np.newaxis] for name in self._codes}
        with self._lock:
            self._rows.extend(rows.records, vectors)
            gone = self._alive.values & np.isin(self._key.values, keys)
            self._alive.values[gone] = False
            self._count += len(keys) - int(gone.sum())
            self._alive.extend(np.ones(len(keys), dtype=np.bool_))
            self._key.extend(keys)
            self._agent.extend([self._agents.setdefault(agent, len(self._agents)) for agent in rows.agents])
            self._postings.extend(rows.tokens)
            for name, codes in self._codes.items():
                codes.extend(vectors[name])
            for id_ in rows.ids:
                self._marked.pop(id_, None)
            self._marked.update((memory.id, memory) for memory in rows.marked)
            self.stamp = max(self.stamp, rows.stamp)

    def lacks(self, ids: Iterable[str]) -> bool:
        """Return whether no row has one of these ids; a hash collision counts as a row."""
        with self._lock:
            return not bool(np.isin(self._key.values[self._alive.values], [hash(id_) for id_ in ids]).any())

    def find(self, scope: Scope, terms: Collection[str], vector: Vector | None, *, limit: int) -> Candidates[Any]:
        """Return the rows that ``scope`` may see and that match best by words or by any of their vectors.

        Args:
            scope: Scope of the request.
            terms: Index terms of the query.
            vector: Vector of the query; None searches by words alone.
            limit: Maximum number of rows, without the neighbours that come with turns.
        """
        with self._lock:
            sees = np.array([scope.sees(agent) for agent in self._agents], dtype=np.bool_)
            alive = self._alive.values
            mask: Mask = alive if sees.all() else alive & sees[self._agent.values]
            found = {"words": self._postings.top(dict.fromkeys(terms, 1.0), mask, _BY_WORDS)}
            if vector is not None:
                found |= {name: codes.nearest(vector, mask, _BY_VECTOR) for name, codes in self._codes.items()}
            near = with_neighbours(self._rows.layout, best(found, limit))
            lines = [line for line in near if line < len(alive) and alive[line]]
            rows, words = self._rows.take(lines, self._model), found["words"]
        return Candidates(rows, {item.id: words[at] for at, item in zip(lines, rows.items, strict=True) if at in words})


def _nearest_some(apart: NDArray[np.uint16]) -> Lines:
    """Return approximately the ``_SHORT_LIST`` nearest lines, all if there are fewer.

    The bound is estimated from every ``_STRIDE``-th line, at a tenth of the cost of sorting all.
    """
    some = apart[::_STRIDE]
    at = _SHORT_LIST // _STRIDE
    bound = np.partition(some, at)[at] if len(some) > at else _FAR - 1
    near = np.flatnonzero(apart <= min(bound, _FAR - 1))
    return near if len(near) <= 2 * _SHORT_LIST else near[np.argsort(apart[near], kind="stable")[: 2 * _SHORT_LIST]]

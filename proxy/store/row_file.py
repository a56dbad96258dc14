"""Rows in an unlinked file: each is read in microseconds, and the file ends with its process."""

from __future__ import annotations

import os
import tempfile
import weakref
from array import array
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Generic

import numpy as np

from proxy.store.lance_disk import ROW_FILES
from proxy.store.lance_tables import guarded
from proxy.store.schema import Batch, Layout, T, Vector, decoder


class RowFile(Generic[T]):
    """File of values with their float16 vectors, numbered from 0 in order of insertion.

    No other process can open the file; its disk space is freed when this object is garbage-collected.

    Args:
        folder: Folder on whose disk the file is.
        layout: Layout of the values.
        dimension: Length of the vectors.
    """

    def __init__(self, folder: Path, layout: Layout[T], dimension: int) -> None:
        self.layout: Layout[T] = layout
        self.dimension = dimension
        self._starts = array("q", [0])
        self._decode: Callable[[str | bytes], T] = decoder(layout)
        self._vector_bytes = 2 * dimension * len(layout.vectors)
        with guarded("open a file for rows"):
            self._file, path = tempfile.mkstemp(prefix=ROW_FILES, dir=folder)
            os.unlink(path)
        weakref.finalize(self, os.close, self._file)

    @property
    def size_bytes(self) -> int:
        """Memory used by the row offsets, in bytes."""
        return len(self._starts) * self._starts.itemsize

    def extend(self, records: Sequence[str], vectors: Mapping[str, Vector]) -> None:
        """Append rows.

        Args:
            records: The values, encoded as in a table.
            vectors: By column, one line per row; a line of zeros means a missing vector.

        Raises:
            StoreUnavailable: If they could not be written, as on a full disk; no row is appended then.
        """
        lines = np.concatenate([vectors[name] for name in self.layout.vectors], axis=1).astype(np.float16)
        rows = [line.tobytes() + record.encode() for line, record in zip(lines, records, strict=True)]
        data, end = memoryview(b"".join(rows)), self._starts[-1]
        with guarded("write rows"):
            while data:
                written = os.pwrite(self._file, data, end)
                data, end = data[written:], end + written
        for row in rows:
            self._starts.append(self._starts[-1] + len(row))

    def take(self, lines: Sequence[int], model: str) -> Batch[T]:
        """Return rows without their terms; rows with vectors get ``model`` as their embedding model."""
        with guarded("read rows"):
            rows = [os.pread(self._file, self._starts[at + 1] - self._starts[at], self._starts[at]) for at in lines]
        joined = b"".join(row[: self._vector_bytes] for row in rows)
        shape = len(rows), len(self.layout.vectors), self.dimension
        columns: Vector = np.frombuffer(joined, np.float16).reshape(shape).astype(np.float32)
        present = np.any(columns, axis=(1, 2)).tolist()
        return Batch(
            [self._decode(row[self._vector_bytes :]) for row in rows],
            [[] for _ in rows],
            {name: columns[:, at] for at, name in enumerate(self.layout.vectors)},
            [model if has_vector else "" for has_vector in present],
            0,
        )

"""Growing columns of numbers."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray


class Column:
    """A numpy array that grows at its end.

    Args:
        kind: Of its values.
        width: Values per line; 0 for one that is no array.
    """

    def __init__(self, kind: type[np.generic], width: int = 0) -> None:
        self._kept = np.zeros((0, width) if width else 0, dtype=kind)
        self._count = 0

    @property
    def values(self) -> NDArray[Any]:
        """All lines; valid until the next ``extend``, and what is written into it stays."""
        return self._kept[: self._count]

    @property
    def size_bytes(self) -> int:
        """Memory taken, spare room included."""
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

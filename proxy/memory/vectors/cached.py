"""Cache of vectors over any embedder."""

from __future__ import annotations

import hashlib
from collections import OrderedDict
from collections.abc import Sequence

import numpy as np

from proxy.memory.vectors.embed import Embedder, Purpose, Vectors, unit

_ENTRY_OVERHEAD_BYTES = 250  # of a cached vector: key, bytes object and its place in the dict


class CachedEmbedder:
    """LRU cache of vectors as float16, by digest of the text; it holds no texts.

    Args:
        inner: Embedder of the missing texts; equal texts of one call are embedded once.
        max_bytes: Maximum memory of the cache; 0 disables it.
    """

    def __init__(self, inner: Embedder, max_bytes: int) -> None:
        self._inner, self._max_bytes = inner, max_bytes
        self._vectors: OrderedDict[bytes, bytes] = OrderedDict()
        self._size_bytes = 0

    @property
    def model(self) -> str:
        """Model of the inner embedder."""
        return self._inner.model

    @property
    def dimension(self) -> int:
        """Dimension of the inner embedder."""
        return self._inner.dimension

    @property
    def is_symmetric(self) -> bool:
        """Return whether the inner embedder is symmetric."""
        return self._inner.is_symmetric

    @property
    def size_bytes(self) -> int:
        """Approximate memory in use."""
        return self._size_bytes

    async def embed(self, texts: Sequence[str], *, purpose: Purpose) -> Vectors:
        """Return a row for each text; a cached row is identical, to the bit, to a new one."""
        keys = [self._key(text, purpose) for text in texts]
        found = {key: vector for key in keys if (vector := self._recall(key)) is not None}
        missing = {key: text for key, text in zip(keys, texts, strict=True) if key not in found}
        if missing:
            rows = await self._inner.embed(list(missing.values()), purpose=purpose)
            for key, row in zip(missing, rows.astype(np.float16), strict=True):
                found[key] = row.tobytes()
                self._remember(key, found[key])
        if not keys:
            return np.empty((0, self.dimension), np.float32)
        joined = np.frombuffer(b"".join(found[key] for key in keys), np.float16)
        return unit(joined.reshape(len(keys), -1).astype(np.float32))

    async def warm(self) -> None:
        """Warm the inner embedder."""
        await self._inner.warm()

    async def close(self) -> None:
        """Clear the cache and close the inner embedder."""
        self._vectors.clear()
        self._size_bytes = 0
        await self._inner.close()

    def _key(self, text: str, purpose: Purpose) -> bytes:
        # A query is often stored as a passage right after; a symmetric model embeds it once.
        stamp = f"{self.model}\0{'' if self._inner.is_symmetric else purpose}\0".encode()
        return hashlib.sha256(stamp + text.encode("utf-8", "surrogatepass")).digest()

    def _recall(self, key: bytes) -> bytes | None:
        if key in self._vectors:
            self._vectors.move_to_end(key)
        return self._vectors.get(key)

    def _remember(self, key: bytes, vector: bytes) -> None:
        if key not in self._vectors:
            self._size_bytes += len(vector) + _ENTRY_OVERHEAD_BYTES
        self._vectors[key] = vector
        while self._size_bytes > self._max_bytes:
            _, oldest = self._vectors.popitem(last=False)
            self._size_bytes -= len(oldest) + _ENTRY_OVERHEAD_BYTES

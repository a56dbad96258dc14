"""Text embedding by the built-in model, or by any model that LiteLLM supports."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Awaitable, Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from types import ModuleType
from typing import Any, Literal, Protocol

import anyio.to_thread
import numpy as np
from numpy.typing import NDArray

from proxy.errors import ProxyError
from proxy.memory.vectors.minilm import DIMENSION, MODEL, MODELS, MiniLM
from proxy.process.precedence import Precedence
from proxy.process.threads import give_way
from proxy.upstream.litellm_callbacks import QUIETLY

Purpose = Literal["query", "passage"]
Vectors = NDArray[np.float32]

# Larger batches only cost memory and delay other calls, and a longer text keeps the processor busy alone.
_BATCH, _SHORT_CHARACTERS = 2, 300
_REQUEST_TEXTS, _REQUEST_TIMEOUT_S = 64, 60.0
_REQUEST_CHARACTERS = 8000  # of one text: providers refuse longer ones and do not truncate them
_BLANK = "."  # providers refuse an empty text
_REFUSING = (400, 413, 422)  # of a text too long for a model …
_MIN_CHARACTERS = 500  # … which is longer than this
# Providers whose models embed a question differently from what answers it.
_INPUT_TYPES: dict[str, dict[Purpose, str]] = {
    "cohere": {"query": "search_query", "passage": "search_document"},
    "voyage": {"query": "query", "passage": "document"},
    "nvidia_nim": {"query": "query", "passage": "passage"},
}


class EmbeddingFailed(ProxyError):
    """Failure of the embedding model: it does not load, or did not return vectors."""

    status, code = 503, "embedding_failed"


class _TextsRefused(EmbeddingFailed):
    """The provider does not take these texts, though it may take others."""


class Embedder(Protocol):
    """An embedding model; the caller sets deadlines, and cancelling is safe at any time."""

    @property
    def model(self) -> str:
        """Name and version, stamped on every row: vectors of different stamps are never compared."""

    @property
    def dimension(self) -> int:
        """Length of a vector."""

    @property
    def is_symmetric(self) -> bool:
        """Return whether a text has the same vector as a query and as a passage."""

    async def embed(self, texts: Sequence[str], *, purpose: Purpose) -> Vectors:
        """Return an L2-normalised row for each text, in order.

        Raises:
            EmbeddingFailed: If any text has no vector.
        """

    async def warm(self) -> None:
        """Load the slow parts; without it, the first ``embed`` is slow."""

    async def close(self) -> None:
        """Release threads and memory."""


class EmbeddedEmbedder:
    """The built-in model: offline, English first; longer texts are cut to 240 tokens.

    Queries and passages have separate queues, so that a query never waits for a document.

    Args:
        folder: Folder of the model's files.
        precedence: Priority of requests, to which passages yield.
    """

    model = MODEL
    dimension = DIMENSION
    is_symmetric = True

    def __init__(
        self,
        *,
        folder: Path = MODELS,
        precedence: Precedence | None = None,
    ) -> None:
        self._precedence = precedence or Precedence()
        self._load = partial(MiniLM.load, folder)
        self._loading = threading.Lock()
        self._loaded: MiniLM | None = None
        self._lanes: dict[Purpose, ThreadPoolExecutor] = {
            "query": ThreadPoolExecutor(1, thread_name_prefix="embed-query"),
            "passage": ThreadPoolExecutor(1, thread_name_prefix="embed-passage", initializer=give_way),
        }

    async def embed(self, texts: Sequence[str], *, purpose: Purpose) -> Vectors:
        """Return a row for each text; a long call yields to others, and can be cancelled, between its batches."""
        rows = np.empty((len(texts), DIMENSION), np.float32)
        for batch in _batches(texts):
            if purpose == "passage":
                await self._precedence.give_way()
            rows[batch] = await self._in_lane(purpose, [texts[index] for index in batch])
        return rows

    async def warm(self) -> None:
        """Load the model and run it once in each lane."""
        for purpose in self._lanes:
            await self._in_lane(purpose, ["warm"])

    async def close(self) -> None:
        """End the threads after their queued batches; later calls fail."""
        for lane in self._lanes.values():
            await anyio.to_thread.run_sync(lane.shutdown)
        self._loaded = None

    async def _in_lane(self, purpose: Purpose, texts: list[str]) -> Vectors:
        # A future of an executor, unlike anyio's threads, leaves the queue when the caller is cancelled.
        loop = asyncio.get_running_loop()
        try:
            return await loop.run_in_executor(self._lanes[purpose], self._vectors, texts)
        except (OSError, ImportError, ValueError, RuntimeError) as error:
            raise EmbeddingFailed(f"The built-in embedding model does not work: {error}") from error

    def _vectors(self, texts: list[str]) -> Vectors:
        with self._loading:
            if self._loaded is None:
                self._loaded = self._load()
            loaded = self._loaded
        return loaded.vectors(texts)


class LiteLLMEmbedder:
    """A provider's embedding model, through LiteLLM.

    Args:
        model: LiteLLM's name of the model, such as ``openai/text-embedding-3-small``.
        api_key: Key of the provider; None uses the provider's environment variable.
        api_base: Base URL; None uses the provider's.
        dimension: Length of the vectors, requested from the provider if the model can shorten them. None takes the
            model's default, which is known after ``warm``.
        load: Returns the ``litellm`` module, prepared and imported.
    """

    def __init__(
        self,
        model: str,
        api_key: str | None,
        api_base: str | None,
        dimension: int | None = None,
        *,
        load: Callable[[], Awaitable[ModuleType]],
    ) -> None:
        self.model = model if dimension is None else f"{model}/{dimension}"
        self._name, self._load, self._dimension = model, load, dimension
        self._access = {"api_key": api_key, "api_base": api_base}
        self._shortening: dict[str, Any] = {}

    @property
    def dimension(self) -> int:
        """Length of a vector.

        Raises:
            EmbeddingFailed: If it is neither set nor known from a reply yet.
        """
        if self._dimension is None:
            raise EmbeddingFailed(f"The dimension of {self._name!r} is not known yet; set `embedder.dimension`.")
        return self._dimension

    @property
    def is_symmetric(self) -> bool:
        """Return whether the provider has no parameter for the purpose of a text."""
        return self._name.partition("/")[0] not in _INPUT_TYPES

    async def embed(self, texts: Sequence[str], *, purpose: Purpose) -> Vectors:
        """Embed with the provider, in as few requests as possible, one after the other."""
        sent = [text[:_REQUEST_CHARACTERS].encode("utf-8", "replace").decode().strip() or _BLANK for text in texts]
        parts = [
            await self._fitting(sent[start : start + _REQUEST_TEXTS], purpose)
            for start in range(0, len(sent), _REQUEST_TEXTS)
        ]
        return np.concatenate(parts) if parts else np.empty((0, self.dimension), np.float32)

    async def warm(self) -> None:
        """Import LiteLLM and try the model, which also sets the dimension."""
        await self.embed(["warm"], purpose="query")

    async def close(self) -> None:
        """Do nothing, as nothing is open."""

    async def _fitting(self, texts: list[str], purpose: Purpose) -> Vectors:
        rows = await self._accepted(texts, purpose, self._shortening)
        given = rows.shape[1]
        if self._dimension is None:
            self._dimension = given
        if given == self._dimension:
            return rows
        # Most models refuse the parameter, so it is sent only if needed.
        shortening = {"dimensions": self._dimension, "allowed_openai_params": ["dimensions"]}
        try:
            rows = await self._request(texts, purpose, shortening)
        except EmbeddingFailed:
            rows = rows[:, :0]
        if rows.shape[1] != self._dimension:
            raise EmbeddingFailed(
                f"{self._name!r} gives {given} numbers, not {self._dimension}; set `embedder.dimension` to {given}."
            )
        self._shortening = shortening
        return rows

    async def _accepted(self, texts: list[str], purpose: Purpose, shortening: dict[str, Any]) -> Vectors:
        """Ask; for what is refused in halves, and for a text alone by its beginning: models differ in their windows."""
        try:
            return await self._request(texts, purpose, shortening)
        except _TextsRefused:
            middle, length = len(texts) // 2, len(texts[0])
            if not middle and length <= _MIN_CHARACTERS:
                raise
            parts = [texts[:middle], texts[middle:]] if middle else [[texts[0][: length // 2]]]
            return np.concatenate([await self._accepted(part, purpose, shortening) for part in parts])

    async def _request(self, texts: list[str], purpose: Purpose, shortening: dict[str, Any]) -> Vectors:
        extra = dict(shortening)
        if types := _INPUT_TYPES.get(self._name.partition("/")[0]):
            extra["input_type"] = types[purpose]
        litellm: Any = await self._load()
        try:
            answer = await litellm.aembedding(
                self._name, input=texts, timeout=_REQUEST_TIMEOUT_S, max_retries=0, **self._access, **extra, **QUIETLY
            )
        except (*litellm.LITELLM_EXCEPTION_TYPES, OSError, ValueError) as error:
            # Without the provider's message, which quotes keys and texts.
            status = getattr(error, "status_code", "no answer")
            failed = _TextsRefused if status in _REFUSING else EmbeddingFailed
            raise failed(
                f"{self._name!r} did not embed {len(texts)} texts: {type(error).__name__} ({status})"
            ) from None
        return self._rows(answer.data, len(texts))

    def _rows(self, data: list[Any], count: int) -> Vectors:
        try:
            rows = np.array([item["embedding"] for item in sorted(data, key=lambda item: item["index"])], np.float32)
        except (KeyError, TypeError, ValueError):
            rows = np.empty(0, np.float32)
        if rows.ndim != 2 or len(rows) != count or not np.isfinite(rows).all():
            raise EmbeddingFailed(f"{self._name!r} did not answer with {count} vectors of equal length.")
        return unit(rows)


def _batches(texts: Sequence[str]) -> Iterator[list[int]]:
    batch: list[int] = []
    for index in sorted(range(len(texts)), key=lambda index: len(texts[index])):
        if len(batch) == _BATCH or (batch and len(texts[index]) > _SHORT_CHARACTERS):
            yield batch
            batch = []
        batch.append(index)
    if batch:
        yield batch


def unit(rows: Vectors) -> Vectors:
    """Return the rows L2-normalised; a zero row stays zero."""
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    return np.asarray(rows / np.maximum(lengths, np.float32(1e-12)), np.float32)

"""Rows and vectors for recall tests; cosine comes from a hashed bag of words."""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

import numpy as np

from proxy.store.passages import dense_text, lexical_text, trails
from proxy.store.schema import Batch
from proxy.text.lexical import content, tokens
from proxy.types import Episode, Memory, Scope

DIMENSION = 256
MODEL = "bag"
NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
DAY = timedelta(days=1)
ANNE = Scope("0" * 32, "a" * 32)
BOB = Scope("0" * 32, "b" * 32)
AGENT, OTHER_AGENT = "c" * 32, "d" * 32


def bag(text: str) -> np.ndarray:
    """Return a hashed bag of words, scaled to length 1."""
    line = np.zeros(DIMENSION, dtype=np.float32)
    for term in content(text):
        line[zlib.crc32(term.encode()) % DIMENSION] += 1
    return line / max(float(np.linalg.norm(line)), 1e-9)


def fact(number: int, text: str, **fields) -> Memory:
    moment = fields.pop("at", NOW - DAY)
    return Memory(f"mem_{number:024x}", fields.pop("kind", "fact"), text, moment, moment, moment, **fields)


def conversation(session: str, *texts: str, first: int = 0, at: datetime = NOW - DAY, **fields) -> list[Episode]:
    """Return turns that alternate between user and assistant."""
    return [
        Episode(
            f"{session}-{first + number}",
            session,
            f"t{number // 2}",
            first + number,
            "user" if (first + number) % 2 == 0 else "assistant",
            text,
            at + timedelta(seconds=first + number),
            **fields,
        )
        for number, text in enumerate(texts)
    ]


def fact_vectors(rows: Sequence[Memory]) -> dict[str, np.ndarray]:
    return {row.id: bag(row.text) for row in rows}


def turn_vectors(rows: Sequence[Episode]) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    texts = {row_id: " ".join(map(dense_text, window)) for row_id, window in trails(rows).items()}
    return {row.id: (bag(dense_text(row)), bag(texts[row.id])) for row in rows}


def fact_batch(rows: Sequence[Memory], stamp: int = 1) -> Batch[Memory]:
    vectors = np.array([bag(row.text) for row in rows], dtype=np.float32).reshape(-1, DIMENSION)
    terms = [tokens(lexical_text(row)) for row in rows]
    return Batch(list(rows), terms, {"vector": vectors}, [MODEL] * len(rows), stamp)


def turn_batch(rows: Sequence[Episode], stamp: int = 1) -> Batch[Episode]:
    pairs = turn_vectors(rows)
    columns = {
        name: np.array([pairs[row.id][at] for row in rows], dtype=np.float32).reshape(-1, DIMENSION)
        for at, name in enumerate(("vector", "trail_vector"))
    }
    return Batch(list(rows), [tokens(lexical_text(row)) for row in rows], columns, [MODEL] * len(rows), stamp)

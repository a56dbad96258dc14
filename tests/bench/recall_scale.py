"""Duration of recall without embedding, for many small users and one large one; run it by hand.

    python tests/bench/recall_scale.py --folder /var/tmp/recall-bench

The folder is filled once and reused. Figures are in milliseconds, wall and CPU.
"""

from __future__ import annotations

import argparse
import asyncio
import random
import time
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

import numpy as np

from proxy.memory.index.cache import IndexCache
from proxy.memory.recall.query import Query
from proxy.memory.recall.sources import recall
from proxy.store.lance import LanceStore
from proxy.types import Memory, Scope

DIMENSION = 384
MODEL = "synthetic"
CLUSTERS = 400
WORDS = 20_000
START = datetime(2026, 1, 1, tzinfo=UTC)
SEEN_BEFORE = 0.84  # share of the requests
LARGE = Scope("0" * 32, "f" * 32)


class World:
    """Clustered vectors and Zipfian texts: similar vectors share words."""

    def __init__(self, seed: int = 7) -> None:
        self.random = random.Random(seed)
        self.numbers = np.random.default_rng(seed)
        self.centres = self.numbers.standard_normal((CLUSTERS, DIMENSION)).astype(np.float32)
        ranks = np.arange(1, WORDS + 1)
        self.odds = (1 / ranks) / (1 / ranks).sum()

    def texts(self, clusters: Sequence[int], length: int) -> list[str]:
        common = self.numbers.choice(WORDS, size=(len(clusters), length), p=self.odds)
        return [
            " ".join(
                [f"topic{cluster}word{self.random.randrange(30)}" for _ in range(3)] + [f"w{word}" for word in row]
            )
            for cluster, row in zip(clusters, common, strict=True)
        ]

    def vectors(self, clusters: Sequence[int]) -> np.ndarray:
        noise = self.numbers.standard_normal((len(clusters), DIMENSION)).astype(np.float32)
        lines = self.centres[list(clusters)] + noise
        return lines / np.linalg.norm(lines, axis=1, keepdims=True)

    def clusters(self, count: int) -> list[int]:
        return [self.random.randrange(CLUSTERS) for _ in range(count)]


def owner(number: int) -> Scope:
    return Scope("0" * 32, f"{number * 2654435761 % 2**32:08x}{number:024x}")


def memories(world: World, first: int, count: int) -> tuple[list[Memory], dict[str, np.ndarray]]:
    clusters = world.clusters(count)
    moments = [START + timedelta(minutes=first + at) for at in range(count)]
    rows = [
        Memory(f"mem_{first + at:024x}", "fact", text, moments[at], moments[at], moments[at])
        for at, text in enumerate(world.texts(clusters, 9))
    ]
    return rows, {row.id: vector for row, vector in zip(rows, world.vectors(clusters), strict=True)}


async def fill(store: LanceStore, owners: int, large: int) -> None:
    world = World()
    for number in range(owners):
        if store.revision(owner(number), "memories")[0]:
            continue
        rows, vectors = memories(world, 0, 100)
        await store.put_memories(owner(number), rows, vectors, MODEL)
        if number % 1000 == 999:
            print(f"filled {number + 1} owners", flush=True)
    done = await store.count(LARGE, "memories")
    for first in range(done, large, 5000):
        rows, vectors = memories(world, first, min(5000, large - first))
        await store.put_memories(LARGE, rows, vectors, MODEL)
    started = time.process_time()
    await store.maintain(LARGE)
    print(f"maintaining the large owner: {time.process_time() - started:.1f} CPU-s")


async def measure(index: IndexCache, scopes: Sequence[Scope], label: str) -> None:
    world = World(seed=11)
    clusters = world.clusters(len(scopes))
    texts, vectors = world.texts(clusters, 4), world.vectors(clusters)
    wall, cpu = [], []
    for scope, text, vector in zip(scopes, texts, vectors, strict=True):
        query = Query(text, "", vector, START + timedelta(days=400))
        wall.append(-time.perf_counter())
        cpu.append(-time.process_time())
        await recall(scope, query, index)
        wall[-1] += time.perf_counter()
        cpu[-1] += time.process_time()
    figures = [
        f"{name} p50 {1000 * np.quantile(v, 0.5):6.2f}  p95 {1000 * np.quantile(v, 0.95):6.2f}"
        for name, v in (("wall", wall), ("cpu", cpu))
    ]
    print(f"{label:34}" + "   ".join(figures), flush=True)


def mixed(options: argparse.Namespace) -> list[Scope]:
    """Return scopes as on a working day: most were asked a moment ago, the others for the first time."""
    chance, new = random.Random(13), iter(range(options.owners))
    asking: list[Scope] = []
    for _ in range(min(options.queries, options.owners)):
        asking.append(chance.choice(asking) if asking and chance.random() < SEEN_BEFORE else owner(next(new)))
    return asking


async def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--folder", type=Path, default=Path("/var/tmp/recall-bench"))
    parser.add_argument("--owners", type=int, default=10_000)
    parser.add_argument("--large", type=int, default=100_000)
    parser.add_argument("--queries", type=int, default=300)
    options = parser.parse_args()
    store = await LanceStore.open(options.folder, dimension=DIMENSION)
    await fill(store, options.owners, options.large)
    few = [owner(number) for number in range(min(options.queries, options.owners))]
    for count in (100, options.owners):
        spread = [owner(number * count // len(few)) for number in range(len(few))]
        index = IndexCache(store, model=MODEL)
        await measure(index, spread, f"small owners, cold, of {count}")
        await measure(index, spread, f"small owners, warm, of {count}")
    await measure(IndexCache(store, model=MODEL), mixed(options), f"small owners, {SEEN_BEFORE:.0%} seen before")
    index = IndexCache(store, model=MODEL)
    await measure(index, [LARGE] * 5, "large owner, first requests")
    drawing = time.process_time()
    await index.sketches.drawn()
    print(f"sketching the large owner: {time.process_time() - drawing:.1f} CPU-s")
    await measure(index, [LARGE] * options.queries, "large owner")
    print(f"index cache: {index.size_bytes / 2**20:.1f} MB, sketches: {index.sketches.size_bytes / 2**20:.1f} MB")


if __name__ == "__main__":
    asyncio.run(main())

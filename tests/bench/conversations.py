"""Many conversations of one user, from outside: ``python -m tests.bench --conversations 1000 --filled 50000``.

First an export in ChatGPT's format is imported through the pipeline of live turns: time, CPU, disk per conversation,
search. Then rows with synthetic vectors are written by the store's own API, more than could be embedded in hours:
disk of the tables per conversation, and search. Nothing is asserted.
"""

from __future__ import annotations

import asyncio
import json
import os
import random
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import httpx
import numpy as np

from proxy.access.auth import Hasher, passthrough_identity
from proxy.memory.vectors.embed import EmbeddedEmbedder
from proxy.settings.load import load_settings
from proxy.store.lance import LanceStore
from proxy.types import Episode
from tests.bench.fill import KEY, user_scope
from tests.bench.processes import Load, Process, running
from tests.bench.recall_scale import START, World
from tests.bench.targets import serve, start_upstream

TURNS = 2  # per conversation
BATCH = 4000  # rows per commit
ROUNDS = 60
_LOOK_S = 0.5
_PLACES = ["Porto", "Tromsø", "Aarhus", "Leeds", "Ghent", "Graz", "Lugano", "Bergen", "Cork", "Turin", "Lyon", "Malmö"]
_THINGS = [
    "bicycle",
    "kettle",
    "violin",
    "tent",
    "ladder",
    "camera",
    "lamp",
    "atlas",
    "kayak",
    "typewriter",
    "loom",
    "telescope",
]


def exported(count: int) -> Iterator[dict[str, Any]]:
    """Yield conversations in ChatGPT's format, each with a unique word."""
    for number in range(count):
        chance = random.Random(number)
        at = 1_600_000_000.0 + 3600 * number
        thing, place = chance.choice(_THINGS), chance.choice(_PLACES)
        said = [
            ("user", f"I keep the {thing} number k{number}x in the cellar in {place}. How do I keep it dry?"),
            (
                "assistant",
                f"Wrap the {thing} in breathable cloth, keep it off the floor, and air the cellar each week. " * 3,
            ),
            ("user", f"Thanks, and can I take it by train from {place} next month?"),
            (
                "assistant",
                "Most trains take it as luggage if it fits under the seat; ask the operator before you book.",
            ),
        ]
        nodes = {"root": {"id": "root", "message": None, "parent": None, "children": ["m0"]}}
        for place_in, (role, words) in enumerate(said):
            message = {
                "id": f"m{place_in}", "author": {"role": role}, "create_time": at + 30 * place_in, "recipient": "all",
                "content": {"content_type": "text", "parts": [words]},
            }  # fmt: skip
            parent = f"m{place_in - 1}" if place_in else "root"
            nodes[f"m{place_in}"] = {"id": f"m{place_in}", "message": message, "parent": parent, "children": []}
        yield {
            "title": f"About {thing} {number}", "conversation_id": f"c-{number}", "create_time": at,
            "current_node": f"m{len(said) - 1}", "mapping": nodes,
        }  # fmt: skip


def main(imported: int, filled: int) -> None:
    """Run both parts and print the figures."""
    with tempfile.TemporaryDirectory(prefix="bench-conversations-", dir="/var/tmp") as name, running([]) as processes:
        folder = Path(name)
        upstream, upstream_port = start_upstream(folder)
        processes.append(upstream)
        try:
            if imported:
                _import(imported, folder, upstream_port, processes)
            if filled:
                _fill(filled, folder, upstream_port, processes)
        except httpx.TransportError as error:  # the folder with its logs is deleted after the run
            logs = "\n".join(path.read_text(errors="replace")[-3000:] for path in sorted(folder.glob("*.log")))
            raise SystemExit(f"The server does not answer any more ({type(error).__name__}).\n{logs}") from error
    print(f"Load {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores.")


def _import(count: int, folder: Path, upstream_port: int, processes: list[Process | Load]) -> None:
    server, port = serve(upstream_port, folder / "imported", folder / "imported.log")
    processes.append(server)
    with _client(port) as http:
        started, cpu_s = time.perf_counter(), server.cpu_s()
        job = http.post("/v1/import", content=json.dumps(list(exported(count))).encode()).json()
        while job["status"] in ("queued", "running"):
            time.sleep(_LOOK_S)
            job = http.get(f"/v1/jobs/{job['id']}").json()
        took_s, cpu_s = time.perf_counter() - started, server.cpu_s() - cpu_s
        _tell(f"import of {count:,}", job["status"], str(job["counts"]), f"{took_s:.0f} s, {cpu_s:.0f} s of CPU")
        _tell("at this rate 10,000 take", f"{took_s / count * 10_000 / 60:.1f} min")
        _tell("words of the last one found", str(_finds(http, f"k{count - 1}x")))
        while (state := http.get("/v1/state").json())["pending_turns"]:
            time.sleep(_LOOK_S)
        _tell("memories", str(state["memories"].get("active")))
        _searches(http, count, "k{}x")
    _tell("disk a conversation, all files", f"{_disk_bytes(folder / 'imported') / count / 1024:.1f} KiB")


def _fill(count: int, folder: Path, upstream_port: int, processes: list[Process | Load]) -> None:
    data = folder / "filled"
    empty, _ = serve(upstream_port, data, folder / "empty.log")  # creates the folder with its database
    empty.stop()
    started = time.perf_counter()
    subprocess.run([sys.executable, "-m", "tests.bench.conversations", str(data), str(count)], check=True)
    _tell(f"{count:,} conversations filled in", f"{time.perf_counter() - started:.0f} s, {2 * TURNS * count:,} rows")
    server, port = serve(upstream_port, data, folder / "filled.log")
    processes.append(server)
    with _client(port) as http:
        cold_ms = _timed(http, "topic7word3 w12")
        until = time.perf_counter() + 600
        while time.perf_counter() < until:  # until one-time structures are built
            before = server.cpu_s()
            time.sleep(2.0)
            if server.cpu_s() - before < 0.2:
                break
        _tell("first search", f"{cold_ms:.0f} ms")
        _searches(http, 400, "topic{}word3 w12")
    rows = _disk_bytes(data / "lance")
    _tell("disk a conversation, tables", f"{rows / count / 1024:.1f} KiB", f"{rows / 2**20:.0f} MiB in all")
    _tell("server", f"{server.rss_bytes() / 2**20:.0f} MB")


async def _write(data: Path, count: int) -> None:
    settings = load_settings(flags={"server": {"data_dir": data}})
    data.mkdir(parents=True, exist_ok=True)
    hasher = Hasher.load(settings.auth, data)
    scope = user_scope(passthrough_identity(KEY, settings.auth, hasher, settings.server.host), 0, hasher)
    embedder = EmbeddedEmbedder()
    store = await LanceStore.open(data / "lance", dimension=embedder.dimension)
    world, messages = World(), 2 * TURNS
    for first in range(0, count * messages, BATCH):
        numbers = range(first, min(first + BATCH, count * messages))
        clusters = world.clusters(len(numbers))
        rows = [
            Episode(
                f"msg_{number:024x}", f"ses_{number // messages:024x}", f"turn_{number // 2:024x}", number % messages,
                "assistant" if number % 2 else "user", text, START + timedelta(seconds=number),
            )
            for number, text in zip(numbers, world.texts(clusters, 20), strict=True)
        ]  # fmt: skip
        vectors = world.vectors(clusters).astype(np.float32)
        await store.put_episodes(
            scope, rows, {row.id: (one, one) for row, one in zip(rows, vectors, strict=True)}, embedder.model
        )
    await store.maintain(scope)
    store.close()


def _client(port: int) -> httpx.Client:
    headers = {"authorization": f"Bearer {KEY}", "x-memory-user": "bench-0"}
    return httpx.Client(base_url=f"http://127.0.0.1:{port}", headers=headers, timeout=300)


def _finds(http: httpx.Client, word: str) -> bool:
    found = http.post("/v1/memories/search", json={"query": f"where is {word}", "limit": 5}).json()
    return word in json.dumps(found["data"])


def _searches(http: httpx.Client, count: int, pattern: str) -> None:
    chance = random.Random(5)
    times = sorted(_timed(http, f"where is {pattern.format(chance.randrange(count))}") for _ in range(ROUNDS))
    _tell("search", f"p50 {statistics.median(times):.1f} ms, p95 {times[int(0.95 * len(times))]:.1f} ms")


def _timed(http: httpx.Client, query: str) -> float:
    started = time.perf_counter()
    http.post("/v1/memories/search", json={"query": query, "limit": 10}).raise_for_status()
    return (time.perf_counter() - started) * 1000


def _disk_bytes(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


def _tell(name: str, *values: str) -> None:
    print(f"{name:42}{'; '.join(values)}", flush=True)


if __name__ == "__main__":
    asyncio.run(_write(Path(sys.argv[1]), int(sys.argv[2])))

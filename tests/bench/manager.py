"""The earlier memory manager's known run, from outside: ``python -m tests.bench --manager``.

A 50,000- and a 40,000-token item, state, search, retrieval, a task, export; then 32 items of 1.28 M tokens in total
with a window of 128,000, and four questions about single passages. Nothing is asserted.
"""

from __future__ import annotations

import http.client
import json
import os
import random
import statistics
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http import HTTPStatus
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from tests.bench.processes import Process, running
from tests.bench.targets import start_throughline, start_upstream

MODEL = "gpt-4o"
_HEADERS = {"authorization": "Bearer bench-manager", "content-type": "application/json"}
ITEMS, FIRST_TOKENS, SECOND_TOKENS, TOKENS = 32, 50_000, 40_000, 1_280_000
ROUNDS = 60
TOKENS_A_WORD = 1.174  # measured on these texts

# Each occurs once, in an item of its own kind; the other items mention the same things in passing.
PASSAGES = {
    "backend": (
        "How is a token checked?",
        "Every request is authenticated by its JWT: the gateway verifies the RS256 signature against the published keys, "
        "then issuer, audience and expiry, and refuses a token whose id stands on the revocation list.",
    ),
    "database": (
        "Which index speeds up the query for recent orders?",
        "A composite B-tree index on orders (customer_id, created_at DESC) brings the query for recent orders of a customer "
        "from 900 ms down to 4 ms, as it is answered from the index alone.",
    ),
    "infrastructure": (
        "How is the network laid out?",
        "The network has three subnets in each zone: public ones for load balancers, private ones for services behind a "
        "NAT gateway, and isolated ones for data without any route to the outside.",
    ),
    "monitoring": (
        "Which metrics are scraped?",
        "Prometheus scrapes http_request_duration_seconds, queue_depth and worker_heap_bytes of every pod each fifteen "
        "seconds and keeps them for thirty days.",
    ),
}
KINDS = (*PASSAGES, "frontend", "docs", "bug_report", "design")
_SUBJECTS = [
    "service",
    "team",
    "page",
    "worker",
    "request",
    "form",
    "report",
    "module",
    "client",
    "job",
    "screen",
    "test",
    "release",
    "ticket",
    "table",
]
_VERBS = [
    "reads",
    "writes",
    "keeps",
    "drops",
    "renders",
    "sorts",
    "holds",
    "moves",
    "loads",
    "shows",
    "sends",
    "names",
    "counts",
    "updates",
    "closes",
]
_OBJECTS = [
    "orders",
    "tokens",
    "metrics",
    "users",
    "pages",
    "networks",
    "indexes",
    "sessions",
    "rows",
    "colours",
    "files",
    "labels",
    "events",
    "queries",
    "images",
    "settings",
    "buttons",
    "errors",
    "lists",
    "dates",
    "prices",
    "zones",
    "keys",
    "notes",
]
_WHEN = [
    "at night",
    "on every change",
    "before a release",
    "when asked",
    "each hour",
    "after a review",
    "once a week",
    "at the start",
]


def text(number: int, tokens: int, passage: str = "") -> str:
    """Return paragraphs of about ``tokens`` tokens, with a passage in the middle."""
    chance = random.Random(number)
    paragraphs: list[str] = []
    words = 0
    while words * TOKENS_A_WORD < tokens:
        sentences = [
            f"The {chance.choice(_SUBJECTS)} of part {chance.randrange(400)} {chance.choice(_VERBS)} "
            f"{chance.choice(_OBJECTS)} and {chance.choice(_OBJECTS)} {chance.choice(_WHEN)}."
            for _ in range(6)
        ]
        paragraphs.append(" ".join(sentences))
        words += len(paragraphs[-1].split())
    if passage:
        paragraphs.insert(len(paragraphs) // 2, passage)
    return "\n\n".join(paragraphs)


def items() -> Iterator[tuple[str, str]]:
    """Yield content type and content of each item; the passages are in the first, third, fifth and seventh."""
    rest = (TOKENS - FIRST_TOKENS - SECOND_TOKENS) // (ITEMS - 2)
    passages = iter(PASSAGES.items())
    for number in range(ITEMS):
        tokens = (FIRST_TOKENS, SECOND_TOKENS)[number] if number < 2 else rest
        if number % 2 == 0 and (found := next(passages, None)) is not None:
            yield found[0], text(number, tokens, found[1][1])
        else:
            yield KINDS[number % len(KINDS)], text(number, tokens)


class Manager:
    """A client of a running server that times its calls; without httpx, which takes 2 ms to read 180 KB."""

    def __init__(self, port: int) -> None:
        self._http = http.client.HTTPConnection("127.0.0.1", port, timeout=300)

    def post(self, path: str, **body: Any) -> tuple[Any, float]:
        """Return the response and its milliseconds."""
        return self._timed("POST", path, json.dumps(body))

    def get(self, path: str, **params: Any) -> tuple[Any, float]:
        """Return the response and its milliseconds."""
        return self._timed("GET", f"{path}?{urlencode(params)}")

    def close(self) -> None:
        self._http.close()

    def _timed(self, method: str, path: str, body: str | None = None) -> tuple[Any, float]:
        started = time.perf_counter()
        self._http.request(method, f"/memory-manager/{path}", body, _HEADERS)
        answer = self._http.getresponse()
        content = answer.read()
        ms = (time.perf_counter() - started) * 1000
        assert answer.status == HTTPStatus.OK, content
        return json.loads(content), ms


def main() -> None:
    """Run the measurements and print the figures."""
    with tempfile.TemporaryDirectory(prefix="bench-manager-", dir="/var/tmp") as folder, running([]) as processes:
        upstream, upstream_port = start_upstream(Path(folder))
        processes.append(upstream)
        server, port = start_throughline(upstream_port, 0, Path(folder), Path(folder))
        processes.append(server)
        with _client(port) as manager:
            _figures(manager, server)
    print(f"Load {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores.")


@contextmanager
def _client(port: int) -> Iterator[Manager]:
    manager = Manager(port)
    try:
        yield manager
    finally:
        manager.close()


def _figures(manager: Manager, server: Process) -> None:
    contents = list(items())
    started, cpu_s = time.perf_counter(), server.cpu_s()
    added = [_add(manager, kind, content) for kind, content in contents[:2]]
    _tell("first two items", *(f"{one['tokens']:,} tokens, compressed {one['compressed']}" for one in added))
    state, _ = manager.get("state", model=MODEL)
    _tell("state", f"{state['context_tokens']} of {state['context_window']:,} tokens in context")
    hits, ms = manager.post("items/search", query="JWT authentication validation")
    _tell(
        "search «JWT authentication validation»",
        f"{ms:.1f} ms, first hit right: {hits[0]['item_id'] == added[0]['item_id']}",
    )
    whole, ms = manager.post("items/retrieve", item_id=added[0]["item_id"])
    _tell("first item back, the first time", f"{ms:.1f} ms, whole: {whole['content'] == contents[0][1]}")
    manager.post("tasks/create", title="Review the gateway", priority=8)
    exported, _ = manager.get("state/export", model=MODEL)
    _tell("export", f"{len(exported['items'])} items, {len(exported['tasks'])} task, {len(exported['agents'])} agents")
    added += [_add(manager, kind, content) for kind, content in contents[2:]]
    _tell("all items added", f"{time.perf_counter() - started:.0f} s, {server.cpu_s() - cpu_s:.0f} s of CPU")
    state, _ = manager.get("state", model=MODEL)
    stored, used = state["tokens"]["stored"], state["tokens"]["in_context"]
    _tell(
        "tokens", f"{stored:,} in {state['items']['total']} items, {used:,} in context", f"ratio {stored / used:.0f}:1"
    )
    _tell("window in use", f"{state['context_utilization_percentage']} % of {state['context_window']:,}")
    searches: list[float] = []
    for at, (kind, (question, passage)) in enumerate(PASSAGES.items()):
        hits, ms = manager.post("items/search", query=question)
        is_right = hits[0]["item_id"] == added[2 * at]["item_id"] and passage[:60] in " ".join(
            hits[0]["excerpt"].split()
        )
        _tell(f"«{question}»", f"from the right passage: {is_right} ({kind}, {ms:.1f} ms)")
    for number in range(ROUNDS):  # each a new question, as embedded texts are cached
        searches.append(manager.post("items/search", query=f"part {number * 7} {_OBJECTS[number % 24]} moved")[1])
    retrievals = [manager.post("items/retrieve", item_id=added[at % ITEMS]["item_id"])[1] for at in range(ROUNDS)]
    short = [
        manager.post("items/retrieve", item_id=added[at % ITEMS]["item_id"], decompress=False)[1]
        for at in range(ROUNDS)
    ]
    states = [manager.get("state", model=MODEL)[1] for _ in range(10)]
    for name, times in (("search", searches), ("retrieval", retrievals), ("summary", short), ("state", states)):
        _tell(name, f"p50 {statistics.median(times):.1f} ms, p95 {sorted(times)[int(0.95 * len(times))]:.1f} ms")
    _tell("server", f"{server.rss_bytes() / 2**20:.0f} MB")


def _add(manager: Manager, kind: str, content: str) -> dict[str, Any]:
    found: dict[str, Any] = manager.post("items/add", content=content, content_type=kind, priority=5)[0]
    return found


def _tell(name: str, *values: str) -> None:
    print(f"{name:54}{'; '.join(values)}", flush=True)


if __name__ == "__main__":
    main()

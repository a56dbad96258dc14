"""Faults of the whole process under traffic: a killed worker, and a full disk."""

from __future__ import annotations

import itertools
import os
import resource
import signal
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest

from tests.fakes.provider import FakeProvider, Seen
from tests.fakes.replies import Reply, chat
from tests.launch import process, wait_until

CLIENTS = 4
TURNS = 15
KILL_AFTER = (12, 30)
KEY = {"authorization": "Bearer sk-process-faults"}


@pytest.fixture(autouse=True)
def agreeing(provider: FakeProvider) -> None:
    def agree(seen: Seen) -> Reply | None:
        return chat("All right.", seen.json) if seen.path.endswith("/chat/completions") else None

    provider.script(agree)


def ask(http: httpx.Client, word: str, session: str) -> httpx.Response:
    body = {"model": "m", "messages": [{"role": "user", "content": f"I use {word} for drawing"}]}
    return http.post("/chat/completions", json=body, headers={"x-memory-session": session})


@contextmanager
def client(origin: str) -> Iterator[httpx.Client]:
    with httpx.Client(base_url=f"{origin}/v1", headers=KEY, timeout=30) as http:
        yield http


def children(process_id: int) -> list[int]:
    """Return the workers' process ids; the supervisor's other child tracks its resources."""
    found = []
    for path in Path(f"/proc/{process_id}/task/{process_id}/children").read_text().split():
        if "spawn_main" in Path(f"/proc/{path}/cmdline").read_text():
            found.append(int(path))
    return found


def test_a_killed_worker_loses_nothing(tmp_path: Path, provider: FakeProvider) -> None:
    """Each turn that a client has read to its end is stored once, in its conversation and in search."""
    variables = {"THROUGHLINE_SERVER__WORKERS": "2", "THROUGHLINE_WORKER__LEASE_S": "4"}
    with process(tmp_path, provider, **variables) as (running, origin):
        wait_until(lambda: len(children(running.pid)) == 2)
        answered: dict[str, str] = {}
        errors: Counter[str] = Counter()
        counted = threading.Condition()

        def hold(number: int) -> None:
            for turn in range(TURNS):
                word, session = f"Tool{number}x{turn}q", f"chat-{number}-{turn}"
                while word not in answered:
                    try:
                        with client(origin) as http:  # a new connection, accepted by any worker
                            status = ask(http, word, session).status_code
                    except httpx.TransportError as error:
                        errors[type(error).__name__] += 1
                        continue
                    assert status == 200
                    with counted:
                        answered[word] = session
                        counted.notify_all()

        threads = [threading.Thread(target=hold, args=(number,), daemon=True) for number in range(CLIENTS)]
        for thread in threads:
            thread.start()
        for count in KILL_AFTER:
            with counted:
                assert counted.wait_for(lambda count=count: len(answered) >= count, 60)
            before = children(running.pid)
            os.kill(before[0], signal.SIGKILL)
            wait_until(lambda before=before: len(set(children(running.pid)) - {before[0]}) == 2)
        for thread in threads:
            thread.join(60)
        assert len(answered) == CLIENTS * TURNS
        assert errors.total() <= CLIENTS * len(KILL_AFTER) * 2
        with client(origin) as http:
            wait_until(lambda: http.get("/state").json().get("pending_turns") == 0)
            kept = {one["name"]: one["turns"] for one in http.get("/sessions?limit=1000").json()["data"]}
            assert kept == dict.fromkeys(answered.values(), 1)
            texts = Counter(one["text"] for one in http.get("/memories?status=all&limit=1000").json()["data"])
            assert texts == {f"I use {word} for drawing": 1 for word in answered}
            for word in itertools.islice(answered, 0, None, 12):
                asked = {"query": word, "sources": ["fact"], "limit": CLIENTS * TURNS}
                found = http.post("/memories/search", json=asked).json()["data"]
                assert any(word in one["text"] for one in found)


def test_full_disk_is_reported_and_survived(tmp_path: Path, provider: FakeProvider) -> None:
    """While files cannot grow, as on a full disk, chat continues and reports it, and later turns are stored."""
    with process(tmp_path, provider) as (running, origin), client(origin) as http:
        assert ask(http, "Before0q", "before").status_code == 200
        wait_until(lambda: http.get("/state").json()["pending_turns"] == 0)
        _, hard = resource.prlimit(running.pid, resource.RLIMIT_FSIZE)
        resource.prlimit(running.pid, resource.RLIMIT_FSIZE, (4096, hard))
        full = [ask(http, f"Full{number}q", f"full-{number}") for number in range(3)]
        resource.prlimit(running.pid, resource.RLIMIT_FSIZE, (hard, hard))
        assert [answer.status_code for answer in full] == [200] * 3
        kept = {one["name"] for one in http.get("/sessions").json()["data"]}
        lost = [number for number, answer in enumerate(full) if f"full-{number}" not in kept]
        for number in lost:
            assert "journal" in full[number].headers["x-memory"], dict(full[number].headers)
        assert ask(http, "After0q", "after").headers["x-memory"].startswith(("used", "none"))
        wait_until(lambda: http.get("/state").json()["pending_turns"] == 0)
        texts = {one["text"] for one in http.get("/memories").json()["data"]}
        assert {"I use Before0q for drawing", "I use After0q for drawing"} <= texts


def test_workers_end_with_their_supervisor(tmp_path: Path, provider: FakeProvider) -> None:
    """Otherwise they would block the port for the next start."""
    with process(tmp_path, provider, THROUGHLINE_SERVER__WORKERS="2") as (running, _):
        wait_until(lambda: len(children(running.pid)) == 2)
        workers = children(running.pid)
        running.kill()
        running.wait(30)
        wait_until(lambda: not any(Path(f"/proc/{one}").exists() for one in workers))

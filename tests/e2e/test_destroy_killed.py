"""``kill -9`` during a destruction or erasure: the next start completes it, down to the bytes on disk."""

from __future__ import annotations

import sqlite3
import threading
import time
from contextlib import closing, suppress
from pathlib import Path

import httpx
import pytest

from tests.e2e.test_crash import KEYS, Served, wait_for
from tests.fakes.provider import FakeProvider
from tests.talking import user

WORD = "zorplindeskwort"


def noted(folder: Path) -> list[tuple[str, int]]:
    """Return the kinds of data being destroyed, each with whether it is done."""
    with closing(sqlite3.connect(f"file:{folder / 'throughline.db'}?mode=ro", uri=True)) as database:
        return database.execute("SELECT noun, is_done FROM destructions").fetchall()


def files_with(folder: Path) -> list[str]:
    found = []
    for path in folder.rglob("*"):
        with suppress(FileNotFoundError):  # upkeep removed it in the meantime
            if path.is_file() and WORD.encode() in path.read_bytes():
                found.append(path.name)
    return found


def fill(http: httpx.Client, noun: str) -> tuple[str, str]:
    """Store data with the word, wait until it is learned, and return the method and path that destroy it."""
    if noun in ("memory", "user"):
        memory = http.post("/memories", json={"text": f"I play the {WORD}"}).json()
        return ("DELETE", f"/memories/{memory['id']}?purge=true") if noun == "memory" else ("POST", "/erase")
    if noun == "document":
        text = f"# Notes\n\nThe {WORD} is tuned in fourths."
        document = http.post("/documents", files={"file": ("notes.md", text.encode())}).json()
        wait_for(lambda: http.get(f"/documents/{document['id']}").json()["status"] == "ready", "it was not read")
        return "DELETE", f"/documents/{document['id']}"
    body = {"model": "m", "messages": [user(f"What is a {WORD}?")]}
    http.post("/chat/completions", json=body, headers={"x-memory-session": "tuning"}).raise_for_status()
    wait_for(lambda: not http.get("/state").json()["pending_turns"], "it was not learned")
    return "DELETE", "/sessions/tuning"


@pytest.mark.parametrize("noun", ["memory", "document", "session", "user"])
def test_interrupted_destruction_is_finished_at_next_start(tmp_path: Path, provider: FakeProvider, noun: str) -> None:
    served = Served(tmp_path, provider.base_url, THROUGHLINE_WORKER__LEASE_S="1")
    served.start()
    try:
        http = served.http(KEYS[0])
        wait_for(lambda: http.get("/state").status_code == 200, "the server did not become ready")
        method, path = fill(http, noun)
        assert files_with(tmp_path)
        asked = threading.Thread(target=lambda: try_to(http, method, path))
        asked.start()
        while not noted(tmp_path):
            assert asked.is_alive(), "it was over before it was seen"
        served.kill()
        asked.join()
        served.start()
        wait_for(lambda: not noted(tmp_path), "the destruction was not ended")
        wait_for(lambda: not files_with(tmp_path), "its words are still on the disk")  # blobs without a row are swept
        assert http.get("/memories").json()["data"] == []
        assert noun == "user" or http.delete(path).status_code == 404
    finally:
        served.close()


def test_restart_waits_for_no_dead_holder(tmp_path: Path, provider: FakeProvider) -> None:
    """A lone server ends the leases of the killed one, however long they last: it is ready and learns at once."""
    served = Served(tmp_path, provider.base_url, THROUGHLINE_WORKER__LEASE_S="3600")
    served.start()
    try:
        http = served.http(KEYS[0])
        wait_for(lambda: http.get("/state").status_code == 200, "the server did not become ready")
        fill(http, "memory")
        served.kill()
        hold_everything(tmp_path)
        served.start()
        http.post("/chat/completions", json={"model": "m", "messages": [user("I play the viola.")]}).raise_for_status()
        wait_for(lambda: not http.get("/state").json().get("pending_turns", 1), "it was not learned")
        assert http.post("/erase").status_code == 200
    finally:
        served.close()


def hold_everything(folder: Path) -> None:
    """Write the leases that a process leaves that is killed at work."""
    until = 1000 * int(time.time() + 3600)
    with closing(sqlite3.connect(folder / "throughline.db")) as database, database:
        owners = database.execute("SELECT DISTINCT owner FROM journal UNION SELECT owner FROM history").fetchall()
        assert owners
        database.executemany("INSERT OR REPLACE INTO leases VALUES (?, 'dead', ?)", [(one, until) for (one,) in owners])


def try_to(http: httpx.Client, method: str, path: str) -> None:
    with suppress(httpx.HTTPError):
        http.request(method, path)

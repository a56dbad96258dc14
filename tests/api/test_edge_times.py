"""Times at the edges of the calendar: refused if UTC cannot express them, harmless elsewhere."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from pathlib import Path

import pytest

from proxy.api.writing import write
from proxy.memory.plan.changes import Change
from proxy.store.stamps import owners
from proxy.types import Memory, Scope
from tests.api.test_import_rows import bundle
from tests.api.test_transfer import bring, taken_out
from tests.fakes.provider import FakeProvider
from tests.running import Running
from tests.serving import agreeing
from tests.talking import Message, Speaker, outcome, speaking

BEYOND = ("9999-12-31T23:59:59-05:00", "0001-01-01T00:00:00+14:00")
EDGES = ("9999-12-31T23:59:59.999999Z", "0001-01-01T00:00:00Z")
PATHS = ("/memories", "/memories?status=all", "/tasks", "/state", "/export", "/sessions", "/receipts")


def assert_all_works(alice: Speaker) -> None:
    for path in PATHS:
        assert alice.http.get(path).status_code == 200, path
    for row in alice.memories(status="all"):
        assert alice.get(f"/memories/{row['id']}/history")["data"]
    for question in ("What do I play?", "What did I play last year?", "What have I to do?", "What was on 9999-12-31?"):
        assert outcome(alice.say(question))["outcome"] in ("used", "none"), question
    alice.wait()


@pytest.mark.parametrize("time", BEYOND)
def test_time_beyond_utc_is_refused_by_name(alice: Speaker, time: str) -> None:
    made = alice.http.post("/memories", json={"text": "I play the tuba"}).json()
    task = alice.http.post("/tasks", json={"title": "post the letters"}).json()
    for method, path, body in (
        ("POST", "/memories", {"text": "I play the oboe", "expires_at": time}),
        ("PATCH", f"/memories/{made['id']}", {"expires_at": time}),
        ("POST", "/memories/search", {"query": "tuba", "as_of": time}),
        ("POST", "/tasks", {"title": "a", "due": time}),
        ("PATCH", f"/tasks/{task['id']}", {"due": time}),
    ):
        refused = alice.http.request(method, path, json=body)
        assert refused.status_code == 400, (path, refused.text)
        assert refused.json()["error"]["param"] in body
    refused = alice.http.post("/chat/completions", json={"model": "m", "messages": []}, headers={"x-memory-time": time})
    assert refused.json()["error"]["param"] == "X-Memory-Time"
    assert {row["text"] for row in alice.memories()} == {"I play the tuba", "post the letters"}
    assert_all_works(alice)


@pytest.mark.parametrize("time", EDGES)
def test_time_at_the_edge_is_harmless(alice: Speaker, time: str) -> None:
    alice.tell("I play the tuba", x_memory_time="2026-03-01T12:00:00+05:00")
    (learned,) = alice.memories()
    alice.http.patch(f"/memories/{learned['id']}", json={"expires_at": time}).raise_for_status()
    for due in (time, time[:10]):
        alice.http.post("/tasks", json={"title": f"post {due}", "due": due}).raise_for_status()
    assert outcome(alice.say("What do I play?", x_memory_time=time))["outcome"] in ("used", "none")
    assert_all_works(alice)


def exported(alice: Speaker) -> tuple[str, Message]:
    head, *lines = [json.loads(line) for line in taken_out(alice).splitlines()]
    return head["owner"], next(line for line in lines if line["type"] == "memories")


@pytest.mark.parametrize("ms", [253_402_318_799_000, -62_135_647_200_000])
def test_imported_row_beyond_the_calendar_is_refused(alice: Speaker, ms: int) -> None:
    alice.http.post("/memories", json={"text": "I play the tuba"}).raise_for_status()
    owner, row = exported(alice)
    alice.http.post("/erase").raise_for_status()
    job = bring(alice, bundle(owner, [{**row, "value": {**row["value"], "expires_at": ms}}]))
    assert (job["status"], "9999" in job["error"]) == ("failed", True)
    assert_all_works(alice)


@pytest.mark.parametrize("time", BEYOND)
def test_stored_time_beyond_utc_leaves_memory_readable(tmp_path: Path, provider: FakeProvider, time: str) -> None:
    provider.script(agreeing)
    with Running(tmp_path, upstream=provider.base_url) as server, speaking(server) as alice:
        made = alice.http.post("/memories", json={"text": "I play the tuba"}).json()

        def poison(rows: list[Memory]) -> Sequence[Change]:
            (row,) = rows
            return [Change("edit", replace(row, expires_at=datetime.fromisoformat(time)), row, "", "request")]

        (owner,) = server.call(owners, server.services.database)
        server.call(write, server.services, Scope("", owner), poison)
    with Running(tmp_path, upstream=provider.base_url) as server, speaking(server, alice.key) as alice:
        assert_all_works(alice)
        assert alice.http.patch(f"/memories/{made['id']}", json={"expires_at": None}).status_code == 200
        assert alice.texts() == {"I play the tuba"}

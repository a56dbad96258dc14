"""Rows of a Throughline export, imported on the same server, one import after another, and with altered fields."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Sequence
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.api.test_transfer import bring, done, live, taken_out
from tests.fakes.provider import FakeProvider
from tests.running import Running
from tests.serving import agreeing
from tests.talking import Message, Speaker, assistant, new_key, speaking, user

LISTS = (
    "/memories?status=all", "/sessions", "/receipts", "/documents", "/images", "/reviews", "/quarantine", "/tasks",
    "/agents", "/projects", "/usage?by=day", "/state", "/export",
)  # fmt: skip
ODD = st.sampled_from(
    [
        None, True, -1, 1.5, 2**31, 2**63, 10**40, 1e308, 253_402_300_799_999, -62_135_596_800_000, "", "x" * 100_000,
        "a\x00b", "\ud800", "0000-01-01T00:00:00Z", "99999-01-01T00:00:00Z", "0001-01-01T00:00:00+23:59",
        "9999-12-31T23:59:59-23:59", "2026-01-01T00:00:00", [], [None], [[]], {}, {"a": 1}, {"base64": "?"},
    ]
)  # fmt: skip


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    with FakeProvider() as provider:
        provider.script(agreeing)
        with Running(tmp_path_factory.mktemp("rows"), upstream=provider.base_url) as server:
            yield server


@pytest.fixture(scope="module")
def entries(running: Running) -> list[Message]:
    """Return the longest exported row of each kind."""
    with speaking(running) as alice:
        live(alice)
        lines = [json.loads(line) for line in taken_out(alice).splitlines()[1:-1]]
    longest = {entry["type"]: entry for entry in sorted(lines, key=lambda entry: len(json.dumps(entry)))}
    return list(longest.values())


def bundle(owner: str, written: Sequence[Message]) -> bytes:
    """Return an export with these entries."""
    head = {"format": "throughline.export", "version": 1, "owner": owner, "counts": {}}
    data = b"".join(json.dumps(line).encode() + b"\n" for line in (head, *written))
    return data + json.dumps({"type": "end", "sha256": hashlib.sha256(data).hexdigest()}).encode() + b"\n"


def test_export_comes_back_where_it_was_made(running: Running) -> None:
    """The links of its conversations return too: a continued conversation is recognised."""
    first = [user("My sister Ylva lives in Tromsø."), assistant("Noted.")]
    with speaking(running) as alice:
        alice.post(first[:1])
        alice.wait()
        (session,), exported = alice.sessions(), taken_out(alice)
        alice.http.post("/erase").raise_for_status()
        job = bring(alice, exported)
        assert (job["status"], job["error"]) == ("done", None)
        assert alice.texts() == {"My sister Ylva lives in Tromsø."}
        alice.post([*first, user("She keeps bees.")])
        assert [one["id"] for one in alice.sessions()] == [session["id"]]


def test_imported_session_is_found_as_the_live_one(running: Running) -> None:
    """Each request has only the new message, so every turn begins at position 0."""
    asked = ("my tools", "what do I play", "where is the passport", "tea")

    def found(speaker: Speaker) -> list[Any]:
        answers = [speaker.http.post("/memories/search", json={"query": one}).json()["data"] for one in asked]
        return [[(hit["source"], hit["text"], hit["score"]) for hit in hits] for hits in answers]

    with speaking(running) as alice:
        for text in ("I use Shram for drawing", "I play the tuba", "Remind me to renew the passport", "I keep bees"):
            alice.tell(text, x_memory_session="one")
        live, exported = found(alice), taken_out(alice)
        alice.http.post("/erase").raise_for_status()
        assert bring(alice, exported)["status"] == "done"
        assert found(alice) == live


def test_links_without_their_position_are_left_out(running: Running) -> None:
    with speaking(running) as alice:
        alice.tell("My sister Ylva lives in Tromsø.")
        head, *lines, _ = [json.loads(line) for line in taken_out(alice).splitlines()]
        for line in lines:
            if line["type"] == "chain":
                del line["value"]["seq"]
        alice.http.post("/erase").raise_for_status()
        assert bring(alice, bundle(head["owner"], lines))["status"] == "done"
        assert alice.texts() == {"My sister Ylva lives in Tromsø."}


def test_many_imports_at_once_are_all_taken(running: Running) -> None:
    with speaking(running) as alice:
        jobs = [alice.http.post("/import", content=f"- I keep {n} bees\n") for n in range(40)]
        assert {job.status_code for job in jobs} == {202}
        assert {done(alice, job.json())["status"] for job in jobs} == {"done"}
        assert len(alice.texts(limit=100)) == 40


def test_chunk_without_text_is_refused_by_line(running: Running, entries: list[Message]) -> None:
    with speaking(running) as alice:
        owner = json.loads(taken_out(alice).splitlines()[0])["owner"]
        chunk = next(entry for entry in entries if entry["type"] == "chunks")
        job = bring(alice, bundle(owner, [{**chunk, "value": {**chunk["value"], "text": True}}]))
        assert job["error"].startswith("Line 2"), job


@given(data=st.data())
@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_altered_row_is_refused_or_harmless(running: Running, entries: list[Message], data: st.DataObject) -> None:
    """An import that refuses a row names its line; after an import that accepts it, all data can still be read."""
    entry = json.loads(json.dumps(data.draw(st.sampled_from(entries), "entry")))
    alter(entry["value"], data)
    alice = Speaker(running, new_key())
    owner = json.loads(taken_out(alice).splitlines()[0])["owner"]
    job = bring(alice, bundle(owner, [entry]))
    assert job["status"] == "done" or job["error"].startswith("Line 2"), job
    for path in LISTS:
        assert alice.http.get(path).status_code == 200, path
    assert "degraded" not in alice.say("Where does my sister live?").headers["x-memory"]
    alice.close()


def alter(value: dict[str, Any], data: st.DataObject) -> None:
    """Replace or remove a field, or a field inside it."""
    name = data.draw(st.sampled_from(sorted(value)), "field")
    if isinstance(value[name], dict) and value[name] and data.draw(st.booleans(), "inside"):
        alter(value[name], data)
    elif data.draw(st.integers(0, 9), "is taken out") == 0:
        del value[name]
    else:
        value[name] = data.draw(ODD, "value")

"""Summaries of documents by the operator's model: in the background, metered, and only with grounded sentences."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import orjson
import pytest

from tests.fakes.provider import FakeProvider, Seen
from tests.fakes.replies import Gate, Reply, chat, error
from tests.running import WAIT_S, Running
from tests.shown.files import show
from tests.talking import Speaker, new_key, speaking

LEASE = "# Lease\n\n" + "\n\n".join(
    f"Clause {number}. The tenant of the mill at Torvik keeps weir {number} free of reeds and pays 1,250 euros a month."
    for number in range(12)
)
GOOD = "A lease of the mill at Torvik for 1,250 euros a month."
SECRET = "sk-proj-abcdefghijklmnopqrstuvwxyz0123456789ABCD"


@pytest.fixture
def speaker(tmp_path: Path, provider: FakeProvider) -> Iterator[Speaker]:
    memory = {
        "summary_model": "openai/sums",
        "summary_base_url": provider.base_url,
        "summary_api_key": "sk-operator",
    }
    with Running(tmp_path, upstream=provider.base_url, memory=memory) as server, speaking(server, new_key()) as one:
        yield one


def answering(summary: str) -> Any:
    def answer(seen: Seen) -> Reply | None:
        is_summary = seen.json.get("model") == "sums"
        return chat(orjson.dumps({"summary": summary}).decode() if is_summary else "All right.", seen.json)

    return answer


def wait(speaker: Speaker, path: str, is_so: Any) -> Any:
    deadline = time.monotonic() + WAIT_S
    while not is_so(found := speaker.get(path)):
        assert time.monotonic() < deadline, found
        time.sleep(0.02)
    return found


def test_a_model_sums_up_what_is_read(speaker: Speaker, provider: FakeProvider) -> None:
    provider.script(answering(f"{GOOD} The deposit is 77,000 euros."))
    document = show(speaker, ("lease.md", f"{LEASE}\n\nThe key is {SECRET}.".encode()))
    found = wait(speaker, f"/documents/{document['id']}", lambda one: one["summarised_by"])
    assert (found["summary"], found["summarised_by"]) == (GOOD, "openai/sums")
    asked = provider.last
    assert asked.header("authorization") == "Bearer sk-operator"
    assert '<document name="lease.md">' in asked.json["messages"][1]["content"]
    assert "weir 11" in asked.json["messages"][1]["content"]
    assert SECRET.encode() not in asked.body
    assert speaker.get("/state")["costs"]["summaries"]["tokens"] > 0


def test_nobody_waits_for_it(speaker: Speaker, provider: FakeProvider) -> None:
    gate = Gate()
    body = chat(orjson.dumps({"summary": GOOD}).decode(), {"model": "sums"}).chunks
    provider.script(lambda seen: Reply([gate, *body]))
    document = show(speaker, ("lease.md", LEASE.encode()))
    assert (document["status"], document["summarised_by"]) == ("ready", None)
    assert "mill at Torvik" in document["summary"]
    gate.open()
    wait(speaker, f"/documents/{document['id']}", lambda one: one["summary"] == GOOD)


@pytest.mark.parametrize("broken", ["error", "prose", "invented"])
def test_where_it_cannot_be_used_the_extract_stays(speaker: Speaker, provider: FakeProvider, broken: str) -> None:
    invented = answering("Bitcoin reached 99,000 dollars.")
    scripts: dict[str, Any] = {
        "error": lambda seen: error(400, "no"),
        "prose": lambda seen: chat("I cannot do that.", seen.json),
        "invented": invented,
    }
    provider.script(scripts[broken])
    document = show(speaker, ("lease.md", LEASE.encode()))
    provider.wait(lambda: bool(provider.seen) and provider.last.answered)
    if broken != "error":
        wait(speaker, "/state", lambda state: state["costs"].get("summaries"))
    found = speaker.get(f"/documents/{document['id']}")
    assert (found["summary"], found["summarised_by"]) == (document["summary"], None)


def test_what_is_deleted_meanwhile_stays_deleted(speaker: Speaker, provider: FakeProvider) -> None:
    gate = Gate()
    body = chat(orjson.dumps({"summary": GOOD}).decode(), {"model": "sums"}).chunks
    provider.script(lambda seen: Reply([gate, *body]))
    document = show(speaker, ("lease.md", LEASE.encode()))
    assert speaker.http.delete(f"/documents/{document['id']}").json()["deleted"]
    gate.open()
    wait(speaker, "/state", lambda state: state["costs"].get("summaries"))
    assert speaker.get("/documents")["data"] == []


def test_what_is_ephemeral_or_short_is_not_sent(speaker: Speaker, provider: FakeProvider) -> None:
    provider.script(answering(GOOD))
    show(speaker, ("note.md", b"A short note on the mill at Torvik."))
    show(speaker, ("lease.md", LEASE.encode()), x_memory_mode="ephemeral")
    assert not provider.seen

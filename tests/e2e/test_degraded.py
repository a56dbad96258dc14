"""If a part of memory is broken or slow, the chat continues, reports it, and recovers where possible."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx
import pytest

from proxy import services as services_module
from proxy.upstream import litellm
from tests.fakes.provider import FakeProvider
from tests.fakes.replies import Gate, Hang, Reply, chat, error, gated
from tests.running import Running
from tests.serving import agreeing
from tests.talking import BOTH, FACT, MAGNET, SHRAM, Speaker, assistant, outcome, speaking, user

QUESTION = "What are the productivity tools that I use"
WAIT_S = 30.0


@pytest.fixture(autouse=True)
def hasty(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(services_module, "_REOPEN_S", 0.1)


@pytest.fixture
def provider(provider: FakeProvider) -> FakeProvider:
    provider.script(agreeing)
    return provider


@pytest.fixture
def backend() -> Iterator[FakeProvider]:
    """Return a second server, for embeddings or extraction."""
    with FakeProvider() as fake:
        yield fake


def until(is_so: Callable[[], bool], complaint: str) -> None:
    deadline = time.monotonic() + WAIT_S
    while not is_so():
        assert time.monotonic() < deadline, complaint
        time.sleep(0.02)


def metric(server: Running, name: str) -> float:
    page = httpx.get(f"{server.origin}/metrics").text
    return next(float(line.rpartition(" ")[2]) for line in page.splitlines() if line.startswith(name))


def sent(provider: FakeProvider) -> str:
    return str(provider.last.json["messages"][-1]["content"])


def assert_degraded(response: httpx.Response, reason: str) -> None:
    shown = outcome(response)
    assert (shown["outcome"], shown["reason"]) == ("degraded", reason)


# The store


def test_store_on_a_disk_that_is_not_there(tmp_path: Path, provider: FakeProvider) -> None:
    (tmp_path / "lance").symlink_to(tmp_path / "unmounted" / "lance")
    with Running(tmp_path, upstream=provider.base_url, wait=False) as server, speaking(server) as speaker:
        until(lambda: server.services.is_embedder_warm, "the embedder did not load")
        response = speaker.say(FACT)
        assert response.json()["choices"][0]["message"]["content"] == "All right."
        assert_degraded(response, "store")
        assert httpx.get(f"{server.origin}/readyz").status_code == 503
        for path in ("/memories", "/state"):
            refused = speaker.http.get(path)
            assert refused.status_code == 503
            assert refused.json()["error"]["code"] == "store_unavailable"
        (tmp_path / "lance").unlink()
        server.wait_ready()
        speaker.wait()
        assert speaker.texts() == BOTH
        assert outcome(speaker.say(QUESTION))["outcome"] == "used"


def newest_manifests(folder: Path, noun: str) -> list[Path]:
    tables = (folder / "lance").glob(f"*/{noun}_*.lance/_versions")
    return [min(table.glob("*.manifest")) for table in tables]


@pytest.mark.parametrize("size", [0, 40])
def test_a_cut_manifest_of_a_table(tmp_path: Path, provider: FakeProvider, size: int) -> None:
    key = "sk-cut-manifest"
    with Running(tmp_path, upstream=provider.base_url) as server, speaking(server, key) as speaker:
        speaker.tell(FACT)
        speaker.tell("I live in Oslo")
    (manifest,) = newest_manifests(tmp_path, "memories")
    manifest.write_bytes(manifest.read_bytes()[:size])
    with (
        Running(tmp_path, upstream=provider.base_url) as server,
        speaking(server, key) as speaker,
        speaking(server) as other,
    ):
        response = speaker.say(QUESTION)
        assert response.json()["choices"][0]["message"]["content"] == "All right."
        assert outcome(response)["outcome"] == "used"
        assert [one["part"] for one in httpx.get(f"{server.origin}/readyz").json()["damage"]] == ["memories"]
        other.tell("I play chess")
        assert other.texts() == {"I play chess"}
        speaker.wait()
        assert speaker.texts() == {*BOTH, "I live in Oslo"}


@pytest.mark.parametrize("how", ["said", "delete", "patch"])
def test_mending_brings_back_nothing_that_was_taken_back(tmp_path: Path, provider: FakeProvider, how: str) -> None:
    key = "sk-mended"
    with Running(tmp_path, upstream=provider.base_url) as server, speaking(server, key) as speaker:
        speaker.tell(FACT)
        (magnet,) = [memory for memory in speaker.memories() if memory["text"] == MAGNET]
        if how == "said":
            speaker.tell("I don't use Magnet anymore")
        elif how == "delete":
            speaker.http.delete(f"/memories/{magnet['id']}")
        else:
            speaker.http.patch(f"/memories/{magnet['id']}", json={"text": "I use Rectangle"})
        speaker.tell("I live in Oslo")
        before = {memory["id"]: memory for memory in speaker.memories(status="all")}
    (manifest,) = newest_manifests(tmp_path, "memories")
    manifest.write_bytes(b"")
    with Running(tmp_path, upstream=provider.base_url) as server, speaking(server, key) as speaker:
        assert outcome(speaker.say(QUESTION))["outcome"] == "used"
        speaker.wait()
        after = {memory["id"]: memory for memory in speaker.memories(status="all")}
        assert {id_: row["status"] for id_, row in after.items()} == {id_: row["status"] for id_, row in before.items()}
        assert MAGNET not in speaker.texts()


def test_open_table_loses_its_files(tmp_path: Path, provider: FakeProvider) -> None:
    with Running(tmp_path, upstream=provider.base_url) as server, speaking(server) as speaker:
        speaker.tell(FACT)
        for file in (tmp_path / "lance").glob("*/memories_*.lance/data/*"):
            file.write_bytes(b"")
        with speaking(server) as other:
            other.tell("I live in Oslo")
            assert other.texts() == {"I live in Oslo"}
        assert speaker.say(QUESTION).status_code == 200


# The embedder


# The judge


def with_judge(url: str) -> dict[str, dict[str, Any]]:
    memory = {
        "extraction_model": "openai/judge",
        "extraction_base_url": url,
        "extraction_api_key": "sk-judge",
        "extraction_timeout_s": 1.0,
        "model_debounce_s": 0.0,
    }
    return {"memory": memory}


@pytest.mark.parametrize(
    "broken",
    [chat("%% no json {{{", {}), error(500, "no"), error(400, "this prompt is refused"), Hang()],
    ids=["nonsense", "away", "refusing", "silent"],
)
def test_without_a_judge_the_engine_learns_by_itself(
    tmp_path: Path, provider: FakeProvider, backend: FakeProvider, broken: Reply | Hang
) -> None:
    backend.script(lambda _: broken)
    sections = with_judge(backend.base_url)
    with Running(tmp_path, upstream=provider.base_url, **sections) as server, speaking(server) as speaker:
        server.services.pace = replace(server.services.pace, poll_s=0.05)
        server.call(litellm.load)  # takes seconds, once: the judge's 1 s would pass, and 20 s go by
        started = time.monotonic()
        speaker.tell(FACT)
        assert speaker.texts() == BOTH
        speaker.tell("I don't use Magnet anymore")
        assert speaker.texts() == {SHRAM}
        until(lambda: bool(backend.seen), "the judge was never asked")
        for number in range(5):
            assert outcome(speaker.say(f"hello number {number}"))["outcome"] in ("none", "used")
        assert time.monotonic() - started < WAIT_S
        speaker.wait()
        state = speaker.get("/state")
        assert (state["pending_turns"], state["dead_turns"], state["extractor"]) == (0, 0, "model")
        assert speaker.texts() == {SHRAM}


# The deadline


def test_a_deadline_that_has_passed(tmp_path: Path, provider: FakeProvider) -> None:
    sections = {"memory": {"deadline_ms": 1}}
    with Running(tmp_path, upstream=provider.base_url, **sections) as server, speaking(server) as speaker:
        body = b'{"model":"m","messages":[{"role":"user","content":"' + FACT.encode() + b'"}]}'
        response = speaker.http.post("/chat/completions", content=body)
        assert_degraded(response, "deadline")
        assert provider.last.body == body
        speaker.wait()
        assert speaker.texts() == BOTH
        assert [session["turns"] for session in speaker.sessions()] == [1]
        speaker.tell(FACT)
        assert [session["turns"] for session in speaker.sessions()] == [1]


# The journal


class Locked:
    """The database while another process blocks writes to it."""

    def __init__(self, folder: Path, how: str) -> None:
        self._how = how
        self._connection = sqlite3.connect(folder / "throughline.db", isolation_level=None, timeout=5)

    def __enter__(self) -> Locked:
        if self._how == "locked":
            self._connection.execute("BEGIN IMMEDIATE")
        else:
            self._connection.execute("ALTER TABLE journal RENAME TO journal_elsewhere")
        return self

    def __exit__(self, *_: object) -> None:
        if self._how == "locked":
            self._connection.execute("ROLLBACK")
        else:
            self._connection.execute("ALTER TABLE journal_elsewhere RENAME TO journal")
        self._connection.close()


@pytest.mark.parametrize("how", ["locked", "broken"])
def test_a_journal_that_cannot_be_written(tmp_path: Path, provider: FakeProvider, how: str) -> None:
    with Running(tmp_path, upstream=provider.base_url) as server, speaking(server) as speaker:
        speaker.tell(FACT)
        with Locked(tmp_path, how):
            started = time.monotonic()
            response = speaker.say(QUESTION)
            assert time.monotonic() - started < 30
            assert response.json()["choices"][0]["message"]["content"] == "All right."
            assert_degraded(response, "journal")
            assert "Magnet" in sent(provider)
            stream = speaker.say("I live in Oslo", body={"stream": True})
            assert stream.text.endswith("data: [DONE]\n\n")
            told = told_reasons(speaker, stream)
            assert "journal" in told
        assert outcome(speaker.tell("I play the harpsichord"))["outcome"] in ("none", "used")
        assert "I play the harpsichord" in speaker.texts()


def told_reasons(speaker: Speaker, response: httpx.Response) -> set[str]:
    """Return the degraded parts in the header or the receipt."""
    receipt = speaker.http.get(f"/receipts/{response.headers['x-memory-receipt']}")
    reasons = set(receipt.json()["degraded"]) if receipt.status_code == 200 else set()
    return reasons | {outcome(response).get("reason", "")}


def test_journal_failure_during_hang_up_is_survived(tmp_path: Path, provider: FakeProvider) -> None:
    gate = Gate()
    provider.script(lambda seen: gated(chat("a b c d e f", seen.json), gate, 3))
    with Running(tmp_path, upstream=provider.base_url) as server, speaking(server) as speaker:
        with Locked(tmp_path, "broken"):
            body = {"model": "m", "stream": True, "messages": [user(FACT)]}
            with speaker.http.stream("POST", "/chat/completions", json=body) as response:
                next(response.iter_lines())
            gate.open()
        provider.script(agreeing)
        speaker.tell(FACT)
        assert speaker.texts() == BOTH


def test_earlier_blocks_stay_when_recall_is_late(
    alice: Speaker, upstream: FakeProvider, monkeypatch: pytest.MonkeyPatch
) -> None:
    alice.tell(FACT)
    alice.post([user(QUESTION)])
    first = upstream.last.json["messages"]
    assert "<memory" in first[0]["content"]
    services = alice.server.services
    monkeypatch.setattr(services.settings.memory, "deadline_ms", 0)
    response = alice.post([user(QUESTION), assistant("Shram."), user("And which else?")])
    assert outcome(response)["outcome"] == "degraded"
    assert upstream.last.json["messages"][0] == first[0]

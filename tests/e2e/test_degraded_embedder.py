"""Chat continues while the embedder fails, and its turns are embedded later."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from proxy.store.schema import NOUNS, Noun
from proxy.store.stamps import owners
from proxy.types import Scope
from proxy.worker import schedule as schedule_module
from tests.e2e.test_degraded import QUESTION, assert_degraded, backend, hasty, provider, sent, until
from tests.fakes.provider import FakeProvider, Seen
from tests.fakes.replies import Hang, Reply, error, json_reply
from tests.running import Running
from tests.talking import BOTH, FACT, new_key, outcome, speaking

__all__ = ["backend", "hasty", "provider"]


def embeddings(size: int = 8) -> Callable[[Seen], Reply | None]:
    """Return a script that replies with vectors computed from the letters of the texts."""

    def vector(text: str) -> list[float]:
        return [float(sum(ord(letter) * (at + 1) for letter in text[at::size])) for at in range(size)]

    def script(seen: Seen) -> Reply | None:
        if not seen.path.endswith("/embeddings"):
            return None
        texts = seen.json["input"]
        data = [{"object": "embedding", "index": at, "embedding": vector(text)} for at, text in enumerate(texts)]
        return json_reply(
            {"object": "list", "data": data, "model": "m", "usage": {"prompt_tokens": 1, "total_tokens": 1}}
        )

    return script


def with_embedder(url: str) -> dict[str, dict[str, Any]]:
    embedder = {"model": "openai/emb", "base_url": url, "api_key": "sk-emb", "dimension": 8}
    return {"embedder": embedder, "memory": {"deadline_ms": 3000}}


def test_an_embedder_behind_a_closed_port(tmp_path: Path, provider: FakeProvider) -> None:
    sections = with_embedder("http://127.0.0.1:9/v1")
    with Running(tmp_path, upstream=provider.base_url, wait=False, **sections) as server, speaking(server) as speaker:
        until(server.services.warmed.is_set, "the store did not open")
        assert_degraded(speaker.say(FACT), "embedder")
        speaker.wait()
        assert speaker.texts() == BOTH
        response = speaker.say(QUESTION)
        assert_degraded(response, "embedder")
        assert "Magnet" in sent(provider)
        assert "embedder" in speaker.receipt(response)["degraded"]
        found = speaker.http.post("/memories/search", json={"query": "productivity tools"}).json()["data"]
        assert "Magnet" in str(found)


@pytest.mark.parametrize(
    "broken", [error(500, "no"), json_reply({"data": "nonsense"}), Hang()], ids=["500", "junk", "hang"]
)
def test_an_embedder_that_fails_for_a_while(
    tmp_path: Path, provider: FakeProvider, backend: FakeProvider, broken: Reply | Hang
) -> None:
    backend.script(embeddings())
    with (
        Running(tmp_path, upstream=provider.base_url, **with_embedder(backend.base_url)) as server,
        speaking(server) as speaker,
    ):
        speaker.tell(FACT)
        backend.script(lambda _: broken)
        started = time.monotonic()
        response = speaker.say(QUESTION, x_memory_mode="read")
        assert time.monotonic() - started < 20
        assert_degraded(response, "embedder")
        assert "Magnet" in sent(provider)
        backend.script(embeddings())
        response = speaker.say(QUESTION, x_memory_mode="read")
        assert outcome(response)["outcome"] == "used"


@pytest.mark.parametrize("restarts", [False, True], ids=["running", "restarted"])
def test_rows_get_vectors_once_the_embedder_is_back(
    tmp_path: Path,
    provider: FakeProvider,
    backend: FakeProvider,
    monkeypatch: pytest.MonkeyPatch,
    restarts: bool,
) -> None:
    monkeypatch.setattr(schedule_module, "_TICK_S", 0.2)
    key = new_key()

    def start(*, wait: bool) -> Running:
        return Running(tmp_path, upstream=provider.base_url, wait=wait, **with_embedder(backend.base_url))

    backend.script(embeddings())
    with ExitStack() as stack:
        server = stack.enter_context(start(wait=True))
        backend.script(lambda _: error(500, "no"))
        with speaking(server, key) as speaker:
            speaker.tell(FACT)
            speaker.http.post("/documents", files={"file": ("notes.md", b"The lathe stands in the cellar.")})
            until(lambda: not speaker.get("/state")["pending_media"], "the document was not read")
            assert speaker.texts() == BOTH
        if restarts:
            stack.close()
            server = stack.enter_context(start(wait=False))
            until(server.services.warmed.is_set, "the store did not open")
            tries = len(backend.seen)
            until(lambda: len(backend.seen) > tries + 1, "the embedder is not tried")
            assert not server.services.is_embedder_warm
        (owner,) = server.call(owners, server.services.database)
        assert all(waiting(server, owner, noun) for noun in NOUNS)
        backend.script(embeddings())
        until(lambda: not any(waiting(server, owner, noun) for noun in NOUNS), "rows still wait for vectors")


def test_a_memory_by_api_gets_its_vector_later(
    tmp_path: Path, provider: FakeProvider, backend: FakeProvider, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No turn tells upkeep of its user; the state counts the memory until it is embedded."""
    monkeypatch.setattr(schedule_module, "_TICK_S", 0.1)
    backend.script(embeddings())
    with (
        Running(tmp_path, upstream=provider.base_url, **with_embedder(backend.base_url)) as server,
        speaking(server) as speaker,
    ):
        time.sleep(0.5)  # by then upkeep has checked all users
        backend.script(lambda _: error(500, "no"))
        speaker.http.post("/memories", json={"text": "I keep bees"}).raise_for_status()
        assert speaker.get("/state")["pending_vectors"] == 1
        backend.script(embeddings())
        until(lambda: not speaker.get("/state")["pending_vectors"], "the memory still waits for its vector")


def test_a_text_that_the_embedder_refuses_is_cut(
    tmp_path: Path, provider: FakeProvider, backend: FakeProvider, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Before, all rows beside it stayed without vectors; models differ in their maximum length."""
    monkeypatch.setattr(schedule_module, "_TICK_S", 0.1)
    takes = embeddings()

    def script(seen: Seen) -> Reply | None:
        is_embedding = seen.path.endswith("/embeddings")
        if is_embedding and any(len(text) > 700 for text in seen.json["input"]):
            return error(400, "This model's maximum context length is 512 tokens.")
        return takes(seen)

    backend.script(script)
    sections = with_embedder(backend.base_url)
    with Running(tmp_path, upstream=provider.base_url, **sections) as server, speaking(server) as speaker:
        rows = [f"I keep bees in hive {number}" for number in range(9)] + ["My long list of tools: " + "saw, " * 900]
        speaker.http.post("/import", content="\n".join(rows), params={"format": "list"}).raise_for_status()
        until(lambda: len(speaker.memories()) == len(rows), "the list was not imported")
        until(lambda: not speaker.get("/state")["pending_vectors"], "rows still wait for vectors")
        assert len(backend.seen) < 40


def waiting(server: Running, owner: str, noun: Noun) -> list[object]:
    services = server.services
    return server.call(services.store.unembedded, Scope("", owner), noun, services.embedder.model)

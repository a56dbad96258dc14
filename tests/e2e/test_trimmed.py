"""Clients that omit older messages of a conversation when they resend it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.fakes.provider import FakeProvider
from tests.fakes.replies import chat
from tests.running import Running

History = list[dict[str, Any]]
KEY = "sk-test-trimmed"
SAID = ["Let us talk about clouds.", "What is a cumulus?", "I live in Turin.", "And a nimbus?", "Where do I live?"]
CUTS: dict[str, Callable[[History], History]] = {
    "oldest": lambda history: history[2:],
    "window": lambda history: history[-5:],
    "middle": lambda history: [*history[:2], *history[-5:]],
    "two gaps": lambda history: [*history[:2], *history[4:8], *history[10:]],
    "summary": lambda history: [{"role": "user", "content": "So far: clouds."}, *history[-5:]],
}


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    with FakeProvider() as provider, Running(tmp_path_factory.mktemp("trimmed"), upstream=provider.base_url) as running:
        provider.script(lambda seen: chat("All right.", seen.json))
        yield running


class Talk:
    """One conversation of one user."""

    def __init__(self, server: Running, user: str) -> None:
        self.server, self.user = server, user
        self.http = server.http(KEY, x_memory_user=user)
        self.history: History = []
        self.sessions: list[str] = []

    def say(self, text: str, cut: Callable[[History], History] = list) -> None:
        self.history.append({"role": "user", "content": text})
        reply = self.http.post("/chat/completions", json={"model": "m", "messages": cut(self.history)})
        self.sessions.append(reply.headers["x-memory-session"])
        self.history.append(reply.json()["choices"][0]["message"])
        self.server.wait_learned(KEY, x_memory_user=self.user)

    def kept(self) -> list[tuple[str, str]]:
        """Return role and text of the stored messages."""
        messages = self.http.get(f"/sessions/{self.sessions[-1]}").json()["messages"]
        return [(one["role"], one["text"]) for one in messages]


@pytest.mark.parametrize("cut", CUTS)
def test_trimmed_history_goes_on_and_adds_nothing(server: Running, cut: str) -> None:
    whole, trimmed = Talk(server, f"whole {cut}"), Talk(server, f"trimmed {cut}")
    for talk in (whole, trimmed):
        for text in SAID:
            talk.say(text)
    for text in ("Any news?", "What is a stratus?", "Thank you for that."):
        whole.say(text)
        trimmed.say(text, CUTS[cut])
    assert len(set(trimmed.sessions)) == 1
    assert trimmed.kept() == whole.kept()


@pytest.mark.parametrize("cut", ["oldest", "window", "middle", "summary"])
def test_trimmed_history_brings_back_nothing_purged(server: Running, cut: str) -> None:
    talk = Talk(server, f"purged {cut}")
    for text in SAID[:4]:
        talk.say(text)
    (memory,) = talk.http.get("/memories").json()["data"]
    assert talk.http.delete(f"/memories/{memory['id']}", params={"purge": True}).is_success
    talk.say("And a stratus?", CUTS[cut])
    assert talk.http.get("/memories", params={"status": "all"}).json()["data"] == []


def test_trimmed_history_keeps_blocks_of_its_messages(tmp_path: Path) -> None:
    with FakeProvider() as provider, Running(tmp_path, upstream=provider.base_url) as server:
        Talk(server, "ana").say("My cello is a Gagliano.")
        talk = Talk(server, "ana")
        for text in ("Hello.", "Which cello do I have?", "What is it worth?"):
            talk.say(text)
        sent = provider.last.json["messages"][2]
        talk.say("Is that much?", lambda history: history[2:])
        assert provider.last.json["messages"][0]["content"].startswith(sent["content"])
        assert "Gagliano" in sent["content"]
